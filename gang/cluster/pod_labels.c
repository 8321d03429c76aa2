/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pod_labels.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

/* Of one namespace. */
#define LABELS_MAX   64
#define FORGET_PAUSE (10 * USEC_PER_SEC)
const struct map *rule_labels_of(const struct gang_core *core, const char *ns)
{
    const struct namespace_rule_labels *space = map_get(&core->rule_labels.all, ns);
    return space ? &space->keys : NULL;
}

static void space_free(struct namespace_rule_labels *space)
{
    list_remove(&space->in_stale);
    map_done(&space->keys);
    free(space);
}

static struct namespace_rule_labels *space_get(struct gang_core *core, const char *ns)
{
    struct namespace_rule_labels *space = map_get(&core->rule_labels.all, ns);
    if (!space) {
        space = xcalloc(1, sizeof *space);
        list_init(&space->members);
        list_init(&space->in_stale);
        map_set(&core->rule_labels.all, ns, space);
    }
    return space;
}

/* ---- members ---- */

static void space_changed(struct gang_core *core, struct namespace_rule_labels *space)
{
    if (!list_empty(&space->in_stale) || list_empty(&space->members))
        return;
    list_push(&core->rule_labels.stale, &space->in_stale);
    if (!core->due.labels.node.pos || space->rests_until < core->due.labels.node.at)
        timer_set(core, &core->due.labels, space->rests_until);
}

void rule_labels_member_added(struct gang_core *core, struct pod *pod)
{
    struct namespace_rule_labels *space = space_get(core, pod->facts->ns);
    list_push(&space->members, &pod->in_space);
    space->n_members++;
}

void rule_labels_member_removed(struct gang_core *core, struct pod *pod)
{
    struct namespace_rule_labels *space = space_get(core, pod->facts->ns);
    list_remove(&pod->in_space);
    space->n_members--;
    core->rule_labels.idle |= space->n_members == 0;
}

/* ---- rules come and go ---- */

static bool is_about_its_own(const struct gang_selector *s, const char *ns)
{
    bool own = s->all_namespaces || s->n_namespaces == 0;
    for (size_t i = 0; i < s->n_namespaces && !own; i++)
        own = strcmp(s->namespaces[i], ns) == 0;
    return own;
}

static void drop_unused(struct namespace_rule_labels *space)
{
    map_for_each (e, &space->keys)
        if ((uintptr_t)e->value == 1)
            map_remove(&space->keys, e->key);
}

/* True: the key is new. */
static bool use_key(struct namespace_rule_labels *space, const char *key, int by)
{
    uintptr_t users = (uintptr_t)map_get(&space->keys, key);
    if (!users && by < 0)
        return false; /* it was one too many */
    if (!users && map_count(&space->keys) >= LABELS_MAX)
        drop_unused(space);
    if (!users && map_count(&space->keys) >= LABELS_MAX)
        return false;
    uintptr_t now = (users ? users : 1) + (uintptr_t)(intptr_t)by;
    map_set(&space->keys, key, (void *)(now ? now : 1));
    return !users;
}

static bool use_keys(struct namespace_rule_labels *space, const struct gang_pod_facts *f,
                     const struct gang_selector *s, int by)
{
    bool news = false;
    for (size_t i = 0; i < s->term.n && is_about_its_own(s, f->ns); i++)
        news |= use_key(space, s->term.items[i].key, by);
    return news;
}

static bool use_all(struct namespace_rule_labels *space, const struct gang_pod_facts *f, int by)
{
    bool news = false;
    for (size_t i = 0; i < f->n_anti_affinity; i++)
        news |= use_keys(space, f, &f->anti_affinity[i], by);
    for (size_t i = 0; i < f->n_spreads; i++)
        news |= use_keys(space, f, &f->spreads[i].selector, by);
    return news;
}

static bool has_rules(const struct gang_pod_facts *f)
{
    return f->n_anti_affinity || f->n_spreads;
}

void rule_labels_add(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts))
        return;
    struct namespace_rule_labels *space = space_get(core, facts->ns);
    space->rules++;
    if (use_all(space, facts, 1))
        space_changed(core, space);
    if (!core->rule_labels.matter)
        map_for_each (e, &core->rule_labels.all)
            space_changed(core, e->value);
    core->rule_labels.matter = true;
}

void rule_labels_remove(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts))
        return;
    struct namespace_rule_labels *space = space_get(core, facts->ns);
    space->rules--;
    use_all(space, facts, -1);
    core->rule_labels.idle |= space->rules == 0;
}

void rule_labels_sweep(struct gang_core *core)
{
    if (!core->rule_labels.idle || core->now - core->rule_labels.swept < FORGET_PAUSE)
        return;
    core->rule_labels.idle = false;
    core->rule_labels.swept = core->now;
    map_for_each (e, &core->rule_labels.all) {
        struct namespace_rule_labels *space = e->value;
        if (space->rules)
            continue;
        if (list_empty(&space->members)) {
            map_remove(&core->rule_labels.all, e->key);
            space_free(space);
        } else if (map_count(&space->keys)) {
            map_done(&space->keys);
            space_changed(core, space);
        }
    }
}

void rule_labels_done(struct gang_core *core)
{
    map_for_each (e, &core->rule_labels.all)
        space_free(e->value);
    map_done(&core->rule_labels.all);
}
