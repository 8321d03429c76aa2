/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue/queues.h"

#include <inttypes.h>

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/pods_by_queue.h"
#include "gang/cluster/queue_usage.h"
#include "gang/cluster/queue_usage_check.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/step_work.h"
#include "gang/queue/queue_tree.h"

/* See step_work.h: to give a queue its parent, to count a pod in another queue, to look whether it
 * is in another one, and to move a gang. */
#define WORK_PER_VISIT 8
#define WORK_PER_POD   6
#define WORK_PER_LOOK  1
#define WORK_PER_MOVE  8

/* ---- existence ---- */

static struct queue *queue_new(const struct gang_ref *ref)
{
    struct queue *queue = xcalloc(1, sizeof *queue);
    queue->key = gang_ref_key(ref);
    queue->ref = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    list_init(&queue->in_parent);
    list_init(&queue->children);
    list_init(&queue->in_namers);
    list_init(&queue->namers);
    list_init(&queue->in_pending);
    list_init(&queue->in_edited);
    list_init(&queue->in_unused);
    list_init(&queue->gangs);
    list_init(&queue->in_changed);
    list_init(&queue->in_later);
    return queue;
}

static void claims_done(struct queue *queue)
{
    for (size_t i = 0; i < queue->n_claims; i++)
        free(queue->claims[i].ns);
    free(STEAL(queue->claims));
    queue->n_claims = 0;
}

static void queue_free(struct gang_core *core, struct queue *queue)
{
    queue_tree_leave(core, queue);
    list_remove(&queue->in_changed);
    list_remove(&queue->in_edited);
    list_remove(&queue->in_unused);
    claims_done(queue);
    queue_usage_done(core, queue);
    amounts_done(core, &queue->share.wanted);
    amounts_done(core, &queue->share.fair);
    amounts_done(core, &queue->losses.lost);
    amounts_done(core, &queue->losses.of);
    free(queue->due_gangs.heap);
    free(queue->due_gangs.line);
    gang_queue_facts_free(queue->facts);
    free(queue->ref.api_group);
    free(queue->ref.ns);
    free(queue->ref.name);
    free(queue->key);
    free(queue);
}

static struct queue *queue_get(struct gang_core *core, const struct gang_ref *ref)
{
    struct queue *queue = queue_find(core, ref);
    if (queue)
        return queue;
    queue = queue_new(ref);
    map_set(&core->queues.all, queue->key, queue);
    if (core->queues.root)
        queue_tree_join(core, queue);
    return queue;
}

static void queue_drop(struct gang_core *core, struct queue *queue)
{
    map_remove(&core->queues.all, queue->key);
    queue_free(core, queue);
}

/* Fewer name it: it may be freed at the end of the step. */
static void may_be_unused(struct gang_core *core, struct queue *queue)
{
    list_remove(&queue->in_unused);
    list_push(&core->queues.unused, &queue->in_unused);
}

void queues_done(struct gang_core *core)
{
    queue_uncount_all(core);
    map_for_each (e, &core->queues.all)
        queue_free(core, e->value);
    if (core->queues.root) {
        queue_free(core, core->queues.none);
        queue_free(core, core->queues.root);
    }
    core->queues.root = core->queues.none = NULL;
    queue_tree_any_gpu(core, false);
    map_for_each (e, &core->queues.namespaces)
        gang_namespace_facts_free(e->value);
    map_done(&core->queues.all);
    map_done(&core->queues.objects);
    map_done(&core->queues.by_namespace);
    map_done(&core->queues.fallbacks);
    map_done(&core->queues.namespaces);
    map_done(&core->queues.other_namespaces);
}

/* ---- objects ---- */

static uintptr_t objects_of(const struct gang_core *core, const char *api_group)
{
    return (uintptr_t)map_get(&core->queues.objects, api_group);
}

