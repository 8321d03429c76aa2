/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/disruption.h"

#include "gang/inter_pod_rules.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"

static bool runs(const json_t *pod)
{
    return str_eq(field_peek(pod, "status", "phase", NULL), "Running") &&
           !field_peek(pod, "metadata", "deletionTimestamp", NULL);
}

static bool covers(const struct gang_budget_facts *budget, const json_t *pod)
{
    struct err err;
    if (strcmp(budget->ns, manifest_ns(pod)) != 0)
        return false;
    struct gang_pod_facts *facts = gang_pod_facts_new();
    facts->ns = xstrdup(budget->ns);
    field_kvs(json_object_get(pod, "metadata"), "labels", &facts->labels, &err);
    bool ret = gang_budget_covers(budget, facts);
    gang_pod_facts_free(facts);
    return ret;
}

/* ---- the controller ---- */

static bool has_fields(const json_t *object, const json_t *fields)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)fields, key, value)
    {
        if (!json_equal(json_object_get(object, key), value))
            return false;
    }
    return true;
}

struct counts {
    json_int_t pods, healthy, controlled; /* controlled: they have a controller */
    json_int_t of_jobs;                   /* those whose controller is a Job */
};

static const char *kind_of_controller(const json_t *pod)
{
    size_t i;
    json_t *owner;
    json_array_foreach(json_object_get(json_object_get(pod, "metadata"), "ownerReferences"), i,
                       owner)
    {
        if (json_is_true(json_object_get(owner, "controller")))
            return field_peek(owner, "kind", NULL);
    }
    return NULL;
}

static struct counts count(const struct store *s, const struct gang_budget_facts *budget)
{
    struct counts n = {.pods = 0};
    map_for_each (e, &s->objects[KIND_POD]) {
        const json_t *pod = ((const struct object *)e->value)->json;
        if (!covers(budget, pod))
            continue;
        const char *kind = kind_of_controller(pod);
        n.pods++;
        n.healthy += runs(pod);
        n.controlled += kind != NULL;
        n.of_jobs += str_eq(kind, "Job");
    }
    return n;
}

/* Source: disruption.getExpectedPodCount, getExpectedScale. */
static json_int_t expected_pods(const json_t *spec, const struct counts *n)
{
    if (json_is_integer(json_object_get(spec, "minAvailable")))
        return n->pods;
    bool by_scale = field_is_set(spec, "minAvailable") || field_is_set(spec, "maxUnavailable");
    return by_scale && n->of_jobs == 0 ? n->controlled : 0;
}

/* Source: disruption.updatePdbStatus. */
static void sync_one(struct store *s, struct object *o, const struct gang_budget_facts *budget)
{
    struct err err;
    const struct counts n = count(s, budget);
    json_int_t expected = expected_pods(json_object_get(o->json, "spec"), &n);
    int64_t desired;
    if (manifest_budget_desired(o->json, expected, &desired, &err) < 0)
        desired = n.pods; /* only a patch can make it invalid */
    json_int_t allowed = expected > 0 && n.healthy > desired ? n.healthy - desired : 0;
    json_int_t generation =
        json_integer_value(json_object_get(json_object_get(o->json, "metadata"), "generation"));
    json_t *status = json_pack("{s:I, s:I, s:I, s:I, s:I}", "observedGeneration", generation,
                               "disruptionsAllowed", allowed, "currentHealthy", n.healthy,
                               "desiredHealthy", (json_int_t)desired, "expectedPods", expected);
    if (has_fields(json_object_get(o->json, "status"), status))
        json_decref(status);
    else
        store_patch(s, o, json_pack("{s:o}", "status", status));
}

void disruption_sync(struct disruption *d)
{
    map_for_each (e, &d->store->objects[KIND_BUDGET]) {
        struct object *o = e->value;
        struct err err;
        struct gang_budget_facts *budget = decode_budget(o->json, &err);
        if (budget)
            sync_one(d->store, o, budget);
        gang_budget_facts_free(budget);
    }
}

static void sync_task(void *owner, struct task *t)
{
    struct disruption *d = owner;
    (void)t;
    d->sync_due = false;
    disruption_sync(d);
}

void disruption_changed(struct disruption *d)
{
    if (d->sync_due || map_count(&d->store->objects[KIND_BUDGET]) == 0)
        return;
    d->sync_due = true;
    sim_clock_at(d->store->clock, d->store->clock->now + COST_WRITE, sync_task, d);
}

/* ---- evictions ---- */

/* Source: the eviction subresource (canIgnorePDB, checkAndDecrement). It does not evict a pod with
 * two budgets. */
bool disruption_take(struct store *s, const struct object *pod)
{
    struct object *of = NULL;
    json_int_t allowed = 0;
    size_t n = 0;
    if (!runs(pod->json))
        return true;
    map_for_each (e, &s->objects[KIND_BUDGET]) {
        struct object *o = e->value;
        struct err err;
        struct gang_budget_facts *budget = decode_budget(o->json, &err);
        if (budget && covers(budget, pod->json)) {
            of = o;
            allowed = budget->allowed;
            n++;
        }
        gang_budget_facts_free(budget);
    }
    if (n == 0)
        return true;
    if (n > 1 || allowed == 0)
        return false;
    store_patch(s, of, json_pack("{s:{s:I}}", "status", "disruptionsAllowed", allowed - 1));
    return true;
}
