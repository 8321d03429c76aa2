/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one object. Whatever the API server accepts takes at most 50 ms of CPU when muster
 * reads it, when it changes and when it is deleted. It also does not make a step for other objects
 * take longer than that, with 5,000 nodes. The table of fields is object_fields.h.
 *
 *     test_object_cost            fails above the bound (in the gate: above four times the bound)
 *     test_object_cost --print    prints the cost of each object, the highest first
 *
 * The best of five rounds with an object counts. Under sanitizers, and without optimization,
 * objects are small and only the results are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "gang/bounds.h"
#include "gang/gang.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/list_watch/claim_topology.h"
#include "object_fields.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/test_config.h"

enum {
    NODES = IS_FAST_BUILD ? 5000 : 200,
    TRIES = IS_FAST_BUILD ? 5 : 1,
    OBJECT_SIZE = IS_FAST_BUILD ? 3 << 19 : 64 << 10,
};

#define BOUND 50 /* ms */

/* ---- a cluster ---- */

struct cluster_of_others {
    struct gang_core *core;
    struct claim_topology *claims;
    usec_t now;
    const char **names;
    uint64_t id;
    struct gang_event pending[64]; /* posted by claim_topology.c */
    size_t n_pending;
};

static void step(struct cluster_of_others *c, struct gang_event *ev, size_t n)
{
    size_t n_effects;
    c->now += USEC_PER_MSEC;
    gang_step(c->core, c->now, ev, n, &n_effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&ev[i]);
}

static void on_claim(void *arg, struct gang_event *ev)
{
    struct cluster_of_others *c = arg;
    assert_true(c->n_pending < ARRAY_SIZE(c->pending));
    c->pending[c->n_pending++] = *ev;
}

static void step_pending(struct cluster_of_others *c)
{
    step(c, c->pending, c->n_pending);
    c->n_pending = 0;
}

static void label(struct gang_kvs *kvs, const char *key, const char *value, int n)
{
    cleanup_free char *text = xasprintf("%s%d", value, n);
    gang_kvs_add(kvs, key, text);
}

static struct gang_node_facts *a_node(int i)
{
    struct gang_node_facts *f = gang_node_facts_new();
    f->name = xasprintf("node-%d", i);
    label(&f->labels, "kubernetes.io/hostname", "node-", i);
    label(&f->labels, "topology.kubernetes.io/zone", "zone-", i % 3);
    label(&f->labels, "node.kubernetes.io/instance-type", "type-", i % 4);
    for (int k = 0; k < 12; k++) {
        cleanup_free char *key = xasprintf("example.com/label-%d", k);
        label(&f->labels, key, "v", k);
    }
    f->n_taints = 1;
    f->taints = xcalloc(1, sizeof *f->taints);
    f->taints[0] = (struct gang_taint){xstrdup("gpu"), xstrdup("yes"),
                                       i % 4 ? TAINT_PREFER_NO_SCHEDULE : TAINT_NO_SCHEDULE};
    gang_amounts_add(&f->allocatable, "pods", 110);
    gang_amounts_add(&f->allocatable, "cpu", 64000);
    gang_amounts_add(&f->allocatable, "memory", INT64_C(512) << 30);
    gang_amounts_add(&f->allocatable, "nvidia.com/gpu", 8);
    return f;
}

static struct gang_pod_facts *a_pod(const char *ns, const char *name, const char *api_group,
                                    const char *group)
{
    char json[512];
    struct err err;
    snprintf(json, sizeof json,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"uid-%s-%s\","
             "\"labels\":{\"app\":\"a\",\"k0\":\"v\"}},\"spec\":{\"containers\":[{\"resources\":{"
             "\"requests\":{\"nvidia.com/gpu\":1}}}]}}",
             name, ns, ns, name);
    cleanup_json json_t *tree = json_loads(json, 0, NULL);
    struct gang_pod_facts *f = decode_pod(tree, &err);
    if (group)
        f->group = (struct gang_ref){xstrdup(api_group), xstrdup(ns), xstrdup(group)};
    return f;
}

