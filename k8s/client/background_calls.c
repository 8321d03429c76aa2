/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/background_calls.h"

#define MOST_AT_ONCE 8

struct background_calls {
    struct client *client;
    struct api_metrics *metrics;
    bool (*urgent)(void *arg);
    void *arg;
    struct fair_queue queues[BACKGROUND_CALL_RANKS];
    size_t waiting;
    int n_in_flight;
    struct client_timer pump; /* sends calls from client_run(), never from within a callback */
};

static struct background_call *next_call(struct background_calls *all)
{
    for (size_t i = 0; i < BACKGROUND_CALL_RANKS; i++)
        if (all->queues[i].n > 0)
            return CONTAINER_OF(fair_queue_first(&all->queues[i]), struct background_call, waits);
    return NULL;
}

static void show_length(struct background_calls *all)
{
    api_metrics_queue(all->metrics, "podgroups", all->waiting + (size_t)all->n_in_flight);
}

static void on_pump(void *arg)
{
    struct background_calls *all = arg;
    struct background_call *e;
    while (all->n_in_flight < (all->urgent(all->arg) ? 1 : MOST_AT_ONCE) && (e = next_call(all))) {
        fair_queue_serve(&all->queues[e->rank], &e->waits);
        all->waiting--;
        e->state = BACKGROUND_CALL_IN_FLIGHT;
        all->n_in_flight++;
        e->send(e);
    }
    show_length(all);
}

static void pump_soon(struct background_calls *all)
{
    client_timer_set(all->client, &all->pump, usec_now());
}

struct background_calls *background_calls_new(struct client *client, struct api_metrics *metrics,
                                              bool (*urgent)(void *arg), void *arg)
{
    struct background_calls *all = xcalloc(1, sizeof *all);
    *all = (struct background_calls){
        .client = client, .metrics = metrics, .urgent = urgent, .arg = arg};
    all->pump = (struct client_timer){.fire = on_pump, .arg = all};
    for (size_t i = 0; i < BACKGROUND_CALL_RANKS; i++)
        fair_queue_init(&all->queues[i], /* turn= */ 1);
    return all;
}

struct background_calls *background_calls_free(struct background_calls *all)
{
    if (!all)
        return NULL;
    client_timer_clear(all->client, &all->pump);
    for (size_t i = 0; i < BACKGROUND_CALL_RANKS; i++)
        fair_queue_done(&all->queues[i]);
    free(all);
    return NULL;
}

static void on_pause_end(void *arg)
{
    background_call_enqueue(arg);
}

void background_call_init(struct background_call *e, struct background_calls *all,
                          enum background_call_rank rank, const char *ns,
                          void (*send)(struct background_call *e),
                          void (*done)(struct background_call *e, const struct client_reply *reply))
{
    *e = (struct background_call){.all = all, .rank = rank, .ns = ns, .send = send, .done = done};
    e->timer = (struct client_timer){.fire = on_pause_end, .arg = e};
}

void background_call_enqueue(struct background_call *e)
{
    if (e->state == BACKGROUND_CALL_QUEUED || e->state == BACKGROUND_CALL_IN_FLIGHT)
        return;
    client_timer_clear(e->all->client, &e->timer);
    e->state = BACKGROUND_CALL_QUEUED;
    fair_queue_push(&e->all->queues[e->rank], e->ns, &e->waits);
    e->all->waiting++;
    pump_soon(e->all);
}

void background_call_retry(struct background_call *e, usec_t first, usec_t most)
{
    struct client *c = e->all->client;
    e->state = BACKGROUND_CALL_PAUSED;
    client_timer_set(c, &e->timer, usec_now() + client_backoff(c, e->tries++, first, most));
}

static void on_reply(void *arg, const struct client_reply *reply)
{
    struct background_call *e = arg;
    struct background_calls *all = e->all;
    e->call = NULL;
    e->state = BACKGROUND_CALL_IDLE;
    all->n_in_flight--;
    if (client_ok(reply))
        e->tries = 0;
    e->done(e, reply);
    pump_soon(all);
}

void background_call_send(struct background_call *e, const struct client_request *request)
{
    struct client_request r = *request;
    r.done = on_reply;
    r.arg = e;
    e->call = client_send(e->all->client, &r);
}

void background_call_skip(struct background_call *e)
{
    e->state = BACKGROUND_CALL_IDLE;
    e->all->n_in_flight--;
}

void background_call_drop(struct background_call *e)
{
    if (e->state == BACKGROUND_CALL_QUEUED) {
        fair_queue_remove(&e->all->queues[e->rank], &e->waits);
        e->all->waiting--;
    }
    if (e->state == BACKGROUND_CALL_IN_FLIGHT) {
        client_cancel(e->all->client, STEAL(e->call));
        e->all->n_in_flight--;
        pump_soon(e->all);
    }
    client_timer_clear(e->all->client, &e->timer);
    e->state = BACKGROUND_CALL_IDLE;
}
