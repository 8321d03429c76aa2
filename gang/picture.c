/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/classes.h"
#include "gang/predicates.h"
#include "gang/told.h"

/* ---- how old it is ---- */

const char *picture_doubt(const struct gang_core *core)
{
    return core->behind[GANG_WATCH_NODES]  ? "the watch of nodes is behind"
           : core->behind[GANG_WATCH_PODS] ? "the watch of pods is behind"
                                           : NULL;
}

void take_watch(struct gang_core *core, enum gang_watch of, bool behind)
{
    bool was = picture_doubt(core);
    core->behind[of] = behind;
    bool is = picture_doubt(core);
    if (is && !was)
        core->behind_since = core->now;
    if (is || !was)
        return;
    core->follows_since = core->now;
    list_for_each (gang, &core->open, struct gang, in_open)
        if (gang->n_held) /* what is held may be enough for the express lane now */
            gang_touch(core, gang);
}

/* ---- nodes ---- */

struct node *node_by_name(const struct gang_core *core, const char *name)
{
    return map_get(&core->nodes, name);
}

static uint32_t free_id(struct gang_core *core)
{
    for (size_t i = core->n_ids; i-- > 0 && core->n_ids > map_count(&core->nodes);)
        if (!core->by_id[i])
            return (uint32_t)i;
    core->by_id = xreallocarray(core->by_id, core->n_ids + 1, sizeof *core->by_id);
    core->by_id[core->n_ids] = NULL;
    return (uint32_t)core->n_ids++;
}

/* Pods that the watch has shown nominated to the node before it was known. */
static void nominated_before(struct gang_core *core, const char *name)
{
    if (!core->synced)
        return; /* all are looked at when the picture is whole */
    map_for_each (e, &core->pods) {
        struct pod *pod = e->value;
        if (str_eq(pod->nominated, name))
            nomination_note(core, pod);
    }
}

struct node *node_get(struct gang_core *core, const char *name)
{
    struct node *node = node_by_name(core, name);
    if (node)
        return node;
    node = xcalloc(1, sizeof *node);
    node->name = xstrdup(name);
    node->id = free_id(core);
    node->born = node->gen = ++core->clock;
    list_init(&node->in_kept);
    node_joins_classes(core, node);
    node_crowd(core, node);
    core->by_id[node->id] = node;
    list_init(&node->pods);
    list_init(&node->slots);
    list_init(&node->nominated);
    list_init(&node->promised);
    map_set(&core->nodes, name, node);
    nominated_before(core, name);
    return node;
}

void node_drop(struct gang_core *core, struct node *node)
{
    list_for_each_safe (pod, &node->promised, struct pod, in_promised)
        promise_end(core, pod);
    core->by_id[node->id] = NULL;
    node_leaves_classes(core, node);
    list_remove(&node->in_kept);
    list_for_each_safe (pod, &node->nominated, struct pod, in_nominated)
        list_remove(&pod->in_nominated);
    map_remove(&core->nodes, node->name);
    gang_node_facts_free(node->facts);
    amounts_done(core, &node->allocatable);
    amounts_done(core, &node->used);
    amounts_done(core, &node->reserved);
    amounts_done(core, &node->kept);
    free(node->name);
    free(node);
}

/* Deleted nodes stay while something is charged or reserved there; swept at the end of a step, so
 * that no pointer to a node dies within one. */
void nodes_sweep(struct gang_core *core)
{
    for (size_t i = 0; core->sweep && i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (node && !node->facts && !node->n_pods && !node->n_slots)
            node_drop(core, node);
    }
    core->sweep = false;
}

static bool grew(const struct amounts *before, const struct amounts *after)
{
    for (size_t i = 0; i < after->n; i++)
        if (after->items[i].amount > amount_of(before, after->items[i].resource))
            return true;
    return false;
}

static bool has_devices(const struct gang_core *core, const struct node *node)
{
    const struct amounts *a = &node->allocatable;
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].amount > 0 && gang_is_device(core->resources[a->items[i].resource]))
            return true;
    return false;
}

