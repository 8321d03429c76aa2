/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting requests, in one lane for each kind. A newer request can replace an older one. */
#include <stdio.h>

#include "k8s/encoding/kube_field.h"
#include "k8s/write/write_internal.h"

/* With this many older statuses of a PodGroup waiting, a new status replaces the last one. */
#define MAX_BEHIND 8
/* The turn of a namespace in the urgent lanes: long enough to keep the writes of a gang together,
 * and short enough not to delay other namespaces much. */
#define GANG_TURN 16

#define NO_ROOM "too many writes are waiting"

/* ---- lanes ---- */

static const enum lane_id lane_of_kind[GANG_EFFECT_MAX] = {
    [GANG_BIND] = LANE_BIND,
    [GANG_READ_POD] = LANE_READ,
    [GANG_NOMINATE] = LANE_NOMINATE,
    [GANG_UNGATE] = LANE_UNGATE,
    [GANG_MARK_VICTIM] = LANE_MARK,
    [GANG_EVICT] = LANE_EVICT,
    [GANG_SUSPEND] = LANE_SUSPEND,
    [GANG_RESUME] = LANE_SUSPEND,
    [GANG_STATUS] = LANE_STATUS,
    [GANG_QUEUE_STATUS] = LANE_QUEUE_STATUS,
    [GANG_EVENT] = LANE_PODGROUP_EVENT,
    [GANG_PATCH_CONDITION] = LANE_POD_CONDITION,
};

static const struct lane lane_defaults[LANE_MAX] = {
    [LANE_BIND] = {.name = "bindings", .most = 32, .turn = GANG_TURN, .room = 200000},
    [LANE_READ] = {.name = "reads", .most = 8, .turn = 1, .room = 200000},
    [LANE_NOMINATE] = {.name = "nominations", .most = 16, .turn = GANG_TURN, .room = 50000},
    [LANE_UNGATE] = {.name = "gates", .most = 16, .turn = GANG_TURN, .room = 200000},
    [LANE_MARK] =
        {.name = "victim_marks", .most = 32, .most_each = 16, .turn = GANG_TURN, .room = 50000},
    /* A large number, because an eviction can pause for minutes while a budget forbids it. */
    [LANE_EVICT] = {.name = "evictions", .most = 64, .most_each = 16, .turn = 1, .room = 50000},
    [LANE_SUSPEND] = {.name = "suspensions", .most = 16, .most_each = 4, .turn = 1, .room = 10000},
    /* In this lane and LANE_POD_CONDITION, more writes may wait for a retry than are sent at once,
     * but only a few per namespace. So one tenant's failing writes cannot block those of others. */
    [LANE_STATUS] =
        {.name = "statuses", .most = 256, .at_once = 8, .most_each = 8, .turn = 1, .room = 50000},
    [LANE_QUEUE_STATUS] =
        {.name = "queue_statuses", .most = 64, .at_once = 4, .turn = 1, .room = 50000},
    [LANE_PODGROUP_EVENT] = {.name = "events", .most = 4, .turn = 1, .room = 2000},
    [LANE_POD_CONDITION] =
        {.name = "conditions", .most = 16, .at_once = 1, .most_each = 4, .turn = 1, .room = 50000},
    [LANE_POD_EVENT] = {.name = "notices", .most = 1, .turn = 1, .room = 2000},
};

void lanes_init(struct writer *w)
{
    for (size_t i = 0; i < LANE_MAX; i++) {
        w->lanes[i] = lane_defaults[i];
        fair_queue_init(&w->lanes[i].queue, w->lanes[i].turn);
    }
    if (w->o.bindings > 0)
        w->lanes[LANE_BIND].most = w->o.bindings;
}

void lanes_done(struct writer *w)
{
    for (size_t i = 0; i < LANE_MAX; i++) {
        struct fair_queue *queue = &w->lanes[i].queue;
        while (queue->n > 0) {
            struct write_request *o = lane_request(fair_queue_first(queue));
            fair_queue_remove(queue, &o->waits);
            write_request_free(o);
        }
        fair_queue_done(queue);
    }
    map_done(&w->nominations);
    map_done(&w->waiting_conditions);
    map_done(&w->statuses);
    map_done(&w->queue_statuses);
}

static enum lane_id lane_of(const struct write_request *o)
{
    if (o->kind == GANG_EVENT && strcmp(o->object_kind, "Pod") == 0)
        return LANE_POD_EVENT;
    return lane_of_kind[o->kind];
}

void lane_show(struct writer *w, const struct lane *lane)
{
    api_metrics_queue(w->o.metrics, lane->name, lane->queue.n + (size_t)lane->n_in_flight);
}

/* At most one NOMINATE or UNGATE of a pod may wait. */
static bool is_only_one(const struct write_request *o)
{
    return o->kind == GANG_NOMINATE || o->kind == GANG_UNGATE;
}

