/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/consolidation.h"

#include <limits.h>

#include "gang/cluster/disruption_budgets.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/signatures.h"
#include "gang/lifecycle/predicate_coverage.h"
#include "gang/plan/node_scan.h"
#include "gang/plan/node_score.h"
#include "gang/plan/placement.h"
#include "gang/plan/victims.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* How many ordinary pods, members and whole gangs move at most. A long list helps nobody. */
#define LOADS_MAX 8
/* A whole gang with more pods does not move. */
#define GANG_PODS_MAX 64
/* How many nodes are compared: where the culprit lacks least, and as new nodes of a pod. */
#define SPOTS_MAX   128
#define TARGETS_MAX 64
/* How often other pods of a node are chosen because one has no new node. */
#define STUCK_MAX 8
/* The cost of moving a pod, in scanned nodes, and of comparing one with wide anti-affinity. So many
 * pods, or nodes whose rules are not evaluated, cost as much as one scanned node. */
#define WORK_PER_POD   4
#define WORK_PER_WIDE  1000
#define PODS_PER_WORK  8
#define NODES_PER_WORK 4
/* A bound of the numbers that loads are compared by, so that their sum does not overflow. */
#define WORTH_MAX ((int64_t)1 << 50)

/* What moves together off a node. */
struct load {
    struct gang *gang; /* NULL: an ordinary pod */
    struct pod *pod;   /* NULL: the whole gang */
    int32_t priority;
    int restarts;
    bool taken; /* it is to move */
    bool stuck; /* it cannot move */
};

/* The best nodes for pods of a signature when the search began to move some, the best first. */
struct targets {
    struct signature *signature;
    const struct gang *gang;
    struct node *nodes[TARGETS_MAX];
    size_t n;
};

/* A node on which the culprit lacks room. */
struct spot {
    struct node *node;
    int64_t lacks; /* of the need that it lacks most, in parts per thousand */
};

struct search {
    struct gang_core *core;
    struct gang *gang;
    struct trial trial;
    bool without_budgets;
    int64_t *work_left;
    struct shortage shortage; /* of the last try that failed */
    struct signature *kind;   /* of its culprit */
    struct spot spots[SPOTS_MAX];
    size_t n_spots;
    int64_t *lacks; /* on the node that is being cleared, by need of `kind` */
    int64_t *left;  /* of `lacks`, what is to be freed by loads that have not moved yet */
    struct load *loads;
    size_t n_loads, cap_loads;
    int64_t *frees; /* what each load frees there, by need */
    size_t cap_frees;
    struct targets *targets;
    size_t n_targets, cap_targets;
    struct consolidation_move *moves;
    size_t n_moves, cap_moves;
    int n_moved;                            /* loads */
    bool stopped;                           /* a disruption budget has forbidden a move */
    const struct gang_budget_facts *budget; /* the first one that forbids one of `moves` */
};

/* What undo() reverts. */
struct before {
    struct trial_mark mark;
    size_t n_moves;
    int n_moved;
    const struct gang_budget_facts *budget;
};

static void spend(struct search *s, int64_t work)
{
    *s->work_left -= work;
}

static struct before before(const struct search *s)
{
    return (struct before){trial_mark(&s->trial), s->n_moves, s->n_moved, s->budget};
}

static void undo(struct search *s, struct before before)
{
    trial_back(&s->trial, before.mark);
    s->n_moves = before.n_moves;
    s->n_moved = before.n_moved;
    s->budget = before.budget;
}

static enum gang_answer fits(struct search *s)
{
    return fits_in_trial(&s->trial, s->gang, s->work_left, &s->shortage);
}

static int64_t holds(struct search *s, const struct node *node)
{
    spend(s, 1);
    return node_holds(s->core, s->gang, s->kind, node);
}

/* ---- where the culprit lacks least ---- */

/* At most WORTH_MAX. */
static int64_t per_thousand(int64_t part, int64_t of)
{
    if (part > WORTH_MAX / 1000)
        part = of < 1000 ? WORTH_MAX : part / (of / 1000);
    else
        part = part * 1000 / of;
    return part < WORTH_MAX ? part : WORTH_MAX;
}

/* What the node lacks of the need for one more member next to those that it holds; 0: nothing. */
static int64_t lack_of(const struct node *node, const struct need *need, int64_t held,
                       const struct reach *reach)
{
    int64_t rest = node_room(node, need->resource, reach) - held * need->amount;
    return need->amount > rest ? need->amount - rest : 0;
}

