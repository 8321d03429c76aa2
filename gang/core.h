/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - the inside of gang/: which file does what to the objects of objects.h. For gang/ only.
 *
 *   picture.c  nodes and pods, as the facts say
 *   groups.c   PodGroups, and which of them are one gang; priority classes
 *   units.c    the tree of minimums of a gang: who counts where, how many are missing
 *   ledger.c   what is charged on a node, and what fits beside it
 *   promise.c  room that kube-scheduler keeps for pods it has nominated
 *   slots.c    places in a plan: reserved, filled, given up
 *   shape.c    pods that are alike for placement
 *   amounts.c  resources by number, amounts of them on nodes
 *   life.c     a gang from its first member to Done: states, attempts, backoff
 *   plan.c     which gangs are tried, and what comes of it
 *   order.c    the order in which they are tried
 *   place.c    a place for every member that is needed, or none
 *   pick.c     which node a member gets; see pick.h
 *   classes.c  nodes that are equal to the planner, taken together; see classes.h
 *   told.c     labels by which nodes are told apart; see told.h
 *   keep.c     capacity kept for a gang that has waited too long
 *   move.c     slots leave nodes; plans are undone
 *   wake.c     nominations, pods that sleep
 *   gates.c    muster's own scheduling gate on pods
 *   evidence.c nodes that the scheduler refuses
 *   overlook.c members that it refuses without asking
 *   rules.c    rules between pods and nodes that a plan heeds: apart, spread, volumes
 *   crowd.c    how many pods of each kind are on a node, for those rules
 *   labels.c   labels of pods that those rules ask for
 *   claims.c   volumes that pods use, and where they can be reached from
 *   filter.c   answers to filter, prioritize and preempt
 *   passing.c  where filter let pods through to, and which binds that allows
 *   bind.c     holds, commit, results of bindings
 *   holds.c    places for held bind calls, which namespaces share
 *   express.c  gangs of which the first member at bind is enough
 *   model_check.c  whether kube-scheduler offers the nodes that the rules here say
 *   status.c   what people see: PodGroup status and events
 *   reason.c   every sentence
 *   effects.c  the list of effects and their memory
 *   table.c    what may become of a gang: state by happening
 *   check.c    the invariants
 *   view.c     looking in from outside
 *   page.c     the same, a bounded piece at a time
 *   explain.c  the same of one gang: where each member could go, what is missing
 */
#ifndef MUSTER_GANG_CORE_H
#define MUSTER_GANG_CORE_H

#include "gang/bounds.h"
#include "gang/objects.h"

/* ---- effects.c ---- */
void effects_clear(struct effects *fx);
void effects_done(struct effects *fx);
void *fx_alloc(struct gang_core *core, size_t size);
const char *fx_str(struct gang_core *core, const char *s);
struct gang_effect *fx_add(struct gang_core *core, enum gang_effect_kind kind);
/* A write about a pod; node NULL: none. */
struct gang_effect *fx_pod(struct gang_core *core, enum gang_effect_kind kind,
                           const struct pod *pod, const struct node *node);

/* ---- amounts.c ---- */
/* The number of a resource, with one more user; to be given back with resource_unref(). */
uint32_t resource_ref(struct gang_core *core, const char *name);
void resource_unref(struct gang_core *core, uint32_t number);
/* RES_UNKNOWN: no node has it, and no pod asks for it. */
uint32_t resource_find(const struct gang_core *core, const char *name);
void resources_done(struct gang_core *core);
int64_t amount_search(const struct amounts *a, uint32_t resource);
/* The first resources are on every node, so their place is their number. */
static inline int64_t amount_of(const struct amounts *a, uint32_t resource)
{
    return resource < a->n && a->items[resource].resource == resource ? a->items[resource].amount
                                                                      : amount_search(a, resource);
}
/* For a pass over several: the lowest number in any of them at its place, RES_UNKNOWN at the end;
 * and how much of it one has, which moves its place on. */
static inline uint32_t amounts_lowest(const struct amounts *const *lists, const size_t *at,
                                      size_t n)
{
    uint32_t low = RES_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        if (at[i] < lists[i]->n && lists[i]->items[at[i]].resource < low)
            low = lists[i]->items[at[i]].resource;
    return low;
}
static inline int64_t amounts_take(const struct amounts *a, size_t *at, uint32_t resource)
{
    bool here = *at < a->n && a->items[*at].resource == resource;
    return here ? a->items[(*at)++].amount : 0;
}
/* The resource needs a user already. */
void amounts_change(struct gang_core *core, struct amounts *a, uint32_t resource, int64_t by);
/* Adds (sign 1) or takes (-1) what one pod of the shape needs. */
void amounts_add(struct gang_core *core, struct amounts *to, const struct shape *shape, int sign);
void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from);
void amounts_clear(struct gang_core *core, struct amounts *a);
void amounts_done(struct gang_core *core, struct amounts *a);

