/* SPDX-License-Identifier: Apache-2.0 */
/* Trials: a change that is reverted leaves no trace. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "gang/cluster/ledger.h"
#include "gang/cluster/node_classes.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/trial.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/podgroups.h"
#include "test/lib/world.h"

#define GPU "nvidia.com/gpu"

/* ---- a text of everything that planning, waking and predicate parity use ---- */

static void put_amounts(struct buf *out, const struct amounts *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].amount)
            buf_printf(out, " %d=%" PRId64, (int)a->items[i].resource, a->items[i].amount);
    buf_putc(out, ';');
}

static void put_node(struct buf *out, const struct node *n)
{
    buf_printf(out, "%s #%d %zu pods %zu slots %zu apart left %" PRId64 " stirred %" PRId64,
               n->name, (int)n->id, n->n_pods, n->n_slots, n->n_anti_affinity, n->left,
               n->marks.touched_at);
    buf_printf(out, " freed %" PRIu64 " changed %" PRIu64 " told %" PRIu64, n->marks.freed,
               n->marks.changed, n->class_labels);
    put_amounts(out, &n->used);
    put_amounts(out, &n->reserved);
    put_amounts(out, &n->earmarked);
    list_for_each (pod, &n->pods, struct pod, in_node)
        buf_printf(out, " %s", pod->facts->name);
    list_for_each (slot, &n->slots, struct slot, in_node)
        buf_printf(out, " [%s]", slot->pod ? slot->pod->facts->name : "");
    buf_printf(out, " in %s\n", n->class ? n->class->key : "no class");
}

static void put_gang(struct buf *out, const struct gang *g)
{
    buf_printf(out, "%s %d slots:", g->head->ref.name, g->n_slots);
    list_for_each (slot, &g->slots, struct slot, in_gang)
        buf_printf(out, " %s@%s", slot->pod ? slot->pod->facts->name : "", slot->node->name);
    list_for_each (pod, &g->members, struct pod, in_gang)
        buf_printf(out, " %s%s%s%d/%d", pod->facts->name, pod->node ? " on " : "",
                   pod->node ? pod->node->name : "", (int)pod->charge, pod->queue.early_rejections);
    buf_printf(out, " full %p %d\n", (const void *)g->marks.full, g->marks.full_want);
}

static char *describe(struct gang_core *core)
{
    struct buf out = BUF_INIT;
    classes_settle(core);
    buf_printf(&out, "%zu ids %zu slots %zu apart %zu promised layout %" PRIu64, core->n_ids,
               core->n_slots, core->n_anti_affinity, core->n_nominated_room, core->marks.layout);
    buf_printf(&out, " freed %" PRIu64 " stirred %" PRId64 " bare %d paused %d\n",
               core->marks.freed, core->marks.touched_at, core->marks.unused, core->marks.paused);
    for (size_t i = 0; i < core->n_ids; i++)
        if (core->by_id[i])
            put_node(&out, core->by_id[i]);
    list_for_each (gang, &core->gangs, struct gang, in_core)
        put_gang(&out, gang);
    return buf_steal(&out);
}

