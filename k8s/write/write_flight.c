/* SPDX-License-Identifier: Apache-2.0 */
/* What goes: which order of a lane is next, and when; orders under way. */
#include "k8s/write/write_internal.h"

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

/* ---- urgency ---- */

/* What members wait for. */
static const enum lane_id urgent_lanes[] = {LANE_BIND, LANE_NOMINATE, LANE_UNGATE};

static bool is_urgent(enum lane_id id)
{
    for (size_t i = 0; i < ARRAY_SIZE(urgent_lanes); i++)
        if (urgent_lanes[i] == id)
            return true;
    return false;
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

/* ---- rates ---- */

/* The options may set both rates (tests). */
static void bucket_init(struct writer *w, struct bucket *b, double per_second, double burst,
                        void (*again)(void *writer))
{
    *b = (struct bucket){
        .per_second = w->o.events_per_second > 0 ? w->o.events_per_second : per_second,
        .burst = w->o.events_burst > 0 ? w->o.events_burst : burst,
        .at = usec_now(),
        .timer = {.fire = again, .arg = w},
    };
    b->tokens = b->burst;
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

/* ---- what is next ---- */

/* What two orders must not fly side by side for; NULL: anything goes. */
static char *flight_key(const struct order *o)
{
    switch (o->kind) {
    case GANG_NOMINATE:
    case GANG_UNGATE:
        return xstrdup(o->uid);
    case GANG_STATUS:
        return podgroups_key(&o->ref);
    default:
        return NULL;
    }
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
        struct order *o = lane_order(item);
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

/* The lane waits, and for how long at most. */
static usec_t patient_until(const struct lane *lane)
{
    return lane_order(fair_oldest(&lane->queue))->since + PATIENCE;
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

void lanes_arm_patience(struct writer *w)
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

/* ---- flights ---- */

/* The order leaves its lane. */
static struct flight *flight_new(struct writer *w, enum lane_id id, struct order *o,
                                 const char *key)
{
    struct lane *lane = &w->lanes[id];
    order_unlist(w, o);
    fair_serve(&lane->queue, &o->waits);
    lane->flying++;
    struct flight *f = xcalloc(1, sizeof *f);
    f->writer = w;
    f->order = o;
    f->lane = id;
    list_push(&w->flights, &f->link);
    if (key)
        map_set(&w->flying, key, f);
    return f;
}

struct flight *flight_next(struct writer *w, enum lane_id id)
{
    const struct lane *lane = &w->lanes[id];
    if (lane->queue.n == 0 || lane->flying >= lane->most ||
        lane->flying - lane->paused >= most_now(w, id))
        return NULL;
    cleanup_free char *key = NULL;
    struct order *o = next_order(w, id, &key);
    return o && may_send(w, id, o) ? flight_new(w, id, o, key) : NULL;
}

void flight_send(struct flight *f, const struct client_request *request,
                 void (*done)(struct flight *f, const struct client_reply *reply))
{
    struct client_request r = *request;
    r.done = f->replied;
    r.arg = f;
    f->done = done;
    f->call = client_send(f->writer->o.client, &r);
}

bool flight_retry(struct flight *f, int most, usec_t first)
{
    if (f->tries + 1 >= most)
        return false;
    struct client *c = f->writer->o.client;
    client_timer_set(c, &f->retry,
                     usec_now() + client_backoff(c, f->tries++, first, 15 * USEC_PER_SEC));
    f->writer->lanes[f->lane].paused++;
    f->writer->pump_due = true; /* a pause keeps nobody who may go one at a time */
    return true;
}

static void flight_free(struct flight *f)
{
    client_timer_clear(f->writer->o.client, &f->retry);
    list_remove(&f->link);
    order_free(f->order);
    json_decref(f->sent);
    free(f->event_name);
    free(f);
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
    lane_show(w, lane);
    flight_free(f);
    w->pump_due = true;
}

/* ---- life ---- */

void flights_init(struct writer *w, void (*again)(void *writer))
{
    list_init(&w->flights);
    w->patience = (struct client_timer){.fire = again, .arg = w};
    bucket_init(w, &w->events, EVENTS_PER_SECOND, EVENTS_BURST, again);
    bucket_init(w, &w->tells, TELLS_PER_SECOND, TELLS_BURST, again);
    bucket_init(w, &w->notices, NOTICES_PER_SECOND, NOTICES_BURST, again);
    bucket_init(w, &w->words, WORDS_PER_SECOND, WORDS_BURST, again);
}

void flights_done(struct writer *w)
{
    list_for_each_safe (f, &w->flights, struct flight, link) {
        if (f->call)
            client_cancel(w->o.client, f->call);
        flight_free(f);
    }
    client_timer_clear(w->o.client, &w->events.timer);
    client_timer_clear(w->o.client, &w->notices.timer);
    client_timer_clear(w->o.client, &w->words.timer);
    client_timer_clear(w->o.client, &w->tells.timer);
    client_timer_clear(w->o.client, &w->patience);
    map_done(&w->flying);
}
