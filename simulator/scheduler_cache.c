/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scheduler_cache.h"

#include <stdio.h>

#include "gang/node_predicates.h"
#include "k8s/decode/decode.h"

static int64_t *amount_in(struct gang_amounts *a, const char *resource)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].resource, resource) == 0)
            return &a->items[i].amount;
    gang_amounts_add(a, resource, 0);
    return &a->items[a->n - 1].amount;
}

/* ---- nodes ---- */

struct sched_node *cache_node(const struct sched_cache *c, const char *name)
{
    return name ? map_get(&c->nodes, name) : NULL;
}

/* Charges and nominates pods that name the node and were shown before it. */
static void adopt(struct sched_cache *c, const char *name)
{
    map_for_each (e, &c->pods) {
        struct sched_pod *pod = e->value;
        if (str_eq(pod->node_name, name) && !pod->node)
            cache_charge(c, pod, name);
        else if (!pod->node_name)
            cache_nominate(c, pod);
    }
}

static void add_node(struct sched_cache *c, struct gang_node_facts *facts)
{
    struct sched_node *node = xcalloc(1, sizeof *node);
    node->facts = facts;
    list_init(&node->pods);
    list_init(&node->nominated);
    map_set(&c->nodes, facts->name, node);
    GROW(c->order, c->cap_order, c->n_order + 1);
    c->order[c->n_order++] = node;
    adopt(c, facts->name);
}

void cache_set_node(struct sched_cache *c, const json_t *json)
{
    /* It cannot fail, because it was decoded for the core before. */
    struct gang_node_facts *facts = decode_node(json, NULL);
    struct sched_node *node = cache_node(c, facts->name);
    if (node) {
        gang_node_facts_free(node->facts);
        node->facts = facts;
    } else {
        add_node(c, facts);
    }
}

static void node_free(struct sched_node *node)
{
    gang_node_facts_free(node->facts);
    gang_amounts_done(&node->used);
    free(node);
}

bool cache_remove_node(struct sched_cache *c, const char *name)
{
    struct sched_node *node = map_remove(&c->nodes, name);
    if (!node)
        return false;
    list_for_each_safe (pod, &node->pods, struct sched_pod, on_node) {
        list_remove(&pod->on_node);
        pod->node = NULL;
    }
    list_for_each_safe (pod, &node->nominated, struct sched_pod, nominated)
        list_remove(&pod->nominated);
    size_t at = 0;
    while (c->order[at] != node)
        at++;
    memmove(&c->order[at], &c->order[at + 1], (--c->n_order - at) * sizeof(struct sched_node *));
    c->next_start = 0;
    node_free(node);
    return true;
}

/* ---- pods ---- */

struct sched_pod *cache_pod(const struct sched_cache *c, const char *uid)
{
    return map_get(&c->pods, uid);
}

struct sched_pod *cache_add_pod(struct sched_cache *c, const char *uid)
{
    struct sched_pod *pod = xcalloc(1, sizeof *pod);
    list_init(&pod->link);
    list_init(&pod->on_node);
    list_init(&pod->nominated);
    map_set(&c->pods, uid, pod);
    return pod;
}

static void pod_free(struct sched_pod *pod)
{
    json_decref(pod->json);
    gang_pod_facts_free(pod->facts);
    free(pod->message);
    free(pod->node_name);
    free(pod);
}

void cache_remove_pod(struct sched_cache *c, const char *uid)
{
    struct sched_pod *pod = map_remove(&c->pods, uid);
    cache_discharge(pod);
    list_remove(&pod->nominated);
    pod_free(pod);
}

static void take_facts(struct sched_pod *pod, json_t *json)
{
    json_decref(pod->json);
    pod->json = json_incref(json);
    gang_pod_facts_free(pod->facts);
    pod->facts = decode_pod(json, NULL); /* cannot fail: it was decoded for the core before */
}

void cache_set_pod(struct sched_cache *c, struct sched_pod *pod, json_t *json)
{
    char *charged = xstrdup_null(pod->node_name);
    if (charged)
        cache_discharge(pod);
    take_facts(pod, json);
    if (charged)
        cache_charge(c, pod, charged);
    free(charged);
}

/* ---- pods on nodes ---- */

