/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of recordings: every member of every struct is written and read back, and damaged lines
 * are refused with the position of the damage.
 */
#include "server/recording/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- the tables name every member of the headers ---- */

static char *read_header(const char *path)
{
    struct buf b = BUF_INIT;
    char chunk[4096];
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(&b, chunk, n);
    fclose(f);
    char *text = buf_steal(&b);
    for (char *c; (c = strstr(text, "/*")) != NULL;)
        memset(c, ' ', (size_t)(strstr(c, "*/") + 2 - c));
    return text;
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Calls fn for each member that is declared between braces: the word before ';', ',' or '['. */
static void each_member(const char *body, const char *end, void (*fn)(void *arg, const char *name),
                        void *arg)
{
    for (const char *p = body; p < end; p++) {
        if (*p != ';' && *p != ',')
            continue;
        const char *last = p;
        while (last > body && !is_word(last[-1]) && last[-1] != '}')
            last--;
        const char *first = last;
        while (first > body && is_word(first[-1]))
            first--;
        cleanup_free char *name = xstrndup(first, (size_t)(last - first));
        if (*name)
            fn(arg, name);
    }
}

static const char *closing(const char *open)
{
    int depth = 0;
    do
        depth += *open == '{' ? 1 : *open == '}' ? -1 : 0;
    while (open++, depth > 0);
    return open - 1;
}

struct wanted {
    const char *type;
    const char *const *more; /* further known names, NULL at the end */
    int seen;
};

static bool type_names(const struct record_type *t, const char *name)
{
    for (size_t i = 0; i < t->n_fields; i++)
        if (str_eq(t->fields[i].name, name) || str_eq(t->fields[i].count_name, name))
            return true;
    return false;
}

static bool is_named(const char *type, const char *name)
{
    for (size_t i = 0; i < record_n_types; i++)
        if (str_eq(record_types[i]->name, type) && type_names(record_types[i], name))
            return true;
    for (int k = 0; str_eq(type, "gang_event") && k < GANG_EV_MAX; k++) {
        const struct record_field *f = record_event_field((enum gang_event_kind)k);
        if (f && (str_eq(f->name, name) || type_names(f->of, name)))
            return true;
    }
    bool effect = str_eq(type, "gang_effect") || str_eq(type, "gang_filter_reply");
    for (int k = 0; effect && k < GANG_EFFECT_MAX; k++)
        if (type_names(record_effect_type((enum gang_effect_kind)k), name) ||
            is_named("gang_filter_refusal", name))
            return true;
    return false;
}

static void must_be_named(void *arg, const char *name)
{
    struct wanted *w = arg;
    w->seen++;
    for (const char *const *more = w->more; more && *more; more++)
        if (str_eq(*more, name))
            return;
    if (!is_named(w->type, name))
        fail_msg("struct %s: the member %s is in no table of server/recording/record_types.c",
                 w->type, name);
}

static int check_header(const char *path, const char *const *more)
{
    cleanup_free char *text = read_header(path);
    int structs = 0;
    for (const char *p = text; (p = strstr(p, "\nstruct ")) != NULL; p++) {
        const char *name = p + 8, *end = name;
        while (is_word(*end))
            end++;
        if (end[0] != ' ' || end[1] != '{')
            continue;
        cleanup_free char *type = xstrndup(name, (size_t)(end - name));
        struct wanted w = {type, more, 0};
        each_member(end + 2, closing(end + 1), must_be_named, &w);
        assert_true(w.seen > 0);
        structs++;
    }
    return structs;
}

static void every_member_of_the_headers_is_in_the_tables(void **state)
{
    (void)state;
    /* What record_line.c itself writes, names of union members, and the owner of a pod. */
    static const char *const event[] = {"kind",    "id",   "names", "n_names",    "pod_is_known",
                                        "victims", "uids", "n",     "violations", NULL};
    static const char *const facts[] = {"packed", NULL};
    static const char *const effect[] = {
        "kind", "filter", "prioritize", "preempt", "bind_reply", "pod", "workload", "event", NULL,
    };
    assert_true(check_header("gang/facts.h", facts) >= 18);
    assert_int_equal(check_header("gang/queue_facts.h", NULL), 3);
    assert_int_equal(check_header("gang/event.h", event), 2);
    assert_int_equal(check_header("gang/effect.h", effect), 5);
    cleanup_free char *text = read_header("gang/gang.h");
    const char *config = strstr(text, "\nstruct gang_config {");
    assert_non_null(config);
    struct wanted w = {"gang_config", NULL, 0};
    each_member(strchr(config, '{') + 1, closing(strchr(config, '{')), must_be_named, &w);
    assert_true(w.seen >= 13);
    for (int k = 0; k < GANG_EFFECT_MAX; k++)
        assert_non_null(record_effect_name((enum gang_effect_kind)k));
}

/* ---- written and read back ---- */

static int serial; /* makes every value different */

static void fill(const struct record_type *type, void *object);

static void *fill_list(size_t n, size_t size, const struct record_type *of)
{
    char *items = xcalloc(n, size);
    for (size_t i = 0; i < n; i++)
        if (of)
            fill(of, items + i * size);
        else
            *(char **)(void *)(items + i * size) = xasprintf("t%d", ++serial);
    return items;
}

static void fill_field(const struct record_field *f, void *object)
{
    void *p = (char *)object + f->offset;
    switch (f->kind) {
    case RECORD_TEXT:
        *(char **)p = xasprintf("%s \"%d\" \xc3\xa4\n", f->name, ++serial);
        break;
    case RECORD_CONSTANT:
        *(const char **)p = "minAvailable";
        break;
    case RECORD_BOOL:
        *(bool *)p = true;
        break;
    case RECORD_I32:
        *(int32_t *)p = -++serial;
        break;
    case RECORD_I64:
        *(int64_t *)p = INT64_MAX - ++serial;
        break;
    case RECORD_ENUM:
        *(int *)p = 1 + ++serial % ((int)f->n_words - 1);
        break;
    case RECORD_INSIDE:
        fill(f->of, p);
        break;
    case RECORD_OWNED:
        *(void **)p = fill_list(1, f->of->size, f->of);
        break;
    case RECORD_LIST:
    case RECORD_TEXTS:
        *(size_t *)(void *)((char *)object + f->count) = 3;
        *(void **)p = fill_list(3, f->of ? f->of->size : sizeof(char *), f->of);
        break;
    case RECORD_RUNS:
    case RECORD_DIGITS:
        fail_msg("the member %s is never read", f->name);
    }
}

static void fill(const struct record_type *type, void *object)
{
    for (size_t i = 0; i < type->n_fields; i++)
        fill_field(&type->fields[i], object);
}

/* An event with everything that its kind can carry. */
static void fill_event(enum gang_event_kind kind, struct gang_event *ev)
{
    static const char *const names[] = {"n0", "n1", "n2", "x", "n1"};
    static const char *const uids[] = {"u0", "u1", "\"u2"};
    static const struct gang_victims victims[] = {
        {uids, 1, 0}, {uids + 1, 2, 7}, {NULL, 0, -1}, {uids, 3, INT64_MAX}, {uids, 0, 2}};
    const struct record_field *f = record_event_field(kind);
    *ev = (struct gang_event){.kind = kind};
    if (kind >= GANG_EV_FILTER && kind <= GANG_EV_CALL_CLOSED)
        ev->id = UINT64_MAX - (uint64_t)kind;
    if (kind >= GANG_EV_FILTER && kind <= GANG_EV_PREEMPT) {
        ev->names = names;
        ev->n_names = ARRAY_SIZE(names);
        ev->victims = kind == GANG_EV_PREEMPT ? victims : NULL;
    }
    if (f)
        fill_field(f, ev);
}

static char *encode_event(struct record_names *names, const struct gang_event *ev)
{
    struct buf b = BUF_INIT;
    struct err err;
    if (record_put_events(names, 7, ev, 1, &b, &err) < 0)
        fail_msg("%s", err.text);
    buf_putc(&b, '}');
    return buf_steal(&b);
}

static int decode_line(const json_t *line, struct record_names *names, struct map *pool,
                       struct gang_event *ev, struct err *err)
{
    if (record_take_names(names, line, err) < 0)
        return -1;
    return record_take_event(names, pool, json_array_get(json_object_get(line, "events"), 0), ev,
                             err);
}

static void done(struct gang_event *ev)
{
    gang_event_done(ev);
    free((void *)(uintptr_t)ev->names);
}

static void every_event_is_read_back_with_every_member(void **state)
{
    (void)state;
    for (int k = 0; k < GANG_EV_MAX; k++) {
        struct gang_event ev, back;
        struct record_names to = {.numbers = MAP_INIT}, from = {.numbers = MAP_INIT};
        struct map pool = MAP_INIT;
        struct err err;
        fill_event((enum gang_event_kind)k, &ev);
        cleanup_free char *text = encode_event(&to, &ev);
        json_t *line = json_loads(text, 0, NULL);
        assert_non_null(line);
        if (decode_line(line, &from, &pool, &back, &err) < 0)
            fail_msg("%s: %s", gang_event_name(ev.kind), err.text);
        assert_int_equal(back.id, ev.id);
        assert_int_equal(back.n_names, ev.n_names);
        for (size_t i = 0; i < ev.n_names; i++)
            assert_string_equal(back.names[i], ev.names[i]);
        assert_true((back.victims != NULL) == (ev.victims != NULL));
        struct record_names again = {.numbers = MAP_INIT};
        cleanup_free char *twice = encode_event(&again, &back);
        assert_string_equal(text, twice);
        json_decref(line);
        gang_event_done(&ev);
        done(&back);
        record_names_done(&to);
        record_names_done(&from);
        record_names_done(&again);
        record_pool_done(&pool);
    }
}

/* Fills both objects alike, except for the field `other` (n_fields: none). */
static void fill_two(const struct record_type *type, void *a, void *b, size_t other)
{
    for (int two = 0; two < 2; two++) {
        serial = 0;
        for (size_t i = 0; i < type->n_fields; i++) {
            const struct record_field *f = &type->fields[i];
            char *object = two ? b : a;
            bool differs = two && i == other;
            serial += differs ? 1001 : 0;
            fill_field(f, object);
            serial -= differs ? 1001 : 0;
            if (differs && f->kind == RECORD_BOOL)
                *(bool *)(void *)(object + f->offset) = false;
        }
    }
}

static bool same_group(const void *a, const void *b)
{
    struct gang_group_facts *copy = gang_group_facts_copy(b);
    bool same = gang_group_facts_equal(a, b);
    assert_int_equal(gang_group_facts_equal(a, copy), same);
    gang_group_facts_free(copy);
    return same;
}

static bool same_queue(const void *a, const void *b)
{
    return gang_queue_facts_equal(a, b);
}

static void free_group(void *f)
{
    gang_group_facts_free(f);
}

static void free_queue(void *f)
{
    gang_queue_facts_free(f);
}

/* Otherwise, the core would ignore an edit of the object, or keep an old member in a copy. */
static void facts_with_another_member_are_not_equal(void **state)
{
    (void)state;
    static const struct {
        const struct record_type *type;
        bool (*same)(const void *, const void *);
        void (*done)(void *);
    } kinds[] = {{&record_group, same_group, free_group}, {&record_queue, same_queue, free_queue}};
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
        const struct record_type *type = kinds[k].type;
        for (size_t i = 0; i <= type->n_fields; i++) {
            if (i < type->n_fields && type->fields[i].kind == RECORD_CONSTANT)
                continue; /* the name of a field, which follows from the API group */
            void *a = xcalloc(1, type->size), *b = xcalloc(1, type->size);
            fill_two(type, a, b, i);
            if (kinds[k].same(a, b) != (i == type->n_fields))
                fail_msg("%s: the member %s", type->name,
                         i < type->n_fields ? type->fields[i].name : "(none)");
            kinds[k].done(a);
            kinds[k].done(b);
        }
    }
}