static bool kvs_equal(const struct gang_kvs *a, const struct gang_kvs *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(gang_kvs_get(b, a->items[i].key), a->items[i].value))
            return false;
    return true;
}

/* Whether the rules that a pod is held against are the same. */
static bool rules_equal(const struct gang_node_facts *a, const struct gang_node_facts *b)
{
    if (a->unschedulable != b->unschedulable || a->n_taints != b->n_taints ||
        !kvs_equal(&a->labels, &b->labels))
        return false;
    for (size_t i = 0; i < a->n_taints; i++)
        if (a->taints[i].effect != b->taints[i].effect ||
            strcmp(a->taints[i].key, b->taints[i].key) != 0 ||
            strcmp(a->taints[i].value, b->taints[i].value) != 0)
            return false;
    return true;
}

/* Slots on a node that no longer passes their shape's rules leave it. */
static void evict_slots(struct gang_core *core, struct node *node)
{
    bool again = true;
    while (again) {
        again = false;
        list_for_each (slot, &node->slots, struct slot, in_node)
            if (!node->facts || shape_refusal(slot->shape, node)) {
                slot_leave(core, slot);
                again = true; /* the list may have changed anywhere */
                break;
            }
    }
    node_settle(core, node);
}

/* ---- resources that nodes have ---- */

static bool offer(struct gang_core *core, const struct gang_amounts *a, int by)
{
    bool news = false;
    for (size_t i = 0; i < a->n; i++) {
        uintptr_t n = (uintptr_t)map_get(&core->offered, a->items[i].resource);
        news |= n == 0;
        if (n + (uintptr_t)by)
            map_set(&core->offered, a->items[i].resource, (void *)(n + (uintptr_t)by));
        else
            map_remove(&core->offered, a->items[i].resource);
    }
    return news;
}

/* Of a pod that asks for very many resources those that no node has are not counted: when a node
 * comes with one of them, it is. */
static void offer_note(struct gang_core *core, const struct gang_node_facts *was,
                       const struct gang_node_facts *is)
{
    bool news = is && offer(core, &is->allocatable, 1);
    if (was)
        offer(core, &was->allocatable, -1);
    if (news && core->n_invalid)
        map_for_each (e, &core->pods)
            if (shape_is_partial(((struct pod *)e->value)->facts))
                pod_reshape(core, e->value);
}

void take_node(struct gang_core *core, struct gang_node_facts *facts)
{
    struct node *node = node_get(core, facts->name);
    bool same_rules = node->facts && rules_equal(node->facts, facts);
    struct amounts before = node->allocatable;
    node->allocatable = (struct amounts){0};
    amounts_set(core, &node->allocatable, &facts->allocatable);
    bool more = grew(&before, &node->allocatable);
    if (more || grew(&node->allocatable, &before)) {
        node->stirred = core->model.stirred = core->now;
        node_recount(core, node);
    }
    amounts_done(core, &before);
    hosts_note(core, node->facts, facts);
    offer_note(core, node->facts, facts);
    struct gang_node_facts *old = node->facts;
    node->facts = facts;
    if (!same_rules)
        told_note(core, node, old ? &old->labels : NULL, &facts->labels);
    gang_node_facts_free(old);
    node->devices = has_devices(core, node);
    layout_new(core);
    node_moved(core, node);
    if (!same_rules) {
        node->gen = ++core->clock;
        node_crowd(core, node);
    }
    if (!same_rules || more)
        node_changed(core, node);
    if (!same_rules || !list_empty(&node->slots))
        evict_slots(core, node);
}

