/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence.c - nodes that the scheduler refuses, by what it offers.
 *
 * A whole list of offered nodes says that kube-scheduler refuses all others for pods of that
 * shape. It is believed for a while, longer each time, except about nodes that have changed since.
 */
#include "gang/core.h"

/* How long the scheduler's refusal of nodes is believed at first, and at the most. */
#define EVIDENCE_FIRST (2 * USEC_PER_SEC)
#define EVIDENCE_LAST  (60 * USEC_PER_SEC)

static struct evidence *evidence_of(const struct gang *gang, const struct shape *shape)
{
    for (size_t i = 0; i < gang->n_evidence; i++)
        if (gang->evidence[i].shape == shape)
            return &gang->evidence[i];
    return NULL;
}

bool evidence_refuses(const struct gang_core *core, const struct gang *gang,
                      const struct shape *shape, const struct node *node)
{
    const struct evidence *e = evidence_of(gang, shape);
    if (!e || core->now >= e->until || node->changed > e->as_of)
        return false;
    for (size_t i = 0; i < e->n_offered; i++)
        if (e->offered[i] == node->id)
            return false;
    return true;
}

static struct evidence *evidence_get(struct gang *gang, struct shape *shape)
{
    struct evidence *e = evidence_of(gang, shape);
    if (e)
        return e;
    gang->evidence = xreallocarray(gang->evidence, gang->n_evidence + 1, sizeof *gang->evidence);
    e = &gang->evidence[gang->n_evidence++];
    *e = (struct evidence){.shape = shape_ref(shape)};
    return e;
}

/* Believed from now on, each time for longer; `offered` is taken. */
static void believe(struct gang_core *core, struct gang *gang, struct shape *shape,
                    uint32_t *offered, size_t n)
{
    struct evidence *e = evidence_get(gang, shape);
    free(e->offered);
    e->offered = offered;
    e->n_offered = n;
    e->as_of = core->clock;
    e->until = core->now + usec_backoff(EVIDENCE_FIRST, EVIDENCE_LAST, e->strikes++);
    evidence_arm(core, gang);
}

void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n)
{
    uint32_t *offered = xcalloc(n + 1, sizeof *offered);
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = node_by_name(core, names[i]);
        if (node)
            offered[known++] = node->id;
    }
    believe(core, gang, shape, offered, known);
}

void evidence_add_node(struct gang_core *core, struct gang *gang, struct shape *shape,
                       const struct node *node)
{
    uint32_t *offered = xcalloc(core->n_ids + 1, sizeof *offered);
    size_t n = 0;
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *other = core->by_id[i];
        if (other && other != node && !evidence_refuses(core, gang, shape, other))
            offered[n++] = other->id;
    }
    believe(core, gang, shape, offered, n);
}

void evidence_arm(struct gang_core *core, struct gang *gang)
{
    usec_t first = USEC_NEVER;
    for (size_t i = 0; i < gang->n_evidence; i++)
        if (gang->evidence[i].until > core->now && gang->evidence[i].until < first)
            first = gang->evidence[i].until;
    if (first != USEC_NEVER)
        timer_set(core, &gang->timers[TIMER_EVIDENCE], first);
}

void evidence_forget(struct gang_core *core, struct gang *gang)
{
    for (size_t i = 0; i < gang->n_evidence; i++) {
        shape_unref(core, gang->evidence[i].shape);
        free(gang->evidence[i].offered);
    }
    free(gang->evidence);
    gang->evidence = NULL;
    gang->n_evidence = 0;
    timer_stop(core, &gang->timers[TIMER_EVIDENCE]);
}
