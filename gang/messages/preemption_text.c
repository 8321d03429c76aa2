/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/messages/preemption_text.h"

#include <inttypes.h>

#include "gang/cluster/lookup.h"
#include "gang/messages/status_and_events.h"
#include "gang/plan/victims.h"

/* How many victims a message names at most. */
#define VICTIMS_SHOWN 5

char *reason_evicting(const struct gang *gang)
{
    return xasprintf("gang %s/%s: muster keeps room for it; it starts when the pods that use this "
                     "room have ended",
                     gang->head->ref.ns, gang->head->ref.name);
}

static void put_victim(struct buf *b, const struct victim *v)
{
    if (v->pod)
        buf_printf(b, "pod %s/%s", v->pod->facts->ns, v->pod->facts->name);
    else
        buf_printf(b, "gang %s/%s", v->gang->head->ref.ns, v->gang->head->ref.name);
}

/* Such as "gang ml/b, pod ml/x and 3 more". */
static void put_victims(struct buf *b, const struct preemption *p)
{
    for (size_t i = 0; i < p->n && i < VICTIMS_SHOWN; i++) {
        buf_puts(b, i ? ", " : "");
        put_victim(b, &p->victims[i]);
    }
    if (p->n > VICTIMS_SHOWN)
        buf_printf(b, " and %zu more", p->n - VICTIMS_SHOWN);
}

static void emit_gang(struct gang_core *core, const struct gang *gang, const char *why)
{
    emit_event(core, gang, KUBE_EVENT_PREEMPTED, why);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_runs(pod))
            warn_pod(core, pod, KUBE_EVENT_POD_PREEMPTED, why);
}

static void emit_victim(struct gang_core *core, const struct victim *v, const char *why)
{
    if (v->pod)
        warn_pod(core, v->pod, KUBE_EVENT_POD_PREEMPTED, why);
    else
        emit_gang(core, v->gang, why);
}

#define ENDS_JOB " fails, because it loses more pods than its backoffLimit allows"

static const char *what_happens(const struct gang *gang)
{
    return gang && gang_suspends(gang) ? "suspended" : "evicted";
}

/* The gang that is evicted as a whole; NULL: only the pod is. */
static const struct gang *whole_gang(const struct victim *v)
{
    return v->pod ? NULL : v->gang;
}

static char *preempted_for_gang(const struct gang *gang, const struct victim *v)
{
    bool inside = v->gang && strcmp(v->gang->head->ref.ns, gang->head->ref.ns) == 0;
    return xasprintf("%s to make room for gang %s/%s, which has a higher priority (%" PRId32
                     ", this one has %" PRId32 ")",
                     what_happens(whole_gang(v)), gang->head->ref.ns, gang->head->ref.name,
                     inside ? gang->own_priority : gang->priority, v->priority);
}

static char *reclaimed_for_gang(const struct gang *gang, const struct victim *v)
{
    return xasprintf("%s to make room for gang %s/%s: queue %s deserves the room, and queue %s "
                     "uses more than it deserves",
                     what_happens(whole_gang(v)), gang->head->ref.ns, gang->head->ref.name,
                     gang->queue->ref.name, v->take.branch->ref.name);
}

static char *evicted_for_gang(const struct gang *gang, const struct victim *v)
{
    return v->take.branch ? reclaimed_for_gang(gang, v) : preempted_for_gang(gang, v);
}

/* One event for each gang that loses members which it does not need. */
static void emit_surplus(struct gang_core *core, const struct gang *gang,
                         const struct preemption *preemption)
{
    struct map counts = {0};
    for (size_t i = 0; i < preemption->n; i++) {
        const struct victim *v = &preemption->victims[i];
        if (v->pod && v->gang)
            map_set(&counts, v->gang->head->key,
                    (void *)((uintptr_t)map_get(&counts, v->gang->head->key) + 1));
    }
    for (size_t i = 0; map_count(&counts) && i < preemption->n; i++) {
        const struct victim *v = &preemption->victims[i];
        uintptr_t n = v->pod && v->gang ? (uintptr_t)map_remove(&counts, v->gang->head->key) : 0;
        if (!n)
            continue;
        cleanup_free char *why = evicted_for_gang(gang, v);
        cleanup_free char *text =
            xasprintf("%ju member%s that the gang does not need %s %s", (uintmax_t)n,
                      n == 1 ? "" : "s", n == 1 ? "is" : "are", why);
        emit_event(core, v->gang, KUBE_EVENT_PREEMPTED, text);
    }
    map_done(&counts);
}

void emit_preemption(struct gang_core *core, const struct gang *gang,
                     const struct preemption *preemption)
{
    for (size_t i = 0; i < preemption->n; i++) {
        const struct victim *v = &preemption->victims[i];
        cleanup_free char *why = evicted_for_gang(gang, v);
        cleanup_free char *both = xasprintf("%s%s", why, v->ends_job ? "; its Job" ENDS_JOB : "");
        emit_victim(core, v, both);
    }
    emit_surplus(core, gang, preemption);
    struct buf b = BUF_INIT;
    buf_puts(&b, "to make room for this gang, muster evicts ");
    put_victims(&b, preemption);
    buf_printf(&b,
               " (highest priority: %" PRId32 ", gangs and pods hit: %d, lost work: %" PRId64
               " device-seconds, run time: %" PRId64 " pod-seconds%s)",
               preemption->cost.priority, preemption->cost.gangs, preemption->cost.lost,
               preemption->cost.ran, preemption->cost.ends_job ? "; a Job" ENDS_JOB : "");
    emit_event(core, gang, KUBE_EVENT_PREEMPTS, buf_str(&b));
    buf_done(&b);
}

void emit_broken(struct gang_core *core, const struct gang *gang, const char *why)
{
    cleanup_free char *text = xasprintf("%s %s", what_happens(gang), why);
    emit_gang(core, gang, text);
}
