/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/lookup.h"

struct node *node_by_name(const struct gang_core *core, const char *name)
{
    return map_get(&core->nodes, name);
}

struct pod *pod_by_uid(const struct gang_core *core, const char *uid)
{
    return map_get(&core->pods, uid);
}

char *full_name(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns, name);
}

struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name)
{
    cleanup_free char *key = full_name(ns, name);
    return map_get(&core->names, key);
}

bool pod_was_deleted(const struct gang_core *core, const char *uid)
{
    return map_get(&core->gone_set, uid) != NULL;
}

bool pod_is_finished(const struct pod *pod)
{
    return pod->facts->phase == PHASE_SUCCEEDED || pod->facts->phase == PHASE_FAILED;
}

enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts)
{
    return facts->bad_link       ? REASON_BAD_LINK
           : facts->awaits_group ? REASON_AWAITS_GROUP
                                 : REASON_NONE;
}

bool pod_counts(const struct pod *pod)
{
    return !pod->facts->deleting && !pod->eviction.requested && !pod->replaced_by &&
           pod->facts->phase != PHASE_FAILED;
}

bool pod_is_ours(const struct gang_core *core, const struct pod *pod)
{
    for (size_t i = 0; i < core->config.n_scheduler_names; i++)
        if (str_eq(core->scheduler_names[i], pod->facts->scheduler))
            return true;
    return core->config.n_scheduler_names == 0;
}

bool pod_runs(const struct pod *pod)
{
    return pod->node && pod_counts(pod) && !pod_is_finished(pod);
}

bool pod_plannable(const struct gang_core *core, const struct pod *pod)
{
    return pod_counts(pod) && !pod->node && !pod_is_finished(pod) && pod->facts->n_gates == 0 &&
           pod_is_ours(core, pod) && !pod->rejected_early;
}

bool gate_is_closed(const struct pod *pod)
{
    return pod->facts->gated && pod_counts(pod) && !pod->node && !pod_is_finished(pod);
}

bool gate_stays_closed(const struct pod *pod)
{
    return gate_is_closed(pod) && !pod->lifts;
}

/* If the gang has several PodGroups, a workload may own only some of them. */
bool gang_suspends(const struct gang *gang)
{
    const struct gang_group_facts *facts = gang->head->facts;
    return facts && facts->suspends && gang->groups.next == gang->groups.prev;
}

const struct list *signature_pods(const struct signature *signature)
{
    return list_empty(&signature->pods) ? &signature->ended : &signature->pods;
}

const struct pod *signature_pod(const struct signature *signature)
{
    const struct list *pods = signature_pods(signature);
    return list_empty(pods) ? NULL : CONTAINER_OF(pods->next, struct pod, in_signature);
}

const struct gang_pod_facts *signature_sample(const struct signature *signature)
{
    const struct pod *pod = signature_pod(signature);
    return pod ? pod->facts : NULL;
}

int64_t signature_need(const struct signature *signature, uint32_t resource)
{
    for (size_t i = 0; i < signature->n_needs; i++)
        if (signature->needs[i].resource == resource)
            return signature->needs[i].amount;
    return 0;
}
