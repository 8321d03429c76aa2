/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/verb/preempt_choice.h"

#include "gang/cluster/compare.h"
#include "gang/cluster/queue_usage.h"
#include "gang/plan/taker.h"

bool victims_in_gangs_or_queues(const struct gang_core *core, const struct gang_event *ev,
                                const uint32_t *kept, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gang_victims *victims = &ev->victims[kept[i]];
        for (size_t k = 0; k < victims->n; k++) {
            const struct pod *pod = pod_by_uid(core, victims->uids[k]);
            if (pod && (pod->gang || queue_of_pod(core, pod) != core->queues.none))
                return true;
        }
    }
    return false;
}

/* What kube-scheduler compares, in this order. */
struct loss {
    int64_t violations; /* of PodDisruptionBudgets */
    int32_t highest;    /* the highest priority of a victim */
    int64_t priorities; /* their sum, each counted from the lowest priority on */
    size_t victims;
    usec_t start; /* when the first victim of the highest priority started */
};

static struct loss loss_of(const struct gang_core *core, const struct gang_victims *victims)
{
    struct loss loss = {.violations = victims->violations,
                        .highest = INT32_MIN,
                        .victims = victims->n,
                        .start = USEC_NEVER};
    for (size_t i = 0; i < victims->n; i++) {
        const struct pod *pod = pod_by_uid(core, victims->uids[i]);
        int32_t priority = pod ? pod->facts->priority : INT32_MAX;
        usec_t start = pod ? pod_start(pod) : 0;
        loss.priorities += (int64_t)priority - INT32_MIN;
        if (priority > loss.highest || (priority == loss.highest && start < loss.start))
            loss.start = start;
        if (priority > loss.highest)
            loss.highest = priority;
    }
    return loss;
}

static bool is_better(const struct loss *a, const struct loss *b)
{
    int order = compare(a->violations, b->violations);
    if (!order)
        order = compare(a->highest, b->highest);
    if (!order)
        order = compare(a->priorities, b->priorities);
    if (!order)
        order = compare((int64_t)a->victims, (int64_t)b->victims);
    if (!order)
        order = compare(b->start, a->start);
    return order < 0;
}

uint32_t choose_candidate(const struct gang_core *core, const struct gang_event *ev,
                          const uint32_t *kept, size_t n)
{
    uint32_t best = kept[0];
    struct loss least = loss_of(core, &ev->victims[best]);
    for (size_t i = 1; i < n; i++) {
        struct loss loss = loss_of(core, &ev->victims[kept[i]]);
        if (is_better(&loss, &least)) {
            least = loss;
            best = kept[i];
        }
    }
    return best;
}
