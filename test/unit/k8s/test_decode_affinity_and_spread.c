/* SPDX-License-Identifier: Apache-2.0 */
/* Rules between pods in JSON, and the facts that are decoded from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gang/bounds.h"
#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

/* Parses JSON with ' in place of ", which is easier to read. */
static json_t *parse(const char *text)
{
    cleanup_buf struct buf b = BUF_INIT;
    for (; *text; text++)
        buf_putc(&b, *text == '\'' ? '"' : *text);
    json_error_t at;
    json_t *json = json_loads(buf_str(&b), 0, &at);
    if (!json)
        fail_msg("%s: %s", at.text, buf_str(&b));
    return json;
}

static struct gang_pod_facts *decode(const char *spec, struct err *err)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_printf(&b,
               "{'metadata':{'name':'p','namespace':'ml','uid':'u1','labels':{'app':'a','run':'7'}"
               "},'spec':{%s}}",
               spec);
    cleanup_json json_t *json = parse(buf_str(&b));
    return decode_pod(json, err);
}

static void put_term(struct buf *b, const struct gang_term *t)
{
    static const char *const ops[] = {"=", "!=", "?", "!?", ">", "<"};
    for (size_t i = 0; i < t->n; i++) {
        buf_printf(b, " %s%s", t->items[i].key, ops[t->items[i].op]);
        for (size_t k = 0; k < t->items[i].n_values; k++)
            buf_printf(b, "%s%s", k ? "," : "", t->items[i].values[k]);
    }
}

static void put_rules(struct buf *b, const struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->n_anti_affinity; i++) {
        const struct gang_selector *s = &f->anti_affinity[i];
        buf_puts(b, "apart");
        put_term(b, &s->term);
        for (size_t k = 0; k < s->n_namespaces; k++)
            buf_printf(b, " in %s", s->namespaces[k]);
        buf_puts(b, s->all_namespaces ? " in all;" : ";");
    }
    for (size_t i = 0; i < f->n_spreads; i++) {
        const struct gang_spread *s = &f->spreads[i];
        buf_printf(b, "spread %d", (int)s->max_skew);
        put_term(b, &s->selector.term);
        if (s->min_domains)
            buf_printf(b, " over %d", (int)s->min_domains);
        for (size_t k = 0; k < s->n_keys; k++)
            buf_printf(b, " %s", s->keys[k]);
        buf_printf(b, "%s%s;", s->any_affinity ? " any" : "", s->taints_count ? " taints" : "");
    }
}

#define ANTI         "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
#define APART(terms) ANTI terms "]}}"
#define HOST         "'topologyKey':'kubernetes.io/hostname'"
#define APP_A        "'labelSelector':{'matchLabels':{'app':'a'}}"
#define SPREAD(of)   "'topologySpreadConstraints':[" of "]"
#define MUST         "'whenUnsatisfiable':'DoNotSchedule'"

