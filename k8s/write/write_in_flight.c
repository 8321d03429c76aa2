/* SPDX-License-Identifier: Apache-2.0 */
/* Which request of a lane is sent next, and when; writes in flight. */
#include "k8s/write/write_internal.h"

/* What people read waits for what members wait for. After this long it has a small share of the
 * writes, and what has waited for the second goes whatever members wait for. */
#define PATIENCE      USEC_PER_SEC
#define PATIENCE_LAST (10 * USEC_PER_SEC)
/* Between the gangs of a burst there is nothing to write for a moment. */
#define BURST_GAP (50 * USEC_PER_MSEC)

/* An API server is not to be flooded with words. */
#define EVENTS_PER_SECOND          50
#define EVENTS_BURST               200
#define CONDITIONS_PER_SECOND      50 /* gated pods have no other word: all of a backlog */
#define CONDITIONS_BURST           50
#define CONDITION_COST_WHEN_URGENT 10 /* in tokens: it costs the API server two calls */
#define NOTICES_PER_SECOND         10
#define NOTICES_BURST              10
#define WORDS_PER_SECOND           20 /* statuses and events, while members wait */
#define WORDS_BURST                2

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
    return lane->queue.n > 0 || lane->n_in_flight > 0;
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
    return busy_below(w, LANE_PODGROUP_EVENT);
}

/* ---- rates ---- */

/* The options may set both rates (tests). */
static void bucket_init(struct writer *w, struct token_bucket *b, double per_second, double burst,
                        void (*again)(void *writer))
{
    *b = (struct token_bucket){
        .per_second = w->o.events_per_second > 0 ? w->o.events_per_second : per_second,
        .burst = w->o.events_burst > 0 ? w->o.events_burst : burst,
        .at = usec_now(),
        .timer = {.fire = again, .arg = w},
    };
    b->tokens = b->burst;
}

static bool take_tokens(struct writer *w, struct token_bucket *b, double n)
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
static bool may_speak(struct writer *w, enum lane_id id, const struct write_request *o)
{
    bool word = id == LANE_STATUS || id == LANE_PODGROUP_EVENT;
    return !word || !writer_urgent(w) || o->since + PATIENCE_LAST <= usec_now() ||
           take_tokens(w, &w->words, 1);
}

static bool may_send(struct writer *w, enum lane_id id, const struct write_request *o)
{
    double condition_cost = writer_urgent(w) ? CONDITION_COST_WHEN_URGENT : 1;
    return may_speak(w, id, o) && (id != LANE_PODGROUP_EVENT || take_tokens(w, &w->events, 1)) &&
           (id != LANE_POD_CONDITION || take_tokens(w, &w->conditions, condition_cost)) &&
           (id != LANE_POD_EVENT || take_tokens(w, &w->pod_events, 1));
}

/* ---- what is next ---- */

/* At most one write per key is in flight; NULL: no limit. */
static char *in_flight_key(const struct write_request *o)
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

/* The namespace has reached its limit of writes in flight in the lane. */
static bool has_its_share(const struct writer *w, enum lane_id id, const char *ns)
{
    int n_in_flight = 0;
    if (!w->lanes[id].most_each)
        return false;
    list_for_each (f, &w->in_flight, struct in_flight_write, link)
        n_in_flight += f->lane == id && strcmp(f->request->ns, ns) == 0;
    return n_in_flight >= w->lanes[id].most_each;
}

/* The first request of the lane that may be sent; its key goes to *ret_key. */
static struct write_request *next_request(struct writer *w, enum lane_id id, char **ret_key)
{
    const struct fair_queue *queue = &w->lanes[id].queue;
    struct fair_queue_item *item = fair_queue_first(queue);
    while (item) {
        struct write_request *o = lane_request(item);
        if (has_its_share(w, id, o->ns)) {
            item = fair_queue_next_owner(queue, item);
            continue;
        }
        *ret_key = in_flight_key(o);
        if (!*ret_key || !map_get(&w->in_flight_keys, *ret_key))
            return o;
        free(STEAL(*ret_key));
        item = fair_queue_next(queue, item);
    }
    return NULL;
}

/* The lane waits, and for how long at most. */
static usec_t patient_until(const struct lane *lane)
{
    return lane_request(fair_queue_oldest(&lane->queue))->since + PATIENCE;
}

