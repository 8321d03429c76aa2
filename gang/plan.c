/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - a place for every member that is needed, or none.
 *
 * The planner is greedy and plain: members by shape, the hardest shape first; each goes to the
 * fullest node that fits (node_better). For members of one shape this is exact: how many fit on a
 * node does not depend on the others. For mixed shapes a second try goes the other way round.
 * A plan is a transaction: slots are added while it is made, and all of them taken back when the
 * needed set is not covered.
 *
 * What makes a gang be tried again: capacity grew somewhere since it last failed (core->freed),
 * or something about the gang itself changed (gang->retry).
 */
#include "gang/core.h"

/* How long the scheduler's refusal of nodes is believed at first, and at the most. */
#define EVIDENCE_FIRST (2 * USEC_PER_SEC)
#define EVIDENCE_LAST  (60 * USEC_PER_SEC)
/* Pods kept out by reservations are woken so many at a time. */
#define WAKES_PER_STEP 64
#define WAKE_PAUSE     (20 * USEC_PER_MSEC)

/* ---- evidence: nodes that the scheduler refuses ---- */

static struct evidence *evidence_of(const struct gang *gang, const struct shape *shape)
{
    for (size_t i = 0; i < gang->n_evidence; i++)
        if (gang->evidence[i].shape == shape)
            return &gang->evidence[i];
    return NULL;
}

static bool evidence_refuses(const struct gang_core *core, const struct gang *gang,
                             const struct shape *shape, const struct node *node)
{
    const struct evidence *e = evidence_of(gang, shape);
    if (!e || core->now >= e->until || node->changed > e->as_of)
        return false;
    for (size_t i = 0; i < e->n_offered; i++)
        if (e->offered[i] == node->id)
            return false;
    return true;
}

void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n)
{
    struct evidence *e = evidence_of(gang, shape);
    if (!e) {
        gang->evidence =
            xreallocarray(gang->evidence, gang->n_evidence + 1, sizeof *gang->evidence);
        e = &gang->evidence[gang->n_evidence++];
        *e = (struct evidence){.shape = shape_ref(shape)};
    }
    free(e->offered);
    e->offered = xcalloc(n, sizeof *e->offered);
    e->n_offered = 0;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = node_by_name(core, names[i]);
        if (node)
            e->offered[e->n_offered++] = node->id;
    }
    usec_t lasts = EVIDENCE_FIRST;
    for (int i = 0; i < e->strikes && lasts < EVIDENCE_LAST; i++)
        lasts *= 2;
    e->strikes++;
    e->as_of = core->clock;
    e->until = core->now + (lasts < EVIDENCE_LAST ? lasts : EVIDENCE_LAST);
    evidence_arm(core, gang);
}

void evidence_arm(struct gang_core *core, struct gang *gang)
{
    usec_t first = USEC_NEVER;
    for (size_t i = 0; i < gang->n_evidence; i++)
        if (gang->evidence[i].until > core->now && gang->evidence[i].until < first)
            first = gang->evidence[i].until;
    if (first != USEC_NEVER)
        timer_set(core, &gang->timers[TIMER_EVIDENCE], first);
}

void evidence_forget(struct gang_core *core, struct gang *gang)
{
    for (size_t i = 0; i < gang->n_evidence; i++) {
        shape_unref(core, gang->evidence[i].shape);
        free(gang->evidence[i].offered);
    }
    free(gang->evidence);
    gang->evidence = NULL;
    gang->n_evidence = 0;
    timer_stop(core, &gang->timers[TIMER_EVIDENCE]);
}

/* ---- choosing a node ---- */

/*
 * The order of nodes for a shape. Device pods: the node with the fewest free devices, so that whole
 * nodes stay whole. Others: away from device nodes, then the node with the least free CPU. The
 * name decides between equals, so that a restart decides alike.
 */
bool node_better(const struct shape *shape, const struct node *a, const struct node *b)
{
    if (shape->device >= 0) {
        int64_t x = node_free(a, (uint32_t)shape->device),
                y = node_free(b, (uint32_t)shape->device);
        if (x != y)
            return x < y;
    } else if (a->devices != b->devices) {
        return !a->devices;
    }
    int64_t x = node_free(a, RES_CPU), y = node_free(b, RES_CPU);
    return x != y ? x < y : strcmp(a->name, b->name) < 0;
}