static struct gang_event pod_event(struct gang_pod_facts *f)
{
    return (struct gang_event){.kind = GANG_EV_POD_SET, .pod = gang_pod_facts_pack(f)};
}

static struct gang_event group_event(const char *api_group, const char *ns, const char *name,
                                     int min)
{
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref = (struct gang_ref){xstrdup(api_group), xstrdup(ns), xstrdup(name)};
    f->uid = xstrdup("uid");
    f->min_member = min;
    f->min_children = -1;
    return (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
}

static struct gang_event gone(enum gang_event_kind kind, const char *api_group, const char *ns,
                              const char *name)
{
    struct gang_event ev = {.kind = kind};
    ev.gone = (struct gang_ref){xstrdup_null(api_group), xstrdup_null(ns), xstrdup(name)};
    return ev;
}

/* Some thousand nodes and pods. On each tenth node, a pod has anti-affinity or a host port. */
static void cluster_begin(struct cluster_of_others *c)
{
    struct gang_config config = test_config();
    config.express_lane = true;
    *c = (struct cluster_of_others){.core = gang_core_new(&config), .now = USEC_PER_SEC};
    c->claims = claim_topology_new(&(struct cluster_sink){.post = on_claim, .arg = c});
    c->names = xcalloc(NODES, sizeof *c->names);
    struct gang_event *events = xcalloc(2 * NODES + 1, sizeof *events);
    size_t n = 0;
    for (int i = 0; i < NODES; i++) {
        struct gang_node_facts *f = a_node(i);
        c->names[i] = xstrdup(f->name);
        events[n++] = (struct gang_event){.kind = GANG_EV_NODE_SET, .node = f};
        char name[32];
        snprintf(name, sizeof name, "runs-%d", i);
        struct gang_pod_facts *pod = a_pod("other", name, NULL, NULL);
        pod->node = xstrdup(f->name);
        if (i % 10 == 0) {
            pod->n_host_ports = 1;
            pod->host_ports = xcalloc(1, sizeof *pod->host_ports);
            pod->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 9100};
        }
        events[n++] = pod_event(pod);
    }
    events[n++] = (struct gang_event){.kind = GANG_EV_SYNCED};
    step(c, events, n);
    free(events);
}

static void cluster_end(struct cluster_of_others *c)
{
    claim_topology_free(c->claims);
    gang_core_free(c->core);
    for (int i = 0; i < NODES; i++)
        free((char *)(uintptr_t)c->names[i]);
    free(c->names);
}

static void filter(struct cluster_of_others *c, struct gang_pod_facts *facts)
{
    struct gang_event ev = {.kind = GANG_EV_FILTER, .id = ++c->id, .pod = facts};
    ev.names = c->names;
    ev.n_names = NODES;
    step(c, &ev, 1);
}

/* ---- what is measured ---- */

enum stage {
    AT_PARSE,  /* its JSON is parsed, outside the core's thread */
    AT_READ,   /* the core gets it */
    AT_CHANGE, /* the core gets another version */
    AT_ASK,    /* filter is called for it */
    AT_PLAN,   /* a gang of another tenant is planned */
    AT_FILTER, /* filter is called for its member and an ordinary pod */
    AT_GONE,
    STAGES
};
static const char *const stage_names[STAGES] = {
    "parsed", "read", "changed", "asked", "others planned", "others asked", "deleted"};

struct cost {
    char *what;
    double ms[STAGES];
};

static void others(struct cluster_of_others *c, double ms[STAGES])
{
    double t = cost_ms();
    struct gang_event events[] = {
        group_event("scheduling.x-k8s.io", "other", "g", 2),
        pod_event(a_pod("other", "m0", "scheduling.x-k8s.io", "g")),
        pod_event(a_pod("other", "m1", "scheduling.x-k8s.io", "g")),
    };
    step(c, events, ARRAY_SIZE(events));
    ms[AT_PLAN] = cost_ms() - t;
    t = cost_ms();
    filter(c, a_pod("other", "m0", "scheduling.x-k8s.io", "g"));
    filter(c, a_pod("other", "single", NULL, NULL));
    ms[AT_FILTER] = cost_ms() - t;
    struct gang_event ends[] = {gone(GANG_EV_POD_GONE, NULL, "other", "m0"),
                                gone(GANG_EV_POD_GONE, NULL, "other", "m1"),
                                gone(GANG_EV_POD_GONE, NULL, "other", "single"),
                                gone(GANG_EV_GROUP_GONE, "scheduling.x-k8s.io", "other", "g")};
    step(c, ends, ARRAY_SIZE(ends));
}

