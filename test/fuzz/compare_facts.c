/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/compare_facts.h"

#include "server/recording/record.h"

static const struct record_type *type_of(const struct gang_event *set)
{
    const struct record_field *field = record_event_field(set->kind);
    HOLDS(field && field->of, "an event without facts");
    return field->of;
}

void facts_put(const struct gang_event *set, struct buf *out)
{
    record_encode(type_of(set), set->node, out);
}

void facts_same(const char *what, const struct gang_event *a, const struct gang_event *b)
{
    cleanup_buf struct buf x = BUF_INIT, y = BUF_INIT;
    facts_put(a, &x);
    facts_put(b, &y);
    HOLDS(str_eq(buf_str(&x), buf_str(&y)), "%s: %s\nand %s", what, buf_str(&x), buf_str(&y));
}

void facts_survive_recording(const struct gang_event *set)
{
    const struct record_type *type = type_of(set);
    cleanup_buf struct buf text = BUF_INIT;
    struct map pool = MAP_INIT;
    struct err err;
    facts_put(set, &text);
    cleanup_tree json_t *tree = fuzz_json("a recorded object", buf_str(&text), text.len);
    struct gang_event again = {.kind = set->kind};
    /* The union's first member stands for any of them; the kind decides how it is freed. */
    again.node = xcalloc(1, type->size);
    HOLDS(record_decode(type, tree, again.node, &pool, &err) == 0, "%s in %s", err.text,
          buf_str(&text));
    facts_same("recorded and read", set, &again);
    gang_event_done(&again);
    record_pool_done(&pool);
}
