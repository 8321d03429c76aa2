/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/podgroups.h"

#include "gang/bounds.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/kube_queue.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/nominated_room.h"
#include "gang/cluster/pod_binding.h"
#include "gang/cluster/pod_eviction.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/timers.h"
#include "gang/podgroup/costly_gangs.h"
#include "gang/podgroup/earmark.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/gang_state.h"
#include "gang/podgroup/infeasible_nodes.h"
#include "gang/podgroup/quorum.h"
#include "gang/queue/queues.h"

/* ---- existence ---- */

struct group *group_find(const struct gang_core *core, const struct gang_ref *ref)
{
    return gang_ref_get(&core->groups, ref);
}

struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref)
{
    const struct group *group = group_find(core, ref);
    return group ? group->gang : NULL;
}

static struct gang *gang_new(struct gang_core *core, struct group *head)
{
    struct gang *gang = xcalloc(1, sizeof *gang);
    gang->core = core;
    gang->head = head;
    gang->state = GANG_ASSEMBLING;
    gang->since = core->now;
    gang->reason.text = xstrdup("");
    list_init(&gang->groups);
    list_init(&gang->members);
    list_init(&gang->slots);
    list_init(&gang->preempted_room);
    list_init(&gang->marks.in_touched);
    list_init(&gang->in_open);
    list_init(&gang->in_queue);
    list_init(&gang->marks.in_order_changed);
    gang->order.behind = gang;
    for (int i = 0; i < GANG_TIMERS; i++) {
        gang->timers[i].kind = (enum timer_kind)i;
        gang->timers[i].owner = gang;
    }
    list_push(&core->gangs, &gang->in_core);
    core->n_gangs++;
    gang_state_queue(core, gang);
    return gang;
}

static void gang_free(struct gang_core *core, struct gang *gang)
{
    for (int i = 0; i < GANG_TIMERS; i++)
        timer_stop(core, &gang->timers[i]);
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        slot_free(core, slot);
    preempted_room_end(core, gang);
    gang_takes_room(core, gang, false);
    infeasible_nodes_forget(core, gang);
    earmark_end(core, gang);
    costly_gang_end(core, gang);
    order_forget(core, gang);
    queue_leave(core, gang);
    list_remove(&gang->marks.in_touched);
    list_remove(&gang->marks.in_order_changed);
    list_remove(&gang->in_open);
    list_remove(&gang->in_core);
    core->n_gangs--;
    bundle_free(gang->bundle);
    free(gang->invalid);
    free(gang->broken_by);
    free(gang->evicting);
    free(gang->reason.text);
    free(gang->reason.help);
    free(gang->pod_text.text);
    free(gang);
}

static void group_join(struct group *group, struct gang *gang)
{
    struct list *at = gang->groups.next;
    while (at != &gang->groups &&
           strcmp(CONTAINER_OF(at, struct group, in_gang)->key, group->key) < 0)
        at = at->next;
    list_push(at, &group->in_gang); /* before `at` */
    group->gang = gang;
}

static struct group *group_get(struct gang_core *core, const struct gang_ref *ref)
{
    struct group *group = group_find(core, ref);
    if (group)
        return group;
    group = xcalloc(1, sizeof *group);
    group->key = gang_ref_key(ref);
    group->ref = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    list_init(&group->in_gang);
    list_init(&group->children);
    list_init(&group->namers);
    map_set(&core->groups, group->key, group);
    units_build(group, /* own_only= */ false);
    group_join(group, gang_new(core, group));
    group->gang->root = group->units[0];
    gang_touch(core, group->gang);
    return group;
}

static void drop_links(struct gang_core *core, struct group *group)
{
    for (size_t i = 0; i < group->n_links; i++) {
        list_remove(&group->links[i].in_to);
        gang_touch(core, group->links[i].to->gang); /* gang_sweep() may free it now */
    }
    free(group->links);
    group->links = NULL;
    group->n_links = 0;
}

