/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of every dialect: what is read, what is refused, and the status that is written. */
#include "podgroup_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "gang/bounds.h"
#include "k8s/dialect/queue_dialect.h"
#include "test/lib/yaml_object.h"

/* ---- queues as text ---- */

static void put_amount(struct buf *b, const char *name, int64_t n)
{
    if (n == GANG_UNLIMITED)
        buf_printf(b, " %s *", name);
    else if (n != GANG_NOT_STATED)
        buf_printf(b, " %s %" PRId64, name, n);
}

/* Everything that differs from a queue that states nothing, or the sentence of an invalid one. */
static char *queue_text(const struct gang_queue_facts *f)
{
    struct buf b = BUF_INIT;
    if (f->parent)
        buf_printf(&b, "in %s ", f->parent);
    if (f->invalid) {
        buf_puts(&b, f->invalid);
        return buf_steal(&b);
    }
    for (size_t i = 0; i < f->n_quotas; i++) {
        const struct gang_quota *q = &f->quotas[i];
        buf_printf(&b, "[%s", q->resource);
        if (q->reserved)
            put_amount(&b, "reserved", q->reserved);
        put_amount(&b, "deserved", q->deserved);
        put_amount(&b, "cap", q->cap);
        if (q->weight != f->weight)
            put_amount(&b, "weight", q->weight);
        buf_puts(&b, "] ");
    }
    if (f->weight != 1000)
        put_amount(&b, "weight", f->weight);
    if (f->priority)
        buf_printf(&b, " priority %d", (int)f->priority);
    buf_printf(&b, "%s%s%s", f->closed ? " closed" : "", f->fifo ? " fifo" : "",
               f->reclaimable ? "" : " not-reclaimable");
    put_amount(&b, "preempt-after", f->preempt_min_runtime);
    put_amount(&b, "reclaim-after", f->reclaim_min_runtime);
    return buf_steal(&b);
}

/* Queue ml/NAME of that API, with this in its metadata and these other members. */
static struct gang_queue_facts *read_named_queue(const char *api_group, const char *name,
                                                 const char *metadata, const char *members)
{
    const char *ns = strncmp(metadata, "namespace: ", 11) == 0 ? "" : "namespace: ml, ";
    cleanup_free char *text =
        xasprintf("{metadata: {name: %s, %suid: u, creationTimestamp: '2024-02-29T12:00:00Z'%s%s}"
                  "%s%s}",
                  name, ns, *metadata ? ", " : "", metadata, *members ? ", " : "", members);
    cleanup_json json_t *json = yaml_object(text);
    struct err err;
    struct gang_queue_facts *f = decode_queue(queue_dialect_by_group(api_group), json, &err);
    if (!f)
        fail_msg("%s", err.text);
    assert_string_equal(f->ref.api_group, api_group);
    assert_string_equal(f->ref.name, name);
    assert_string_equal(f->uid, "u");
    assert_int_equal(f->created, WALL);
    assert_int_equal(f->firm_priority, str_eq(api_group, KAI) ? 100 : 0);
    return f;
}

static struct gang_queue_facts *read_queue(const char *api_group, const char *metadata,
                                           const char *members)
{
    return read_named_queue(api_group, "q", metadata, members);
}

struct queue_case {
    const char *metadata, *members, *want;
};

static void check_cases(const char *api_group, const struct queue_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gang_queue_facts *f = read_queue(api_group, cases[i].metadata, cases[i].members);
        cleanup_free char *got = queue_text(f);
        if (!str_eq(got, cases[i].want))
            fail_msg("%s\n is: %s\n not: %s", cases[i].members, got, cases[i].want);
        gang_queue_facts_free(f);
    }
}

static void Q05_a_limit_of_kai_that_is_not_set_is_known(void **state)
{
    (void)state;
    struct gang_queue_facts *f =
        read_queue(KAI, "", "spec: {resources: {cpu: {limit: 0}, memory: {limit: null}}}");
    assert_false(gang_quota_of(f, "cpu")->cap_unset);
    assert_true(gang_quota_of(f, "memory")->cap_unset);
    assert_true(gang_quota_of(f, GANG_ANY_GPU)->cap_unset);
    gang_queue_facts_free(f);
}

#define NOTHING "[cpu deserved 0 cap 0] [gpu deserved 0 cap 0] [memory deserved 0 cap 0]  weight 0"

static void Q01_queues_of_kai_are_read(void **state)
{
    (void)state;
    static const struct queue_case cases[] = {
        {"", "", NOTHING},
        {"", "spec: {}", NOTHING},
        {"", "spec: {resources: null, parentQueue: ''}", NOTHING},
        {"", "spec: {parentQueue: team, priority: 150}", "in team " NOTHING " priority 50"},
        {"", "spec: {priority: 0}", NOTHING " priority -100"},
        {"",
         "spec: {resources: {cpu: {quota: 2000, limit: 4000, overQuotaWeight: 2}, memory: "
         "{quota: 1000, limit: -1, overQuotaWeight: 1}, gpu: {quota: -1, limit: 8}}}",
         "[cpu deserved 2000 cap 4000] [gpu deserved * cap 8 weight 0] "
         "[memory deserved 1000000000 cap * weight 1000]  weight 2000"},
        /* Fractions are rounded down, as they were written. */
        {"",
         "spec: {resources: {cpu: {quota: 1500.9, limit: 0.99}, memory: {quota: 0.29, limit: "
         "1.0000005, overQuotaWeight: 0.3333}, gpu: {quota: 2.5, limit: 7.999999999999}}}",
         "[cpu deserved 1500 cap 0 weight 0] [gpu deserved 2 cap 7 weight 0] "
         "[memory deserved 290000 cap 1000000]  weight 333"},
        {"", "spec: {resources: {memory: {quota: 0.000001, limit: 1.0e-7}}}",
         "[cpu deserved 0 cap 0] [gpu deserved 0 cap 0] [memory deserved 1 cap 0]  weight 0"},
        {"", "spec: {resources: {gpu: {quota: -0.0, limit: -0.0, overQuotaWeight: -0.0}}}",
         NOTHING},
        {"", "spec: {resources: {memory: {quota: 1000000000000, limit: -1.0}}}",
         "[cpu deserved 0 cap 0] [gpu deserved 0 cap 0] "
         "[memory deserved 1000000000000000000 cap *]  weight 0"},
        {"", "spec: {preemptMinRuntime: 1h30m0s, reclaimMinRuntime: 0s}",
         NOTHING " preempt-after 5400000000 reclaim-after 0"},
        {"", "spec: {preemptMinRuntime: null, reclaimMinRuntime: 500ms}",
         NOTHING " reclaim-after 500000"},
    };
    check_cases(KAI, cases, ARRAY_SIZE(cases));
}