static void assert_unchanged(struct world *w, const char *before)
{
    struct err err;
    cleanup_free char *now = describe(w->core);
    assert_string_equal(now, before);
    if (gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
}

/* ---- a cluster with some of everything ---- */

/* Four nodes of 4 GPUs with a running, a planned and a waiting gang, and ordinary pods. */
static struct world *cluster(void)
{
    struct world *w = world_new();
    for (int i = 0; i < 4; i++) {
        char name[] = {'n', (char)('0' + i), '\0'};
        world_node(w, name, 4);
    }
    world_group(w, "runs", 3);
    world_pod_seen(w, "runs-0", "runs", 2, "n0", PHASE_RUNNING);
    world_pod_seen(w, "runs-1", "runs", 2, "n0", PHASE_RUNNING);
    world_pod_seen(w, "runs-2", "runs", 2, "n1", PHASE_RUNNING);
    world_pod_seen(w, "single", NULL, 1, "n1", PHASE_RUNNING);
    world_pod_seen(w, "small", NULL, 1, "n2", PHASE_RUNNING);
    world_group(w, "planned", 2);
    world_members(w, "planned", 0, 2, 3);
    world_group(w, "waits", 4);
    world_members(w, "waits", 0, 4, 2);
    assert_string_equal(world_state(w, "planned"), "Planned");
    assert_string_equal(world_state(w, "waits"), "Waiting");
    return w;
}

static struct gang *gang_of(const struct world *w, const char *name)
{
    char api_group[] = "test", ns[] = "default";
    const struct gang_ref ref = {api_group, ns, (char *)(uintptr_t)name};
    return gang_find(w->core, &ref);
}

static struct pod *pod_of(const struct world *w, const char *name)
{
    return pod_by_name(w->core, "default", name);
}

static bool fits(struct trial *t, const struct world *w, const char *gang)
{
    struct shortage shortage;
    int64_t work = 100000;
    return place_in_trial(t, gang_of(w, gang), /* keep= */ false, &work, &shortage) == GANG_YES;
}

static void a_reverted_trial_leaves_no_trace(void **state)
{
    (void)state;
    struct world *w = cluster();
    cleanup_free char *before = describe(w->core);
    struct trial t = trial_begin(w->core);
    struct gang *waits = gang_of(w, "waits");
    struct pod *member = pod_of(w, "waits-0");
    trial_without_pod(&t, pod_of(w, "runs-0"));
    trial_without_pod(&t, pod_of(w, "single"));
    trial_with_pod(&t, pod_of(w, "single"), node_by_name(w->core, "n3"));
    struct slot *slot = CONTAINER_OF(gang_of(w, "planned")->slots.next, struct slot, in_gang);
    trial_without_slot(&t, slot);
    struct node *more = trial_with_node(&t, node_by_name(w->core, "n0"));
    trial_reserve(&t, waits, waits->root, member->signature, more, member);
    trial_reserve(&t, waits, waits->root, member->signature, more, NULL);
    assert_int_equal(node_free(more, resource_find(w->core, GPU)), 0);
    cleanup_free char *within = describe(w->core);
    assert_string_not_equal(within, before);
    trial_end(&t);
    assert_unchanged(w, before);
    world_free(w);
}

static void a_trial_within_a_trial_reverts_only_its_own_changes(void **state)
{
    (void)state;
    struct world *w = cluster();
    cleanup_free char *before = describe(w->core);
    struct trial t = trial_begin(w->core);
    trial_without_pod(&t, pod_of(w, "runs-2"));
    cleanup_free char *outer = describe(w->core);
    struct trial_mark mark = trial_mark(&t);
    trial_without_pod(&t, pod_of(w, "runs-1"));
    trial_with_node(&t, node_by_name(w->core, "n3"));
    fits(&t, w, "waits");
    trial_back(&t, mark);
    cleanup_free char *after = describe(w->core);
    assert_string_equal(after, outer);
    trial_end(&t);
    assert_unchanged(w, before);
    world_free(w);
}

static void pods_return_to_their_old_position_in_lists(void **state)
{
    (void)state;
    static const char *const pods[] = {"runs-0", "runs-1", "runs-2", "single", "small"};
    struct world *w = cluster();
    cleanup_free char *before = describe(w->core);
    unsigned seed = 7;
    for (int round = 0; round < 200; round++) {
        bool gone[ARRAY_SIZE(pods)] = {false};
        struct trial t = trial_begin(w->core);
        for (int k = 0; k < 6; k++) {
            seed = seed * 1103515245 + 12345;
            size_t i = (seed >> 16) % (ARRAY_SIZE(pods) + 1);
            if (i == ARRAY_SIZE(pods))
                trial_with_node(&t, node_by_name(w->core, "n2"));
            else if (!gone[i])
                trial_without_pod(&t, pod_of(w, pods[i]));
            else
                trial_with_pod(&t, pod_of(w, pods[i]), node_by_name(w->core, "n3"));
            if (i < ARRAY_SIZE(pods))
                gone[i] = !gone[i];
            if (seed >> 28 & 1)
                fits(&t, w, "waits");
        }
        trial_end(&t);
        assert_unchanged(w, before);
    }
    world_free(w);
}

/* Needs 4 times 2 GPUs: n1 has 1 free; n2 and n3 have none or 1 left beside the planned gang. */
static void the_planner_sees_what_the_trial_changed(void **state)
{
    (void)state;
    struct world *w = cluster();
    struct trial t = trial_begin(w->core);
    assert_false(fits(&t, w, "waits"));
    struct trial_mark mark = trial_mark(&t);
    trial_without_pod(&t, pod_of(w, "runs-0"));
    trial_without_pod(&t, pod_of(w, "runs-1"));
    assert_false(fits(&t, w, "waits"));
    trial_without_pod(&t, pod_of(w, "runs-2"));
    trial_without_pod(&t, pod_of(w, "single"));
    assert_true(fits(&t, w, "waits"));
    trial_back(&t, mark);
    assert_false(fits(&t, w, "waits"));
    trial_with_node(&t, node_by_name(w->core, "n0"));
    assert_false(fits(&t, w, "waits"));
    trial_with_node(&t, node_by_name(w->core, "n0"));
    assert_true(fits(&t, w, "waits"));
    trial_end(&t);
    assert_string_equal(world_state(w, "waits"), "Waiting");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reverted_trial_leaves_no_trace),
        cmocka_unit_test(a_trial_within_a_trial_reverts_only_its_own_changes),
        cmocka_unit_test(pods_return_to_their_old_position_in_lists),
        cmocka_unit_test(the_planner_sees_what_the_trial_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
