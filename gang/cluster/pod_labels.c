/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/pod_labels.h"

#include "gang/cluster/lookup.h"
#include "gang/cluster/timers.h"

/* How many rule labels a namespace has at most. */
#define LABELS_MAX 64
/* The shortest time between two sweeps. */
#define FORGET_PAUSE (10 * USEC_PER_SEC)

const struct map *rule_labels_of(const struct gang_core *core, const char *ns)
{
    const struct namespace_rule_labels *labels = map_get(&core->rule_labels.all, ns);
    return labels ? &labels->keys : NULL;
}

static void labels_free(struct namespace_rule_labels *labels)
{
    list_remove(&labels->in_stale);
    map_done(&labels->keys);
    free(labels);
}

static struct namespace_rule_labels *labels_get(struct gang_core *core, const char *ns)
{
    struct namespace_rule_labels *labels = map_get(&core->rule_labels.all, ns);
    if (!labels) {
        labels = xcalloc(1, sizeof *labels);
        list_init(&labels->members);
        list_init(&labels->in_stale);
        map_set(&core->rule_labels.all, ns, labels);
    }
    return labels;
}

/* ---- members ---- */

static void labels_changed(struct gang_core *core, struct namespace_rule_labels *labels)
{
    if (!list_empty(&labels->in_stale) || list_empty(&labels->members))
        return;
    list_push(&core->rule_labels.stale, &labels->in_stale);
    if (!core->due.labels.node.pos || labels->rests_until < core->due.labels.node.at)
        timer_set(core, &core->due.labels, labels->rests_until);
}

void rule_labels_member_added(struct gang_core *core, struct pod *pod)
{
    if (core->marks.dry)
        return;
    struct namespace_rule_labels *labels = labels_get(core, pod->facts->ns);
    list_push(&labels->members, &pod->in_namespace);
    labels->n_members++;
}

void rule_labels_member_removed(struct gang_core *core, struct pod *pod)
{
    if (core->marks.dry)
        return;
    struct namespace_rule_labels *labels = labels_get(core, pod->facts->ns);
    list_remove(&pod->in_namespace);
    labels->n_members--;
    core->rule_labels.idle |= labels->n_members == 0;
}

/* ---- rules come and go ---- */

/* Whether the selector selects pods of the namespace `ns` of the pod with the rule. */
static bool covers_own_namespace(const struct gang_selector *s, const char *ns)
{
    bool own = s->all_namespaces || s->n_namespaces == 0;
    for (size_t i = 0; i < s->n_namespaces && !own; i++)
        own = strcmp(s->namespaces[i], ns) == 0;
    return own;
}

static void drop_unused(struct namespace_rule_labels *labels)
{
    map_for_each (e, &labels->keys)
        if ((uintptr_t)e->value == 1)
            map_remove(&labels->keys, e->key);
}

/* Counts a user of the key up (by 1) or down (-1). A key without users stays until its place is
 * needed. Returns whether the key is new. */
static bool use_key(struct namespace_rule_labels *labels, const char *key, int by)
{
    uintptr_t users = (uintptr_t)map_get(&labels->keys, key);
    if (!users && by < 0)
        return false; /* the key was not stored, because of LABELS_MAX */
    if (!users && map_count(&labels->keys) >= LABELS_MAX)
        drop_unused(labels);
    if (!users && map_count(&labels->keys) >= LABELS_MAX)
        return false;
    uintptr_t now = (users ? users : 1) + (uintptr_t)(intptr_t)by;
    map_set(&labels->keys, key, (void *)(now ? now : 1));
    return !users;
}

static bool use_keys(struct namespace_rule_labels *labels, const struct gang_pod_facts *f,
                     const struct gang_selector *s, int by)
{
    bool news = false;
    for (size_t i = 0; i < s->term.n && covers_own_namespace(s, f->ns); i++)
        news |= use_key(labels, s->term.items[i].key, by);
    return news;
}

static bool use_all(struct namespace_rule_labels *labels, const struct gang_pod_facts *f, int by)
{
    bool news = false;
    for (size_t i = 0; i < f->n_anti_affinity; i++)
        news |= use_keys(labels, f, &f->anti_affinity[i], by);
    for (size_t i = 0; i < f->n_spreads; i++)
        news |= use_keys(labels, f, &f->spreads[i].selector, by);
    return news;
}

static bool has_rules(const struct gang_pod_facts *f)
{
    return f->n_anti_affinity || f->n_spreads;
}

void rule_labels_add(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts) || core->marks.dry)
        return;
    struct namespace_rule_labels *labels = labels_get(core, facts->ns);
    labels->rules++;
    if (use_all(labels, facts, 1))
        labels_changed(core, labels);
    if (!core->rule_labels.matter)
        map_for_each (e, &core->rule_labels.all)
            labels_changed(core, e->value);
    core->rule_labels.matter = true;
}

void rule_labels_remove(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts) || core->marks.dry)
        return;
    struct namespace_rule_labels *labels = labels_get(core, facts->ns);
    labels->rules--;
    use_all(labels, facts, -1);
    core->rule_labels.idle |= labels->rules == 0;
}

void rule_labels_sweep(struct gang_core *core)
{
    if (!core->rule_labels.idle || core->now - core->rule_labels.swept < FORGET_PAUSE)
        return;
    core->rule_labels.idle = false;
    core->rule_labels.swept = core->now;
    map_for_each (e, &core->rule_labels.all) {
        struct namespace_rule_labels *labels = e->value;
        if (labels->rules)
            continue;
        if (list_empty(&labels->members)) {
            map_remove(&core->rule_labels.all, e->key);
            labels_free(labels);
        } else if (map_count(&labels->keys)) {
            map_done(&labels->keys);
            labels_changed(core, labels);
        }
    }
}

void rule_labels_done(struct gang_core *core)
{
    map_for_each (e, &core->rule_labels.all)
        labels_free(e->value);
    map_done(&core->rule_labels.all);
}
