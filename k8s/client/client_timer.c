/* SPDX-License-Identifier: Apache-2.0 */
/* Timers of the loop, and pauses before retries. */
#include "k8s/client/client_internal.h"

void client_timer_set(struct client *c, struct client_timer *t, usec_t at)
{
    heap_set(&c->timers, &t->node, at);
}

void client_timer_clear(struct client *c, struct client_timer *t)
{
    heap_remove(&c->timers, &t->node);
}

void client_timers_fire(struct client *c)
{
    usec_t now = usec_now();
    struct heap_node *n;
    while ((n = heap_top(&c->timers)) && n->at <= now) {
        struct client_timer *t = CONTAINER_OF(n, struct client_timer, node);
        heap_remove(&c->timers, n);
        t->fire(t->arg);
    }
}

/* xorshift64*. It spreads retries and makes names unique; nothing secret depends on it. */
uint32_t client_random(struct client *c)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (uint32_t)((c->random * 0x2545f4914f6cdd1dULL) >> 32);
}

usec_t client_backoff(struct client *c, int n, usec_t first, usec_t most)
{
    usec_t d = usec_backoff(first, most, n);
    return d / 2 + (usec_t)(client_random(c) % (uint64_t)(d / 2 + 1));
}
