/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/messages/reason_text.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/hash.h"
#include "base/quantity.h"
#include "gang/cluster/effects.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/refusal_text.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/quorum.h"

/* Texts about a plan that was stopped. */
#define NODE_CHECKS "1,000,000 node checks"
_Static_assert(PLAN_WORK_MAX == 1000000, "NODE_CHECKS names another number");

/* How many members that are not at bind a text names at most. */
#define AWAITED_SHOWN 3

/* kube-scheduler retries a refused pod after about 10 ms, because its own write of the condition
 * wakes the pod. The retry may already get a new text. */
#define FIRST_REFRESH (5 * USEC_PER_MSEC)

/* The first figures of a shortage may be out of date soon, because more gangs are being planned. */
#define SETTLES_WITHIN USEC_PER_SEC

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
#define X(id, name, of, meaning) name,
        GANG_REASONS(X)
#undef X
    };
    return code < REASON_MAX ? names[code] : "?";
}

/* Reason codes about queues follow each other. */
static uint64_t queue_digest(const struct gang *gang, enum gang_reason_code code)
{
    bool of_queue = code >= REASON_QUEUE_MISSING && code <= REASON_QUEUE_BEHIND;
    return of_queue ? hash_text(HASH_START, gang->queue->key) : 0;
}

bool reason_is_news(const struct gang *gang, enum gang_reason_code code)
{
    return gang->reason.code != code || gang->reason.queue != queue_digest(gang, code);
}

bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help)
{
    bool same_help = str_eq(gang->reason.help, help);
    free(gang->reason.help);
    gang->reason.help = help;
    if (gang->reason.code == code && strcmp(gang->reason.text, text) == 0) {
        free(text);
        return !same_help;
    }
    free(gang->reason.text);
    gang->reason.code = code;
    gang->reason.text = text;
    gang->reason.queue = queue_digest(gang, code);
    return true;
}

bool reason_set(struct gang *gang, enum gang_reason_code code, char *text)
{
    return reason_set_help(gang, code, text, NULL);
}

static void put_gang(struct buf *b, const struct gang *gang)
{
    buf_printf(b, "gang %s/%s", gang->head->ref.ns, gang->head->ref.name);
}

/* The lowest unit that keeps the gang from reaching the stage. */
static const struct unit *lacking_unit(const struct unit *unit, enum stage stage)
{
    if (unit_children_needed(unit) < unit->n_children)
        return unit; /* any of several units below could reach it */
    list_for_each (child, &unit->children, struct unit, in_parent)
        if (unit_lacks(child, stage) > 0)
            return lacking_unit(child, stage);
    return unit;
}

/* Such as "subgroup worker", "PodGroup ml/trainers", "part rack=a of subgroup worker". */
static void put_unit(struct buf *b, const struct unit *unit)
{
    if (unit->part)
        buf_printf(b, "part %s of ", unit->part);
    if (unit->spec)
        buf_printf(b, "subgroup %s", unit->spec->name);
    else
        buf_printf(b, "PodGroup %s/%s", unit->group->ref.ns, unit->group->ref.name);
}

/* If the gang has several units: the unit that lacks members, such as " (subgroup worker: 3 of 6)".
 */
static void put_where(struct buf *b, const struct gang *gang, enum stage stage)
{
    const struct unit *unit = lacking_unit(gang->root, stage);
    if (unit == gang->root || !unit->group)
        return;
    int needs = unit_needs(unit);
    buf_puts(b, " (");
    put_unit(b, unit);
    buf_printf(b, ": %d of %d)", needs - unit_lacks(unit, stage), needs);
}

char *reason_missing(const struct group *group)
{
    return xasprintf("PodGroup %s/%s (%s) does not exist", group->ref.ns, group->ref.name,
                     group->ref.api_group);
}

char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b)
{
    struct buf buf = BUF_INIT;
    put_gang(&buf, gang);
    const char *x = a->facts->uniform.value, *y = b->facts->uniform.value;
    buf_printf(
        &buf, ": all members must have the same value of label %s, but %s has %s and %s has %s",
        a->facts->uniform.key, a->facts->name, *x ? x : "none", b->facts->name, *y ? y : "none");
    return buf_steal(&buf);
}

char *reason_beyond_maximum(const struct unit *own)
{
    return xasprintf(
        "PodGroup %s/%s: the minimums need %d members, but spec.maxMember is %d; raise "
        "spec.maxMember or lower the minimums",
        own->group->ref.ns, own->group->ref.name, unit_needs(own), own->max_pods);
}

