/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/node_labels.h"

#include "base/hash.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/objects.h"
#include "gang/rules.h"

/* Nodes are put into classes anew when a key goes, so keys go this seldom. */
#define FORGET_PAUSE (10 * USEC_PER_SEC)
#define TAKE_PAUSE   USEC_PER_SEC
/* So many pods of a shape are looked at for the namespace that it asks for. */
#define PAYERS_MAX 256

/* ---- values ---- */

/* Labels of nodes are in order, see take_node(). */
static const char *label_of(const struct node *node, const char *key)
{
    const struct gang_kvs *labels = &node->facts->labels;
    size_t low = 0, high = labels->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int c = strcmp(labels->items[middle].key, key);
        if (c == 0)
            return labels->items[middle].value;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The values there are, one more where some node has none. */
static size_t parts_of(const struct gang_core *core, const struct label_key *k)
{
    return map_count(&k->values) + (k->nodes < map_count(&core->nodes));
}

static void set_value(struct label_key *k, const struct node *node, const char *value)
{
    if (node->id >= k->n_value_of) {
        size_t n = (size_t)node->id + 64;
        k->value_of = xreallocarray(k->value_of, n, sizeof *k->value_of);
        memset(k->value_of + k->n_value_of, 0, (n - k->n_value_of) * sizeof *k->value_of);
        k->n_value_of = n;
    }
    uintptr_t number = value ? (uintptr_t)map_get(&k->values, value) : 0;
    if (value && !number) {
        number = map_count(&k->values) + 1;
        map_set(&k->values, value, (void *)number);
    }
    k->value_of[node->id] = (uint32_t)number;
}

static void forget_values(struct label_key *k)
{
    free(STEAL(k->value_of));
    k->n_value_of = 0;
    map_done(&k->values);
    k->values = (struct map)MAP_INIT;
}

/* False: there are too many. */
static bool learn_values(struct gang_core *core, struct label_key *k)
{
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        if (node && node->facts)
            set_value(k, node, label_of(node, k->key));
        if (map_count(&k->values) > PARTS_MAX) {
            forget_values(k);
            return false;
        }
    }
    return true;
}

/* ---- kinds of nodes ---- */

/* A digest of the values of all told labels: enough for counting. */
static uint64_t kind_with(uint64_t kind, const struct label_key *k, const struct node *node)
{
    return hash_u64(kind, told_value(k, node));
}

static uint64_t kind_of(const struct gang_core *core, const struct node *node)
{
    uint64_t kind = HASH_START;
    for (size_t i = 0; i < core->labels.n_told; i++)
        kind = kind_with(kind, core->labels.told[i], node);
    return kind;
}

/* How many kinds there are, with one more key (or NULL); PARTS_MAX + 1: too many. */
static size_t count_kinds(const struct gang_core *core, const struct label_key *more)
{
    enum { PLACES = 4 * PARTS_MAX };
    uint64_t seen[PLACES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < core->n_ids && n <= PARTS_MAX; i++) {
        const struct node *node = core->by_id[i];
        if (!node || !node->facts)
            continue;
        uint64_t kind = (more ? kind_with(node->told, more, node) : node->told) | 1;
        size_t at = (size_t)(kind >> 32) % PLACES;
        while (seen[at] && seen[at] != kind)
            at = (at + 1) % PLACES;
        n += !seen[at];
        seen[at] = kind;
    }
    return n;
}

static void nodes_changed(struct gang_core *core)
{
    for (size_t i = 0; i < core->n_ids; i++)
        if (core->by_id[i]) {
            core->by_id[i]->told = kind_of(core, core->by_id[i]);
            node_rules_changed(core->by_id[i]);
            node_moved(core, core->by_id[i]);
        }
}

/* ---- keys come and go ---- */

static struct label_key *key_get(struct gang_core *core, const char *key)
{
    struct label_key *k = map_get(&core->labels.keys, key);
    if (k)
        return k;
    k = xcalloc(1, sizeof *k);
    k->key = xstrdup(key);
    map_set(&core->labels.keys, key, k);
    return k;
}

static void key_drop_unused(struct gang_core *core, struct label_key *k)
{
    if (k->nodes || k->users || k->told)
        return;
    map_remove(&core->labels.keys, k->key);
    free(k->key);
    free(k);
}

static void tell_apart_by(struct gang_core *core, struct label_key *k, const char *ns)
{
    k->told = true;
    k->payer = xstrdup(ns);
    core->labels.told[core->labels.n_told++] = k;
    nodes_changed(core);
}

/* Classes do not go by it any more; to be followed by nodes_changed(). */
static void untell(struct gang_core *core, struct label_key *k)
{
    size_t at = 0;
    while (core->labels.told[at] != k)
        at++;
    memmove(&core->labels.told[at], &core->labels.told[at + 1],
            (--core->labels.n_told - at) * sizeof core->labels.told[0]);
    k->told = false;
    free(STEAL(k->payer));
    forget_values(k);
    core->labels.gen++; /* there is room for others */
    core->labels.left = core->now;
    key_drop_unused(core, k);
}

