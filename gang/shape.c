/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "gang/core.h"
#include "gang/predicates.h"

/* No node has so much of anything, and 65,536 pods of it do not overflow a sum. */
#define AMOUNT_MAX (INT64_MAX >> 17)

uint32_t resource_number(struct gang_core *core, const char *name)
{
    uintptr_t known = (uintptr_t)map_get(&core->resource_numbers, name);
    if (known)
        return (uint32_t)known - 1;
    core->resources =
        xreallocarray(core->resources, core->n_resources + 1, sizeof *core->resources);
    core->resources[core->n_resources++] = xstrdup(name);
    map_set(&core->resource_numbers, name, (void *)(uintptr_t)core->n_resources);
    return (uint32_t)core->n_resources - 1;
}

void amounts_set(struct gang_core *core, struct amounts *to, const struct gang_amounts *from)
{
    for (size_t i = 0; i < to->n; i++)
        to->v[i] = 0;
    for (size_t i = 0; i < from->n; i++) {
        uint32_t r = resource_number(core, from->items[i].resource);
        if (r >= to->n) {
            to->v = xreallocarray(to->v, r + 1, sizeof *to->v);
            while (to->n <= r)
                to->v[to->n++] = 0;
        }
        to->v[r] = from->items[i].amount;
    }
}

/* ---- the key: everything the planner looks at in a pod, in one order ---- */

static int by_resource(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    return x->resource < y->resource ? -1 : x->resource > y->resource;
}

/* Length-prefixed, so that no text from outside can look like another. */
static void key_text(struct buf *b, const char *s)
{
    buf_printf(b, "%zu:%s", s ? strlen(s) : (size_t)0, s ? s : "");
}

static void key_rules(struct buf *b, const struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->node_selector.n; i++) {
        buf_putc(b, 's');
        key_text(b, f->node_selector.items[i].key);
        key_text(b, f->node_selector.items[i].value);
    }
    if (f->has_affinity)
        buf_putc(b, 'a');
    for (size_t i = 0; i < f->n_affinity; i++) {
        buf_putc(b, 't');
        for (size_t j = 0; j < f->affinity[i].n; j++) {
            const struct gang_requirement *r = &f->affinity[i].items[j];
            buf_printf(b, "r%d.%d.%zu", r->on_name, (int)r->op, r->n_values);
            key_text(b, r->key);
            for (size_t k = 0; k < r->n_values; k++)
                key_text(b, r->values[k]);
        }
    }
    for (size_t i = 0; i < f->n_tolerations; i++) {
        const struct gang_toleration *t = &f->tolerations[i];
        buf_printf(b, "o%d.%d.%d", t->exists, t->any_effect, (int)t->effect);
        key_text(b, t->key);
        key_text(b, t->value);
    }
    for (size_t i = 0; i < f->n_host_ports; i++) {
        const struct gang_port *p = &f->host_ports[i];
        buf_printf(b, "p%d", (int)p->port);
        key_text(b, p->protocol);
        key_text(b, p->ip);
    }
}

static void shape_needs(struct gang_core *core, const struct gang_pod_facts *facts,
                        struct need **ret, size_t *ret_n)
{
    struct gang_amounts total = {NULL, 0};
    gang_pod_requests(facts, &total);
    struct need *needs = xcalloc(total.n + 1, sizeof *needs);
    size_t n = 0;
    needs[n++] = (struct need){RES_PODS, 1};
    for (size_t i = 0; i < total.n; i++) {
        if (total.items[i].amount > AMOUNT_MAX)
            total.items[i].amount = AMOUNT_MAX;
        if (total.items[i].amount > 0)
            needs[n++] = (struct need){resource_number(core, total.items[i].resource),
                                       total.items[i].amount};
    }
    gang_amounts_done(&total);
    qsort(needs, n, sizeof *needs, by_resource);
    *ret = needs;
    *ret_n = n;
}

static int first_device(const struct gang_core *core, const struct need *needs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gang_is_device(core->resources[needs[i].resource]))
            return (int)needs[i].resource;
    return -1;
}

struct shape *shape_of(struct gang_core *core, const struct gang_pod_facts *facts)
{
    struct need *needs;
    size_t n;
    shape_needs(core, facts, &needs, &n);
    cleanup_buf struct buf key = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        buf_printf(&key, "n%" PRIu32 "=%" PRId64, needs[i].resource, needs[i].amount);
    key_rules(&key, facts);

    struct shape *shape = map_get(&core->shapes, buf_str(&key));
    if (shape) {
        free(needs);
        return shape_ref(shape);
    }
    shape = xcalloc(1, sizeof *shape);
    shape->key = xstrdup(buf_str(&key));
    shape->needs = needs;
    shape->n_needs = n;
    shape->device = first_device(core, needs, n);
    shape->ports = facts->n_host_ports > 0;
    list_init(&shape->pods);
    map_set(&core->shapes, shape->key, shape);
    return shape_ref(shape);
}

int64_t shape_need(const struct shape *shape, uint32_t resource)
{
    for (size_t i = 0; i < shape->n_needs; i++)
        if (shape->needs[i].resource == resource)
            return shape->needs[i].amount;
    return 0;
}

struct shape *shape_ref(struct shape *shape)
{
    shape->users++;
    return shape;
}

void shape_unref(struct gang_core *core, struct shape *shape)
{
    if (!shape || --shape->users > 0)
        return;
    map_remove(&core->shapes, shape->key);
    free(shape->key);
    free(shape->needs);
    free(shape->verdicts);
    free(shape);
}

const struct gang_pod_facts *shape_sample(const struct shape *shape)
{
    return list_empty(&shape->pods) ? NULL
                                    : CONTAINER_OF(shape->pods.next, struct pod, in_shape)->facts;
}

const char *shape_refusal(struct shape *shape, const struct node *node)
{
    if (!node->facts)
        return "node is not known";
    const struct gang_pod_facts *sample = shape_sample(shape);
    if (!sample)
        return "no pod of this shape is left";
    if (node->id >= shape->n_verdicts) {
        size_t n = (size_t)node->id + 64;
        shape->verdicts = xreallocarray(shape->verdicts, n, sizeof *shape->verdicts);
        memset(shape->verdicts + shape->n_verdicts, 0,
               (n - shape->n_verdicts) * sizeof *shape->verdicts);
        shape->n_verdicts = n;
    }
    struct verdict *v = &shape->verdicts[node->id];
    if (v->gen != node->gen) {
        *v = (struct verdict){node->gen, gang_node_refusal(sample, node->facts)};
    }
    return v->no;
}