static bool node_will_do(const struct gang_core *core, const struct gang *gang, struct shape *shape,
                         const struct node *node)
{
    return node_misfit(node, shape) == -1 && !shape_refusal(shape, node) &&
           !(gang && evidence_refuses(core, gang, shape, node));
}

struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except)
{
    struct node *best = NULL;
    for (size_t i = 0; i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (node && node != except && node_will_do(core, gang, shape, node) &&
            (!best || node_better(shape, node, best)))
            best = node;
    }
    return best;
}

/* ---- one gang ---- */

/* Order of members: by shape, the one with the largest needs first, then as they were created. */
static int by_size(const void *a, const void *b)
{
    const struct pod *p = *(struct pod *const *)a, *q = *(struct pod *const *)b;
    const struct shape *x = p->shape, *y = q->shape;
    if (x != y) {
        if ((x->device >= 0) != (y->device >= 0))
            return x->device >= 0 ? -1 : 1;
        for (size_t i = x->n_needs, j = y->n_needs; i-- > 0 && j-- > 0;) {
            if (x->needs[i].resource != y->needs[j].resource)
                return x->needs[i].resource > y->needs[j].resource ? -1 : 1;
            if (x->needs[i].amount != y->needs[j].amount)
                return x->needs[i].amount > y->needs[j].amount ? -1 : 1;
        }
        int order = strcmp(x->key, y->key);
        if (order)
            return order;
    }
    if (p->facts->created != q->facts->created)
        return p->facts->created < q->facts->created ? -1 : 1;
    return strcmp(p->facts->name, q->facts->name);
}

/* Hope is only for gangs of one shape: that of any member. */
static struct pod *gang_sample(const struct gang *gang)
{
    return CONTAINER_OF(gang->members.next, struct pod, in_gang);
}

static struct shape *gang_shape(const struct gang *gang)
{
    return gang_sample(gang)->shape;
}

struct trial {
    struct pod **pods; /* members without a slot */
    size_t n;
    int expected;        /* members of the same shape that do not exist yet */
    struct slot **slots; /* given in this trial */
    size_t n_slots;
    const struct pod *culprit; /* the first without a place */
};

static struct pod *trial_pod(const struct trial *trial, size_t i, bool backward)
{
    if (i >= trial->n)
        return NULL;
    return trial->pods[backward ? trial->n - 1 - i : i];
}

/*
 * Gives slots to as many of the trial's members as fit, forward or backward, then to expected
 * ones. The fullest node stays the fullest while it is filled, so one scan of the nodes serves all
 * members it takes.
 */
static void place_members(struct gang_core *core, struct gang *gang, struct trial *trial,
                          bool backward)
{
    const struct shape *full = NULL; /* no node has room for this shape any more */
    struct node *node = NULL;
    const struct shape *node_for = NULL;
    trial->n_slots = 0;
    trial->culprit = NULL;
    for (size_t i = 0; i < trial->n + (size_t)trial->expected; i++) {
        struct pod *pod = trial_pod(trial, i, backward);
        struct shape *shape = pod ? pod->shape : gang_shape(gang);
        if (shape == full)
            continue;
        if (node_for != shape || !node_will_do(core, gang, shape, node))
            node = plan_node(core, gang, shape, NULL);
        node_for = shape;
        if (!node) {
            full = shape;
            node_for = NULL;
            if (!trial->culprit)
                trial->culprit = pod ? pod : gang_sample(gang);
            continue;
        }
        struct slot *slot = slot_add(core, gang, shape, node);
        if (pod)
            slot_fill(slot, pod);
        trial->slots[trial->n_slots++] = slot;
    }
}

static void take_back(struct gang_core *core, const struct trial *trial)
{
    for (size_t i = 0; i < trial->n_slots; i++)
        slot_free(core, trial->slots[i]);
}

