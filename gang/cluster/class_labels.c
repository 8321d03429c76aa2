/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/class_labels.h"

#include "base/hash.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/inter_pod_rules.h"

/* The shortest time between two drops of keys, because a drop reclassifies all nodes: for unused
 * keys, and for keys in use that make room for others. */
#define FORGET_PAUSE (10 * USEC_PER_SEC)
#define TAKE_PAUSE   USEC_PER_SEC
/* How many pods of a signature are checked at most, to choose the namespace whose share includes
 * the signature's keys. */
#define PAYERS_MAX 256

/* ---- values ---- */

/* A node's labels are sorted, see gang_kvs_add(). */
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

/* How many parts the label divides the nodes into: one for each value, and one for nodes without
 * the label. */
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

/* Numbers the values of the label on all nodes. False: there are too many. */
static bool learn_values(struct gang_core *core, struct label_key *k)
{
    for (size_t i = 0; i < core->n_ids; i++) {
        const struct node *node = core->by_id[i];
        if (node && node->facts)
            set_value(k, node, label_of(node, k->key));
        if (map_count(&k->values) > CLASS_LABEL_SETS_MAX) {
            forget_values(k);
            return false;
        }
    }
    return true;
}

/* ---- sets of values ---- */

/* Digests of a node's values of class labels. A collision only makes count_sets() too small. */
static uint64_t set_with(uint64_t set, const struct label_key *k, const struct node *node)
{
    return hash_u64(set, class_label_value(k, node));
}

static uint64_t set_of(const struct gang_core *core, const struct node *node)
{
    uint64_t set = HASH_START;
    for (size_t i = 0; i < core->labels.n_class_labels; i++)
        set = set_with(set, core->labels.of_classes[i], node);
    return set;
}

/* The number of distinct sets of values, with one more key unless `more` is NULL;
 * CLASS_LABEL_SETS_MAX + 1: too many. */
static size_t count_sets(const struct gang_core *core, const struct label_key *more)
{
    enum { PLACES = 4 * CLASS_LABEL_SETS_MAX };
    uint64_t seen[PLACES] = {0};
    size_t n = 0;
    for (size_t i = 0; i < core->n_ids && n <= CLASS_LABEL_SETS_MAX; i++) {
        const struct node *node = core->by_id[i];
        if (!node || !node->facts)
            continue;
        uint64_t set = (more ? set_with(node->class_labels, more, node) : node->class_labels) | 1;
        size_t at = (size_t)(set >> 32) % PLACES;
        while (seen[at] && seen[at] != set)
            at = (at + 1) % PLACES;
        n += !seen[at];
        seen[at] = set;
    }
    return n;
}