/* Names of an API group have an effect from its first queue object on, until the last one goes. */
static void count_object(struct gang_core *core, const struct gang_ref *ref, int by)
{
    uintptr_t n = objects_of(core, ref->api_group) + (uintptr_t)by;
    core->queues.n_objects += (size_t)by;
    if (n)
        map_set(&core->queues.objects, ref->api_group, (void *)n);
    else
        map_remove(&core->queues.objects, ref->api_group);
    core->queues.others |= !n || (n == 1 && by > 0) || queue_is_default(ref->name);
}

/* Of several claims to one namespace, the one of the queue whose key comes first counts. */
static bool claim_before(const struct queue_claim *a, const struct queue_claim *b)
{
    return a->more == b->more ? strcmp(a->queue->key, b->queue->key) < 0 : b->more;
}

static void claim(struct gang_core *core, struct queue *queue, const char *ns, bool more)
{
    struct queue_claim *c = &queue->claims[queue->n_claims++];
    struct queue_claim *first = map_get(&core->queues.by_namespace, ns);
    *c = (struct queue_claim){.queue = queue, .ns = xstrdup(ns), .more = more};
    list_init(&c->in_namespace);
    if (first)
        list_push(&first->in_namespace, &c->in_namespace);
    if (!first || claim_before(c, first))
        map_set(&core->queues.by_namespace, ns, c);
    map_set(&core->queues.other_namespaces, ns, core);
}

static void unclaim(struct gang_core *core, struct queue_claim *c)
{
    struct queue_claim *first = NULL;
    list_for_each (other, &c->in_namespace, struct queue_claim, in_namespace)
        if (!first || claim_before(other, first))
            first = other;
    list_remove(&c->in_namespace);
    if (first)
        map_set(&core->queues.by_namespace, c->ns, first);
    else
        map_remove(&core->queues.by_namespace, c->ns);
    map_set(&core->queues.other_namespaces, c->ns, core);
}

static void namespaces_join(struct gang_core *core, struct queue *queue)
{
    const struct gang_queue_facts *f = queue->facts;
    queue->claims = xcalloc(f->n_more_namespaces + 1, sizeof *queue->claims);
    if (f->of_namespace)
        claim(core, queue, f->of_namespace, false);
    for (size_t i = 0; i < f->n_more_namespaces; i++)
        claim(core, queue, f->more_namespaces[i], true);
}

static void namespaces_leave(struct gang_core *core, struct queue *queue)
{
    for (size_t i = 0; i < queue->n_claims; i++)
        unclaim(core, &queue->claims[i]);
    claims_done(queue);
}

static void set_fallback(struct gang_core *core, struct queue *queue, bool is)
{
    const char *api_group = queue->ref.api_group;
    if (is == (map_get(&core->queues.fallbacks, api_group) == queue))
        return;
    if (is)
        map_set(&core->queues.fallbacks, api_group, queue);
    else
        map_remove(&core->queues.fallbacks, api_group);
    core->queues.others = true;
}

/* facts NULL: the object is gone. */
static void take_facts(struct gang_core *core, struct queue *queue, struct gang_queue_facts *facts)
{
    const struct gang_queue_facts *was = queue->facts;
    /* After most edits, pods need not be counted again. */
    bool same_pods = was && facts && gang_queue_namespaces_equal(was, facts);
    queue->moved |= !was || !facts || !str_eq(was->parent, facts->parent);
    if (!was || !facts)
        count_object(core, &queue->ref, facts ? 1 : -1);
    if (was && !same_pods)
        namespaces_leave(core, queue);
    core->queues.n_any_gpu -= was && gang_quota_of(was, GANG_ANY_GPU);
    gang_queue_facts_free(queue->facts);
    queue->facts = facts;
    if (facts && !same_pods)
        namespaces_join(core, queue);
    core->queues.n_any_gpu += facts && gang_quota_of(facts, GANG_ANY_GPU);
    set_fallback(core, queue, facts && facts->fallback);
    list_remove(&queue->in_edited);
    list_push(&core->queues.edited, &queue->in_edited);
}