/* Whether nothing uses the PodGroup any more. */
static bool group_is_over(const struct group *group)
{
    return !group->facts && !group->n_members && list_empty(&group->children) &&
           list_empty(&group->namers);
}

static void group_free(struct gang_core *core, struct group *group)
{
    units_free(group);
    list_remove(&group->in_gang);
    map_remove(&core->groups, group->key);
    gang_group_facts_free(group->facts);
    free(group->ref.api_group);
    free(group->ref.ns);
    free(group->ref.name);
    free(group->key);
    free(group);
}

static void gang_drop(struct gang_core *core, struct gang *gang)
{
    list_for_each_safe (group, &gang->groups, struct group, in_gang)
        group_free(core, group);
    gang_free(core, gang);
}

bool gang_sweep(struct gang_core *core, struct gang *gang)
{
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (!group_is_over(group))
            return false;
    gang_drop(core, gang);
    return true;
}

void groups_drop(struct gang_core *core)
{
    map_for_each (e, &core->groups)
        drop_links(core, e->value);
    list_for_each_safe (gang, &core->gangs, struct gang, in_core)
        gang_drop(core, gang);
    map_for_each (e, &core->priority_classes)
        gang_priority_class_facts_free(e->value);
    map_done(&core->groups);
    map_done(&core->priority_classes);
}

/* ---- the tree of a gang ---- */

static struct group *parent_of(const struct group *group)
{
    for (size_t i = 0; i < group->n_links; i++)
        if (!group->links[i].bundle)
            return group->links[i].to;
    return NULL;
}

static bool names_in_bundle(const struct group *group, const struct group *other)
{
    for (size_t i = 0; i < group->n_links; i++)
        if (group->links[i].bundle && group->links[i].to == other)
            return true;
    return false;
}

/* Whether the link makes both PodGroups one gang. A bundle counts only if each names the other. */
static bool link_counts(const struct group_link *link)
{
    return !link->bundle || names_in_bundle(link->to, link->from);
}

/* Moves members and slots to the new units. Releases the slots of expected members. */
static void recount_in_units(struct gang_core *core, struct gang *gang)
{
    list_for_each (pod, &gang->members, struct pod, in_gang)
        pod->unit = unit_of_pod(pod->group, pod->facts);
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang) {
        if (slot->pod)
            slot_recount(slot);
        else
            slot_release(core, slot, REASON_SLOT_MOVED);
    }
    gang_recount(gang);
}

static void build_tree(struct gang_core *core, struct gang *gang)
{
    int tops = 0;
    gang->bundle = bundle_free(gang->bundle);
    list_for_each (group, &gang->groups, struct group, in_gang)
        units_build(group, gang->over);
    list_for_each (group, &gang->groups, struct group, in_gang) {
        struct group *parent = parent_of(group);
        if (!parent || parent->gang != gang || unit_is_below(parent->units[0], group->units[0]))
            continue;
        unit_attach(group->units[0], parent->units[0]);
        unit_count_children(parent->units[0]);
    }
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (!group->units[0]->parent && tops++ == 0)
            gang->head = group;
    gang->root = gang->head->units[0];
    if (tops > 1) {
        gang->root = gang->bundle = bundle_new();
        list_for_each (group, &gang->groups, struct group, in_gang)
            if (!group->units[0]->parent)
                unit_attach(group->units[0], gang->bundle);
    }
    /* With minMember 0, the gang needs one member, and the others are extras. */
    if (unit_needs(gang->root) == 0)
        unit_needs_one(gang->root);
    recount_in_units(core, gang);
}