void take_node_gone(struct gang_core *core, const char *name)
{
    struct node *node = node_by_name(core, name);
    if (!node)
        return;
    hosts_note(core, node->facts, NULL);
    offer_note(core, node->facts, NULL);
    struct gang_node_facts *old = STEAL(node->facts);
    if (old)
        told_note(core, node, &old->labels, NULL);
    gang_node_facts_free(old);
    node->gen = ++core->clock;
    node_crowd(core, node);
    amounts_clear(core, &node->allocatable);
    node_recount(core, node);
    evict_slots(core, node);
    core->sweep = true;
}

/* ---- pods ---- */

struct pod *pod_by_uid(const struct gang_core *core, const char *uid)
{
    return map_get(&core->pods, uid);
}

static char *full_name(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns, name);
}

struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name)
{
    cleanup_free char *key = full_name(ns, name);
    return map_get(&core->names, key);
}

bool pod_was_deleted(const struct gang_core *core, const char *uid)
{
    return map_get(&core->gone_set, uid) != NULL;
}

bool pod_is_finished(const struct pod *pod)
{
    return pod->facts->phase == PHASE_SUCCEEDED || pod->facts->phase == PHASE_FAILED;
}

enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts)
{
    return facts->bad_link       ? REASON_BAD_LINK
           : facts->awaits_group ? REASON_AWAITS_GROUP
                                 : REASON_NONE;
}

/* Nothing but room is between it and a node. */
static bool for_itself(const struct pod *pod)
{
    return !pod->gang && !pod->node && !pod_unlinked(pod->facts);
}

bool pod_counts(const struct pod *pod)
{
    return !pod->facts->deleting && !pod->evicted && pod->facts->phase != PHASE_FAILED;
}

bool pod_is_ours(const struct gang_core *core, const struct pod *pod)
{
    for (size_t i = 0; i < core->config.n_scheduler_names; i++)
        if (str_eq(core->scheduler_names[i], pod->facts->scheduler))
            return true;
    return core->config.n_scheduler_names == 0;
}

bool pod_plannable(const struct gang_core *core, const struct pod *pod)
{
    return pod_counts(pod) && !pod->node && !pod_is_finished(pod) && pod->facts->n_gates == 0 &&
           pod_is_ours(core, pod) && !pod->overlooked;
}

static void remember_gone(struct gang_core *core, const char *uid)
{
    if (pod_was_deleted(core, uid))
        return;
    if (!core->gone)
        core->gone = xcalloc(GONE_MAX, sizeof *core->gone);
    char **place = &core->gone[core->gone_at];
    core->gone_at = (core->gone_at + 1) % GONE_MAX;
    if (*place) {
        map_remove(&core->gone_set, *place);
        free(*place);
    }
    *place = xstrdup(uid);
    map_set(&core->gone_set, uid, *place);
}

static void join_shape(struct gang_core *core, struct pod *pod)
{
    pod->shape = shape_of(core, pod->facts);
    list_push(&pod->shape->pods, &pod->in_shape);
    told_join(pod->shape, pod);
}

static void leave_shape(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_shape);
    shape_unref(core, pod->shape);
    pod->shape = NULL;
}

static void join_gang(struct gang_core *core, struct pod *pod)
{
    if (pod->facts->group.api_group)
        group_add(core, pod);
}

static void leave_gang(struct gang_core *core, struct pod *pod)
{
    if (pod->gang)
        group_remove(core, pod);
}

/* Its place is given up; a held call is answered. */
static void lose_slot(struct gang_core *core, struct pod *pod)
{
    if (pod->slot)
        slot_release(core, pod->slot, REASON_SLOT_MOVED);
}

