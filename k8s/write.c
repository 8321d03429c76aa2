/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/write_internal.h"

#include <stdio.h>

#include "k8s/field.h"

/* Statuses of one group that may wait, one per phase. */
#define MAX_BEHIND 8
/* Where so many wait, steps that a group has left behind are not written any more. */
#define STATUS_CROWD 16
/* What people read waits for what members wait for. After this long it has a small share of the
 * writes, and what has waited for the second goes whatever members wait for. */
#define PATIENCE      USEC_PER_SEC
#define PATIENCE_LAST (10 * USEC_PER_SEC)
/* Between the gangs of a burst there is nothing to write for a moment. */
#define BURST_GAP (50 * USEC_PER_MSEC)

/* An API server is not to be flooded with words. */
#define EVENTS_PER_SECOND  50
#define EVENTS_BURST       200
#define TELLS_PER_SECOND   50 /* gated pods have no other word: all of a backlog */
#define TELLS_BURST        50
#define TELL_WHEN_URGENT   10 /* counts as so many: it costs the API server two calls */
#define NOTICES_PER_SECOND 10
#define NOTICES_BURST      10
#define WORDS_PER_SECOND   20 /* statuses and events, while members wait */
#define WORDS_BURST        2

/* Writes that members wait for: a gang's go together, as far as that keeps no other waiting long.
 */
#define GANG_TURN   16
#define SERIES_TURN 1

#define NO_ROOM "too many writes are waiting"

/* ---- orders ---- */

static void copy_status(struct order *o, const struct gang_status *s)
{
    o->api_group = xstrdup(s->ref->api_group);
    o->ns = xstrdup(s->ref->ns);
    o->name = xstrdup(s->ref->name);
    o->uid = xstrdup_null(s->uid);
    o->text = xstrdup(s->text);
    o->help = xstrdup(s->help);
    o->ref = (struct gang_ref){o->api_group, o->ns, o->name};
    o->status = *s;
    o->status.ref = &o->ref;
    o->status.uid = o->uid;
    o->status.text = o->text;
    o->status.help = o->help;
}

static void copy_event(struct order *o, const struct gang_effect *e)
{
    o->object_kind = xstrdup(e->event.kind);
    o->api_group = xstrdup_null(e->event.api_group);
    o->ns = xstrdup(e->event.ns);
    o->name = xstrdup(e->event.name);
    o->uid = xstrdup_null(e->event.uid);
    o->reason = xstrdup(e->event.reason);
    o->text = xstrdup(e->event.message);
    o->warning = e->event.warning;
}

/* A PodGroup that its pods declare is no object: nothing can be written to it, or be said about it.
 */
static bool without_object(const char *api_group)
{
    const struct dialect *d = api_group ? dialect_by_group(api_group) : NULL;
    return d && !dialect_has_objects(d);
}

struct order *order_new(const struct gang_effect *e)
{
    if ((e->kind == GANG_STATUS && without_object(e->status.ref->api_group)) ||
        (e->kind == GANG_EVENT && without_object(e->event.api_group)))
        return NULL;
    struct order *o = xcalloc(1, sizeof *o);
    o->kind = e->kind;
    switch (e->kind) {
    case GANG_BIND:
    case GANG_READ_POD:
    case GANG_NOMINATE:
    case GANG_UNGATE:
    case GANG_EVICT:
    case GANG_TELL:
        o->ns = xstrdup(e->pod.ns);
        o->name = xstrdup(e->pod.name);
        o->uid = xstrdup(e->pod.uid);
        o->node = xstrdup_null(e->pod.node);
        o->nominates = e->kind == GANG_NOMINATE || (e->kind == GANG_UNGATE && o->node);
        o->text = xstrdup_null(e->pod.text);
        o->version = e->pod.version;
        o->of_commit = e->pod.of_commit;
        return o;
    case GANG_STATUS:
        copy_status(o, &e->status);
        return o;
    case GANG_EVENT:
        copy_event(o, e);
        return o;
    default:
        return order_free(o); /* replies are the server's */
    }
}

