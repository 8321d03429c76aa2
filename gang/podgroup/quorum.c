/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/podgroup/quorum.h"

#include <inttypes.h>

#include "base/hash.h"
#include "gang/bounds.h"
#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/reservations.h"
#include "gang/cluster/signatures.h"
#include "gang/node_predicates.h"

/* The largest minimum. A larger one must be a typing error. */
#define MEMBERS_MAX INT64_C(1000000)

/* ---- making ---- */

static struct unit *unit_new(struct group *group, const struct gang_subgroup *spec)
{
    struct unit *unit = xcalloc(1, sizeof *unit);
    unit->group = group;
    unit->spec = spec;
    unit->min_children = -1;
    list_init(&unit->in_parent);
    list_init(&unit->children);
    if (group) {
        GROW(group->units, group->cap_units, group->n_units + 1);
        group->units[group->n_units++] = unit;
    }
    return unit;
}

void unit_attach(struct unit *unit, struct unit *parent)
{
    if (unit->parent) {
        list_remove(&unit->in_parent);
        unit->parent->n_children--;
    }
    unit->parent = parent;
    if (parent) {
        list_push(&parent->children, &unit->in_parent);
        parent->n_children++;
    }
}

static void unit_free(struct unit *unit)
{
    unit_attach(unit, NULL);
    list_for_each_safe (child, &unit->children, struct unit, in_parent)
        unit_attach(child, NULL);
    free(unit->part);
    free(unit);
}

struct unit *bundle_new(void)
{
    return unit_new(NULL, NULL);
}

void unit_needs_one(struct unit *unit)
{
    unit->min_pods = 1;
}

struct unit *bundle_free(struct unit *bundle)
{
    if (bundle)
        unit_free(bundle);
    return NULL;
}

static int clamp(int64_t n)
{
    return n < 0 ? 0 : n > MEMBERS_MAX ? (int)MEMBERS_MAX : (int)n;
}

struct unit *unit_by_name(const struct group *group, const char *name)
{
    return map_get(&group->subgroups, name);
}

bool unit_is_below(const struct unit *unit, const struct unit *above)
{
    for (; unit; unit = unit->parent)
        if (unit == above)
            return true;
    return false;
}

/* The bound that the PodGroup alone exceeds, and the count in *n; GANG_BOUND_MAX: none. */
static enum gang_bound specs_over(const struct gang_group_facts *f, size_t *n)
{
    size_t policies = 0, rules = 0;
    *n = f->n_subgroups;
    if (*n > BOUND_SUBGROUPS)
        return OVER_SUBGROUPS;
    for (size_t i = 0; i < f->n_subgroups; i++) {
        const struct gang_subgroup *s = &f->subgroups[i];
        policies += s->by_labels;
        rules += s->n_split_by + s->selector.n;
        for (size_t k = 0; k < s->selector.n; k++)
            rules += s->selector.items[k].n_values;
    }
    *n = policies;
    if (policies > BOUND_POLICIES)
        return OVER_POLICIES;
    *n = rules;
    return rules > BOUND_POLICY_RULES ? OVER_POLICY_RULES : GANG_BOUND_MAX;
}

/* A subgroup that is its own ancestor, or whose parent is missing, is attached to the PodGroup's
 * own unit, so that the tree stays connected. validate_group() refuses such a PodGroup. */
static void build_subgroups(struct group *group, const struct gang_group_facts *f)
{
    struct unit *own = group->units[0];
    for (size_t i = 0; i < f->n_subgroups; i++) {
        struct unit *unit = unit_new(group, &f->subgroups[i]);
        unit->min_pods = clamp(f->subgroups[i].min_member);
        unit->min_children =
            f->subgroups[i].min_children < 0 ? -1 : clamp(f->subgroups[i].min_children);
        if (!unit_by_name(group, f->subgroups[i].name))
            map_set(&group->subgroups, f->subgroups[i].name, unit);
    }
    for (size_t i = 1; i < group->n_units; i++) {
        const char *name = group->units[i]->spec->parent;
        struct unit *parent = name ? unit_by_name(group, name) : own;
        group->units[i]->detached = !parent || unit_is_below(parent, group->units[i]);
        unit_attach(group->units[i], group->units[i]->detached ? own : parent);
    }
}

