/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "gang/bounds.h"
#include "test/prop/model.h"

#define API_GROUP "test"

static const char *const role_names[] = {NULL, "a", "b", "c"};

const char *node_name(int n)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
    return names[n];
}

int node_number(const char *name)
{
    return name && name[0] == 'n' && name[1] >= '0' && name[1] < '0' + NODES && !name[2]
               ? name[1] - '0'
               : -1;
}

char *pod_uid(const struct model *m, int p)
{
    return xasprintf("u%d-%d", p, m->pods[p].serial);
}

int pod_number(const char *uid, int *ret_serial)
{
    int p;
    return sscanf(uid, "u%d-%d", &p, ret_serial) == 2 && p >= 0 && p < PODS ? p : -1;
}

struct gang_ref facts_ref(int g)
{
    return (struct gang_ref){xstrdup(API_GROUP), xstrdup("default"), xasprintf("g%d", g)};
}

struct gang_node_facts *facts_node(const struct model *m, int n)
{
    const struct op *spec = &m->nodes[n].spec;
    struct gang_node_facts *f = gang_node_facts_new();
    f->name = xstrdup(node_name(n));
    f->unschedulable = op_has(spec, A_CORDON);
    gang_amounts_add(&f->allocatable, "pods", op_get(spec, A_ROOM, 110));
    gang_amounts_add(&f->allocatable, "cpu", op_get(spec, A_CPU, 64) * INT64_C(1000));
    gang_amounts_add(&f->allocatable, "memory", INT64_C(256) << 30);
    if (op_get(spec, A_GPUS, 0))
        gang_amounts_add(&f->allocatable, "nvidia.com/gpu", op_get(spec, A_GPUS, 0));
    gang_kvs_add(&f->labels, "kubernetes.io/hostname", node_name(n));
    gang_kvs_add(&f->labels, "devices", op_get(spec, A_GPUS, 0) ? "some" : "none");
    if (op_has(spec, A_TAINT)) {
        f->taints = xcalloc(1, sizeof *f->taints);
        f->n_taints = 1;
        f->taints[0] = (struct gang_taint){xstrdup("x"), xstrdup(""), TAINT_NO_SCHEDULE};
    }
    return f;
}

/* ---- queues ---- */

#define KOORDINATOR "scheduling.sigs.k8s.io"
#define XK8S        "scheduling.x-k8s.io"
#define QUEUE(api, ns, name, ...)                                                                  \
    {                                                                                              \
        api, ns, name, .grant = name ":elsewhere", __VA_ARGS__                                     \
    }

const struct queue_id queue_ids[QUEUES] = {
    /* like the Queues of KAI and Volcano: in the API group of the PodGroups */
    QUEUE(API_GROUP, "", "default", .fallback = false),
    QUEUE(API_GROUP, "", "default-queue", .fallback = true),
    QUEUE(API_GROUP, "", "q2", .fallback = false),
    QUEUE(API_GROUP, "", "q3", .fallback = false),
    QUEUE(API_GROUP, "", "q4", .fallback = false),
    QUEUE(API_GROUP, "", "q5", .fallback = false),
    QUEUE(API_GROUP, "", "q6", .firm_priority = 3),
    /* ElasticQuotas */
    QUEUE(KOORDINATOR, "", "default", .of_namespace = "default"),
    QUEUE(KOORDINATOR, "", "q8", .more = "default"),
    QUEUE(XK8S, "default", "q9", .of_namespace = "default"),
};

struct gang_ref facts_queue_ref(int q)
{
    const struct queue_id *id = &queue_ids[q];
    return (struct gang_ref){xstrdup(id->api_group), xstrdup(id->ns), xstrdup(id->name)};
}