static void Q05_queues_of_kai_that_make_no_sense_say_so(void **state)
{
    (void)state;
    static const struct queue_case cases[] = {
        {"", "spec: []", "spec is a list, must be an object"},
        {"", "spec: {parentQueue: 7}", "spec.parentQueue is a number, must be a string"},
        {"", "spec: {parentQueue: team, priority: high}",
         "in team spec.priority is a string, must be a whole number"},
        {"", "spec: {resources: 8}", "spec.resources is a number, must be an object"},
        {"", "spec: {resources: {gpu: 8}}", "spec.resources.gpu is a number, must be an object"},
        {"", "spec: {resources: {gpu: {quota: many}}}",
         "spec.resources.gpu.quota is a string, must be a number"},
        {"", "spec: {resources: {gpu: {quota: -2}}}",
         "spec.resources.gpu.quota is -2, must be between 0 and 1000000000000, or -1 for all that "
         "the cluster has"},
        {"", "spec: {resources: {cpu: {limit: -0.5}}}",
         "spec.resources.cpu.limit is -0.5, must be between 0 and 1000000000000, or -1 for no "
         "limit"},
        {"", "spec: {resources: {memory: {limit: 1.0e+30}}}",
         "spec.resources.memory.limit is 1e+30, must be between 0 and 1000000000000, or -1 for no "
         "limit"},
        {"", "spec: {resources: {memory: {limit: 9223372036854775807}}}",
         "spec.resources.memory.limit is 9.22337203685478e+18, must be between 0 and "
         "1000000000000, or -1 for no limit"},
        {"", "spec: {resources: {gpu: {overQuotaWeight: -1}}}",
         "spec.resources.gpu.overQuotaWeight is -1, must be between 0 and 1000000000000"},
        {"", "spec: {preemptMinRuntime: 300}",
         "spec.preemptMinRuntime is a number, must be a string"},
        {"", "spec: {preemptMinRuntime: '300'}",
         "spec.preemptMinRuntime is \"300\", must be a duration with a unit, such as 5m"},
        {"", "spec: {reclaimMinRuntime: -5m}",
         "spec.reclaimMinRuntime is \"-5m\", must be a duration with a unit, such as 5m"},
        {"", "spec: {reclaimMinRuntime: ''}",
         "spec.reclaimMinRuntime is \"\", must be a duration with a unit, such as 5m"},
    };
    check_cases(KAI, cases, ARRAY_SIZE(cases));
}

static void Q01_queues_of_volcano_are_read(void **state)
{
    (void)state;
    static const struct queue_case cases[] = {
        {"", "", ""},
        {"", "spec: {weight: 3, priority: 7, reclaimable: false, dequeueStrategy: fifo}",
         " weight 3000 priority 7 fifo not-reclaimable"},
        {"", "spec: {reclaimable: null, dequeueStrategy: traverse, parent: root}", ""},
        {"", "spec: {parent: team}", "in team "},
        {"",
         "spec: {weight: 2, capability: {cpu: '8', memory: 16Gi}, deserved: {cpu: 4, "
         "nvidia.com/gpu: '2'}, guarantee: {resource: {cpu: 500m}}}",
         "[cpu reserved 500 deserved 4000 cap 8000] [memory cap 17179869184] [nvidia.com/gpu "
         "deserved 2 cap *]  weight 2000"},
        {"", "spec: {capability: {cpu: 9223372036854775807}}", "[cpu cap *] "},
        {"", "spec: {capability: {cpu: 0, memory: 0, nvidia.com/gpu: 0}}",
         "[cpu cap *] [memory cap *] [nvidia.com/gpu cap 0] "},
        {"", "spec: {deserved: {cpu: 2}, guarantee: {resource: {cpu: 3, memory: 1}}}",
         "[cpu reserved 3000 deserved 3000 cap *] [memory reserved 1 deserved 1 cap *] "},
        {"", "status: {state: Open}", ""},
        {"", "status: {state: Closed}", " closed"},
        {"", "status: {state: Closing}", " closed"},
        {"", "status: {state: Unknown}", " closed"},
        {"", "status: {state: ''}", ""},
        {"", "status: 7", ""},
    };
    check_cases(VOLCANO, cases, ARRAY_SIZE(cases));
}

