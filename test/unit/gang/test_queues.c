/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: limits of whole gangs at every ancestor, the order between queues, and bad objects. */
#include <stdio.h>

#include "test/lib/world_queues.h"

/* ---- limits ---- */

static void Q01_a_gang_above_the_cap_waits_whole(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(4, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 12);
    world_queued(w, "a", "q", 6, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_int_equal(world_queue_used(w, "q", GPU), 6);
    world_queued(w, "b", "q", 8, 1);
    assert_string_equal(world_state(w, "b"), "Waiting");
    assert_string_equal(world_reason_name(w, "b"), "QueueLimitReached");
    assert_string_equal(
        world_reason(w, "b"),
        "gang default/b: 8 members needed (8 nvidia.com/gpu), but queue q uses 6 of "
        "its limit of 12 nvidia.com/gpu");
    world_queued(w, "c", "q", 6, 1); /* smaller work passes */
    assert_string_equal(world_state(w, "c"), "Planned");
    assert_int_equal(world_queue_used(w, "q", GPU), 12);
    world_ends(w, "a", 6);
    world_ends(w, "c", 6);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

static void Q01_the_limit_of_an_ancestor_counts(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(4, 8);
    world_queue(w, "top", NULL, GANG_NOT_STATED, 10);
    world_queue(w, "left", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "right", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "left", 7, 1);
    world_queued(w, "b", "right", 4, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_string_equal(world_state(w, "b"), "Waiting");
    assert_string_equal(world_reason(w, "b"),
                        "gang default/b: 4 members needed (4 nvidia.com/gpu), but queue top (above "
                        "queue right) uses 7 of its limit of 10 nvidia.com/gpu");
    assert_int_equal(world_queue_used(w, "top", GPU), 7);
    world_free(w);
}

/* kube-scheduler does not try the members again, so they would keep the name of the old queue. */
static void Q01_members_get_the_reason_of_another_queue(void **state)
{
    (void)state;
    static const char *const MEMBERS[] = {"a-0", "a-1", "a-2", "a-3"};
    struct world *w = world_of_nodes(4, 8);
    world_queue(w, "left", NULL, GANG_NOT_STATED, 1);
    world_queue(w, "right", NULL, GANG_NOT_STATED, 2);
    world_queued(w, "a", "left", 4, 1);
    for (int i = 0; i < 4; i++) {
        struct gang_pod_facts *pod = world_pod_facts(MEMBERS[i], "a", 1);
        pod->unschedulable = true;
        world_pod_set(w, pod);
        assert_string_equal(world_filter(w, MEMBERS[i]), "");
    }
    world_wait(w, 60 * USEC_PER_SEC);
    world_forget(w);
    struct gang_group_facts *f = world_group_facts("a", 4);
    f->queue = xstrdup("right");
    world_group_set(w, f);
    assert_string_equal(world_reason_name(w, "a"), "QueueLimitReached");
    world_wait(w, 60 * USEC_PER_SEC);
    assert_int_equal(w->n_told, 4);
    for (size_t i = 0; i < w->n_told; i++)
        assert_non_null(strstr(w->told[i], "queue right uses 0 of its limit of 2 nvidia.com/gpu"));
    world_free(w);
}

static void Q01_a_resource_that_is_not_requested_is_not_checked(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, "memory")->cap = 0;
    world_queue_set(w, f);
    world_queued(w, "a", "q", 2, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void Q01_all_kinds_of_gpus_count_together(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, GANG_ANY_GPU)->cap = 3;
    world_queue_set(w, f);
    world_queued(w, "a", "q", 2, 1);
    world_queued(w, "b", "q", 2, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_string_equal(world_state(w, "b"), "Waiting");
    assert_non_null(strstr(world_reason(w, "b"), "queue q uses 2 of its limit of 3 gpu"));
    world_free(w);
}

/* Each kind alone was compared with the limit. */
static void Q01_two_kinds_of_gpus_of_one_pod_count_together(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct gang_node_facts *node = world_gpu_node("n0", 8);
    gang_amounts_add(&node->allocatable, "amd.com/gpu", 8);
    world_node_facts(w, node);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, GANG_ANY_GPU)->cap = 6;
    world_queue_set(w, f);
    for (int amd = 3; amd >= 2; amd--) {
        cleanup_free char *name = xasprintf("g%d", amd);
        struct gang_group_facts *g = world_group_facts(name, 1);
        g->queue = xstrdup("q");
        world_group_set(w, g);
        struct gang_pod_facts *p = world_pod_facts(name, name, 4);
        gang_amounts_add(&p->requests, "amd.com/gpu", amd);
        world_pod_set(w, p);
    }
    assert_string_equal(world_state(w, "g3"), "Waiting");
    assert_non_null(
        strstr(world_reason(w, "g3"), "1 member needed (7 gpu), but queue q uses 0 of"));
    assert_string_equal(world_state(w, "g2"), "Planned");
    world_free(w);
}

/* Other than in KAI. A limit for it needs its own name. */
static void Q01_a_mig_device_does_not_count_as_gpu(void **state)
{
    (void)state;
    static const char mig[] = "nvidia.com/mig-3g.20gb";
    struct world *w = world_new();
    struct gang_node_facts *node = world_gpu_node("n0", 0);
    gang_amounts_add(&node->allocatable, mig, 8);
    world_node_facts(w, node);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    gang_quota_add(f, GANG_ANY_GPU)->cap = 0;
    gang_quota_add(f, mig)->cap = 4;
    world_queue_set(w, f);
    for (int n = 4; n <= 5; n++) {
        cleanup_free char *name = xasprintf("g%d", n);
        struct gang_group_facts *g = world_group_facts(name, 1);
        g->queue = xstrdup("q");
        world_group_set(w, g);
        struct gang_pod_facts *p = world_pod_facts(name, name, 0);
        gang_amounts_add(&p->requests, mig, n);
        world_pod_set(w, p);
    }
    assert_string_equal(world_state(w, "g4"), "Planned");
    assert_int_equal(world_queue_used(w, "q", GANG_ANY_GPU), 0);
    assert_int_equal(world_queue_used(w, "q", mig), 4);
    assert_non_null(
        strstr(world_reason(w, "g5"), "queue q uses 4 of its limit of 4 nvidia.com/mig"));
    world_free(w);
}

/* A gang of 8 GPUs waits in a queue that deserves this many of the 8. One GPU becomes free. */
static void a_smaller_gang_is(const char *state, int64_t deserved, const char *resource)
{
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("large", NULL);
    gang_quota_add(f, resource)->deserved = deserved;
    world_queue_set(w, f);
    world_queue_set(w, world_queue_facts("small", NULL));
    for (int i = 0; i < 8; i++) {
        cleanup_free char *name = xasprintf("s%d", i);
        world_queued(w, name, "small", 1, 1);
        world_starts(w, name, 1, 1);
    }
    world_queued(w, "l", "large", 1, 8);
    world_queued(w, "s8", "small", 1, 1);
    world_wait(w, SECONDS(2));
    world_ends(w, "s0", 1);
    world_wait(w, SECONDS(2));
    assert_string_equal(world_state(w, "l"), "Waiting");
    assert_string_equal(world_state(w, "s8"), state);
    world_free(w);
}

/* Kinds of GPUs were not compared with a share of all kinds. */
static void Q02_room_is_kept_for_a_gang_within_its_share(void **state)
{
    (void)state;
    a_smaller_gang_is("Waiting", 8, GPU);
    a_smaller_gang_is("Waiting", 8, GANG_ANY_GPU);
    a_smaller_gang_is("Planned", 4, GPU);
    a_smaller_gang_is("Planned", 4, GANG_ANY_GPU);
}

static void Q01_extras_stay_within_the_limit(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 5);
    struct gang_group_facts *f = world_group_facts("a", 2);
    f->queue = xstrdup("q");
    world_group_set(w, f);
    world_members(w, "a", 0, 8, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_int_equal(world_queue_used(w, "q", GPU), 5);
    world_starts(w, "a", 5, 1);
    assert_string_equal(world_filter(w, "a-6"), "");
    assert_non_null(strstr(w->refusal, "queue q uses 5 of its limit of 5 nvidia.com/gpu"));
    world_free(w);
}

/* Limits lowered during a commit do not stop the needed members; extras are not needed. */
static void Q01_extras_that_come_during_a_commit_stay_within_the_limit(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 3);
    struct gang_group_facts *f = world_group_facts("a", 2);
    f->queue = xstrdup("q");
    world_group_set(w, f);
    world_members(w, "a", 0, 2, 1);
    world_try_members(w, "a", 0, 2);
    assert_string_equal(world_state(w, "a"), "Committing");
    world_members(w, "a", 2, 8, 1);
    assert_string_equal(world_state(w, "a"), "Committing");
    assert_int_equal(world_queue_used(w, "q", GPU), 3);
    world_free(w);
}

static void Q01_a_firm_gang_fits_only_inside_deserved(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "q", NULL, 4, GANG_UNLIMITED);
    struct gang_group_facts *f = world_group_facts("a", 6);
    f->queue = xstrdup("q");
    f->preemptible = PREEMPTIBLE_NO;
    world_group_set(w, f);
    world_members(w, "a", 0, 6, 1);
    assert_string_equal(world_state(w, "a"), "Waiting");
    assert_string_equal(world_reason_name(w, "a"), "QueueDeservedReached");
    world_queued(w, "b", "q", 6, 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

static void Q01_a_reserved_amount_is_never_lent(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    struct gang_queue_facts *f = world_queue_facts("kept", NULL);
    gang_quota_add(f, GPU)->reserved = 4;
    world_queue_set(w, f);
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "q", 13, 1);
    assert_string_equal(world_state(w, "a"), "Waiting");
    assert_string_equal(world_reason_name(w, "a"), "RoomReservedForQueue");
    world_queued(w, "b", "q", 12, 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_queued(w, "c", "kept", 4, 1);
    assert_string_equal(world_state(w, "c"), "Planned");
    world_free(w);
}

static void Q01_a_pod_without_a_gang_is_held_to_its_queue(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 1);
    for (int i = 0; i < 2; i++) {
        cleanup_free char *name = xasprintf("p%d", i);
        struct gang_pod_facts *f = world_pod_facts(name, NULL, 1);
        f->queue = (struct gang_ref){xstrdup("test"), xstrdup(""), xstrdup("q")};
        world_pod_set(w, f);
    }
    assert_string_equal(world_filter(w, "p0"), "n0");
    assert_string_equal(world_filter(w, "p1"), "n0");
    uint64_t first = world_bind(w, "p0", "n0");
    world_result(w, "p0", "n0", OUTCOME_OK);
    assert_string_equal(world_answer(w, first), "");
    uint64_t second = world_bind(w, "p1", "n0"); /* it passed filter before */
    assert_string_equal(world_answer(w, second), "pod default/p1: 1 nvidia.com/gpu needed, but "
                                                 "queue q uses 1 of its limit of 1 nvidia.com/gpu");
    assert_string_equal(world_filter(w, "p1"), "");
    world_pod_gone(w, "p0");
    assert_true(world_nominated(w, "p1@n0")); /* woken */
    world_free(w);
}

static void Q01_a_lowered_limit_leaves_running_work_alone(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 8);
    world_queued(w, "a", "q", 4, 1);
    world_starts(w, "a", 4, 1);
    world_queued(w, "b", "q", 4, 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_queue(w, "q", NULL, GANG_NOT_STATED, 2);
    assert_string_equal(world_state(w, "a"), "Scheduled");
    assert_string_equal(world_state(w, "b"), "Waiting");
    assert_int_equal(world_queue_used(w, "q", GPU), 4);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 8);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

/* Limits do not stop a gang that is bound in part. When its last member goes, they count again. */
static void Q01_a_gang_that_is_not_bound_any_more_is_held_to_the_limit(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, 2);
    world_queued(w, "a", "q", 2, 1);
    world_try_members(w, "a", 0, 2);
    world_result(w, "a-0", "n0", OUTCOME_OK);
    world_result(w, "a-1", "n0", OUTCOME_REFUSED);
    assert_string_equal(world_state(w, "a"), "Recovering");
    world_queue(w, "q", NULL, GANG_NOT_STATED, 0);
    world_members(w, "a", 2, 3, 0);
    assert_string_equal(world_state(w, "a"), "Recovering");
    assert_int_equal(world_queue_used(w, "q", GPU), 2); /* of a-0 and of the slot for a-1 */
    world_pod_gone(w, "a-0");
    assert_string_equal(world_state(w, "a"), "Waiting");
    assert_string_equal(world_reason_name(w, "a"), "QueueLimitReached");
    world_free(w);
}

/* ---- bad objects ---- */

static void Q05_names_count_from_the_first_queue_object_on(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queued(w, "a", "nowhere", 2, 1);
    world_queued(w, "b", "default", 2, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_starts(w, "a", 2, 1);
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "c", "nowhere", 2, 1);
    assert_string_equal(world_state(w, "b"), "Planned");
    assert_string_equal(world_state(w, "c"), "Waiting");
    assert_string_equal(world_reason(w, "c"),
                        "gang default/c: queue nowhere does not exist; create "
                        "it or name another queue");
    world_queue(w, "nowhere", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "c"), "Planned");
    world_free(w);
}

