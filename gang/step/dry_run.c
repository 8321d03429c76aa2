/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dry_run.c - adds gangs that do not exist to the core, asks dry_try.c about them, and removes
 * them.
 *
 * The PodGroups and pods are added as if the watch had shown them, and removed before anything is
 * decided or emitted. Until then core->marks.dry keeps them from leaving marks. So the next steps
 * decide as if there had been no dry run; test/prop compares both.
 *
 * Runs between two steps. kube-scheduler's calls wait meanwhile, so the pods, the gangs and the
 * work of all tries are bounded.
 */
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/lifecycle/pod_update.h"
#include "gang/podgroup/gang_order.h"
#include "gang/podgroup/podgroups.h"
#include "gang/queue/queues.h"
#include "gang/step/dry_try.h"

/* The objects of a dry run. */
struct added {
    struct gang_core *core;
    struct list *last; /* the last gang before: those of the dry run follow it in core->gangs */
    struct pod **pods;
    size_t n_pods;
};

/* ---- whether the objects can be added ---- */

static int check_ref(const struct gang_core *core, const struct gang_ref *ref, const char *what,
                     struct err *err)
{
    const struct group *group = group_find(core, ref);
    if (!group)
        return 0;
    if (group->facts && !group->declared)
        return err_set(err, ERR_CONFLICT,
                       "%sPodGroup %s/%s exists: use `muster explain`, or check it under another "
                       "name",
                       what, ref->ns, ref->name);
    return err_set(err, ERR_CONFLICT,
                   "%sPodGroup %s/%s is named by objects of the cluster: check it under another "
                   "name",
                   what, ref->ns, ref->name);
}

/* PodGroups of the cluster that it names would become one gang with it. */
static int check_group(const struct gang_core *core, const struct gang_group_facts *f,
                       struct err *err)
{
    if (check_ref(core, &f->ref, "", err) < 0)
        return -1;
    const struct gang_ref parent = {f->ref.api_group, f->ref.ns, f->parent};
    cleanup_free char *named = xasprintf("PodGroup %s/%s names a ", f->ref.ns, f->ref.name);
    if (f->parent && check_ref(core, &parent, named, err) < 0)
        return -1;
    for (size_t i = 0; i < f->n_bundle; i++)
        if (check_ref(core, &f->bundle[i], named, err) < 0)
            return -1;
    return 0;
}

static int check_pod(const struct gang_core *core, const struct gang_pod_facts *f, struct err *err)
{
    if (pod_by_uid(core, f->uid) || pod_by_name(core, f->ns, f->name))
        return err_set(err, ERR_CONFLICT, "pod %s/%s exists: check it under another name", f->ns,
                       f->name);
    if (f->node)
        return err_set(err, ERR_INVALID, "pod %s/%s: spec.nodeName is set; remove it", f->ns,
                       f->name);
    if (!f->group.api_group)
        return err_set(err, ERR_INVALID, "pod %s/%s is not linked to a PodGroup", f->ns, f->name);
    cleanup_free char *linked = xasprintf("pod %s/%s: ", f->ns, f->name);
    if (check_ref(core, &f->group, linked, err) < 0)
        return -1;
    for (size_t i = 0; f->declared && i < f->declared->n_bundle; i++)
        if (check_ref(core, &f->declared->bundle[i], linked, err) < 0)
            return -1;
    return 0;
}

