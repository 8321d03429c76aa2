/* SPDX-License-Identifier: Apache-2.0 */
/* Which request of a lane is sent next, and writes in flight. */
#include "k8s/write/write_internal.h"

/* Statuses, events and conditions give way to urgent writes for this long. Their lanes then send
 * one request at a time. */
#define PATIENCE USEC_PER_SEC
/* Urgent writes count as urgent for this long after the last one, because nothing is written for a
 * moment between the gangs of a burst. */
#define BURST_GAP (50 * USEC_PER_MSEC)

/* ---- the next request ---- */

/* At most one write for each key is in flight. The caller frees the key; NULL: no limit. */
static char *in_flight_key(const struct write_request *o)
{
    switch (o->kind) {
    case GANG_NOMINATE:
    case GANG_UNGATE:
        return xstrdup(o->uid);
    case GANG_STATUS:
        return gang_ref_key(&o->ref);
    case GANG_QUEUE_STATUS: {
        cleanup_free char *key = gang_ref_key(&o->ref);
        return xasprintf("queue %s", key); /* a PodGroup may have the same key */
    }
    case GANG_PATCH_CONDITION:
        return xasprintf("condition %s", o->uid);
    case GANG_SUSPEND:
    case GANG_RESUME:
        return xasprintf("workload %s/%s/%s", o->api_group ? o->api_group : "", o->ns, o->name);
    default:
        return NULL;
    }
}

/* Whether the namespace has reached its limit of writes in flight in the lane. */
static bool has_its_share(const struct writer *w, enum lane_id id, const char *ns)
{
    int n_in_flight = 0;
    if (!w->lanes[id].most_each)
        return false;
    list_for_each (f, &w->in_flight, struct in_flight_write, link)
        n_in_flight += f->lane == id && strcmp(f->request->ns, ns) == 0;
    return n_in_flight >= w->lanes[id].most_each;
}

/* The first request of the lane that is not blocked by a write in flight. *ret_key gets its key. */
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

/* Until when the lane, which is not empty, gives way to urgent writes. */
static usec_t patient_until(const struct lane *lane)
{
    return lane_request(fair_queue_oldest(&lane->queue))->since + PATIENCE;
}

/*
 * How many writes of the lane may be in flight now. Urgent writes come first: a status costs the
 * API server more than two Bindings. A lane that has waited long enough may send one at a time.
 */
static int most_now(const struct writer *w, enum lane_id id)
{
    const struct lane *lane = &w->lanes[id];
    if (id < LANE_STATUS || !writer_urgent(w))
        /* In a backlog, statuses are sent slowly, so that newer ones replace those that wait. */
        return id == LANE_STATUS && lane->queue.n >= STATUS_BACKLOG ? 1
               : lane->at_once                                      ? lane->at_once
                                                                    : lane->most;
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
    if (due != USEC_NEVER)
        client_timer_set(w->o.client, &w->patience, due);
}

/* ---- writes in flight ---- */

/* Moves the request out of its lane. */
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
    f->writer->pump_due = true; /* other writes may be sent during the pause */
    return true;
}

static void in_flight_free(struct in_flight_write *f)
{
    client_timer_clear(f->writer->o.client, &f->retry);
    list_remove(&f->link);
    write_request_free(f->request);
    json_decref(f->sent);
    workload_ref_done(&f->workload);
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
