/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/job_limits.h"

void on_job_set(struct gang_core *core, struct gang_job_facts *facts)
{
    cleanup_free char *key = full_name(facts->ns, facts->name);
    gang_job_facts_free(map_remove(&core->jobs, key));
    if (facts->spare < GANG_SPARE_UNLIMITED)
        map_set(&core->jobs, key, facts);
    else
        gang_job_facts_free(facts);
}

void on_job_gone(struct gang_core *core, const char *ns, const char *name)
{
    cleanup_free char *key = full_name(ns, name);
    gang_job_facts_free(map_remove(&core->jobs, key));
}

void jobs_done(struct gang_core *core)
{
    map_for_each (e, &core->jobs)
        gang_job_facts_free(e->value);
    map_done(&core->jobs);
}

bool job_loses(const struct gang_core *core, struct map *losses, const struct pod *pod)
{
    if (!pod->facts->job || !map_count(&core->jobs))
        return false;
    cleanup_free char *key = full_name(pod->facts->ns, pod->facts->job);
    const struct gang_job_facts *job = map_get(&core->jobs, key);
    if (!job)
        return false;
    uintptr_t n = (uintptr_t)map_get(losses, key) + 1;
    map_set(losses, key, (void *)n);
    return (int64_t)n > job->spare;
}
