/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs the facts of a pod into one block. Pods outnumber other objects ten to one, and the facts
 * of a pod are about twenty small allocations, each with its own overhead. One block needs half the
 * memory.
 *
 * The same walk runs twice: the first adds up the size, the second copies.
 */
#include "gang/facts.h"

struct packer {
    char *items, *text; /* where the second walk copies to; NULL: the first walk */
    size_t n_items, n_text;
};

static void *pack_items(struct packer *p, void *items, size_t n, size_t size)
{
    size_t bytes = n * size;
    if (bytes == 0)
        return p->items ? NULL : items;
    if (p->items)
        items = memcpy(p->items + p->n_items, items, bytes);
    p->n_items += (bytes + 7) & ~(size_t)7;
    return items;
}
/* Packs the array itself; the caller then packs what its items point to. */
#define ITEMS(p, array, n) ((array) = pack_items(p, array, n, sizeof *(array)))

static void pack_text(struct packer *p, char **text)
{
    if (!*text)
        return;
    size_t n = strlen(*text) + 1;
    if (p->text)
        *text = memcpy(p->text + p->n_text, *text, n);
    p->n_text += n;
}

static void pack_texts(struct packer *p, char ***texts, size_t n)
{
    ITEMS(p, *texts, n);
    for (size_t i = 0; i < n; i++)
        pack_text(p, &(*texts)[i]);
}

/* Below, `kvs` and the like are the original in the first walk, which pack_text() does not change,
 * and the copy in the second walk. */
static void pack_kvs(struct packer *p, struct gang_kvs *kvs)
{
    ITEMS(p, kvs->items, kvs->n);
    for (size_t i = 0; i < kvs->n; i++) {
        pack_text(p, &kvs->items[i].key);
        pack_text(p, &kvs->items[i].value);
    }
}

static void pack_amounts(struct packer *p, struct gang_amounts *a)
{
    ITEMS(p, a->items, a->n);
    for (size_t i = 0; i < a->n; i++)
        pack_text(p, &a->items[i].resource);
}

static void pack_term(struct packer *p, struct gang_term *t)
{
    ITEMS(p, t->items, t->n);
    for (size_t i = 0; i < t->n; i++) {
        pack_text(p, &t->items[i].key);
        pack_texts(p, &t->items[i].values, t->items[i].n_values);
    }
}

static void pack_selector(struct packer *p, struct gang_selector *s)
{
    pack_term(p, &s->term);
    pack_texts(p, &s->namespaces, s->n_namespaces);
}

static void pack_needs(struct packer *p, struct gang_pod_facts *f)
{
    pack_amounts(p, &f->requests);
    ITEMS(p, f->host_ports, f->n_host_ports);
    for (size_t i = 0; i < f->n_host_ports; i++) {
        pack_text(p, &f->host_ports[i].ip);
        pack_text(p, &f->host_ports[i].protocol);
    }
}

static void pack_rules(struct packer *p, struct gang_pod_facts *f)
{
    pack_kvs(p, &f->node_selector);
    ITEMS(p, f->affinity, f->n_affinity);
    for (size_t i = 0; i < f->n_affinity; i++)
        pack_term(p, &f->affinity[i]);
    ITEMS(p, f->tolerations, f->n_tolerations);
    for (size_t i = 0; i < f->n_tolerations; i++) {
        pack_text(p, &f->tolerations[i].key);
        pack_text(p, &f->tolerations[i].value);
    }
    ITEMS(p, f->anti_affinity, f->n_anti_affinity);
    for (size_t i = 0; i < f->n_anti_affinity; i++)
        pack_selector(p, &f->anti_affinity[i]);
    ITEMS(p, f->wide_anti_affinity, f->n_wide_anti_affinity);
    for (size_t i = 0; i < f->n_wide_anti_affinity; i++)
        pack_selector(p, &f->wide_anti_affinity[i]);
    ITEMS(p, f->spreads, f->n_spreads);
    for (size_t i = 0; i < f->n_spreads; i++) {
        pack_selector(p, &f->spreads[i].selector);
        pack_texts(p, &f->spreads[i].keys, f->spreads[i].n_keys);
    }
}

/* Everything except `declared`, which is a separate object. */
static void pack_all(struct packer *p, struct gang_pod_facts *f)
{
    char **const texts[] = {&f->ns,
                            &f->name,
                            &f->uid,
                            &f->node,
                            &f->nominated,
                            &f->scheduler,
                            &f->role,
                            &f->bad_link,
                            &f->awaits_group,
                            &f->job,
                            &f->group.ns,
                            &f->group.name,
                            &f->group.api_group,
                            &f->uniform.key,
                            &f->uniform.value,
                            &f->inexact,
                            &f->short_of,
                            &f->invalid,
                            &f->queue.api_group,
                            &f->queue.ns,
                            &f->queue.name};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        pack_text(p, texts[i]);
    pack_texts(p, &f->gates, f->n_gates);
    pack_texts(p, &f->claims, f->n_claims);
    pack_kvs(p, &f->labels);
    pack_needs(p, f);
    pack_rules(p, f);
}

size_t gang_pod_facts_size(const struct gang_pod_facts *f)
{
    struct packer need = {NULL, NULL, 0, 0};
    pack_all(&need, (struct gang_pod_facts *)(uintptr_t)f); /* the first walk changes nothing */
    return sizeof *f + need.n_items + need.n_text;
}

/* Shares `declared` with f. */
static struct gang_pod_facts *packed_copy(struct gang_pod_facts *f)
{
    struct packer need = {NULL, NULL, 0, 0};
    pack_all(&need, f);
    size_t head = (sizeof *f + 7) & ~(size_t)7;
    char *block = xmalloc(head + need.n_items + need.n_text);
    struct gang_pod_facts *packed = memcpy(block, f, sizeof *f);
    struct packer copy = {block + head, block + head + need.n_items, 0, 0};
    pack_all(&copy, packed);
    packed->packed = true;
    return packed;
}

struct gang_pod_facts *gang_pod_facts_pack(struct gang_pod_facts *f)
{
    if (f->packed)
        return f;
    struct gang_pod_facts *packed = packed_copy(f);
    f->declared = NULL; /* packed owns it now */
    gang_pod_facts_free(f);
    return packed;
}

struct gang_pod_facts *gang_pod_facts_copy(const struct gang_pod_facts *f)
{
    struct gang_pod_facts *copy = packed_copy((struct gang_pod_facts *)(uintptr_t)f);
    copy->declared = f->declared ? gang_group_facts_copy(f->declared) : NULL;
    return copy;
}