/* If a subgroup lacks members, names the first member with a subgroup that the PodGroup does not
 * have. */
static void put_unknown_subgroup(struct buf *b, const struct gang *gang, const struct unit *lacking)
{
    if (!lacking->spec || lacking->spec->by_labels)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->role && pod->group == lacking->group &&
            !unit_by_name(pod->group, pod->facts->role)) {
            buf_printf(b, "; %s names subgroup %s, which PodGroup %s/%s does not have",
                       pod->facts->name, pod->facts->role, pod->group->ref.ns,
                       pod->group->ref.name);
            return;
        }
}

char *reason_members(const struct gang *gang)
{
    struct buf b = BUF_INIT;
    const struct tally *t = &gang->root->t;
    int needed = gang_needed(gang), lacks = unit_lacks(gang->root, STAGE_EXISTS);
    const struct unit *unit = lacking_unit(gang->root, STAGE_EXISTS);
    put_gang(&b, gang);
    if (lacks > 0 && !unit->spec && unit->n_children < unit_children_needed(unit)) {
        buf_printf(&b, ": %d of %d child PodGroups exist", unit->n_children,
                   unit_children_needed(unit));
    } else if (lacks > 0) {
        buf_printf(&b, ": %d of %d members exist", needed - lacks, needed);
        put_where(&b, gang, STAGE_EXISTS);
        put_unknown_subgroup(&b, gang, unit);
    } else if (t->gated) {
        buf_printf(&b, ": %d of %d members are gated by %s", t->gated, t->members, t->gate);
    } else if (t->rejected_early) {
        buf_printf(&b,
                   ": kube-scheduler refuses %d of %d members without calling muster, for example "
                   "%s; see its condition PodScheduled, and check its claims and podAffinity",
                   t->rejected_early, t->members, t->refused);
    } else {
        buf_printf(&b,
                   ": %d of %d members have spec.schedulerName %s, which muster does not serve "
                   "(schedulerNames)",
                   t->foreign, t->members, t->scheduler);
    }
    return buf_steal(&b);
}

/* The rule between pods that rules out most nodes for the culprit. */
static void put_between(struct buf *b, const struct shortage *s, const char *who)
{
    if (s->anti_affinity >= s->spread)
        buf_printf(b, "podAntiAffinity with %s keeps %s off %d of %d nodes",
                   s->strangers ? "other pods" : "other members", who, s->anti_affinity,
                   s->n_nodes);
    else
        buf_printf(b, "topologySpreadConstraints keep %s off %d of %d nodes", who, s->spread,
                   s->n_nodes);
}

/* Why no node is feasible for the culprit. */
static void put_obstacle(struct buf *b, const struct gang_core *core, const struct shortage *s)
{
    const char *who = s->culprit->facts->name;
    if (s->unknown) {
        buf_puts(b, "planning stopped after " NODE_CHECKS "; too many members have host ports, "
                    "anti-affinity, topology spread or volumes of their own");
    } else if (s->tied) {
        buf_printf(
            b,
            "the volumes or claims of %s are prepared for node %s, which cannot take the pod "
            "now",
            who, s->culprit->pinned);
    } else if (s->n_nodes == 0 && s->volumes) {
        buf_printf(b, "no node that %s may run on can use its volumes", who);
    } else if (s->n_nodes == 0) {
        buf_printf(b, "no node matches the node selector, affinity and tolerations of %s", who);
    } else if (s->earmarked) {
        const struct gang *gang = core->earmark_gang;
        buf_printf(b, "the room that %s needs is kept for gang %s/%s, which %s", who,
                   gang->head->ref.ns, gang->head->ref.name, earmark_cause(core, gang));
    } else if (s->preemptor) {
        buf_printf(b,
                   "the room that %s needs is kept for gang %s/%s, which starts when other "
                   "pods have ended",
                   who, s->preemptor->head->ref.ns, s->preemptor->head->ref.name);
    } else if (s->anti_affinity || s->spread) {
        put_between(b, s, who);
    } else if (s->refused) {
        buf_printf(b, "kube-scheduler refuses the nodes that have room for %s", who);
    } else if (s->resource == -2) {
        buf_printf(b, "host ports of %s are taken", who);
    } else if (s->resource >= 0) {
        quantity_format(b, core->resources.names[s->resource], s->missing);
        buf_printf(b, " short of %s", core->resources.names[s->resource]);
        if (s->nominated_room)
            buf_puts(b, "; kube-scheduler keeps some room for pods that it has nominated");
    }
}