void on_queue_set(struct gang_core *core, struct gang_queue_facts *facts)
{
    struct queue *queue = queue_get(core, &facts->ref);
    if (queue->facts && gang_queue_facts_equal(queue->facts, facts))
        gang_queue_facts_free(facts); /* most likely muster's own status write */
    else
        take_facts(core, queue, facts);
}

void on_queue_gone(struct gang_core *core, const struct gang_ref *ref)
{
    struct queue *queue = queue_find(core, ref);
    if (!queue || !queue->facts)
        return;
    take_facts(core, queue, NULL);
    may_be_unused(core, queue);
}

static bool names_the_same(const struct gang_namespace_facts *a,
                           const struct gang_namespace_facts *b)
{
    return str_eq(a ? a->api_group : NULL, b ? b->api_group : NULL) &&
           str_eq(a ? a->queue : NULL, b ? b->queue : NULL);
}

void on_namespace_set(struct gang_core *core, struct gang_namespace_facts *facts)
{
    if (!names_the_same(map_get(&core->queues.namespaces, facts->name), facts))
        map_set(&core->queues.other_namespaces, facts->name, core);
    gang_namespace_facts_free(map_set(&core->queues.namespaces, facts->name, facts));
}

void on_namespace_gone(struct gang_core *core, const char *name)
{
    struct gang_namespace_facts *facts = map_remove(&core->queues.namespaces, name);
    if (!names_the_same(facts, NULL))
        map_set(&core->queues.other_namespaces, name, core);
    gang_namespace_facts_free(facts);
}

/* ---- the queue of a gang ---- */

static struct queue *named(struct gang_core *core, const struct gang_ref *ref)
{
    struct queue *queue = objects_of(core, ref->api_group) ? queue_find(core, ref) : NULL;
    return queue && queue->facts ? queue : NULL;
}

/* Names of an API group without queues have no effect. */
static bool names_count(const struct gang_core *core, const struct gang *gang,
                        const char *api_group)
{
    const struct queue *queue = gang->queue; /* usually of the same API group */
    bool known = queue && queue->facts && strcmp(queue->ref.api_group, api_group) == 0;
    return known || objects_of(core, api_group);
}

static struct gang_ref named_by_groups(const struct gang_core *core, const struct gang *gang)
{
    static char none[] = "";
    const struct group *head = gang->head;
    if (head->facts && head->facts->queue && names_count(core, gang, head->ref.api_group))
        return (struct gang_ref){head->ref.api_group, none, head->facts->queue};
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (group->facts && group->facts->queue && names_count(core, gang, group->ref.api_group))
            return (struct gang_ref){group->ref.api_group, none, group->facts->queue};
    return (struct gang_ref){NULL, NULL, NULL};
}

static bool name_before(const struct gang_ref *a, const struct gang_ref *b)
{
    int order = b->api_group ? strcmp(a->api_group, b->api_group) : -1;
    return order ? order < 0 : strcmp(a->name, b->name) < 0;
}

/* If its pods name several queues, the first by API group and name counts, so that the order in
 * which pods come does not matter. */
static struct gang_ref named_by_pods(const struct gang_core *core, const struct gang *gang)
{
    struct gang_ref first = {NULL, NULL, NULL};
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        const struct gang_ref *ref = &pod->facts->queue;
        if (ref->api_group && name_before(ref, &first) && names_count(core, gang, ref->api_group))
            first = *ref;
    }
    return first;
}

/* The queue that the namespace's annotation names for gangs of this API group. */
static struct gang_ref namespace_name(const struct gang_core *core, const struct gang *gang)
{
    static char none[] = "";
    const struct gang_namespace_facts *f = map_get(&core->queues.namespaces, gang->head->ref.ns);
    if (!f || !str_eq(f->api_group, gang->head->ref.api_group) || !objects_of(core, f->api_group))
        return (struct gang_ref){NULL, NULL, NULL};
    return (struct gang_ref){f->api_group, none, f->queue};
}