/* ---- shares ---- */

/* What keys of the namespace cost everybody. */
static size_t share_of(const struct gang_core *core, const char *ns)
{
    size_t sum = 0;
    for (size_t i = 0; i < core->labels.n_told; i++)
        if (strcmp(core->labels.told[i]->payer, ns) == 0)
            sum += parts_of(core, core->labels.told[i]);
    return sum;
}

/* The largest key of the namespace that has most, if that is more than so much. */
static struct label_key *largest_beyond(const struct gang_core *core, size_t share)
{
    struct label_key *largest = NULL;
    for (size_t i = 0; i < core->labels.n_told; i++) {
        struct label_key *k = core->labels.told[i];
        size_t has = share_of(core, k->payer);
        if (has < share || (has == share && !largest))
            continue;
        if (has > share || parts_of(core, k) > parts_of(core, largest))
            largest = k;
        share = has;
    }
    return largest;
}

static bool forget_unused(struct gang_core *core)
{
    bool any = false;
    for (size_t i = core->labels.n_told; i-- > 0;)
        if (core->labels.told[i]->users == 0) {
            untell(core, core->labels.told[i]);
            any = true;
        }
    if (any)
        nodes_changed(core);
    core->labels.unused = false;
    return any;
}

static bool has_room(const struct gang_core *core, const struct label_key *k)
{
    return core->labels.n_told < TOLD_MAX && count_kinds(core, k) <= PARTS_MAX;
}

/* Keys of those that have more make room for the key of the namespace; false: nobody has more. */
static bool make_room(struct gang_core *core, const struct label_key *k, const char *ns)
{
    bool may_take = !core->labels.left || core->now - core->labels.left >= TAKE_PAUSE;
    while (!has_room(core, k)) {
        size_t own = share_of(core, ns) + parts_of(core, k);
        struct label_key *other = may_take ? largest_beyond(core, own) : NULL;
        if (!other)
            return false;
        untell(core, other);
        nodes_changed(core);
    }
    return true;
}

/* Nodes are told apart by the key from now on. */
static bool begin_telling(struct gang_core *core, struct label_key *k, const char *ns)
{
    if (!learn_values(core, k))
        return false;
    if (!has_room(core, k) && core->labels.unused)
        forget_unused(core);
    if (!make_room(core, k, ns)) {
        forget_values(k);
        return false;
    }
    tell_apart_by(core, k, ns);
    return true;
}

/* ---- what shapes ask for ---- */

void told_end(struct gang_core *core, struct shape *shape)
{
    for (size_t i = 0; i < shape->labels.n; i++) {
        struct label_key *k = shape->labels.keys[i];
        core->labels.unused |= --k->users == 0 && k->told;
        key_drop_unused(core, k);
    }
    free(STEAL(shape->labels.keys));
    shape->labels.n = 0;
}

static bool is_noted(const struct shape *shape, const struct label_key *k)
{
    for (size_t i = 0; i < shape->labels.n; i++)
        if (shape->labels.keys[i] == k)
            return true;
    return false;
}

static bool ask(struct gang_core *core, struct shape *shape, const char *key, const char *ns)
{
    if (strcmp(key, GANG_HOSTNAME) == 0)
        return false; /* each node has another: classes would be single nodes */
    struct label_key *k = map_get(&core->labels.keys, key);
    if (!k || k->nodes == 0)
        return true; /* the nodes do not differ in it */
    if (!k->told && !begin_telling(core, k, ns))
        return false;
    if (is_noted(shape, k))
        return true;
    shape->labels.keys =
        xreallocarray(shape->labels.keys, shape->labels.n + 1, sizeof(struct label_key *));
    shape->labels.keys[shape->labels.n++] = k;
    k->users++;
    return true;
}

/* It stops at the first that is not told: the shape looks at each node then. */
static bool ask_all(struct gang_core *core, struct shape *shape, const struct gang_pod_facts *f,
                    const char *ns)
{
    for (size_t i = 0; i < f->node_selector.n; i++)
        if (!ask(core, shape, f->node_selector.items[i].key, ns))
            return false;
    for (size_t i = 0; i < f->n_affinity; i++)
        for (size_t k = 0; k < f->affinity[i].n; k++)
            if (f->affinity[i].items[k].on_name ||
                !ask(core, shape, f->affinity[i].items[k].key, ns))
                return false;
    return true;
}

