/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/dry_try.h"

#include "gang/cluster/queue_usage.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/trial.h"
#include "gang/lifecycle/reconcile.h"
#include "gang/messages/queue_text.h"
#include "gang/messages/reason_text.h"
#include "gang/plan/min_resources_check.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/placement.h"
#include "gang/plan/preemption.h"
#include "gang/plan/queue_picks.h"
#include "gang/plan/shortage.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/podgroups.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"
#include "gang/step/what_if.h"

/* The limit of all tries, in scanned nodes. It takes about 12 ms. */
#define WORK_MAX 60000
/* The cost of a try, and for each member, in addition to what it scans and places. */
#define WORK_PER_TRY    50
#define WORK_PER_MEMBER 2
/* A rule between pods is compared with the pods of the nodes. This many pods, and this many bytes
 * of rules, cost as much as one scanned node. */
#define PODS_PER_WORK  16
#define BYTES_PER_WORK 512
/* How many gangs are explained, which takes about 5 ms each. */
#define EXPLAINED_MAX 3

struct verdict {
    enum gang_answer fits;
    enum gang_reason_code code;
    char *text, *help;        /* owned; NULL: nothing to say */
    int room;                 /* how many needed members found a place */
    struct queue_short limit; /* queue NULL: no limit of a queue stops it */
};

struct newcomer {
    struct gang *gang;
    struct verdict verdict;
    struct gang_dry_node *nodes; /* sorted by name; owned */
    size_t n_nodes;
    int placed;
};

struct tries {
    struct gang_core *core;
    int64_t work_left;
    struct newcomer *items; /* in the order of a planning pass */
    size_t n;
    int explained;
};

/* ---- one try ---- */

static void verdict_done(struct verdict *v)
{
    free(v->text);
    free(v->help);
}

static struct verdict refused(enum gang_reason_code code, char *text)
{
    return (struct verdict){.fits = GANG_NO, .code = code, .text = text};
}

/* Why the planner found no place; s and below are its results. */
static struct verdict unplaced(const struct gang_core *core, const struct gang *gang,
                               const struct shortage *s, const struct min_short *below)
{
    struct verdict v = {.fits = GANG_NO, .room = s->room, .limit = s->queue};
    if (s->queue.queue) {
        v.code = s->queue.code;
        v.text = reason_queue_short(core, gang, &s->queue);
    } else if (s->culprit) {
        v.code = shortage_code(s);
        v.text = reason_shortage(core, gang, s);
        v.help = reason_help(core, gang, s);
    } else if (below->group) {
        v.code = REASON_MIN_RESOURCES;
        v.text = reason_min_resources(below);
    } else {
        v.code = REASON_NOT_ENOUGH_MEMBERS;
        v.text = reason_members(gang);
    }
    return v;
}

/* What one pass over the gang's members costs, before anything is placed. */
static int64_t work_of(struct gang_core *core, const struct gang *gang)
{
    int64_t work = WORK_PER_TRY;
    const struct signature *last = NULL; /* most members are alike */
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        struct signature *signature = pod->signature;
        if (signature != last)
            work += node_scan_work(core, gang, signature);
        if (signature != last && (signature->anti_affinity || signature->spread))
            work += (int64_t)(map_count(&core->pods) / PODS_PER_WORK *
                              (1 + signature->base / BYTES_PER_WORK));
        last = signature;
    }
    return work + gang->root->t.members * WORK_PER_MEMBER;
}

/* Whether it must wait for a gang ahead of it, see plan_pass.c. */
static bool is_behind(struct gang_core *core, const struct gang *gang, struct verdict *ret)
{
    if (core->config.strict_order && gang_respects_earmark(core, gang))
        *ret = refused(REASON_BEHIND, reason_behind(gang));
    else if (queue_picks_blocker(core, gang))
        *ret = refused(REASON_QUEUE_BEHIND, reason_queue_behind(gang));
    else
        return false;
    return true;
}

/* The gang as it is now, in the trial. If it fits, it keeps these slots. */
static struct verdict try_in(struct tries *d, struct trial *t, struct gang *gang,
                             enum trial_slots slots)
{
    struct gang_core *core = d->core;
    struct shortage s;
    struct verdict v;
    enum gang_reason_code code;
    char *text = gang_dry_refusal(core, gang, &code);
    if (text)
        return refused(code, text);
    order_settle(core);
    if (is_behind(core, gang, &v))
        return v;
    code = queue_refuses_gang(core, gang);
    if (code)
        return refused(code, reason_queue(gang, code));
    int64_t work = work_of(core, gang);
    struct min_short below = min_resources_short(core, gang);
    d->work_left -= WORK_PER_TRY + gang->root->t.members * WORK_PER_MEMBER;
    enum gang_answer fits =
        work > d->work_left
            ? GANG_NOT_ASKED
            : place_in_trial(t, gang, below.group ? SLOTS_NONE : slots, &d->work_left, &s);
    if (fits == GANG_YES && below.group)
        return refused(REASON_MIN_RESOURCES, reason_min_resources(&below));
    return fits == GANG_NO ? unplaced(core, gang, &s, &below) : (struct verdict){.fits = fits};
}