/* Of one resource. A negative number: not stated, or not limited. */
static void state_quota(struct gang_queue_facts *f, const char *resource, const struct op *spec)
{
    static const struct {
        enum attr attr;
        size_t member;
        int64_t otherwise;
    } parts[] = {
        {A_DESERVED, offsetof(struct gang_quota, deserved), GANG_NOT_STATED},
        {A_LIMIT, offsetof(struct gang_quota, cap), GANG_UNLIMITED},
        {A_RESERVED, offsetof(struct gang_quota, reserved), 0},
    };
    struct gang_quota *q = gang_quota_add(f, resource);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        int64_t v = op_get(spec, parts[i].attr, -1);
        *(int64_t *)(void *)((char *)q + parts[i].member) = v == GIANT ? GANG_UNLIMITED - 1
                                                            : v >= 0   ? v
                                                                       : parts[i].otherwise;
    }
}

struct gang_queue_facts *facts_queue(const struct model *m, int q)
{
    const struct op *spec = &m->queues[q].spec;
    struct gang_queue_facts *f = gang_queue_facts_new();
    int under = op_get(spec, A_UNDER, -1);
    f->ref = facts_queue_ref(q);
    f->of_namespace = xstrdup_null(queue_ids[q].of_namespace);
    f->fallback = queue_ids[q].fallback;
    f->firm_priority = queue_ids[q].firm_priority;
    if (queue_ids[q].more) {
        f->more_namespaces = xcalloc(1, sizeof *f->more_namespaces);
        f->more_namespaces[f->n_more_namespaces++] = xstrdup(queue_ids[q].more);
    }
    f->uid = xasprintf("uid-q%d-%d", q, m->queues[q].serial);
    f->created = m->queues[q].created;
    f->parent = under >= 0 ? xstrdup(queue_ids[under].name) : NULL;
    f->closed = op_has(spec, A_CLOSED);
    if (op_has(spec, A_UNREAD)) {
        f->invalid = xstrdup("a number is out of range");
        return f;
    }
    f->weight = op_get(spec, A_WEIGHT, 1) * INT64_C(1000);
    f->priority = op_get(spec, A_PRIO, 0);
    f->fifo = op_has(spec, A_FIFO);
    if (op_has(spec, A_DESERVED) || op_has(spec, A_LIMIT) || op_has(spec, A_RESERVED))
        state_quota(f, op_has(spec, A_ANYGPU) ? GANG_ANY_GPU : "nvidia.com/gpu", spec);
    if (op_has(spec, A_CPU))
        gang_quota_add(f, "cpu")->cap = spec->value[A_CPU] * INT64_C(1000);
    return f;
}

struct gang_namespace_facts *facts_namespace(const struct model *m)
{
    struct gang_namespace_facts *f = gang_namespace_facts_new();
    f->name = xstrdup("default");
    f->api_group = xstrdup(API_GROUP);
    f->queue = xstrdup(queue_ids[op_get(&m->namespaces[0].spec, A_NAMES, 0)].name);
    return f;
}

/* ---- groups ---- */

static struct gang_subgroup *subgroup_add(struct gang_group_facts *f, const char *name, int min)
{
    f->subgroups = xreallocarray(f->subgroups, f->n_subgroups + 1, sizeof *f->subgroups);
    struct gang_subgroup *s = &f->subgroups[f->n_subgroups++];
    *s = (struct gang_subgroup){.name = xstrdup(name), .min_member = min, .min_children = -1};
    return s;
}

static void add_subgroups(struct gang_group_facts *f, const struct op *spec)
{
    for (int i = 0; i < 3; i++)
        if (op_has(spec, (enum attr)(A_SUBA + i)))
            subgroup_add(f, role_names[i + 1], spec->value[A_SUBA + i]);
    if (op_has(spec, A_NESTED) && op_has(spec, A_SUBA) && op_has(spec, A_SUBC))
        f->subgroups[f->n_subgroups - 1].parent = xstrdup("a");
    if (op_has(spec, A_SPLIT)) {
        struct gang_subgroup *s = subgroup_add(f, "racks", 0);
        s->by_labels = true;
        s->split_by = xcalloc(1, sizeof *s->split_by);
        s->n_split_by = 1;
        s->split_by[0] = xstrdup("rack");
        s->part_size = spec->value[A_SPLIT];
        s->min_children = op_get(spec, A_PARTS, -1);
    }
    f->min_children = op_get(spec, A_SUBS, -1);
}