static void nodes_changed(struct gang_core *core)
{
    for (size_t i = 0; i < core->n_ids; i++)
        if (core->by_id[i]) {
            core->by_id[i]->class_labels = set_of(core, core->by_id[i]);
            node_rules_changed(core->by_id[i]);
            node_reclassify(core, core->by_id[i]);
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
    if (k->nodes || k->users || k->is_class_label)
        return;
    map_remove(&core->labels.keys, k->key);
    free(k->key);
    free(k);
}

static void class_label_start(struct gang_core *core, struct label_key *k, const char *ns)
{
    k->is_class_label = true;
    k->payer = xstrdup(ns);
    core->labels.of_classes[core->labels.n_class_labels++] = k;
    nodes_changed(core);
}

/* The key is no longer a class label; call nodes_changed() afterwards. */
static void class_label_drop(struct gang_core *core, struct label_key *k)
{
    size_t at = 0;
    while (core->labels.of_classes[at] != k)
        at++;
    memmove(&core->labels.of_classes[at], &core->labels.of_classes[at + 1],
            (--core->labels.n_class_labels - at) * sizeof core->labels.of_classes[0]);
    k->is_class_label = false;
    free(STEAL(k->payer));
    forget_values(k);
    core->labels.gen++; /* other keys may fit now */
    core->labels.left = core->now;
    key_drop_unused(core, k);
}

/* ---- shares ---- */

/* The namespace's share of the bound: the sum over its keys. */
static size_t share_of(const struct gang_core *core, const char *ns)
{
    size_t sum = 0;
    for (size_t i = 0; i < core->labels.n_class_labels; i++)
        if (strcmp(core->labels.of_classes[i]->payer, ns) == 0)
            sum += parts_of(core, core->labels.of_classes[i]);
    return sum;
}

/* The largest key of the namespace with the largest share; NULL: that share is not larger than
 * `share`. */
static struct label_key *largest_beyond(const struct gang_core *core, size_t share)
{
    struct label_key *largest = NULL;
    for (size_t i = 0; i < core->labels.n_class_labels; i++) {
        struct label_key *k = core->labels.of_classes[i];
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
    for (size_t i = core->labels.n_class_labels; i-- > 0;)
        if (core->labels.of_classes[i]->users == 0) {
            class_label_drop(core, core->labels.of_classes[i]);
            any = true;
        }
    if (any)
        nodes_changed(core);
    core->labels.unused = false;
    return any;
}

static bool has_room(const struct gang_core *core, const struct label_key *k)
{
    return core->labels.n_class_labels < CLASS_LABELS_MAX &&
           count_sets(core, k) <= CLASS_LABEL_SETS_MAX;
}

/* Drops keys of namespaces with larger shares until the key fits. False: no other namespace has a
 * larger share, or the last drop was less than TAKE_PAUSE ago. */
static bool make_room(struct gang_core *core, const struct label_key *k, const char *ns)
{
    bool may_take = !core->labels.left || core->now - core->labels.left >= TAKE_PAUSE;
    while (!has_room(core, k)) {
        size_t own = share_of(core, ns) + parts_of(core, k);
        struct label_key *other = may_take ? largest_beyond(core, own) : NULL;
        if (!other)
            return false;
        class_label_drop(core, other);
        nodes_changed(core);
    }
    return true;
}

/* Makes the key a class label. False: it has too many values, or does not fit. */
static bool class_label_add(struct gang_core *core, struct label_key *k, const char *ns)
{
    if (!learn_values(core, k))
        return false;
    if (!has_room(core, k) && core->labels.unused)
        forget_unused(core);
    if (!make_room(core, k, ns)) {
        forget_values(k);
        return false;
    }
    class_label_start(core, k, ns);
    return true;
}

/* ---- keys that signatures read ---- */

void class_labels_release(struct gang_core *core, struct signature *signature)
{
    for (size_t i = 0; i < signature->labels.n; i++) {
        struct label_key *k = signature->labels.keys[i];
        core->labels.unused |= --k->users == 0 && k->is_class_label;
        key_drop_unused(core, k);
    }
    free(STEAL(signature->labels.keys));
    signature->labels.n = 0;
}

static bool reads_key(const struct signature *signature, const struct label_key *k)
{
    for (size_t i = 0; i < signature->labels.n; i++)
        if (signature->labels.keys[i] == k)
            return true;
    return false;
}

static bool cover_key(struct gang_core *core, struct signature *signature, const char *key,
                      const char *ns)
{
    if (strcmp(key, GANG_HOSTNAME) == 0)
        return false; /* it differs on each node, so each node would be a class */
    struct label_key *k = map_get(&core->labels.keys, key);
    if (!k || k->nodes == 0)
        return true; /* no node has the label */
    if (!k->is_class_label && (core->marks.dry || !class_label_add(core, k, ns)))
        return false;
    if (core->marks.dry || reads_key(signature, k))
        return true;
    signature->labels.keys =
        xreallocarray(signature->labels.keys, signature->labels.n + 1, sizeof(struct label_key *));
    signature->labels.keys[signature->labels.n++] = k;
    k->users++;
    return true;
}

/* False: some key is not a class label. */
static bool cover_keys(struct gang_core *core, struct signature *signature,
                       const struct gang_pod_facts *f, const char *ns)
{
    for (size_t i = 0; i < f->node_selector.n; i++)
        if (!cover_key(core, signature, f->node_selector.items[i].key, ns))
            return false;
    for (size_t i = 0; i < f->n_affinity; i++)
        for (size_t k = 0; k < f->affinity[i].n; k++)
            if (f->affinity[i].items[k].on_name ||
                !cover_key(core, signature, f->affinity[i].items[k].key, ns))
                return false;
    return true;
}

/* Of the namespaces of the signature's pods, the one with the smallest share. */
static const char *smallest_share(const struct gang_core *core, const struct signature *signature)
{
    const char *ns = NULL;
    size_t least = 0;
    int left = PAYERS_MAX;
    const struct list *pods = signature_pods(signature);
    for (struct list *l = pods->prev; l != pods && left-- > 0; l = l->prev) {
        const char *other = CONTAINER_OF(l, struct pod, in_signature)->facts->ns;
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

void class_labels_pod_added(const struct gang_core *core, struct signature *signature,
                            const struct pod *pod)
{
    const struct gang_pod_facts *sample = signature_sample(signature);
    if (!core->marks.dry && signature->singly && sample && strcmp(sample->ns, pod->facts->ns) != 0)
        signature->labels.gen = 0;
}

static bool all_class_labels(const struct signature *signature)
{
    for (size_t i = 0; i < signature->labels.n; i++)
        if (!signature->labels.keys[i]->is_class_label)
            return false;
    return true;
}

bool class_labels_cover(struct gang_core *core, struct signature *signature)
{
    if (signature->labels.gen == core->labels.gen)
        return !signature->singly;
    const struct gang_pod_facts *sample = signature_sample(signature);
    if (!sample)
        return false;
    if (core->marks.dry)
        return cover_keys(core, signature, sample, sample->ns);
    do { /* a later key may have taken the place of an earlier one */
        class_labels_release(core, signature);
        signature->singly = !cover_keys(core, signature, sample, smallest_share(core, signature));
    } while (!signature->singly && !all_class_labels(signature));
    if (signature->singly)
        class_labels_release(core, signature);
    signature->labels.gen = core->labels.gen;
    return !signature->singly;
}

/* ---- nodes come and go ---- */

void class_labels_update(struct gang_core *core, struct node *node, const struct gang_kvs *was,
                         const struct gang_kvs *is)
{
    for (size_t i = 0; is && i < is->n; i++)
        if (key_get(core, is->items[i].key)->nodes++ == 0)
            core->labels.gen++; /* signatures that read the key did not need a class label */
    for (size_t i = 0; was && i < was->n; i++) {
        struct label_key *k = map_get(&core->labels.keys, was->items[i].key);
        k->nodes--;
        key_drop_unused(core, k);
    }
    for (size_t i = 0; i < core->labels.n_class_labels; i++)
        set_value(core->labels.of_classes[i], node,
                  is ? label_of(node, core->labels.of_classes[i]->key) : NULL);
    node->class_labels = set_of(core, node);
    core->labels.stale = true;
}

void class_labels_copy(struct node *node, const struct node *like)
{
    node->class_labels = like->class_labels;
}

/* Restores the bounds after labels of nodes changed. A value that no node has any more keeps its
 * number until the key has too many values; then all values get new numbers. */
void class_labels_settle(struct gang_core *core)
{
    if (!core->labels.stale)
        return;
    core->labels.stale = false;
    bool any = false;
    for (size_t i = core->labels.n_class_labels; i-- > 0;) {
        struct label_key *k = core->labels.of_classes[i];
        if (map_count(&k->values) <= CLASS_LABEL_SETS_MAX)
            continue;
        forget_values(k);
        any = true;
        if (!learn_values(core, k))
            class_label_drop(core, k);
    }
    if (any)
        nodes_changed(core);
    while (count_sets(core, NULL) > CLASS_LABEL_SETS_MAX) {
        class_label_drop(core, largest_beyond(core, 0));
        nodes_changed(core);
    }
}

void class_labels_sweep(struct gang_core *core)
{
    if (core->labels.unused && core->now - core->labels.left >= FORGET_PAUSE)
        forget_unused(core);
}

void class_labels_done(struct gang_core *core)
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
    map_for_each (e, &core->signatures) {
        const struct signature *signature = e->value;
        users += reads_key(signature, k);
    }
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        nodes += node->facts && label_of(node, k->key);
    }
    if (users != k->users || nodes != k->nodes || (!users && !nodes && !k->is_class_label))
        return err_set(err, ERR_INTERNAL,
                       "label %s: %zu signatures read it and %zu nodes have it, counted as %zu and "
                       "%zu",
                       k->key, users, nodes, k->users, k->nodes);
    return 0;
}

int class_labels_check(const struct gang_core *core, struct err *err)
{
    map_for_each (e, &core->labels.keys)
        if (check_key(core, e->value, err) < 0)
            return -1;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        if (node->facts && node->class_labels != set_of(core, node))
            return err_set(err, ERR_INTERNAL, "node %s: its class labels are out of date",
                           node->name);
    }
    if (!core->labels.stale && count_sets(core, NULL) > CLASS_LABEL_SETS_MAX)
        return err_set(err, ERR_INTERNAL, "class labels have more than %d sets of values",
                       CLASS_LABEL_SETS_MAX);
    return 0;
}