/* Packed facts have the same members. Under a sanitizer, the test also shows that none of them
 * points into freed memory. */
static void packed_facts_have_the_same_members(void **state)
{
    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        struct gang_event ev = {.kind = GANG_EV_POD_SET};
        struct record_names one = {.numbers = MAP_INIT}, other = {.numbers = MAP_INIT};
        if (empty)
            ev.pod = gang_pod_facts_new();
        else
            fill_event(GANG_EV_POD_SET, &ev);
        ev.pod->ns = ev.pod->ns ? ev.pod->ns : xstrdup("ns");
        ev.pod->name = ev.pod->name ? ev.pod->name : xstrdup("name");
        ev.pod->uid = ev.pod->uid ? ev.pod->uid : xstrdup("uid");
        cleanup_free char *loose = encode_event(&one, &ev);
        ev.pod = gang_pod_facts_pack(ev.pod);
        assert_true(ev.pod->packed);
        cleanup_free char *packed = encode_event(&other, &ev);
        assert_string_equal(packed, loose);
        assert_ptr_equal(gang_pod_facts_pack(ev.pod), ev.pod);
        gang_event_done(&ev);
        record_names_done(&one);
        record_names_done(&other);
    }
}

static void each_member_is_written_with_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < record_n_types; i++) {
        const struct record_type *t = record_types[i];
        if (t->form == RECORD_BARE)
            continue;
        cleanup_free char *object = xcalloc(1, t->size);
        for (size_t k = 0; k < t->n_fields; k++) {
            cleanup_buf struct buf b = BUF_INIT;
            struct record_field f = t->fields[k];
            memset(object, 0, t->size);
            memset(object + f.offset, 1, f.kind == RECORD_BOOL ? 1 : 4);
            if (f.kind == RECORD_TEXT || f.kind == RECORD_CONSTANT)
                *(const char **)(void *)(object + f.offset) = "x";
            else if (f.kind == RECORD_ENUM)
                *(int *)(void *)(object + f.offset) = 1;
            else if (f.kind >= RECORD_INSIDE)
                continue; /* covered above */
            record_encode(t, object, &b);
            cleanup_free char *start = xasprintf("{\"%s\":", f.name);
            assert_ptr_equal(strstr(buf_str(&b), start), buf_str(&b));
            assert_null(strchr(buf_str(&b), ','));
        }
    }
}