void units_build(struct group *group, bool own_only)
{
    units_free(group);
    struct unit *own = unit_new(group, NULL);
    const struct gang_group_facts *f = group->facts;
    size_t n;
    group->n_specs = 1;
    if (!f)
        return;
    own->min_pods = clamp(f->min_member);
    own->max_pods = clamp(f->max_member);
    if (own_only || specs_over(f, &n) != GANG_BOUND_MAX)
        return; /* the gang is refused */
    build_subgroups(group, f);
    group->n_specs = group->n_units;
    if (f->min_children >= 0)
        own->min_children = clamp(f->min_children);
}

void units_free(struct group *group)
{
    for (size_t i = 0; i < group->n_units; i++)
        unit_free(group->units[i]);
    free(group->units);
    map_done(&group->subgroups);
    map_done(&group->parts);
    group->subgroups = group->parts = (struct map)MAP_INIT;
    group->units = NULL;
    group->n_units = group->n_specs = group->cap_units = 0;
}

void unit_count_children(struct unit *own)
{
    int64_t min = own->group->facts ? own->group->facts->min_member : 1;
    own->min_children = min > 0 ? clamp(min) : 1;
    own->min_pods = 0;
}

/* ---- the unit of a pod ---- */

static bool selects(const struct gang_subgroup *spec, const struct gang_pod_facts *pod)
{
    for (size_t i = 0; i < spec->selector.n; i++)
        if (!gang_label_matches(&spec->selector.items[i], &pod->labels))
            return false;
    return true;
}

static char *part_of(const struct gang_subgroup *spec, const struct gang_pod_facts *pod)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < spec->n_split_by; i++) {
        const char *value = gang_kvs_get(&pod->labels, spec->split_by[i]);
        buf_printf(&b, "%s%s=%s", i ? "," : "", spec->split_by[i], value ? value : "");
    }
    return buf_steal(&b);
}

static char *part_key(const struct group *group, const struct gang_subgroup *spec, const char *name)
{
    return xasprintf("%td/%s", spec - group->facts->subgroups, name);
}

static struct unit *unit_part(struct group *group, struct unit *whole,
                              const struct gang_pod_facts *pod)
{
    cleanup_free char *name = part_of(whole->spec, pod);
    cleanup_free char *key = part_key(group, whole->spec, name);
    struct unit *part = map_get(&group->parts, key);
    if (part)
        return part;
    if (whole->n_children >= BOUND_PARTS)
        return whole; /* there are too many parts, so the pod counts in none of them */
    part = unit_new(group, whole->spec);
    part->part = STEAL(name);
    part->min_pods = clamp(whole->spec->part_size);
    map_set(&group->parts, key, part);
    unit_attach(part, whole);
    list_remove(
        &part->in_parent); /* sort by name, so that muster chooses the same after a restart */
    struct list *at = &whole->children;
    while (at->prev != &whole->children &&
           strcmp(CONTAINER_OF(at->prev, struct unit, in_parent)->part, part->part) > 0)
        at = at->prev;
    list_push(at, &part->in_parent);
    return part;
}

/* The unit that matches by role or by labels, the lowest if several match; else the PodGroup's own
 * unit. */
struct unit *unit_of_pod(struct group *group, const struct gang_pod_facts *pod)
{
    struct unit *by_role = pod->role ? unit_by_name(group, pod->role) : NULL;
    struct unit *found = by_role && !by_role->spec->by_labels ? by_role : NULL;
    for (size_t i = 1; i < group->n_specs; i++) {
        struct unit *unit = group->units[i];
        if (!unit->spec->by_labels || (found && !unit_is_below(unit, found)) ||
            !selects(unit->spec, pod))
            continue;
        return unit->spec->n_split_by ? unit_part(group, unit, pod) : unit;
    }
    return found ? found : group->units[0];
}

void unit_left(struct gang_core *core, struct gang *gang, struct unit *unit)
{
    if (!unit->part)
        return;
    list_for_each (pod, &gang->members, struct pod, in_gang)
        if (pod->unit == unit)
            return;
    list_for_each_safe (slot, &gang->slots, struct slot, in_gang)
        if (slot->unit == unit)
            slot_release(core, slot, REASON_SLOT_MOVED);
    struct group *group = unit->group;
    cleanup_free char *key = part_key(group, unit->spec, unit->part);
    map_remove(&group->parts, key);
    for (size_t i = group->n_specs; i < group->n_units; i++)
        if (group->units[i] == unit) {
            memmove(&group->units[i], &group->units[i + 1],
                    (group->n_units - i - 1) * sizeof *group->units);
            group->n_units--;
            break;
        }
    unit_free(unit);
    gang_recount(gang);
}

