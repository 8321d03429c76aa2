/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/yaml_to_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"

/* The documents of `text` as compact JSON; the caller frees it. */
static char *to_json(const char *text)
{
    struct err err = {0};
    json_t *docs = yaml_parse("t.yaml", text, strlen(text), &err);
    if (!docs)
        fail_msg("%s", err.text);
    char *json = json_dumps(docs, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(docs);
    return json;
}

static void expect(const char *text, const char *json)
{
    char *got = to_json(text);
    assert_string_equal(got, json);
    free(got);
}

static void expect_error(const char *text, size_t len, const char *message)
{
    struct err err = {0};
    json_t *docs = yaml_parse("t.yaml", text, len, &err);
    if (docs)
        fail_msg("no error for: %s", text);
    if (strncmp(err.text, message, strlen(message)) != 0)
        assert_string_equal(err.text, message);
    assert_int_equal(err.code, ERR_INVALID);
}

static void plain_scalars_follow_the_core_schema(void **state)
{
    (void)state;
    expect("[~, null, Null, NULL, '']", "[[null,null,null,null,\"\"]]");
    expect("a:\nb: 1", "[{\"a\":null,\"b\":1}]");
    expect("[true, True, FALSE, yes, no, on, 'true']",
           "[[true,true,false,\"yes\",\"no\",\"on\",\"true\"]]");
    expect("[0, -7, +12, 0x1F, 0o17, 012, 0b1, 1_000]", "[[0,-7,12,31,15,12,\"0b1\",\"1_000\"]]");
    expect("[1.5, .5, 2., 1e3, -1E-2, 1.2.3, '.', 1e, e3]",
           "[[1.5,0.5,2.0,1000.0,-0.01,\"1.2.3\",\".\",\"1e\",\"e3\"]]");
    expect("[9223372036854775807, 9223372036854775808]",
           "[[9223372036854775807,9.2233720368547758e18]]");
    expect("[500m, 16Gi, 1:30, 2026-11-20, 10s, -, .inf]",
           "[[\"500m\",\"16Gi\",\"1:30\",\"2026-11-20\",\"10s\",\"-\",\".inf\"]]");
}

static void quoted_and_block_scalars_are_strings(void **state)
{
    (void)state;
    expect("a: \"2\"\nb: '3'\nc: |\n  x\n  y\nd: >-\n  x\n  y\n",
           "[{\"a\":\"2\",\"b\":\"3\",\"c\":\"x\\ny\\n\",\"d\":\"x y\"}]");
    expect("[!!str 5, ! 6, !!int 7, !!int \"8\", !!float 1.5, !!null '']",
           "[[\"5\",\"6\",7,8,1.5,null]]");
}

static void a_stream_has_many_documents(void **state)
{
    (void)state;
    expect("", "[]");
    expect("# nothing\n---\n---\n...\n", "[]");
    expect("---\na: 1\n---\n---\n# empty\n---\n- b\n", "[{\"a\":1},[\"b\"]]");
}

static void keys_become_strings(void **state)
{
    (void)state;
    expect("{1: a, true: b, 'c d': e, nvidia.com/gpu: 8}",
           "[{\"1\":\"a\",\"c d\":\"e\",\"nvidia.com/gpu\":8,\"true\":\"b\"}]");
}

static void an_alias_is_a_copy(void **state)
{
    (void)state;
    struct err err = {0};
    const char *text = "a: &x {n: [1]}\nb: *x\n";
    json_t *docs = yaml_parse("t.yaml", text, strlen(text), &err);
    assert_non_null(docs);
    json_t *doc = json_array_get(docs, 0);
    json_object_set_new(json_object_get(doc, "a"), "n", json_integer(2));
    assert_true(json_is_array(json_object_get(json_object_get(doc, "b"), "n")));
    json_decref(docs);
    /* An anchor may be defined again. It ends with its document. */
    expect("[&x 1, *x, &x 2, *x]", "[[1,1,2,2]]");
    expect_error("&x 1\n---\n*x\n", 11, "t.yaml:3: the alias *x has no anchor before it");
}

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3: the key \"a\" appears twice: remove one"},
        {"a: 1\n<<: {b: 2}\n", "t.yaml:2: merge keys (<<) are not supported"},
        {"a: !secret x\n", "t.yaml:1: the tag !secret is not supported"},
        {"a: 1\n? [x]\n: 2\n", "t.yaml:2: a key must be a plain word"},
        {"a: [1,\n  2\nb: 3\n", "t.yaml:3: while parsing a flow sequence"},
        {"a: 1\n\tb: 2\n", "t.yaml:2: "},
        {"a: \"x\\0y\"\n", "t.yaml:1: a string contains a NUL byte"},
        {"\"x\\0y\": 1\n", "t.yaml:1: a key contains a NUL byte"},
        {"a: *nowhere\n", "t.yaml:1: the alias *nowhere has no anchor before it"},
        {"a: &x [*x]\n", "t.yaml:1: the alias *x has no anchor before it"},
        {"a: 1e999\n", "t.yaml:1: the number 1e999 is too large"},
        {"a: \xff\n", "t.yaml:1: not valid UTF-8 text"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_error(cases[i].text, strlen(cases[i].text), cases[i].message);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    cleanup_buf struct buf b = BUF_INIT;
    for (int i = 0; i < 500; i++)
        buf_putc(&b, '[');
    expect_error(b.data, b.len, "t.yaml:1: nested deeper than 128 levels");
}

