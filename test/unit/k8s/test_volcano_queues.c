/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of Volcano from the object to the core's decision. */
#include <stdio.h>

#include "k8s/decode/decode.h"
#include "k8s/dialect/queue_dialect.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q05_a_queue_that_reserves_more_than_its_parent_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
