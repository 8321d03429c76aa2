/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/refusal_text.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"

const char *earmark_cause(const struct gang_core *core, const struct gang *gang)
{
    if (gang->starved)
        return "has waited longer";
    return core->config.strict_order ? "comes first (strictOrder)"
                                     : "is within the fair share of its queue";
}

const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node)
{
    cleanup_buf struct buf b = BUF_INIT;
    const char *who = gang ? gang->head->ref.name : "";
    const char *ns = gang ? gang->head->ref.ns : "";
    switch (code) {
    case REASON_RESERVED:
        buf_printf(&b, "reserved for gang %s/%s", ns, who);
        break;
    case REASON_EARMARKED:
        buf_printf(&b, "kept for gang %s/%s, which %s", ns, who, earmark_cause(core, gang));
        break;
    case REASON_PREEMPTED_ROOM:
        buf_printf(&b, "kept for gang %s/%s, which starts when other pods have ended", ns, who);
        break;
    case REASON_ABOVE_MAXIMUM:
        buf_printf(&b,
                   "gang %s/%s: spec.maxMember is reached; this pod waits until another member "
                   "finishes",
                   ns, who);
        break;
    case REASON_BAD_LINK:
        buf_puts(&b, pod->bad_link);
        break;
    case REASON_AWAITS_GROUP:
        buf_puts(&b, pod->awaits_group);
        break;
    case REASON_MEMBERS_GATED:
        buf_printf(&b, "pod %s/%s still has the scheduling gate " GANG_GATE, pod->ns, pod->name);
        break;
    case REASON_NO_ROOM:
        buf_printf(&b, "node %s has no room for this pod: other pods and reservations use the node",
                   node);
        break;
    case REASON_NOT_FILTERED:
        buf_printf(&b,
                   "filter did not return node %s for pod %s/%s recently; call filter before each "
                   "bind",
                   node, pod->ns, pod->name);
        break;
    case REASON_FOREIGN_SCHEDULER:
        buf_printf(&b,
                   "pod %s/%s has spec.schedulerName %s, which muster does not serve "
                   "(schedulerNames)",
                   pod->ns, pod->name, pod->scheduler ? pod->scheduler : "\"\"");
        break;
    case REASON_POD_UNKNOWN:
        buf_puts(&b, "the pod is not known to muster yet");
        break;
    case REASON_NODE_UNKNOWN:
        buf_printf(&b, "node %s is not known to muster yet", node);
        break;
    case REASON_POD_BOUND:
        buf_printf(&b, "pod %s/%s is already bound to node %s", pod->ns, pod->name, node);
        break;
    case REASON_POD_DELETED:
        buf_printf(&b, "pod %s/%s was deleted", pod->ns, pod->name);
        break;
    case REASON_SLOT_MOVED:
        buf_printf(&b,
                   "gang %s/%s: the plan has changed and has no slot for this member on node %s",
                   ns, who, node);
        break;
    case REASON_NODE_NOT_OFFERED:
        buf_printf(
            &b,
            "gang %s/%s: the slot of this member is on node %s, which kube-scheduler did not "
            "offer",
            ns, who, node);
        break;
    case REASON_HOLD_SUPERSEDED:
        buf_puts(&b, "kube-scheduler has tried the pod again, so this bind call has ended");
        break;
    case REASON_CALL_CLOSED:
        buf_puts(&b, "the caller closed the connection");
        break;
    case REASON_TOO_MANY_HOLDS:
        buf_printf(&b,
                   "gang %s/%s: waits until other gangs hold fewer bind calls (maxHolds is %zu)",
                   ns, who, core->config.max_holds);
        break;
    case REASON_BIND_OPEN:
        buf_printf(&b, "the API server has not confirmed the Binding of pod %s/%s yet", pod->ns,
                   pod->name);
        break;
    case REASON_NOT_SYNCED:
        buf_puts(&b, "muster has not read the whole cluster yet");
        break;
    case REASON_STOPPING:
        buf_puts(&b, "muster is stopping");
        break;
    default: /* never empty, because "" means success */
        if (gang && gang->reason.text[0])
            buf_puts(&b, gang->reason.text);
        else
            buf_printf(&b, "gang %s/%s is not planned yet", ns, who);
    }
    return fx_str(core, buf_str(&b));
}

const char *reason_rule(struct gang_core *core, const struct gang_pod_facts *pod, const char *node,
                        enum gang_predicate rule, const char *text)
{
    cleanup_free char *whole =
        xasprintf("node %s does not suit pod %s/%s: %s (%s)", node, pod->ns, pod->name, text,
                  rule == PREDICATE_NONE ? "VolumeBinding" : gang_predicate_name(rule));
    return fx_str(core, whole);
}