struct order *order_event(const struct order_about *about, const char *reason, const char *text)
{
    struct order *o = xcalloc(1, sizeof *o);
    o->kind = GANG_EVENT;
    o->api_version = xstrdup(about->api_version);
    o->object_kind = xstrdup(about->kind);
    o->ns = xstrdup(about->ns);
    o->name = xstrdup(about->name);
    o->uid = xstrdup(about->uid);
    o->reason = xstrdup(reason);
    o->text = xstrdup(text);
    o->warning = true;
    return o;
}

struct order *order_free(struct order *o)
{
    if (!o)
        return NULL;
    free(o->ns);
    free(o->name);
    free(o->uid);
    free(o->node);
    free(o->api_group);
    free(o->api_version);
    free(o->object_kind);
    free(o->reason);
    free(o->text);
    free(o->help);
    free(o);
    return NULL;
}

struct mail *order_mail(struct order *o)
{
    return &o->mail;
}

struct order *order_of_mail(struct mail *m)
{
    return CONTAINER_OF(m, struct order, mail);
}

/* ---- lanes ---- */

static const struct {
    enum lane_id lane;
    void (*send)(struct flight *f);
} kinds[GANG_EFFECT_MAX] = {
    [GANG_BIND] = {LANE_BIND, bind_send},
    [GANG_READ_POD] = {LANE_READ, read_send},
    [GANG_NOMINATE] = {LANE_NOMINATE, nominate_send},
    [GANG_UNGATE] = {LANE_UNGATE, ungate_send},
    [GANG_EVICT] = {LANE_EVICT, evict_send},
    [GANG_STATUS] = {LANE_STATUS, status_send},
    [GANG_EVENT] = {LANE_EVENT, event_send},
    [GANG_TELL] = {LANE_TELL, tell_send},
};

static const struct lane lane_defaults[LANE_MAX] = {
    [LANE_BIND] = {.name = "bindings", .most = 32, .turn = GANG_TURN, .room = 200000},
    [LANE_READ] = {.name = "reads", .most = 8, .turn = 1, .room = 200000},
    [LANE_NOMINATE] = {.name = "nominations", .most = 16, .turn = GANG_TURN, .room = 50000},
    [LANE_UNGATE] = {.name = "gates", .most = 16, .turn = GANG_TURN, .room = 200000},
    /* Most evictions are in a pause, for minutes where a budget forbids them. */
    [LANE_EVICT] = {.name = "evictions", .most = 64, .most_each = 16, .turn = 1, .room = 50000},
    [LANE_STATUS] = {.name = "statuses", .most = 8, .turn = 1, .room = 50000},
    [LANE_EVENT] = {.name = "events", .most = 4, .turn = 1, .room = 2000},
    [LANE_TELL] = {.name = "conditions", .most = 1, .turn = 1, .room = 50000},
    [LANE_NOTICE] = {.name = "notices", .most = 1, .turn = 1, .room = 2000},
};

static enum lane_id lane_of(const struct order *o)
{
    if (o->kind == GANG_EVENT && strcmp(o->object_kind, "Pod") == 0)
        return LANE_NOTICE;
    return kinds[o->kind].lane;
}

static void on_timer(void *arg)
{
    writer_pump(arg);
}

/* The options may set both rates (tests). */
static void bucket_init(struct writer *w, struct bucket *b, double per_second, double burst)
{
    *b = (struct bucket){
        .per_second = w->o.events_per_second > 0 ? w->o.events_per_second : per_second,
        .burst = w->o.events_burst > 0 ? w->o.events_burst : burst,
        .at = usec_now(),
        .timer = {.fire = on_timer, .arg = w},
    };
    b->tokens = b->burst;
}

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *w = xcalloc(1, sizeof *w);
    w->o = *options;
    w->patience = (struct client_timer){.fire = on_timer, .arg = w};
    bucket_init(w, &w->events, EVENTS_PER_SECOND, EVENTS_BURST);
    bucket_init(w, &w->tells, TELLS_PER_SECOND, TELLS_BURST);
    bucket_init(w, &w->notices, NOTICES_PER_SECOND, NOTICES_BURST);
    bucket_init(w, &w->words, WORDS_PER_SECOND, WORDS_BURST);
    list_init(&w->flights);
    fair_init(&w->kept, SERIES_TURN);
    for (size_t i = 0; i < LANE_MAX; i++) {
        w->lanes[i] = lane_defaults[i];
        fair_init(&w->lanes[i].queue, w->lanes[i].turn);
    }
    if (w->o.bindings > 0)
        w->lanes[LANE_BIND].most = w->o.bindings;
    return w;
}

