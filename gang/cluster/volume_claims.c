/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/volume_claims.h"

#include "gang/cluster/lookup.h"

struct claim *claim_get(struct gang_core *core, const char *ns, const char *name)
{
    cleanup_free char *key = xasprintf("%s/%s", ns, name);
    struct claim *claim = map_get(&core->claims, key);
    if (claim)
        return claim;
    claim = xcalloc(1, sizeof *claim);
    claim->key = STEAL(key);
    list_init(&claim->uses);
    list_init(&claim->in_waiting);
    map_set(&core->claims, claim->key, claim);
    return claim;
}

static void claim_free(struct claim *claim)
{
    gang_claim_facts_free(claim->facts);
    gang_claim_facts_free(claim->next);
    free(claim->key);
    free(claim);
}

void claim_sweep(struct gang_core *core, struct claim *claim)
{
    if (claim->facts || !list_empty(&claim->uses) || !list_empty(&claim->in_waiting))
        return;
    map_remove(&core->claims, claim->key);
    claim_free(claim);
}

size_t claims_in_use(const struct gang_pod_facts *facts)
{
    bool finished = facts->phase == PHASE_SUCCEEDED || facts->phase == PHASE_FAILED;
    return finished ? 0 : facts->n_claims;
}

void claims_join(struct gang_core *core, struct pod *pod)
{
    const struct gang_pod_facts *f = pod->facts;
    pod->n_uses = claims_in_use(f);
    pod->uses = pod->n_uses ? xcalloc(pod->n_uses, sizeof *pod->uses) : NULL;
    for (size_t i = 0; i < pod->n_uses; i++) {
        struct claim_use *use = &pod->uses[i];
        use->pod = pod;
        use->claim = claim_get(core, f->ns, f->claims[i]);
        list_push(&use->claim->uses, &use->in_claim);
    }
}

void claims_leave(struct gang_core *core, struct pod *pod)
{
    for (size_t i = 0; i < pod->n_uses; i++) {
        list_remove(&pod->uses[i].in_claim);
        claim_sweep(core, pod->uses[i].claim);
    }
    free(STEAL(pod->uses));
    pod->n_uses = 0;
}

static bool has_content(const struct gang_claim_facts *facts)
{
    return facts && (facts->selected || facts->bound || facts->limited);
}

bool claims_bound(const struct pod *pod)
{
    for (size_t i = 0; i < pod->n_uses; i++)
        if (!pod->uses[i].claim->facts || !pod->uses[i].claim->facts->bound)
            return false;
    return pod->n_uses > 0 && !pod->facts->has_resource_claims;
}

void claim_set_facts(struct claim *claim, struct gang_claim_facts *facts)
{
    gang_claim_facts_free(claim->facts);
    claim->facts = has_content(facts) ? facts : gang_claim_facts_free(facts);
}

const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name)
{
    cleanup_free char *key = xasprintf("%s/%s", ns, name);
    const struct claim *claim = map_get(&core->claims, key);
    return claim ? claim->facts : NULL;
}

void claims_done(struct gang_core *core)
{
    map_for_each (e, &core->claims)
        claim_free(e->value);
    map_done(&core->claims);
}

void claims_pin(struct pod *pod, const struct node *node)
{
    free(pod->pinned);
    pod->pinned = xstrdup(node->name);
}

void claims_unpin(struct pod *pod)
{
    free(STEAL(pod->pinned));
}

struct node *pinned_node(const struct gang_core *core, const struct pod *pod)
{
    struct node *node = pod->pinned ? node_by_name(core, pod->pinned) : NULL;
    return node && node->facts ? node : NULL;
}