static void aliases_cannot_multiply_the_size_of_a_document(void **state)
{
    (void)state;
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&b, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            buf_printf(&b, "%s*a%d", j ? ", " : "", i - 1);
        buf_puts(&b, "]\n");
    }
    expect_error(b.data, b.len, "t.yaml:6: more than 1000000 values: too large");
}

/* Nor the length of one text or key. */
static void aliases_cannot_multiply_a_long_text(void **state)
{
    static const char *const heads[] = {"a: &a ", "? "};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        cleanup_buf struct buf b = BUF_INIT;
        buf_puts(&b, i ? "a: &a\n  " : "");
        buf_puts(&b, heads[i]);
        for (int k = 0; k < 100000; k++)
            buf_puts(&b, "0123456789");
        buf_puts(&b, i ? "\n  : x\nb: [" : "\nb: [");
        for (int k = 0; k < 1000; k++)
            buf_puts(&b, "*a, ");
        buf_puts(&b, "]\n");
        cleanup_free char *want =
            xasprintf("t.yaml:%d: more than 1000000 values: too large", i ? 4 : 2);
        expect_error(b.data, b.len, want);
    }
}

/* Each level is an alias of the previous one. */
static void aliases_cannot_exceed_the_depth_bound(void **state)
{
    (void)state;
    cleanup_buf struct buf b = BUF_INIT;
    buf_puts(&b, "a0: &a0 []\n");
    for (int i = 1; i < 200; i++)
        buf_printf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    expect_error(b.data, b.len, "t.yaml:128: nested deeper than 128 levels");
}

static void files_are_loaded(void **state)
{
    (void)state;
    char path[] = "/tmp/muster-yaml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: 1\n", 5), 5);
    close(fd);
    struct err err = {0};
    json_t *docs = yaml_load(path, &err);
    assert_non_null(docs);
    assert_int_equal(json_array_size(docs), 1);
    json_decref(docs);
    unlink(path);
    assert_null(yaml_load(path, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, path));
}

static void a_file_above_the_bound_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/muster-yaml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
    close(fd);
    struct err err = {0};
    assert_null(yaml_load(path, &err));
    assert_non_null(strstr(err.text, "larger than 16 MiB"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_scalars_follow_the_core_schema),
        cmocka_unit_test(quoted_and_block_scalars_are_strings),
        cmocka_unit_test(a_stream_has_many_documents),
        cmocka_unit_test(keys_become_strings),
        cmocka_unit_test(an_alias_is_a_copy),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(aliases_cannot_multiply_the_size_of_a_document),
        cmocka_unit_test(aliases_cannot_multiply_a_long_text),
        cmocka_unit_test(aliases_cannot_exceed_the_depth_bound),
        cmocka_unit_test(files_are_loaded),
        cmocka_unit_test(a_file_above_the_bound_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
