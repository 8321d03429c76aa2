/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/infeasible_nodes.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/objects.h"
#include "gang/cluster/pod_signature.h"
#include "gang/cluster/timers.h"

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

bool evidence_speaks(const struct gang_core *core, const struct gang *gang,
                     const struct shape *shape)
{
    const struct evidence *e = evidence_of(gang, shape);
    return e && core->now < e->until;
}

bool evidence_refuses(const struct gang_core *core, const struct gang *gang,
                      const struct shape *shape, const struct node *node)
{
    const struct evidence *e = evidence_of(gang, shape);
    if (!e || core->now >= e->until || node->marks.changed > e->as_of)
        return false;
    return node->id >= e->n_offered || !(e->offered[node->id / 64] >> node->id % 64 & 1);
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

static uint64_t *no_nodes(const struct gang_core *core)
{
    return xcalloc(core->n_ids / 64 + 1, sizeof(uint64_t));
}

static void add_node(uint64_t *nodes, const struct node *node)
{
    nodes[node->id / 64] |= UINT64_C(1) << node->id % 64;
}

/* Believed from now on, each time for longer; `offered` is taken. */
static void believe(struct gang_core *core, struct gang *gang, struct shape *shape,
                    uint64_t *offered)
{
    struct evidence *e = evidence_get(gang, shape);
    free(e->offered);
    e->offered = offered;
    e->n_offered = core->n_ids;
    e->as_of = core->marks.clock;
    e->until = core->now + usec_backoff(EVIDENCE_FIRST, EVIDENCE_LAST, e->strikes++);
    evidence_arm(core, gang);
}

void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n, const struct node *refused)
{
    uint64_t *offered = no_nodes(core);
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        if (node && node != refused && node_just_freed(core, node))
            add_node(offered, node);
    }
    for (size_t i = 0; i < n; i++) {
        const struct node *node = node_by_name(core, names[i]);
        if (node)
            add_node(offered, node);
    }
    believe(core, gang, shape, offered);
}

void evidence_add_node(struct gang_core *core, struct gang *gang, struct shape *shape,
                       const struct node *node)
{
    uint64_t *offered = no_nodes(core);
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *other = core->by_id[i];
        if (other && other != node && !evidence_refuses(core, gang, shape, other))
            add_node(offered, other);
    }
    believe(core, gang, shape, offered);
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
