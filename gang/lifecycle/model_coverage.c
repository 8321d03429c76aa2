/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/model_coverage.h"

#include "gang/cluster/objects.h"
#include "gang/cluster/passed_nodes.h"
#include "gang/rules.h"

/* On a node, at bind, or on its way. */
static bool is_somewhere(const struct gang_core *core, const struct pod *pod)
{
    return pod->node || pod->call || is_passing(core, pod);
}

static const char shunned[] = "anti-affinity of another pod that is not over hosts";

static const char unlooked[] = "anti-affinity that is not over hosts, of too many pods to look at";

static int64_t shuns_cost(const struct gang_pod_facts *f)
{
    size_t n = 1;
    for (size_t i = 0; i < f->n_shuns; i++) {
        n += 1 + f->shuns[i].n_namespaces;
        for (size_t k = 0; k < f->shuns[i].term.n; k++)
            n += 1 + f->shuns[i].term.items[k].n_values;
    }
    return (int64_t)n;
}

/* Of those that came to core->marks.shunning after the first `*since`, which goes up to who shuns
 * it, or to where `*left` is used up. */
static bool is_shunned(const struct gang_core *core, const struct pod *pod, uint64_t *since,
                       int64_t *left)
{
    struct list *l = core->marks.shunning.prev;
    while (l != &core->marks.shunning &&
           CONTAINER_OF(l, struct pod, in_shunning)->shuns_as > *since)
        l = l->prev;
    l = l->next;
    for (; l != &core->marks.shunning && *left > 0; l = l->next) {
        const struct pod *other = CONTAINER_OF(l, struct pod, in_shunning);
        *left -= shuns_cost(other->facts);
        if (other != pod && is_somewhere(core, other) && gang_shuns(other->facts, pod->facts))
            return true;
        *since = other->shuns_as;
    }
    if (l == &core->marks.shunning)
        *since = core->marks.shunnings;
    return false;
}

const char *shun_doubt(const struct gang_core *core, struct pod *pod, int64_t *left)
{
    if (is_shunned(core, pod, &pod->unshunned, left))
        return shunned;
    return pod->unshunned < core->marks.shunnings ? unlooked : NULL;
}

void shunned_anew(struct pod *pod)
{
    pod->unshunned = 0;
}

const char *twins_doubt(const struct gang_core *core, const struct pod *pod)
{
    bool concerned = pod->facts->n_apart || pod->facts->n_spreads || core->n_apart;
    return core->n_twins && concerned ? "two nodes with one " GANG_HOSTNAME
                                        ", which are two hosts here"
                                      : NULL;
}

static const char *own_doubt(const struct gang_core *core, const struct pod *pod)
{
    const char *inexact = pod->facts->inexact;
    return inexact ? inexact : twins_doubt(core, pod);
}

bool model_covers(const struct gang_core *core, struct pod *pod, int64_t *cost)
{
    int64_t left = SHUNS_AT_ONCE;
    bool covers = !own_doubt(core, pod) && !shun_doubt(core, pod, &left);
    *cost = SHUNS_AT_ONCE - left;
    return covers;
}

const char *pod_beyond_model(const struct gang_core *core, const struct pod *pod)
{
    uint64_t since = pod->unshunned;
    int64_t left = SHUNS_AT_ONCE;
    const char *own = own_doubt(core, pod);
    return own || !is_shunned(core, pod, &since, &left) ? own : shunned;
}
