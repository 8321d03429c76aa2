/* SPDX-License-Identifier: Apache-2.0 */
/* The model check where pictures are old, differences many, and pods on their way. */
#include <stdio.h>
#include <string.h>

#include "test/lib/world.h"

static bool lane_is_open(const struct world *w)
{
    struct gang_stats stats;
    gang_core_stats(w->core, &stats);
    return stats.express;
}

static struct world *express_world(void)
{
    struct gang_config config = gang_config_default();
    config.assemble = 0;
    config.express = true;
    return world_new_with(config, true);
}

/* A gang that waits for members, so that nothing is ever placed. */
static struct world *checked_world(void)
{
    struct world *w = express_world();
    world_node(w, "a", 2);
    world_node(w, "b", 2);
    world_group(w, "g", 9);
    world_pod(w, "g-0", "g", 1);
    world_wait(w, SECONDS(2));
    return w;
}

static void look(struct world *w, const char *names)
{
    world_filter_facts(w, world_pod_facts("g-0", "g", 1), names);
}

/* Twice, as far apart as a difference must stand; both count. */
static void look_twice(struct world *w, const char *names)
{
    look(w, names);
    world_wait(w, SECONDS(1));
    look(w, names);
}

/* ---- pictures that are old ---- */

static void an_old_picture_is_compared_with_nothing(void **state)
{
    (void)state;
    for (enum gang_watch of = 0; of < GANG_WATCHES; of++) {
        struct world *w = checked_world();
        world_watch(w, of, true); /* "b" was deleted since, or somebody else is there */
        for (int i = 0; i < 5; i++, world_wait(w, SECONDS(2)))
            look(w, "a");
        assert_true(lane_is_open(w));
        world_free(w);
    }
}

static void the_scheduler_has_time_to_catch_up_too(void **state)
{
    (void)state;
    static const int outages[] = {1, 20, 500}, until[] = {3, 41, 61};
    for (size_t i = 0; i < ARRAY_SIZE(outages); i++) {
        struct world *w = checked_world();
        world_watch(w, GANG_WATCH_PODS, true);
        world_wait(w, SECONDS(outages[i]));
        world_watch(w, GANG_WATCH_PODS, false);
        world_wait(w, SECONDS(until[i]) - 1);
        look_twice(w, "a"); /* the first of them says nothing */
        assert_true(lane_is_open(w));
        world_wait(w, SECONDS(1));
        look(w, "a");
        assert_false(lane_is_open(w));
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_picture_is_compared_with_nothing),
        cmocka_unit_test(the_scheduler_has_time_to_catch_up_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