/* ---- shape.c ---- */
/* What one pod of the shape needs of it. */
int64_t shape_need(const struct shape *shape, uint32_t resource);
/* A shape with one more user; give it back with shape_unref(). */
struct shape *shape_of(struct gang_core *core, const struct gang_pod_facts *facts);
struct shape *shape_ref(struct shape *shape);
void shape_unref(struct gang_core *core, struct shape *shape);
/* The facts of some pod of the shape; NULL when there is none left. */
const struct gang_pod_facts *shape_sample(const struct shape *shape);
/* The pod asks for more resources than a gang's may: those that no node has are left out. */
static inline bool shape_is_partial(const struct gang_pod_facts *facts)
{
    return facts->requests.n > BOUND_RESOURCES;
}
/* NULL, or why no pod of this shape may run on the node, whatever is in use there. */
const char *shape_refusal(struct shape *shape, const struct node *node);

/* Places that one may have keep the other fits: the same needs, in the same order. */
bool shape_needs_equal(const struct shape *a, const struct shape *b);
/* All is equal but where their volumes may be used. */
bool shape_like(const struct shape *a, const struct shape *b);
/* Also the reason that shape_refusal() gives when volumes are in the way, and nothing else is. */
extern const char shape_volume_refusal[];

/* ---- crowd.c ---- */
enum rule { RULE_NONE, RULE_APART, RULE_SPREAD };
/* A question about pods of a shape; to be asked at once, before anything changes. */
struct rules {
    const struct gang_core *core;
    struct shape *shape;
    const struct gang_pod_facts *who; /* one of them; NULL: no rule concerns it */
    struct crowd *crowd;
};
struct rules rules_for(const struct gang_core *core, struct shape *shape);
/* Which rule between pods one more pod would break on the node. */
enum rule rules_refusal(struct rules *rules, const struct node *node);
/* Who keeps the pod off the node by anti-affinity, of either; NULL: nobody. */
const struct gang_pod_facts *node_foe(const struct node *node, const struct gang_pod_facts *who);
/* The same of those alone that are charged there. */
const struct gang_pod_facts *charged_foe(const struct node *node, const struct gang_pod_facts *who);
/* Pods charged there that the spread counts; -1: the node is none of those over which it goes. */
int64_t charged_count(const struct node *node, const struct gang_pod_facts *who,
                      const struct gang_spread *s);
/* A slot that does, and that neither kube-scheduler knows of nor is within reach; NULL: none.
 * `except` may be NULL. */
const struct slot *slots_keep_away(const struct node *node, const struct gang_pod_facts *who,
                                   const struct slot *except, const struct reach *reach);
/* A pod that was charged meanwhile keeps the slot's member away, which is not on its way yet. */
bool slot_is_kept_away(const struct slot *slot);
/* Labels that the pod's rules ask for matter from now on: members that differ in them have
 * shapes of their own, from labels_settle() on. */
void labels_learn(struct gang_core *core, const struct gang_pod_facts *facts);
/* The pod is gone, or has other facts. */
void labels_forget(struct gang_core *core, const struct gang_pod_facts *facts);
/* The keys that matter in a namespace; NULL: none. */
const struct map *labels_of(const struct gang_core *core, const char *ns);
/* A member of some gang comes or goes. */
void labels_join(struct gang_core *core, struct pod *pod);
void labels_leave(struct gang_core *core, struct pod *pod);
void labels_sweep(struct gang_core *core);
/* Before plans are made. */
void labels_settle(struct gang_core *core);
void labels_done(struct gang_core *core);
/* Somebody came, went, or has other labels; or the node has. */
void node_crowd(struct gang_core *core, struct node *node);
/* A node has these facts now instead of those; either may be NULL. */
void hosts_note(struct gang_core *core, const struct gang_node_facts *was,
                const struct gang_node_facts *is);
/* Something on some node is not as it was. */
static inline void layout_new(struct gang_core *core)
{
    core->layout = ++core->layouts;
}
void crowd_free(struct crowd *crowd);

/* ---- claims.c ---- */
/* The pod's claims become its own to follow; before it has a shape. */
void claims_join(struct gang_core *core, struct pod *pod);
void claims_leave(struct gang_core *core, struct pod *pod);
void take_claim(struct gang_core *core, struct gang_claim_facts *facts);
void take_claim_gone(struct gang_core *core, const struct gang_ref *ref);
/* It has claims, and all are bound to volumes: nothing is prepared on one node for it. */
bool claims_bound(const struct pod *pod);
void claims_done(struct gang_core *core);
/* NULL: any node will do, or it is not known. */
const struct gang_claim_facts *claim_limits(const struct gang_core *core, const char *ns,
                                            const char *name);