static char *validate_links(const struct group *group)
{
    const char *ns = group->ref.ns, *name = group->ref.name;
    if (group->facts->n_bundle > BOUND_BUNDLE) {
        cleanup_free char *text = gang_bound_exceeded(OVER_BUNDLE, group->facts->n_bundle);
        return xasprintf("PodGroup %s/%s: %s", ns, name, text);
    }
    for (size_t i = 0; i < group->n_links; i++) {
        const struct group_link *link = &group->links[i];
        const struct gang_ref *to = &link->to->ref;
        if (!link->to->facts)
            return xasprintf("PodGroup %s/%s: its %s %s/%s does not exist", ns, name,
                             link->bundle ? "gang group" : "spec.parentPodGroup", to->ns, to->name);
        if (!link_counts(link))
            return xasprintf(
                "PodGroup %s/%s: its gang group names PodGroup %s/%s, whose gang group "
                "does not name it",
                ns, name, to->ns, to->name);
    }
    const struct group *up = group;
    for (int i = 0; up && i < BOUND_FAMILY; i++) {
        up = parent_of(up);
        if (up == group)
            return xasprintf("PodGroup %s/%s: spec.parentPodGroup leads back to this PodGroup; "
                             "remove one link of the circle",
                             ns, name);
    }
    return NULL;
}

/* A parent counts its children, so it cannot have subgroups. */
static char *validate_parent(const struct group *group)
{
    if (!group->facts->n_subgroups)
        return NULL;
    list_for_each (child, &group->units[0]->children, struct unit, in_parent)
        if (child->group != group)
            return xasprintf(
                "PodGroup %s/%s: it has subgroups, so PodGroup %s/%s cannot name it as "
                "spec.parentPodGroup",
                group->ref.ns, group->ref.name, child->group->ref.ns, child->group->ref.name);
    return NULL;
}

/* Sets gang->invalid to the first error in the gang's PodGroups. Skips PodGroups without facts,
 * which refusal() in reconcile.c reports. */
static void validate_gang(struct gang *gang)
{
    static char *(*const checks[])(const struct group *) = {validate_links, validate_group,
                                                            validate_parent};
    if (gang->over)
        return; /* refuse_family() has set gang->invalid */
    free(STEAL(gang->invalid));
    list_for_each (group, &gang->groups, struct group, in_gang)
        for (size_t i = 0; i < ARRAY_SIZE(checks) && group->facts && !gang->invalid; i++)
            gang->invalid = checks[i](group);
}

/* ---- families: PodGroups that form one gang ---- */

struct family {
    struct group **items;
    size_t n, cap;
    size_t sums[GANG_BOUND_MAX]; /* what the bounds on a whole family limit */
    enum gang_bound over;        /* the exceeded bound; GANG_BOUND_MAX: none */
};

static void family_add(struct gang_core *core, struct family *f, struct group *group)
{
    static const enum gang_bound summed[] = {OVER_FAMILY, OVER_SUBGROUPS, OVER_MIN_RESOURCES,
                                             OVER_MEMBERS};
    if (group->formed == core->forming || f->over != GANG_BOUND_MAX)
        return;
    group->formed = core->forming;
    GROW(f->items, f->cap, f->n + 1);
    f->items[f->n++] = group;
    f->sums[OVER_FAMILY]++;
    f->sums[OVER_MEMBERS] += group->n_members;
    if (group->facts) {
        f->sums[OVER_SUBGROUPS] += group->facts->n_subgroups;
        f->sums[OVER_MIN_RESOURCES] += group->facts->min_resources.n;
    }
    for (size_t i = 0; i < ARRAY_SIZE(summed); i++)
        if (f->sums[summed[i]] > gang_bounds[summed[i]].most)
            f->over = summed[i];
}

/* Finds the family of the group `first`. Stops when a bound is exceeded. It follows links and
 * children, but not namers: a bundle counts only if the group has a link to the namer too. */
static void family_find(struct gang_core *core, struct family *f, struct group *first)
{
    family_add(core, f, first);
    for (size_t i = 0; i < f->n; i++) {
        struct group *group = f->items[i];
        for (size_t k = 0; k < group->n_links; k++)
            if (link_counts(&group->links[k]))
                family_add(core, f, group->links[k].to);
        list_for_each (link, &group->children, struct group_link, in_to) {
            family_add(core, f, link->from);
            if (f->over != GANG_BOUND_MAX)
                return;
        }
    }
}