static int check(const struct gang_core *core, const struct gang_event *events, size_t n,
                 struct err *err)
{
    size_t pods = 0;
    if (!core->synced || core->stopping)
        return err_set(err, ERR_UNAVAILABLE,
                       "muster has not read the whole cluster yet; try again");
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != GANG_EV_GROUP_SET && events[i].kind != GANG_EV_POD_SET)
            return err_set(err, ERR_INTERNAL, "neither a PodGroup nor a pod");
        pods += events[i].kind == GANG_EV_POD_SET;
        if (pods > GANG_DRY_PODS)
            return err_set(err, ERR_INVALID,
                           "there are more than %d pods, the most that muster checks at a time",
                           GANG_DRY_PODS);
        if (events[i].kind == GANG_EV_POD_SET ? check_pod(core, events[i].pod, err) < 0
                                              : check_group(core, events[i].group, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- adding and removing ---- */

static int add_group(struct added *a, const struct gang_group_facts *f, struct err *err)
{
    const struct group *group = group_find(a->core, &f->ref);
    if (group && group->facts && !group->declared)
        return err_set(err, ERR_INVALID, "PodGroup %s/%s is there twice; remove one", f->ref.ns,
                       f->ref.name);
    on_podgroup_set(a->core, gang_group_facts_copy(f));
    return 0;
}

/* Its timestamps must not count as those of a real pod, see api_clock.h. */
static int add_pod(struct added *a, struct gang_pod_facts *f, struct err *err)
{
    if (pod_by_name(a->core, f->ns, f->name) || pod_by_uid(a->core, f->uid)) {
        err_set(err, ERR_INVALID, "pod %s/%s is there twice; remove one", f->ns, f->name);
        gang_pod_facts_free(f);
        return -1;
    }
    f->created = f->bound_at = 0;
    on_pod_set(a->core, f);
    a->pods[a->n_pods++] = pod_by_uid(a->core, f->uid);
    return 0;
}

static int add_all(struct added *a, struct gang_event *events, size_t n, struct err *err)
{
    a->last = a->core->gangs.prev;
    a->pods = xcalloc(n, sizeof *a->pods);
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == GANG_EV_GROUP_SET && add_group(a, events[i].group, err) < 0)
            return -1;
    for (size_t i = 0; i < n; i++)
        if (events[i].kind == GANG_EV_POD_SET && add_pod(a, STEAL(events[i].pod), err) < 0)
            return -1;
    return 0;
}

/* The next gang of the dry run; NULL: there is none. gang NULL: the first one. */
static struct gang *next_gang(const struct added *a, const struct gang *gang)
{
    struct list *next = gang ? gang->in_core.next : a->last->next;
    return next == &a->core->gangs ? NULL : CONTAINER_OF(next, struct gang, in_core);
}

/* A PodGroup that still has facts. To remove it may give others of its family a gang of their own.
 */
static const struct group *any_group(const struct added *a)
{
    for (struct gang *gang = NULL; (gang = next_gang(a, gang)) != NULL;)
        list_for_each (group, &gang->groups, struct group, in_gang)
            if (group->facts)
                return group;
    return NULL;
}

static void remove_all(struct added *a)
{
    const struct group *group;
    struct gang *gang;
    for (size_t i = 0; i < a->n_pods; i++)
        pod_remove(a->core, a->pods[i]);
    while ((group = any_group(a)) != NULL)
        on_podgroup_gone(a->core, &group->ref);
    while ((gang = next_gang(a, NULL)) != NULL && gang_sweep(a->core, gang))
        continue;
    order_settle(a->core);
    queues_sweep(a->core);
    free(a->pods);
}

/* ---- the dry run ---- */

/* The gangs that have members or a PodGroup; a parent that is only named is none. */
static int ask(struct added *a, gang_dry_run_fn *fn, void *arg, struct err *err)
{
    struct gang *gangs[GANG_DRY_GANGS];
    size_t n = 0;
    for (struct gang *gang = NULL; (gang = next_gang(a, gang)) != NULL;) {
        if (!gang->head->facts && list_empty(&gang->members))
            continue;
        if (n == GANG_DRY_GANGS)
            return err_set(err, ERR_INVALID,
                           "there are more than %d gangs, the most that muster checks at a time",
                           GANG_DRY_GANGS);
        gangs[n++] = gang;
    }
    dry_try(a->core, gangs, n, fn, arg);
    return 0;
}

int gang_core_dry_run(struct gang_core *core, struct gang_event *events, size_t n,
                      gang_dry_run_fn *fn, void *arg, struct err *err)
{
    if (check(core, events, n, err) < 0)
        return -1;
    struct added a = {.core = core};
    struct gang_stats stats = core->stats;
    order_settle(core); /* the last step may have left this to the next one */
    dry_run_begins(core);
    int r = add_all(&a, events, n, err);
    if (r == 0)
        r = ask(&a, fn, arg, err);
    remove_all(&a);
    dry_run_ends(core);
    core->stats = stats;
    return r;
}
