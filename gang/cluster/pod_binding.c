/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pod_binding.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"

void binding_begins(const struct gang_core *core, struct pod *pod, int commit)
{
    pod->binding.began = core->now;
    pod->binding.tries = 0;
    pod->binding.commit = commit;
}

void binding_sent(const struct gang_core *core, struct pod *pod)
{
    pod->binding.sent = core->now;
}

int binding_tried(struct pod *pod)
{
    return pod->binding.tries++;
}

void binding_refused(struct pod *pod, const struct node *node)
{
    free(pod->binding.refused_on);
    pod->binding.refused_on = xstrdup(node->name);
}

void binding_of_no_commit(struct pod *pod)
{
    pod->binding.commit = 0;
}