static void a_line_has_the_documented_form(void **state)
{
    (void)state;
    static const char *const offered[] = {"a", "b", "c", "z", "b"};
    struct gang_pod_facts *pod = gang_pod_facts_new();
    pod->ns = xstrdup("ml");
    pod->name = xstrdup("p");
    pod->uid = xstrdup("u");
    pod->priority = -5;
    gang_amounts_add(&pod->requests, "cpu", 250);
    gang_kvs_add(&pod->labels, "k", "v");
    struct gang_event events[] = {
        {.kind = GANG_EV_FILTER, .id = 5, .pod = pod, .names = offered, .n_names = 5},
        {.kind = GANG_EV_TICK},
    };
    const uint32_t passed[] = {1, 2, 4};
    const uint8_t scores[] = {0, 10, 3};
    const struct gang_filter_refusal refused[] = {{0, "no"}, {3, "reserved"}};
    const struct gang_effect effects[] = {
        {.kind = GANG_REPLY_FILTER, .filter = {5, NULL, false, passed, 3, refused, 2}},
        {.kind = GANG_REPLY_PRIORITIZE, .prioritize = {6, scores, 3}},
        {.kind = GANG_REPLY_BIND, .bind_reply = {7, ""}},
        {.kind = GANG_NOMINATE, .pod = {"ml", "p", "u", NULL}},
    };
    struct record_names names = {.numbers = MAP_INIT};
    cleanup_buf struct buf b = BUF_INIT;
    assert_int_equal(record_put_events(&names, 42, events, 2, &b, NULL), 0);
    record_put_effects(effects, ARRAY_SIZE(effects), &b);
    assert_string_equal(
        buf_str(&b),
        "{\"now\":42,\"new\":[\"a\",\"b\",\"c\",\"z\"],\"events\":[{\"kind\":\"FILTER\",\"id\":5,"
        "\"pod\":{\"ns\":\"ml\",\"name\":\"p\",\"uid\":\"u\",\"priority\":-5,\"labels\":[\"k\","
        "\"v\"],\"requests\":[\"cpu\",250]},\"names\":\"0-3,1\"},"
        "{\"kind\":\"TICK\"}],\"effects\":[{\"do\":\"reply filter\",\"id\":5,\"passed\":\"1-2,4\","
        "\"refused\":[0,\"no\",3,\"reserved\"]},{\"do\":\"reply prioritize\",\"id\":6,\"scores\":"
        "\"0a3\"},{\"do\":\"reply bind\",\"id\":7,\"error\":\"\"},{\"do\":\"nominate\",\"ns\":"
        "\"ml\",\"name\":\"p\",\"uid\":\"u\"}]}\n");
    gang_event_done(&events[0]);
    record_names_done(&names);
}