static struct gang_group_facts *group_facts(const struct op *spec, int g)
{
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref = facts_ref(g);
    if (op_has(spec, A_UNREAD)) {
        f->invalid = xstrdup("a number is out of range");
        return f;
    }
    f->min_member = op_get(spec, A_MIN, 0);
    f->max_member = op_get(spec, A_MAX, 0);
    add_subgroups(f, spec);
    if (op_has(spec, A_PARENT))
        f->parent = xasprintf("g%d", spec->value[A_PARENT]);
    for (int other = 0; other < GROUPS; other++)
        if (op_get(spec, A_BUNDLE, 0) >> other & 1) {
            f->bundle = xreallocarray(f->bundle, f->n_bundle + 1, sizeof *f->bundle);
            f->bundle[f->n_bundle++] = facts_ref(other);
        }
    if (op_has(spec, A_GPUS))
        gang_amounts_add(&f->min_resources, "nvidia.com/gpu", spec->value[A_GPUS]);
    if (op_has(spec, A_CPU))
        gang_amounts_add(&f->min_resources, "cpu", spec->value[A_CPU] * INT64_C(1000));
    f->has_priority = op_has(spec, A_PRIO);
    f->priority = op_get(spec, A_PRIO, 0);
    if (op_has(spec, A_BYCLASS))
        f->priority_class = xasprintf("k%d", spec->value[A_BYCLASS]);
    f->queue = op_has(spec, A_NAMES) ? xstrdup(queue_ids[spec->value[A_NAMES]].name) : NULL;
    if (op_has(spec, A_FIRM))
        f->preemptible = PREEMPTIBLE_NO;
    f->suspends = op_has(spec, A_SUSPENDS);
    f->match = op_has(spec, A_RUNNING)   ? MATCH_RUNNING
               : op_has(spec, A_WAITING) ? MATCH_WAITING
               : op_has(spec, A_ONCE)    ? MATCH_ONCE
                                         : MATCH_DEFAULT;
    f->schedule_timeout = op_get(spec, A_TIMEOUT, 0) * USEC_PER_MSEC;
    return f;
}

struct gang_group_facts *facts_group(const struct model *m, int g)
{
    struct gang_group_facts *f = group_facts(&m->groups[g].spec, g);
    f->uid = xasprintf("uid-g%d-%d", g, m->groups[g].serial);
    f->created = m->groups[g].created;
    return f;
}

struct gang_priority_class_facts *facts_class(const struct model *m, int k)
{
    struct gang_priority_class_facts *f = gang_priority_class_facts_new();
    f->name = xasprintf("k%d", k);
    f->value = op_get(&m->classes[k].spec, A_PRIO, 0);
    return f;
}

/* ---- disruption budgets ---- */

static void select_label(struct gang_term *term, const char *key, char *value)
{
    term->n = 1;
    term->items = xcalloc(1, sizeof *term->items);
    term->items[0] = (struct gang_requirement){.key = xstrdup(key), .op = MATCH_IN, .n_values = 1};
    term->items[0].values = xcalloc(1, sizeof(char *));
    term->items[0].values[0] = value;
}

static char *app_name(int app)
{
    return xasprintf("a%d", app);
}

struct gang_budget_facts *facts_budget(const struct model *m, int b)
{
    const struct op *spec = &m->budgets[b].spec;
    struct gang_budget_facts *f = gang_budget_facts_new();
    f->ns = xstrdup("default");
    f->name = xasprintf("b%d", b);
    f->allowed = op_get(spec, A_ALLOWED, 0);
    if (op_has(spec, A_APP))
        select_label(&f->selector, "app", app_name(spec->value[A_APP]));
    return f;
}

/* ---- claims ---- */

static void limit_to(struct gang_claim_facts *f, int32_t nodes)
{
    f->bound = f->limited = true;
    f->n_terms = 1;
    f->terms = xcalloc(1, sizeof *f->terms);
    f->terms[0].n = 1;
    f->terms[0].items = xcalloc(1, sizeof *f->terms[0].items);
    struct gang_requirement *r = f->terms[0].items;
    *r =
        (struct gang_requirement){.on_name = true, .key = xstrdup("metadata.name"), .op = MATCH_IN};
    r->values = xcalloc(NODES, sizeof *r->values);
    for (int n = 0; n < NODES; n++)
        if (nodes >> n & 1)
            r->values[r->n_values++] = xstrdup(node_name(n));
}

