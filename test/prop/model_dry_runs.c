/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_dry_runs.c - dry runs of copies of gangs that exist.
 */
#include "test/prop/model.h"

/* Replaces a name by that of the copy. */
static void rename_copy(char **name)
{
    char *old = *name;
    *name = xasprintf("dry-%s", old);
    free(old);
}

/* A copy of group g under another name, with those it names, and its members as they would be
 * created. */
static size_t dry_copy(const struct model *m, int g, struct gang_event *events)
{
    size_t n = 0;
    if (m->groups[g].exists) {
        struct gang_group_facts *f = facts_group(m, g);
        rename_copy(&f->ref.name);
        for (size_t i = 0; i < f->n_bundle; i++)
            rename_copy(&f->bundle[i].name);
        if (f->parent)
            rename_copy(&f->parent);
        events[n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
    }
    for (int p = 0; p < PODS; p++) {
        if (!m->pods[p].exists || m->pods[p].stands_in || pod_group(&m->pods[p]) != g)
            continue;
        struct gang_pod_facts *f = facts_pod(m, p);
        rename_copy(&f->name);
        rename_copy(&f->uid);
        free(STEAL(f->node));
        free(STEAL(f->nominated));
        f->phase = PHASE_PENDING;
        f->deleting = f->unschedulable = f->committed = false;
        rename_copy(&f->group.name);
        if (f->declared)
            rename_copy(&f->declared->ref.name);
        events[n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
    }
    return n;
}

static void see_dry_run(void *arg, const struct gang_dry_run *run)
{
    struct totals *totals = ((struct model *)arg)->totals;
    totals->dry_runs++;
    totals->dry_fits += run->fits == GANG_YES;
}

void model_dry_run(struct model *m)
{
    struct gang_event events[GROUPS + PODS];
    size_t n = 0;
    struct err err;
    int g = m->line % GROUPS;
    n += dry_copy(m, g, events);
    n += dry_copy(m, (g + 1) % GROUPS, events + n);
    if (n)
        (void)gang_core_dry_run(m->core, events, n, see_dry_run, m, &err);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    if (gang_core_check(m->core, &err) < 0)
        model_fail(m, "dry run", "%s", err.text);
}