/* Whether other pods are all that keeps one more member off the node. */
static bool is_spot(struct search *s, struct node *node, struct spot *ret)
{
    const struct reach reach = gang_reach(s->core, s->gang);
    *ret = (struct spot){.node = node};
    if (!node || !node->facts || signature_refusal(s->kind, node))
        return false;
    int64_t held = node_holds(s->core, s->gang, s->kind, node);
    if (held && s->kind->alone)
        return false;
    for (size_t i = 0; i < s->kind->n_needs; i++) {
        const struct need *need = &s->kind->needs[i];
        if (need->amount > amount_of(&node->allocatable, need->resource) - held * need->amount)
            return false;
        int64_t lacks = per_thousand(lack_of(node, need, held, &reach), need->amount);
        ret->lacks = lacks > ret->lacks ? lacks : ret->lacks;
    }
    return ret->lacks > 0;
}

static bool is_nearer(const struct spot *a, const struct spot *b)
{
    return a->lacks != b->lacks ? a->lacks < b->lacks : strcmp(a->node->name, b->node->name) < 0;
}

static void find_spots(struct search *s)
{
    struct spot spot;
    s->n_spots = 0;
    spend(s, (int64_t)s->core->n_ids / NODES_PER_WORK);
    for (size_t i = 0; i < s->core->n_ids; i++) {
        if (!is_spot(s, s->core->by_id[i], &spot))
            continue;
        size_t at = s->n_spots;
        if (at < SPOTS_MAX)
            s->n_spots++;
        else if (!is_nearer(&spot, &s->spots[--at]))
            continue;
        for (; at > 0 && is_nearer(&spot, &s->spots[at - 1]); at--)
            s->spots[at] = s->spots[at - 1];
        s->spots[at] = spot;
    }
}

/* ---- what can move ---- */

/* A pod moves only once: then its facts name another node. */
static bool pod_can_move(struct search *s, const struct pod *pod)
{
    const struct queue *queue =
        !pod->gang && s->core->queues.root ? queue_of_pod(s->core, pod) : NULL;
    return pod_runs(pod) && pod_may_be_evicted(s->core, pod) &&
           str_eq(pod->facts->node, pod->node->name) && !pod->facts->invalid &&
           (pod->gang || !pod_is_firm(pod, queue));
}

static bool gang_can_move(struct search *s, struct gang *gang, bool whole)
{
    if (gang == s->gang || gang->over || gang->n_slots || gang->state != GANG_SCHEDULED ||
        gang_is_firm(gang) || gang->root->t.binding || gang_lacks(s->core, gang, STAGE_BOUND) > 0)
        return false;
    if (!whole)
        return true;
    if (gang->root->t.succeeded || gang->root->t.bound > GANG_PODS_MAX)
        return false;
    spend(s, gang->root->t.members / PODS_PER_WORK);
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod_runs(pod) && !pod_can_move(s, pod))
            return false;
    return true;
}

static bool frees_any(const struct search *s, const struct pod *pod, const int64_t *lacks)
{
    for (size_t i = 0; i < s->kind->n_needs; i++)
        if (lacks[i] && signature_need(pod->signature, s->kind->needs[i].resource))
            return true;
    return false;
}

static void add_amounts(struct search *s, size_t load, const struct pod *pod)
{
    const size_t n = s->kind->n_needs;
    for (size_t i = 0; i < n; i++)
        s->frees[load * n + i] += signature_need(pod->signature, s->kind->needs[i].resource);
}

static void new_load(struct search *s, struct pod *pod, bool whole)
{
    const size_t n = s->kind->n_needs, at = s->n_loads++;
    GROW(s->loads, s->cap_loads, s->n_loads);
    GROW(s->frees, s->cap_frees, s->n_loads * n);
    s->loads[at] = (struct load){.gang = pod->gang,
                                 .pod = whole ? NULL : pod,
                                 .priority = pod->gang ? pod->gang->priority : pod->facts->priority,
                                 .restarts = whole ? pod->gang->root->t.bound : 1};
    memset(&s->frees[at * n], 0, n * sizeof *s->frees);
    add_amounts(s, at, pod);
}

static void add_load(struct search *s, struct pod *pod)
{
    struct gang *gang = pod->gang;
    if (!frees_any(s, pod, s->lacks) || !pod_can_move(s, pod))
        return;
    bool whole = gang && gang_count(s->core, gang)->bound <= gang_needed(gang);
    for (size_t i = 0; whole && i < s->n_loads; i++)
        if (s->loads[i].gang == gang) {
            add_amounts(s, i, pod);
            return;
        }
    if (!gang || gang_can_move(s, gang, whole))
        new_load(s, pod, whole);
}