static void Q05_a_deleted_queue_leaves_running_gangs_alone(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "other", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "q", 2, 1);
    world_starts(w, "a", 2, 1);
    world_queue_gone(w, "q");
    world_queued(w, "b", "q", 2, 1);
    assert_string_equal(world_state(w, "a"), "Scheduled");
    assert_string_equal(world_reason_name(w, "b"), "QueueNotFound");
    world_queue_gone(w, "other"); /* the last one: names count no more */
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

static void Q05_a_cycle_stops_its_own_queues_alone(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "good", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "x", "y", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "y", "x", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "below", "x", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "below", 2, 1);
    world_queued(w, "b", "good", 2, 1);
    assert_string_equal(world_reason_name(w, "a"), "InvalidQueue");
    assert_string_equal(world_reason(w, "a"),
                        "gang default/a: queue below cannot be used: queue x: spec.parent is y, "
                        "which makes it its own ancestor; name another parent, or none");
    assert_string_equal(world_state(w, "b"), "Planned");
    world_queue(w, "y", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

static void Q05_a_missing_parent_and_too_much_deserved_are_named(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    world_queue(w, "q", "gone", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "q", 2, 1);
    assert_string_equal(world_reason(w, "a"),
                        "gang default/a: queue q cannot be used: queue q: spec.parent is gone, "
                        "which does not exist; create it or name another parent");
    world_queue(w, "gone", NULL, 3, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_queue(w, "q", "gone", 4, GANG_UNLIMITED);
    world_queued(w, "b", "q", 2, 1);
    assert_string_equal(world_reason(w, "b"),
                        "gang default/b: queue q cannot be used: queue q: it deserves 4 "
                        "nvidia.com/gpu, and its parent gone only 3; lower the one or raise the "
                        "other");
    struct gang_queue_facts *parent = world_queue_facts("gone", NULL);
    struct gang_queue_facts *child = world_queue_facts("q", "gone");
    gang_quota_add(parent, "cpu")->deserved = 1500;
    gang_quota_add(child, "cpu")->deserved = 2000;
    world_queue_set(w, parent);
    world_queue_set(w, child);
    world_queued(w, "c", "q", 2, 1);
    assert_non_null(strstr(world_reason(w, "c"), "it deserves 2 cpu, and its parent gone only "
                                                 "1500m; lower"));
    parent = world_queue_facts("gone", NULL);
    child = world_queue_facts("q", "gone");
    gang_quota_add(parent, "cpu")->deserved = 1500;
    gang_quota_add(child, "cpu")->deserved = GANG_UNLIMITED;
    world_queue_set(w, parent);
    world_queue_set(w, child);
    world_queued(w, "d", "q", 2, 1);
    assert_non_null(strstr(world_reason(w, "d"), "it deserves all cpu, and its parent gone only "
                                                 "1500m; lower"));
    world_free(w);
}

static void Q05_a_closed_queue_and_one_with_children_take_no_gang(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    f->closed = true;
    world_queue_set(w, f);
    world_queue(w, "top", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "leaf", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "q", 2, 1);
    world_queued(w, "b", "top", 2, 1);
    assert_string_equal(world_reason(w, "a"),
                        "gang default/a: queue q is closed; open it or name another queue");
    assert_string_equal(world_reason(w, "b"),
                        "gang default/b: queue top has queues below it; name one of these");
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

/* As in Volcano. */
static void Q05_a_queue_below_a_closed_one_takes_no_gang(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("top", NULL);
    f->closed = true;
    world_queue_set(w, f);
    world_queue(w, "middle", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "leaf", "middle", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "leaf", 2, 1);
    assert_string_equal(world_reason(w, "a"),
                        "gang default/a: queue top (above queue leaf) is closed; open it or name "
                        "another queue");
    world_queue(w, "middle", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "a"), "Planned");
    world_queue(w, "middle", "top", GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "b", "leaf", 2, 1);
    assert_string_equal(world_reason_name(w, "b"), "QueueClosed");
    world_queue(w, "top", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

static void Q05_a_namespace_without_a_grant_may_not_use_the_queue(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    const char *const grants[] = {"q:other", "open:*"};
    config.assemble = 0;
    config.queue_grants = grants;
    config.n_queue_grants = 2;
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 8);
    world_queue(w, "q", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queue(w, "open", NULL, GANG_NOT_STATED, GANG_UNLIMITED);
    world_queued(w, "a", "q", 2, 1);
    world_queued(w, "b", "open", 2, 1);
    assert_string_equal(world_reason_name(w, "a"), "QueueNotAllowed");
    assert_string_equal(world_reason(w, "a"),
                        "gang default/a: namespace default may not use queue q; add q:default to "
                        "queueNamespaces or name another queue");
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

static void Q05_grants_are_found_in_any_order(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    const char *const grants[] = {"q:z", "open:*", "q-2:other", "q:default", "q:a", "q2:default"};
    static const char *const queues[] = {"q", "open", "q-", "q-2", "q2", "qq"};
    config.assemble = 0;
    config.queue_grants = grants;
    config.n_queue_grants = ARRAY_SIZE(grants);
    struct world *w = world_new_with(config, true);
    world_node(w, "n0", 8);
    for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
        world_queue(w, queues[i], NULL, GANG_NOT_STATED, GANG_UNLIMITED);
        cleanup_free char *name = xasprintf("g%zu", i);
        world_queued(w, name, queues[i], 1, 1);
        assert_string_equal(world_state(w, name), i == 3 ? "Waiting" : "Planned");
    }
    world_free(w);
}

static void Q05_a_queue_of_a_namespace_counts_all_its_pods(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 8);
    struct gang_queue_facts *f = world_queue_facts("elastic", NULL);
    f->of_namespace = xstrdup("default");
    gang_quota_add(f, GPU)->cap = 3;
    world_pod_seen(w, "old", NULL, 2, "n0", PHASE_RUNNING);
    world_queue_set(w, f);
    assert_int_equal(world_queue_used(w, "elastic", GPU), 2);
    world_queued(w, "a", NULL, 2, 1);
    assert_string_equal(world_reason_name(w, "a"), "QueueLimitReached");
    world_pod_gone(w, "old");
    assert_string_equal(world_state(w, "a"), "Planned");
    world_free(w);
}

/* ---- order ---- */

static void Q02_a_queue_below_its_deserved_amount_goes_first(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_queue(w, "lent", NULL, 0, GANG_UNLIMITED);
    world_queue(w, "owner", NULL, 4, GANG_UNLIMITED);
    world_queued(w, "a", "lent", 4, 1);
    world_queued(w, "b", "owner", 4, 1);
    world_node(w, "n0", 4);
    assert_string_equal(world_state(w, "b"), "Planned");
    assert_string_equal(world_state(w, "a"), "Waiting");
    world_free(w);
}

static void Q02_turns_go_to_the_smaller_share_by_weight(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_queue_weight(w, "three", 3);
    world_queue_weight(w, "one", 1);
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "t%d", i);
        world_queued(w, name, "three", 1, 1);
        snprintf(name, sizeof name, "o%d", i);
        world_queued(w, name, "one", 1, 1);
    }
    world_node(w, "n0", 8);
    assert_int_equal(world_queue_used(w, "three", GPU), 6);
    assert_int_equal(world_queue_used(w, "one", GPU), 2);
    world_free(w);
}

/* Also if nothing else happens, and the last computation was just before. */
static void shares_count_a_gang_that_comes_right_after_they_were_computed(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queue_weight(w, "q", 1);
    world_queued(w, "a", "q", 4, 1);
    world_starts(w, "a", 4, 1);
    world_wait(w, SECONDS(3600)); /* computes them */
    w->now += SECONDS(1) / 2;
    struct gang_event events[5] = {{.kind = GANG_EV_GROUP_SET, .group = world_group_facts("b", 4)}};
    events[0].group->queue = xstrdup("q");
    for (int i = 0; i < 4; i++) {
        cleanup_free char *name = xasprintf("b-%d", i);
        events[1 + i].kind = GANG_EV_POD_SET;
        events[1 + i].pod = world_pod_facts(name, "b", 1);
    }
    world_step(w, events, ARRAY_SIZE(events));
    assert_int_equal(world_queue_requested(w, "q", GPU), 4);
    assert_true(gang_core_next(w->core) <= w->now + SECONDS(1));
    world_wait(w, SECONDS(1));
    assert_int_equal(world_queue_requested(w, "q", GPU), 8);
    world_free(w);
}

static void nothing_is_computed_while_nothing_happens(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    world_queue_weight(w, "q", 1);
    world_queued(w, "a", "q", 4, 1);
    world_starts(w, "a", 4, 1);
    world_wait(w, SECONDS(3600));
    assert_true(gang_core_next(w->core) == USEC_NEVER);
    world_free(w);
}

static void Q02_queues_of_weight_0_take_turns_behind_the_others(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_queue_weight(w, "a", 0);
    world_queue_weight(w, "b", 0);
    world_queue_weight(w, "one", 1);
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%d", i);
        world_queued(w, name, "a", 1, 1);
        snprintf(name, sizeof name, "b%d", i);
        world_queued(w, name, "b", 1, 1);
    }
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "o%d", i);
        world_queued(w, name, "one", 1, 1);
    }
    world_node(w, "n0", 3);
    assert_int_equal(world_queue_used(w, "one", GPU), 3);
    world_node(w, "n1", 7);
    assert_int_equal(world_queue_used(w, "one", GPU), 4);
    assert_int_equal(world_queue_used(w, "a", GPU), 3);
    assert_int_equal(world_queue_used(w, "b", GPU), 3);
    world_free(w);
}

