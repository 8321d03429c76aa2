/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.c - labels of pods that rules between pods ask for: members that differ in them have
 * shapes of their own, so that one pod can stand for its shape.
 *
 * Each namespace has its own, asked for by rules of its own pods, with a bound of its own: what one
 * tenant's rules ask for makes no other's shapes finer. A rule about pods of other namespaces is
 * heeded where a pod is looked at itself; where a shape's sample stands for it, kube-scheduler's
 * offers correct what the sample does not say (evidence.c). Keys have users; a namespace without
 * rules forgets its keys after a while.
 */
#include "gang/core.h"

/* Of one namespace. */
#define LABELS_MAX   64
#define FORGET_PAUSE (10 * USEC_PER_SEC)

struct label_space {
    struct map keys; /* key -> users + 1 */
    size_t rules;    /* pods with such rules */
};

const struct map *labels_of(const struct gang_core *core, const char *ns)
{
    const struct label_space *space = map_get(&core->labels, ns);
    return space ? &space->keys : NULL;
}

static void space_free(struct label_space *space)
{
    map_done(&space->keys);
    free(space);
}

static struct label_space *space_get(struct gang_core *core, const char *ns)
{
    struct label_space *space = map_get(&core->labels, ns);
    if (!space) {
        space = xcalloc(1, sizeof *space);
        map_set(&core->labels, ns, space);
    }
    return space;
}

/* ---- members follow ---- */

/* An expected slot is for a pod like the siblings that exist. */
static void expected_reshape(struct gang_core *core, struct gang *gang)
{
    list_for_each (slot, &gang->slots, struct slot, in_gang) {
        if (slot->pod || !list_empty(&slot->shape->pods))
            continue;
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (pod->unit == slot->unit && !pod->shape->limited &&
                shape_needs_equal(pod->shape, slot->shape)) {
                slot_reshape(core, slot, pod->shape);
                break;
            }
    }
}

/* ns NULL: of all namespaces. */
static void members_reshape(struct gang_core *core, const char *ns)
{
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        bool any = false;
        list_for_each (pod, &gang->members, struct pod, in_gang)
            if (!ns || strcmp(pod->facts->ns, ns) == 0) {
                pod_reshape(core, pod);
                any = true;
            }
        if (any)
            expected_reshape(core, gang);
    }
}

/* ---- rules come and go ---- */

static bool is_about_its_own(const struct gang_selector *s, const char *ns)
{
    bool own = s->all_namespaces || s->n_namespaces == 0;
    for (size_t i = 0; i < s->n_namespaces && !own; i++)
        own = strcmp(s->namespaces[i], ns) == 0;
    return own;
}

static void drop_unused(struct label_space *space)
{
    map_for_each (e, &space->keys)
        if ((uintptr_t)e->value == 1)
            map_remove(&space->keys, e->key);
}

/* True: the key is new. */
static bool use_key(struct label_space *space, const char *key, int by)
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

static bool use_keys(struct label_space *space, const struct gang_pod_facts *f,
                     const struct gang_selector *s, int by)
{
    bool news = false;
    for (size_t i = 0; i < s->term.n && is_about_its_own(s, f->ns); i++)
        news |= use_key(space, s->term.items[i].key, by);
    return news;
}

static bool use_all(struct label_space *space, const struct gang_pod_facts *f, int by)
{
    bool news = false;
    for (size_t i = 0; i < f->n_apart; i++)
        news |= use_keys(space, f, &f->apart[i], by);
    for (size_t i = 0; i < f->n_spreads; i++)
        news |= use_keys(space, f, &f->spreads[i].selector, by);
    return news;
}

static bool has_rules(const struct gang_pod_facts *f)
{
    return f->n_apart || f->n_spreads;
}

void labels_learn(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts))
        return;
    bool first = !core->labels_matter;
    core->labels_matter = true;
    struct label_space *space = space_get(core, facts->ns);
    space->rules++;
    if (use_all(space, facts, 1) || first)
        members_reshape(core, first ? NULL : facts->ns);
}

void labels_forget(struct gang_core *core, const struct gang_pod_facts *facts)
{
    if (!has_rules(facts))
        return;
    struct label_space *space = space_get(core, facts->ns);
    space->rules--;
    use_all(space, facts, -1);
    core->labels_idle |= space->rules == 0;
}

void labels_sweep(struct gang_core *core)
{
    if (!core->labels_idle || core->now - core->labels_swept < FORGET_PAUSE)
        return;
    core->labels_idle = false;
    core->labels_swept = core->now;
    map_for_each (e, &core->labels) {
        struct label_space *space = e->value;
        if (space->rules)
            continue;
        cleanup_free char *ns = xstrdup(e->key);
        map_remove(&core->labels, ns);
        space_free(space);
        members_reshape(core, ns);
    }
}

void labels_done(struct gang_core *core)
{
    map_for_each (e, &core->labels)
        space_free(e->value);
    map_done(&core->labels);
}