/* ---- one object ---- */

/* Six digits, because the API server sorts keys. */
static void put_number(struct buf *b, size_t number)
{
    char text[6];
    for (int i = 5; i >= 0; i--, number /= 10)
        text[i] = (char)('0' + number % 10);
    buf_append(b, text, sizeof text);
}

static void put_item(struct buf *b, const char *item, size_t number)
{
    for (size_t n; *item; item += n) {
        n = strcspn(item, "#%");
        buf_append(b, item, n);
        if (n == 0 && *item == '#')
            put_number(b, number);
        else if (n == 0)
            buf_printf(b, "%zu", number % 65535 + 1);
        n += n == 0;
    }
}

/* The text has ' in place of ". */
static json_t *load(struct buf *text, const char *what)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\'')
            text->data[i] = '"';
    json_error_t err;
    json_t *json = json_loadb(text->data, text->len, 0, &err);
    if (!json)
        fail_msg("%s: %s at %d", what, err.text, err.position);
    return json;
}

/* The object with `most` items, or with as many as the API server accepts. */
static json_t *object_of(const struct object_field *f, size_t most, size_t *ret_n)
{
    size_t n = 0;
    cleanup_buf struct buf b = BUF_INIT;
    const char *at = strchr(f->json, '@');
    bool plain = at[-1] == '\'' && at[1] == '\''; /* one long string */
    buf_append(&b, f->json, (size_t)(at - f->json));
    for (; n < most && b.len < OBJECT_SIZE; n++) {
        if (n && !plain)
            buf_putc(&b, ',');
        put_item(&b, f->item, n + 1);
    }
    *ret_n = n;
    buf_puts(&b, at + 1);
    return load(&b, f->path);
}

enum role { ROLE_MEMBER, ROLE_BOUND, ROLE_ORDINARY, ROLES };
static const char *const role_names[ROLES] = {"of a gang", "on a node", "of no gang"};

/* Changes the pod to the next role. */
static void cast(json_t *pod, enum role role)
{
    json_t *meta = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
    if (role == ROLE_BOUND)
        json_object_set_new(spec, "nodeName", json_string("node-7"));
    if (role != ROLE_ORDINARY)
        return;
    json_object_del(spec, "nodeName");
    json_object_del(json_object_get(meta, "labels"), "scheduling.x-k8s.io/pod-group");
    json_object_del(json_object_get(meta, "annotations"), "gang.scheduling.koordinator.sh/name");
}

static void set_version(json_t *object, const char *version)
{
    json_t *meta = json_object_get(object, "metadata");
    json_object_set_new(meta, "resourceVersion", json_string(version));
    json_t *labels = json_object_get(meta, "labels");
    if (!labels)
        json_object_set_new(meta, "labels", labels = json_object());
    json_object_set_new(labels, "version", json_string(version));
    json_t *spec = json_object_get(object, "spec");
    if (json_object_get(spec, "minMember"))
        json_object_set_new(spec, "minMember", json_integer(version[0] - '0'));
}