/* ---- picture.c ---- */
struct node *node_by_name(const struct gang_core *core, const char *name);
/* Makes one that is only known by name, if need be. */
struct node *node_get(struct gang_core *core, const char *name);
void node_drop(struct gang_core *core, struct node *node);
void nodes_sweep(struct gang_core *core);
struct pod *pod_by_uid(const struct gang_core *core, const char *uid);
struct pod *pod_by_name(const struct gang_core *core, const char *ns, const char *name);
bool pod_was_deleted(const struct gang_core *core, const char *uid);
bool pod_is_finished(const struct pod *pod);
/* Why a pod that should be a member is none: its link is wrong, or its PodGroup is being made.
 * REASON_NONE: it is linked, or for itself. */
enum gang_reason_code pod_unlinked(const struct gang_pod_facts *facts);
/* A member that counts: neither Terminating nor Failed. */
bool pod_counts(const struct pod *pod);
bool pod_is_ours(const struct gang_core *core, const struct pod *pod);
/* Unbound, wanted, and the scheduler may place it. */
bool pod_plannable(const struct gang_core *core, const struct pod *pod);
void take_node(struct gang_core *core, struct gang_node_facts *facts);
void take_node_gone(struct gang_core *core, const char *name);
void take_pod(struct gang_core *core, struct gang_pod_facts *facts);
void take_pod_gone(struct gang_core *core, struct pod *pod);
/* The pod's shape follows its facts and claims. Its slot stays if the node still does. */
void pod_reshape(struct gang_core *core, struct pod *pod);
/* A watch fell behind, or has caught up. */
void take_watch(struct gang_core *core, enum gang_watch of, bool behind);
/* Why the picture may be old, in words; NULL: it is not. */
const char *picture_doubt(const struct gang_core *core);
/* A pod that filter brought before the watch did; takes the facts. NULL: there are too many such
 * pods, or it is none that kube-scheduler would ask about. */
struct pod *learn_pod(struct gang_core *core, struct gang_pod_facts *facts);
void pod_remove(struct gang_core *core, struct pod *pod);

/* ---- ledger.c ---- */
/* What is neither charged nor reserved; negative when assigned pods exceed the node. */
static inline int64_t node_free(const struct node *node, uint32_t resource)
{
    return amount_of(&node->allocatable, resource) - amount_of(&node->used, resource) -
           amount_of(&node->reserved, resource);
}
int64_t node_room(const struct node *node, uint32_t resource, const struct reach *reach);
/* The resource of which the node has too little left for one more pod of the shape, or -1. */
int node_short(const struct node *node, const struct shape *shape, const struct reach *reach);
/* As node_short, and host ports: -2 is a port conflict. */
int node_misfit(const struct node *node, const struct shape *shape, const struct reach *reach);
/*
 * For pods that kube-scheduler has judged itself: whether one fits beside the reservations and as
 * many others of its shape. A resource that the node does not have at all is somebody else's to
 * count (ignoredByScheduler of another extender), as are host ports of assigned pods.
 */
bool node_takes(const struct node *node, const struct shape *shape, int others,
                const struct reach *reach);
/* The slot's room is within reach: its member is not at bind, and its gang is to be displaced. */
bool slot_yields(const struct slot *slot, const struct reach *reach);
/* The slot has something of which the pod lacks some there. */
bool slot_in_way(const struct slot *slot, const struct shape *shape);
/* Assigned pods and slots exceed the node in something the slot needs. */
bool slot_in_excess(const struct slot *slot);
/* The same of a pod that is charged. */
bool charge_in_excess(const struct pod *pod);
/* Whether pods there are charged for it: for what the node has, cpu and the like. Whoever may
 * create a pod with a node name may invent any number of other names. */
bool node_counts(const struct node *node, uint32_t resource);
/* After its allocatable resources changed: what its pods are charged. */
void node_recount(struct gang_core *core, struct node *node);
void charge(struct gang_core *core, struct pod *pod, struct node *node, enum charge how);
/* Host ports of pods that are charged there collide with the shape's. */
bool ports_charged(const struct node *node, const struct shape *shape);
/* A pod or slot of the shape came (sign 1) or goes (-1). */
void node_joined(struct gang_core *core, struct node *node, const struct shape *shape, int sign);
void uncharge(struct gang_core *core, struct pod *pod);
/* Room grew by our count: somewhere, on this node, on this node by what the scheduler knows too. */
void room_grew(struct gang_core *core);
void node_freed(struct gang_core *core, struct node *node);
void node_changed(struct gang_core *core, struct node *node);
/* A pod has left it so short a time ago that kube-scheduler's offers may not show it. */
bool node_just_freed(const struct gang_core *core, const struct node *node);

