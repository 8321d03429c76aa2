/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/sim_clock.h"

#include "k8s/encoding/kube_field.h"

struct task *sim_clock_at(struct sim_clock *c, usec_t at, sim_task_fn *run, void *owner)
{
    struct task *t = xcalloc(1, sizeof *t);
    t->run = run;
    t->owner = owner;
    heap_set(&c->tasks, &t->node, at);
    return t;
}

struct task *sim_clock_due(struct sim_clock *c, usec_t until)
{
    struct heap_node *n = heap_top(&c->tasks);
    if (!n || n->at > until)
        return NULL;
    heap_remove(&c->tasks, n);
    return CONTAINER_OF(n, struct task, node);
}

void sim_task_free(struct task *t)
{
    free(t->uid);
    free(t->ns);
    free(t->name);
    free(t->to);
    json_decref(t->json);
    free(t);
}

usec_t sim_clock_next(const struct sim_clock *c)
{
    const struct heap_node *n = heap_top(&c->tasks);
    return n ? n->at : USEC_NEVER;
}

const char *sim_clock_timestamp(const struct sim_clock *c, char buf[32])
{
    return time_format(c->wall + (c->now - c->origin), buf);
}

void sim_clock_done(struct sim_clock *c)
{
    for (struct task *t; (t = sim_clock_due(c, USEC_NEVER)) != NULL;)
        sim_task_free(t);
    heap_done(&c->tasks);
}