/* Decodes the object and gives it to the core. */
static void set_object(struct cluster_of_others *c, const struct object_field *f, json_t *json)
{
    struct err err = {.code = ERR_NONE};
    struct gang_event ev = {.kind = GANG_EV_TICK};
    switch (f->kind) {
    case OBJECT_POD:
        ev = pod_event(decode_pod(json, &err));
        assert_non_null(ev.pod);
        break;
    case OBJECT_NODE:
        ev.node = decode_node(json, &err);
        ev.kind = ev.node ? GANG_EV_NODE_SET : GANG_EV_TICK;
        break;
    case OBJECT_CLAIM:
        claim_topology_set(c->claims, json, &err);
        step_pending(c);
        return;
    case OBJECT_VOLUME:
        claim_topology_set_volume(c->claims, json, &err);
        step_pending(c);
        return;
    case OBJECT_CLASS:
        ev.class = decode_class(json, &err);
        ev.kind = ev.class ? GANG_EV_CLASS_SET : GANG_EV_TICK;
        break;
    case OBJECT_BUDGET:
        ev.kind = GANG_EV_BUDGET_SET;
        ev.budget = decode_budget(json, &err);
        break;
    case OBJECT_JOB:
        ev.kind = GANG_EV_JOB_SET;
        ev.job = decode_job(json, &err);
        break;
    case OBJECT_GROUP:
        ev.kind = GANG_EV_GROUP_SET;
        ev.group = decode_group(dialect_by_group(f->dialect), json, &err);
        break;
    case OBJECT_QUEUE:
        ev.kind = GANG_EV_QUEUE_SET;
        ev.queue = decode_queue(queue_dialect_by_group(f->dialect), json, &err);
        break;
    }
    step(c, &ev, 1);
}

static void object_gone(struct cluster_of_others *c, const struct object_field *f)
{
    struct gang_event ev;
    switch (f->kind) {
    case OBJECT_POD:
        ev = gone(GANG_EV_POD_GONE, NULL, "evil", "big");
        break;
    case OBJECT_NODE:
        ev = gone(GANG_EV_NODE_GONE, NULL, NULL, "big");
        break;
    case OBJECT_CLASS:
        ev = gone(GANG_EV_CLASS_GONE, NULL, NULL, "class");
        break;
    case OBJECT_BUDGET:
        ev = gone(GANG_EV_BUDGET_GONE, NULL, "evil", "b");
        break;
    case OBJECT_JOB:
        ev = gone(GANG_EV_JOB_GONE, NULL, "evil", "j");
        break;
    case OBJECT_GROUP:
        ev = gone(GANG_EV_GROUP_GONE, f->dialect, "evil", "g");
        break;
    case OBJECT_QUEUE:
        ev = gone(GANG_EV_QUEUE_GONE, f->dialect, strcmp(f->dialect, XK8S) == 0 ? "evil" : "", "q");
        break;
    case OBJECT_CLAIM:
        claim_topology_gone(c->claims, "evil", "c");
        step_pending(c);
        return;
    default:
        claim_topology_volume_gone(c->claims, "v");
        step_pending(c);
        return;
    }
    step(c, &ev, 1);
}

/* Adds related objects: a PodGroup for pods, pods for a PodGroup, a claim for a volume. */
enum { SIBLINGS = 64 };

static const char *api_group_of(const struct object_field *f)
{
    return f->dialect ? f->dialect : "scheduling.x-k8s.io";
}

static void add_related(struct cluster_of_others *c, const struct object_field *f)
{
    struct gang_event events[SIBLINGS + 1];
    size_t n = 0;
    if (f->kind != OBJECT_GROUP)
        events[n++] = group_event(api_group_of(f), "evil", "g", 1);
    for (int i = 0; f->kind == OBJECT_GROUP && i < SIBLINGS; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        events[n++] = pod_event(a_pod("evil", name, api_group_of(f), "g"));
    }
    if (f->kind == OBJECT_CLAIM || f->kind == OBJECT_VOLUME) {
        struct gang_pod_facts *pod = a_pod("evil", "p0", api_group_of(f), "g");
        free(pod->claims);
        pod->claims = xcalloc(1, sizeof *pod->claims);
        pod->claims[pod->n_claims++] = xstrdup("c");
        pod->has_pvc = true;
        events[n++] = pod_event(pod);
    }
    step(c, events, n);
    if (f->kind != OBJECT_VOLUME)
        return;
    cleanup_json json_t *claim = json_pack("{s:{s:s,s:s},s:{s:s}}", "metadata", "name", "c",
                                           "namespace", "evil", "spec", "volumeName", "v");
    struct err err;
    claim_topology_set(c->claims, claim, &err);
    step_pending(c);
}