/* ---- counting ---- */

static void count_unbound(const struct gang_core *core, const struct pod *pod, struct tally *t)
{
    t->closed += gate_is_closed(pod);
    if (pod->facts->n_gates) {
        t->gated++;
        t->gate = pod->facts->gates[0];
    } else if (!pod_is_ours(core, pod)) {
        t->foreign++;
        t->scheduler = pod->facts->scheduler;
    } else if (pod->rejected_early) {
        t->rejected_early++;
        t->refused = pod->facts->name;
    } else {
        t->plannable++;
        t->missed += pod->missed && !pod->slot;
        t->held += pod->held && !pod->unseen; /* a pod that the watch has not shown may not exist */
        t->slots += pod->slot != NULL;
    }
}

static void count_pod(const struct gang_core *core, const struct pod *pod, struct tally *t)
{
    t->failed += pod->facts->phase == PHASE_FAILED;
    if (!pod_counts(pod))
        return;
    t->members++;
    t->running += pod->facts->phase == PHASE_RUNNING;
    t->succeeded += pod->facts->phase == PHASE_SUCCEEDED;
    if (pod->facts->phase == PHASE_SUCCEEDED || pod->charge == CHARGE_ASSIGNED)
        t->bound++;
    else if (pod->charge == CHARGE_BINDING)
        t->binding++;
    else
        count_unbound(core, pod, t);
}

static void note_signature(struct unit *unit, const struct pod *pod)
{
    if (!pod_counts(pod) || unit->like == pod->signature)
        return;
    bool alike = unit->like && signature_alike(unit->like, pod->signature);
    unit->mixed |= unit->like && !alike;
    if (!alike || unit->like->limited) /* prefer one without volumes, for expected members */
        unit->like = pod->signature;
}

static void add_tally(struct tally *to, const struct tally *t)
{
    to->members += t->members;
    to->bound += t->bound;
    to->binding += t->binding;
    to->held += t->held;
    to->slots += t->slots;
    to->running += t->running;
    to->succeeded += t->succeeded;
    to->failed += t->failed;
    to->gated += t->gated;
    to->closed += t->closed;
    to->foreign += t->foreign;
    to->rejected_early += t->rejected_early;
    to->plannable += t->plannable;
    to->missed += t->missed;
    if (t->gate)
        to->gate = t->gate;
    if (t->scheduler)
        to->scheduler = t->scheduler;
    if (t->refused)
        to->refused = t->refused;
}

static void fold(struct unit *unit)
{
    list_for_each (child, &unit->children, struct unit, in_parent) {
        fold(child);
        add_tally(&unit->t, &child->t);
    }
}

/* Whether nothing has changed since the last count. */
static bool is_counted(const struct gang *gang)
{
    return gang->root->counted && gang->root->counted == gang->marks.members;
}

static void clear(struct unit *unit)
{
    unit->t = (struct tally){0};
    unit->like = NULL;
    unit->mixed = false;
    list_for_each (child, &unit->children, struct unit, in_parent)
        clear(child);
}

static void count_again(const struct gang_core *core, const struct gang *gang)
{
    clear(gang->root);
    list_for_each (pod, &gang->members, struct pod, in_gang) {
        count_pod(core, pod, &pod->unit->t);
        note_signature(pod->unit, pod);
    }
    list_for_each (slot, &gang->slots, struct slot, in_gang)
        slot->unit->t.slots += !slot->pod;
    fold(gang->root);
    gang->root->counted = gang->marks.members;
}

const struct tally *gang_count(const struct gang_core *core, const struct gang *gang)
{
    if (!is_counted(gang))
        count_again(core, gang);
    return &gang->root->t;
}

/* Adds the tallies of the unit and of all units below to the digest. */
static void digest_tallies(const struct unit *unit, uint64_t *digest)
{
    const struct tally *t = &unit->t;
    const int counts[] = {t->members, t->bound,     t->binding,   t->held,    t->slots,
                          t->running, t->gated,     t->closed,    t->foreign, t->rejected_early,
                          t->failed,  t->succeeded, t->plannable, t->missed,  unit->mixed};
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        *digest = hash_u64(*digest, (uint64_t)counts[i]);
    const void *const borrowed[] = {t->gate, t->scheduler, t->refused, unit->like};
    for (size_t i = 0; i < ARRAY_SIZE(borrowed); i++)
        *digest = hash_u64(*digest, (uintptr_t)borrowed[i]);
    list_for_each (child, &unit->children, struct unit, in_parent)
        digest_tallies(child, digest);
}