static bool is_it(const struct queue *queue, const struct gang_ref *ref)
{
    return queue && strcmp(queue->ref.name, ref->name) == 0 &&
           strcmp(queue->ref.ns, ref->ns) == 0 && strcmp(queue->ref.api_group, ref->api_group) == 0;
}

static struct queue *named_queue(struct gang_core *core, const struct gang *gang)
{
    struct gang_ref ref = named_by_groups(core, gang);
    if (!ref.api_group)
        ref = named_by_pods(core, gang);
    bool is_default = ref.api_group && queue_is_default(ref.name);
    if (!ref.api_group || is_default) {
        struct gang_ref of_namespace = namespace_name(core, gang);
        if (of_namespace.api_group) {
            ref = of_namespace;
            is_default = queue_is_default(ref.name);
        }
    }
    if (ref.api_group && (!is_default || named(core, &ref)))
        return is_it(gang->queue, &ref)
                   ? gang->queue
                   : queue_get(core, &ref); /* without an object: its gangs wait for it */
    struct queue *queue = queue_of_namespace(core, gang->head->ref.ns);
    if (!queue)
        queue = map_get(&core->queues.fallbacks, gang->head->ref.api_group);
    return queue ? queue : core->queues.none;
}

/* What the head states; else what the members state: not preemptible, if they disagree. */
static enum gang_preemptible stated(const struct gang *gang)
{
    const struct gang_group_facts *f = gang->head->facts;
    enum gang_preemptible is = f ? f->preemptible : PREEMPTIBLE_BY_PRIORITY;
    if (is != PREEMPTIBLE_BY_PRIORITY)
        return is;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->facts->preemptible > is)
            is = pod->facts->preemptible;
    return is;
}

static bool is_firm(const struct gang *gang, const struct queue *queue, int32_t own_priority)
{
    enum gang_preemptible is = stated(gang);
    return is == PREEMPTIBLE_BY_PRIORITY ? queue_is_firm(queue, own_priority)
                                         : is == PREEMPTIBLE_NO;
}

bool gang_is_firm(const struct gang *gang)
{
    return is_firm(gang, gang->queue, gang->own_priority);
}

static void move(struct gang_core *core, struct gang *gang, struct queue *queue)
{
    queue_touch(core, gang->queue);
    queue_touch(core, queue);
    queue_want_changed(core, gang->queue);
    queue_want_changed(core, queue);
    if (gang->queue && gang->queue->facts && gang->queue->facts->fifo)
        room_grew(core); /* for the gangs behind it */
    if (gang->queue && gang->queue != core->queues.none && !gang->queue->facts)
        may_be_unused(core, gang->queue);
    if (gang->queue)
        list_remove(&gang->in_queue);
    gang->queue = queue;
    if (queue)
        list_push(&queue->gangs, &gang->in_queue);
    queue_show_gang(core, gang);
    mark_order_changed(core, gang);
    gang_plan_again(gang);
}

/* Whether nothing has changed from which the gang's queue follows. */
static bool is_assigned(const struct gang_core *core, const struct gang *gang, int32_t own_priority)
{
    const struct gang_assigned *a = &gang->assigned;
    return gang->queue && a->members == gang->marks.members && a->queues == core->queues.settled &&
           a->priority == own_priority;
}

void queue_assign(struct gang_core *core, struct gang *gang, int32_t own_priority)
{
    if (!core->queues.root || is_assigned(core, gang, own_priority))
        return;
    gang->assigned =
        (struct gang_assigned){gang->marks.members, core->queues.settled, own_priority};
    struct queue *queue = named_queue(core, gang);
    bool firm = is_firm(gang, queue, own_priority);
    if (queue == gang->queue && firm == gang->firm)
        return;
    if (queue != gang->queue)
        move(core, gang, queue);
    gang->firm = firm;
    gang_requeued(gang);
    queue_count_gang(core, gang);
    if (gang->root->t.bound > 0) /* for members that wait alone, which the other queue stopped */
        room_grew(core);
}

