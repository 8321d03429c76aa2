/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/json_put.h"
#include "server/views/api_json.h"

#define EVENTS_SHOWN 20

struct clock {
    usec_t now, wall;
    struct buf *out;
};

/* Writes a time of the core's clock, unless it is 0. */
static void put_moment(const struct clock *c, const char *key, usec_t at)
{
    if (at)
        json_put_moment(c->out, key, c->wall + (at - c->now));
}

static void put_ref(struct buf *out, const char *key, const struct gang_ref *ref)
{
    json_put_key(out, key);
    buf_putc(out, '{');
    json_put_text(out, "namespace", ref->ns);
    json_put_text(out, "name", ref->name);
    json_put_text(out, "apiGroup", ref->api_group);
    buf_putc(out, '}');
}

struct figure {
    const char *key;
    int64_t value;
};

static void put_figures(struct buf *out, const struct figure *figures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_put_number(out, figures[i].key, figures[i].value);
}

static void put_units(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "minimums");
    buf_putc(out, '[');
    for (size_t i = 0; i < x->n_units; i++) {
        const struct gang_explained_unit *u = &x->units[i];
        const struct figure figures[] = {
            {"depth", u->depth},       {"needed", u->needs},
            {"members", u->members},   {"bound", u->bound},
            {"held", u->held},         {"planned", u->planned},
            {"children", u->children}, {"childrenNeeded", u->children_needed},
        };
        json_put_object(out);
        if (u->group)
            put_ref(out, "podGroup", u->group);
        json_put_text(out, "subgroup", u->subgroup);
        json_put_text(out, "part", u->part);
        put_figures(out, figures, ARRAY_SIZE(figures));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_short(struct buf *out, const struct gang_explained_signature *s)
{
    const struct figure figures[] = {
        {"perMember", s->each}, {"free", s->free}, {"largest", s->largest}};
    json_put_key(out, "shortage");
    buf_putc(out, '{');
    json_put_text(out, "resource", s->resource);
    put_figures(out, figures, ARRAY_SIZE(figures));
    buf_putc(out, '}');
}

static void put_signatures(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "signatures");
    buf_putc(out, '[');
    for (size_t i = 0; i < x->n_signatures; i++) {
        const struct gang_explained_signature *s = &x->signatures[i];
        const struct figure figures[] = {
            {"pods", s->pods},           {"nodes", s->nodes},     {"passRules", s->passing},
            {"largeEnough", s->able},    {"withRoom", s->roomy},  {"refused", s->refused},
            {"earmarked", s->earmarked}, {"volumes", s->volumes}, {"ports", s->ports},
            {"interPod", s->between},    {"fitNow", s->fit},
        };
        json_put_object(out);
        json_put_text(out, "example", s->sample->name);
        if (s->beyond)
            json_put_text(out, "beyondPredicates", s->beyond);
        put_figures(out, figures, ARRAY_SIZE(figures));
        json_put_flag(out, "partial", s->partly);
        if (s->resource)
            put_short(out, s);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* Begins an object for a gang or a pod. */
static void put_subject(struct buf *out, const struct gang_ref *gang,
                        const struct gang_pod_facts *pod)
{
    json_put_object(out);
    json_put_text(out, "kind", gang ? "gang" : "pod");
    json_put_text(out, "namespace", gang ? gang->ns : pod->ns);
    json_put_text(out, "name", gang ? gang->name : pod->name);
}

static void put_holder(struct buf *out, const struct gang_explained_holder *h)
{
    const struct figure figures[] = {
        {"pods", h->pods}, {"amount", h->amount}, {"reserved", h->reserved}};
    put_subject(out, h->gang, h->pod);
    put_figures(out, figures, ARRAY_SIZE(figures));
    if (h->enough != GANG_NOT_ASKED)
        json_put_flag(out, "gangFitsWithout", h->enough == GANG_YES);
    buf_putc(out, '}');
}

void api_json_more_nodes(struct buf *out, const struct gang_explained *x)
{
    if (!x->more_nodes)
        return;
    json_put_key(out, "moreNodes");
    buf_putc(out, '{');
    json_put_number(out, "nodes", x->more_nodes);
    json_put_text(out, "likeNode", x->like);
    buf_putc(out, '}');
}

static void put_victims(struct buf *out, const struct gang_explained_eviction *e)
{
    json_put_key(out, "victims");
    buf_putc(out, '[');
    for (size_t i = 0; i < e->n_victims; i++) {
        const struct gang_explained_victim *v = &e->victims[i];
        put_subject(out, v->pod ? NULL : v->gang, v->pod);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static const char *const rooms[] = {
    [GANG_NOT_ASKED] = "unknown", [GANG_NO] = "no", [GANG_YES] = "yes"};

static void put_budget(struct buf *out, const struct gang_budget_facts *budget)
{
    if (!budget)
        return;
    cleanup_free char *name = budget->name ? xasprintf("%s/%s", budget->ns, budget->name) : NULL;
    json_put_text(out, "protectedBy", name ? name : "several");
}

void api_json_eviction(struct buf *out, const struct gang_explained_eviction *e,
                       const usec_t *to_wall)
{
    json_put_key(out, "eviction");
    buf_putc(out, '{');
    json_put_text(out, "makesRoom", rooms[e->room]);
    put_victims(out, e);
    if (e->n_victims) {
        json_put_number(out, "highestPriority", e->priority);
        json_put_number(out, "gangsAndPods", e->gangs);
        json_put_number(out, "lostDeviceSeconds", e->lost_seconds);
        json_put_number(out, "podSeconds", e->run_seconds);
        json_put_flag(out, "endsJob", e->ends_job);
    }
    put_budget(out, e->budget);
    if (e->resting) {
        json_put_text(out, "limitedQueue", e->resting->name);
        if (to_wall)
            json_put_moment(out, "limitedUntil", e->rests_until + *to_wall);
    }
    if (e->deserving)
        json_put_text(out, "deservingQueue", e->deserving->name);
    buf_putc(out, '}');
}

static void put_move(struct buf *out, const struct gang_explained_move *m)
{
    put_subject(out, m->pod ? NULL : m->gang, m->pod);
    json_put_number(out, "pods", m->pods);
    json_put_number(out, "restarts", m->restarts);
    json_put_text(out, "from", m->from);
    json_put_text(out, "to", m->to);
    buf_putc(out, '}');
}

static void put_consolidation(struct buf *out, const struct gang_explained_consolidation *c)
{
    if (!c->searched)
        return;
    json_put_key(out, "consolidation");
    buf_putc(out, '{');
    json_put_text(out, "makesRoom", rooms[c->room]);
    json_put_key(out, "moves");
    buf_putc(out, '[');
    for (size_t i = 0; i < c->n_moves; i++)
        put_move(out, &c->moves[i]);
    buf_putc(out, ']');
    put_budget(out, c->budget);
    buf_putc(out, '}');
}

static void put_holders(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "holders");
    buf_putc(out, '{');
    json_put_text(out, "resource", x->held);
    json_put_key(out, "largest");
    buf_putc(out, '[');
    for (size_t i = 0; i < x->n_holders; i++)
        put_holder(out, &x->holders[i]);
    buf_putc(out, ']');
    json_put_number(out, "others", (int64_t)x->n_others);
    json_put_number(out, "othersAmount", x->others_amount);
    json_put_flag(out, "partial", x->partly);
    buf_putc(out, '}');
}

/* Writes whether the express lane is open for the gang, and why not. */
static void put_express(struct buf *out, const struct gang_core *core,
                        const struct gang_explained *x)
{
    const char *wrong = gang_core_parity_difference(core);
    json_put_key(out, "expressLane");
    buf_putc(out, '{');
    json_put_flag(out, "open", x->express && !x->express_closed);
    if (x->express_doubt)
        json_put_text(out, "reason", x->express_doubt);
    json_put_number(out, "mismatches", (int64_t)x->mismatches);
    if (wrong) {
        json_put_flag(out, "closed", x->express && x->express_closed);
        json_put_text(out, "firstMismatch", x->express_closed ? x->express_closed : wrong);
    }
    buf_putc(out, '}');
}

static void put_places(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "unplaced");
    buf_putc(out, '[');
    for (size_t i = 0; i < x->n_pods; i++) {
        json_put_object(out);
        json_put_text(out, "name", x->pods[i].facts->name);
        json_put_number(out, "signature", x->pods[i].signature);
        if (x->pods[i].pinned)
            json_put_text(out, "pinnedNode", x->pods[i].pinned);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

void api_json_ahead(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "ahead");
    buf_putc(out, '[');
    for (size_t i = 0; i < x->n_ahead; i++) {
        json_put_object(out);
        json_put_text(out, "namespace", x->ahead[i]->ns);
        json_put_text(out, "name", x->ahead[i]->name);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* The queue, its place there, and the first gangs ahead of it. */
static void put_queue(struct buf *out, const struct gang_explained *x)
{
    json_put_key(out, "queue");
    buf_putc(out, '{');
    json_put_text(out, "name", x->queue->name);
    json_put_text(out, "namespace", x->queue->ns);
    json_put_text(out, "apiGroup", x->queue->api_group);
    json_put_number(out, "position", x->queue_position);
    api_json_ahead(out, x);
    buf_putc(out, '}');
}

static void put_state(struct buf *out, const struct gang_core *core, const struct gang_explained *x,
                      const struct clock *clock)
{
    json_put_number(out, "queueLength", x->waiting);
    put_moment(clock, "attemptUntil", x->attempt_until);
    put_moment(clock, "backoffUntil", x->backoff_until);
    put_moment(clock, "holdUntil", x->hold_until);
    put_moment(clock, "refusedUntil", x->infeasible_until);
    if (x->earmark_gang)
        put_ref(out, "earmarkedFor", x->earmark_gang);
    json_put_flag(out, "hasEarmark", x->has_earmark);
    json_put_flag(out, "respectsEarmark", x->respects_earmark);
    if (x->queue)
        put_queue(out, x);
    put_express(out, core, x);
    put_units(out, x);
    put_signatures(out, x);
    put_places(out, x);
    if (x->held)
        put_holders(out, x);
    api_json_more_nodes(out, x);
}

enum gang_explain api_json_explain(struct gang_core *core, const struct history *history,
                                   const struct gang_ref *ref, enum gang_explain part, usec_t now,
                                   usec_t wall, struct buf *out)
{
    struct gang_explained x;
    const struct clock clock = {now, wall, out};
    const struct history_filter filter = {ref->ns, ref->name, ref->api_group, EVENTS_SHOWN};
    if (!gang_core_explain(core, ref, part, &x))
        return GANG_EXPLAIN_END;
    const usec_t to_wall = wall - now;
    if (part == GANG_EXPLAIN_STATE) {
        put_state(out, core, &x, &clock);
        json_put_key(out, "events");
        history_json(history, &filter, out);
    }
    if (x.eviction.searched)
        api_json_eviction(out, &x.eviction, &to_wall);
    put_consolidation(out, &x.consolidation);
    gang_explained_done(&x);
    return x.next;
}