static void Q05_queues_of_volcano_that_make_no_sense_say_so(void **state)
{
    (void)state;
    static const struct queue_case cases[] = {
        {"", "spec: {weight: 0}", "spec.weight is 0, must be between 1 and 65535"},
        {"", "spec: {parent: team, weight: 0}",
         "in team spec.weight is 0, must be between 1 and 65535"},
        {"", "spec: {priority: -1}", "spec.priority is -1, must be between 0 and 2147483647"},
        {"", "spec: {reclaimable: yes please}",
         "spec.reclaimable is a string, must be true or false"},
        {"", "spec: {dequeueStrategy: lifo}",
         "spec.dequeueStrategy is \"lifo\", must be traverse or fifo"},
        {"", "spec: {capability: [cpu]}", "spec.capability is a list, must be an object"},
        {"", "spec: {deserved: {cpu: '-1'}}", "spec.deserved: cpu is -1, must not be negative"},
        {"", "spec: {deserved: {cpu: lots}}",
         "spec.deserved: cpu: \"lots\" is not a quantity (such as 2, 500m or 16Gi)"},
        {"", "spec: {guarantee: {resource: {cpu: '-1'}}}",
         "spec.guarantee.resource: cpu is -1, must not be negative"},
        {"", "spec: {guarantee: {resource: {cpu: 1e30}}}",
         "spec.guarantee.resource: cpu is too large; lower it"},
        {"", "spec: {deserved: {cpu: 1e30}}", "spec.deserved: cpu is too large; lower it"},
        {"", "spec: {capability: {\"gpu\\u001b[2J\": 4}}",
         "spec.capability: \"gpu?[2J\" is not the name of a resource"},
        {"", "spec: {deserved: {'': 4}}", "spec.deserved: \"\" is not the name of a resource"},
        {"", "spec: {guarantee: 4}", "spec.guarantee is a number, must be an object"},
    };
    check_cases(VOLCANO, cases, ARRAY_SIZE(cases));
}

#define QUOTA_LABEL "quota.scheduling.koordinator.sh/"

static void Q01_elastic_quotas_are_read(void **state)
{
    (void)state;
    static const struct queue_case xk8s[] = {
        {"", "", ""},
        {"", "spec: {min: {cpu: 4}, max: {cpu: 8, memory: 1Gi}}",
         "[cpu deserved 4000 cap 8000] [memory cap 1073741824] "},
        {"labels: {" QUOTA_LABEL "parent: team}", "spec: {min: {nvidia.com/gpu: 2}}",
         "[nvidia.com/gpu deserved 2 cap *] "},
        {"", "spec: {max: 3}", "spec.max is a number, must be an object"},
        {"", "spec: {min: {cpu: '-1'}}", "spec.min: cpu is -1, must not be negative"},
        {"", "spec: {min: {cpu: 1e30}}", "spec.min: cpu is too large; lower it"},
        {"", "spec: {max: {cpu: 1e30}}", "[cpu cap *] "},
    };
    static const struct queue_case koordinator[] = {
        {"", "spec: {min: {cpu: 4}, max: {cpu: 8}}", "[cpu deserved 4000 cap 8000 weight 8000] "},
        {"labels: {" QUOTA_LABEL "parent: team, " QUOTA_LABEL "is-parent: 'true'}",
         "spec: {max: {cpu: 8}}", "in team [cpu cap 8000 weight 8000] "},
        {"labels: {" QUOTA_LABEL "parent: koordinator-root-quota}", "", ""},
        {"labels: {" QUOTA_LABEL "parent: ''}", "", ""},
        {"labels: {" QUOTA_LABEL "allow-lent-resource: 'false'}",
         "spec: {min: {cpu: 4}, max: {cpu: 8}}",
         "[cpu reserved 4000 deserved 4000 cap 8000 weight 8000] "},
        {"labels: {" QUOTA_LABEL "parent: team}", "spec: {min: {cpu: x}}",
         "in team spec.min: cpu: \"x\" is not a quantity (such as 2, 500m or 16Gi)"},
    };
    check_cases(XK8S, xk8s, ARRAY_SIZE(xk8s));
    check_cases(SIGS, koordinator, ARRAY_SIZE(koordinator));
}

#define WEIGHT(json) "annotations: {" QUOTA_LABEL "shared-weight: '" json "'}"

static void Q01_quotas_of_koordinator_weigh_amounts(void **state)
{
    (void)state;
    static const char spec[] = "spec: {min: {cpu: 4}, max: {nvidia.com/gpu: 8}}";
    static const struct queue_case cases[] = {
        /* By default max; a resource without max has the weight of the whole cluster. */
        {"", spec, "[cpu deserved 4000 cap * weight *] [nvidia.com/gpu cap 8 weight 8] "},
        {WEIGHT("{\"cpu\": \"500m\", \"memory\": \"1Gi\", \"nvidia.com/gpu\": 2}"), spec,
         "[cpu deserved 4000 cap * weight 500] [memory cap * weight 1073741824] "
         "[nvidia.com/gpu cap 8 weight 2] "},
        {WEIGHT("{\"nvidia.com/gpu\": \"3\"}"), spec,
         "[cpu deserved 4000 cap * weight 0] [nvidia.com/gpu cap 8 weight 3] "},
        {WEIGHT("{}"), spec, "[cpu deserved 4000 cap * weight *] [nvidia.com/gpu cap 8 weight 8] "},
        {WEIGHT("{\"cpu\": 0}"), spec,
         "[cpu deserved 4000 cap * weight *] [nvidia.com/gpu cap 8 weight 8] "},
        {WEIGHT("{\"cpu\": \"1e30\"}"), "spec: {}", "[cpu cap * weight *] "},
        {WEIGHT("7"), spec,
         "annotation " QUOTA_LABEL "shared-weight is \"7\", must be a JSON object of resources and "
         "quantities"},
        {WEIGHT("{\"cpu\": 1"), spec,
         "annotation " QUOTA_LABEL "shared-weight is \"{\"cpu\": 1\", must be a JSON object of "
         "resources and quantities"},
        {WEIGHT("{\"cpu\": -1}"), spec,
         "annotation " QUOTA_LABEL "shared-weight: cpu is -1, must not be negative"},
        {WEIGHT("{\"cpu\": \"lots\"}"), spec,
         "annotation " QUOTA_LABEL
         "shared-weight: cpu: \"lots\" is not a quantity (such as 2, 500m "
         "or 16Gi)"},
    };
    check_cases(SIGS, cases, ARRAY_SIZE(cases));
    struct gang_queue_facts *f = read_queue(SIGS, "", spec);
    assert_true(f->weighs_amounts);
    gang_queue_facts_free(f);
    f = read_queue(XK8S, "", spec);
    assert_false(f->weighs_amounts);
    gang_queue_facts_free(f);
}