/* Why the culprit has no place: what most of the nodes that pass its rules lack. */
static struct shortage find_shortage(const struct gang_core *core, const struct gang *gang,
                                     const struct pod *culprit, int room)
{
    struct shortage s = {.room = room, .resource = -1, .culprit = culprit, .no_node = true};
    size_t n = culprit->shape->n_needs;
    cleanup_free int *lacking = xcalloc(n, sizeof *lacking); /* nodes, by need */
    int ports = 0;
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        if (!node || shape_refusal(culprit->shape, node))
            continue;
        s.no_node = false;
        for (size_t k = 0; k < n; k++)
            lacking[k] += culprit->shape->needs[k].amount >
                          node_free(node, culprit->shape->needs[k].resource);
        int misfit = node_misfit(node, culprit->shape);
        ports += misfit == -2;
        s.refused |= misfit == -1;
    }
    int most = ports;
    s.resource = ports ? -2 : -1;
    for (size_t k = 0; k < n; k++) {
        const struct need *need = &culprit->shape->needs[k];
        bool device = (int)need->resource == culprit->shape->device;
        if (lacking[k] > most || (lacking[k] == most && most > 0 && device)) {
            most = lacking[k]; /* between equals the device is named: it is the scarce thing */
            s.resource = (int)need->resource;
            if (__builtin_mul_overflow(need->amount, gang_needed(gang) - room, &s.missing))
                s.missing = INT64_MAX;
        }
    }
    return s;
}

static void explain_failure(struct gang_core *core, struct gang *gang, const struct shortage *s)
{
    enum gang_reason_code code = s->no_node   ? REASON_NO_MATCHING_NODE
                                 : s->refused ? REASON_REFUSED_BY_SCHEDULER
                                              : REASON_NOT_ENOUGH_RESOURCES;
    bool first = gang->reason.code != code;
    if (!reason_set(gang, code, reason_shortage(core, gang, s)))
        return;
    gang_touch(core, gang);
    if (!first)
        return;
    tell_event(core, gang, true, "Unschedulable", gang->reason.text);
    timer_set(core, &gang->timers[TIMER_NOTICE], core->now + NOTICE_DELAY);
}

static void announce(struct gang_core *core, struct gang *gang)
{
    core->stats.plans_made++;
    gang->timed_out = false;
    if (gang->state != GANG_RECOVERING)
        gang_enter(core, gang, GANG_PLANNED);
    gang_touch(core, gang);
    reason_set(gang, REASON_PLANNED, xstrdup(""));
    free(STEAL(gang->pod_text));
    timer_stop(core, &gang->timers[TIMER_NOTICE]);
    timer_stop(core, &gang->timers[TIMER_BACKOFF]);
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (slot->pod && slot->pod->rejected)
            nominate(core, slot->pod, slot->node);
}

/*
 * Completes the gang's plan to its needed set, and beyond with extras that fit. Existing slots
 * stay. False: not possible; the slots that were there are still there, and *ret says what was
 * short when all that fits was placed.
 */
static bool try_plan(struct gang_core *core, struct gang *gang, const struct tally *t,
                     struct shortage *ret)
{
    int want = gang_needed(gang) - t->bound - t->binding - gang->n_slots;
    struct trial trial = {.pods = xcalloc((size_t)t->plannable, sizeof(struct pod *))};
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->slot && pod_plannable(core, pod))
            trial.pods[trial.n++] = pod;
    qsort(trial.pods, trial.n, sizeof *trial.pods, by_size);
    if (gang->hoping && want > (int)trial.n)
        trial.expected = want - (int)trial.n;
    trial.slots = xcalloc(trial.n + (size_t)trial.expected, sizeof(struct slot *));
    bool done = false;
    *ret = (struct shortage){.room = -1};
    for (int backward = 0; backward < 2 && !done; backward++) {
        place_members(core, gang, &trial, backward);
        done = (int)trial.n_slots >= want;
        int room = gang->n_slots + t->bound + t->binding;
        if (!done && trial.culprit && room > ret->room)
            *ret = find_shortage(core, gang, trial.culprit, room);
        if (!done)
            take_back(core, &trial);
        if (trial.n && trial.pods[0]->shape == trial.pods[trial.n - 1]->shape)
            break; /* one shape: the way round makes no difference */
    }
    free(trial.pods);
    free(trial.slots);
    return done;
}