/*
 * What people read comes after what members wait for: a status costs the API server more than two
 * bindings do. One at a time, once it has waited long enough.
 */
static int most_now(const struct writer *w, enum lane_id id)
{
    const struct lane *lane = &w->lanes[id];
    if (id < LANE_STATUS || !writer_urgent(w)) /* a newer status may replace one that waits */
        return id == LANE_STATUS && lane->queue.n >= STATUS_BACKLOG ? 1 : lane->most;
    return patient_until(lane) <= usec_now() ? 1 : 0;
}

void lanes_arm_patience(struct writer *w)
{
    usec_t now = usec_now(), due = USEC_NEVER;
    for (enum lane_id id = LANE_STATUS; id < LANE_MAX; id++) {
        if (w->lanes[id].queue.n == 0 || w->lanes[id].n_in_flight != w->lanes[id].paused)
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

/* ---- writes in flight ---- */

/* The request leaves its lane. */
static struct in_flight_write *in_flight_new(struct writer *w, enum lane_id id,
                                             struct write_request *o, const char *key)
{
    struct lane *lane = &w->lanes[id];
    write_request_unlist(w, o);
    fair_queue_serve(&lane->queue, &o->waits);
    lane->n_in_flight++;
    struct in_flight_write *f = xcalloc(1, sizeof *f);
    f->writer = w;
    f->request = o;
    f->lane = id;
    list_push(&w->in_flight, &f->link);
    if (key)
        map_set(&w->in_flight_keys, key, f);
    return f;
}

struct in_flight_write *in_flight_next(struct writer *w, enum lane_id id)
{
    const struct lane *lane = &w->lanes[id];
    if (lane->queue.n == 0 || lane->n_in_flight >= lane->most ||
        lane->n_in_flight - lane->paused >= most_now(w, id))
        return NULL;
    cleanup_free char *key = NULL;
    struct write_request *o = next_request(w, id, &key);
    return o && may_send(w, id, o) ? in_flight_new(w, id, o, key) : NULL;
}

void in_flight_send(struct in_flight_write *f, const struct client_request *request,
                    void (*done)(struct in_flight_write *f, const struct client_reply *reply))
{
    struct client_request r = *request;
    r.done = f->replied;
    r.arg = f;
    f->done = done;
    f->call = client_send(f->writer->o.client, &r);
}

bool in_flight_retry(struct in_flight_write *f, int most, usec_t first)
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

static void in_flight_free(struct in_flight_write *f)
{
    client_timer_clear(f->writer->o.client, &f->retry);
    list_remove(&f->link);
    write_request_free(f->request);
    json_decref(f->sent);
    free(f->event_name);
    free(f);
}

void in_flight_end(struct in_flight_write *f)
{
    struct writer *w = f->writer;
    struct lane *lane = &w->lanes[f->lane];
    if (is_urgent(f->lane))
        w->calm_at = usec_now() + BURST_GAP;
    cleanup_free char *key = in_flight_key(f->request);
    if (key)
        map_remove(&w->in_flight_keys, key);
    lane->n_in_flight--;
    lane_show(w, lane);
    in_flight_free(f);
    w->pump_due = true;
}

/* ---- life ---- */

void in_flight_init(struct writer *w, void (*again)(void *writer))
{
    list_init(&w->in_flight);
    w->patience = (struct client_timer){.fire = again, .arg = w};
    bucket_init(w, &w->events, EVENTS_PER_SECOND, EVENTS_BURST, again);
    bucket_init(w, &w->conditions, CONDITIONS_PER_SECOND, CONDITIONS_BURST, again);
    bucket_init(w, &w->pod_events, NOTICES_PER_SECOND, NOTICES_BURST, again);
    bucket_init(w, &w->words, WORDS_PER_SECOND, WORDS_BURST, again);
}

void in_flight_done(struct writer *w)
{
    list_for_each_safe (f, &w->in_flight, struct in_flight_write, link) {
        if (f->call)
            client_cancel(w->o.client, f->call);
        in_flight_free(f);
    }
    client_timer_clear(w->o.client, &w->events.timer);
    client_timer_clear(w->o.client, &w->pod_events.timer);
    client_timer_clear(w->o.client, &w->words.timer);
    client_timer_clear(w->o.client, &w->conditions.timer);
    client_timer_clear(w->o.client, &w->patience);
    map_done(&w->in_flight_keys);
}