/* As KAI's documents write them: all cpu, without a weight; and a weight for GPUs. */
static void kai_queue(struct world *w, const char *name, int weight)
{
    struct gang_queue_facts *f = world_queue_facts(name, NULL);
    f->weight = weight * 1000;
    struct gang_quota *q = gang_quota_add(f, "cpu");
    q->deserved = q->cap = GANG_UNLIMITED;
    q->weight = 0;
    q = gang_quota_add(f, GPU);
    q->deserved = 0;
    q->weight = weight * 1000;
    world_queue_set(w, f);
}

/* Eight GPUs go to gangs of one pod with one GPU each, in the queues a (weight 3) and b (weight 1).
 * The pods of a request that many times as much cpu. Returns how many GPUs a gets. */
static int64_t gpus_by_weight(int more_cpu)
{
    struct world *w = world_new();
    kai_queue(w, "a", 3);
    kai_queue(w, "b", 1);
    for (int i = 0; i < 16; i++) {
        char name[32], pod[40];
        snprintf(name, sizeof name, "%s%d", i % 2 ? "a" : "b", i);
        snprintf(pod, sizeof pod, "%s-0", name);
        struct gang_group_facts *f = world_group_facts(name, 1);
        f->queue = xstrdup(i % 2 ? "a" : "b");
        world_group_set(w, f);
        world_pod_shaped(w, pod, name, 1, i % 2 ? 1000 * more_cpu : 1000, 0);
    }
    world_node_small(w, "n", 8, 100000);
    int64_t a = world_queue_used(w, "a", GPU);
    assert_int_equal(a + world_queue_used(w, "b", GPU), 8);
    world_free(w);
    return a;
}

