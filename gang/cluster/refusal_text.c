/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/refusal_text.h"

#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"

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
        buf_printf(&b, "kept for gang %s/%s, which has waited longer", ns, who);
        break;
    case REASON_ABOVE_MAXIMUM:
        buf_printf(&b,
                   "gang %s/%s: above maximum, as many members as spec.maxMember allows are placed",
                   ns, who);
        break;
    case REASON_BAD_LINK:
        buf_puts(&b, pod->bad_link);
        break;
    case REASON_AWAITS_GROUP:
        buf_puts(&b, pod->awaits_group);
        break;
    case REASON_MEMBERS_GATED:
        buf_printf(&b, "pod %s/%s has the scheduling gate " GANG_GATE, pod->ns, pod->name);
        break;
    case REASON_NO_ROOM:
        buf_printf(&b, "no room on node %s beside what is assigned and reserved there", node);
        break;
    case REASON_NOT_FILTERED:
        buf_printf(
            &b, "filter has not let pod %s/%s through to node %s lately: ask it before each bind",
            pod->ns, pod->name, node);
        break;
    case REASON_FOREIGN_SCHEDULER:
        buf_printf(&b, "pod %s/%s has spec.schedulerName %s, which schedulerNames does not list",
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
        buf_printf(&b, "gang %s/%s: the plan has no place for this member on that node any more",
                   ns, who);
        break;
    case REASON_NODE_NOT_OFFERED:
        buf_printf(&b, "gang %s/%s: its place is on node %s, which was not offered in this call",
                   ns, who, node);
        break;
    case REASON_HOLD_SUPERSEDED:
        buf_puts(&b, "a newer bind call for the same pod took the place of this one");
        break;
    case REASON_CALL_CLOSED:
        buf_puts(&b, "the caller closed the connection");
        break;
    case REASON_TOO_MANY_HOLDS:
        buf_printf(&b,
                   "gang %s/%s: the %zu bind calls that may be held (maxHolds) are those of "
                   "other gangs",
                   ns, who, core->config.max_holds);
        break;
    case REASON_BIND_OPEN:
        buf_printf(&b, "the binding of pod %s/%s is not confirmed", pod->ns, pod->name);
        break;
    case REASON_NOT_SYNCED:
        buf_puts(&b, "muster has not read the whole cluster yet");
        break;
    case REASON_STOPPING:
        buf_puts(&b, "muster is stopping");
        break;
    default: /* why the gang waits; never empty, because "" means success */
        if (gang && gang->reason.text[0])
            buf_puts(&b, gang->reason.text);
        else
            buf_printf(&b, "gang %s/%s is not planned", ns, who);
    }
    return fx_str(core, buf_str(&b));
}

const char *reason_rule(struct gang_core *core, const struct gang_pod_facts *pod, const char *node,
                        enum gang_predicate rule, const char *words)
{
    cleanup_free char *text =
        xasprintf("node %s is not for pod %s/%s: %s (%s)", node, pod->ns, pod->name, words,
                  rule == PREDICATE_NONE ? "VolumeBinding" : gang_predicate_name(rule));
    return fx_str(core, text);
}