static void plan_gang(struct gang_core *core, struct gang *gang)
{
    struct tally t = tally(core, gang);
    gang->retry = false;
    if (t.bound + t.binding + t.plannable < gang_needed(gang) && !gang->hoping)
        return; /* review() has said why */
    int slots = gang->n_slots;
    struct shortage shortage;
    bool done = try_plan(core, gang, &t, &shortage);
    if (!done && gang->n_slots) { /* what is there may be in its own way */
        plan_drop(core, gang, REASON_SLOT_MOVED);
        slots = 0;
        done = try_plan(core, gang, &t, &shortage);
    }
    if (done) {
        bool on_its_way = gang->state == GANG_PLANNED || gang->state == GANG_RECOVERING;
        if (gang->n_slots > slots || (gang->n_slots && !on_its_way))
            announce(core, gang);
        return;
    }
    core->stats.plans_failed++;
    gang->tried = core->clock;
    clear_nominations(core, gang); /* also those of an earlier life */
    if (gang->state == GANG_PLANNED)
        gang_enter(core, gang, gang_without_plan(gang));
    timer_set(core, &gang->timers[TIMER_REFRESH], core->now + core->config.text_refresh);
    if (shortage.culprit && gang->state != GANG_BACKED_OFF)
        explain_failure(core, gang, &shortage);
}

static bool to_be_planned(const struct gang_core *core, const struct gang *gang)
{
    switch (gang->state) {
    case GANG_ASSEMBLING:
        if (!gang->hoping)
            return false;
        break;
    case GANG_WAITING:
    case GANG_BACKED_OFF:
    case GANG_PLANNED:
    case GANG_RECOVERING:
        break;
    default:
        return false;
    }
    if (gang->retry)
        return true;
    return !gang->n_slots && gang->tried < core->freed;
}

/* Recovering first, then priority; those that failed go behind their equals, then by age. */
static int by_order(const void *a, const void *b)
{
    const struct gang *g = *(struct gang *const *)a, *h = *(struct gang *const *)b;
    bool gr = g->state == GANG_RECOVERING, hr = h->state == GANG_RECOVERING;
    if (gr != hr)
        return gr ? -1 : 1;
    if (g->priority != h->priority)
        return g->priority > h->priority ? -1 : 1;
    if (g->last_failure != h->last_failure)
        return g->last_failure < h->last_failure ? -1 : 1;
    usec_t gc = g->facts ? g->facts->created : 0, hc = h->facts ? h->facts->created : 0;
    if (gc != hc)
        return gc < hc ? -1 : 1;
    return strcmp(g->key, h->key);
}

void plan_pass(struct gang_core *core)
{
    struct gang **due = NULL;
    size_t n = 0, cap = 0;
    map_for_each (e, &core->gangs) {
        struct gang *gang = e->value;
        if (to_be_planned(core, gang)) {
            GROW(due, cap, n + 1);
            due[n++] = gang;
        }
    }
    if (n > 1)
        qsort(due, n, sizeof *due, by_order);
    for (size_t i = 0; i < n; i++)
        plan_gang(core, due[i]);
    free(due);
}

/* ---- undoing and moving ---- */

void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why)
{
    if (!gang->n_slots)
        return;
    core->stats.plans_dropped++;
    slots_release(core, gang, why);
    gang_touch(core, gang);
    if (gang->state == GANG_PLANNED)
        gang_enter(core, gang, gang_without_plan(gang));
}

void slot_leave(struct gang_core *core, struct slot *slot)
{
    struct gang *gang = slot->gang;
    struct pod *pod = slot->pod;
    struct node *to = plan_node(core, gang, slot->shape, slot->node);
    struct shape *shape = shape_ref(slot->shape);
    gang_touch(core, gang);
    slot_release(core, slot, REASON_SLOT_MOVED);
    if (!to) {
        gang->retry = true; /* completed, or dropped as a whole, by the pass that follows */
    } else {
        slot = slot_add(core, gang, shape, to);
        core->stats.slots_moved++;
        if (pod)
            slot_fill(slot, pod);
        if (pod && (pod->rejected || pod->nominated))
            nominate(core, pod, to);
    }
    shape_unref(core, shape);
}

