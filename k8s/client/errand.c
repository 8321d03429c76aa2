/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/errand.h"

#define MOST_AT_ONCE 8

struct errands {
    struct client *client;
    struct api_metrics *metrics;
    bool (*urgent)(void *arg);
    void *arg;
    struct fair queues[ERRAND_RANKS];
    size_t waiting;
    int flying;
    struct client_timer pump; /* sends what may be sent, outside of whatever is going on */
};

static struct errand *next_errand(struct errands *all)
{
    for (size_t i = 0; i < ERRAND_RANKS; i++)
        if (all->queues[i].n > 0)
            return CONTAINER_OF(fair_first(&all->queues[i]), struct errand, waits);
    return NULL;
}

static void show_length(struct errands *all)
{
    api_metrics_queue(all->metrics, "podgroups", all->waiting + (size_t)all->flying);
}

static void on_pump(void *arg)
{
    struct errands *all = arg;
    struct errand *e;
    while (all->flying < (all->urgent(all->arg) ? 1 : MOST_AT_ONCE) && (e = next_errand(all))) {
        fair_serve(&all->queues[e->rank], &e->waits);
        all->waiting--;
        e->state = ERRAND_FLIES;
        all->flying++;
        e->send(e);
    }
    show_length(all);
}

static void pump_soon(struct errands *all)
{
    client_timer_set(all->client, &all->pump, usec_now());
}

struct errands *errands_new(struct client *client, struct api_metrics *metrics,
                            bool (*urgent)(void *arg), void *arg)
{
    struct errands *all = xcalloc(1, sizeof *all);
    *all = (struct errands){.client = client, .metrics = metrics, .urgent = urgent, .arg = arg};
    all->pump = (struct client_timer){.fire = on_pump, .arg = all};
    for (size_t i = 0; i < ERRAND_RANKS; i++)
        fair_init(&all->queues[i], /* turn= */ 1);
    return all;
}

struct errands *errands_free(struct errands *all)
{
    if (!all)
        return NULL;
    client_timer_clear(all->client, &all->pump);
    for (size_t i = 0; i < ERRAND_RANKS; i++)
        fair_done(&all->queues[i]);
    free(all);
    return NULL;
}

static void on_pause_end(void *arg)
{
    errand_put(arg);
}

void errand_init(struct errand *e, struct errands *all, enum errand_rank rank, const char *ns,
                 void (*send)(struct errand *e),
                 void (*done)(struct errand *e, const struct client_reply *reply))
{
    *e = (struct errand){.all = all, .rank = rank, .ns = ns, .send = send, .done = done};
    e->timer = (struct client_timer){.fire = on_pause_end, .arg = e};
}

void errand_put(struct errand *e)
{
    if (e->state == ERRAND_WAITS || e->state == ERRAND_FLIES)
        return;
    client_timer_clear(e->all->client, &e->timer);
    e->state = ERRAND_WAITS;
    fair_push(&e->all->queues[e->rank], e->ns, &e->waits);
    e->all->waiting++;
    pump_soon(e->all);
}

void errand_again(struct errand *e, usec_t first, usec_t most)
{
    struct client *c = e->all->client;
    e->state = ERRAND_PAUSES;
    client_timer_set(c, &e->timer, usec_now() + client_backoff(c, e->tries++, first, most));
}

static void on_reply(void *arg, const struct client_reply *reply)
{
    struct errand *e = arg;
    struct errands *all = e->all;
    e->call = NULL;
    e->state = ERRAND_IDLE;
    all->flying--;
    if (client_ok(reply))
        e->tries = 0;
    e->done(e, reply);
    pump_soon(all);
}

void errand_send(struct errand *e, const struct client_request *request)
{
    struct client_request r = *request;
    r.done = on_reply;
    r.arg = e;
    e->call = client_send(e->all->client, &r);
}

void errand_skip(struct errand *e)
{
    e->state = ERRAND_IDLE;
    e->all->flying--;
}

void errand_drop(struct errand *e)
{
    if (e->state == ERRAND_WAITS) {
        fair_remove(&e->all->queues[e->rank], &e->waits);
        e->all->waiting--;
    }
    if (e->state == ERRAND_FLIES) {
        client_cancel(e->all->client, STEAL(e->call));
        e->all->flying--;
        pump_soon(e->all);
    }
    client_timer_clear(e->all->client, &e->timer);
    e->state = ERRAND_IDLE;
}