static struct pod *pod_new(struct gang_core *core, struct gang_pod_facts *facts)
{
    struct pod *pod = xcalloc(1, sizeof *pod);
    pod->facts = facts;
    pod->queued = core->now;
    list_init(&pod->in_gang);
    list_init(&pod->in_node);
    list_init(&pod->in_shape);
    list_init(&pod->in_starved);
    list_init(&pod->in_woken);
    list_init(&pod->in_unasked);
    list_init(&pod->in_nominated);
    list_init(&pod->in_promised);
    list_init(&pod->in_passing);
    list_init(&pod->in_shunning);
    list_init(&pod->in_lone);
    list_init(&pod->in_space);
    for (int i = 0; i < POD_TIMERS; i++) {
        pod->timers[i].kind = (enum timer_kind)(GANG_TIMERS + i);
        pod->timers[i].owner = pod;
    }
    pod->nominated = xstrdup_null(facts->nominated);
    gate_seen(core, pod, /* was= */ false, facts->gated);
    core->n_invalid += facts->invalid != NULL;
    map_set(&core->pods, facts->uid, pod);
    cleanup_free char *key = full_name(facts->ns, facts->name);
    map_set(&core->names, key, pod);
    claims_join(core, pod);
    labels_learn(core, facts);
    join_shape(core, pod);
    join_gang(core, pod);
    nomination_note(core, pod);
    return pod;
}

static void set_unseen(struct gang_core *core, struct pod *pod, bool unseen)
{
    core->n_unseen += unseen - pod->unseen;
    pod->unseen = unseen;
}

void pod_remove(struct gang_core *core, struct pod *pod)
{
    if (pod->call)
        reply_bind(core, pod, reason_call(core, REASON_POD_DELETED, pod->gang, pod->facts, NULL));
    lose_slot(core, pod);
    uncharge(core, pod);
    leave_gang(core, pod);
    leave_shape(core, pod);
    claims_leave(core, pod);
    list_remove(&pod->in_starved);
    list_remove(&pod->in_woken);
    list_remove(&pod->in_unasked);
    list_remove(&pod->in_nominated);
    promise_end(core, pod);
    passing_end(core, pod);
    list_remove(&pod->in_shunning);
    list_remove(&pod->in_lone);
    for (int i = 0; i < POD_TIMERS; i++)
        timer_stop(core, &pod->timers[i]);
    pod_reject(core, pod, false);
    gate_seen(core, pod, pod->facts->gated, /* is= */ false);
    set_unseen(core, pod, false);
    core->n_invalid -= pod->facts->invalid != NULL;
    labels_forget(core, pod->facts);
    map_remove(&core->pods, pod->facts->uid);
    cleanup_free char *key = full_name(pod->facts->ns, pod->facts->name);
    if (map_get(&core->names, key) == pod)
        map_remove(&core->names, key);
    gang_pod_facts_free(pod->facts);
    free(pod->nominated);
    free(pod->named);
    free(pod->pinned);
    free(pod->refused_on);
    free(pod);
}

/* What the facts say about where the pod runs goes into the ledger. */
static void settle_charge(struct gang_core *core, struct pod *pod)
{
    const char *on = pod->facts->node;
    const struct node *asked = pod->slot ? pod->slot->node : pod->node; /* of its bind call */
    bool as_asked = on && asked && strcmp(on, asked->name) == 0;
    if (pod_is_finished(pod)) {
        lose_slot(core, pod);
        uncharge(core, pod);
    } else if (on) {
        pod_reject(core, pod, false);
        struct node *node = node_get(core, on);
        if (pod->slot && pod->slot->node == node) {
            hold_end(core, pod); /* the slot becomes the charge, the call is answered below */
            slot_free(core, pod->slot);
        }
        lose_slot(core, pod);
        charge(core, pod, node, CHARGE_ASSIGNED);
        if (!pod->evicted)
            timer_stop(core, pod_timer(pod, TIMER_RETRY));
        node_settle(core, node);
    } else if (pod->slot && !pod_plannable(core, pod)) {
        lose_slot(core, pod); /* deleted or gated on its way */
    }
    if (as_asked && !pod_is_finished(pod) && pod->gang && pod->gang->state == GANG_COMMITTING)
        return; /* answered when the commit is over, see bound() */
    if (pod->call && (on || !pod_counts(pod)))
        reply_bind(core, pod,
                   as_asked ? ""
                            : reason_call(core, on ? REASON_POD_BOUND : REASON_POD_DELETED,
                                          pod->gang, pod->facts, on));
}