static const struct {
    const char *what, *spec, *want;
} cases[] = {
    {"no rules", "", ""},
    {"anti-affinity, in the pod's own namespace", APART("{" HOST "," APP_A "}"), "apart app=a;"},
    {"expressions after labels",
     APART("{" HOST ",'labelSelector':{'matchLabels':{'app':'a'},'matchExpressions':["
           "{'key':'x','operator':'In','values':['1','2']},{'key':'y','operator':'NotIn','values':["
           "'3']},{'key':'z','operator':'Exists'},{'key':'w','operator':'DoesNotExist'}]}}"),
     "apart app=a x=1,2 y!=3 z? w!?;"},
    {"namespaces by name", APART("{" HOST "," APP_A ",'namespaces':['n1','n2']}"),
     "apart app=a in n1 in n2;"},
    {"an empty namespaceSelector selects all namespaces",
     APART("{" HOST "," APP_A ",'namespaceSelector':{}}"), "apart app=a in all;"},
    {"namespaces by their labels are not known",
     APART("{" HOST "," APP_A ",'namespaceSelector':{'matchLabels':{'team':'x'}}}"), ""},
    {"beside names, the names are",
     APART("{" HOST "," APP_A
           ",'namespaces':['n1'],'namespaceSelector':{'matchLabels':{'team':'x'}}}"),
     "apart app=a in n1;"},
    {"an empty selector selects all pods", APART("{" HOST ",'labelSelector':{}}"), "apart;"},
    {"no selector selects none", APART("{" HOST "}"), ""},
    {"another topology key is left to the scheduler",
     APART("{'topologyKey':'topology.kubernetes.io/zone'," APP_A "},{" HOST "," APP_A "}"),
     "apart app=a;"},
    {"matchLabelKeys and mismatchLabelKeys become part of the selector",
     APART("{" HOST "," APP_A ",'matchLabelKeys':['run','none'],'mismatchLabelKeys':['app']}"),
     "apart app=a run=7 app!=a;"},
    {"which the API server has done already",
     APART("{" HOST ",'labelSelector':{'matchExpressions':[{'key':'run','operator':'In','values':["
           "'6']}]},'matchLabelKeys':['run']}"),
     "apart run=6;"},
    {"preferred anti-affinity is no rule",
     "'affinity':{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':"
     "1,"
     "'podAffinityTerm':{" HOST "," APP_A "}}]}}",
     ""},
    {"required pod affinity is left to the scheduler",
     "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{" HOST "," APP_A
     "}]}}",
     ""},
    {"a spread", SPREAD("{'maxSkew':2," HOST "," MUST "," APP_A "}"),
     "spread 2 app=a kubernetes.io/hostname;"},
    {"DoNotSchedule is the default", SPREAD("{'maxSkew':1," HOST "," APP_A "}"),
     "spread 1 app=a kubernetes.io/hostname;"},
    {"ScheduleAnyway is no rule",
     SPREAD("{'maxSkew':1," HOST ",'whenUnsatisfiable':'ScheduleAnyway'," APP_A "}"), ""},
    {"minDomains and policies",
     SPREAD("{'maxSkew':1," HOST "," MUST "," APP_A ",'minDomains':5,'nodeAffinityPolicy':'Ignore',"
            "'nodeTaintsPolicy':'Honor'}"),
     "spread 1 app=a over 5 kubernetes.io/hostname any taints;"},
    {"policies as they are by default",
     SPREAD("{'maxSkew':1," HOST "," MUST "," APP_A
            ",'nodeAffinityPolicy':'Honor','nodeTaintsPolicy':'Ignore'}"),
     "spread 1 app=a kubernetes.io/hostname;"},
    {"a spread over zones is not modelled, but the nodes need its key",
     SPREAD("{'maxSkew':1,'topologyKey':'zone'," MUST "," APP_A "},{'maxSkew':1," HOST "," MUST
            "," APP_A "},{'maxSkew':1,'topologyKey':'rack','whenUnsatisfiable':'ScheduleAnyway'}"),
     "spread 1 app=a zone kubernetes.io/hostname;"},
    {"a spread of one run",
     SPREAD("{'maxSkew':1," HOST "," MUST "," APP_A ",'matchLabelKeys':['run']}"),
     "spread 1 app=a run=7 kubernetes.io/hostname;"},
    {"a spread that counts no pod", SPREAD("{'maxSkew':1," HOST "," MUST "}"), ""},
    {"nor does one that selects all", SPREAD("{'maxSkew':1," HOST "," MUST ",'labelSelector':{}}"),
     ""},
};

static void rules_between_pods_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err;
        cleanup_buf struct buf b = BUF_INIT;
        struct gang_pod_facts *f = decode(cases[i].spec, &err);
        if (!f)
            fail_msg("%s: %s", cases[i].what, err.text);
        put_rules(&b, f);
        if (strcmp(buf_str(&b), cases[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].what, buf_str(&b), cases[i].want);
        gang_pod_facts_free(f);
    }
}

static const struct {
    const char *spec, *says;
} refusals[] = {
    {APART("{" HOST ",'labelSelector':{'matchExpressions':[{'key':'x','operator':'Near'}]}}"),
     "required pod anti-affinity[0]: labelSelector: matchExpressions[0]: operator is \"Near\""},
    {APART("{" HOST "," APP_A ",'namespaces':[7]}"), "namespaces[0] must be a string"},
    {APART("{" HOST "," APP_A ",'matchLabelKeys':[7]}"), "matchLabelKeys[0] must be a string"},
    {APART("{'topologyKey':7}"), "topologyKey is a number, must be a string"},
    {"'affinity':{'podAntiAffinity':7}", "podAntiAffinity is a number, must be an object"},
    {"'topologySpreadConstraints':7", "topologySpreadConstraints is a number, must be a list"},
    {SPREAD("{'maxSkew':0," HOST "," APP_A "}"),
     "topologySpreadConstraints[0]: maxSkew is 0, must be between 1 and"},
    {SPREAD("{'maxSkew':1,'minDomains':0," HOST "," APP_A "}"), "minDomains is 0, must be between"},
    {SPREAD("{'maxSkew':1," HOST ",'labelSelector':[]}"),
     "labelSelector is a list, must be an object"},
};