/* What two orders must not fly side by side for; NULL: anything goes. */
static char *flight_key(const struct order *o)
{
    switch (o->kind) {
    case GANG_NOMINATE:
    case GANG_UNGATE:
        return xstrdup(o->uid);
    case GANG_STATUS:
        return groups_key(&o->ref);
    default:
        return NULL;
    }
}

static void show_length(struct writer *w, const struct lane *lane)
{
    api_metrics_queue(w->o.metrics, lane->name, lane->queue.n + (size_t)lane->flying);
}

/* Of a pod's nomination and gate one order waits at most. */
static bool is_only_one(const struct order *o)
{
    return o->kind == GANG_NOMINATE || o->kind == GANG_UNGATE;
}

static void enqueue(struct writer *w, struct lane *lane, struct order *o)
{
    if (is_only_one(o))
        map_set(&w->nominations, o->uid, o);
    if (o->kind == GANG_TELL)
        map_set(&w->untold, o->uid, o);
    if (o->kind == GANG_STATUS) {
        cleanup_free char *key = groups_key(&o->ref);
        map_set(&w->statuses, key, o);
    }
    o->since = usec_now();
    fair_push(&lane->queue, o->ns, &o->waits);
    show_length(w, lane);
}

static struct order *order_of(struct fair_item *item)
{
    return item ? CONTAINER_OF(item, struct order, waits) : NULL;
}

/* It is to leave the queue, and does not count as waiting any more. */
static void unlist(struct writer *w, struct order *o)
{
    if (is_only_one(o))
        map_remove(&w->nominations, o->uid);
    if (o->kind == GANG_TELL)
        map_remove(&w->untold, o->uid);
    if (o->kind == GANG_STATUS) {
        cleanup_free char *key = groups_key(&o->ref);
        if (map_get(&w->statuses, key) == o)
            map_remove(&w->statuses, key);
    }
}

static void dequeue(struct writer *w, struct lane *lane, struct order *o)
{
    unlist(w, o);
    fair_remove(&lane->queue, &o->waits);
}

/* What members wait for. */
static const enum lane_id urgent_lanes[] = {LANE_BIND, LANE_NOMINATE, LANE_UNGATE};

static bool is_urgent(enum lane_id id)
{
    for (size_t i = 0; i < ARRAY_SIZE(urgent_lanes); i++)
        if (urgent_lanes[i] == id)
            return true;
    return false;
}

void flight_end(struct flight *f)
{
    struct writer *w = f->writer;
    struct lane *lane = &w->lanes[f->lane];
    if (is_urgent(f->lane))
        w->calm_at = usec_now() + BURST_GAP;
    cleanup_free char *key = flight_key(f->order);
    if (key)
        map_remove(&w->flying, key);
    lane->flying--;
    show_length(w, lane);
    client_timer_clear(w->o.client, &f->retry);
    list_remove(&f->link);
    order_free(f->order);
    json_decref(f->sent);
    free(f->event_name);
    free(f);
    writer_pump(w);
}

static void launch(struct writer *w, enum lane_id id, struct order *o, char *key)
{
    struct lane *lane = &w->lanes[id];
    unlist(w, o);
    fair_serve(&lane->queue, &o->waits);
    lane->flying++;
    struct flight *f = xcalloc(1, sizeof *f);
    f->writer = w;
    f->order = o;
    f->lane = id;
    list_push(&w->flights, &f->link);
    if (key)
        map_set(&w->flying, key, f);
    kinds[o->kind].send(f);
}

static bool take_tokens(struct writer *w, struct bucket *b, double n)
{
    usec_t now = usec_now();
    b->tokens += (double)(now - b->at) / (double)USEC_PER_SEC * b->per_second;
    if (b->tokens > b->burst)
        b->tokens = b->burst;
    b->at = now;
    double need = n < b->burst ? n : b->burst;
    if (b->tokens >= need) {
        b->tokens -= need;
        return true;
    }
    usec_t wait = (usec_t)((need - b->tokens) / b->per_second * (double)USEC_PER_SEC);
    client_timer_set(w->o.client, &b->timer, now + wait + USEC_PER_MSEC);
    return false;
}