struct gang_claim_facts *facts_claim(const struct model *m, int c)
{
    const struct op *spec = &m->claims[c].spec;
    struct gang_claim_facts *f = gang_claim_facts_new();
    f->ns = xstrdup("default");
    f->name = xasprintf("c%d", c);
    if (op_has(spec, A_LIMITED))
        limit_to(f, spec->value[A_LIMITED]);
    else if (op_has(spec, A_ON))
        f->selected = xstrdup(node_name(spec->value[A_ON]));
    return f;
}

/* ---- pods ---- */

static void add_placement(struct gang_pod_facts *f, const struct op *spec)
{
    if (op_has(spec, A_PORT)) {
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    }
    if (op_has(spec, A_TOLERANT)) {
        f->tolerations = xcalloc(1, sizeof *f->tolerations);
        f->n_tolerations = 1;
        f->tolerations[0] = (struct gang_toleration){.exists = true, .any_effect = true};
    }
    if (op_has(spec, A_USES)) {
        f->claims = xcalloc(1, sizeof *f->claims);
        f->n_claims = 1;
        f->claims[0] = xasprintf("c%d", spec->value[A_USES]);
    }
    f->has_resource_claims = op_has(spec, A_DEVICES);
    f->has_pvc = f->n_claims > 0 || f->has_resource_claims;
}

/* Adds required anti-affinity over hosts. Takes ownership of the value. */
static void keep_apart(struct gang_pod_facts *f, const char *key, char *value)
{
    f->anti_affinity =
        xreallocarray(f->anti_affinity, f->n_anti_affinity + 1, sizeof *f->anti_affinity);
    f->anti_affinity[f->n_anti_affinity] = (struct gang_selector){.n_namespaces = 0};
    select_label(&f->anti_affinity[f->n_anti_affinity++].term, key, value);
}

static void add_app(struct gang_pod_facts *f, const struct op *spec)
{
    if (op_has(spec, A_AWAY))
        keep_apart(f, "app", app_name(spec->value[A_AWAY]));
    if (op_has(spec, A_SHUN)) {
        f->wide_anti_affinity = xcalloc(1, sizeof *f->wide_anti_affinity);
        f->n_wide_anti_affinity = 1;
        select_label(&f->wide_anti_affinity[0].term, "app", app_name(spec->value[A_SHUN]));
    }
    if (op_has(spec, A_SHUN) || op_has(spec, A_FORBID) || op_has(spec, A_USES) ||
        op_has(spec, A_DEVICES))
        f->inexact = xstrdup("rules that muster does not evaluate");
    if (!op_has(spec, A_APP))
        return;
    cleanup_free char *app = app_name(spec->value[A_APP]);
    gang_kvs_add(&f->labels, "app", app);
    if (!op_has(spec, A_SPREAD))
        return;
    f->spreads = xcalloc(1, sizeof *f->spreads);
    f->n_spreads = 1;
    f->spreads[0].max_skew = spec->value[A_SPREAD];
    select_label(&f->spreads[0].selector.term, "app", xstrdup(app));
}

static void add_link(struct gang_pod_facts *f, const struct op *spec)
{
    if (!op_has(spec, A_LINK))
        return;
    int g = spec->value[A_LINK];
    if (op_has(spec, A_BADLINK)) {
        f->bad_link = xstrdup("its label names two PodGroups");
        return;
    }
    f->group = facts_ref(g);
    gang_kvs_add(&f->labels, "team", f->group.name);
    if (op_has(spec, A_APART))
        keep_apart(f, "team", xstrdup(f->group.name));
    f->role = xstrdup_null(role_names[op_get(spec, A_ROLE, 0) % (int)ARRAY_SIZE(role_names)]);
    if (op_has(spec, A_KIND)) {
        f->uniform.key = xstrdup("compute-class");
        f->uniform.value = xasprintf("%d", spec->value[A_KIND]);
    }
    if (op_has(spec, A_MIN)) {
        struct op declared = op_make(OP_GROUP, 'g', g);
        op_set(&declared, A_MIN, spec->value[A_MIN]);
        f->declared = group_facts(&declared, g);
        f->declared->uid = xstrdup("");
    }
}

