/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/cost_story.h"

#include "test/lib/cpu_cost.h"
#include "test/lib/world.h"

struct story story_begin(void)
{
    struct gang_config config = test_config();
    config.assemble = 0;
    return (struct story){.core = gang_core_new(&config), .now = USEC_PER_SEC};
}

double story_step(struct story *s, struct gang_event *events, size_t n)
{
    size_t n_effects;
    s->now += USEC_PER_MSEC;
    double begin = cost_ms();
    gang_step(s->core, s->now, events, n, &n_effects);
    double took = cost_ms() - begin;
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    return took * 1e3;
}

double story_step_one(struct story *s, struct gang_event ev)
{
    return story_step(s, &ev, 1);
}

void story_end(struct story *s)
{
    struct err err;
    if (gang_core_check(s->core, &err) < 0)
        fail_msg("%s", err.text);
    gang_core_free(s->core);
}

struct gang_pod_facts *story_pod(const char *ns, const char *name, const char *group)
{
    struct gang_pod_facts *f = world_pod_facts(name, group, 0);
    free(f->ns);
    f->ns = xstrdup(ns);
    if (group) {
        free(f->group.ns);
        f->group.ns = xstrdup(ns);
    }
    free(f->uid);
    f->uid = xasprintf("uid-%s-%s", ns, name);
    return f;
}

void story_gang(struct story *s, const char *ns, const char *name, int min)
{
    struct gang_group_facts *g = world_group_facts(name, min);
    free(g->ref.ns);
    g->ref.ns = xstrdup(ns);
    story_step_one(s, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
}
