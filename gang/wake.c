/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake.c - nominations, and pods that sleep.
 *
 * A pod that filter rejected sleeps until some cluster event, and neither a plan nor the end of a
 * reservation is one: a write to the pod is.
 */
#include "gang/core.h"

/* Pods kept out by reservations are woken so many at a time. */
#define WAKES_PER_STEP 64
#define WAKE_PAUSE     (20 * USEC_PER_MSEC)
/* By then a pod that was woken is bound, or was asked about. */
#define WAKE_AGAIN (5 * USEC_PER_SEC)

static int sent_here(const struct gang_core *core, const struct node *node)
{
    return node->woken == core->wake_round ? node->n_woken : 0;
}

/* A node that takes the pod beside those that were sent there for the same news. */
static struct node *starved_node(struct gang_core *core, const struct pod *pod)
{
    struct node *best = NULL;
    bool heed = pod_heeds(core, pod);
    struct rules rules = rules_for(core, pod->shape);
    for (size_t i = 0; i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (node && node_takes(node, pod->shape, sent_here(core, node), heed) &&
            !shape_refusal(pod->shape, node) && node_misfit(node, pod->shape, heed) != -2 &&
            rules_refusal(&rules, node) == RULE_NONE &&
            (!best || node_better(pod->shape, node, best)))
            best = node;
    }
    return best;
}

void nominate(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (str_eq(pod->nominated, node ? node->name : NULL) && !pod->rejected)
        return;
    if (!node && !pod->nominated)
        return;
    fx_pod(core, GANG_NOMINATE, pod, node);
    free(pod->nominated);
    pod->nominated = node ? xstrdup(node->name) : NULL;
    if (node) {
        core->stats.wakes++;
        pod->rejected = false;
    }
}

void clear_nominations(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->node && !pod->slot)
            nominate(core, pod, NULL);
}

void starve(struct gang_core *core, struct pod *pod)
{
    if (list_empty(&pod->in_starved))
        list_push(&core->starved, &pod->in_starved);
    core->starved_tried = 0;
}

/*
 * A pod that was woken, and that the scheduler neither binds nor asks about, is refused by its own
 * plugins: such a pod sleeps on, and as long as it is nominated no pod of its priority or less gets
 * that room. Its share is another's then, and so is that of those that came and were refused.
 */
void wake_timer_fired(struct gang_core *core)
{
    if (!core->wake_look || core->wake_look > core->now)
        return; /* the rest of a round */
    core->wake_look = 0;
    core->wake_again = true;
    list_for_each_safe (pod, &core->woken, struct pod, in_woken) {
        if (pod->woken_at + WAKE_AGAIN > core->now)
            break;
        list_remove(&pod->in_woken);
        if (!pod->node)
            nominate(core, pod, NULL);
    }
}

/* The next look at those that were woken, unless one is due already. */
static void arm_wake(struct gang_core *core)
{
    if (!core->wake_look && !list_empty(&core->woken))
        core->wake_look =
            CONTAINER_OF(core->woken.next, struct pod, in_woken)->woken_at + WAKE_AGAIN;
    if (core->wake_look && !core->wake.node.pos)
        timer_set(core, &core->wake, core->wake_look > core->now ? core->wake_look : core->now);
}

/* The same news, or the next. */
static bool round_begins(struct gang_core *core)
{
    if (core->starved_tried == core->freed && !core->wake_again)
        return false;
    if (core->round_freed != core->freed || core->wake_again)
        core->wake_round++;
    core->round_freed = core->starved_tried = core->freed;
    core->wake_again = false;
    return true;
}

/*
 * A reservation that ends is no event for the scheduler: pods it kept out are woken, as many as
 * there is room for, a bounded number at a time. Pods of a shape that found no node are not
 * looked at again in the same pass.
 */
void wake_starved(struct gang_core *core)
{
    arm_wake(core);
    if (list_empty(&core->starved) || !round_begins(core))
        return;
    int left = WAKES_PER_STEP;
    list_for_each_safe (pod, &core->starved, struct pod, in_starved) {
        if (pod->node || pod_is_finished(pod) || pod->facts->deleting) {
            list_remove(&pod->in_starved);
            continue;
        }
        if (pod->shape->starved_full == core->wake_round || pod->woken == core->wake_round ||
            pod_at_maximum(core, pod))
            continue; /* woken for this news already, and refused all the same */
        struct node *node = starved_node(core, pod);
        if (!node) {
            pod->shape->starved_full = core->wake_round;
            continue;
        }
        node->n_woken = sent_here(core, node) + 1;
        node->woken = pod->woken = core->wake_round;
        list_remove(&pod->in_starved);
        list_remove(&pod->in_woken);
        list_push(&core->woken, &pod->in_woken);
        pod->woken_at = core->now;
        nominate(core, pod, node);
        if (!core->wake_look)
            core->wake_look = core->now + WAKE_AGAIN;
        if (--left == 0) { /* the rest in a step of its own */
            core->starved_tried = 0;
            timer_set(core, &core->wake, core->now + WAKE_PAUSE);
            return;
        }
    }
    arm_wake(core);
}