void queue_leave(struct gang_core *core, struct gang *gang)
{
    if (gang->queue)
        move(core, gang, NULL);
}

/* Compares the grant with "QUEUE:NAMESPACE". */
static int grant_order(const char *grant, const char *queue, const char *ns)
{
    size_t n = strlen(queue);
    int order = strncmp(grant, queue, n);
    if (order || grant[n] != ':')
        return order ? order : (unsigned char)grant[n] - ':';
    return strcmp(&grant[n + 1], ns);
}

/* The first grant that does not come before "QUEUE:NAMESPACE"; NULL: none. */
static const char *grant_from(const struct gang_core *core, const char *queue, const char *ns)
{
    size_t low = 0, high = core->config.n_queue_grants;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (grant_order(core->queue_grants[middle], queue, ns) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < core->config.n_queue_grants ? core->queue_grants[low] : NULL;
}

static bool is_granted(const struct gang_core *core, const char *queue, const char *ns)
{
    const char *grant = grant_from(core, queue, ns);
    return grant && grant_order(grant, queue, ns) == 0;
}

/* Each gang asks this in each planning pass, and there may be 1,024 grants. */
static bool may_use(const struct gang_core *core, const char *queue, const char *ns)
{
    const char *first = grant_from(core, queue, "");
    size_t n = strlen(queue);
    bool restricted = first && strncmp(first, queue, n) == 0 && first[n] == ':';
    return !restricted || is_granted(core, queue, ns) || is_granted(core, queue, "*");
}

enum gang_reason_code queue_refusal(const struct gang_core *core, const struct queue *queue,
                                    const char *ns)
{
    if (!queue || queue == core->queues.none)
        return REASON_NONE;
    if (!queue->facts)
        return REASON_QUEUE_MISSING;
    if (queue->fault || queue->n_children)
        return REASON_QUEUE_INVALID;
    if (queue->closed)
        return REASON_QUEUE_CLOSED;
    return may_use(core, queue->ref.name, ns) ? REASON_NONE : REASON_QUEUE_FORBIDDEN;
}

enum gang_reason_code queue_refuses_gang(const struct gang_core *core, const struct gang *gang)
{
    return queue_refusal(core, gang->queue, gang->head->ref.ns);
}

/* ---- after a change ---- */

static void make_root(struct gang_core *core)
{
    static char none[] = "";
    struct gang_ref ref = {none, none, none};
    core->queues.root = queue_new(&ref);
    core->queues.none = queue_new(&ref);
    queue_tree_join(core, core->queues.none);
    map_for_each (e, &core->queues.all)
        queue_tree_join(core, e->value);
}

static void drop_root(struct gang_core *core)
{
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        step_work_spend(core, WORK_PER_MOVE);
        queue_leave(core, gang);
        gang->firm = false;
    }
    map_for_each (e, &core->queues.all)
        queue_drop(core, e->value);
    queue_free(core, STEAL(core->queues.none));
    queue_free(core, STEAL(core->queues.root));
}

/* The first queue object has come, or the last one has gone; or the first or last that counts all
 * kinds of GPUs together. True: everything must be counted again. */
static bool root_settle(struct gang_core *core)
{
    bool other_root = !core->queues.root != !core->queues.n_objects;
    bool any_gpu = core->queues.n_any_gpu > 0;
    if (!other_root && any_gpu == (core->any_gpu != RES_UNKNOWN))
        return false;
    if (core->queues.root)
        queue_uncount_all(core);
    if (other_root && core->queues.n_objects)
        make_root(core);
    else if (other_root)
        drop_root(core);
    queue_tree_any_gpu(core, any_gpu);
    queues_reorder(core);
    return true;
}