static void remove_related(struct cluster_of_others *c, const struct object_field *f)
{
    struct gang_event events[SIBLINGS + 1];
    size_t n = 0;
    events[n++] = gone(GANG_EV_GROUP_GONE, api_group_of(f), "evil", "g");
    for (int i = 0; i < SIBLINGS; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        events[n++] = gone(GANG_EV_POD_GONE, NULL, "evil", name);
    }
    step(c, events, n);
    claim_topology_gone(c->claims, "evil", "c");
    step_pending(c);
}

/* As a watch parses it. Of an object with too many values, only a part is read. */
static void parse(const char *text)
{
    struct err err = {.code = ERR_NONE};
    cleanup_json json_t *tree = kube_json_object(text, strlen(text), &err);
    assert_non_null(tree);
}

static void one_life(struct cluster_of_others *c, const struct object_field *f, json_t *json,
                     double ms[STAGES])
{
    set_version(json, "7");
    cleanup_free char *text = json_dumps(json, JSON_COMPACT);
    double t = cost_ms();
    parse(text);
    ms[AT_PARSE] = cost_ms() - t;
    t = cost_ms();
    set_object(c, f, json);
    ms[AT_READ] = cost_ms() - t;
    set_version(json, "8");
    t = cost_ms();
    set_object(c, f, json);
    ms[AT_CHANGE] = cost_ms() - t;
    if (f->kind == OBJECT_POD) {
        struct err err;
        t = cost_ms();
        struct gang_pod_facts *facts = decode_pod(json, &err);
        filter(c, facts);
        ms[AT_ASK] = cost_ms() - t;
    }
    others(c, ms);
    t = cost_ms();
    object_gone(c, f);
    ms[AT_GONE] = cost_ms() - t;
}

static double worst(const double ms[STAGES])
{
    double most = 0;
    for (int s = 0; s < STAGES; s++)
        most = ms[s] > most ? ms[s] : most;
    return most;
}

/* Repeats until the cost is clearly low. */
static struct cost cost_of(struct cluster_of_others *c, const struct object_field *f, json_t *json)
{
    struct cost cost = {.what = NULL};
    add_related(c, f);
    for (int i = 0; i < TRIES; i++) {
        double ms[STAGES] = {0};
        one_life(c, f, json, ms);
        for (int s = 0; s < STAGES; s++)
            if (i == 0 || ms[s] < cost.ms[s])
                cost.ms[s] = ms[s];
        if (worst(cost.ms) < BOUND / 2)
            break;
    }
    remove_related(c, f);
    return cost;
}

/* ---- the tests ---- */

static bool printing;

static int by_worst(const void *a, const void *b)
{
    double x = worst(((const struct cost *)a)->ms), y = worst(((const struct cost *)b)->ms);
    return x < y ? 1 : x > y ? -1 : 0;
}

static void judge(struct cost *costs, size_t n)
{
    size_t beyond = 0;
    qsort(costs, n, sizeof *costs, by_worst);
    for (size_t i = 0; i < n; i++) {
        bool dear = worst(costs[i].ms) > cost_limit(BOUND);
        beyond += dear;
        for (int s = 0; (dear || printing) && s < STAGES; s++)
            if (costs[i].ms[s] >= 1)
                print_message("%8.1f ms  %s  %s\n", costs[i].ms[s], costs[i].what, stage_names[s]);
        free(costs[i].what);
    }
    if (beyond)
        fail_msg("%zu objects cost more than %.0f ms of CPU", beyond, cost_limit(BOUND));
}

/* Twice: with as many items as can be read, and, if that is beyond a bound, within it. */
static const size_t sizes[] = {KUBE_JSON_VALUES, 1023, 256, 127, 64, 32};

