/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/node_classes.h"

#include "gang/cluster/class_labels.h"
#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/preempted_room.h"
#include "gang/cluster/resources.h"

/* ---- the key: everything in a node that the planner reads ---- */

/* Appends a number without NUL bytes: six bits in each byte, and a mark in the last byte. */
static void key_number(struct buf *b, int64_t number)
{
    uint64_t rest = (uint64_t)number;
    for (; rest >= 64; rest >>= 6)
        buf_putc(b, (char)(0x40 | (rest & 0x3f)));
    buf_putc(b, (char)(0x80 | rest));
}

/* Appends a text with its length, so that no text of a user can look like another key. */
static void key_text(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    key_number(b, (int64_t)n);
    buf_append(b, s, n);
}

static void key_rules(struct buf *b, const struct gang_core *core, const struct node *node)
{
    const struct gang_node_facts *f = node->facts;
    key_number(b, f->unschedulable);
    for (size_t i = 0; i < f->n_taints; i++) {
        if (f->taints[i].effect == TAINT_PREFER_NO_SCHEDULE)
            continue; /* not a hard rule */
        key_number(b, f->taints[i].effect);
        key_text(b, f->taints[i].key);
        key_text(b, f->taints[i].value);
    }
    buf_putc(b, '|');
    for (size_t i = 0; i < core->labels.n_class_labels; i++)
        key_number(b, class_label_value(core->labels.of_classes[i], node));
}

static void key_amounts(struct buf *b, const struct node *node)
{
    const struct amounts *lists[] = {&node->allocatable, &node->used, &node->reserved,
                                     &node->earmarked};
    size_t at[ARRAY_SIZE(lists)] = {0};
    uint32_t r;
    key_number(b, node->n_woken);
    key_number(b, node->n_anti_affinity > 0);
    key_number(b, node->earmarked_alone);
    while ((r = amounts_lowest(lists, at, ARRAY_SIZE(lists))) != RES_UNKNOWN) {
        int64_t all = amounts_take(lists[0], &at[0], r), left = all;
        left -= amounts_take(lists[1], &at[1], r);
        left -= amounts_take(lists[2], &at[2], r);
        int64_t earmarked = amounts_take(lists[3], &at[3], r);
        if (!all && !left && !earmarked)
            continue;
        key_number(b, r);
        key_number(b, all);
        key_number(b, left);
        key_number(b, earmarked);
    }
}

/* The pods with nominated room, in the order of the list. Nodes that differ only in this order get
 * different classes, which costs little. */
static void key_nominated(struct buf *b, const struct node *node)
{
    list_for_each (pod, &node->nominated_room, struct pod, in_nominated_room) {
        key_number(b, pod->facts->priority);
        key_text(b, pod->signature->key);
    }
}

static void key_kept(struct buf *b, const struct slot *slot)
{
    key_number(b, slot->gang->pod_priority);
    key_number(b, slot->gang->priority);
    key_number(b, slot->gang->own_priority);
    key_text(b, slot->gang->head->key);
    key_text(b, slot->signature->key);
}

/* The slots of preempted room, and the slots that keep their topology spread, in the order of the
 * lists. */
static void key_preempted(struct buf *b, const struct node *node)
{
    list_for_each (slot, &node->preempted_room, struct slot, in_node)
        key_kept(b, slot);
    buf_putc(b, '|');
    list_for_each (slot, &node->slots, struct slot, in_node)
        if (slot_keeps_spread(slot))
            key_kept(b, slot);
}

/* Returns the length of the part for taints and labels. That part seldom changes, so it is usually
 * copied from the old class. */
static size_t key_of(struct buf *b, const struct gang_core *core, const struct node *node)
{
    if (node->class && node->marks.rules_gen == node->gen)
        buf_append(b, node->class->key, node->class->rules);
    else
        key_rules(b, core, node);
    size_t rules = b->len;
    key_amounts(b, node);
    key_nominated(b, node);
    key_preempted(b, node);
    return rules;
}

/* ---- a class is a heap of nodes, by name ---- */

static void put(struct node_class *class, size_t at, struct node *node)
{
    class->nodes[at] = node;
    node->in_class = at;
}

static bool before(const struct node *a, const struct node *b)
{
    return strcmp(a->name, b->name) < 0;
}

static void rise(struct node_class *class, size_t at, struct node *node)
{
    for (; at && before(node, class->nodes[(at - 1) / 2]); at = (at - 1) / 2)
        put(class, at, class->nodes[(at - 1) / 2]);
    put(class, at, node);
}

static void fall(struct node_class *class, size_t at, struct node *node)
{
    for (size_t child; (child = 2 * at + 1) < class->n; at = child) {
        child += child + 1 < class->n && before(class->nodes[child + 1], class->nodes[child]);
        if (!before(class->nodes[child], node))
            break;
        put(class, at, class->nodes[child]);
    }
    put(class, at, node);
}