/* The share of statuses and events while members wait. */
static bool may_speak(struct writer *w, enum lane_id id, const struct order *o)
{
    bool word = id == LANE_STATUS || id == LANE_EVENT;
    return !word || !writer_urgent(w) || o->since + PATIENCE_LAST <= usec_now() ||
           take_tokens(w, &w->words, 1);
}

static bool may_send(struct writer *w, enum lane_id id, const struct order *o)
{
    double tell = writer_urgent(w) ? TELL_WHEN_URGENT : 1;
    return may_speak(w, id, o) && (id != LANE_EVENT || take_tokens(w, &w->events, 1)) &&
           (id != LANE_TELL || take_tokens(w, &w->tells, tell)) &&
           (id != LANE_NOTICE || take_tokens(w, &w->notices, 1));
}

/* The namespace has as many flights of the lane as one may have. */
static bool has_its_share(const struct writer *w, enum lane_id id, const char *ns)
{
    int flying = 0;
    if (!w->lanes[id].most_each)
        return false;
    list_for_each (f, &w->flights, struct flight, link)
        flying += f->lane == id && strcmp(f->order->ns, ns) == 0;
    return flying >= w->lanes[id].most_each;
}

/* The first order of the lane that may fly; its key goes to *ret_key. */
static struct order *next_order(struct writer *w, enum lane_id id, char **ret_key)
{
    const struct fair *queue = &w->lanes[id].queue;
    struct fair_item *item = fair_first(queue);
    while (item) {
        struct order *o = order_of(item);
        if (has_its_share(w, id, o->ns)) {
            item = fair_next_line(queue, item);
            continue;
        }
        *ret_key = flight_key(o);
        if (!*ret_key || !map_get(&w->flying, *ret_key))
            return o;
        free(STEAL(*ret_key));
        item = fair_next(queue, item);
    }
    return NULL;
}

static bool lane_busy(const struct lane *lane)
{
    return lane->queue.n > 0 || lane->flying > 0;
}

bool writer_urgent(const struct writer *w)
{
    for (size_t i = 0; i < ARRAY_SIZE(urgent_lanes); i++)
        if (lane_busy(&w->lanes[urgent_lanes[i]]))
            return true;
    return usec_now() < w->calm_at;
}

/* The lane waits, and for how long at most. */
static usec_t patient_until(const struct lane *lane)
{
    return order_of(fair_oldest(&lane->queue))->since + PATIENCE;
}

/*
 * What people read comes after what members wait for: a status costs the API server more than two
 * bindings do. One at a time, once it has waited long enough.
 */
static int most_now(const struct writer *w, enum lane_id id)
{
    const struct lane *lane = &w->lanes[id];
    if (id < LANE_STATUS || !writer_urgent(w)) /* in a crowd the next step is not far */
        return id == LANE_STATUS && lane->queue.n >= STATUS_CROWD ? 1 : lane->most;
    return patient_until(lane) <= usec_now() ? 1 : 0;
}

/* Looks again when a lane has waited long enough, or nothing urgent may be left. */
static void arm_patience(struct writer *w)
{
    usec_t now = usec_now(), due = USEC_NEVER;
    for (enum lane_id id = LANE_STATUS; id < LANE_MAX; id++) {
        if (w->lanes[id].queue.n == 0 || w->lanes[id].flying != w->lanes[id].paused)
            continue;
        usec_t at = patient_until(&w->lanes[id]);
        if (at > now && at < due)
            due = at;
        if (w->calm_at > now && w->calm_at < due)
            due = w->calm_at;
    }
    if (due != USEC_NEVER) /* it may have become calm since the lanes were looked at */
        client_timer_set(w->o.client, &w->patience, due);
}

static void pump_lanes(struct writer *w)
{
    for (enum lane_id id = 0; id < LANE_MAX; id++) {
        struct lane *lane = &w->lanes[id];
        while (lane->queue.n > 0 && lane->flying < lane->most &&
               lane->flying - lane->paused < most_now(w, id)) {
            cleanup_free char *key = NULL;
            struct order *o = next_order(w, id, &key);
            if (!o || !may_send(w, id, o))
                break;
            launch(w, id, o, key);
        }
    }
}