/* The object with at most n items, and without values that kube_json.h would not read. */
static json_t *readable(const struct object_field *f, size_t n, size_t *ret_n)
{
    json_t *json = object_of(f, n, ret_n);
    size_t values = kube_json_values(json);
    if (values <= KUBE_JSON_VALUES)
        return json;
    json_decref(json);
    return object_of(f, *ret_n * KUBE_JSON_VALUES / values, ret_n);
}

struct costs {
    struct cost *items;
    size_t n, cap;
};

static void add_cost(struct costs *costs, struct cost cost, char *what)
{
    GROW(costs->items, costs->cap, costs->n + 1);
    cost.what = what;
    costs->items[costs->n++] = cost;
}

static bool is_beyond(const struct object_field *f, const json_t *json)
{
    struct err err;
    struct gang_pod_facts *pod = f->kind == OBJECT_POD ? decode_pod(json, &err) : NULL;
    bool beyond = pod ? pod->invalid != NULL : f->kind != OBJECT_POD;
    gang_pod_facts_free(pod);
    return beyond;
}

static void costs_of_size(struct cluster_of_others *c, const struct object_field *f, json_t *json,
                          size_t items, struct costs *costs)
{
    if (f->kind != OBJECT_POD)
        add_cost(costs, cost_of(c, f, json), xasprintf("%s (%zu)", f->path, items));
    for (int role = 0; f->kind == OBJECT_POD && role < ROLES; role++) {
        cast(json, (enum role)role);
        add_cost(costs, cost_of(c, f, json),
                 xasprintf("%s (%zu), %s", f->path, items, role_names[role]));
    }
}

/* With as many items as the API server accepts. */
static void cost_of_parsing(const struct object_field *f, struct costs *costs)
{
    size_t items;
    struct cost cost = {.what = NULL};
    cleanup_json json_t *json = object_of(f, SIZE_MAX, &items);
    cleanup_free char *text = json_dumps(json, JSON_COMPACT);
    for (int i = 0; i < TRIES; i++) {
        double t = cost_ms();
        parse(text);
        t = cost_ms() - t;
        if (i == 0 || t < cost.ms[AT_PARSE])
            cost.ms[AT_PARSE] = t;
    }
    add_cost(costs, cost, xasprintf("%s (%zu)", f->path, items));
}

/* The test knows only for pods what is beyond a bound. */
static void costs_of_field(struct cluster_of_others *c, const struct object_field *f,
                           struct costs *costs)
{
    bool pod = f->kind == OBJECT_POD;
    cost_of_parsing(f, costs);
    for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
        size_t items;
        cleanup_json json_t *json = readable(f, sizes[k], &items);
        bool beyond = k == 0 || is_beyond(f, json);
        if (k == 0 || !beyond || !pod)
            costs_of_size(c, f, json, items, costs);
        if (!beyond)
            break;
    }
}

static void costs_of_kinds(bool pods)
{
    struct cluster_of_others c;
    struct costs costs = {NULL, 0, 0};
    cluster_begin(&c);
    for (size_t i = 0; i < ARRAY_SIZE(object_fields); i++)
        if ((object_fields[i].kind == OBJECT_POD) == pods)
            costs_of_field(&c, &object_fields[i], &costs);
    struct err err;
    if (gang_core_check(c.core, &err) < 0)
        fail_msg("%s", err.text);
    cluster_end(&c);
    judge(costs.items, costs.n);
    free(costs.items);
}

static void T04_a_pod_of_any_size_costs_little_time(void **state)
{
    (void)state;
    costs_of_kinds(/* pods= */ true);
}

static void T04_other_objects_of_any_size_cost_little_time(void **state)
{
    (void)state;
    costs_of_kinds(/* pods= */ false);
}

/* The lists of a pod, each as long as its bound allows. */
struct list_of_all {
    const char *before, *item;
    size_t n;
    const char *after;
};

