/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of Volcano from the object to the core's decision. */
#include <stdio.h>

#include "k8s/decode/decode.h"
#include "k8s/dialect/queue_dialect.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/world_queues.h"
#include "test/lib/yaml_object.h"

/* The queue with these members, for gangs of the world. */
static struct gang_queue_facts *read_queue(const char *name, const char *members)
{
    struct err err;
    cleanup_free char *text =
        xasprintf("{metadata: {name: %s, uid: u-%s}, %s}", name, name, members);
    cleanup_json json_t *json = yaml_object(text);
    struct gang_queue_facts *f =
        decode_queue(queue_dialect_by_group("scheduling.volcano.sh"), json, &err);
    assert_non_null(f);
    free(f->ref.api_group);
    f->ref.api_group = xstrdup("test");
    return f;
}

/* ---- reserved amounts ---- */

#define AMOUNT(n)    "{nvidia.com/gpu: " n "}"
#define GUARANTEE(n) "guarantee: {resource: " AMOUNT(n) "}"
#define DESERVED(n)  "deserved: " AMOUNT(n)

/* What is reserved is a deserved amount too, but only a stated one can exceed the parent's. */
static void Q05_a_queue_that_reserves_more_than_its_parent_is_valid(void **state)
{
    (void)state;
    static const struct {
        const char *parent, *child, *fault; /* NULL: none */
    } cases[] = {
        {GUARANTEE("4"), GUARANTEE("8"), NULL},
        {DESERVED("4"), GUARANTEE("8"), NULL},
        {GUARANTEE("4"), DESERVED("3") ", " GUARANTEE("8"), NULL},
        {GUARANTEE("4"), DESERVED("6") ", " GUARANTEE("8"),
         "it deserves 6 nvidia.com/gpu, and its "
         "parent p only 4"},
        {DESERVED("4"), DESERVED("8") ", " GUARANTEE("8"),
         "it deserves 8 nvidia.com/gpu, and its "
         "parent p only 4"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_of_nodes(1, 8);
        cleanup_free char *parent = xasprintf("spec: {%s}", cases[i].parent);
        cleanup_free char *child = xasprintf("spec: {parent: p, %s}", cases[i].child);
        world_queue_set(w, read_queue("p", parent));
        world_queue_set(w, read_queue("c", child));
        world_queued(w, "g", "c", 2, 1);
        if (!cases[i].fault)
            assert_string_equal(world_state(w, "g"), "Planned");
        else if (!strstr(world_reason(w, "g"), cases[i].fault))
            fail_msg("case %zu: %s", i, world_reason(w, "g"));
        world_free(w);
    }
}

/* ---- the state ---- */

#define STATE(s) "status: {state: " s ", allocated: {}}"

static const char *state_in(const struct gang_queue_status *status, const char *members)
{
    static char state[16];
    cleanup_free char *text = xasprintf("{metadata: {name: c, uid: u-c}, %s}", members);
    cleanup_json json_t *object = yaml_object(text);
    struct queue_view view = {.object = object};
    cleanup_json json_t *patch =
        queue_dialect_by_group("scheduling.volcano.sh")->status(status, &view);
    const char *s = field_peek(patch, "status", "state", NULL);
    snprintf(state, sizeof state, "%s", s ? s : "");
    return state;
}

/* The state that muster writes after queue c has become this; "": none. */
static const char *state_after(struct world *w, const char *members)
{
    size_t n;
    const char *state = "";
    struct gang_event ev = {.kind = GANG_EV_QUEUE_SET, .queue = read_queue("c", members)};
    w->now += SECONDS(2); /* statuses come at most once a second */
    const struct gang_effect *effects = gang_step(w->core, w->now, &ev, 1, &n);
    for (size_t i = 0; i < n; i++)
        if (effects[i].kind == GANG_QUEUE_STATUS && str_eq(effects[i].queue.ref->name, "c"))
            state = state_in(&effects[i].queue, members);
    gang_event_done(&ev);
    return state;
}

/* It takes no gangs already, so nothing else about it changes. */
static void Q05_a_queue_that_is_closed_already_ends_closing(void **state)
{
    (void)state;
    static const struct {
        const char *parent, *spec, *before;
    } cases[] = {
        {STATE("Closed"), "spec: {parent: p}, ", STATE("Open")}, /* closed by its parent */
        {STATE("Open"), "spec: {parent: p}, ", STATE("Closed")},
        {STATE("Open"), "spec: {parent: p}, ", STATE("Unknown")},
        {STATE("Open"), "spec: {parent: p, weight: 0}, ", STATE("Closed")}, /* invalid */
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct world *w = world_of_nodes(1, 8);
        cleanup_free char *before = xasprintf("%s%s", cases[i].spec, cases[i].before);
        cleanup_free char *closing = xasprintf("%s%s", cases[i].spec, STATE("Closing"));
        cleanup_free char *closed = xasprintf("%s%s", cases[i].spec, STATE("Closed"));
        world_queue_set(w, read_queue("p", cases[i].parent));
        assert_string_equal(state_after(w, before), "");
        if (!str_eq(state_after(w, closing), "Closed"))
            fail_msg("case %zu: it stays Closing", i);
        assert_string_equal(state_after(w, closed), "");
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q05_a_queue_that_reserves_more_than_its_parent_is_valid),
        cmocka_unit_test(Q05_a_queue_that_is_closed_already_ends_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