static void name_parents(struct gang_core *core)
{
    list_for_each (queue, &core->queues.edited, struct queue, in_edited) {
        if (!queue->moved)
            continue;
        struct queue *named = NULL;
        if (queue->facts && queue->facts->parent) {
            struct gang_ref ref = {queue->ref.api_group, queue->ref.ns, queue->facts->parent};
            named = queue_get(core, &ref);
        }
        if (queue->named)
            may_be_unused(core, queue->named);
        queue_tree_name(queue, named);
    }
}

static bool any_moved(const struct gang_core *core)
{
    list_for_each (queue, &core->queues.edited, struct queue, in_edited)
        if (queue->moved)
            return true;
    return core->queues.others || map_count(&core->queues.other_namespaces) > 0;
}

static void count_single(struct gang_core *core, struct pod *pod)
{
    if (!pod->node || pod->gang)
        return;
    step_work_spend(core, WORK_PER_POD);
    queue_count_pod(core, pod);
}

/* Pods that name a queue that came or went. */
static void count_those_that_name(struct gang_core *core, const struct queue *queue)
{
    struct list *pods = pods_that_name(core, &queue->ref);
    if (pods)
        list_for_each (pod, pods, struct pod, in_queue_name)
            count_single(core, pod);
}

/* Pods that may be in another queue, whether they name one or not. */
static void count_others(struct gang_core *core)
{
    if (!core->queues.others && !map_count(&core->queues.other_namespaces))
        return;
    step_work_spend(core, WORK_PER_LOOK * (int64_t)map_count(&core->pods));
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        list_for_each (pod, &node->pods, struct pod, in_node)
            if (core->queues.others || map_get(&core->queues.other_namespaces, pod->facts->ns))
                count_single(core, pod);
    }
}

static void count_singles(struct gang_core *core)
{
    queue_counts_begin(core);
    list_for_each (queue, &core->queues.edited, struct queue, in_edited)
        if (queue->moved)
            count_those_that_name(core, queue);
    count_others(core);
    queue_counts_end(core);
}

static void reassign(struct gang_core *core, struct gang *gang)
{
    const struct queue *was = gang->queue;
    queue_assign(core, gang, gang->own_priority);
    if (gang->queue == was)
        return;
    step_work_spend(core, WORK_PER_MOVE);
    gang_requeued(gang);
    gang_touch(core, gang);
}

/* A plan may exceed a new limit. Before that is checked, all gangs are in their queues: what they
 * use there counts. */
static void touch_gangs(struct gang_core *core)
{
    queue_counts_begin(core);
    list_for_each (queue, &core->queues.edited, struct queue, in_edited)
        if (queue->moved)
            list_for_each_safe (gang, &queue->gangs, struct gang, in_queue)
                reassign(core, gang);
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        if (core->queues.others || map_get(&core->queues.other_namespaces, gang->head->ref.ns))
            reassign(core, gang);
        if (!gang->n_slots)
            continue;
        gang_requeued(gang);
        gang_touch(core, gang);
    }
    queue_counts_end(core);
}

static void settled(struct gang_core *core)
{
    struct list *first;
    while ((first = list_pop(&core->queues.edited)) != NULL)
        CONTAINER_OF(first, struct queue, in_edited)->moved = false;
    map_done(&core->queues.other_namespaces);
    core->queues.other_namespaces = (struct map)MAP_INIT;
    core->queues.others = false;
}

void queues_settle(struct gang_core *core)
{
    if (list_empty(&core->queues.edited) && !any_moved(core))
        return;
    core->queues.settled++;
    bool again = root_settle(core);
    if (core->queues.root) {
        uint64_t visited = core->queues_visited;
        name_parents(core);
        queue_tree_settle(core);
        step_work_spend(core, WORK_PER_VISIT * (int64_t)(core->queues_visited - visited));
        if (again)
            queue_count_all(core);
        else if (any_moved(core))
            count_singles(core);
    }
    if (again)
        step_work_spend(core, WORK_PER_POD * (int64_t)map_count(&core->pods));
    if (core->queues.root || again) {
        room_grew(core);
        touch_gangs(core);
    }
    if (again)
        queues_want_changed(core);
    settled(core);
}

