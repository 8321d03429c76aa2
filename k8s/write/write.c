/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/write/write_internal.h"

#define SERIES_TURN 1

/* ---- sending ---- */

static void send(struct in_flight_write *f)
{
    static void (*const senders[GANG_EFFECT_MAX])(struct in_flight_write * f) = {
        [GANG_BIND] = bind_send,
        [GANG_READ_POD] = read_send,
        [GANG_NOMINATE] = nominate_send,
        [GANG_UNGATE] = ungate_send,
        [GANG_MARK_VICTIM] = mark_send,
        [GANG_EVICT] = evict_send,
        [GANG_SUSPEND] = suspend_send,
        [GANG_RESUME] = suspend_send,
        [GANG_STATUS] = status_send,
        [GANG_EVENT] = event_send,
        [GANG_PATCH_CONDITION] = condition_send,
        [GANG_QUEUE_STATUS] = queue_status_send,
    };
    senders[f->request->kind](f);
}

/* Sends other requests when a write in flight has ended or pauses. */
static void pump_if_due(struct writer *w)
{
    if (w->pump_due)
        writer_pump(w);
}

static void on_reply(void *arg, const struct client_reply *reply)
{
    struct in_flight_write *f = arg;
    struct writer *w = f->writer;
    f->call = NULL;
    f->done(f, reply);
    pump_if_due(w);
}

static void on_retry(void *arg)
{
    struct in_flight_write *f = arg;
    struct writer *w = f->writer;
    w->lanes[f->lane].paused--;
    send(f);
    pump_if_due(w);
}

static void pump_lanes(struct writer *w)
{
    struct in_flight_write *f;
    for (enum lane_id id = 0; id < LANE_MAX; id++)
        while ((f = in_flight_next(w, id))) {
            f->replied = on_reply;
            f->retry = (struct client_timer){.fire = on_retry, .arg = f};
            send(f);
        }
}

/* A write in flight may end at once, because there is nothing to write. The loop in pump_lanes()
 * then continues with the next request. */
void writer_pump(struct writer *w)
{
    pump_lanes(w);
    lanes_arm_patience(w);
    w->pump_due = false;
}

/* ---- life ---- */

static void on_timer(void *arg)
{
    writer_pump(arg);
}

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *w = xcalloc(1, sizeof *w);
    w->o = *options;
    lanes_init(w);
    in_flight_init(w, on_timer);
    fair_queue_init(&w->kept, SERIES_TURN);
    return w;
}

struct writer *writer_free(struct writer *w)
{
    if (!w)
        return NULL;
    in_flight_done(w);
    lanes_done(w);
    map_for_each (e, &w->series)
        series_free(w, e->value);
    map_done(&w->series);
    fair_queue_done(&w->kept);
    free(w);
    return NULL;
}