/* What the API server has as status.nominatedNodeName, as far as we know. */
static void note_nomination(struct pod *pod, const char *node)
{
    char *old = pod->nominated;
    pod->nominated = xstrdup_null(node);
    free(old);
}

/*
 * An event without a nomination may be older than our own write of one. It is not where the watch
 * has shown that nomination before, and nothing was written since: kube-scheduler has cleared it.
 */
static bool nomination_is_over(const struct pod *pod, const struct gang_pod_facts *old)
{
    return old->nominated && str_eq(old->nominated, pod->nominated) && !pod->gang &&
           list_empty(&pod->in_woken);
}

static void change_shape(struct gang_core *core, struct pod *pod)
{
    struct node *node = pod->node;
    enum charge how = pod->charge;
    usec_t left = node ? node->left : 0;
    lose_slot(core, pod);
    uncharge(core, pod);
    leave_shape(core, pod);
    join_shape(core, pod);
    if (node) {
        node->left = left; /* it did not leave */
        charge(core, pod, node, how);
        node_settle(core, node);
    }
}

/* The needs are what they were: nothing about the sums changes. The slot stays if its node still
 * does: the pod may be on its way there, and its volume be what is being prepared for that. */
static void change_rules(struct gang_core *core, struct pod *pod)
{
    if (pod->node)
        node_joined(core, pod->node, pod->shape, -1);
    leave_shape(core, pod);
    join_shape(core, pod);
    if (pod->node)
        node_joined(core, pod->node, pod->shape, 1);
    if (pod->slot && !shape_refusal(pod->shape, pod->slot->node))
        slot_reshape(core, pod->slot, pod->shape);
    else
        lose_slot(core, pod);
}

/* Resized in place, its selector changed while gated, or where its volumes are is known now. */
void pod_reshape(struct gang_core *core, struct pod *pod)
{
    struct shape *now = shape_of(core, pod->facts), *before = shape_ref(pod->shape);
    if (now != before) {
        promise_end(core, pod); /* of what it needed before */
        if (pod->gang) {
            happened(core, pod->gang, HAPPENING_MEMBER_CHANGED);
            pod->gang->retry = true;
            gang_touch(core, pod->gang);
        }
        if (shape_needs_equal(now, before))
            change_rules(core, pod);
        else
            change_shape(core, pod);
        promise_note(core, pod);
    }
    shape_unref(core, before);
    shape_unref(core, now);
}

/* What the new facts say of a member beside the old. */
static enum gang_happening news(const struct gang_pod_facts *old, const struct gang_pod_facts *now)
{
    if (now->phase == PHASE_FAILED && old->phase != PHASE_FAILED)
        return HAPPENING_MEMBER_LOST;
    if (now->deleting && !old->deleting)
        return HAPPENING_MEMBER_LOST;
    if (now->phase == PHASE_SUCCEEDED && old->phase != PHASE_SUCCEEDED)
        return HAPPENING_MEMBER_ENDED;
    return now->node && !old->node ? HAPPENING_MEMBER_BOUND : HAPPENING_MEMBER_CHANGED;
}

