/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in JSON as the watches bring them: Node, Pod, PriorityClass, PersistentVolumeClaim,
 * PersistentVolume and PodGroups of every dialect; one, or a list of them.
 *
 * Facts are the same packed, copied and recorded. The core takes them and keeps its invariants, and
 * asked about a pod it answers. A PodGroup's status that was written is not written again.
 */
#include "base/json_repair.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/claim_topology.h"
#include "test/fuzz/compare_facts.h"
#include "test/fuzz/core_fixture.h"

#define MOST_OBJECTS 16

struct world {
    struct core_fixture *fixture;
    struct claim_topology *claims;
    const json_t *groups[MOST_OBJECTS]; /* borrowed */
    size_t n_groups;
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

/* RFC 7396, as the API server does it. */
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

static bool see_effect(void *arg, const struct gang_effect *e)
{
    const struct world *w = arg;
    const struct dialect *dialect =
        e->kind == GANG_STATUS ? dialect_by_group(e->status.ref->api_group) : NULL;
    const json_t *group = dialect ? group_of(w, e->status.ref) : NULL;
    if (!group || !dialect->status)
        return false;
    struct dialect_view view = {.group = group, .owners = "default/o", .wall = usec_wall()};
    cleanup_tree json_t *patch = dialect->status(&e->status, &view);
    if (!patch)
        return false;
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    HOLDS(text, "a status that cannot be written");
    cleanup_tree json_t *after = json_deep_copy(group);
    merge(after, patch);
    view.group = after;
    cleanup_tree json_t *again = dialect->status(&e->status, &view);
    cleanup_free char *more = again ? json_dumps(again, JSON_COMPACT) : NULL;
    HOLDS(!again, "%s: written %s, and again %s", dialect->name, text, more);
    return false;
}

/* ---- facts ---- */

static void post(void *arg, struct gang_event *ev)
{
    const struct world *w = arg;
    if (ev->kind == GANG_EV_CLAIM_SET)
        facts_survive_recording(ev);
    core_fixture_step(w->fixture, ev, 1);
}

/* The same object read anew, and not packed. */
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

/* ---- asking ---- */

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
    bool is_pod = ev->kind == GANG_EV_POD_SET;
    core_fixture_step(w->fixture, ev, 1);
    if (is_pod) {
        struct err err;
        struct gang_pod_facts *pod = decode_pod(object, &err);
        ask_about(w->fixture, object, pod);
        gang_pod_facts_free(pod);
    }
    core_fixture_wait(w->fixture, 5 * USEC_PER_SEC, 20);
    /* Some go at once, others stay with what comes behind them. */
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