static void assert_place(const char *api_group, const char *metadata, const char *ns,
                         const char *of_namespace, const char *parent_field)
{
    struct gang_queue_facts *f = read_queue(api_group, metadata, "");
    assert_string_equal(f->ref.ns, ns);
    if (!str_eq(f->of_namespace, of_namespace))
        fail_msg("%s: of namespace %s, not %s", api_group, f->of_namespace, of_namespace);
    assert_string_equal(f->parent_field, parent_field);
    gang_queue_facts_free(f);
}

static void a_queue_is_found_by_the_names_of_its_dialect(void **state)
{
    (void)state;
    assert_place(KAI, "", "", NULL, "spec.parentQueue");
    assert_place(VOLCANO, "", "", NULL, "spec.parent");
    assert_place(XK8S, "", "ml", "ml", "spec.parent");
    /* Koordinator: the quota of a namespace has the same name. */
    assert_place(SIGS, "", "", NULL, "label " QUOTA_LABEL "parent");
    assert_place(SIGS, "namespace: q", "", "q", "label " QUOTA_LABEL "parent");
    assert_place(SIGS, "namespace: q, labels: {" QUOTA_LABEL "is-parent: 'true'}", "", NULL,
                 "label " QUOTA_LABEL "parent");
    /* Also of an invalid one. */
    struct gang_queue_facts *f = read_queue(SIGS, "namespace: q", "spec: 7");
    assert_non_null(f->invalid);
    assert_string_equal(f->of_namespace, "q");
    gang_queue_facts_free(f);
}

#define NAMESPACES(json) "annotations: {" QUOTA_LABEL "namespaces: '" json "'}"

static void Q01_quotas_of_koordinator_name_namespaces(void **state)
{
    (void)state;
    static const struct queue_case cases[] = {
        {NAMESPACES("ml"), "",
         "annotation " QUOTA_LABEL "namespaces is \"ml\", must be a JSON list of namespaces"},
        {NAMESPACES("{\"ml\": 1}"), "",
         "annotation " QUOTA_LABEL
         "namespaces is \"{\"ml\": 1}\", must be a JSON list of namespaces"},
        {NAMESPACES("[\"ml\", 1]"), "",
         "annotation " QUOTA_LABEL
         "namespaces is \"[\"ml\", 1]\", must be a JSON list of namespaces"},
        {NAMESPACES("[]"), "", ""},
    };
    check_cases(SIGS, cases, ARRAY_SIZE(cases));
    struct gang_queue_facts *f = read_queue(SIGS, NAMESPACES("[\"ml\", \"vision\"]"), "");
    assert_int_equal(f->n_more_namespaces, 2);
    assert_string_equal(f->more_namespaces[0], "ml");
    assert_string_equal(f->more_namespaces[1], "vision");
    gang_queue_facts_free(f);
    /* Pods cannot be in a parent. */
    f = read_queue(SIGS, "labels: {" QUOTA_LABEL "is-parent: 'true'}, " NAMESPACES("[\"ml\"]"), "");
    assert_int_equal(f->n_more_namespaces, 0);
    gang_queue_facts_free(f);
}

static void Q05_a_quota_with_too_many_namespaces_is_invalid(void **state)
{
    (void)state;
    for (int n = BOUND_QUEUE_NAMESPACES; n <= BOUND_QUEUE_NAMESPACES + 1; n++) {
        cleanup_buf struct buf list = BUF_INIT;
        for (int i = 0; i < n; i++)
            buf_printf(&list, "%s\"n%d\"", i ? ", " : "", i);
        cleanup_free char *metadata =
            xasprintf("annotations: {" QUOTA_LABEL "namespaces: '[%s]'}", buf_str(&list));
        struct gang_queue_facts *f = read_queue(SIGS, metadata, "");
        if (n > BOUND_QUEUE_NAMESPACES)
            assert_string_equal(f->invalid,
                                "annotation quota.scheduling.koordinator.sh/namespaces: 257 "
                                "namespaces; muster takes at most 256");
        else
            assert_null(f->invalid);
        gang_queue_facts_free(f);
    }
}

/* Gangs that name no queue are in it. */
static void Q05_each_dialect_has_its_own_default_queue(void **state)
{
    (void)state;
    static const struct {
        const char *api_group, *name;
    } defaults[] = {
        {KAI, "default-queue"}, {VOLCANO, "default"}, {SIGS, "koordinator-default-quota"}};
    static const char *const names[] = {"default-queue", "default", "koordinator-default-quota"};
    static const char *const groups[] = {KAI, VOLCANO, SIGS, XK8S};
    for (size_t g = 0; g < ARRAY_SIZE(groups); g++)
        for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
            bool want = false;
            for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
                want |=
                    str_eq(groups[g], defaults[i].api_group) && str_eq(names[n], defaults[i].name);
            struct gang_queue_facts *f = read_named_queue(groups[g], names[n], "", "");
            if (f->fallback != want)
                fail_msg("%s of %s: %d", names[n], groups[g], f->fallback);
            gang_queue_facts_free(f);
        }
}

static void Q05_a_queue_with_too_many_resources_is_invalid(void **state)
{
    (void)state;
    static const char *const paths[] = {"capability: {%s}", "guarantee: {resource: {%s}}"};
    for (size_t p = 0; p < ARRAY_SIZE(paths); p++)
        for (int n = BOUND_QUEUE_RESOURCES; n <= 5000; n += 5000 - BOUND_QUEUE_RESOURCES) {
            cleanup_buf struct buf map = BUF_INIT;
            for (int i = 0; i < n; i++)
                buf_printf(&map, "%sr%d: 1", i ? ", " : "", i);
            const char *at = strstr(paths[p], "%s");
            cleanup_free char *members = xasprintf("spec: {%.*s%s%s}", (int)(at - paths[p]),
                                                   paths[p], buf_str(&map), at + 2);
            struct gang_queue_facts *f = read_queue(VOLCANO, "", members);
            assert_true((f->invalid != NULL) == (n > BOUND_QUEUE_RESOURCES));
            if (f->invalid)
                assert_string_equal(f->invalid,
                                    "spec of a queue: 5000 resources; muster takes at most 64");
            gang_queue_facts_free(f);
        }
    /* Together. */
    cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
    for (int i = 0; i < 40; i++) {
        buf_printf(&a, "%sa%d: 1", i ? ", " : "", i);
        buf_printf(&b, "%sb%d: 1", i ? ", " : "", i);
    }
    cleanup_free char *members =
        xasprintf("spec: {capability: {%s}, deserved: {%s}}", buf_str(&a), buf_str(&b));
    struct gang_queue_facts *f = read_queue(VOLCANO, "", members);
    assert_string_equal(f->invalid, "spec of a queue: 80 resources; muster takes at most 64");
    gang_queue_facts_free(f);
}

