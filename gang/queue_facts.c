/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/queue_facts.h"

#include <string.h>

struct gang_queue_facts *gang_queue_facts_new(void)
{
    struct gang_queue_facts *f = xcalloc(1, sizeof *f);
    f->weight = 1000;
    f->reclaimable = true;
    f->preempt_min_runtime = f->reclaim_min_runtime = GANG_NOT_STATED;
    f->parent_field = "spec.parent";
    return f;
}

struct gang_queue_facts *gang_queue_facts_free(struct gang_queue_facts *f)
{
    if (!f)
        return NULL;
    gang_ref_done(&f->ref);
    free(f->of_namespace);
    for (size_t i = 0; i < f->n_more_namespaces; i++)
        free(f->more_namespaces[i]);
    free(f->more_namespaces);
    free(f->uid);
    free(f->invalid);
    free(f->parent);
    for (size_t i = 0; i < f->n_quotas; i++)
        free(f->quotas[i].resource);
    free(f->quotas);
    free(f);
    return NULL;
}

/* The index of the resource, or where it would be inserted. */
static size_t position_of(const struct gang_queue_facts *f, const char *resource)
{
    size_t low = 0, high = f->n_quotas;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(f->quotas[middle].resource, resource) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct gang_quota *gang_quota_of(const struct gang_queue_facts *f, const char *resource)
{
    size_t at = position_of(f, resource);
    return at < f->n_quotas && strcmp(f->quotas[at].resource, resource) == 0 ? &f->quotas[at]
                                                                             : NULL;
}

struct gang_quota *gang_quota_add(struct gang_queue_facts *f, const char *resource)
{
    size_t at = position_of(f, resource);
    if (at < f->n_quotas && strcmp(f->quotas[at].resource, resource) == 0)
        return &f->quotas[at];
    f->quotas = xreallocarray(f->quotas, f->n_quotas + 1, sizeof *f->quotas);
    memmove(&f->quotas[at + 1], &f->quotas[at], (f->n_quotas++ - at) * sizeof *f->quotas);
    f->quotas[at] = (struct gang_quota){.resource = xstrdup(resource),
                                        .deserved = GANG_NOT_STATED,
                                        .cap = GANG_UNLIMITED,
                                        .weight = f->weight};
    return &f->quotas[at];
}

bool gang_queue_namespaces_equal(const struct gang_queue_facts *a, const struct gang_queue_facts *b)
{
    for (size_t i = 0; a->n_more_namespaces == b->n_more_namespaces && i < a->n_more_namespaces;
         i++)
        if (strcmp(a->more_namespaces[i], b->more_namespaces[i]) != 0)
            return false;
    return a->n_more_namespaces == b->n_more_namespaces && str_eq(a->of_namespace, b->of_namespace);
}

static bool quotas_equal(const struct gang_queue_facts *a, const struct gang_queue_facts *b)
{
    for (size_t i = 0; a->n_quotas == b->n_quotas && i < a->n_quotas; i++) {
        const struct gang_quota *x = &a->quotas[i], *y = &b->quotas[i];
        if (x->reserved != y->reserved || x->deserved != y->deserved || x->implied != y->implied ||
            x->cap != y->cap || x->cap_unset != y->cap_unset || x->weight != y->weight ||
            strcmp(x->resource, y->resource) != 0)
            return false;
    }
    return a->n_quotas == b->n_quotas;
}

bool gang_queue_facts_equal(const struct gang_queue_facts *a, const struct gang_queue_facts *b)
{
    return gang_ref_equal(&a->ref, &b->ref) && gang_queue_namespaces_equal(a, b) &&
           a->fallback == b->fallback && str_eq(a->uid, b->uid) && str_eq(a->invalid, b->invalid) &&
           str_eq(a->parent, b->parent) && a->weight == b->weight &&
           a->weighs_amounts == b->weighs_amounts && a->priority == b->priority &&
           a->firm_priority == b->firm_priority && a->closed == b->closed &&
           a->closing == b->closing && a->fifo == b->fifo && a->reclaimable == b->reclaimable &&
           a->preempt_min_runtime == b->preempt_min_runtime &&
           a->reclaim_min_runtime == b->reclaim_min_runtime && a->created == b->created &&
           quotas_equal(a, b);
}

bool gang_is_any_gpu(const char *resource)
{
    const char *slash = strchr(resource, '/');
    return slash && strcmp(slash + 1, GANG_ANY_GPU) == 0;
}

struct gang_namespace_facts *gang_namespace_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_namespace_facts));
}

struct gang_namespace_facts *gang_namespace_facts_free(struct gang_namespace_facts *f)
{
    if (f) {
        free(f->name);
        free(f->api_group);
        free(f->queue);
    }
    free(f);
    return NULL;
}