static void invalid_rules_between_pods_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        struct err err;
        struct gang_pod_facts *f = decode(refusals[i].spec, &err);
        assert_non_null(f);
        if (!f->invalid)
            fail_msg("no error for: %s", refusals[i].spec);
        if (!strstr(f->invalid, refusals[i].says) || !strstr(f->invalid, "pod ml/p"))
            fail_msg("the error \"%s\" does not contain \"%s\"", f->invalid, refusals[i].says);
        gang_pod_facts_free(f);
    }
}

/* A check compares each node with each value. If a pod's rules are beyond a bound, muster reads
 * none of them. It then assumes that they exclude all pods of its namespace, or of those that they
 * name. */
static void T04_rules_between_pods_are_bounded(void **state)
{
    (void)state;
    struct err err;
    cleanup_buf struct buf many = BUF_INIT, large = BUF_INIT;
    for (int i = 0; i < 33; i++)
        buf_printf(&many, "%s{" HOST "," APP_A "}", i ? "," : "");
    for (int i = 0; i < 300; i++)
        buf_printf(&large, "%s'v%d'", i ? "," : "", i);
    cleanup_free char *terms = xasprintf(APART("%s"), buf_str(&many));
    cleanup_free char *values =
        xasprintf(APART("{" HOST ",'labelSelector':{'matchExpressions':[{'key':'x','operator':"
                        "'In','values':[%s]}]}},{" HOST "," APP_A "}"),
                  buf_str(&large));
    cleanup_free char *namespaces =
        xasprintf(APART("{" HOST "," APP_A ",'namespaces':[%s]}"), buf_str(&large));
    const struct {
        const char *spec, *says;
        bool all;
    } bounded[] = {
        {terms, "required podAntiAffinity: 33 terms; muster takes at most 32", false},
        {values, "303 requirements, values and namespaces; muster takes at most 256", false},
        {namespaces, "302 requirements, values and namespaces", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(bounded); i++) {
        struct gang_pod_facts *f = decode(bounded[i].spec, &err);
        assert_non_null(f);
        assert_int_equal(f->n_anti_affinity, 0);
        assert_int_equal(f->n_wide_anti_affinity, 1);
        assert_int_equal(f->wide_anti_affinity[0].all_namespaces, bounded[i].all);
        if (!f->invalid || !strstr(f->invalid, bounded[i].says))
            fail_msg("the error \"%s\" does not contain \"%s\"", f->invalid, bounded[i].says);
        gang_pod_facts_free(f);
    }
}

static json_t *with_labels_and_taints(size_t labels, size_t taints)
{
    json_t *object = json_pack("{s:{s:s,s:s,s:{}},s:{s:[]}}", "metadata", "name", "x", "uid", "u",
                               "labels", "spec", "taints");
    json_t *map = json_object_get(json_object_get(object, "metadata"), "labels");
    for (size_t i = 0; i < labels; i++) {
        cleanup_free char *key = xasprintf("l%zu", i);
        json_object_set_new(map, key, json_string("v"));
    }
    for (size_t i = 0; i < taints; i++)
        json_array_append_new(json_object_get(json_object_get(object, "spec"), "taints"),
                              json_pack("{s:s,s:s}", "key", "k", "effect", "NoSchedule"));
    return object;
}

static void T04_labels_and_taints_are_bounded(void **state)
{
    (void)state;
    static const struct {
        size_t labels, taints;
        const char *words; /* NULL: within the bound */
    } rows[] = {
        {BOUND_LABELS, BOUND_NODE_TAINTS, NULL},
        {BOUND_LABELS + 1, 1,
         "metadata.labels of a pod or node: 8193 labels; muster takes at most"},
        {1, BOUND_NODE_TAINTS + 1, "spec.taints of a node: 257 taints; muster takes at most 256"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct err err;
        cleanup_json json_t *object = with_labels_and_taints(rows[i].labels, rows[i].taints);
        struct gang_node_facts *node = decode_node(object, &err);
        assert_non_null(node);
        assert_int_equal(node->unschedulable, rows[i].words != NULL);
        assert_int_equal(!node->invalid, !rows[i].words);
        if (rows[i].words)
            assert_non_null(strstr(node->invalid, rows[i].words));
        gang_node_facts_free(node);
        struct gang_pod_facts *pod = decode_pod(object, &err);
        assert_non_null(pod);
        assert_int_equal(!pod->invalid, rows[i].labels <= BOUND_LABELS);
        assert_int_equal(pod->labels.n, rows[i].labels <= BOUND_LABELS ? rows[i].labels : 0);
        gang_pod_facts_free(pod);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_between_pods_are_decoded),
        cmocka_unit_test(invalid_rules_between_pods_are_refused),
        cmocka_unit_test(T04_rules_between_pods_are_bounded),
        cmocka_unit_test(T04_labels_and_taints_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