static void Q05_a_queue_with_a_resource_of_a_long_name_is_invalid(void **state)
{
    (void)state;
    char name[319];
    memset(name, 'r', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t cut = 0; cut < 2; cut++) {
        cleanup_free char *members = xasprintf("spec: {max: {%s: 1}}", name + cut);
        struct gang_queue_facts *f = read_queue("scheduling.x-k8s.io", "", members);
        assert_true((f->invalid != NULL) == (cut == 0));
        gang_queue_facts_free(f);
    }
}

static void a_queue_of_which_a_part_is_known_is_invalid(void **state)
{
    (void)state;
    struct err why, err;
    cleanup_json json_t *json = yaml_object("{metadata: {name: q, uid: u}}");
    cleanup_json json_t *nameless = yaml_object("{metadata: {uid: u}}");
    err_set(&why, ERR_INVALID, "it has 60000 values");
    struct gang_queue_facts *f = decode_queue_part(queue_dialect_by_group(KAI), json, &why, &err);
    assert_string_equal(f->invalid, "it cannot be read: it has 60000 values");
    gang_queue_facts_free(f);
    assert_null(decode_queue_part(queue_dialect_by_group(KAI), nameless, &why, &err));
    assert_string_equal(err.text, "Queue: metadata.name is missing");
    assert_null(decode_queue(queue_dialect_by_group(XK8S), nameless, &err));
    assert_string_equal(err.text, "ElasticQuota: metadata.name is missing");
}

/* ---- links ---- */

#define KAI_QUEUE     "kai.scheduler/queue: k"
#define VOLCANO_QUEUE "scheduling.volcano.sh/queue-name: v"
#define KOORD_QUEUE   QUOTA_LABEL "name: e"

static void Q01_pods_name_queues_by_the_keys_of_each_dialect(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *api_group, *name;
    } cases[] = {
        {"labels: {}", NULL, NULL},
        {"labels: {" KAI_QUEUE "}", KAI, "k"},
        {"labels: {runai/queue: training}", KAI, "training"},
        {"labels: {" KAI_QUEUE ", runai/queue: training}", KAI, "k"},
        {"labels: {kai.scheduler/queue: '', runai/queue: training}", KAI, "training"},
        {"annotations: {" KAI_QUEUE "}", NULL, NULL},
        {"annotations: {" VOLCANO_QUEUE "}", VOLCANO, "v"},
        {"labels: {" VOLCANO_QUEUE "}", NULL, NULL},
        {"labels: {" KOORD_QUEUE "}", SIGS, "e"},
        /* Several dialects: without a link in this order. */
        {"labels: {" KAI_QUEUE ", " KOORD_QUEUE "}, annotations: {" VOLCANO_QUEUE "}", KAI, "k"},
        {"labels: {" KOORD_QUEUE "}, annotations: {" VOLCANO_QUEUE "}", VOLCANO, "v"},
        /* With a link, its dialect. */
        {"labels: {" KAI_QUEUE "}, annotations: {" VOLCANO_QUEUE
         ", scheduling.k8s.io/group-name: g}",
         VOLCANO, "v"},
        {"labels: {" KAI_QUEUE ", " KOORD_QUEUE ", pod-group.scheduling.sigs.k8s.io: g}", SIGS,
         "e"},
        {"labels: {" KAI_QUEUE ", " KOORD_QUEUE
         "}, annotations: {gang.scheduling.koordinator.sh/name: g}",
         SIGS, "e"},
        {"labels: {" KAI_QUEUE ", " KOORD_QUEUE ", pod-group.scheduling.sigs.k8s.io/name: g}", SIGS,
         "e"},
        {"labels: {" KOORD_QUEUE "}, annotations: {pod-group-name: g}", SIGS, "e"},
        {"labels: {" KAI_QUEUE ", " KOORD_QUEUE ", scheduling.x-k8s.io/pod-group: g}", KAI, "k"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_pod_facts *f = read_pod(cases[i].metadata);
        if (!str_eq(f->queue.api_group, cases[i].api_group) ||
            !str_eq(f->queue.name, cases[i].name))
            fail_msg("%s: %s %s", cases[i].metadata, f->queue.api_group, f->queue.name);
        if (f->queue.name)
            assert_string_equal(f->queue.ns, "");
        gang_pod_facts_free(f);
    }
}

/* It names no queue that can exist, and costs little. */
static void a_name_that_is_too_long_is_cut(void **state)
{
    (void)state;
    cleanup_buf struct buf metadata = BUF_INIT;
    buf_puts(&metadata, "annotations: {scheduling.volcano.sh/queue-name: '");
    for (int i = 0; i < 100000; i++)
        buf_putc(&metadata, 'x');
    buf_puts(&metadata, "'}");
    struct gang_pod_facts *f = read_pod(buf_str(&metadata));
    assert_int_equal(strlen(f->queue.name), 254);
    gang_pod_facts_free(f);
    f = read_pod("annotations: {scheduling.volcano.sh/queue-name: \"a\\nb\"}");
    assert_string_equal(f->queue.name, "a?b");
    gang_pod_facts_free(f);
}