int gang_count_check(const struct gang_core *core, const struct gang *gang, struct err *err)
{
    uint64_t was = HASH_START, is = HASH_START;
    if (!is_counted(gang))
        return 0;
    digest_tallies(gang->root, &was);
    count_again(core, gang);
    digest_tallies(gang->root, &is);
    if (is == was)
        return 0;
    return err_set(err, ERR_INTERNAL, "gang %s: its members changed since they were counted",
                   gang->head->key);
}

static int count_at(const struct tally *t, enum stage stage)
{
    int there = t->bound + t->binding;
    switch (stage) {
    case STAGE_EXISTS:
        return t->members;
    case STAGE_REACHABLE:
        return there + t->plannable;
    case STAGE_LIKELY:
        return there + t->plannable - t->missed;
    case STAGE_PLANNED:
        return there + t->slots;
    case STAGE_AT_BIND:
        return there + t->held;
    default:
        return t->bound;
    }
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

int unit_children_needed(const struct unit *unit)
{
    return unit->min_children < 0 ? unit->n_children : unit->min_children;
}

/* How many members a unit below needs at least that does not exist yet. */
static int missing_unit_needs(const struct unit *unit)
{
    bool parts = unit->spec && unit->spec->by_labels && unit->spec->part_size > 1;
    return parts ? clamp(unit->spec->part_size) : 1;
}

/* How many more members must at least reach the stage, so that enough units directly below meet
 * their minimums. */
static int children_lack(const struct unit *unit, enum stage stage)
{
    int needed = unit_children_needed(unit), n = 0, sum = 0;
    if (needed == 0)
        return 0;
    cleanup_free int *lacks = xcalloc((size_t)unit->n_children + 1, sizeof *lacks);
    list_for_each (child, &unit->children, struct unit, in_parent)
        lacks[n++] = unit_lacks(child, stage);
    if (needed < n)
        qsort(lacks, (size_t)n, sizeof *lacks, by_number);
    for (int i = 0; i < needed && i < n; i++)
        sum = clamp((int64_t)sum + lacks[i]);
    return needed <= n ? sum : clamp(sum + (int64_t)(needed - n) * missing_unit_needs(unit));
}

int unit_lacks(const struct unit *unit, enum stage stage)
{
    int below = children_lack(unit, stage);
    int here = unit->min_pods - (stage == STAGE_NONE ? 0 : count_at(&unit->t, stage));
    return here > below ? here : below;
}

int unit_needs(const struct unit *unit)
{
    return unit_lacks(unit, STAGE_NONE);
}

int gang_lacks(const struct gang_core *core, const struct gang *gang, enum stage stage)
{
    gang_count(core, gang);
    return unit_lacks(gang->root, stage);
}

int gang_needed(const struct gang *gang)
{
    return unit_needs(gang->root);
}

/* How many members count for the maximum: bound ones that have not succeeded, those with an open
 * Binding, and slots. */
static int at_once(const struct tally *t)
{
    return t->bound - t->succeeded + t->binding + t->slots;
}

/* Whether the unit, or one above it, would exceed its maximum with `more` members in addition. */
static bool exceeds_maximum(const struct unit *unit, int more)
{
    for (; unit; unit = unit->parent)
        if (unit->max_pods && at_once(&unit->t) + more > unit->max_pods)
            return true;
    return false;
}

bool unit_at_maximum(const struct unit *unit)
{
    return exceeds_maximum(unit, 1);
}

bool unit_beyond_maximum(const struct unit *unit)
{
    return exceeds_maximum(unit, 0);
}

bool gang_has_maximum(const struct gang *gang)
{
    list_for_each (group, &gang->groups, struct group, in_gang)
        if (group->units[0]->max_pods)
            return true;
    return false;
}

void unit_add_slots(struct unit *unit, int n)
{
    for (; unit; unit = unit->parent) {
        unit->t.slots += n;
        unit->counted = 0;
    }
}

void unit_add_bound(struct unit *unit, int n)
{
    for (; unit; unit = unit->parent) {
        unit->t.bound += n;
        unit->counted = 0;
    }
}

/* ---- validation ---- */

static const char *min_field(const struct gang_group_facts *f)
{
    return f->min_field ? f->min_field : "spec.minMember";
}

static const char *where_written(const struct gang_subgroup *s)
{
    return s->by_labels ? "spec.subGroupPolicy" : "spec.subGroups";
}

/* Validates the unit's position in the tree. */
static char *validate_position(const struct unit *unit)
{
    const struct group *group = unit->group;
    const struct gang_subgroup *s = unit->spec;
    const char *name = s->name, *where = where_written(s);
    if (unit_by_name(group, name) != unit)
        return xasprintf("%s: two subgroups have the name %s; give each its own name", where, name);
    if (s->parent && !unit_by_name(group, s->parent))
        return xasprintf("%s: subgroup %s: its parent %s does not exist; name another subgroup",
                         where, name, s->parent);
    if (unit->detached)
        return xasprintf("%s: subgroup %s: its parents lead back to this subgroup; remove one of "
                         "them",
                         where, name);
    int levels = 0;
    for (const struct unit *up = unit; up && levels <= BOUND_LEVELS; up = up->parent)
        levels++;
    if (levels > BOUND_LEVELS)
        return xasprintf("%s: subgroup %s is more than %d levels deep", where, name, BOUND_LEVELS);
    return NULL;
}

static char *validate_minimums(const struct unit *unit)
{
    const struct gang_subgroup *s = unit->spec;
    if (s->min_member < 0 || s->min_member > MEMBERS_MAX)
        return xasprintf("%s: subgroup %s: minimum is %" PRId64 "; it must be 0 to %" PRId64,
                         where_written(s), s->name, s->min_member, MEMBERS_MAX);
    if (!s->by_labels && unit->min_children > unit->n_children)
        return xasprintf("%s: subgroup %s: minSubGroup is %d, but it has %d subgroups; lower "
                         "minSubGroup or add subgroups",
                         where_written(s), s->name, unit->min_children, unit->n_children);
    return NULL;
}

/* Validates the tree first, because correct minimums look wrong in a broken tree. */
static char *validate_subgroups(const struct group *group)
{
    static char *(*const checks[])(const struct unit *) = {validate_position, validate_minimums};
    for (size_t k = 0; k < ARRAY_SIZE(checks); k++)
        for (size_t i = 1; i < group->n_units; i++) {
            char *text = group->units[i]->part ? NULL : checks[k](group->units[i]);
            if (text)
                return text;
        }
    return NULL;
}

static char *validate_numbers(const struct group *group)
{
    const struct gang_group_facts *f = group->facts;
    const struct unit *own = group->units[0];
    if (f->min_member < 0 || f->min_member > MEMBERS_MAX)
        return xasprintf("%s is %" PRId64 "; it must be 0 to %" PRId64, min_field(f), f->min_member,
                         MEMBERS_MAX);
    if (f->max_member < 0)
        return xasprintf("spec.maxMember is %" PRId64 "; it must not be negative", f->max_member);
    if (f->max_member && f->max_member < f->min_member)
        return xasprintf("spec.maxMember is %" PRId64 ", but %s is %" PRId64
                         "; raise spec.maxMember or remove it",
                         f->max_member, min_field(f), f->min_member);
    size_t n;
    enum gang_bound over = specs_over(f, &n);
    if (over != GANG_BOUND_MAX)
        return gang_bound_exceeded(over, n);
    int direct = f->n_subgroups ? own->n_children : 0; /* without nested ones */
    if (f->min_children > direct)
        return xasprintf("spec.minSubGroup is %" PRId64
                         ", but the PodGroup has %d subgroups at the "
                         "top level; lower spec.minSubGroup or add subgroups",
                         f->min_children, own->n_children);
    return NULL;
}

char *validate_group(const struct group *group)
{
    const struct gang_group_facts *f = group->facts;
    char *text = f->invalid ? xstrdup(f->invalid) : validate_subgroups(group);
    if (!text)
        text = validate_numbers(group);
    if (!text)
        return NULL;
    char *whole = xasprintf("PodGroup %s/%s: %s", group->ref.ns, group->ref.name, text);
    free(text);
    return whole;
}

bool pod_at_maximum(const struct gang_core *core, const struct pod *pod)
{
    if (!pod->gang || !gang_has_maximum(pod->gang))
        return false;
    gang_count(core, pod->gang);
    return unit_at_maximum(pod->unit);
}