char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s)
{
    struct buf b = BUF_INIT;
    cleanup_buf struct buf why = BUF_INIT;
    put_gang(&b, gang);
    int needed = gang_needed(gang);
    buf_printf(&b, ": %d member%s needed, room for %d", needed, needed == 1 ? "" : "s", s->room);
    put_obstacle(&why, core, s);
    if (s->culprit->unit->spec || s->culprit->group != gang->head) {
        buf_puts(&why, why.len ? ", for " : "for ");
        put_unit(&why, s->culprit->unit);
    }
    if (why.len)
        buf_printf(&b, " (%s)", buf_str(&why));
    return buf_steal(&b);
}

/* A change that the user could make instead: a smaller minimum. */
static void put_smaller(struct buf *b, const struct gang *gang, int room)
{
    const struct gang_group_facts *f = gang->head->facts;
    if (room < 1 || gang->root->n_children)
        return;
    const char *field = f->min_field ? f->min_field : "spec.minMember";
    const char *dot = strrchr(field, '.');
    buf_printf(b, "; or set %s to %d", strncmp(field, "spec.", 5) == 0 ? dot + 1 : field, room);
}

/* Such as "2 more nvidia.com/gpu on any of 3 nodes". */
static void put_more(struct buf *b, const struct gang_core *core, const struct shortage *s)
{
    const char *resource = core->resources.names[s->resource];
    if (s->n_able == 0) {
        buf_puts(b, "a node with ");
        quantity_format(b, resource, s->amount);
        buf_printf(b, " %s for %s", resource, s->culprit->facts->name);
        return;
    }
    quantity_format(b, resource, s->missing);
    buf_printf(b, " more %s", resource);
    bool alike = s->amount > 1 && s->missing / s->amount == s->lacks; /* all have the same need */
    if (s->lacks > 1 && alike) {
        buf_puts(b, " (");
        quantity_format(b, resource, s->amount);
        buf_puts(b, " for each member)");
    }
    if (s->n_able == 1)
        buf_puts(b, " on the only node that is large enough");
    else
        buf_printf(b, " on any of %d nodes", s->n_able);
}

char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s)
{
    struct buf b = BUF_INIT;
    const char *who = s->culprit->facts->name;
    if (s->unknown)
        buf_puts(&b,
                 "fewer members that have host ports, anti-affinity, topology spread or volumes of "
                 "their own");
    else if (s->tied)
        buf_printf(&b, "room on node %s", s->culprit->pinned);
    else if (s->n_nodes == 0 && s->volumes)
        buf_printf(&b, "a node that can use the volumes of %s and matches its other rules", who);
    else if (s->n_nodes == 0)
        buf_printf(&b, "a node that matches the node selector, affinity and tolerations of %s",
                   who);
    else if (s->earmarked || s->preemptor)
        return NULL;
    else if (s->anti_affinity || s->spread)
        buf_printf(&b, "%d more node%s that match%s the rules of %s", s->lacks,
                   s->lacks == 1 ? "" : "s", s->lacks == 1 ? "es" : "", who);
    else if (s->refused || s->resource == -1)
        return NULL;
    else if (s->resource == -2)
        buf_printf(&b, "%d more node%s where the host ports of %s are free", s->lacks,
                   s->lacks == 1 ? "" : "s", who);
    else
        put_more(&b, core, s);
    put_smaller(&b, gang, s->room);
    return buf_steal(&b);
}

char *reason_min_resources(const struct min_short *below)
{
    struct buf b = BUF_INIT;
    const struct gang_ref *ref = &below->group->ref;
    const char *resource = below->min->resource;
    bool alone = below->all == below->min->amount;
    buf_printf(&b, "PodGroup %s/%s: spec.minResources %s ", ref->ns, ref->name,
               alone ? "asks for" : "of the gang's PodGroups add up to");
    quantity_format(&b, resource, below->all);
    buf_printf(&b, " %s, but the nodes have only ", resource);
    quantity_format(&b, resource, below->room);
    buf_puts(&b, " free");
    return buf_steal(&b);
}

/* Does not name the gangs ahead, because the text of all waiting gangs would change whenever one of
 * them is placed. */
char *reason_behind(const struct gang *gang)
{
    struct buf b = BUF_INIT;
    put_gang(&b, gang);
    buf_puts(&b, ": waits for the gangs ahead of it (strictOrder)");
    return buf_steal(&b);
}