static void Q01_podgroups_name_their_queue(void **state)
{
    (void)state;
    static const struct {
        const char *api_group, *metadata, *spec, *queue;
        enum gang_preemptible preemptible;
    } cases[] = {
        {KAI, "", "{queue: training, minMember: 4, priority: 50}", "training",
         PREEMPTIBLE_BY_PRIORITY},
        {KAI, "labels: {" KAI_QUEUE "}", "{queue: training}", "training", PREEMPTIBLE_BY_PRIORITY},
        {KAI, "labels: {" KAI_QUEUE "}", "{queue: ''}", "k", PREEMPTIBLE_BY_PRIORITY},
        {KAI, "", "{preemptibility: preemptible}", NULL, PREEMPTIBLE_YES},
        {KAI, "", "{preemptibility: semi-preemptible}", NULL, PREEMPTIBLE_YES},
        {KAI, "", "{preemptibility: non-preemptible}", NULL, PREEMPTIBLE_NO},
        {KAI, "", "{preemptibility: ''}", NULL, PREEMPTIBLE_BY_PRIORITY},
        {VOLCANO, "", "{queue: default}", "default", PREEMPTIBLE_BY_PRIORITY},
        {VOLCANO, "labels: {" KAI_QUEUE "}", "{}", NULL, PREEMPTIBLE_BY_PRIORITY},
        {SIGS, "labels: {" KAI_QUEUE "}", "{queue: training}", NULL, PREEMPTIBLE_BY_PRIORITY},
        {XK8S, "", "{queue: training}", NULL, PREEMPTIBLE_BY_PRIORITY},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text =
            xasprintf("{metadata: {name: g, namespace: ml, uid: u%s%s}, spec: %s}",
                      *cases[i].metadata ? ", " : "", cases[i].metadata, cases[i].spec);
        cleanup_json json_t *json = yaml_object(text);
        struct err err;
        struct gang_group_facts *f = decode_group(dialect_by_group(cases[i].api_group), json, &err);
        assert_null(f->invalid);
        if (!str_eq(f->queue, cases[i].queue) || f->preemptible != cases[i].preemptible)
            fail_msg("%s: queue %s, preemptible %d", text, f->queue, (int)f->preemptible);
        gang_group_facts_free(f);
    }
}

static void Q01_pods_say_whether_they_are_preemptible(void **state)
{
    (void)state;
    static const struct {
        const char *labels;
        enum gang_preemptible is;
    } cases[] = {
        {"{}", PREEMPTIBLE_BY_PRIORITY},
        {"{kai.scheduler/preemptibility: preemptible}", PREEMPTIBLE_YES},
        {"{kai.scheduler/preemptibility: semi-preemptible}", PREEMPTIBLE_YES},
        {"{kai.scheduler/preemptibility: non-preemptible}", PREEMPTIBLE_NO},
        {"{kai.scheduler/preemptibility: ''}", PREEMPTIBLE_BY_PRIORITY},
        {"{kai.scheduler/preemptibility: Non-Preemptible}", PREEMPTIBLE_BY_PRIORITY},
        {"{kai.scheduler/preemptibility: 7}", PREEMPTIBLE_BY_PRIORITY},
        {"{quota.scheduling.koordinator.sh/preemptible: 'false'}", PREEMPTIBLE_NO},
        {"{quota.scheduling.koordinator.sh/preemptible: 'true'}", PREEMPTIBLE_BY_PRIORITY},
        {"{quota.scheduling.koordinator.sh/preemptible: 'false', kai.scheduler/preemptibility: "
         "preemptible}",
         PREEMPTIBLE_NO},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *metadata = xasprintf("labels: %s", cases[i].labels);
        struct gang_pod_facts *f = read_pod(metadata);
        if (f->preemptible != cases[i].is)
            fail_msg("%s: %d", cases[i].labels, (int)f->preemptible);
        gang_pod_facts_free(f);
    }
}

static void namespaces_name_queues_of_volcano(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *queue;
    } cases[] = {
        {"", NULL},
        {", annotations: {scheduling.volcano.sh/queue-name: team}", "team"},
        {", annotations: {scheduling.volcano.sh/queue-name: ''}", NULL},
        {", labels: {scheduling.volcano.sh/queue-name: team}", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_free char *text = xasprintf("{metadata: {name: ml%s}}", cases[i].metadata);
        cleanup_json json_t *json = yaml_object(text);
        struct err err;
        struct gang_namespace_facts *f =
            decode_namespace(queue_dialect_by_group(VOLCANO), json, &err);
        assert_string_equal(f->name, "ml");
        assert_true(str_eq(f->queue, cases[i].queue));
        assert_true(str_eq(f->api_group, cases[i].queue ? VOLCANO : NULL));
        gang_namespace_facts_free(f);
    }
}

/* ---- statuses ---- */

/* RFC 7396, one level into the status. */
static void apply_patch(json_t *object, const json_t *patch)
{
    const char *key, *name;
    json_t *value, *part;
    json_t *status = json_object_get(object, "status");
    if (!status) {
        json_object_set_new(object, "status", json_object());
        status = json_object_get(object, "status");
    }
    json_object_foreach(json_object_get(patch, "status"), key, value)
    {
        json_t *old = json_object_get(status, key);
        if (!json_is_object(value) || !json_is_object(old)) {
            json_object_set_new(status, key, json_deep_copy(value));
            continue;
        }
        json_object_foreach(value, name, part)
        {
            if (json_is_null(part))
                json_object_del(old, name);
            else
                json_object_set(old, name, part);
        }
    }
}

/* Writes the status into the object; the next one must change nothing. The text of the patch's
 * status; NULL: nothing to write. */