static void move_members(struct gang_core *core, struct group *group, struct gang *from,
                         struct gang *to)
{
    if (group->n_members && (list_empty(&to->members) || from->first_seen < to->first_seen))
        to->first_seen = from->first_seen;
    if (group->n_members && to->newest < from->newest)
        to->newest = from->newest;
    list_for_each_safe (pod, &from->members, struct pod, in_gang)
        if (pod->group == group) {
            list_remove(&pod->in_gang);
            list_push(&to->members, &pod->in_gang);
            pod->gang = to;
            queue_count_pod(core, pod);
            if (pod->queue.rejected) /* it was refused in the old gang */
                gang_capped(to, true);
            nominated_room_update(core, pod);
            binding_of_no_commit(pod);
        }
    gang_recount(from);
    gang_recount(to);
}

/* Drops the gang's plan and all that depends on its units, which are about to change. */
static void dissolve(struct gang_core *core, struct gang *gang)
{
    plan_drop(core, gang, REASON_SLOT_MOVED);
    infeasible_nodes_forget(core, gang);
    earmark_end(core, gang);
    preempted_room_end(core, gang);
}

/* The gang into which the family is merged: that of its topmost PodGroup, if this is the head. */
static struct gang *family_gang(const struct family *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->items[i]->gang->head == f->items[i] && !parent_of(f->items[i]))
            return f->items[i]->gang;
    return f->items[0]->gang;
}

/* Drops the plan if it has more members than a new maximum allows. */
static void drop_plan_over_maximum(struct gang_core *core, struct gang *gang)
{
    gang_count(core, gang);
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        if (unit_beyond_maximum(slot->unit)) {
            plan_drop(core, gang, REASON_SLOT_MOVED);
            return;
        }
}

static void settle_gang(struct gang_core *core, struct gang *gang)
{
    build_tree(core, gang);
    validate_gang(gang);
    if (!gang->over)
        drop_plan_over_maximum(core, gang);
    earmark_order_changed(core, gang);
    gang_plan_again(gang);
    gang_touch(core, gang);
}

/* Refuses all gangs of the family, which stay separate. */
static void refuse_family(struct gang_core *core, const struct family *f, bool for_a_member)
{
    cleanup_free char *text = gang_bound_exceeded(f->over, f->sums[f->over]);
    for (size_t i = 0; i < f->n; i++) {
        struct gang *gang = f->items[i]->gang;
        if (gang->refused == core->forming)
            continue;
        gang->refused = core->forming;
        if (for_a_member && gang->over)
            gang->recounted = core->now;
        gang->over = true;
        gang->over_members = f->over == OVER_MEMBERS;
        free(gang->invalid);
        gang->invalid =
            xasprintf("PodGroup %s/%s: %s", gang->head->ref.ns, gang->head->ref.name, text);
        dissolve(core, gang);
        settle_gang(core, gang);
    }
}

/* Moves the family's PodGroups into the gang. Frees gangs that have no PodGroup left. */
static void merge_family(struct gang_core *core, const struct family *f, struct gang *gang)
{
    struct family left = {.items = NULL}; /* the new head of each gang that lost its head */
    for (size_t i = 0; i < f->n; i++) {
        struct group *group = f->items[i];
        struct gang *old = group->gang;
        if (old == gang)
            continue;
        triggered(core, old, TRIGGER_FAMILY);
        triggered(core, gang, TRIGGER_FAMILY);
        dissolve(core, old);
        dissolve(core, gang);
        list_remove(&group->in_gang);
        group_join(group, gang);
        move_members(core, group, old, gang);
        gang_broken_by(gang, old->broken_by);
        evicting_inherit(gang, old);
        costly_gang_inherits(core, gang, old);
        if (list_empty(&old->groups)) {
            gang_free(core, old);
        } else if (old->head == group) {
            old->head = CONTAINER_OF(old->groups.next, struct group, in_gang);
            GROW(left.items, left.cap, left.n + 1);
            left.items[left.n++] = old->head;
        }
    }
    for (size_t i = 0; i < left.n; i++)
        if (left.items[i]->gang != gang)
            settle_gang(core, left.items[i]->gang);
    free(left.items);
}