static void list_loads(struct search *s, const struct node *node)
{
    s->n_loads = 0;
    list_for_each (pod, &node->pods, struct pod, in_node)
        add_load(s, pod);
    spend(s, 1 + (int64_t)node->n_pods / PODS_PER_WORK);
}

/* ---- which loads make room on a node ---- */

static int64_t frees(const struct search *s, const struct load *load, size_t need)
{
    return s->frees[(size_t)(load - s->loads) * s->kind->n_needs + need];
}

/* What is still lacking of need i when the taken loads have moved. */
static int64_t left_to_free(const struct search *s, size_t i)
{
    int64_t left = s->lacks[i];
    for (size_t k = 0; k < s->n_loads && left > 0; k++)
        if (s->loads[k].taken)
            left -= frees(s, &s->loads[k], i);
    return left > 0 ? left : 0;
}

static bool is_enough(const struct search *s)
{
    for (size_t i = 0; i < s->kind->n_needs; i++)
        if (left_to_free(s, i))
            return false;
    return true;
}

/* How good a load is: how much of what is lacking it frees for each restart, and its whole size. */
struct worth {
    int64_t frees, size;
};

static struct worth worth_of(const struct search *s, const struct load *load)
{
    struct worth worth = {0};
    for (size_t i = 0; i < s->kind->n_needs; i++) {
        const struct need *need = &s->kind->needs[i];
        int64_t left = left_to_free(s, i), amount = frees(s, load, i);
        if (left)
            worth.frees += per_thousand(amount < left ? amount : left, left) / load->restarts;
        worth.size += per_thousand(amount, need->amount);
    }
    return worth;
}

static const char *name_of(const struct load *load)
{
    return load->pod ? load->pod->facts->name : load->gang->head->ref.name;
}

/* A smaller load finds a new node more easily. */
static bool is_better(struct worth a, const struct load *x, struct worth b, const struct load *y)
{
    if (a.frees != b.frees)
        return a.frees > b.frees;
    if (a.size != b.size)
        return a.size < b.size;
    return x->priority != y->priority ? x->priority < y->priority
                                      : strcmp(name_of(x), name_of(y)) < 0;
}

static struct load *best_load(struct search *s)
{
    struct load *best = NULL;
    struct worth most = {0};
    for (size_t i = 0; i < s->n_loads; i++) {
        struct load *load = &s->loads[i];
        if (load->taken || load->stuck)
            continue;
        struct worth worth = worth_of(s, load);
        if (worth.frees && (!best || is_better(worth, load, most, best))) {
            best = load;
            most = worth;
        }
    }
    spend(s, 1 + (int64_t)s->n_loads / PODS_PER_WORK);
    return best;
}

/* Takes loads until one more member fits. Returns how many pods restart; 0: they are not enough. */
static int take_loads(struct search *s)
{
    int restarts = 0, n = s->n_moved;
    for (size_t i = 0; i < s->n_loads; i++)
        s->loads[i].taken = false;
    while (!is_enough(s)) {
        struct load *load = n < LOADS_MAX ? best_load(s) : NULL;
        if (!load)
            return 0;
        load->taken = true;
        n++;
    }
    for (size_t i = 0; i < s->n_loads; i++) {
        struct load *load = &s->loads[i];
        if (!load->taken)
            continue;
        load->taken = false;
        load->taken = !is_enough(s);
        restarts += load->taken ? load->restarts : 0;
    }
    return restarts;
}

/* ---- new nodes ---- */

static struct reach reach_of(const struct gang_core *core, const struct pod *pod)
{
    struct reach reach = pod->gang ? gang_reach(core, pod->gang) : pod_reach(core, pod);
    reach.respects_nominated = true;
    return reach;
}

static void add_target(struct targets *t, struct node *node)
{
    size_t at = t->n;
    if (at < TARGETS_MAX)
        t->n++;
    else if (!node_better(t->signature, node, t->nodes[--at]))
        return;
    for (; at > 0 && node_better(t->signature, node, t->nodes[at - 1]); at--)
        t->nodes[at] = t->nodes[at - 1];
    t->nodes[at] = node;
}

static void fill_targets(struct search *s, const struct pod *pod, struct targets *t)
{
    const struct reach reach = reach_of(s->core, pod);
    int64_t work = s->core->work;
    struct node_scan scan = node_scan_begin(s->core, pod->gang, pod->signature, NULL);
    while (node_scan_next(&scan)) {
        if (node_short(scan.node, pod->signature, &reach) != -1 ||
            signature_refusal(pod->signature, scan.node))
            continue;
        if (!node_scan_covers_class(&scan))
            add_target(t, scan.node);
        else
            for (size_t i = 0; i < scan.class->n; i++)
                add_target(t, scan.class->nodes[i]);
        spend(s, (int64_t)scan.n / PODS_PER_WORK);
    }
    spend(s, s->core->work - work);
}