static char *write_status(json_t *object, const char *api_group, const struct gang_queue_status *s,
                          bool orphan)
{
    const struct queue_dialect *d = queue_dialect_by_group(api_group);
    struct queue_view view = {.object = object, .orphan = orphan, .wall = WALL};
    cleanup_json json_t *patch = d->status(s, &view);
    if (!patch)
        return NULL;
    assert_int_equal(json_object_size(patch), 1);
    char *text = json_dumps(json_object_get(patch, "status"), JSON_COMPACT | JSON_SORT_KEYS);
    apply_patch(object, patch);
    cleanup_json json_t *again = d->status(s, &view);
    if (again)
        fail_msg("%s: written again: %s", text, json_dumps(again, 0));
    return text;
}

static void assert_writes(json_t *object, const char *api_group, const struct gang_queue_status *s,
                          bool orphan, const char *want)
{
    cleanup_free char *got = write_status(object, api_group, s, orphan);
    if (!str_eq(got, want))
        fail_msg("is:  %s\nnot: %s", got ? got : "nothing", want ? want : "nothing");
}

static struct gang_queue_amount amount(const char *resource, int64_t deserved, int64_t used,
                                       int64_t firm, int64_t requested)
{
    return (struct gang_queue_amount){.resource = resource,
                                      .deserved = deserved,
                                      .cap = GANG_UNLIMITED,
                                      .used = used,
                                      .firm = firm,
                                      .requested = requested};
}

#define SINCE "\"lastTransitionTime\":\"2024-02-29T12:00:00Z\","

static void Q01_the_status_of_a_kai_queue_follows_its_use(void **state)
{
    (void)state;
    static const char *const children[] = {"a", "b"};
    struct gang_queue_amount amounts[] = {
        amount("cpu", 2000, 1500, 0, 2500),
        amount("gpu", 4, 3, 2, 8),
        amount("memory", GANG_UNLIMITED, INT64_C(3) << 30, 0, 5000),
    };
    struct gang_queue_status s = {.text = "",
                                  .amounts = amounts,
                                  .n_amounts = ARRAY_SIZE(amounts),
                                  .children = children,
                                  .n_children = 2};
    cleanup_json json_t *object = yaml_object(
        "{metadata: {name: q}, spec: {resources: {cpu: {limit: -1}, memory: {limit: -1}, "
        "gpu: {limit: 8}}}, status: {allocated: {cpu: '1', odd.com/x: 4}, conditions: "
        "[{type: Other, status: 'True'}]}}");
    assert_writes(object, KAI, &s, false,
                  "{\"allocated\":{\"cpu\":\"1500m\",\"memory\":\"3Gi\",\"nvidia.com/gpu\":\"3\","
                  "\"odd.com/x\":null},\"allocatedNonPreemptible\":{\"cpu\":\"0\",\"memory\":"
                  "\"0\",\"nvidia.com/gpu\":\"2\"},\"childQueues\":[\"a\",\"b\"],\"requested\":{"
                  "\"cpu\":\"2500m\",\"memory\":\"5k\",\"nvidia.com/gpu\":\"8\"}}");
    /* The same amount in another notation is not a change. */
    json_object_set_new(json_object_get(json_object_get(object, "status"), "allocated"), "cpu",
                        json_string("1.5"));
    assert_writes(object, KAI, &s, false, NULL);
    /* Where one resource that counts as gpu is listed, it is written under its own name. */
    amounts[1].used = 5;
    amounts[2] = amount("amd.com/gpu", GANG_NOT_STATED, 5, 0, 5);
    s.n_children = 0;
    assert_writes(object, KAI, &s, false,
                  "{\"allocated\":{\"amd.com/gpu\":\"5\",\"memory\":null,\"nvidia.com/gpu\":null},"
                  "\"allocatedNonPreemptible\":{\"amd.com/gpu\":\"0\",\"memory\":null,"
                  "\"nvidia.com/gpu\":null},\"childQueues\":[],\"conditions\":[{\"status\":"
                  "\"True\",\"type\":\"Other\"},{" SINCE "\"message\":\"gpu: 5 used, quota is 4\","
                  "\"reason\":\"OverQuota\",\"status\":\"True\",\"type\":\"OverQuota\"}],"
                  "\"requested\":{\"amd.com/gpu\":\"5\",\"memory\":null,\"nvidia.com/gpu\":null}}");
    amounts[1].used = 4;
    amounts[2].used = 4;
    amounts[1].cap = 3;
    assert_writes(object, KAI, &s, false,
                  "{\"allocated\":{\"amd.com/gpu\":\"4\"},\"conditions\":[{\"status\":\"True\","
                  "\"type\":\"Other\"},{" SINCE
                  "\"message\":\"\",\"reason\":\"WithinQuota\",\"status\":\"False\",\"type\":"
                  "\"OverQuota\"},{" SINCE "\"message\":\"gpu: 4 used, limit is 3\",\"reason\":"
                  "\"OverLimit\",\"status\":\"True\",\"type\":\"OverLimit\"}]}");
}

static void Q05_a_kai_queue_says_what_is_wrong_with_it(void **state)
{
    (void)state;
    struct gang_queue_status s = {.text = ""};
    cleanup_json json_t *object =
        yaml_object("{metadata: {name: q}, spec: {resources: {cpu: {limit: 0}, "
                    "memory: {limit: null}, gpu: {quota: 8}}}}");
    assert_writes(object, KAI, &s, false,
                  "{\"conditions\":[{" SINCE
                  "\"message\":\"a limit that is not set allows nothing: spec.resources.memory."
                  "limit, spec.resources.gpu.limit; set each of them, or write -1 for no limit\","
                  "\"reason\":\"LimitNotSet\",\"status\":\"True\",\"type\":\"LimitNotSet\"}]}");
    cleanup_json json_t *whole =
        yaml_object("{metadata: {name: q}, spec: {resources: {cpu: {limit: 1}, "
                    "memory: {limit: 1}, gpu: {limit: 1}}}}");
    s.reason = REASON_QUEUE_INVALID;
    s.text = "spec.parentQueue is \"team\", which does not exist";
    assert_writes(
        whole, KAI, &s, true,
        "{\"conditions\":[{" SINCE "\"message\":\"spec.parentQueue is \\\"team\\\", which "
        "does not exist\",\"reason\":\"ParentNotFound\",\"status\":\"True\",\"type\":"
        "\"Orphan\"},{" SINCE "\"message\":\"spec.parentQueue is \\\"team\\\", which does "
        "not exist\",\"reason\":\"InvalidQueue\",\"status\":\"True\",\"type\":\"Invalid\""
        "}]}");
    s.reason = REASON_NONE;
    s.text = "";
    assert_writes(whole, KAI, &s, false,
                  "{\"conditions\":[{" SINCE "\"message\":\"\",\"reason\":\"ParentFound\","
                  "\"status\":\"False\",\"type\":\"Orphan\"},{" SINCE
                  "\"message\":\"\",\"reason\":\"Valid\",\"status\":\"False\",\"type\":\"Invalid\""
                  "}]}");
}