static void Q02_a_resource_that_is_not_borrowed_needs_no_weight(void **state)
{
    (void)state;
    assert_int_equal(gpus_by_weight(1), 6);
}

/* Its share is compared with those of other resources: 4 of 100 cpu are less than 1 of 8 GPUs. */
static void Q02_a_resource_that_is_not_borrowed_has_the_queues_weight(void **state)
{
    (void)state;
    assert_int_equal(gpus_by_weight(4), 6);
}

static void Q02_a_higher_priority_of_the_queue_goes_first(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_queue_weight(w, "low", 9);
    struct gang_queue_facts *f = world_queue_facts("high", NULL);
    f->priority = 1;
    world_queue_set(w, f);
    world_queued(w, "a", "low", 4, 1);
    world_queued(w, "b", "high", 4, 1);
    world_node(w, "n0", 4);
    assert_string_equal(world_state(w, "b"), "Planned");
    world_free(w);
}

/* Each gang needs the whole cluster; when one ends, the other queue has its turn. */
static void Q02_whole_cluster_gangs_alternate(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(2, 4);
    world_queue_weight(w, "a", 1);
    world_queue_weight(w, "b", 1);
    world_queued(w, "a0", "a", 2, 4);
    world_starts(w, "a0", 2, 4);
    for (int i = 1; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%d", i);
        world_queued(w, name, "a", 2, 4);
    }
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "b%d", i);
        world_queued(w, name, "b", 2, 4);
    }
    static const char *const order[] = {"a0", "b0", "a1", "b1", "a2", "b2", "a3"};
    for (size_t i = 0; i + 1 < ARRAY_SIZE(order); i++) {
        world_wait(w, SECONDS(100));
        world_ends(w, order[i], 2);
        assert_string_equal(world_state(w, order[i + 1]), "Planned");
        world_starts(w, order[i + 1], 2, 4);
    }
    world_free(w);
}