/* Adds more resources than muster reads. No node has them, so they do not change the pod's charge.
 */
static void go_beyond(struct gang_pod_facts *f)
{
    for (int i = 0; i < BOUND_RESOURCES; i++) {
        cleanup_free char *name = xasprintf("example.com/odd-%d", i);
        gang_amounts_add(&f->requests, name, 1);
    }
    cleanup_free char *text = gang_bound_exceeded(OVER_RESOURCES, f->requests.n);
    f->invalid = xasprintf("pod default/%s: %s", f->name, text);
    if (!f->inexact)
        f->inexact = xstrdup("a field that muster cannot decode completely");
}

struct gang_pod_facts *facts_pod(const struct model *m, int p)
{
    const struct pod_truth *t = &m->pods[p];
    struct gang_pod_facts *f = gang_pod_facts_new();
    f->ns = xstrdup("default");
    f->name = xasprintf("p%d", p);
    f->uid = pod_uid(m, p);
    f->node = t->node >= 0 ? xstrdup(node_name(t->node)) : NULL;
    f->nominated = t->nominated >= 0 ? xstrdup(node_name(t->nominated)) : NULL;
    f->scheduler = xstrdup(op_has(&t->spec, A_FOREIGN) ? "other" : "default-scheduler");
    f->phase = t->phase;
    f->created = t->stands_in ? 0 : t->created;
    f->deleting = t->deleting;
    f->preempted = t->disrupted == t->serial;
    f->marked = t->marked == t->serial;
    f->gone_by = t->deleting ? t->gone_by / USEC_PER_SEC * USEC_PER_SEC : 0;
    f->priority = op_get(&t->spec, A_PRIO, 0);
    f->unschedulable = t->unschedulable;
    if (t->unschedulable && t->plain)
        f->short_of = xstrdup(op_get(&t->spec, A_GPUS, 0) ? "nvidia.com/gpu" : "cpu");
    f->committed = t->committed;
    f->bound_at = t->node >= 0 ? t->bound_at / USEC_PER_SEC * USEC_PER_SEC : 0;
    f->said = (uint64_t)t->said;
    f->said_alone = t->said && t->said != SAID_GANG;
    f->controlled = !op_has(&t->spec, A_BARE);
    f->suspended = t->stands_in;
    f->gated = op_has(&t->spec, A_CLOSED) || t->stands_in;
    if (op_has(&t->spec, A_NAMES)) {
        const struct queue_id *id = &queue_ids[t->spec.value[A_NAMES]];
        f->queue = (struct gang_ref){xstrdup(id->api_group), xstrdup(""), xstrdup(id->name)};
    }
    if (op_has(&t->spec, A_GATED)) {
        f->gates = xcalloc(1, sizeof *f->gates);
        f->n_gates = 1;
        f->gates[0] = xstrdup("kueue.x-k8s.io/admission");
    }
    if (op_has(&t->spec, A_RACK)) {
        cleanup_free char *rack = xasprintf("r%d", t->spec.value[A_RACK]);
        gang_kvs_add(&f->labels, "rack", rack);
    }
    gang_amounts_add(&f->requests, "cpu", op_get(&t->spec, A_CPU, 1) * INT64_C(1000));
    if (op_get(&t->spec, A_GPUS, 0))
        gang_amounts_add(&f->requests, "nvidia.com/gpu", t->spec.value[A_GPUS]);
    if (op_has(&t->spec, A_PICKY) && op_get(&t->spec, A_GPUS, 0)) /* excludes no node with room */
        gang_kvs_add(&f->node_selector, "devices", "some");
    add_placement(f, &t->spec);
    add_app(f, &t->spec);
    add_link(f, &t->spec);
    if (op_has(&t->spec, A_BEYOND))
        go_beyond(f);
    return f;
}
