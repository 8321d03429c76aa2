/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scheduler_queue.h"

/* ---- places ---- */

static struct list *list_of(struct sched_queue *q, enum sched_place place)
{
    switch (place) {
    case SCHED_ACTIVE:
        return &q->active;
    case SCHED_BACKOFF:
        return &q->backoff;
    case SCHED_UNSCHEDULABLE:
        return &q->unschedulable;
    default:
        return &q->resting;
    }
}

void sched_queue_remove(struct sched_queue *q, struct sched_pod *pod)
{
    list_remove(&pod->link);
    heap_remove(&q->wake, &pod->wake);
}

void sched_queue_put(struct sched_queue *q, struct sched_pod *pod, enum sched_place place)
{
    sched_queue_remove(q, pod);
    pod->place = place;
    list_push(list_of(q, place), &pod->link);
}

void sched_queue_put_until(struct sched_queue *q, struct sched_pod *pod, enum sched_place place,
                           usec_t at)
{
    sched_queue_put(q, pod, place);
    heap_set(&q->wake, &pod->wake, at);
}

static bool has_gates(const struct gang_pod_facts *facts)
{
    return facts->gated || facts->n_gates;
}

void sched_queue_add(struct sched_queue *q, struct sched_pod *pod)
{
    pod->stamp = q->clock->now;
    pod->seq = ++q->seq;
    sched_queue_put(q, pod, has_gates(pod->facts) ? SCHED_GATED : SCHED_ACTIVE);
}

static usec_t backoff(int failures)
{
    return usec_backoff(COST_BACKOFF_MIN, COST_BACKOFF_MAX, failures - 1);
}

void sched_queue_rejected(struct sched_queue *q, struct sched_pod *pod, bool by_extender)
{
    pod->stamp = q->clock->now;
    pod->errors = 0;
    pod->rejections++;
    pod->by_extender = by_extender;
    sched_queue_put_until(q, pod, SCHED_UNSCHEDULABLE, q->clock->now + COST_FLUSH);
}

void sched_queue_failed(struct sched_queue *q, struct sched_pod *pod)
{
    pod->stamp = q->clock->now;
    pod->errors++;
    sched_queue_put_until(q, pod, SCHED_ERROR_BACKOFF, q->clock->now + backoff(pod->errors));
}

/* Wakes an unschedulable pod. During its backoff, it is tried only if the active queue is empty. */
static void wake(struct sched_queue *q, struct sched_pod *pod)
{
    bool resting = pod->stamp + backoff(pod->rejections) > q->clock->now;
    sched_queue_put(q, pod, resting ? SCHED_BACKOFF : SCHED_ACTIVE);
}

void sched_queue_update(struct sched_queue *q, struct sched_pod *pod)
{
    if (pod->place == SCHED_GATED && !has_gates(pod->facts))
        sched_queue_add(q, pod);
    else if (pod->place == SCHED_UNSCHEDULABLE && pod->by_extender)
        wake(q, pod);
}

/* Any event wakes a pod that the extender has rejected. Only an event that may have made room wakes
 * a pod that the scheduler's own filters have rejected. */
void sched_queue_event(struct sched_queue *q, bool room)
{
    list_for_each_safe (pod, &q->unschedulable, struct sched_pod, link) {
        if (room || pod->by_extender)
            wake(q, pod);
    }
}

/* ---- the next pod ---- */

static bool comes_before(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->facts->priority != b->facts->priority)
        return a->facts->priority > b->facts->priority;
    return a->stamp != b->stamp ? a->stamp < b->stamp : a->seq < b->seq;
}

static struct sched_pod *first_active(struct sched_queue *q)
{
    struct sched_pod *best = NULL;
    list_for_each (pod, &q->active, struct sched_pod, link) {
        if (!best || comes_before(pod, best))
            best = pod;
    }
    return best;
}

static struct sched_pod *first_backoff(struct sched_queue *q)
{
    struct sched_pod *best = NULL;
    usec_t best_end = 0;
    list_for_each (pod, &q->backoff, struct sched_pod, link) {
        usec_t end = pod->stamp + backoff(pod->rejections);
        if (!best || end < best_end || (end == best_end && comes_before(pod, best))) {
            best = pod;
            best_end = end;
        }
    }
    return best;
}

struct sched_pod *sched_queue_first(struct sched_queue *q)
{
    struct sched_pod *pod = first_active(q);
    return pod ? pod : first_backoff(q);
}

struct sched_pod *sched_queue_due(const struct sched_queue *q)
{
    struct heap_node *n = heap_top(&q->wake);
    return n && n->at <= q->clock->now ? CONTAINER_OF(n, struct sched_pod, wake) : NULL;
}

usec_t sched_queue_next(const struct sched_queue *q, usec_t free_at)
{
    const struct heap_node *n = heap_top(&q->wake);
    usec_t at = n ? n->at : USEC_NEVER;
    bool work = !list_empty(&q->active) || !list_empty(&q->backoff);
    return work && free_at < at ? free_at : at;
}

void sched_queue_init(struct sched_queue *q, const struct sim_clock *clock)
{
    q->clock = clock;
    list_init(&q->active);
    list_init(&q->backoff);
    list_init(&q->unschedulable);
    list_init(&q->resting);
}

void sched_queue_done(struct sched_queue *q)
{
    heap_done(&q->wake);
}