/* NULL: the work is used up. */
static const struct targets *targets_of(struct search *s, const struct pod *pod)
{
    for (size_t i = 0; i < s->n_targets; i++)
        if (s->targets[i].signature == pod->signature && s->targets[i].gang == pod->gang)
            return &s->targets[i];
    if (*s->work_left <= 0)
        return NULL;
    GROW(s->targets, s->cap_targets, s->n_targets + 1);
    struct targets *t = &s->targets[s->n_targets++];
    t->signature = pod->signature;
    t->gang = pod->gang;
    t->n = 0;
    fill_targets(s, pod, t);
    return t;
}

/* Puts the pod on a node that then still holds as many members of the gang. NULL: there is none. */
static struct node *put_elsewhere(struct search *s, struct pod *pod, const struct node *from)
{
    const struct reach reach = reach_of(s->core, pod);
    const struct targets *t = targets_of(s, pod);
    for (size_t i = 0; t && i < t->n; i++) {
        struct node *node = t->nodes[i];
        spend(s, 1);
        if (node == from || !node_is_feasible(s->core, pod->gang, pod->signature, node, &reach))
            continue;
        struct trial_mark mark = trial_mark(&s->trial);
        int64_t held = holds(s, node);
        trial_with_pod(&s->trial, pod, node);
        spend(s, WORK_PER_POD);
        if (holds(s, node) >= held)
            return node;
        trial_back(&s->trial, mark);
    }
    return NULL;
}

/* ---- moving ---- */

/* False: a disruption budget forbids it, or only kube-scheduler can tell where the pod may run. */
static bool take_off(struct search *s, struct pod *pod)
{
    const struct gang_budget_facts *budget = budget_in_the_way(s->core, pod);
    s->budget = s->budget ? s->budget : budget;
    s->stopped |= budget != NULL;
    spend(s, list_empty(&s->core->marks.wide_anti_affinity) ? WORK_PER_POD : WORK_PER_WIDE);
    if ((budget && !s->without_budgets) || pod_beyond_predicates(s->core, pod))
        return false;
    trial_without_pod(&s->trial, pod);
    return true;
}

static void note_move(struct search *s, const struct load *load, struct node *from, struct node *to)
{
    struct consolidation_move *last = s->n_moves ? &s->moves[s->n_moves - 1] : NULL;
    if (last && !load->pod && last->gang == load->gang && last->from == from && last->to == to) {
        last->pods++;
        return;
    }
    GROW(s->moves, s->cap_moves, s->n_moves + 1);
    s->moves[s->n_moves++] =
        (struct consolidation_move){load->gang, load->pod, from, to, 1, load->restarts};
}

/* Whether the pod frees something that is left to be freed. Deducts it. */
static bool is_needed(struct search *s, const struct pod *pod)
{
    bool needed = frees_any(s, pod, s->left);
    for (size_t i = 0; needed && i < s->kind->n_needs; i++) {
        int64_t left = s->left[i] - signature_need(pod->signature, s->kind->needs[i].resource);
        s->left[i] = left > 0 ? left : 0;
    }
    return needed;
}

/* Of a whole gang, only pods that are in the way get another node. The others restart where they
 * are. */
static bool move_pods(struct search *s, const struct load *load, struct pod *const *pods, size_t n,
                      struct node *from)
{
    for (size_t i = 0; i < n; i++) {
        struct node *was = node_by_name(s->core, pods[i]->facts->node);
        if (was != from || !is_needed(s, pods[i]))
            trial_with_pod(&s->trial, pods[i], was);
    }
    for (size_t i = 0; i < n; i++) {
        struct node *to = pods[i]->node ? NULL : put_elsewhere(s, pods[i], from);
        if (to)
            note_move(s, load, from, to);
        else if (!pods[i]->node)
            return false;
    }
    s->n_moved++;
    return true;
}

/* Moves the load off the node. False: it must stay, and the trial may contain a part of the move.
 */
static bool move_load(struct search *s, const struct load *load, struct node *node)
{
    struct pod *pods[GANG_PODS_MAX];
    size_t n = 0;
    if (load->pod)
        pods[n++] = load->pod;
    else
        list_for_each (pod, &load->gang->members, struct pod, in_gang)
            if (pod_runs(pod) && n < GANG_PODS_MAX)
                pods[n++] = pod;
    for (size_t i = 0; i < n; i++)
        if (!take_off(s, pods[i]))
            return false;
    bool broken = load->pod && load->gang && gang_lacks(s->core, load->gang, STAGE_BOUND) > 0;
    return !broken && move_pods(s, load, pods, n, node);
}