/* The same with the slots of the gangs that come before it. */
static struct verdict try_after(struct tries *d, const struct newcomer *c)
{
    struct shortage s;
    struct trial t = trial_begin(d->core);
    queue_picks_forget(d->core); /* the variant may be in another queue, or elsewhere in it */
    for (struct newcomer *before = d->items; before < c; before++)
        if (before->verdict.fits == GANG_YES)
            place_in_trial(&t, before->gang, SLOTS_WITH_EXTRAS, &d->work_left, &s);
    struct verdict v = try_in(d, &t, c->gang, SLOTS_NONE);
    trial_end(&t);
    return v;
}

/* ---- all gangs, in the order of a planning pass ---- */

static int by_name(const void *a, const void *b)
{
    const struct gang_dry_node *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void note_nodes(struct newcomer *c)
{
    struct gang_dry_node *nodes = xcalloc((size_t)c->gang->n_slots + 1, sizeof *nodes);
    size_t n = 0;
    list_for_each (slot, &c->gang->slots, struct slot, in_gang)
        nodes[n++] = (struct gang_dry_node){slot->node->name, 1};
    c->placed = (int)n;
    qsort(nodes, n, sizeof *nodes, by_name);
    for (size_t i = 0; i < n; i++) {
        if (c->n_nodes && nodes[c->n_nodes - 1].name == nodes[i].name)
            nodes[c->n_nodes - 1].members++;
        else
            nodes[c->n_nodes++] = nodes[i];
    }
    c->nodes = nodes;
}

/* They wait, so that they have a position in the order. */
static struct due all_due(struct gang_core *core, struct gang *const *gangs, size_t n)
{
    struct due due = {xcalloc(n + 1, sizeof *due.items), 0, n + 1};
    for (size_t i = 0; i < n; i++) {
        enum gang_reason_code code;
        cleanup_free char *text = gang_dry_refusal(core, gangs[i], &code);
        if (!text)
            gang_enter(core, gangs[i], GANG_WAITING);
        due.items[due.n++] = gangs[i];
    }
    order_settle(core);
    qsort(due.items, due.n, sizeof *due.items, by_order);
    return due;
}

static void try_in_order(struct tries *d, struct gang *const *gangs, size_t n)
{
    struct trial t = trial_begin(d->core);
    struct queue_picks picks = queue_picks_begin(d->core, all_due(d->core, gangs, n));
    bool one_waits = false;
    for (struct gang *gang; (gang = queue_picks_next(d->core, &picks)) != NULL;) {
        struct newcomer *c = &d->items[d->n++];
        *c = (struct newcomer){.gang = gang};
        if (one_waits && d->core->config.strict_order)
            c->verdict = refused(REASON_BEHIND, reason_behind(gang));
        else
            c->verdict = try_in(d, &t, gang, SLOTS_WITH_EXTRAS);
        if (c->verdict.fits != GANG_YES) {
            one_waits |= gang->state == GANG_WAITING;
            continue;
        }
        note_nodes(c);
        gang_enter(d->core, gang, GANG_PLANNED); /* gangs behind it wait for it no longer */
    }
    queue_picks_end(&picks);
    trial_end(&t);
}

/* ---- what would help ---- */

/* Whether a variant fits. min 0 and queue NULL: as it is. */
static bool variant_fits(struct tries *d, const struct newcomer *c,
                         const struct gang_group_facts *facts, int64_t min, const char *queue)
{
    struct gang_group_facts *f = gang_group_facts_copy(facts);
    f->min_member = min ? min : f->min_member;
    if (queue) {
        free(f->queue);
        f->queue = xstrdup(queue);
    }
    on_podgroup_set(d->core, f);
    struct verdict v = try_after(d, c);
    verdict_done(&v);
    return v.fits == GANG_YES;
}

/* The largest minimum that fits, by halving. The first guess is what the planner had room for,
 * since it is right if all members are alike. */
static int find_smaller(struct tries *d, const struct newcomer *c,
                        const struct gang_group_facts *facts)
{
    int low = 0, high = gang_needed(c->gang), guess = c->verdict.room;
    while (high - low > 1 && d->work_left > 0) {
        int middle = guess > low && guess < high ? guess : low + (high - low) / 2;
        bool fits = variant_fits(d, c, facts, middle, NULL);
        if (fits)
            low = middle;
        else
            high = middle;
        guess = fits && middle == guess ? guess + 1 : 0;
    }
    return low;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct queue *const *)a)->key, (*(struct queue *const *)b)->key);
}