#define LABEL(value) "{'matchLabels':{'app':'" value "'}}"
static const struct list_of_all of_everything[] = {
    {"{'metadata':{" POD_META "," MEMBER "},'spec':{'containers':[{'name':'c','resources':{"
     "'requests':{",
     "'a.b/r#':'1'", BOUND_RESOURCES - 1, ",'nvidia.com/gpu':1}},"},
    {"'ports':[", "{'hostPort':%,'containerPort':%}", BOUND_HOST_PORTS, "]}],"},
    {"'tolerations':[", "{'key':'k#','operator':'Equal','value':'v'}", BOUND_TOLERATIONS, "],"},
    {"'nodeSelector':{", "'example.com/label-1':'v1'", 1, "},"},
    {"'affinity':{'nodeAffinity':{" REQUIRED ":{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
     "'kubernetes.io/hostname','operator':'NotIn','values':[",
     "'no-#'", 512, "]}"},
    {",", "{'key':'example.com/label-#','operator':'DoesNotExist'}", 120, "]},"},
    {"{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'NotIn','values':[", "'no-#'",
     500, "]}]}]}},"},
    {"'podAntiAffinity':{" REQUIRED ":[", "{" ON_HOST ",'labelSelector':" LABEL("a#") "}",
     BOUND_APART, "]}},"},
    {"'topologySpreadConstraints':[",
     "{'maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'," ON_HOST
     ",'labelSelector':" LABEL("b#") "}",
     BOUND_SPREADS, "],"},
    {"'volumes':[", "{'name':'v#','persistentVolumeClaim':{'claimName':'c#'}}", BOUND_CLAIMS,
     "]}}"},
};

static json_t *pod_of_everything(void)
{
    cleanup_buf struct buf b = BUF_INIT;
    for (size_t i = 0; i < ARRAY_SIZE(of_everything); i++) {
        const struct list_of_all *l = &of_everything[i];
        buf_puts(&b, l->before);
        for (size_t k = 0; k < l->n; k++) {
            buf_puts(&b, k ? "," : "");
            put_item(&b, l->item, k + 1);
        }
        buf_puts(&b, l->after);
    }
    return load(&b, "a pod with every list at its bound");
}

static void T04_a_pod_with_all_rules_at_their_bounds_costs_little_time(void **state)
{
    static const struct object_field all = {OBJECT_POD, "every list at its bound", "", "", NULL};
    (void)state;
    struct cluster_of_others c;
    struct costs costs = {NULL, 0, 0};
    cluster_begin(&c);
    cleanup_json json_t *json = pod_of_everything();
    struct err err;
    struct gang_pod_facts *pod = decode_pod(json, &err);
    if (!pod || pod->invalid)
        fail_msg("%s", pod ? pod->invalid : err.text);
    gang_pod_facts_free(pod);
    costs_of_size(&c, &all, json, 1, &costs);
    cluster_end(&c);
    judge(costs.items, costs.n);
    free(costs.items);
}

/* Of JSON, maps are the dearest. */
static void T04_the_largest_map_that_is_parsed_costs_little_time(void **state)
{
    (void)state;
    cleanup_buf struct buf b = BUF_INIT;
    buf_putc(&b, '{');
    for (int i = 1; i < KUBE_JSON_VALUES; i++)
        buf_printf(&b, "%s\"example.com/%d\":\"v\"", i > 1 ? "," : "", i);
    buf_putc(&b, '}');
    double best = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double begin = cost_ms();
        cleanup_json json_t *map = kube_json_whole(b.data, b.len);
        assert_int_equal(json_object_size(map), KUBE_JSON_VALUES - 1);
        json_decref(STEAL(map));
        double ms = cost_ms() - begin;
        best = ms < best ? ms : best;
    }
    if (best > cost_limit(BOUND))
        fail_msg("a map of %d values takes %.1f ms", KUBE_JSON_VALUES, best);
    print_message("%8.1f ms  a map of %d values\n", best, KUBE_JSON_VALUES);
}

int main(int argc, char **argv)
{
    printing = argc > 1 && strcmp(argv[1], "--print") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T04_a_pod_of_any_size_costs_little_time),
        cmocka_unit_test(T04_other_objects_of_any_size_cost_little_time),
        cmocka_unit_test(T04_a_pod_with_all_rules_at_their_bounds_costs_little_time),
        cmocka_unit_test(T04_the_largest_map_that_is_parsed_costs_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