static void enqueue(struct writer *w, struct lane *lane, struct write_request *o)
{
    if (is_only_one(o))
        map_set(&w->nominations, o->uid, o);
    if (o->kind == GANG_PATCH_CONDITION)
        map_set(&w->waiting_conditions, o->uid, o);
    if (o->kind == GANG_STATUS) {
        cleanup_free char *key = gang_ref_key(&o->ref);
        map_set(&w->statuses, key, o);
    }
    if (o->kind == GANG_QUEUE_STATUS) {
        cleanup_free char *key = gang_ref_key(&o->ref);
        map_set(&w->queue_statuses, key, o);
    }
    o->since = usec_now();
    fair_queue_push(&lane->queue, o->ns, &o->waits);
    lane_show(w, lane);
}

struct write_request *lane_request(struct fair_queue_item *item)
{
    return item ? CONTAINER_OF(item, struct write_request, waits) : NULL;
}

void write_request_unlist(struct writer *w, struct write_request *o)
{
    if (is_only_one(o))
        map_remove(&w->nominations, o->uid);
    if (o->kind == GANG_PATCH_CONDITION)
        map_remove(&w->waiting_conditions, o->uid);
    if (o->kind == GANG_STATUS) {
        cleanup_free char *key = gang_ref_key(&o->ref);
        if (map_get(&w->statuses, key) == o)
            map_remove(&w->statuses, key);
    }
    if (o->kind == GANG_QUEUE_STATUS) {
        cleanup_free char *key = gang_ref_key(&o->ref);
        map_remove(&w->queue_statuses, key);
    }
}

static void dequeue(struct writer *w, struct lane *lane, struct write_request *o)
{
    write_request_unlist(w, o);
    fair_queue_remove(&lane->queue, &o->waits);
}

/* ---- new requests ---- */

/* Moves o's nomination to another request. A node of NULL clears the nomination. */
static void hand_over_nomination(struct write_request *o, struct write_request *to)
{
    free(to->node);
    to->node = STEAL(o->node);
    to->nominates = true;
}

/* Merges a request with the waiting NOMINATE or UNGATE of the same pod. The newest nomination
 * counts, and an UNGATE stays an UNGATE. True: the waiting request has taken over. */
static bool replace_nomination(struct writer *w, struct write_request *o)
{
    struct write_request *waiting = map_get(&w->nominations, o->uid);
    if (!waiting)
        return false;
    if (o->kind == GANG_UNGATE && waiting->kind == GANG_NOMINATE) {
        if (!o->nominates)
            hand_over_nomination(waiting, o);
        dequeue(w, &w->lanes[LANE_NOMINATE], waiting);
        write_request_free(waiting);
        return false;
    }
    if (o->nominates)
        hand_over_nomination(o, waiting);
    write_request_free(o);
    return true;
}

/* Replaces the text of the pod's waiting condition. The condition keeps its place in the lane. */
static bool replace_words(struct writer *w, struct write_request *o)
{
    struct write_request *waiting = map_get(&w->waiting_conditions, o->uid);
    if (!waiting)
        return false;
    free(waiting->text);
    waiting->text = STEAL(o->text);
    waiting->version = o->version;
    write_request_free(o);
    return true;
}

/* Drops the waiting condition of a pod that is ungated or bound: its reason is out of date. */
static void drop_words(struct writer *w, const char *uid)
{
    struct lane *lane = &w->lanes[LANE_POD_CONDITION];
    struct write_request *waiting = map_get(&w->waiting_conditions, uid);
    if (!waiting)
        return;
    dequeue(w, lane, waiting);
    lane_show(w, lane);
    write_request_free(waiting);
}

static void set_phase(struct write_request *o)
{
    const struct dialect *d = dialect_of_objects(o->api_group);
    cleanup_json json_t *patch = d ? d->status(&o->status, &(struct dialect_view){0}) : NULL;
    const char *phase = field_peek(patch, "status", "phase", NULL);
    snprintf(o->phase, sizeof o->phase, "%s", phase ? phase : "");
}

/* Whether so many statuses wait that only the newest one of each PodGroup in the namespace is
 * written. */
static bool is_backlogged(const struct lane *lane, const char *ns)
{
    size_t namespaces = map_count(&lane->queue.subqueues);
    return lane->queue.n >= STATUS_BACKLOG &&
           fair_queue_length(&lane->queue, ns) * namespaces >= STATUS_BACKLOG;
}

/*
 * A status replaces the newest waiting status of its PodGroup if both have the same phase. A new
 * phase does not replace the last one, so that clients see every phase. In a backlog, it does,
 * because old phases would delay current ones. True: o has taken the place, and the waiting time,
 * of the older status.
 */
