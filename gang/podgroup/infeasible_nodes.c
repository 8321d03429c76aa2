/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/infeasible_nodes.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/signatures.h"
#include "gang/cluster/timers.h"

/* How long nodes stay infeasible: the first time, and at most. */
#define INFEASIBLE_FIRST (2 * USEC_PER_SEC)
#define INFEASIBLE_MAX   (60 * USEC_PER_SEC)

static struct infeasible_nodes *infeasible_of(const struct gang *gang,
                                              const struct signature *signature)
{
    for (size_t i = 0; i < gang->n_infeasible; i++)
        if (gang->infeasible[i].signature == signature)
            return &gang->infeasible[i];
    return NULL;
}

bool infeasible_nodes_known(const struct gang_core *core, const struct gang *gang,
                            const struct signature *signature)
{
    const struct infeasible_nodes *e = infeasible_of(gang, signature);
    return e && core->now < e->until;
}

bool node_is_infeasible(const struct gang_core *core, const struct gang *gang,
                        const struct signature *signature, const struct node *node)
{
    const struct infeasible_nodes *e = infeasible_of(gang, signature);
    if (!e || core->now >= e->until || node->marks.changed > e->as_of)
        return false;
    return node->id >= e->n_offered || !(e->offered[node->id / 64] >> node->id % 64 & 1);
}

static struct infeasible_nodes *infeasible_get(struct gang *gang, struct signature *signature)
{
    struct infeasible_nodes *e = infeasible_of(gang, signature);
    if (e)
        return e;
    gang->infeasible =
        xreallocarray(gang->infeasible, gang->n_infeasible + 1, sizeof *gang->infeasible);
    e = &gang->infeasible[gang->n_infeasible++];
    *e = (struct infeasible_nodes){.signature = signature_ref(signature)};
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

/* Makes all nodes infeasible that are not in `offered`, each time for longer. Owns `offered` from
 * now on. */
static void set_offered(struct gang_core *core, struct gang *gang, struct signature *signature,
                        uint64_t *offered)
{
    struct infeasible_nodes *e = infeasible_get(gang, signature);
    free(e->offered);
    e->offered = offered;
    e->n_offered = core->n_ids;
    e->as_of = core->marks.clock;
    e->until = core->now + usec_backoff(INFEASIBLE_FIRST, INFEASIBLE_MAX, e->strikes++);
    infeasible_nodes_arm(core, gang);
}

void infeasible_nodes_add(struct gang_core *core, struct gang *gang, struct signature *signature,
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
    set_offered(core, gang, signature, offered);
}

void infeasible_node_add(struct gang_core *core, struct gang *gang, struct signature *signature,
                         const struct node *node)
{
    uint64_t *offered = no_nodes(core);
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *other = core->by_id[i];
        if (other && other != node && !node_is_infeasible(core, gang, signature, other))
            add_node(offered, other);
    }
    set_offered(core, gang, signature, offered);
}

void infeasible_nodes_arm(struct gang_core *core, struct gang *gang)
{
    usec_t first = USEC_NEVER;
    for (size_t i = 0; i < gang->n_infeasible; i++)
        if (gang->infeasible[i].until > core->now && gang->infeasible[i].until < first)
            first = gang->infeasible[i].until;
    if (first != USEC_NEVER)
        timer_set(core, &gang->timers[TIMER_INFEASIBLE], first);
}

void infeasible_nodes_forget(struct gang_core *core, struct gang *gang)
{
    for (size_t i = 0; i < gang->n_infeasible; i++) {
        signature_unref(core, gang->infeasible[i].signature);
        free(gang->infeasible[i].offered);
    }
    free(gang->infeasible);
    gang->infeasible = NULL;
    gang->n_infeasible = 0;
    timer_stop(core, &gang->timers[TIMER_INFEASIBLE]);
}
