/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of 64 levels, and one of more: from KAI's objects to the core's decision and back. */
#include <stdio.h>

#include "gang/bounds.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/queue_dialect.h"
#include "test/lib/world_queues.h"
#include "test/lib/yaml_object.h"

#define MOST BOUND_QUEUE_LEVELS

static const struct queue_dialect *kai(void)
{
    return queue_dialect_by_group("scheduling.run.ai");
}

/* parent "": none. */
static json_t *object_of(const char *name, const char *parent, int limit)
{
    cleanup_free char *text =
        xasprintf("{metadata: {name: %s, uid: u-%s}, spec: {parentQueue: '%s', resources: "
                  "{cpu: {limit: -1}, memory: {limit: -1}, gpu: {limit: %d}}}}",
                  name, name, parent, limit);
    return yaml_object(text);
}

/* Returns what muster writes about the queue `about` after this one has changed; NULL: nothing. */
static json_t *written(struct world *w, const char *name, const char *parent, int limit,
                       const char *about)
{
    struct err err;
    size_t n;
    json_t *patch = NULL;
    cleanup_json json_t *object = object_of(name, parent, limit);
    struct gang_queue_facts *f = decode_queue(kai(), object, &err);
    assert_non_null(f);
    free(f->ref.api_group);
    f->ref.api_group = xstrdup("test"); /* for gangs of the world */
    struct gang_event ev = {.kind = GANG_EV_QUEUE_SET, .queue = f};
    w->now += SECONDS(2); /* statuses come at most once a second */
    const struct gang_effect *effects = gang_step(w->core, w->now, &ev, 1, &n);
    for (size_t i = 0; i < n; i++)
        if (effects[i].kind == GANG_QUEUE_STATUS && str_eq(effects[i].queue.ref->name, about))
            patch = kai()->status(&effects[i].queue, &(struct queue_view){.object = object});
    gang_event_done(&ev);
    if (gang_core_check(w->core, &err) < 0)
        fail_msg("%s", err.text);
    return patch;
}

static void set(struct world *w, const char *name, const char *parent, int limit)
{
    json_decref(written(w, name, parent, limit, ""));
}

/* The queues q1, q2, … down to q<levels>, each below the one before. */
static struct world *chain(int levels, int limit_of_q1)
{
    struct world *w = world_of_nodes(2, 8);
    for (int i = 1; i <= levels; i++) {
        cleanup_free char *name = xasprintf("q%d", i);
        cleanup_free char *parent = i > 1 ? xasprintf("q%d", i - 1) : xstrdup("");
        set(w, name, parent, i > 1 ? -1 : limit_of_q1);
    }
    return w;
}

static void Q01_the_limit_at_the_top_counts_64_levels_below(void **state)
{
    (void)state;
    struct world *w = chain(MOST, 4);
    world_queued(w, "a", "q64", 3, 1);
    assert_string_equal(world_state(w, "a"), "Planned");
    assert_int_equal(world_queue_used(w, "q1", GPU), 3);
    world_queued(w, "b", "q64", 2, 1);
    assert_string_equal(world_reason(w, "b"),
                        "gang default/b: 2 members needed (2 gpu), but queue q1 (above queue q64) "
                        "uses 3 of its limit of 4 gpu");
    world_free(w);
}

#define FAULT                                                                                      \
    "queue q65: spec.parentQueue is q64, which puts it 65 levels below the cluster; muster takes " \
    "at most 64; name a parent further up"

static const char *condition(const json_t *patch)
{
    const json_t *list = json_object_get(json_object_get(patch, "status"), "conditions");
    const json_t *c = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(c, "type")), "Invalid");
    assert_string_equal(json_string_value(json_object_get(c, "status")), "True");
    return json_string_value(json_object_get(c, "message"));
}

/* Only the queues that are too deep wait, also if something else above them changes. */
static void Q05_a_queue_below_64_levels_stops_its_own_subtree_alone(void **state)
{
    (void)state;
    struct world *w = chain(MOST, -1);
    set(w, "sibling", "q63", -1);
    cleanup_json json_t *patch = written(w, "q65", "q64", -1, "q65");
    assert_string_equal(condition(patch), FAULT);
    cleanup_json json_t *below = written(w, "q66", "q65", -1, "q66");
    assert_string_equal(condition(below), FAULT);
    world_queued(w, "deep", "q66", 2, 1);
    world_queued(w, "beside", "sibling", 2, 1);
    assert_string_equal(world_reason_name(w, "deep"), "InvalidQueue");
    assert_string_equal(world_reason(w, "deep"),
                        "gang default/deep: queue q66 cannot be used: " FAULT);
    assert_string_equal(world_state(w, "beside"), "Planned");
    world_starts(w, "beside", 2, 1);
    set(w, "q32", "q31", 1);
    assert_string_equal(world_reason_name(w, "deep"), "InvalidQueue");
    assert_string_equal(world_state(w, "beside"), "Scheduled");
    set(w, "q33", "", -1); /* with all queues below it */
    assert_string_equal(world_state(w, "deep"), "Planned");
    assert_int_equal(world_queue_used(w, "q33", GPU), 4);
    assert_int_equal(world_queue_used(w, "q32", GPU), 0);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q01_the_limit_at_the_top_counts_64_levels_below),
        cmocka_unit_test(Q05_a_queue_below_64_levels_stops_its_own_subtree_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