/* How far the slot's member is: expected, not asked yet, on its way, at bind. */
static int progress(const struct slot *slot)
{
    return !slot->pod ? 0 : slot->pod->held ? 3 : slot->pod->sent ? 2 : 1;
}

/* The one that leaves first: its member is least far, its gang latest in order. */
static struct slot *later(struct slot *a, struct slot *b)
{
    int p = progress(a), q = progress(b);
    if (p != q)
        return p < q ? a : b;
    return by_order(&a->gang, &b->gang) > 0 ? a : b;
}

void node_settle(struct gang_core *core, struct node *node)
{
    for (;;) {
        struct slot *first = NULL;
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (slot_in_excess(slot))
                first = first ? later(slot, first) : slot;
        if (!first)
            return;
        slot_leave(core, first);
    }
}

bool node_make_room(struct gang_core *core, struct node *node, const struct shape *shape)
{
    while (!node_takes(node, shape, 0)) {
        struct slot *first = NULL;
        if (!node_could_take(node, shape))
            return false; /* moving would not help */
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (progress(slot) < 3)
                first = first ? later(slot, first) : slot;
        if (!first || !plan_node(core, first->gang, first->shape, node))
            return false;
        slot_leave(core, first);
    }
    return true;
}

/* ---- nominations and wakes ---- */

static int sent_here(const struct gang_core *core, const struct node *node)
{
    return node->woken == core->freed ? node->n_woken : 0;
}

/* A node that takes the pod beside those that were sent there for the same news. */
static struct node *starved_node(struct gang_core *core, const struct pod *pod)
{
    struct node *best = NULL;
    for (size_t i = 0; i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (node && node_takes(node, pod->shape, sent_here(core, node)) &&
            !shape_refusal(pod->shape, node) && (!best || node_better(pod->shape, node, best)))
            best = node;
    }
    return best;
}

void nominate(struct gang_core *core, struct pod *pod, const struct node *node)
{
    if (str_eq(pod->nominated, node ? node->name : NULL) && !pod->rejected)
        return;
    if (!node && !pod->nominated)
        return;
    struct gang_effect *e = fx_add(core, GANG_NOMINATE);
    e->pod.ns = fx_str(core, pod->facts->ns);
    e->pod.name = fx_str(core, pod->facts->name);
    e->pod.uid = fx_str(core, pod->facts->uid);
    e->pod.node = node ? fx_str(core, node->name) : NULL;
    free(pod->nominated);
    pod->nominated = node ? xstrdup(node->name) : NULL;
    if (node) {
        core->stats.wakes++;
        pod->rejected = false;
    }
}

void clear_nominations(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (!pod->node && !pod->slot)
            nominate(core, pod, NULL);
}

void starve(struct gang_core *core, struct pod *pod)
{
    if (list_empty(&pod->in_starved))
        list_push(&core->starved, &pod->in_starved);
    core->starved_tried = 0;
}

/*
 * A reservation that ends is no event for the scheduler: pods it kept out are woken, as many as
 * there is room for, a bounded number at a time. Pods of a shape that found no node are not
 * looked at again in the same pass.
 */
void wake_starved(struct gang_core *core)
{
    if (core->starved_tried == core->freed || list_empty(&core->starved))
        return;
    core->starved_tried = core->freed;
    const struct shape *full = NULL;
    int left = WAKES_PER_STEP;
    list_for_each_safe (pod, &core->starved, struct pod, in_starved) {
        if (pod->node || pod_is_finished(pod)) {
            list_remove(&pod->in_starved);
            continue;
        }
        if (pod->shape == full || pod->woken == core->freed)
            continue; /* woken for this news already, and refused all the same */
        struct node *node = starved_node(core, pod);
        if (!node) {
            full = pod->shape;
            continue;
        }
        node->n_woken = sent_here(core, node) + 1;
        node->woken = pod->woken = core->freed;
        list_remove(&pod->in_starved);
        nominate(core, pod, node);
        if (--left == 0) { /* the rest in a step of its own */
            core->starved_tried = 0;
            timer_set(core, &core->wake, core->now + WAKE_PAUSE);
            return;
        }
    }
}