/* ---- promise.c ---- */
/* Whatever makes the pod's nomination a promise may have changed. */
void promise_note(struct gang_core *core, struct pod *pod);
void promise_end(struct gang_core *core, struct pod *pod);
/* Muster writes its nomination: nobody else has promised it that room. */
void promise_none(struct pod *pod, const struct node *node);
/* What is promised there to pods of that priority or more, but `self`. */
int64_t promised_to(const struct node *node, uint32_t resource, const struct reach *reach);
bool ports_promised(const struct node *node, const struct shape *shape, const struct reach *reach);
int promise_check(const struct gang_core *core, struct err *err);

/* ---- slots.c ---- */
struct slot *slot_add(struct gang_core *core, struct gang *gang, struct unit *unit,
                      struct shape *shape, struct node *node);
/* The pod takes the slot, which was expected to be filled. */
void slot_fill(struct gang_core *core, struct slot *slot, struct pod *pod);
/* The reservation ends, to become a charge or as if it had never been. */
void slot_free(struct gang_core *core, struct slot *slot);
/* The slot's pod has another shape now, that needs the same. */
void slot_reshape(struct gang_core *core, struct slot *slot, struct shape *shape);
/* The place is given up: its room is free, a held call is answered with the code's sentence. */
void slot_release(struct gang_core *core, struct slot *slot, enum gang_reason_code why);
/* All places of the gang; what its members were nominated to is taken back. */
void slots_release(struct gang_core *core, struct gang *gang, enum gang_reason_code why);

/* ---- groups.c ---- */
struct group *group_find(const struct gang_core *core, const struct gang_ref *ref);
struct gang *gang_find(const struct gang_core *core, const struct gang_ref *ref);
void take_group(struct gang_core *core, struct gang_group_facts *facts);
void take_group_gone(struct gang_core *core, const struct gang_ref *ref);
/* The member is new or changed: what it says of its group may count, or not any more. */
void group_declare(struct gang_core *core, struct pod *pod);
/* The pod joins the group that it is linked to; leaves it; may count elsewhere in it now. */
void group_add(struct gang_core *core, struct pod *pod);
void group_remove(struct gang_core *core, struct pod *pod);
/* A member came or went: its family may have too many, or no more than it may. */
void family_recount(struct gang_core *core, struct gang *gang);
void group_moved(struct gang_core *core, struct pod *pod);
/* Forgets a gang of which there is neither PodGroup nor member; true: it is gone. */
bool gang_sweep(struct gang_core *core, struct gang *gang);
void take_class(struct gang_core *core, struct gang_class_facts *facts);
void take_class_gone(struct gang_core *core, const char *name);
/* What its PodGroups say; the same, but no more than its lowest member has. */
int32_t gang_own_priority(const struct gang_core *core, const struct gang *gang);
int32_t gang_pod_priority(const struct gang_core *core, const struct gang *gang);
void groups_drop(struct gang_core *core);

/* ---- units.c ---- */
/* Makes the group's units from its facts; they hang in no tree above the group's own. */
/* `bare`: without subgroups. */
void units_build(struct group *group, bool bare);
void units_free(struct group *group);
struct unit *bundle_new(void);
struct unit *bundle_free(struct unit *bundle);
void unit_attach(struct unit *unit, struct unit *parent);
/* The unit of a PodGroup that others name as their parent. */
void unit_count_children(struct unit *own);
/* It is `above`, or in it. */
bool unit_is_below(const struct unit *unit, const struct unit *above);
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod);
/* The subgroup of that name; NULL: there is none. */
struct unit *unit_by_name(const struct group *group, const char *name);
/* A member of it went: parts that nobody is in end. */
void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit);
/* Counts the gang's members in all of its units; the root's tally. */
const struct tally *gang_count(const struct gang_core *core, const struct gang *gang);
/* How many more members, at least, have to reach the stage for the minimums of the unit (of the
 * gang) to be met; not positive: they are. unit_lacks() goes by the last gang_count(). */
int unit_lacks(const struct unit *unit, enum stage stage);
int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage);
/* The size of the smallest set of members that meets all minimums. */
int unit_needs(const struct unit *unit);
int gang_needed(const struct gang *gang);
/* Units below it that must have their minimum. */
int unit_children_needed(const struct unit *unit);
/* The unit on the way up that takes no more members; NULL: none. By the last gang_count(). */
bool unit_at_maximum(const struct unit *unit);
bool unit_beyond_maximum(const struct unit *unit);
bool gang_has_maximum(const struct gang *gang);
/* Keeps the tallies right while slots are given and taken. */
void unit_add_slots(struct unit *unit, int n);
/* The first contradiction in what the PodGroup asks for, as a sentence; NULL: none. */
char *judge_group(const struct group *group);

