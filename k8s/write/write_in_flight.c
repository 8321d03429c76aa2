/* SPDX-License-Identifier: Apache-2.0 */
/* Which request of a lane is sent next; writes in flight. */
#include "k8s/write/write_internal.h"

/* What people read waits so long for what members wait for; then it has a small share. */
#define PATIENCE USEC_PER_SEC
/* Between the gangs of a burst there is nothing to write for a moment. */
#define BURST_GAP (50 * USEC_PER_MSEC)

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
    if (lane_is_urgent(f->lane))
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
    rates_init(w, again);
}

void in_flight_done(struct writer *w)
{
    list_for_each_safe (f, &w->in_flight, struct in_flight_write, link) {
        if (f->call)
            client_cancel(w->o.client, f->call);
        in_flight_free(f);
    }
    rates_done(w);
    client_timer_clear(w->o.client, &w->patience);
    map_done(&w->in_flight_keys);
}
