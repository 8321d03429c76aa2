/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sentence a person reads. They say what is needed, what there is and what is missing, name
 * objects as kubectl would be asked for them, and hold no figure that changes by itself: a text
 * that changes costs the scheduler another try of every waiting pod.
 */
#include <inttypes.h>
#include <stdarg.h>

#include "base/quantity.h"
#include "gang/core.h"

/* Members that a sentence names, of those that are awaited. */
#define AWAITED_SHOWN 3

/* kube-scheduler tries a rejected pod again within some 10 ms (its own patch of the condition wakes
 * the pod): words that changed meanwhile are to be said then. */
#define FIRST_REFRESH (5 * USEC_PER_MSEC)

const char *gang_state_name(enum gang_state state)
{
    static const char *const names[] = {
#define X(id, name, help) name,
        GANG_STATES(X)
#undef X
    };
    return state < GANG_STATE_MAX ? names[state] : "?";
}

const char *gang_reason_name(enum gang_reason_code code)
{
    static const char *const names[] = {
#define X(id, name) name,
        GANG_REASONS(X)
#undef X
    };
    return code < REASON_MAX ? names[code] : "?";
}

bool reason_set(struct gang *gang, enum gang_reason_code code, char *text)
{
    if (gang->reason.code == code && strcmp(gang->reason.text, text) == 0) {
        free(text);
        return false;
    }
    free(gang->reason.text);
    gang->reason = (struct reason){code, text};
    return true;
}

char *reason_members(const struct gang *gang, const struct tally *t)
{
    const char *ns = gang->ref.ns, *name = gang->ref.name;
    int needed = gang_needed(gang);
    if (!gang->facts)
        return xasprintf("PodGroup %s/%s (%s) does not exist", ns, name, gang->ref.api_group);
    if (t->members < needed)
        return xasprintf("gang %s/%s: %d of %d members exist", ns, name, t->members, needed);
    if (t->gated)
        return xasprintf("gang %s/%s: %d of %d members are gated by %s", ns, name, t->gated,
                         t->members, t->gate);
    return xasprintf("gang %s/%s: %d of %d members belong to scheduler %s, which muster does not "
                     "serve (schedulerNames)",
                     ns, name, t->foreign, t->members, t->scheduler);
}

static void put_amount(struct buf *b, const char *resource, int64_t amount)
{
    if (strcmp(resource, "cpu") == 0)
        quantity_format_milli(b, amount);
    else if (strcmp(resource, "memory") == 0 || strncmp(resource, "hugepages-", 10) == 0 ||
             strcmp(resource, "ephemeral-storage") == 0)
        quantity_format_bytes(b, amount);
    else
        buf_printf(b, "%" PRId64, amount);
}

char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "gang %s/%s: %d members needed, room for %d", gang->ref.ns, gang->ref.name,
               gang_needed(gang), s->room);
    const char *who = s->culprit ? s->culprit->facts->name : "a member";
    if (s->no_node)
        buf_printf(&b, " (no node passes node selector, affinity and taints of %s)", who);
    else if (s->refused)
        buf_printf(&b, " (kube-scheduler refuses the nodes that have room for %s)", who);
    else if (s->resource == -2)
        buf_printf(&b, " (host ports of %s are taken)", who);
    else if (s->resource >= 0) {
        buf_puts(&b, " (");
        put_amount(&b, core->resources[s->resource], s->missing);
        buf_printf(&b, " short of %s)", core->resources[s->resource]);
    }
    return buf_steal(&b);
}

/* The first few members that are not at bind, for whoever looks for the one that hangs. */
static void put_awaited(struct buf *b, const struct gang *gang)
{
    int n = 0;
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const struct pod *pod = slot->pod;
        if (!pod || pod->held || n == AWAITED_SHOWN)
            continue;
        buf_printf(b, "%s%s (scheduler %s)", n++ ? ", " : "; awaited: ", pod->facts->name,
                   pod->facts->scheduler ? pod->facts->scheduler : "not named");
    }
}

char *reason_timeout(const struct gang *gang, const struct tally *t, usec_t timeout)
{
    /* The reason behind a timeout stays readable through several of them. */
    static const char mark[] = "; not placed within ";
    const char *text = gang->reason.text, *end = strstr(text, mark);
    int n = end ? (int)(end - text) : (int)strlen(text);
    usec_t seconds = timeout / USEC_PER_SEC;
    if (n)
        return xasprintf("%.*s%s%" PRId64 " s", n, text, mark, seconds);
    struct buf b = BUF_INIT;
    buf_printf(&b, "gang %s/%s: %d of %d members at bind", gang->ref.ns, gang->ref.name, t->held,
               gang_needed(gang));
    put_awaited(&b, gang);
    buf_printf(&b, "%s%" PRId64 " s", mark, seconds);
    return buf_steal(&b);
}

char *reason_hold(const struct gang *gang, const struct tally *t, usec_t hold)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "gang %s/%s: %d of %d members at bind after %" PRId64 " s; the plan is kept",
               gang->ref.ns, gang->ref.name, t->held + t->bound + t->binding, gang_needed(gang),
               hold / USEC_PER_SEC);
    put_awaited(&b, gang);
    return buf_steal(&b);
}

const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node)
{
    cleanup_buf struct buf b = BUF_INIT;
    const char *who = gang ? gang->ref.name : "";
    const char *ns = gang ? gang->ref.ns : "";
    switch (code) {
    case REASON_RESERVED:
        buf_printf(&b, "reserved for gang %s/%s", ns, who);
        break;
    case REASON_NO_ROOM:
        buf_printf(&b, "no room on node %s beside what is assigned and reserved there", node);
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
        buf_printf(&b, "gang %s/%s: %zu bind calls are held already (maxHolds)", ns, who,
                   core->config.max_holds);
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
    default: /* why the gang waits; never empty, for that would mean success */
        if (gang && gang->reason.text[0])
            buf_puts(&b, gang->reason.text);
        else
            buf_printf(&b, "gang %s/%s is not planned", ns, who);
    }
    return fx_str(core, buf_str(&b));
}

/*
 * A new reason is said at once. New words for the same reason wait: a moment at first (members are
 * still being created, and the scheduler asks again soon), then longer and longer.
 */
const char *reason_for_pod(struct gang_core *core, struct gang *gang)
{
    bool backed_off = gang->state == GANG_BACKED_OFF; /* says nothing new about why it waits */
    bool new_code = !gang->pod_text || (gang->pod_text_code != gang->reason.code && !backed_off);
    bool due = !backed_off && core->now - gang->pod_text_at >= gang->pod_text_wait;
    if (new_code || (due && strcmp(gang->pod_text, gang->reason.text) != 0)) {
        free(gang->pod_text);
        gang->pod_text = xstrdup(gang->reason.text);
        gang->pod_text_code = gang->reason.code;
        gang->pod_text_at = core->now;
        usec_t wait = new_code ? FIRST_REFRESH : gang->pod_text_wait * 2;
        gang->pod_text_wait = wait < core->config.text_refresh ? wait : core->config.text_refresh;
    }
    return fx_str(core, gang->pod_text);
}