/* Whole gangs come last, because fewer of their pods may have to move then. */
static bool move_taken(struct search *s, struct node *node)
{
    memcpy(s->left, s->lacks, s->kind->n_needs * sizeof *s->left);
    for (int whole = 0; whole < 2; whole++)
        for (size_t i = 0; i < s->n_loads; i++) {
            struct load *load = &s->loads[i];
            if (!load->taken || (load->pod == NULL) != whole)
                continue;
            load->stuck = !move_load(s, load, node);
            if (load->stuck)
                return false;
        }
    return true;
}

static bool got_pods(const struct search *s, const struct node *node)
{
    for (size_t i = 0; i < s->n_moves; i++)
        if (s->moves[i].to == node)
            return true;
    return false;
}

/* Moves loads off the node, so that it holds one more member. Returns how many pods restart; 0:
 * this does not work with less than `limit` of them. */
static int clear_node(struct search *s, struct node *node, int limit)
{
    const struct reach reach = gang_reach(s->core, s->gang);
    const struct before start = before(s);
    if (got_pods(s, node))
        return 0;
    int64_t held = holds(s, node);
    for (size_t i = 0; i < s->kind->n_needs; i++)
        s->lacks[i] = lack_of(node, &s->kind->needs[i], held, &reach);
    list_loads(s, node);
    for (int i = 0; i<STUCK_MAX && * s->work_left> 0; i++) {
        int restarts = take_loads(s);
        if (!restarts || restarts >= limit)
            return 0;
        if (move_taken(s, node) && holds(s, node) > held &&
            node_is_feasible(s->core, s->gang, s->kind, node, &reach))
            return restarts;
        undo(s, start);
    }
    return 0;
}

/* Makes room for one more member, on the node where the fewest pods restart. */
static bool make_room(struct search *s)
{
    struct node *best = NULL;
    int least = INT_MAX;
    for (size_t i = 0; i < s->n_spots && least > 1 && *s->work_left > 0; i++) {
        const struct before start = before(s);
        int restarts = clear_node(s, s->spots[i].node, least);
        undo(s, start);
        if (restarts) {
            best = s->spots[i].node;
            least = restarts;
        }
    }
    return best && clear_node(s, best, INT_MAX);
}

/* ---- the search ---- */

/* Makes room for all members that lack it. False: this is not possible. */
static bool make_all_room(struct search *s)
{
    s->kind = s->shortage.culprit->signature;
    cleanup_free int64_t *lacks = xcalloc(2 * s->kind->n_needs + 1, sizeof *lacks);
    s->lacks = lacks;
    s->left = lacks + s->kind->n_needs;
    find_spots(s);
    for (int i = s->shortage.lacks; i > 0; i--)
        if (!make_room(s))
            return false;
    return true;
}

/* Whether moves can help: nodes are short, and not one node or the queue, and of a few members. */
static bool moves_can_help(const struct search *s)
{
    const struct shortage *shortage = &s->shortage;
    return shortage->culprit && !shortage->tied && !shortage->queue.queue && shortage->lacks > 0 &&
           shortage->lacks <= LOADS_MAX - s->n_moved;
}

static enum gang_answer find_moves(struct search *s)
{
    enum gang_answer answer = fits(s);
    while (answer == GANG_NO && moves_can_help(s) && make_all_room(s))
        answer = fits(s);
    return answer == GANG_NO && *s->work_left <= 0 ? GANG_NOT_ASKED : answer;
}

static enum gang_answer search(struct search *s)
{
    s->trial = trial_begin(s->core);
    enum gang_answer answer = find_moves(s);
    trial_end(&s->trial);
    free(STEAL(s->targets));
    s->n_targets = s->cap_targets = 0;
    return answer;
}

struct consolidation consolidation_search(struct gang_core *core, struct gang *gang,
                                          int64_t *work_left)
{
    struct search s = {.core = core, .gang = gang, .work_left = work_left};
    struct consolidation ret = {.room = search(&s)};
    bool any = ret.room == GANG_YES;
    if (ret.room == GANG_NO && s.stopped) {
        s.without_budgets = true;
        s.n_moves = 0;
        s.n_moved = 0;
        s.budget = NULL;
        any = search(&s) == GANG_YES;
    }
    ret.moves = s.moves;
    ret.n = any ? s.n_moves : 0;
    ret.in_the_way = any ? s.budget : NULL;
    free(s.loads);
    free(s.frees);
    return ret;
}

void consolidation_done(struct consolidation *consolidation)
{
    free(STEAL(consolidation->moves));
}