static void pod_update(struct gang_core *core, struct pod *pod, struct gang_pod_facts *facts)
{
    struct gang_pod_facts *old = pod->facts;
    if (pod->gang)
        happened(core, pod->gang, news(old, facts));
    pod->facts = facts;
    if (!gang_ref_equal(&old->group, &facts->group)) {
        lose_slot(core, pod);
        leave_gang(core, pod);
        join_gang(core, pod);
    } else if (pod->gang) {
        group_declare(core, pod);
        group_moved(core, pod);
    }
    claims_leave(core, pod);
    claims_join(core, pod);
    pod_reshape(core, pod);
    labels_learn(core, facts);
    labels_forget(core, old);
    if (pod->node)
        node_crowd(core, pod->node); /* its labels, or that it is being deleted */
    if (pod->node && !kvs_equal(&old->labels, &facts->labels))
        node_changed(core, pod->node); /* rules between pods may say something else now */
    if (pod->slot)
        node_crowd(core, pod->slot->node);
    if (facts->node || (facts->nominated && str_eq(facts->nominated, pod->nominated)))
        nudge_arrived(core, pod);
    if ((old->gated || old->n_gates) && !facts->gated && !facts->n_gates)
        pod->queued = core->now;
    overlook_seen(core, pod, old);
    if (facts->nominated || nomination_is_over(pod, old))
        note_nomination(pod, facts->nominated);
    nomination_note(core, pod);
    if (!kvs_equal(&old->labels, &facts->labels))
        pod->unshunned = 0;
    if (!list_empty(&pod->in_shunning))
        shunning_begin(core, pod);
    timer_stop(core, pod_timer(pod, TIMER_UNSEEN));
    set_unseen(core, pod, false);
    gate_seen(core, pod, old->gated, facts->gated);
    core->n_invalid += (facts->invalid != NULL) - (old->invalid != NULL);
    if (!str_eq(old->awaits_group, facts->awaits_group))
        pod->told = REASON_NONE; /* of another sentence */
    gang_pod_facts_free(old);
}

void take_pod_gone(struct gang_core *core, struct pod *pod)
{
    remember_gone(core, pod->facts->uid);
    pod_remove(core, pod);
}

void take_pod(struct gang_core *core, struct gang_pod_facts *facts)
{
    map_remove(&core->gone_set, facts->uid); /* filter may have been ahead of the watch */
    usec_t latest = facts->bound_at > facts->created ? facts->bound_at : facts->created;
    core->newest = latest > core->newest ? latest : core->newest;
    struct pod *pod = pod_by_uid(core, facts->uid);
    if (pod && facts->part) {
        gang_pod_facts_free(facts);
        return;
    }
    if (!pod) {
        struct pod *other = pod_by_name(core, facts->ns, facts->name);
        if (other) /* deleted and made again; the watch skipped the middle */
            take_pod_gone(core, other);
        pod = pod_new(core, facts);
        /* before us, maybe by another life of ours */
        pod_reject(core, pod, facts->unschedulable && pod_is_ours(core, pod));
        settle_charge(core, pod);
        if (!core->synced && !pod->node)
            passing_inherited(core, pod);
        if (pod->rejected && !pod->gang && !pod->node && !core->synced)
            starve(core, pod); /* what kept it out then may be gone */
    } else {
        bool could = pod_plannable(core, pod), was_there = pod->node || pod_is_finished(pod);
        bool was_single = for_itself(pod);
        pod_update(core, pod, facts);
        settle_charge(core, pod);
        if (pod->gang &&
            (could != pod_plannable(core, pod) || was_there != (pod->node || pod_is_finished(pod))))
            pod->gang->retry = true;
        if (pod->rejected && !was_single && for_itself(pod))
            starve(core, pod); /* kept out for the gang it was to be a member of */
    }
    if (pod->gang)
        gang_touch(core, pod->gang);
    gate_touch(core, pod);
}

/* kube-scheduler asks about no pod that has a node or has ended. */
static bool may_learn(const struct gang_core *core, const struct gang_pod_facts *facts)
{
    return core->n_unseen < UNSEEN_MAX && !facts->node && facts->phase == PHASE_PENDING &&
           gang_pod_facts_size(facts) <= UNSEEN_SIZE;
}

struct pod *learn_pod(struct gang_core *core, struct gang_pod_facts *facts)
{
    if (!may_learn(core, facts)) {
        gang_pod_facts_free(facts);
        return NULL;
    }
    struct pod *pod = pod_new(core, facts);
    set_unseen(core, pod, true);
    timer_set(core, pod_timer(pod, TIMER_UNSEEN), core->now + UNSEEN_LIMIT);
    settle_charge(core, pod);
    return pod;
}