void queues_sweep(struct gang_core *core)
{
    list_for_each_safe (queue, &core->queues.unused, struct queue, in_unused) {
        if (queue->facts || !list_empty(&queue->gangs) || !list_empty(&queue->namers))
            list_remove(&queue->in_unused);
        else if (!queue->n_counted)
            queue_drop(core, queue);
    }
}

/* ---- the invariants ---- */

static int check_queue(const struct gang_core *core, const struct queue *queue, struct err *err)
{
    for (size_t i = 0; i < queue->n_claims; i++) {
        const struct queue_claim *c = &queue->claims[i];
        const struct queue_claim *first = map_get(&core->queues.by_namespace, c->ns);
        if (!first || claim_before(c, first))
            return err_set(err, ERR_INTERNAL, "queue %s: another queue counts in namespace %s",
                           queue->key, c->ns);
    }
    return queue_tree_check(core, queue, err);
}

static int check_gang(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    if (!is_assigned(core, gang, gang->own_priority))
        return 0;
    struct queue *queue = named_queue((void *)(uintptr_t)core, gang); /* which exists */
    if (queue != gang->queue || gang->firm != is_firm(gang, queue, gang->own_priority))
        return err_set(err, ERR_INTERNAL, "gang %s: its queue is out of date", gang->head->key);
    return 0;
}

static void count_users(const struct amounts *a, size_t *users)
{
    for (size_t i = 0; i < a->n; i++)
        users[a->items[i].resource]++;
}

static void count_queue_users(const struct queue *queue, size_t *users)
{
    count_users(&queue->used, users);
    count_users(&queue->firm, users);
    count_users(&queue->unused_reserves, users);
    count_users(&queue->unused_reserves_high, users);
    count_users(&queue->awaited, users);
    count_users(&queue->share.wanted, users);
    count_users(&queue->share.fair, users);
    count_users(&queue->losses.lost, users);
    count_users(&queue->losses.of, users);
    for (size_t i = 0; i < queue->n_quotas; i++)
        users[queue->quotas[i].resource]++;
}

void queues_count_users(const struct gang_core *core, size_t *users)
{
    count_users(&core->capacity, users);
    if (core->any_gpu != RES_UNKNOWN)
        users[core->any_gpu]++;
    map_for_each (e, &core->queues.all)
        count_queue_users(e->value, users);
    if (core->queues.root) {
        count_queue_users(core->queues.root, users);
        count_queue_users(core->queues.none, users);
    }
}

int queues_check(const struct gang_core *core, struct err *err)
{
    if (!core->queues.root)
        return 0;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        list_for_each (pod, &node->pods, struct pod, in_node)
            if (pod->counted_in != queue_that_counts(core, pod))
                return err_set(err, ERR_INTERNAL, "pod %s/%s is not counted in its queue",
                               pod->facts->ns, pod->facts->name);
    }
    list_for_each (gang, &core->gangs, struct gang, in_core)
        if (check_gang(core, gang, err) < 0)
            return -1;
    size_t any_gpu = 0;
    map_for_each (e, &core->queues.all) {
        const struct queue *queue = e->value;
        if (check_queue(core, queue, err) < 0)
            return -1;
        any_gpu += queue->facts && gang_quota_of(queue->facts, GANG_ANY_GPU);
    }
    if (any_gpu != core->queues.n_any_gpu || !any_gpu != (core->any_gpu == RES_UNKNOWN))
        return err_set(err, ERR_INTERNAL, "%zu queues state " GANG_ANY_GPU ", counted as %zu",
                       any_gpu, core->queues.n_any_gpu);
    return queue_usage_check(core, err);
}