char *reason_costly(const struct gang *gang)
{
    struct buf b = BUF_INIT;
    put_gang(&b, gang);
    buf_puts(&b, ": waits for its turn to be planned again, because its last plan stopped "
                 "after " NODE_CHECKS);
    return buf_steal(&b);
}

/* The members that are not at bind, to help find the cause: the first few names, and how many do
 * not exist yet. */
static void put_awaited(struct buf *b, const struct gang *gang)
{
    int n = 0, missing = 0;
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        const struct pod *pod = slot->pod;
        missing += !pod;
        if (!pod || pod->held || n == AWAITED_SHOWN)
            continue;
        buf_printf(b, "%s%s (%s %s)", n++ ? ", " : "; awaited: ", pod->facts->name,
                   pod->facts->gated ? "still has the scheduling gate" : "scheduler",
                   pod->facts->gated       ? GANG_GATE
                   : pod->facts->scheduler ? pod->facts->scheduler
                                           : "not named");
    }
    if (missing)
        buf_printf(b, "; %d member%s not exist yet", missing, missing == 1 ? " does" : "s do");
}

static void put_at_bind(struct buf *b, const struct gang *gang)
{
    int needed = gang_needed(gang);
    put_gang(b, gang);
    buf_printf(b, ": %d of %d members at bind", needed - unit_lacks(gang->root, STAGE_AT_BIND),
               needed);
}

/* Keeps the reason of the wait in front. After several timeouts, the mark is there only once. */
char *reason_timeout(const struct gang *gang, usec_t timeout)
{
    static const char mark[] = "; not placed within ";
    const char *text = gang->reason.text, *end = strstr(text, mark);
    int n = end ? (int)(end - text) : (int)strlen(text);
    usec_t seconds = timeout / USEC_PER_SEC;
    if (n)
        return xasprintf("%.*s%s%" PRId64 " s", n, text, mark, seconds);
    struct buf b = BUF_INIT;
    put_at_bind(&b, gang);
    put_awaited(&b, gang);
    buf_printf(&b, "%s%" PRId64 " s", mark, seconds);
    return buf_steal(&b);
}

char *reason_hold(const struct gang *gang, usec_t hold)
{
    struct buf b = BUF_INIT;
    put_at_bind(&b, gang);
    buf_printf(&b, " after %" PRId64 " s; the plan is kept", hold / USEC_PER_SEC);
    put_awaited(&b, gang);
    return buf_steal(&b);
}

/* During a backoff, members keep the reason from before the timeout. */
enum gang_reason_code reason_code_for_pod(const struct gang *gang)
{
    return gang->state == GANG_BACKED_OFF && gang->pod_text.text ? gang->pod_text.code
                                                                 : gang->reason.code;
}

void pod_text_forget(struct gang *gang)
{
    free(STEAL(gang->pod_text.text));
}

/* Whether a new text for the same code may replace the text of the pods. The figures of a shortage
 * change whenever room does, so after a first second they wait for the full time. */
static bool pod_text_due(const struct gang_core *core, const struct gang *gang)
{
    const struct pod_text *t = &gang->pod_text;
    bool settled = t->code == REASON_NOT_ENOUGH_RESOURCES && core->now - t->since >= SETTLES_WITHIN;
    return gang->state != GANG_BACKED_OFF &&
           core->now - t->at >= (settled ? core->config.reason_refresh : t->wait);
}

/*
 * A new reason code is used at once. A new text for the same code waits: briefly at first, while
 * members are still being created and kube-scheduler retries soon, and then longer each time.
 */
const char *reason_for_pod(struct gang_core *core, struct gang *gang)
{
    if (!gang->reason.text[0]) /* there is no reason yet, but a refusal needs a text */
        return reason_call(core, REASON_NONE, gang, NULL, NULL);
    bool new_code = !gang->pod_text.text || gang->pod_text.code != reason_code_for_pod(gang);
    if (new_code ||
        (pod_text_due(core, gang) && strcmp(gang->pod_text.text, gang->reason.text) != 0)) {
        free(gang->pod_text.text);
        gang->pod_text.text = xstrdup(gang->reason.text);
        gang->pod_text.code = gang->reason.code;
        gang->pod_text.at = core->now;
        if (new_code)
            gang->pod_text.since = core->now;
        usec_t wait = new_code ? FIRST_REFRESH : gang->pod_text.wait * 2;
        gang->pod_text.wait =
            wait < core->config.reason_refresh ? wait : core->config.reason_refresh;
    }
    return fx_str(core, gang->pod_text.text);
}