static void join(struct gang_core *core, struct node_class *class, struct node *node)
{
    core->n_used_classes += !class->n;
    GROW(class->nodes, class->cap, class->n + 1);
    rise(class, class->n++, node);
    node->class = class;
}

static void leave(struct gang_core *core, struct node *node)
{
    struct node_class *class = node->class;
    if (!class)
        return;
    struct node *last = class->nodes[--class->n];
    size_t at = node->in_class;
    if (last != node && at && before(last, class->nodes[(at - 1) / 2]))
        rise(class, at, last);
    else if (last != node)
        fall(class, at, last);
    node->class = NULL;
    core->n_used_classes -= !class->n;
    if (!class->n && list_empty(&class->in_empty))
        list_push(&core->empty_classes, &class->in_empty);
}

struct node *class_first(const struct node_class *class, const struct node *except)
{
    struct node **nodes = class->nodes;
    if (!class->n || nodes[0] != except)
        return class->n ? nodes[0] : NULL;
    if (class->n == 1)
        return NULL;
    return class->n > 2 && before(nodes[2], nodes[1]) ? nodes[2] : nodes[1];
}

/* ---- classification ---- */

void node_leaves_classes(struct gang_core *core, struct node *node)
{
    leave(core, node);
}

static void settle(struct gang_core *core, struct node *node, struct buf *key)
{
    buf_clear(key);
    if (!node->facts) {
        leave(core, node);
        return;
    }
    size_t rules = key_of(key, core, node);
    node_rules_known(node);
    struct node_class *class = map_get(&core->node_classes, buf_str(key));
    if (class && class == node->class)
        return;
    leave(core, node);
    if (!class) {
        class = xcalloc(1, sizeof *class);
        class->key = xstrdup(buf_str(key));
        class->rules = rules;
        class->anti_affinity = node->n_anti_affinity > 0;
        list_init(&class->in_empty);
        map_set(&core->node_classes, class->key, class);
    }
    join(core, class, node);
}

void classes_settle(struct gang_core *core)
{
    cleanup_buf struct buf key = BUF_INIT;
    class_labels_settle(core);
    struct node *node;
    while ((node = reclassify_take(core)) != NULL)
        settle(core, node, &key);
}

static void class_free(struct node_class *class)
{
    free(class->nodes);
    free(class->key);
    free(class);
}

void classes_sweep(struct gang_core *core)
{
    while (!list_empty(&core->empty_classes)) {
        struct node_class *class =
            CONTAINER_OF(core->empty_classes.next, struct node_class, in_empty);
        list_remove(&class->in_empty);
        if (class->n)
            continue; /* another node joined it */
        map_remove(&core->node_classes, class->key);
        class_free(class);
    }
}

void classes_done(struct gang_core *core)
{
    map_for_each (e, &core->node_classes)
        class_free(e->value);
    map_done(&core->node_classes);
}

/* ---- the invariants ---- */

static int check_node(const struct gang_core *core, const struct node *node, struct buf *key,
                      struct err *err)
{
    const struct node_class *class = node->class;
    if (!list_empty(&node->marks.in_reclassify))
        return 0;
    if (!node->facts != !class)
        return err_set(err, ERR_INTERNAL, "node %s has %s, but %s", node->name,
                       node->facts ? "facts" : "no facts", class ? "a class" : "no class");
    if (!class)
        return 0;
    buf_clear(key);
    key_rules(key, core, node);
    key_amounts(key, node);
    key_nominated(key, node);
    key_preempted(key, node);
    if (strcmp(buf_str(key), class->key) != 0 ||
        class->anti_affinity != (node->n_anti_affinity > 0))
        return err_set(err, ERR_INTERNAL, "node %s differs from its class", node->name);
    size_t at = node->in_class;
    if (at >= class->n || class->nodes[at] != node ||
        (at && before(node, class->nodes[(at - 1) / 2])))
        return err_set(err, ERR_INTERNAL, "node %s is at the wrong index of its class", node->name);
    return 0;
}

int classes_check(const struct gang_core *core, struct err *err)
{
    cleanup_buf struct buf key = BUF_INIT;
    size_t in_classes = 0, with = 0, used = 0;
    map_for_each (e, &core->nodes) {
        const struct node *node = e->value;
        with += node->class != NULL;
        if (check_node(core, node, &key, err) < 0)
            return -1;
    }
    map_for_each (e, &core->node_classes) {
        const struct node_class *class = e->value;
        in_classes += class->n;
        used += class->n > 0;
    }
    if (used != core->n_used_classes)
        return err_set(err, ERR_INTERNAL, "%zu classes have nodes, not %zu", used,
                       core->n_used_classes);
    if (in_classes != with)
        return err_set(err, ERR_INTERNAL, "classes have %zu nodes, but %zu nodes have a class",
                       in_classes, with);
    return 0;
}