/* Pods of several namespaces may be of the shape: it asks for the one that has least. */
static const char *poorest(const struct gang_core *core, const struct shape *shape)
{
    const char *ns = NULL;
    size_t least = 0;
    int looks = PAYERS_MAX;
    for (struct list *l = shape->pods.prev; l != &shape->pods && looks-- > 0; l = l->prev) {
        const char *other = CONTAINER_OF(l, struct pod, in_shape)->facts->ns;
        if (ns && strcmp(ns, other) == 0)
            continue;
        size_t share = share_of(core, other);
        if (!ns || share < least) {
            ns = other;
            least = share;
        }
    }
    return ns;
}

void told_join(struct shape *shape, const struct pod *pod)
{
    const struct gang_pod_facts *sample = shape_sample(shape);
    if (shape->singly && sample && strcmp(sample->ns, pod->facts->ns) != 0)
        shape->labels.gen = 0;
}

static bool are_told(const struct shape *shape)
{
    for (size_t i = 0; i < shape->labels.n; i++)
        if (!shape->labels.keys[i]->told)
            return false;
    return true;
}

bool told_by(struct gang_core *core, struct shape *shape)
{
    if (shape->labels.gen == core->labels.gen)
        return !shape->singly;
    const struct gang_pod_facts *sample = shape_sample(shape);
    if (!sample)
        return false;
    do {
        told_end(core, shape);
        shape->singly = !ask_all(core, shape, sample, poorest(core, shape));
    } while (!shape->singly &&
             !are_told(shape)); /* a later one may have taken an earlier one's room */
    if (shape->singly)
        told_end(core, shape);
    shape->labels.gen = core->labels.gen;
    return !shape->singly;
}

/* ---- nodes come and go ---- */

void told_note(struct gang_core *core, struct node *node, const struct gang_kvs *was,
               const struct gang_kvs *is)
{
    for (size_t i = 0; is && i < is->n; i++)
        if (key_get(core, is->items[i].key)->nodes++ == 0)
            core->labels.gen++; /* shapes that asked for it heard that no node has it */
    for (size_t i = 0; was && i < was->n; i++) {
        struct label_key *k = map_get(&core->labels.keys, was->items[i].key);
        k->nodes--;
        key_drop_unused(core, k);
    }
    for (size_t i = 0; i < core->labels.n_told; i++)
        set_value(core->labels.told[i], node,
                  is ? label_of(node, core->labels.told[i]->key) : NULL);
    node->told = kind_of(core, node);
    core->labels.stale = true;
}

void told_like(struct node *node, const struct node *like)
{
    node->told = like->told;
}

/* Nodes may have come that make too many kinds, or gone with the last of some value. */
void told_settle(struct gang_core *core)
{
    if (!core->labels.stale)
        return;
    core->labels.stale = false;
    bool any = false;
    for (size_t i = core->labels.n_told; i-- > 0;) {
        struct label_key *k = core->labels.told[i];
        if (map_count(&k->values) <= PARTS_MAX)
            continue;
        forget_values(k);
        any = true; /* the numbers of its values are others now */
        if (!learn_values(core, k))
            untell(core, k);
    }
    if (any)
        nodes_changed(core);
    while (count_kinds(core, NULL) > PARTS_MAX) {
        untell(core, largest_beyond(core, 0));
        nodes_changed(core);
    }
}

void told_sweep(struct gang_core *core)
{
    if (core->labels.unused && core->now - core->labels.left >= FORGET_PAUSE)
        forget_unused(core);
}

void told_done(struct gang_core *core)
{
    map_for_each (e, &core->labels.keys) {
        struct label_key *k = e->value;
        forget_values(k);
        free(k->payer);
        free(k->key);
        free(k);
    }
    map_done(&core->labels.keys);
}

/* ---- the invariants ---- */

static int check_key(const struct gang_core *core, const struct label_key *k, struct err *err)
{
    size_t users = 0, nodes = 0;
    map_for_each (e, &core->shapes) {
        const struct shape *shape = e->value;
        users += is_noted(shape, k);
    }
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        nodes += node->facts && label_of(node, k->key);
    }
    if (users != k->users || nodes != k->nodes || (!users && !nodes && !k->told))
        return err_set(err, ERR_INTERNAL,
                       "label %s: %zu shapes ask for it and %zu nodes have it, counted as %zu and "
                       "%zu",
                       k->key, users, nodes, k->users, k->nodes);
    return 0;
}

int told_check(const struct gang_core *core, struct err *err)
{
    map_for_each (e, &core->labels.keys)
        if (check_key(core, e->value, err) < 0)
            return -1;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        if (node->facts && node->told != kind_of(core, node))
            return err_set(err, ERR_INTERNAL, "node %s: its labels are not those told apart",
                           node->name);
    }
    if (!core->labels.stale && count_kinds(core, NULL) > PARTS_MAX)
        return err_set(err, ERR_INTERNAL, "labels tell more than %d kinds of nodes apart",
                       PARTS_MAX);
    return 0;
}