/* Gives PodGroups of the gang that are not in the family a gang of their own. They may belong to
 * other families, so regroup() forms these gangs again. */
static void split_off_others(struct gang_core *core, const struct family *f, struct gang *gang)
{
    for (size_t i = 0; i < f->n; i++)
        f->items[i]->stays = core->forming;
    list_for_each_safe (group, &gang->groups, struct group, in_gang) {
        if (group->stays == core->forming)
            continue;
        triggered(core, gang, TRIGGER_FAMILY);
        dissolve(core, gang);
        list_remove(&group->in_gang);
        struct gang *own = gang_new(core, group);
        triggered(core, own, TRIGGER_FAMILY);
        group_join(group, own);
        move_members(core, group, gang, own);
        costly_gang_inherits(core, own, gang);
        settle_gang(core, own);
        group->formed = 0;
    }
}

/* Forms the gang of the family of the group `first`. False: this was done already since the last
 * change. */
static bool form(struct gang_core *core, struct group *first, bool for_a_member)
{
    if (first->formed == core->forming)
        return false;
    struct family f = {.over = GANG_BOUND_MAX};
    family_find(core, &f, first);
    if (f.over != GANG_BOUND_MAX) {
        refuse_family(core, &f, for_a_member);
    } else {
        struct gang *gang = family_gang(&f);
        gang->over = false;
        merge_family(core, &f, gang);
        split_off_others(core, &f, gang);
        settle_gang(core, gang);
    }
    free(f.items);
    return true;
}

struct affected {
    struct group **items;
    size_t n, cap;
};

static void affected_add(struct affected *affected, struct group *group)
{
    GROW(affected->items, affected->cap, affected->n + 1);
    affected->items[affected->n++] = group;
}

/* The PodGroups that a change of the group may separate from it: those of its gang, and those that
 * it names. */
static struct affected affected_by(const struct group *group)
{
    struct affected affected = {NULL, 0, 0};
    list_for_each (other, &group->gang->groups, struct group, in_gang)
        affected_add(&affected, other);
    for (size_t i = 0; i < group->n_links; i++)
        affected_add(&affected, group->links[i].to);
    return affected;
}

/* Forms the gangs of the group and of the PodGroups in `affected`, which is from before the change.
 * The loop terminates, because a PodGroup that is formed again has a gang of its own. */
static void regroup(struct gang_core *core, struct group *group, const struct affected *affected)
{
    core->forming++;
    bool again = form(core, group, /* for_a_member= */ false);
    while (again) {
        again = form(core, group, /* for_a_member= */ false);
        for (size_t i = 0; i < affected->n; i++)
            again |= form(core, affected->items[i], /* for_a_member= */ false);
    }
}

/* Forming a family with too many members takes some milliseconds. So a family that stays above the
 * bound is formed again at most once in this time for its changed members. */
#define RECOUNT_PAUSE (500 * USEC_PER_MSEC)

void family_recount(struct gang_core *core, struct gang *gang)
{
    size_t n = 0;
    list_for_each (other, &gang->groups, struct group, in_gang)
        n += other->n_members;
    if ((n > BOUND_MEMBERS) == gang->over || (gang->over && !gang->over_members))
        return;
    usec_t due = gang->recounted ? gang->recounted + RECOUNT_PAUSE : 0;
    if (gang->over && core->now < due) {
        timer_set(core, &gang->timers[TIMER_FAMILY], due);
        return;
    }
    core->forming++;
    form(core, gang->head, /* for_a_member= */ true);
}

