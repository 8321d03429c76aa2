/* SPDX-License-Identifier: Apache-2.0 */
/* Owner walks: from a pod up to its owners, step by step. Also helpers of the grouper. */
#include "k8s/encoding/kube_field.h"
#include "k8s/grouper/grouper_internal.h"

/* How many walks run before the next network events are handled. */
#define AT_ONCE 32

/* ---- timers ---- */

void grouper_pump_soon(struct grouper *g)
{
    client_timer_set(g->o.client, &g->pump, usec_now());
}

void grouper_look_later(struct grouper *g)
{
    if (g->look.node.pos == 0)
        client_timer_set(g->o.client, &g->look, usec_now() + g->o.look);
}

/* ---- dialects that are listed ---- */

static size_t index_of(const struct dialect *dialect)
{
    size_t i = 0;
    while (dialects[i] && dialects[i] != dialect)
        i++;
    return i;
}

bool grouper_is_ready(const struct grouper *g, const struct dialect *dialect)
{
    return g->ready[index_of(dialect)];
}

void grouper_set_ready(struct grouper *g, const struct dialect *dialect, bool ready)
{
    g->ready[index_of(dialect)] = ready;
}

/* ---- references ---- */

bool grouper_ref(const json_t *reference, struct workload_ref *ret)
{
    static const char *const keys[] = {"apiVersion", "kind", "name", "uid"};
    char *of[ARRAY_SIZE(keys)];
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!(of[i] = (char *)(uintptr_t)field_peek(reference, keys[i], NULL)))
            return false;
    *ret = (struct workload_ref){of[0], of[1], of[2], of[3]};
    return true;
}

const json_t *grouper_first_owner(const json_t *object)
{
    const json_t *owners = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    return json_array_get(owners, 0);
}

/* ---- owner walks ---- */

static void on_owner(struct owner_wait *wait)
{
    owner_walk_again(CONTAINER_OF(wait, struct owner_walk, wait));
}

void owner_walk_init(struct owner_walk *s, struct grouper *g, const char *ns)
{
    s->g = g;
    s->ns = ns;
    s->wait.ready = on_owner;
    list_init(&s->link);
    list_init(&s->wait.link);
}

void owner_walk_again(struct owner_walk *s)
{
    list_remove(&s->link);
    list_remove(&s->wait.link);
    list_push(&s->g->queue, &s->link);
    grouper_pump_soon(s->g);
}

void owner_walk_start(struct owner_walk *s, char *pod)
{
    free(s->pod);
    s->pod = pod;
    owner_walk_again(s);
}

void owner_walk_park(struct owner_walk *s)
{
    grouper_look_later(s->g);
    list_remove(&s->link);
    list_push(&s->g->stuck, &s->link);
}

void owner_walk_end(struct owner_walk *s)
{
    free(STEAL(s->pod));
    list_remove(&s->link);
    list_remove(&s->wait.link);
}

void owner_walks_unpark(struct grouper *g)
{
    while (!list_empty(&g->stuck))
        owner_walk_again(CONTAINER_OF(g->stuck.next, struct owner_walk, link));
}

/* ---- the chain of owners ---- */

struct way {
    /* From the pod up to the top owner. One entry more than allowed, to detect a longer chain. */
    const json_t *chain[WORKLOAD_MAX_CHAIN + 1];
    size_t n;
    json_t *reference; /* the last entry, if it is made from a reference; owned */
};

enum climbed { WAY_WHOLE, WAY_WAITS, WAY_ALONE };

/* Only the default rule applies to this kind, and it needs no more than the owner reference. */
static bool needs_no_object(const struct workload_rules *rules, const struct workload_ref *ref)
{
    return !workload_plural(ref->api_version, ref->kind) &&
           !workload_scales(rules, ref->api_version, ref->kind);
}

static json_t *as_object(const struct workload_ref *ref, const char *ns)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", ref->api_version, "kind",
                     ref->kind, "metadata", "name", ref->name, "namespace", ns, "uid", ref->uid);
}

static enum climbed owner_unknown(struct owner_walk *s, struct way *way, enum owner_state state,
                                  const struct workload_ref *ref, const char *why)
{
    const struct workload_rules *rules = s->g->o.rules;
    if (state == OWNER_COMING)
        return WAY_WAITS;
    /* An owner that muster may not read cannot request a PodGroup for its pods. But if the pod
     * itself requests one, it waits until the owner can be read. */
    if (state == OWNER_DENIED && workload_wants_podgroup(rules, way->chain[0]) == WORKLOAD_OWNER)
        return WAY_ALONE;
    bool can_be = !list_empty(&s->wait.link);
    if (state == OWNER_DENIED && can_be && needs_no_object(rules, ref)) {
        list_remove(&s->wait.link);
        way->reference = as_object(ref, s->ns);
        way->chain[way->n++] = way->reference;
        return WAY_WHOLE;
    }
    api_metrics_count(s->g->o.metrics, "podgroup_failures_total", "step", "owner");
    if (!can_be)
        owner_walk_park(s);
    s->stuck(s, why);
    return WAY_WAITS;
}

static enum climbed climb(struct owner_walk *s, struct way *way)
{
    const struct workload_rules *rules = s->g->o.rules;
    struct workload_ref ref;
    while (way->n < ARRAY_SIZE(way->chain) && workload_owner(rules, way->chain[way->n - 1], &ref)) {
        const char *why = NULL;
        const json_t *object;
        enum owner_state state =
            owner_cache_find(s->g->owners, s->ns, &ref, &s->wait, &object, &why);
        enum climbed r = WAY_WHOLE;
        if (state == OWNER_KNOWN)
            way->chain[way->n++] = object;
        else
            r = owner_unknown(s, way, state, &ref, why);
        workload_ref_done(&ref);
        if (r != WAY_WHOLE)
            return r;
    }
    return WAY_WHOLE;
}

static void look(struct owner_walk *s, struct way *way)
{
    struct workload_group group;
    struct err err;
    enum climbed climbed = climb(s, way);
    if (climbed == WAY_WAITS)
        return;
    int r =
        climbed == WAY_ALONE ? 1 : workload_group(s->g->o.rules, way->chain, way->n, &group, &err);
    if (r > 0) {
        list_remove(&s->wait.link);
        s->none(s);
    } else if (r < 0) {
        api_metrics_count(s->g->o.metrics, "podgroup_failures_total", "step", "rule");
        owner_walk_park(s);
        s->stuck(s, err.text);
    } else {
        s->found(s, &group);
        workload_group_done(&group);
    }
}

static void owner_walk_step(struct owner_walk *s)
{
    cleanup_json json_t *pod = json_loads(s->pod, 0, NULL);
    struct way way = {.chain = {pod}, .n = 1};
    look(s, &way);
    json_decref(way.reference);
}

void owner_walks_step(struct grouper *g)
{
    for (int i = 0; i < AT_ONCE && !list_empty(&g->queue); i++) {
        struct owner_walk *s = CONTAINER_OF(g->queue.next, struct owner_walk, link);
        list_remove(&s->link);
        owner_walk_step(s);
    }
    if (!list_empty(&g->queue))
        grouper_pump_soon(g);
}