/* ---- damaged lines ---- */

/* Replaces every value once, and removes it once. Each line is refused or accepted, without a
 * crash. */
static int damage(json_t *root, json_t *at)
{
    static const char *const others[] = {
        "null", "{}", "[]", "-7", "\"\"", "\"9-1,\"", "[1]", "9223372036854775807", "true", NULL};
    int refused = 0;
    void *it = json_object_iter(at);
    size_t n = json_is_object(at) ? json_object_size(at) : json_array_size(at);
    for (size_t i = 0; i < n; i++, it = json_object_iter_next(at, it)) {
        cleanup_free char *key = it ? xstrdup(json_object_iter_key(it)) : NULL;
        json_t *was = json_incref(key ? json_object_get(at, key) : json_array_get(at, i));
        for (const char *const *other = others; *other; other++) {
            json_t *with = json_loads(*other, JSON_DECODE_ANY, NULL);
            if (key)
                json_object_set_new(at, key, with);
            else
                json_array_set_new(at, i, with);
            struct record_names names = {.numbers = MAP_INIT};
            struct map pool = MAP_INIT;
            struct gang_event ev;
            struct err err = {.text = ""};
            if (decode_line(root, &names, &pool, &ev, &err) == 0) {
                done(&ev);
            } else {
                assert_string_not_equal(err.text, "");
                refused++;
            }
            record_names_done(&names);
            record_pool_done(&pool);
        }
        if (key)
            json_object_set(at, key, was);
        else
            json_array_set(at, i, was);
        if (json_is_object(was) || json_is_array(was))
            refused += damage(root, was);
        json_decref(was);
        it = key ? json_object_iter_at(at, key) : NULL;
    }
    return refused;
}