/* A small pod of queue a runs all the time, so its share is never the smaller one. */
static void Q02_a_gang_larger_than_its_share_has_its_turn(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 10);
    world_queue_weight(w, "a", 1);
    world_queue_weight(w, "b", 1);
    world_queued(w, "small", "a", 1, 1);
    world_starts(w, "small", 1, 1);
    world_queued(w, "b0", "b", 1, 8);
    world_starts(w, "b0", 1, 8);
    world_queued(w, "big", "a", 1, 8);
    world_queued(w, "b1", "b", 1, 8);
    world_wait(w, SECONDS(100));
    world_ends(w, "b0", 1);
    assert_string_equal(world_state(w, "big"), "Planned");
    assert_string_equal(world_state(w, "b1"), "Waiting");
    world_free(w);
}

static void Q01_nothing_passes_the_head_of_a_fifo_queue(void **state)
{
    (void)state;
    struct world *w = world_of_nodes(1, 4);
    struct gang_queue_facts *f = world_queue_facts("q", NULL);
    f->fifo = true;
    world_queue_set(w, f);
    world_queued(w, "big", "q", 2, 4);
    world_queued(w, "small", "q", 1, 1);
    world_queued(w, "other", NULL, 1, 1);
    assert_string_equal(world_reason_name(w, "big"), "NotEnoughResources");
    assert_string_equal(world_reason(w, "small"),
                        "gang default/small: waits for the gangs ahead of "
                        "it in queue q, which is first in, first out");
    assert_string_equal(world_state(w, "other"), "Planned");
    world_ends(w, "big", 2);
    assert_string_equal(world_state(w, "small"), "Planned");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q01_a_gang_above_the_cap_waits_whole),
        cmocka_unit_test(Q01_the_limit_of_an_ancestor_counts),
        cmocka_unit_test(Q01_members_get_the_reason_of_another_queue),
        cmocka_unit_test(Q01_a_resource_that_is_not_requested_is_not_checked),
        cmocka_unit_test(Q01_all_kinds_of_gpus_count_together),
        cmocka_unit_test(Q01_two_kinds_of_gpus_of_one_pod_count_together),
        cmocka_unit_test(Q01_a_mig_device_does_not_count_as_gpu),
        cmocka_unit_test(Q02_room_is_kept_for_a_gang_within_its_share),
        cmocka_unit_test(Q01_extras_stay_within_the_limit),
        cmocka_unit_test(Q01_extras_that_come_during_a_commit_stay_within_the_limit),
        cmocka_unit_test(Q01_a_firm_gang_fits_only_inside_deserved),
        cmocka_unit_test(Q01_a_reserved_amount_is_never_lent),
        cmocka_unit_test(Q01_a_pod_without_a_gang_is_held_to_its_queue),
        cmocka_unit_test(Q01_a_lowered_limit_leaves_running_work_alone),
        cmocka_unit_test(Q01_a_gang_that_is_not_bound_any_more_is_held_to_the_limit),
        cmocka_unit_test(Q05_names_count_from_the_first_queue_object_on),
        cmocka_unit_test(Q05_a_deleted_queue_leaves_running_gangs_alone),
        cmocka_unit_test(Q05_a_cycle_stops_its_own_queues_alone),
        cmocka_unit_test(Q05_a_missing_parent_and_too_much_deserved_are_named),
        cmocka_unit_test(Q05_a_closed_queue_and_one_with_children_take_no_gang),
        cmocka_unit_test(Q05_a_queue_below_a_closed_one_takes_no_gang),
        cmocka_unit_test(Q05_a_namespace_without_a_grant_may_not_use_the_queue),
        cmocka_unit_test(Q05_grants_are_found_in_any_order),
        cmocka_unit_test(Q05_a_queue_of_a_namespace_counts_all_its_pods),
        cmocka_unit_test(Q02_a_queue_below_its_deserved_amount_goes_first),
        cmocka_unit_test(Q02_turns_go_to_the_smaller_share_by_weight),
        cmocka_unit_test(shares_count_a_gang_that_comes_right_after_they_were_computed),
        cmocka_unit_test(nothing_is_computed_while_nothing_happens),
        cmocka_unit_test(Q02_queues_of_weight_0_take_turns_behind_the_others),
        cmocka_unit_test(Q02_a_resource_that_is_not_borrowed_needs_no_weight),
        cmocka_unit_test(Q02_a_resource_that_is_not_borrowed_has_the_queues_weight),
        cmocka_unit_test(Q02_a_higher_priority_of_the_queue_goes_first),
        cmocka_unit_test(Q02_whole_cluster_gangs_alternate),
        cmocka_unit_test(Q02_a_gang_larger_than_its_share_has_its_turn),
        cmocka_unit_test(Q01_nothing_passes_the_head_of_a_fifo_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
