/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/kinds.h"

static struct workload_role *new_part(struct workload_group *g, const char *name)
{
    g->roles = xreallocarray(g->roles, g->n_roles + 1, sizeof *g->roles);
    struct workload_role *r = &g->roles[g->n_roles++];
    *r = (struct workload_role){.name = xstrdup(name), .min_children = -1};
    return r;
}

void part_add(struct workload_group *g, const char *name, const char *parent, int64_t min_member)
{
    struct workload_role *r = new_part(g, name);
    r->parent = xstrdup_null(parent);
    r->min_member = min_member;
}

void part_of_parts(struct workload_group *g, const char *name, int64_t min_children)
{
    new_part(g, name)->min_children = min_children;
}

bool part_exists(const struct workload_group *g, const char *name)
{
    for (size_t i = 0; i < g->n_roles; i++)
        if (strcmp(g->roles[i].name, name) == 0)
            return true;
    return false;
}

void part_join(struct workload_group *g, const char *name)
{
    if (!part_exists(g, name))
        return;
    free(g->role);
    g->role = xstrdup(name);
}

void parts_done(struct workload_group *g)
{
    for (size_t i = 0; i < g->n_roles; i++) {
        free(g->roles[i].name);
        free(g->roles[i].parent);
    }
    free(STEAL(g->roles));
    free(STEAL(g->role));
    g->n_roles = 0;
    g->min_children = -1;
}