/* ---- table.c ---- */
/* To be called before anything changes by it, see gang/table.h. */
void happened(struct gang_core *core, struct gang *gang, enum gang_happening what);
/* The first happening, or change of state, of a gang in a step. */
void happening_begin(struct gang_core *core, struct gang *gang);

/* ---- life.c ---- */
void gang_touch(struct gang_core *core, struct gang *gang);
/* Its members need no plan any more: each is judged for itself. */
static inline bool passes_singly(const struct gang *gang)
{
    return gang->state == GANG_PLACED || gang->state == GANG_DONE;
}
/* Its state is another: core->open follows. */
void gang_queue(struct gang_core *core, struct gang *gang);
void gang_enter(struct gang_core *core, struct gang *gang, enum gang_state state);
/* The time of the gang's attempt runs from now, unless it does already. */
void begin_attempt(struct gang_core *core, struct gang *gang);
/* The attempt failed: all is released, and the gang waits with jitter before the next. */
void back_off(struct gang_core *core, struct gang *gang);
/* A commit of it began then, and is to be finished before all else. */
void first_begin(struct gang_core *core, struct gang *gang, usec_t since);
/* From now on it goes behind its equals. */
void gang_failed(const struct gang_core *core, struct gang *gang);
/* How long the gang waits after one more failure: longer each time, with jitter. */
usec_t gang_pause(const struct gang_core *core, struct gang *gang);
/* Where a gang goes whose plan is gone. */
enum gang_state gang_without_plan(const struct gang *gang);
/* Brings the states of all stale gangs in line with the facts; true when there were any. */
bool review_touched(struct gang_core *core);
void gang_timer(struct gang_core *core, struct gang *gang, enum timer_kind kind);
void timer_set(struct gang_core *core, struct timer *t, usec_t at);
void timer_stop(struct gang_core *core, struct timer *t);
static inline struct timer *pod_timer(struct pod *pod, enum timer_kind kind)
{
    return &pod->timers[kind - GANG_TIMERS];
}

/* ---- plan.c ---- */
/* Tries every gang that may have become feasible, in order. */
void plan_pass(struct gang_core *core);
/* The gang is due, and its turn comes in a later step. */
bool plan_is_left(const struct gang_core *core, const struct gang *gang);

/* ---- order.c ---- */
/* For qsort, over struct gang *: the order in which gangs are planned. A strict total order. */
int by_order(const void *a, const void *b);
bool order_after(const struct gang *g, const struct gang *h);
/* Something about the gang changed: its place in the order may be another. */
void order_note(struct gang_core *core, struct gang *gang);
/* The gang is about to be freed. */
void order_forget(struct gang_core *core, struct gang *gang);
/* Puts those that changed where they belong. */
void order_settle(struct gang_core *core);
void order_done(struct gang_core *core);
int order_check(const struct gang_core *core, struct err *err);

/* ---- place.c ---- */
/*
 * Completes the gang's plan to its needed set, and beyond with extras that fit. Existing slots
 * stay. False: not possible; the slots that were there are still there, and *ret says what was
 * short when all that fits was placed. Not for good: only says whether it is possible.
 */
bool place_gang(struct gang_core *core, struct gang *gang, bool for_good, struct shortage *ret);
/* What the gang heard when it failed last is still true, as far as is known without a try. */
bool is_full_still(const struct gang_core *core, const struct gang *gang);
/* Places for the needed members as they could be some day, see keep.c, given to take(); forget()
 * is called before each try. False: not for all. */
bool place_some_day(struct gang_core *core, struct gang *gang, void (*forget)(struct gang_core *),
                    void (*take)(struct gang_core *, struct node *, struct shape *));
/* The best node for the shape, by the planner's order; NULL: none. `except` may be NULL. */
struct node *plan_node(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except);
bool node_better(const struct shape *shape, const struct node *a, const struct node *b);
/* The node that the member cannot leave any more; NULL: it may go anywhere. */
struct node *pinned_node(const struct gang_core *core, const struct pod *pod);

/* ---- keep.c ---- */
/* The gang could not be planned: it becomes the keeper, unless one before it is. */
void keep_for(struct gang_core *core, struct gang *gang);
/* The gang, if it is the keeper, is it no more. */
void keep_end(struct gang_core *core, struct gang *gang);
/* The gang's place in the order may be another: if it is the keeper, some of those behind it may
 * be before it now. */