/* A flight may end as soon as it begins (nothing to write): the loop above goes on by itself. */
void writer_pump(struct writer *w)
{
    if (w->pumping)
        return;
    w->pumping = true;
    pump_lanes(w);
    arm_patience(w);
    w->pumping = false;
}

static bool busy_below(const struct writer *w, size_t lanes)
{
    for (size_t i = 0; i < lanes; i++)
        if (lane_busy(&w->lanes[i]))
            return true;
    return false;
}

bool writer_busy(const struct writer *w)
{
    return busy_below(w, LANE_MAX);
}

bool writer_owes(const struct writer *w)
{
    return busy_below(w, LANE_EVENT);
}

/* ---- taking orders ---- */

/* The nomination that o carries, which may be to clear it. */
static void hand_over_nomination(struct order *o, struct order *to)
{
    free(to->node);
    to->node = STEAL(o->node);
    to->nominates = true;
}

/* A newer nomination of a pod takes the place of the one that still waits. What lifts its gate too
 * stays in its place, or takes that of a mere nomination, and what that was to write. */
static bool replace_nomination(struct writer *w, struct order *o)
{
    struct order *waiting = map_get(&w->nominations, o->uid);
    if (!waiting)
        return false;
    if (o->kind == GANG_UNGATE && waiting->kind == GANG_NOMINATE) {
        if (!o->nominates)
            hand_over_nomination(waiting, o);
        dequeue(w, &w->lanes[LANE_NOMINATE], waiting);
        order_free(waiting);
        return false;
    }
    if (o->nominates)
        hand_over_nomination(o, waiting);
    order_free(o);
    return true;
}

/* The newest words for a pod take the place of those that still wait, and have waited as long. */
static bool replace_words(struct writer *w, struct order *o)
{
    struct order *waiting = map_get(&w->untold, o->uid);
    if (!waiting)
        return false;
    free(waiting->text);
    waiting->text = STEAL(o->text);
    waiting->version = o->version;
    order_free(o);
    return true;
}

/* A pod that is let go, or bound, waits no more. */
static void drop_words(struct writer *w, const char *uid)
{
    struct lane *lane = &w->lanes[LANE_TELL];
    struct order *waiting = map_get(&w->untold, uid);
    if (!waiting)
        return;
    dequeue(w, lane, waiting);
    show_length(w, lane);
    order_free(waiting);
}

static void set_phase(struct order *o)
{
    const struct dialect *d = dialect_of_objects(o->api_group);
    cleanup_json json_t *patch = d ? d->status(&o->status, &(struct dialect_view){0}) : NULL;
    const char *phase = field_peek(patch, "status", "phase", NULL);
    snprintf(o->phase, sizeof o->phase, "%s", phase ? phase : "");
}

/* So many statuses wait that the namespace is to write the newest step of each PodGroup alone. */
static bool is_crowded(const struct lane *lane, const char *ns)
{
    size_t namespaces = map_count(&lane->queue.lines);
    return lane->queue.n >= STATUS_CROWD &&
           fair_length(&lane->queue, ns) * namespaces >= STATUS_CROWD;
}

/*
 * Figures are overtaken by newer figures of the same group; a phase is not, so that whoever
 * watches the group sees every step of its life (as long as it does not lag too far behind, and not
 * where many groups wait: steps that are over would keep news waiting). True: it has taken the
 * place of the older one, and has waited as long.
 */
static bool overtake_status(struct writer *w, struct order *o)
{
    struct lane *lane = &w->lanes[LANE_STATUS];
    cleanup_free char *key = groups_key(&o->ref);
    struct order *newest = map_get(&w->statuses, key);
    if (!newest)
        return false;
    o->behind = newest->behind + 1;
    if (strcmp(newest->phase, o->phase) != 0 && newest->behind < MAX_BEHIND &&
        !is_crowded(lane, o->ns))
        return false;
    o->behind = newest->behind;
    o->since = newest->since;
    fair_replace(&lane->queue, &newest->waits, &o->waits);
    order_free(newest);
    map_set(&w->statuses, key, o);
    return true;
}