/* ---- facts ---- */

static void add_link(struct gang_core *core, struct group *group, const struct gang_ref *ref,
                     bool bundle)
{
    struct group *to = group_get(core, ref);
    if (to == group && bundle)
        return; /* a bundle may list all its PodGroups, itself included */
    group->links[group->n_links] = (struct group_link){.from = group, .to = to, .bundle = bundle};
    struct group_link *link = &group->links[group->n_links++];
    list_push(bundle ? &to->namers : &to->children, &link->in_to);
}

static void update_links(struct gang_core *core, struct group *group)
{
    const struct gang_group_facts *f = group->facts;
    drop_links(core, group);
    if (!f || (!f->parent && !f->n_bundle))
        return;
    size_t most = f->n_bundle <= BOUND_BUNDLE ? f->n_bundle : 0; /* validate_links() refuses more */
    group->links = xcalloc(most + 1, sizeof *group->links);
    if (f->parent) {
        struct gang_ref ref = {group->ref.api_group, group->ref.ns, f->parent};
        add_link(core, group, &ref, false);
    }
    for (size_t i = 0; i < most; i++)
        add_link(core, group, &f->bundle[i], true);
}

/* A new PodGroup object does not inherit the history of an earlier one with its name. */
static void forget_object(struct group *group)
{
    group->objects++;
    if (group->gang->head != group)
        return;
    gang_scheduled_once(group->gang, false);
    gang_timed_out(group->gang, false);
}

/* How many namers are checked again when a PodGroup changes. No bundle has more. */
enum { NAMERS_MAX = 2 * BOUND_BUNDLE };

/* Validates PodGroups that name this one again: they may have been refused because it did not exist
 * or did not name them. */
static void recheck_namers(struct gang_core *core, struct group *group)
{
    int n = 0;
    list_for_each (link, &group->namers, struct group_link, in_to) {
        if (n++ == NAMERS_MAX)
            break;
        if (link->from->gang == group->gang)
            continue;
        validate_gang(link->from->gang);
        gang_touch(core, link->from->gang);
    }
}

/* Sets the facts, which may be NULL and belong to the group from now on. */
static void set_facts(struct gang_core *core, struct group *group, struct gang_group_facts *facts)
{
    /* The units borrow the subgroups of the old facts. regroup() builds the units again, and
     * nothing may read them before. */
    struct gang_group_facts *old = group->facts;
    triggered(core, group->gang, facts ? TRIGGER_GROUP_SET : TRIGGER_GROUP_GONE);
    group->facts = facts;
    struct affected affected = affected_by(group);
    update_links(core, group);
    regroup(core, group, &affected);
    free(affected.items);
    recheck_namers(core, group);
    gang_group_facts_free(old);
    blocked_recheck(core, group->gang); /* the new maximum may allow refused extras */
    gang_touch(core, group->gang);
}

void on_podgroup_set(struct gang_core *core, struct gang_group_facts *facts)
{
    struct group *group = group_get(core, &facts->ref);
    bool another = group->facts && !group->declared && !str_eq(group->facts->uid, facts->uid);
    if (group->facts && !group->declared && !another &&
        gang_group_facts_equal(group->facts, facts)) {
        gang_group_facts_free(facts); /* usually, only muster's own status has changed */
        return;
    }
    if (another)
        forget_object(group);
    group->declared = false;
    set_facts(core, group, facts);
}

/* Whether pod a declares the PodGroup's facts, rather than pod b: the oldest member that counts
 * does. b may be NULL. */
static bool declares_before(const struct pod *a, const struct pod *b)
{
    if (!b || pod_counts(a) != pod_counts(b))
        return !b || pod_counts(a);
    if (a->facts->created != b->facts->created)
        return a->facts->created < b->facts->created;
    return strcmp(a->facts->name, b->facts->name) < 0;
}

