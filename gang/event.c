/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/event.h"

const char *gang_event_name(enum gang_event_kind kind)
{
    static const char *const names[] = {
#define X(name, help) #name,
        GANG_EVENTS(X)
#undef X
    };
    return kind < GANG_EV_MAX ? names[kind] : "?";
}

void gang_event_done(struct gang_event *ev)
{
    switch (ev->kind) {
    case GANG_EV_NODE_SET:
        ev->node = gang_node_facts_free(ev->node);
        break;
    case GANG_EV_POD_SET:
    case GANG_EV_FILTER:
    case GANG_EV_PRIORITIZE:
    case GANG_EV_PREEMPT:
        ev->pod = ev->pod_is_known ? NULL : gang_pod_facts_free(ev->pod);
        break;
    case GANG_EV_GROUP_SET:
        ev->group = gang_group_facts_free(ev->group);
        break;
    case GANG_EV_CLASS_SET:
        ev->class = gang_priority_class_facts_free(ev->class);
        break;
    case GANG_EV_CLAIM_SET:
        ev->claim = gang_claim_facts_free(ev->claim);
        break;
    case GANG_EV_BUDGET_SET:
        ev->budget = gang_budget_facts_free(ev->budget);
        break;
    case GANG_EV_JOB_SET:
        ev->job = gang_job_facts_free(ev->job);
        break;
    case GANG_EV_QUEUE_SET:
        ev->queue = gang_queue_facts_free(ev->queue);
        break;
    case GANG_EV_NAMESPACE_SET:
        ev->namespace = gang_namespace_facts_free(ev->namespace);
        break;
    case GANG_EV_QUEUE_GONE:
    case GANG_EV_NAMESPACE_GONE:
    case GANG_EV_NODE_GONE:
    case GANG_EV_POD_GONE:
    case GANG_EV_GROUP_GONE:
    case GANG_EV_CLASS_GONE:
    case GANG_EV_CLAIM_GONE:
    case GANG_EV_BUDGET_GONE:
    case GANG_EV_JOB_GONE:
    case GANG_EV_SUSPEND_REFUSED:
        gang_ref_done(&ev->gone);
        break;
    case GANG_EV_BIND:
        free(STEAL(ev->bind.ns));
        free(STEAL(ev->bind.name));
        free(STEAL(ev->bind.uid));
        free(STEAL(ev->bind.node));
        break;
    case GANG_EV_BIND_DONE:
    case GANG_EV_POD_READ:
        free(STEAL(ev->result.uid));
        free(STEAL(ev->result.node));
        free(STEAL(ev->result.text));
        break;
    case GANG_EV_SYNCED:
    case GANG_EV_WATCH:
    case GANG_EV_CALL_CLOSED:
    case GANG_EV_TICK:
    case GANG_EV_STOP:
    case GANG_EV_MAX:
        break;
    }
}