static void damaged_lines_are_refused_with_the_position(void **state)
{
    (void)state;
    static const enum gang_event_kind kinds[] = {
        GANG_EV_FILTER,     GANG_EV_GROUP_SET, GANG_EV_BIND,          GANG_EV_CLAIM_SET,
        GANG_EV_GROUP_GONE, GANG_EV_QUEUE_SET, GANG_EV_NAMESPACE_SET, GANG_EV_BUDGET_SET};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct gang_event ev;
        struct record_names names = {.numbers = MAP_INIT};
        fill_event(kinds[i], &ev);
        cleanup_free char *text = encode_event(&names, &ev);
        json_t *line = json_loads(text, 0, NULL);
        assert_true(damage(line, line) > 20);
        json_decref(line);
        gang_event_done(&ev);
        record_names_done(&names);
    }
}

static void old_recordings_have_no_time_of_the_api_server(void **state)
{
    (void)state;
    struct record_names names = {.numbers = MAP_INIT};
    struct map pool = MAP_INIT;
    struct gang_event ev;
    struct err err;
    json_t *line = json_loads("{\"events\":[{\"kind\":\"SYNCED\"}]}", 0, NULL);
    assert_int_equal(decode_line(line, &names, &pool, &ev, &err), 0);
    assert_int_equal(ev.kind, GANG_EV_SYNCED);
    assert_int_equal(ev.synced.api_time, 0);
    json_decref(line);
}