/* If there is no PodGroup object, takes the facts from a pod. */
static void redeclare(struct gang_core *core, struct group *group)
{
    group->declaring_pod = NULL;
    if (group->facts && !group->declared)
        return;
    list_for_each (pod, &group->gang->members, struct pod, in_gang)
        if (pod->group == group && pod->facts->declared &&
            declares_before(pod, group->declaring_pod))
            group->declaring_pod = pod;
    const struct gang_group_facts *declared =
        group->declaring_pod ? group->declaring_pod->facts->declared : NULL;
    if (declared ? group->facts && gang_group_facts_equal(group->facts, declared) : !group->facts)
        return;
    group->declared = declared != NULL;
    set_facts(core, group, declared ? gang_group_facts_copy(declared) : NULL);
}

void on_podgroup_gone(struct gang_core *core, const struct gang_ref *ref)
{
    struct group *group = group_find(core, ref);
    if (!group || group->declared)
        return;
    forget_object(group);
    set_facts(core, group, NULL);
    redeclare(core, group);
}

void group_declare(struct gang_core *core, struct pod *pod)
{
    struct group *group = pod->group;
    if (pod == group->declaring_pod ||
        (pod->facts->declared && declares_before(pod, group->declaring_pod)))
        redeclare(core, group);
}

/* ---- members ---- */

void group_add(struct gang_core *core, struct pod *pod)
{
    struct group *group = group_get(core, &pod->facts->group);
    struct gang *gang = group->gang;
    triggered(core, gang, TRIGGER_MEMBER_NEW);
    if (list_empty(&gang->members))
        gang->first_seen = core->now;
    gang->newest = core->now;
    group->n_members++;
    pod->group = group;
    pod->gang = gang;
    queue_count_pod(core, pod);
    nominated_room_update(core, pod);
    pod->unit = unit_of_pod(group, pod->facts);
    list_push(&gang->members, &pod->in_gang);
    gang_recount(gang);
    rule_labels_member_added(core, pod);
    gang_plan_again(gang);
    gang_touch(core, gang);
    group_declare(core, pod);
    family_recount(core, gang);
}

void group_remove(struct gang_core *core, struct pod *pod)
{
    struct gang *gang = pod->gang;
    struct unit *unit = pod->unit;
    triggered(core, gang, TRIGGER_MEMBER_LOST);
    struct group *group = pod->group;
    list_remove(&pod->in_gang);
    gang_recount(gang);
    rule_labels_member_removed(core, pod);
    group->n_members--;
    pod->group = NULL;
    pod->gang = NULL;
    queue_count_pod(core, pod);
    nominated_room_update(core, pod);
    pod->unit = NULL;
    unit_left(core, gang, unit);
    gang_plan_again(gang);
    gang_touch(core, gang);
    if (group->declaring_pod == pod)
        redeclare(core, group);
    family_recount(core, gang);
}

void group_moved(struct gang_core *core, struct pod *pod)
{
    struct unit *old = pod->unit;
    pod->unit = unit_of_pod(pod->group, pod->facts);
    if (pod->unit == old)
        return;
    gang_recount(pod->gang);
    if (pod->slot)
        slot_recount(pod->slot);
    unit_left(core, pod->gang, old);
    gang_plan_again(pod->gang);
    gang_touch(core, pod->gang);
}

/* ---- priority ---- */

static void class_changed(struct gang_core *core, const char *name)
{
    map_for_each (e, &core->groups) {
        struct group *group = e->value;
        if (group->facts && str_eq(group->facts->priority_class, name))
            gang_touch(core, group->gang);
    }
}

void on_priority_class_set(struct gang_core *core, struct gang_priority_class_facts *facts)
{
    gang_priority_class_facts_free(map_set(&core->priority_classes, facts->name, facts));
    class_changed(core, facts->name);
}

void on_priority_class_gone(struct gang_core *core, const char *name)
{
    gang_priority_class_facts_free(map_remove(&core->priority_classes, name));
    class_changed(core, name);
}