static bool overtake_status(struct writer *w, struct write_request *o)
{
    struct lane *lane = &w->lanes[LANE_STATUS];
    cleanup_free char *key = gang_ref_key(&o->ref);
    struct write_request *newest = map_get(&w->statuses, key);
    if (!newest)
        return false;
    o->behind = newest->behind + 1;
    if (strcmp(newest->phase, o->phase) != 0 && newest->behind < MAX_BEHIND &&
        !is_backlogged(lane, o->ns))
        return false;
    o->behind = newest->behind;
    o->since = newest->since;
    fair_queue_replace(&lane->queue, &newest->waits, &o->waits);
    write_request_free(newest);
    map_set(&w->statuses, key, o);
    return true;
}

/* The newest status of a queue replaces a status that still waits, and takes over its waiting time.
 */
static bool replace_queue_status(struct writer *w, struct write_request *o)
{
    cleanup_free char *key = gang_ref_key(&o->ref);
    struct write_request *waiting = map_get(&w->queue_statuses, key);
    if (!waiting)
        return false;
    o->since = waiting->since;
    fair_queue_replace(&w->lanes[LANE_QUEUE_STATUS].queue, &waiting->waits, &o->waits);
    write_request_free(waiting);
    map_set(&w->queue_statuses, key, o);
    return true;
}

void writer_post(struct writer *w, enum gang_event_kind kind, const char *uid, const char *node,
                 const char *text, enum gang_outcome outcome)
{
    struct gang_event ev = {.kind = kind};
    ev.result.uid = xstrdup(uid);
    ev.result.node = xstrdup_null(node);
    ev.result.text = xstrdup_null(text);
    ev.result.outcome = outcome;
    w->o.sink->post(w->o.sink->arg, &ev);
}

void writer_post_refused(struct writer *w, const struct gang_ref *ref)
{
    struct gang_event ev = {.kind = GANG_EV_SUSPEND_REFUSED};
    ev.gone = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    w->o.sink->post(w->o.sink->arg, &ev);
}

/* Drops the request. For a Binding, a read or a suspension, the core gets an event. */
static void refuse(struct writer *w, struct write_request *o, const char *why,
                   enum gang_outcome outcome)
{
    api_metrics_count(w->o.metrics, "api_dropped_total", "queue", w->lanes[lane_of(o)].name);
    if (o->kind == GANG_BIND || o->kind == GANG_READ_POD)
        writer_post(w, o->kind == GANG_BIND ? GANG_EV_BIND_DONE : GANG_EV_POD_READ, o->uid, o->node,
                    why, outcome);
    if (o->kind == GANG_SUSPEND)
        writer_post_refused(w, &o->ref);
    write_request_free(o);
}

/*
 * Names can come from the body of an extender call, and must not lead to another path.
 * kube-apiserver decodes a path before it splits it, so escaping alone does not prevent this
 * (observed with "..%2F").
 */
bool write_is_name(const char *s)
{
    return *s && *s != '.' && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(s);
}

static bool is_for_people(const struct write_request *o)
{
    return o->kind == GANG_EVENT || o->kind == GANG_STATUS || o->kind == GANG_QUEUE_STATUS ||
           o->kind == GANG_PATCH_CONDITION;
}

static bool make_room(struct writer *w, struct write_request *o)
{
    struct lane *lane = &w->lanes[lane_of(o)];
    if (lane->queue.n < lane->room)
        return true;
    bool words = is_for_people(o);
    struct write_request *other =
        lane_request(words ? fair_queue_longest_first(&lane->queue, o->ns)
                           : fair_queue_longest_last(&lane->queue, o->ns));
    if (!words && strcmp(other->ns, o->ns) == 0)
        return false; /* an older write of the same namespace has precedence */
    dequeue(w, lane, other);
    refuse(w, other, NO_ROOM, OUTCOME_UNCLEAR);
    return true;
}

void writer_take(struct writer *w, struct write_request *o)
{
    bool scoped = o->kind != GANG_QUEUE_STATUS || *o->ns; /* else the name alone identifies it */
    if ((scoped && !write_is_name(o->ns)) || !write_is_name(o->name)) {
        refuse(w, o, "namespace or name is not a valid Kubernetes name", OUTCOME_REFUSED);
        return;
    }
    if (o->kind == GANG_UNGATE || o->kind == GANG_BIND)
        drop_words(w, o->uid);
    if ((is_only_one(o) && replace_nomination(w, o)) ||
        (o->kind == GANG_PATCH_CONDITION && replace_words(w, o)) ||
        (o->kind == GANG_QUEUE_STATUS && replace_queue_status(w, o)))
        return;
    if (o->kind == GANG_STATUS) {
        set_phase(o);
        if (overtake_status(w, o))
            return;
    }
    if (!make_room(w, o)) {
        refuse(w, o, NO_ROOM, OUTCOME_UNCLEAR);
        return;
    }
    enqueue(w, &w->lanes[lane_of(o)], o);
}