/* The queues of its API group that its namespace may use and that would take it now. */
static void find_queues(struct tries *d, const struct newcomer *c,
                        const struct gang_group_facts *facts, struct gang_dry_run *ret)
{
    struct gang_core *core = d->core;
    cleanup_free struct queue **queues = xcalloc(map_count(&core->queues.all) + 1, sizeof *queues);
    const struct queue *own = c->gang->queue;
    size_t n = 0;
    map_for_each (e, &core->queues.all) {
        struct queue *queue = e->value;
        if (queue != own && strcmp(queue->ref.api_group, facts->ref.api_group) == 0 &&
            !queue_refusal(core, queue, facts->ref.ns))
            queues[n++] = queue;
    }
    qsort(queues, n, sizeof *queues, by_key);
    for (size_t i = 0; i < n && ret->n_queues < ARRAY_SIZE(ret->queues) && d->work_left > 0; i++)
        if (variant_fits(d, c, facts, 0, queues[i]->ref.name))
            ret->queues[ret->n_queues++] = &queues[i]->ref;
}

static bool is_of_queue(enum gang_reason_code code)
{
    return code == REASON_QUEUE_LIMIT || code == REASON_QUEUE_DESERVED ||
           code == REASON_QUEUE_RESERVED || code == REASON_QUEUE_MISSING ||
           code == REASON_QUEUE_INVALID || code == REASON_QUEUE_CLOSED ||
           code == REASON_QUEUE_FORBIDDEN || code == REASON_QUEUE_BEHIND;
}

/* Only for a gang of one PodGroup; the parts of others have minimums of their own. */
static void find_help(struct tries *d, const struct newcomer *c, struct gang_dry_run *ret)
{
    const struct group *head = c->gang->head;
    if (c->verdict.code == REASON_GROUP_INVALID || !head->facts ||
        c->gang->groups.next->next != &c->gang->groups)
        return;
    struct gang_group_facts *facts = gang_group_facts_copy(head->facts);
    if (!facts->n_subgroups && !c->gang->root->n_children)
        ret->smaller = find_smaller(d, c, facts);
    if (is_of_queue(c->verdict.code))
        find_queues(d, c, facts, ret);
    on_podgroup_set(d->core, facts);
    enum gang_reason_code code; /* back in its own queue */
    free(gang_dry_refusal(d->core, c->gang, &code));
    order_settle(d->core);
}

/* ---- whose end would help ---- */

/* How many gangs of a queue are looked at, and how many of their members. */
#define GANGS_LOOKED_AT   200
#define MEMBERS_LOOKED_AT 4000

struct user {
    struct gang *gang;
    int64_t amount; /* of the short resource */
};

struct users {
    uint32_t resource;
    struct user items[GANGS_LOOKED_AT];
    size_t n, members;
};

static int64_t amount_for(const struct gang_core *core, const struct users *u,
                          const struct signature *signature)
{
    int64_t sum = 0;
    for (size_t i = 0; i < signature->n_needs; i++)
        if (signature->needs[i].resource == u->resource ||
            queue_alias(core, signature->needs[i].resource) == u->resource)
            sum += signature->needs[i].amount;
    return sum;
}

static void add_user(const struct gang_core *core, struct users *u, struct gang *gang)
{
    struct user *user = &u->items[u->n];
    *user = (struct user){gang, 0};
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        user->amount += pod->node ? amount_for(core, u, pod->signature) : 0;
        u->members++;
    }
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        user->amount += amount_for(core, u, slot->signature);
    u->n += user->amount > 0;
}

static void add_users(const struct gang_core *core, struct users *u, const struct queue *queue)
{
    list_for_each (gang, &queue->gangs, struct gang, in_queue)
        if (u->n < GANGS_LOOKED_AT && u->members < MEMBERS_LOOKED_AT)
            add_user(core, u, gang);
    list_for_each (child, &queue->children, struct queue, in_parent)
        add_users(core, u, child);
}