void keep_moved(struct gang_core *core, const struct gang *gang);
/* Whether what is kept is out of reach for a gang's plan, and for an ordinary or later pod. */
bool gang_heeds(const struct gang_core *core, const struct gang *gang);
bool pod_heeds(const struct gang_core *core, const struct pod *pod);
/* What plans of the gang, and pods that pass singly, may count on. */
struct reach gang_reach(const struct gang_core *core, const struct gang *gang);
struct reach pod_reach(const struct gang_core *core, const struct pod *pod);
/* To both the same is left everywhere. */
bool reach_equal(const struct gang_core *core, const struct reach *a, const struct reach *b);
struct node *some_day_node(struct gang_core *core, const struct gang *gang, struct shape *shape);

/* ---- move.c ---- */
/* Undoes the plan as a whole; held calls are answered with the code's sentence. */
void plan_drop(struct gang_core *core, struct gang *gang, enum gang_reason_code why);
/* A slot must leave its node: to another that fits, else the gang is one short and is planned
 * again. */
void slot_leave(struct gang_core *core, struct slot *slot);
/* Moves slots off a node until none of them is in excess. */
void node_settle(struct gang_core *core, struct node *node);
/* Frees room for the pod: slots whose member is not at bind move, and where they cannot, those of
 * gangs of a lower priority are given up. */
bool node_make_room(struct gang_core *core, struct node *node, const struct pod *pod);

/* ---- evidence.c ---- */
/* Something is believed about nodes, for the gang's pods of that shape. */
bool evidence_speaks(const struct gang_core *core, const struct gang *gang,
                     const struct shape *shape);
bool evidence_refuses(const struct gang_core *core, const struct gang *gang,
                      const struct shape *shape, const struct node *node);
/* A whole list refuses that node, and all others that it lacks but those that became free just now.
 */
void evidence_add(struct gang_core *core, struct gang *gang, struct shape *shape,
                  const char *const *names, size_t n, const struct node *refused);
/* One node is refused, about the others nothing new is known. */
void evidence_add_node(struct gang_core *core, struct gang *gang, struct shape *shape,
                       const struct node *node);
void evidence_forget(struct gang_core *core, struct gang *gang);
/* The refusals that still hold may be tried again at the earliest of their ends. */
void evidence_arm(struct gang_core *core, struct gang *gang);

/* ---- overlook.c ---- */
/* Filter is asked about the pod, which is not bound. */
void overlook_asked(struct gang_core *core, struct pod *pod);
/* The watch shows a member: `old` is what it showed before. */
void overlook_seen(struct gang_core *core, struct pod *pod, const struct gang_pod_facts *old);
/* The member may be planned for again. */
void overlook_end(struct gang_core *core, struct pod *pod);
/* The gang's attempt ends in vain: its next plan prefers others to members that did not come. */
void overlook_missed(struct gang *gang);
/* The gang has places: overlook_look() is called each hold. */
void overlook_watch(struct gang_core *core, struct gang *gang);
void overlook_look(struct gang_core *core, struct gang *gang);

/* ---- wake.c ---- */
/* Writes the nomination: wakes the pod and steers it. NULL clears. */
void nominate(struct gang_core *core, struct pod *pod, const struct node *node);
/* The member has got a place: it is woken, or steered there, if that helps. */
void steer(struct gang_core *core, struct pod *pod);
/* Nominates the members that are to be steered by now. */
void steer_unasked(struct gang_core *core);
/* Takes back the nominations of members that have no place. */
void clear_nominations(struct gang_core *core, struct gang *gang);
/* An ordinary pod (or one of a Placed gang) that reservations keep out sleeps until woken. */
void starve(struct gang_core *core, struct pod *pod);
void wake_starved(struct gang_core *core);
void wake_timer_fired(struct gang_core *core);
/* It is awake: filter was asked about it. */
void nudge_end(struct gang_core *core, struct pod *pod);
/* It is awake: the watch shows its nomination, or it is bound. */
void nudge_arrived(struct gang_core *core, struct pod *pod);
void nudge_timer_fired(struct gang_core *core, struct pod *pod);

/* ---- gates.c ---- */
/* The pod need not (or must not) keep the gate any longer. */
bool gate_opens(const struct gang_core *core, const struct pod *pod);
/* The pod has a gate that could be lifted. */
bool gate_is_closed(const struct pod *pod);
/* To be called when the facts of a pod came: `was`, `is` gated. */
void gate_seen(struct gang_core *core, struct pod *pod, bool was, bool is);
/* Notes a pod of no gang for gates_of_lone(). */
void gate_touch(struct gang_core *core, struct pod *pod);
/* Pods of no gang: lifts their gates, or sees to it that they are told why not. Only when a step
 * has taken all facts: a later one may make the pod a member. */
void gates_of_lone(struct gang_core *core);
/* The same for the members of a gang about which something changed; after gang_count(). */
void gates_of(struct gang_core *core, struct gang *gang);
void gate_timer_fired(struct gang_core *core, struct pod *pod);
/* What the gang could not be planned for; REASON_NONE: nothing any more. */
void gates_note(struct gang_core *core, struct gang *gang, enum gang_reason_code code);
void gates_show(struct gang_core *core);

