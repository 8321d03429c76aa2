/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/effects.h"

#include "gang/cluster/lookup.h"

#define BLOCK_SIZE ((size_t)16384)

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

void effects_done(struct effects *fx)
{
    for (struct arena_block *b = fx->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(fx->items);
    *fx = (struct effects){NULL, 0, 0, NULL};
}

/* Keeps one block of memory, so that a step with few effects allocates nothing. */
void effects_begin(struct gang_core *core)
{
    struct effects *fx = &core->fx;
    fx->n = 0;
    struct arena_block *keep = fx->blocks;
    if (!keep)
        return;
    for (struct arena_block *b = keep->next, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    keep->next = NULL;
    keep->used = 0;
}

void *fx_alloc(struct gang_core *core, size_t size)
{
    struct effects *fx = &core->fx;
    size_t rounded = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!fx->blocks || fx->blocks->size - fx->blocks->used < rounded) {
        size_t room = rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE;
        struct arena_block *b = xmalloc(sizeof *b + room);
        *b = (struct arena_block){fx->blocks, 0, room};
        fx->blocks = b;
    }
    void *p = (char *)fx->blocks->data + fx->blocks->used;
    fx->blocks->used += rounded;
    return p;
}

const char *fx_str(struct gang_core *core, const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    return memcpy(fx_alloc(core, n), s, n);
}

const struct gang_ref *fx_ref(struct gang_core *core, const struct gang_ref *ref)
{
    struct gang_ref *copy = fx_alloc(core, sizeof *copy);
    char *strings[3] = {ref->api_group, ref->ns, ref->name};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(strings[i]) + 1;
        strings[i] = memcpy(fx_alloc(core, n), strings[i], n);
    }
    *copy = (struct gang_ref){strings[0], strings[1], strings[2]};
    return copy;
}

struct gang_effect *fx_add(struct gang_core *core, enum gang_effect_kind kind)
{
    struct effects *fx = &core->fx;
    GROW(fx->items, fx->cap, fx->n + 1);
    struct gang_effect *e = &fx->items[fx->n++];
    memset(e, 0, sizeof *e);
    e->kind = kind;
    return e;
}

struct gang_effect *fx_pod(struct gang_core *core, enum gang_effect_kind kind,
                           const struct pod *pod, const struct node *node)
{
    struct gang_effect *e = fx_add(core, kind);
    e->pod.ns = fx_str(core, pod->facts->ns);
    e->pod.name = fx_str(core, pod->facts->name);
    e->pod.uid = fx_str(core, pod->facts->uid);
    e->pod.node = node ? fx_str(core, node->name) : NULL;
    return e;
}
