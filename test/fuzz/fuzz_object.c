/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in JSON as the watches bring them: Node, Pod, PriorityClass, PersistentVolumeClaim,
 * PersistentVolume and PodGroups of every dialect; one, or a list of them.
 *
 * Facts are the same packed, copied and recorded. The core takes them and keeps its invariants, and
 * asked about a pod it answers. A PodGroup's status that was written is not written again.
 */
#include "base/json_mend.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/field.h"
#include "k8s/list_watch/claim_volumes.h"
#include "test/fuzz/bed.h"
#include "test/fuzz/compare_facts.h"

#define MOST_OBJECTS 16

struct world {
    struct bed *bed;
    struct claims *claims;
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
    bed_step(w->bed, ev, 1);
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

static struct gang_event ask(struct bed *b, enum gang_event_kind kind, const json_t *object)
{
    struct err err;
    struct gang_event ev = {.kind = kind,
                            .id = bed_call(b),
                            .pod = decode_pod(object, &err),
                            .names = names,
                            .n_names = ARRAY_SIZE(names)};
    HOLDS(ev.pod, "%s", err.text);
    return ev;
}

static void ask_about(struct bed *b, const json_t *object, const struct gang_pod_facts *pod)
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
        bed_step(b, &ev, 1);
        HOLDS(bed_answered(b, id), "%s is not answered at once", gang_event_name(kinds[i]));
    }
    bind.id = bed_call(b);
    bed_step(b, &bind, 1);
}

static void take_event(struct world *w, const json_t *object, struct gang_event *ev)
{
    struct gang_event gone = bed_gone(ev);
    facts_survive_recording(ev);
    if (ev->kind == GANG_EV_POD_SET)
        check_packing(object, ev);
    if (ev->kind == GANG_EV_GROUP_SET) {
        check_copy(ev);
        w->groups[w->n_groups++] = object;
    }
    bool is_pod = ev->kind == GANG_EV_POD_SET;
    bed_step(w->bed, ev, 1);
    if (is_pod) {
        struct err err;
        struct gang_pod_facts *pod = decode_pod(object, &err);
        ask_about(w->bed, object, pod);
        gang_pod_facts_free(pod);
    }
    bed_wait(w->bed, 5 * USEC_PER_SEC, 20);
    /* Some go at once, others stay with what comes behind them. */
    if (strlen(gone.gone.name) % 4 == 3)
        bed_step(w->bed, &gone, 1);
    gang_event_done(&gone);
}

static void take(struct world *w, json_t *object)
{
    struct err err;
    struct gang_event ev;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (str_eq(kind, "PersistentVolumeClaim")) {
        if (claims_set(w->claims, object, &err) < 0)
            fuzz_check_error(&err);
    } else if (str_eq(kind, "PersistentVolume")) {
        if (claims_set_volume(w->claims, object, &err) < 0)
            fuzz_check_error(&err);
    } else if (bed_event(object, &ev, &err)) {
        take_event(w, object, &ev);
    } else {
        fuzz_check_error(&err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size);
    json_mend(text, size);
    cleanup_tree json_t *tree = json_loadb(text, size, 0, NULL);
    if (!tree)
        return 0;
    fuzz_begin();
    struct world w = {.bed = bed_new()};
    w.bed->effect = see_effect;
    w.bed->arg = &w;
    w.claims = claims_new(&(struct cluster_sink){post, &w});
    if (json_is_object(tree))
        take(&w, tree);
    for (size_t i = 0; i < json_array_size(tree) && i < MOST_OBJECTS; i++)
        take(&w, json_array_get(tree, i));
    bed_wait(w.bed, 100 * USEC_PER_SEC, 50);
    bed_free(w.bed);
    claims_free(w.claims);
    return 0;
}