/* ---- together.c ---- */
/* Sets pod->rejected, and counts those of them that filter has refused in this life: of others
 * nobody knows whether it was an extender, and a Binding wakes them. */
void pod_reject(struct gang_core *core, struct pod *pod, bool rejected);
/* Filter said no to it. */
void pod_refuse(struct gang_core *core, struct pod *pod);
/* A gang that could commit: it is to do so later, with others. After gang_count(). */
bool commit_waits(struct gang_core *core, const struct gang *gang);
/* After a call has been held. */
void commit_for_room(struct gang_core *core);
void batch_timer_fired(struct gang_core *core);

/* ---- filter.c ---- */
void answer_filter(struct gang_core *core, struct gang_event *ev);
void answer_prioritize(struct gang_core *core, const struct gang_event *ev);
void answer_preempt(struct gang_core *core, const struct gang_event *ev);
/* Nodes that are not in the list say nothing: kube-scheduler may not have looked at them. */
static inline bool is_sample(const struct gang_core *core, const struct gang_event *ev)
{
    return ev->n_names >= SAMPLE_SIZE && !core->config.whole_lists;
}
/* Marks the offered nodes with their place in the list: node->offered is core->offers then. */
void look_up_names(struct gang_core *core, const struct gang_event *ev);
/* As many members of its gang as its maximum allows are placed. */
bool pod_at_maximum(const struct gang_core *core, const struct pod *pod);

/* ---- bind.c ---- */
void answer_bind(struct gang_core *core, const struct gang_event *ev);
void refuse_bind(struct gang_core *core, uint64_t id, enum gang_reason_code why);
void reply_bind(struct gang_core *core, struct pod *pod, const char *error);
/* The pod's call is no hold any more (answered, or its Binding is sent). */
void hold_end(struct gang_core *core, struct pod *pod);
/* Sends the Bindings of all held members. */
void bind_held(struct gang_core *core, struct gang *gang);
void call_closed(struct gang_core *core, uint64_t id);
void binding_done(struct gang_core *core, const struct gang_event *ev);
void pod_read(struct gang_core *core, const struct gang_event *ev);
void pod_timer_fired(struct gang_core *core, struct pod *pod, enum timer_kind kind);
void hold_timer_fired(struct gang_core *core, struct gang *gang);
/* Commits when the needed set is at bind; to be asked whenever that may have become true. */
void commit_if_quorum(struct gang_core *core, struct gang *gang);
void evict(struct gang_core *core, struct pod *pod);
void stop_all(struct gang_core *core);

/* ---- holds.c ---- */
/* Whether one more member of the gang may be held: it has a place for it, or books what it needs.
 */
bool places_book(struct gang_core *core, struct gang *gang);
/* Counts gang->n_held, up and down. */
void place_taken(struct gang_core *core, struct gang *gang);
void place_left(struct gang_core *core, struct gang *gang);
void holders_done(struct gang_core *core);
int holds_check(const struct gang_core *core, struct err *err);

/* ---- express.c ---- */
/* Why the gang's first member at bind is not enough, in words; NULL: it is. */
const char *express_doubt(const struct gang_core *core, const struct gang *gang);
/* Nothing speaks against the lane but that members, or their bind calls, are still to come. */
bool goes_express(const struct gang_core *core, const struct gang *gang);
/* What the model check has against the lane for the gang; NULL: nothing. */
const char *gang_model_doubt(const struct gang_core *core, const struct gang *gang);
/* Whether the rules here say all about the pod. Looks at some of those that may keep it away, each
 * time at others; the cost is counted in requirements and values. */
bool model_covers(const struct gang_core *core, struct pod *pod, int64_t *cost);
/* Why the pod's constraints are kube-scheduler's alone to judge; NULL: they are not. */
const char *pod_beyond_model(const struct gang_core *core, const struct pod *pod);
/* A Binding that kube-scheduler did not ask for has put somebody there whom the pod collides with
 * otherwise than by room. */
bool express_collides(const struct gang_core *core, const struct node *node, const struct pod *pod);

/* ---- model_check.c ---- */
/* Compares the nodes offered in a filter call with what the rules say; before it is answered. */
void model_check(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                 const char *nominated);
/* Why the rules here may not be kube-scheduler's for the pod, in words; NULL: nothing is known. */
const char *model_doubt(const struct gang_core *core, const struct pod *pod);
/* Since when; 0: nothing is. */
usec_t model_doubted_at(const struct gang_core *core, const struct pod *pod);
void model_done(struct gang_core *core);
/* The pod's nomination, or whether it still needs one, changed. */
void nomination_note(struct gang_core *core, struct pod *pod);
/* The pod is on a node, or may be on its way to one: who keeps others out of a wider domain is
 * remembered, anew each time. */
