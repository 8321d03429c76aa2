/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in JSON, as watches deliver them: Node, Pod, PriorityClass, PodDisruptionBudget, Job,
 * PersistentVolumeClaim, PersistentVolume, Namespace, and PodGroups and queues of every dialect;
 * one object, or a list.
 *
 * Facts stay the same when they are packed, copied and recorded. The core accepts them, keeps its
 * invariants, and answers calls for the pods. It does not write the same status of a PodGroup
 * or a queue twice.
 */
#include "base/json_repair.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/claim_topology.h"
#include "test/fuzz/compare_facts.h"
#include "test/fuzz/core_fixture.h"

#define MOST_OBJECTS 16

struct world {
    struct core_fixture *fixture;
    struct claim_topology *claims;
    const json_t *groups[MOST_OBJECTS], *queues[MOST_OBJECTS]; /* borrowed */
    size_t n_groups, n_queues;
};

static const char *const names[] = {"n0", "n1", "n2", "unknown"};

/* ---- statuses ---- */

static const json_t *group_of(const struct world *w, const struct gang_ref *ref)
{
    for (size_t i = 0; i < w->n_groups; i++) {
        const char *ns = field_peek(w->groups[i], "metadata", "namespace", NULL);
        const char *version = json_string_value(json_object_get(w->groups[i], "apiVersion"));
        size_t n = strlen(ref->api_group);
        if (str_eq(field_peek(w->groups[i], "metadata", "name", NULL), ref->name) &&
            str_eq(ns ? ns : "default", ref->ns) && strncmp(version, ref->api_group, n) == 0 &&
            version[n] == '/')
            return w->groups[i];
    }
    return NULL;
}

/* A merge patch (RFC 7396), as in the API server. */
static void merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value)
    {
        json_t *old = json_object_get(target, key);
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (!json_is_object(value)) {
            json_object_set(target, key, value);
        } else {
            if (!json_is_object(old)) {
                json_object_set_new(target, key, json_object());
                old = json_object_get(target, key);
            }
            merge(old, value);
        }
    }
}

/* The object after the patch needs no other one. `again` makes it for an object. */
static void written_once(const char *dialect, const json_t *object, json_t *patch,
                         json_t *(*again)(const void *status, const json_t *object),
                         const void *status)
{
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    HOLDS(text, "a status that cannot be written");
    cleanup_tree json_t *after = json_deep_copy(object);
    merge(after, patch);
    cleanup_tree json_t *other = again(status, after);
    cleanup_free char *more = other ? json_dumps(other, JSON_COMPACT) : NULL;
    HOLDS(!other, "%s: written %s, and again %s", dialect, text, more);
}

static json_t *group_status(const void *status, const json_t *group)
{
    const struct gang_status *s = status;
    struct dialect_view view = {.group = group, .owners = "default/o", .wall = usec_wall()};
    return dialect_by_group(s->ref->api_group)->status(s, &view);
}

static json_t *queue_status(const void *status, const json_t *queue)
{
    const struct gang_queue_status *s = status;
    struct queue_view view = {
        .object = queue, .orphan = strstr(s->text, "does not exist"), .wall = usec_wall()};
    return queue_dialect_by_group(s->ref->api_group)->status(s, &view);
}

static const json_t *queue_of(const struct world *w, const struct gang_ref *ref)
{
    const struct queue_dialect *dialect = queue_dialect_by_group(ref->api_group);
    struct err err;
    for (size_t i = w->n_queues; i-- > 0;) { /* the last object of this name counts */
        struct gang_queue_facts *f = decode_queue(dialect, w->queues[i], &err);
        bool its = f && gang_ref_equal(&f->ref, ref);
        gang_queue_facts_free(f);
        if (its)
            return w->queues[i];
    }
    return NULL;
}

static bool see_effect(void *arg, const struct gang_effect *e)
{
    const struct world *w = arg;
    const struct dialect *dialect =
        e->kind == GANG_STATUS ? dialect_by_group(e->status.ref->api_group) : NULL;
    const json_t *group = dialect && dialect->status ? group_of(w, e->status.ref) : NULL;
    const json_t *queue = e->kind == GANG_QUEUE_STATUS ? queue_of(w, e->queue.ref) : NULL;
    cleanup_tree json_t *patch = group   ? group_status(&e->status, group)
                                 : queue ? queue_status(&e->queue, queue)
                                         : NULL;
    if (patch && group)
        written_once(dialect->name, group, patch, group_status, &e->status);
    if (patch && queue)
        written_once(e->queue.ref->api_group, queue, patch, queue_status, &e->queue);
    return false;
}

/* A status of that queue: for each quota, one more than it states is used. */
static void check_queue_status(const json_t *object, const struct gang_queue_facts *f)
{
    cleanup_free struct gang_queue_amount *amounts = xcalloc(f->n_quotas, sizeof *amounts);
    for (size_t i = 0; i < f->n_quotas; i++)
        amounts[i] = (struct gang_queue_amount){.resource = f->quotas[i].resource,
                                                .deserved = f->quotas[i].deserved,
                                                .used = f->quotas[i].deserved / 2 + 1};
    struct gang_queue_status s = {.ref = &f->ref,
                                  .uid = f->uid,
                                  .reason = f->invalid ? REASON_QUEUE_INVALID : REASON_NONE,
                                  .text = f->parent ? "its parent does not exist" : "",
                                  .amounts = amounts,
                                  .n_amounts = f->n_quotas};
    cleanup_tree json_t *patch = queue_status(&s, object);
    if (patch)
        written_once(f->ref.api_group, object, patch, queue_status, &s);
}