static const struct {
    const char *line, *error;
} refused_lines[] = {
    {"{\"events\":[{\"kind\":\"BOGUS\"}]}", "kind: this version does not know the event \"BOGUS\""},
    {"{\"events\":[{\"kind\":\"NODE_SET\"}]}", "NODE_SET: node is missing"},
    {"{\"events\":[{\"kind\":\"NODE_SET\",\"node\":{}}]}", "NODE_SET: node: name is missing"},
    {"{\"events\":[{\"kind\":\"NODE_SET\",\"node\":{\"name\":\"a\",\"colour\":1}}]}",
     "NODE_SET: node: \"colour\" is not a field of gang_node_facts"},
    {"{\"events\":[{\"kind\":\"NODE_SET\",\"node\":{\"name\":\"a\",\"allocatable\":[\"cpu\"]}}]}",
     "NODE_SET: node: allocatable: is not a list of complete rows"},
    {"{\"events\":[{\"kind\":\"POD_GONE\",\"gone\":{\"ns\":\"a\"}}]}",
     "POD_GONE: gone: a name is missing"},
    {"{\"events\":[{\"kind\":\"QUEUE_GONE\",\"gone\":{\"api_group\":\"a\",\"name\":\"q\"}}]}",
     "QUEUE_GONE: gone: a name is missing"},
    {"{\"events\":[{\"kind\":\"QUEUE_SET\",\"queue\":{\"uid\":\"u\"}}]}",
     "QUEUE_SET: queue: ref is missing"},
    {"{\"events\":[{\"kind\":\"NAMESPACE_SET\",\"namespace\":{\"queue\":\"q\"}}]}",
     "NAMESPACE_SET: namespace: name is missing"},
    {"{\"events\":[{\"kind\":\"FILTER\"}]}", "FILTER: id is missing"},
    {"{\"new\":[\"a\"],\"events\":[{\"kind\":\"FILTER\",\"id\":1,\"names\":\"0-1\"}]}",
     "FILTER: names is not a list of numbers of known names"},
    {"{\"new\":[\"a\",\"a\"],\"events\":[]}", "new[1] is not a new name"},
};

static void errors_name_what_is_wrong_in_a_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused_lines); i++) {
        struct record_names names = {.numbers = MAP_INIT};
        struct map pool = MAP_INIT;
        struct gang_event ev;
        struct err err;
        json_t *line = json_loads(refused_lines[i].line, 0, NULL);
        assert_non_null(line);
        assert_true(decode_line(line, &names, &pool, &ev, &err) < 0);
        assert_string_equal(err.text, refused_lines[i].error);
        json_decref(line);
        record_names_done(&names);
        record_pool_done(&pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_of_the_headers_is_in_the_tables),
        cmocka_unit_test(every_event_is_read_back_with_every_member),
        cmocka_unit_test(facts_with_another_member_are_not_equal),
        cmocka_unit_test(packed_facts_have_the_same_members),
        cmocka_unit_test(each_member_is_written_with_its_name),
        cmocka_unit_test(a_line_has_the_documented_form),
        cmocka_unit_test(damaged_lines_are_refused_with_the_position),
        cmocka_unit_test(old_recordings_have_no_time_of_the_api_server),
        cmocka_unit_test(errors_name_what_is_wrong_in_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