/* Gives the order up; whoever waits for its outcome is told. */
static void refuse(struct writer *w, struct order *o, const char *why, enum gang_outcome outcome)
{
    api_metrics_count(w->o.metrics, "api_dropped_total", "queue", w->lanes[lane_of(o)].name);
    if (o->kind == GANG_BIND || o->kind == GANG_READ_POD)
        writer_post(w, o->kind == GANG_BIND ? GANG_EV_BIND_DONE : GANG_EV_POD_READ, o->uid, o->node,
                    why, outcome);
    order_free(o);
}

/*
 * kube-apiserver decodes a path before it takes it apart ("..%2F" leads elsewhere, seen), and
 * names can come from the body of an extender call.
 */
static bool is_name(const char *s)
{
    return *s && *s != '.' && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(s);
}

static bool make_room(struct writer *w, struct order *o)
{
    struct lane *lane = &w->lanes[lane_of(o)];
    if (lane->queue.n < lane->room)
        return true;
    bool words = o->kind == GANG_EVENT || o->kind == GANG_STATUS || o->kind == GANG_TELL;
    struct order *other = order_of(words ? fair_longest_first(&lane->queue, o->ns)
                                         : fair_longest_last(&lane->queue, o->ns));
    if (!words && strcmp(other->ns, o->ns) == 0)
        return false; /* what came before it goes before it */
    dequeue(w, lane, other);
    refuse(w, other, NO_ROOM, OUTCOME_UNCLEAR);
    return true;
}

void writer_take(struct writer *w, struct order *o)
{
    if (!is_name(o->ns) || !is_name(o->name)) {
        refuse(w, o, "namespace or name is not a Kubernetes name", OUTCOME_REFUSED);
        return;
    }
    if (o->kind == GANG_UNGATE || o->kind == GANG_BIND)
        drop_words(w, o->uid);
    if ((is_only_one(o) && replace_nomination(w, o)) ||
        (o->kind == GANG_TELL && replace_words(w, o)))
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

/* ---- flights ---- */

static void on_reply(void *arg, const struct client_reply *reply)
{
    struct flight *f = arg;
    f->call = NULL;
    f->done(f, reply);
}

void flight_send(struct flight *f, const struct client_request *request,
                 void (*done)(struct flight *f, const struct client_reply *reply))
{
    struct client_request r = *request;
    r.done = on_reply;
    r.arg = f;
    f->done = done;
    f->call = client_send(f->writer->o.client, &r);
}

static void on_retry(void *arg)
{
    struct flight *f = arg;
    f->writer->lanes[f->lane].paused--;
    kinds[f->order->kind].send(f);
}

bool flight_retry(struct flight *f, int most, usec_t first)
{
    if (f->tries + 1 >= most)
        return false;
    struct client *c = f->writer->o.client;
    f->retry.fire = on_retry;
    f->retry.arg = f;
    client_timer_set(c, &f->retry,
                     usec_now() + client_backoff(c, f->tries++, first, 15 * USEC_PER_SEC));
    f->writer->lanes[f->lane].paused++;
    writer_pump(f->writer); /* a pause keeps nobody who may go one at a time */
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

struct writer *writer_free(struct writer *w)
{
    if (!w)
        return NULL;
    list_for_each_safe (f, &w->flights, struct flight, link) {
        if (f->call)
            client_cancel(w->o.client, f->call);
        client_timer_clear(w->o.client, &f->retry);
        order_free(f->order);
        json_decref(f->sent);
        free(f->event_name);
        free(f);
    }
    for (size_t i = 0; i < LANE_MAX; i++)
        while (w->lanes[i].queue.n > 0) {
            struct order *o = order_of(fair_first(&w->lanes[i].queue));
            fair_remove(&w->lanes[i].queue, &o->waits);
            order_free(o);
        }
    client_timer_clear(w->o.client, &w->events.timer);
    client_timer_clear(w->o.client, &w->notices.timer);
    client_timer_clear(w->o.client, &w->words.timer);
    client_timer_clear(w->o.client, &w->tells.timer);
    client_timer_clear(w->o.client, &w->patience);
    map_for_each (e, &w->series)
        series_free(w, e->value);
    map_done(&w->series);
    fair_done(&w->kept);
    for (size_t i = 0; i < LANE_MAX; i++)
        fair_done(&w->lanes[i].queue);
    map_done(&w->flying);
    map_done(&w->nominations);
    map_done(&w->untold);
    map_done(&w->statuses);
    free(w);
    return NULL;
}