/* ---- facts ---- */

static void post(void *arg, struct gang_event *ev)
{
    const struct world *w = arg;
    if (ev->kind == GANG_EV_CLAIM_SET)
        facts_survive_recording(ev);
    core_fixture_step(w->fixture, ev, 1);
}

/* Decodes the same object again, and compares it without packing. */
static void check_packing(const json_t *object, const struct gang_event *packed)
{
    struct err err;
    struct gang_event plain = {.kind = GANG_EV_POD_SET, .pod = decode_pod(object, &err)};
    HOLDS(plain.pod, "read once, and not again: %s", err.text);
    facts_same("packed", &plain, packed);
    gang_event_done(&plain);
}

static void check_copy(const struct gang_event *ev)
{
    struct gang_event copy = {.kind = ev->kind, .group = gang_group_facts_copy(ev->group)};
    HOLDS(gang_group_facts_equal(ev->group, copy.group), "a copy differs");
    facts_same("copied", ev, &copy);
    gang_event_done(&copy);
}

/* ---- calls ---- */

static struct gang_event ask(struct core_fixture *b, enum gang_event_kind kind,
                             const json_t *object)
{
    struct err err;
    struct gang_event ev = {.kind = kind,
                            .id = core_fixture_call(b),
                            .pod = decode_pod(object, &err),
                            .names = names,
                            .n_names = ARRAY_SIZE(names)};
    HOLDS(ev.pod, "%s", err.text);
    return ev;
}

static void ask_about(struct core_fixture *b, const json_t *object,
                      const struct gang_pod_facts *pod)
{
    static const enum gang_event_kind kinds[] = {GANG_EV_FILTER, GANG_EV_PRIORITIZE,
                                                 GANG_EV_PREEMPT};
    struct gang_event bind = {.kind = GANG_EV_BIND};
    bind.bind.ns = xstrdup(pod->ns);
    bind.bind.name = xstrdup(pod->name);
    bind.bind.uid = xstrdup(pod->uid);
    bind.bind.node = xstrdup(names[strlen(pod->name) % ARRAY_SIZE(names)]);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct gang_event ev = ask(b, kinds[i], object);
        uint64_t id = ev.id;
        core_fixture_step(b, &ev, 1);
        HOLDS(core_fixture_answered(b, id), "%s is not answered at once",
              gang_event_name(kinds[i]));
    }
    bind.id = core_fixture_call(b);
    core_fixture_step(b, &bind, 1);
}

static void take_event(struct world *w, const json_t *object, struct gang_event *ev)
{
    struct gang_event gone = core_fixture_gone(ev);
    facts_survive_recording(ev);
    if (ev->kind == GANG_EV_POD_SET)
        check_packing(object, ev);
    if (ev->kind == GANG_EV_GROUP_SET) {
        check_copy(ev);
        w->groups[w->n_groups++] = object;
    }
    if (ev->kind == GANG_EV_QUEUE_SET) {
        check_queue_status(object, ev->queue);
        w->queues[w->n_queues++] = object;
    }
    bool is_pod = ev->kind == GANG_EV_POD_SET;
    core_fixture_step(w->fixture, ev, 1);
    if (is_pod) {
        struct err err;
        struct gang_pod_facts *pod = decode_pod(object, &err);
        ask_about(w->fixture, object, pod);
        gang_pod_facts_free(pod);
    }
    core_fixture_wait(w->fixture, 5 * USEC_PER_SEC, 20);
    /* Some objects are deleted at once, others stay while the next ones come. */
    if (strlen(gone.gone.name) % 4 == 3)
        core_fixture_step(w->fixture, &gone, 1);
    gang_event_done(&gone);
}

static void take(struct world *w, json_t *object)
{
    struct err err;
    struct gang_event ev;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (str_eq(kind, "PersistentVolumeClaim")) {
        if (claim_topology_set(w->claims, object, &err) < 0)
            fuzz_check_error(&err);
    } else if (str_eq(kind, "PersistentVolume")) {
        if (claim_topology_set_volume(w->claims, object, &err) < 0)
            fuzz_check_error(&err);
    } else if (core_fixture_event(object, &ev, &err)) {
        take_event(w, object, &ev);
    } else {
        fuzz_check_error(&err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size);
    json_repair(text, size);
    cleanup_tree json_t *tree = json_loadb(text, size, 0, NULL);
    if (!tree)
        return 0;
    fuzz_begin();
    struct world w = {.fixture = core_fixture_new()};
    w.fixture->effect = see_effect;
    w.fixture->arg = &w;
    w.claims = claim_topology_new(&(struct cluster_sink){post, &w});
    if (json_is_object(tree))
        take(&w, tree);
    for (size_t i = 0; i < json_array_size(tree) && i < MOST_OBJECTS; i++)
        take(&w, json_array_get(tree, i));
    core_fixture_wait(w.fixture, 100 * USEC_PER_SEC, 50);
    core_fixture_free(w.fixture);
    claim_topology_free(w.claims);
    return 0;
}
