/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods have rules that the facts do not contain, and which other pods these rules may
 * exclude. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

/* Decodes a spec with ' in place of ", which is easier to read. */
static struct gang_pod_facts *decode(const char *spec)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b,
             "{'metadata':{'name':'p','namespace':'ml','uid':'u','labels':{'app':'a'}},'spec':{");
    buf_puts(&b, spec);
    buf_puts(&b, "}}");
    char *text = buf_steal(&b);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct err err;
    json_t *json = json_loads(text, 0, NULL);
    if (!json)
        fail_msg("not JSON: %s", text);
    struct gang_pod_facts *f = decode_pod(json, &err);
    if (!f)
        fail_msg("%s: %s", err.text, text);
    json_decref(json);
    free(text);
    return f;
}

#define ANTI(term)                                                                                 \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" term "]}}"
#define TO(term)                                                                                   \
    "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" term "]}}"
#define HOST  "'topologyKey':'kubernetes.io/hostname'"
#define ZONE  "'topologyKey':'topology.kubernetes.io/zone'"
#define APP_A "'labelSelector':{'matchLabels':{'app':'a'}}"

static void P03_a_pod_with_rules_that_the_facts_lack_is_inexact(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *inexact; /* NULL: the facts contain all rules */
    } cases[] = {
        {"", NULL},
        {"'containers':[{'name':'c','image':'i','env':[],'resources':{'requests':{'cpu':'1'}}}],"
         "'hostNetwork':true,'priority':3,'os':{'name':'linux'},'runtimeClassName':'kata',"
         "'overhead':{'cpu':'1'},'nodeSelector':{'a':'b'},'securityContext':{}",
         NULL},
        {"'volumes':[{'name':'v','emptyDir':{}},{'name':'w','configMap':{'name':'m'}}]", NULL},
        {"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]", "volumes"},
        {"'volumes':[{'name':'v','ephemeral':{}}]", "volumes"},
        {"'volumes':[{'name':'v','csi':{'driver':'d'}}]", "volumes"},
        {"'volumes':[{'name':'v','gcePersistentDisk':{'pdName':'d'}}]", "volumes"},
        {"'volumes':[{'name':'v','newKind':{}}]", "volumes"},
        {"'resourceClaims':[{'name':'gpu'}]", "resource claims"},
        {"'resourceClaims':[]", NULL},
        {TO("{" HOST "," APP_A "}"), "required pod affinity"},
        {ANTI("{" HOST "," APP_A "}"), NULL},
        {ANTI("{" HOST "," APP_A ",'namespaceSelector':{}}"), NULL},
        {ANTI("{" ZONE "," APP_A "}"), "anti-affinity that is not over hosts"},
        {ANTI("{" ZONE "}"), NULL}, /* without a selector, it matches no pod */
        {ANTI("{" HOST "," APP_A ",'namespaceSelector':{'matchLabels':{'a':'b'}}}"),
         "anti-affinity that is not over hosts"},
        {"'topologySpreadConstraints':[{" HOST "," APP_A ",'maxSkew':1}]", NULL},
        {"'topologySpreadConstraints':[{" ZONE "," APP_A ",'maxSkew':1}]",
         "topology spread that is not over hosts"},
        {"'topologySpreadConstraints':[{" ZONE ",'whenUnsatisfiable':'ScheduleAnyway'}]", NULL},
        {"'topologySpreadConstraints':[{" HOST ",'maxSkew':1}]",
         "topology spread that counts no pods"},
        {"'tolerations':[{'key':'a','operator':'Exists'}]", NULL},
        {"'tolerations':[{'key':'a','operator':'Gt','value':'3'}]",
         "a toleration that compares numbers"},
        {"'hostUsers':false", NULL},
        {"'hostUsers':false,'hostNetwork':true", "user namespaces on the host's network"},
        {"'containers':[{'name':'c','restartPolicyRules':[{'action':'RestartAllContainers'}]}]",
         "restart rules of containers"},
        {"'schedulingGroup':{'podGroupName':'g'}", "a field of the pod that muster does not know"},
        {"'newField':1", "a field of the pod that muster does not know"},
        {"'newField':null", NULL},
        {"'tolerations':[{'key':'a','field-9':true}]",
         "a field of the pod that muster does not know"},
        {"'affinity':{'nodeAffinity':{'field-7':true}}",
         "a field of the pod that muster does not know"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = decode(cases[i].spec);
        if (!str_eq(f->inexact, cases[i].inexact))
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].spec,
                     f->inexact ? f->inexact : "exact",
                     cases[i].inexact ? cases[i].inexact : "exact");
        gang_pod_facts_free(f);
    }
}

static void wide_anti_affinity_is_decoded(void **state)
{
    (void)state;
    struct gang_pod_facts *a = decode(""), *other = decode("");
    free(other->ns);
    other->ns = xstrdup("else");
    static const struct {
        const char *spec;
        bool near, far; /* for a pod of its namespace, of another */
    } cases[] = {
        {ANTI("{" HOST "," APP_A "}"), false, false}, /* anti_affinity covers this rule */
        {ANTI("{" ZONE "," APP_A "}"), true, false},
        {ANTI("{" ZONE ",'labelSelector':{'matchLabels':{'app':'b'}}}"), false, false},
        {ANTI("{" ZONE "," APP_A ",'namespaces':['else']}"), false, true},
        {ANTI("{" ZONE "," APP_A ",'namespaceSelector':{'matchLabels':{'x':'y'}}}"), true, true},
        {ANTI("{" HOST "," APP_A ",'namespaceSelector':{'matchLabels':{'x':'y'}}}"), true, true},
        {ANTI("{" ZONE "}"), false, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = decode(cases[i].spec);
        if (gang_wide_anti_affinity_forbids(f, a) != cases[i].near ||
            gang_wide_anti_affinity_forbids(f, other) != cases[i].far)
            fail_msg("%s: excludes %d %d", cases[i].spec, gang_wide_anti_affinity_forbids(f, a),
                     gang_wide_anti_affinity_forbids(f, other));
        gang_pod_facts_free(f);
    }
    gang_pod_facts_free(a);
    gang_pod_facts_free(other);
}

/* muster does not read rules beyond the bound, so it assumes that they exclude every pod. */
static void rules_beyond_the_bounds_exclude_every_pod(void **state)
{
    (void)state;
    cleanup_buf struct buf terms = BUF_INIT;
    for (int i = 0; i < 40; i++)
        buf_printf(&terms, "%s{" ZONE ",'labelSelector':{'matchLabels':{'app':'z%d'}}}",
                   i ? "," : "", i);
    cleanup_free char *spec = xasprintf("'affinity':{'podAntiAffinity':{"
                                        "'requiredDuringSchedulingIgnoredDuringExecution':[%s]}}",
                                        buf_str(&terms));
    struct gang_pod_facts *a = decode(""), *f = decode(spec);
    assert_true(gang_wide_anti_affinity_forbids(f, a));
    assert_true(f->n_wide_anti_affinity <= 32);
    gang_pod_facts_free(a);
    gang_pod_facts_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P03_a_pod_with_rules_that_the_facts_lack_is_inexact),
        cmocka_unit_test(wide_anti_affinity_is_decoded),
        cmocka_unit_test(rules_beyond_the_bounds_exclude_every_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