/* The smallest first: the end of a small gang is the sooner one. Gangs of one size, by name. */
static int by_amount(const void *a, const void *b)
{
    const struct user *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? -1 : 1;
    return strcmp(x->gang->head->key, y->gang->head->key);
}

/* Gangs of the queue whose limit stops it. */
static void find_users(struct tries *d, struct newcomer *c, struct gang_dry_run *ret)
{
    struct what_if w;
    cleanup_free struct users *u = xcalloc(1, sizeof *u);
    u->resource = c->verdict.limit.resource;
    if (!what_if_begin(&w, d->core, c->gang))
        return;
    add_users(d->core, u, c->verdict.limit.queue);
    qsort(u->items, u->n, sizeof u->items[0], by_amount);
    for (size_t i = 0; i < u->n && ret->n_after < ARRAY_SIZE(ret->after); i++) {
        struct gang *other = u->items[i].gang;
        if (what_if_gone(&w, other, NULL) == GANG_YES)
            ret->after[ret->n_after++] = (struct gang_dry_holder){
                .gang = &other->head->ref, .planned = other->state == GANG_PLANNED};
    }
}

/* Those that explain has found among the users of the nodes. */
static void find_holders(const struct gang_explained *x, struct gang_dry_run *ret)
{
    for (size_t i = 0; i < x->n_holders && ret->n_after < ARRAY_SIZE(ret->after); i++)
        if (x->holders[i].enough == GANG_YES)
            ret->after[ret->n_after++] =
                (struct gang_dry_holder){x->holders[i].gang, x->holders[i].pod,
                                         x->holders[i].reserved == x->holders[i].amount};
}

/* ---- results ---- */

/* Whether a gang that was tried before has got room. The trials for an explanation
 * treat this room as free for `c`, so they cannot tell what would help `c`. */
static bool others_have_room(const struct tries *d, const struct newcomer *c)
{
    for (const struct newcomer *other = d->items; other < c; other++)
        if (other->verdict.fits == GANG_YES)
            return true;
    return false;
}

static void tell(struct tries *d, struct newcomer *c, gang_dry_run_fn *fn, void *arg)
{
    const struct verdict *v = &c->verdict;
    const struct queue *none = d->core->queues.none;
    struct gang_explained why, evictions = {.next = GANG_EXPLAIN_END};
    struct gang_dry_run r = {.ref = &c->gang->head->ref,
                             .fits = v->fits,
                             .reason = v->code,
                             .text = v->text ? v->text : "",
                             .help = v->help ? v->help : "",
                             .placed = c->placed,
                             .nodes = c->nodes,
                             .n_nodes = c->n_nodes};
    if (!c->gang->over) {
        gang_count(d->core, c->gang);
        r.needed = gang_needed(c->gang);
        r.members = c->gang->root->t.members;
    }
    if (v->limit.queue)
        r.limit = (struct gang_dry_limit){&v->limit.queue->ref,
                                          d->core->resources.names[v->limit.resource],
                                          v->limit.limit, v->limit.used, v->limit.need};
    if (v->fits == GANG_NO && !c->gang->over)
        find_help(d, c, &r);
    r.queue = c->gang->queue && c->gang->queue != none ? &c->gang->queue->ref : NULL;
    if (v->fits == GANG_NO && d->explained < EXPLAINED_MAX &&
        gang_core_explain(d->core, r.ref, GANG_EXPLAIN_STATE, &why)) {
        d->explained++;
        r.why = &why;
        if (others_have_room(d, c)) {
            why.more_nodes = 0;
        } else {
            find_holders(&why, &r);
            if (v->limit.queue)
                find_users(d, c, &r);
            if (evictions_may_help(v->code))
                gang_core_explain(d->core, r.ref, GANG_EXPLAIN_EVICTION, &evictions);
            r.eviction = evictions.eviction.searched ? &evictions.eviction : NULL;
        }
    }
    fn(arg, &r);
    if (r.why)
        gang_explained_done(&why);
    gang_explained_done(&evictions);
}

void dry_try(struct gang_core *core, struct gang *const *gangs, size_t n, gang_dry_run_fn *fn,
             void *arg)
{
    struct tries d = {
        .core = core, .work_left = WORK_MAX, .items = xcalloc(n + 1, sizeof *d.items)};
    try_in_order(&d, gangs, n);
    for (size_t i = 0; i < d.n; i++)
        tell(&d, &d.items[i], fn, arg);
    for (size_t i = 0; i < d.n; i++) {
        verdict_done(&d.items[i].verdict);
        free(d.items[i].nodes);
    }
    free(d.items);
}