static void add_requests(struct sched_node *node, const struct sched_pod *pod, int sign)
{
    for (size_t i = 0; i < pod->facts->requests.n; i++)
        *amount_in(&node->used, pod->facts->requests.items[i].resource) +=
            sign * pod->facts->requests.items[i].amount;
    node->n_pods += sign;
}

void cache_charge(struct sched_cache *c, struct sched_pod *pod, const char *node)
{
    if (pod->node_name != node) {
        free(pod->node_name);
        pod->node_name = xstrdup(node);
    }
    list_remove(&pod->nominated);
    pod->node = cache_node(c, node);
    if (!pod->node)
        return;
    add_requests(pod->node, pod, 1);
    list_push(&pod->node->pods, &pod->on_node);
}

void cache_discharge(struct sched_pod *pod)
{
    if (pod->node)
        add_requests(pod->node, pod, -1);
    list_remove(&pod->on_node);
    pod->node = NULL;
    free(STEAL(pod->node_name));
}

void cache_nominate(struct sched_cache *c, struct sched_pod *pod)
{
    list_remove(&pod->nominated);
    struct sched_node *node = cache_node(c, pod->facts->nominated);
    if (node && !pod->node_name)
        list_push(&node->nominated, &pod->nominated);
}

/* ---- filters ---- */

/* The requests of the nominated pods that take precedence over the pod, or their number if resource
 * is NULL. Source: framework addGENominatedPods: equal or higher priority. */
static int64_t nominated_amount(const struct sched_pod *pod, const struct sched_node *node,
                                const char *resource)
{
    int64_t sum = 0;
    list_for_each (other, (struct list *)(uintptr_t)&node->nominated, struct sched_pod, nominated) {
        if (other == pod || other->facts->priority < pod->facts->priority)
            continue;
        sum += resource ? gang_amounts_get(&other->facts->requests, resource) : 1;
    }
    return sum;
}

static bool port_taken(const struct sched_pod *pod, const struct sched_node *node)
{
    if (!pod->facts->n_host_ports)
        return false;
    list_for_each (other, (struct list *)(uintptr_t)&node->pods, struct sched_pod, on_node) {
        if (gang_pods_conflict(pod->facts, other->facts))
            return true;
    }
    return false;
}

/* Source: noderesources fitsRequest. */
const char *cache_refusal(const struct sched_pod *pod, const struct sched_node *node, char buf[128])
{
    const char *text = gang_node_refusal(pod->facts, node->facts);
    if (text) {
        snprintf(buf, 128, "node(s): %s", text);
        return buf;
    }
    if (port_taken(pod, node))
        return "node(s) didn't have free ports for the requested pod ports";
    const struct gang_amounts *room = &node->facts->allocatable;
    if (node->n_pods + nominated_amount(pod, node, NULL) + 1 > gang_amounts_get(room, "pods"))
        return "Too many pods";
    for (size_t i = 0; i < pod->facts->requests.n; i++) {
        const struct gang_amount *r = &pod->facts->requests.items[i];
        int64_t used = gang_amounts_get(&node->used, r->resource);
        if (r->amount > 0 && r->amount > gang_amounts_get(room, r->resource) - used -
                                             nominated_amount(pod, node, r->resource)) {
            snprintf(buf, 128, "Insufficient %.100s", r->resource);
            return buf;
        }
    }
    return NULL;
}

/* NodeResourcesFit with LeastAllocated over cpu and memory. */
int cache_score(const struct sched_pod *pod, const struct sched_node *node)
{
    static const char *const resources[] = {"cpu", "memory"};
    int64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        int64_t all = gang_amounts_get(&node->facts->allocatable, resources[i]);
        int64_t used = gang_amounts_get(&node->used, resources[i]) +
                       gang_amounts_get(&pod->facts->requests, resources[i]);
        if (all > 0 && used < all)
            sum += (int64_t)((__int128)(all - used) * 100 / all);
    }
    return (int)(sum / 2);
}

void cache_done(struct sched_cache *c)
{
    map_for_each (e, &c->pods)
        pod_free(e->value);
    map_done(&c->pods);
    map_for_each (e, &c->nodes)
        node_free(e->value);
    map_done(&c->nodes);
    free(c->order);
}