static void Q01_the_status_of_a_volcano_queue_follows_its_gangs(void **state)
{
    (void)state;
    struct gang_queue_amount amounts[] = {amount("cpu", GANG_NOT_STATED, 500, 0, 500),
                                          amount("nvidia.com/gpu", GANG_NOT_STATED, 8, 0, 8)};
    struct gang_queue_status s = {.text = "", .waiting = 3, .planned = 1, .running = 2, .done = 4};
    cleanup_json json_t *object = yaml_object("{metadata: {name: q}}");
    assert_writes(object, VOLCANO, &s, false,
                  "{\"allocated\":{},\"completed\":4,\"inqueue\":1,\"pending\":3,\"running\":2,"
                  "\"state\":\"Open\"}");
    s.amounts = amounts;
    s.n_amounts = ARRAY_SIZE(amounts);
    assert_writes(object, VOLCANO, &s, false,
                  "{\"allocated\":{\"cpu\":\"500m\",\"nvidia.com/gpu\":\"8\"}}");
    cleanup_json json_t *closing =
        yaml_object("{status: {state: Closing, unknown: 2, reservation: {}}}");
    assert_writes(closing, VOLCANO, &s, false,
                  "{\"allocated\":{\"cpu\":\"500m\",\"nvidia.com/gpu\":\"8\"},\"completed\":4,"
                  "\"inqueue\":1,\"pending\":3,\"running\":2,\"unknown\":null}");
    s.running = 0;
    assert_writes(closing, VOLCANO, &s, false, "{\"running\":null}");
    s.planned = 0;
    assert_writes(closing, VOLCANO, &s, false, "{\"inqueue\":null}");
    s.waiting = 0;
    assert_writes(closing, VOLCANO, &s, false, "{\"pending\":null,\"state\":\"Closed\"}");
    s.planned = 1;
    assert_writes(closing, VOLCANO, &s, false, "{\"inqueue\":1}");
}

static void Q01_the_status_of_an_elastic_quota_is_its_use(void **state)
{
    (void)state;
    struct gang_queue_amount amounts[] = {
        amount("cpu", GANG_NOT_STATED, 0, 0, 0),
        amount("ephemeral-storage", GANG_NOT_STATED, 1 << 20, 0, 0),
        amount("gpu", GANG_NOT_STATED, 2, 0, 0),
        amount("hugepages-2Mi", GANG_NOT_STATED, 4 << 20, 0, 0),
        amount("nvidia.com/gpu", GANG_NOT_STATED, 2, 0, 0),
    };
    struct gang_queue_status s = {.text = "", .amounts = amounts, .n_amounts = 5};
    static const char *const groups[] = {SIGS, XK8S};
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        cleanup_json json_t *object = yaml_object("{metadata: {name: q}, status: {used: 7}}");
        assert_writes(object, groups[i], &s, false,
                      "{\"used\":{\"cpu\":\"0\",\"ephemeral-storage\":\"1Mi\",\"hugepages-2Mi\":"
                      "\"4Mi\",\"nvidia.com/gpu\":\"2\"}}");
    }
    cleanup_json json_t *idle = yaml_object("{metadata: {name: q}}");
    s.n_amounts = 0;
    assert_writes(idle, XK8S, &s, false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q01_queues_of_kai_are_read),
        cmocka_unit_test(Q05_a_limit_of_kai_that_is_not_set_is_known),
        cmocka_unit_test(Q05_queues_of_kai_that_make_no_sense_say_so),
        cmocka_unit_test(Q01_queues_of_volcano_are_read),
        cmocka_unit_test(Q05_queues_of_volcano_that_make_no_sense_say_so),
        cmocka_unit_test(Q01_elastic_quotas_are_read),
        cmocka_unit_test(Q01_quotas_of_koordinator_weigh_amounts),
        cmocka_unit_test(a_queue_is_found_by_the_names_of_its_dialect),
        cmocka_unit_test(Q01_quotas_of_koordinator_name_namespaces),
        cmocka_unit_test(Q05_a_quota_with_too_many_namespaces_is_invalid),
        cmocka_unit_test(Q05_each_dialect_has_its_own_default_queue),
        cmocka_unit_test(Q05_a_queue_with_too_many_resources_is_invalid),
        cmocka_unit_test(Q05_a_queue_with_a_resource_of_a_long_name_is_invalid),
        cmocka_unit_test(a_queue_of_which_a_part_is_known_is_invalid),
        cmocka_unit_test(Q01_pods_name_queues_by_the_keys_of_each_dialect),
        cmocka_unit_test(a_name_that_is_too_long_is_cut),
        cmocka_unit_test(Q01_podgroups_name_their_queue),
        cmocka_unit_test(Q01_pods_say_whether_they_are_preemptible),
        cmocka_unit_test(namespaces_name_queues_of_volcano),
        cmocka_unit_test(Q01_the_status_of_a_kai_queue_follows_its_use),
        cmocka_unit_test(Q05_a_kai_queue_says_what_is_wrong_with_it),
        cmocka_unit_test(Q01_the_status_of_a_volcano_queue_follows_its_gangs),
        cmocka_unit_test(Q01_the_status_of_an_elastic_quota_is_its_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