void shunning_begin(struct gang_core *core, struct pod *pod);

/* ---- passing.c ---- */
/* Filter let the pod through to these nodes: all that it offered (passed NULL), or the one. */
void passing_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                     const uint32_t *passed, size_t n);
void passing_to(struct gang_core *core, struct pod *pod, const struct node *node);
/* An earlier life may have let it through, to any node. Its time begins again with the sync. */
void passing_inherited(struct gang_core *core, struct pod *pod);
void passing_synced(struct gang_core *core);
/* It is at bind, was refused, or came back. */
void passing_end(struct gang_core *core, struct pod *pod);
/* As far as is known it is on its way between filter and bind. */
bool is_passing(const struct gang_core *core, const struct pod *pod);
/* At bind for a node: it may ask for the same again, and for no other. */
void passing_narrow(struct gang_core *core, struct pod *pod, const struct node *node);
/* A bind call came. Why the pod must not be bound to the node, whoever asks: a sentence; NULL: it
 * may. */
const char *bind_refusal(struct gang_core *core, struct pod *pod, const struct node *node);
/* For so long kube-scheduler may be busy with a pod that filter let through, whatever became of its
 * place: one with volumes waits for them (VolumeBinding's bindTimeoutSeconds is 600 by default). */
static inline usec_t pod_busy_time(const struct pod *pod)
{
    return (pod->facts->has_pvc ? 660 : 60) * USEC_PER_SEC;
}

/* ---- status.c ---- */
/* A warning that is about the pod. */
void warn_pod(struct gang_core *core, const struct pod *pod, const char *reason,
              const char *message);
/* After gang_count(). */
struct gang_status group_status(const struct group *group);
void tell_status(struct gang_core *core, struct gang *gang);
/* An event on each of its PodGroups. */
void tell_event(struct gang_core *core, const struct gang *gang, bool warning, const char *reason,
                const char *message);
void tell_placed(struct gang_core *core, const struct gang *gang);
void tell_evicted(struct gang_core *core, const struct gang *gang, int n);
/* Why it waits, as an event of the pod and in its condition. */
void tell_pod(struct gang_core *core, struct pod *pod, const char *text);
/* The same of all members that were not told yet. */
void tell_members(struct gang_core *core, struct gang *gang);
/* There is nothing to tell them: the gang has places. */
bool gang_has_plan(const struct gang *gang);

/* ---- view.c ---- */
/* It may have to be planned. */
bool gang_is_waiting(const struct gang *gang);
/* gang->rank follows the order of those that wait, from 1; 0: it does not wait. */
void rank_waiting(const struct gang_core *core);
/* After gang_count() and rank_waiting(). */
void view_group(const struct group *group, gang_view_fn *fn, void *arg);
void view_member(const struct pod *pod, gang_member_fn *fn, void *arg);
void view_node(const struct node *node, gang_node_fn *fn, void *arg);

/* ---- reason.c ---- */
/* Sets the gang's reason, and what would help (or NULL); takes both; true when anything changed. */
bool reason_set_help(struct gang *gang, enum gang_reason_code code, char *text, char *help);
bool reason_set(struct gang *gang, enum gang_reason_code code, char *text);
/* Sentences, allocated. Those that count go by the last gang_count(). */
char *reason_missing(const struct group *group);
char *reason_not_uniform(const struct gang *gang, const struct pod *a, const struct pod *b);
char *reason_beyond_maximum(const struct unit *own);
char *reason_members(const struct gang *gang);
char *reason_shortage(const struct gang_core *core, const struct gang *gang,
                      const struct shortage *s);
/* May be NULL: nothing is known that would help. */
char *reason_help(const struct gang_core *core, const struct gang *gang, const struct shortage *s);
char *reason_min_resources(const struct group *group, const struct gang_amount *min, int64_t room);
char *reason_behind(const struct gang *gang);
char *reason_timeout(const struct gang *gang, usec_t timeout);
char *reason_hold(const struct gang *gang, usec_t hold);
/* Why the node is not for the pod, by the pod's own rules. */
const char *reason_rule(struct gang_core *core, const struct gang_pod_facts *pod, const char *node,
                        enum gang_predicate rule, const char *words);
/* A sentence for one call, allocated in the effects. */
const char *reason_call(struct gang_core *core, enum gang_reason_code code, const struct gang *gang,
                        const struct gang_pod_facts *pod, const char *node);
/* What filter says to a waiting member, and the reason that this is about. */
enum gang_reason_code reason_code_for_pod(const struct gang *gang);
const char *reason_for_pod(struct gang_core *core, struct gang *gang);

#endif
