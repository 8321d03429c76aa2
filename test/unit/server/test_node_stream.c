/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender/node_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define POD    "{\"metadata\":{\"name\":\"p\",\"uid\":\"u-1\",\"labels\":{\"items\":\"[{\"}}}"
#define NODE_A "{\"metadata\": {\"labels\":{\"name\":\"x\"},\"name\":\"a\\u002d1\"}, \"spec\":{}}"
#define NODE_B                                                                                     \
    "{\"spec\":{\"metadata\":{\"name\":\"no\"}},\"metadata\":{\"name\":\"b\"},\"status\":{\"x\":"  \
    "[{\"y\":\"}]\\\"\"},[1]]}}"
#define SMALL_A "{\"metadata\":{\"name\":\"a-1\"}}"
#define SMALL_B "{\"metadata\":{\"name\":\"b\"}}"
#define HEAD    "{\"Pod\":" POD ",\"Nodes\":{\"metadata\":{},\"items\":["
#define TAIL    "]},\"NodeNames\":null}"

struct asked {
    enum node_keep keep;
    const char *one;
    int times;
    char *before;
};

static enum node_keep ask(void *arg, const struct buf *before, char one[NODE_STREAM_NAME + 1])
{
    struct asked *a = arg;
    a->times++;
    free(a->before);
    a->before = xstrdup(buf_str(before));
    strcpy(one, a->one);
    return a->keep;
}

/* The request in pieces of `piece` bytes, each a block of its own, so that a sanitizer sees the
 * first byte too many. */
static char *through(const char *in, size_t piece, struct asked *a, bool *small)
{
    struct buf out = BUF_INIT;
    struct node_stream s;
    node_stream_begin(&s, &out, ask, a);
    for (size_t at = 0, n = strlen(in); at < n; at += piece) {
        size_t len = n - at < piece ? n - at : piece;
        char *copy = xmalloc(len);
        memcpy(copy, in + at, len);
        node_stream_put(&s, copy, len);
        free(copy);
    }
    node_stream_end(&s);
    *small = s.small;
    return buf_steal(&out);
}

static const struct {
    const char *in;
    enum node_keep keep;
    const char *one, *out;
    int asked;
} cases[] = {
    {HEAD NODE_A "," NODE_B TAIL, NODE_KEEP_ALL, "", HEAD NODE_A "," NODE_B TAIL, 1},
    {HEAD NODE_A "," NODE_B TAIL, NODE_KEEP_ONE, "b", HEAD SMALL_A "," NODE_B TAIL, 1},
    {HEAD NODE_A " ,\n" NODE_B TAIL, NODE_KEEP_ONE, "a-1", HEAD NODE_A " ,\n" SMALL_B TAIL, 1},
    {HEAD NODE_A "," NODE_B TAIL, NODE_KEEP_ONE, "", HEAD SMALL_A "," SMALL_B TAIL, 1},
    {"{\"nodes\" : {\"ITEMS\" : [" NODE_B "]},\"pod\":" POD "}", NODE_KEEP_ONE, "",
     "{\"nodes\" : {\"ITEMS\" : [" SMALL_B "]},\"pod\":" POD "}", 1},
    /* No nodes, and what only looks like them. */
    {"{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[\"a\",\"Nodes\"]}", NODE_KEEP_ONE, "",
     "{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[\"a\",\"Nodes\"]}", 0},
    {"{\"Pod\":{\"Nodes\":{\"items\":[" NODE_B "]}}}", NODE_KEEP_ONE, "",
     "{\"Pod\":{\"Nodes\":{\"items\":[" NODE_B "]}}}", 0},
    {"[\"Nodes\",{\"items\":[" NODE_B "]}]", NODE_KEEP_ONE, "",
     "[\"Nodes\",{\"items\":[" NODE_B "]}]", 0},
    /* What is no node goes through; whoever parses it says what is wrong. */
    {HEAD "{\"metadata\":{}}," NODE_B TAIL, NODE_KEEP_ONE, "",
     HEAD "{\"metadata\":{}}," SMALL_B TAIL, 1},
    {HEAD "{\"metadata\":{\"name\":\"\\ud800\"}}" TAIL, NODE_KEEP_ONE, "",
     HEAD "{\"metadata\":{\"name\":\"\\ud800\"}}" TAIL, 1},
    {HEAD "{\"metadata\":{\"name\":\"b\"},}" TAIL, NODE_KEEP_ONE, "",
     HEAD "{\"metadata\":{\"name\":\"b\"},}" TAIL, 1},
    {HEAD "7,\"{\",[" NODE_B "]" TAIL, NODE_KEEP_ONE, "x", NULL, 1},
    {"}}]]{{[[\"", NODE_KEEP_ONE, "", "}}]]{{[[\"", 0},
};

static void pieces_of_any_size_give_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t n = strlen(cases[i].in);
        cleanup_free char *first = NULL;
        for (size_t piece = n; piece > 0; piece--) {
            struct asked a = {.keep = cases[i].keep, .one = cases[i].one};
            bool small;
            cleanup_free char *out = through(cases[i].in, piece, &a, &small);
            if (cases[i].out) {
                assert_string_equal(out, cases[i].out);
                assert_int_equal(small, strcmp(out, cases[i].in) != 0);
            }
            if (!first)
                first = xstrdup(out);
            assert_string_equal(out, first);
            assert_int_equal(a.times, cases[i].asked);
            free(a.before);
        }
    }
}

static void what_stands_before_is_there_when_it_asks(void **state)
{
    (void)state;
    struct asked a = {.keep = NODE_KEEP_ALL, .one = ""};
    bool small;
    const size_t pieces[] = {7, strlen(cases[0].in)};
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        cleanup_free char *out = through(cases[0].in, pieces[i], &a, &small);
        assert_non_null(strstr(a.before, POD));
        assert_null(strstr(a.before, "spec"));
        free(STEAL(a.before));
    }
}

static void a_request_that_is_cut_off_loses_nothing(void **state)
{
    (void)state;
    const char *in = cases[0].in;
    for (size_t n = 0; n < strlen(in); n++) {
        struct asked a = {.keep = NODE_KEEP_ALL, .one = ""};
        bool small;
        cleanup_free char *cut = xstrndup(in, n), *out = through(cut, 11, &a, &small);
        assert_string_equal(out, cut);
        free(a.before);
    }
}

static void P05_of_many_nodes_one_is_in_memory(void **state)
{
    (void)state;
    struct asked a = {.keep = NODE_KEEP_ONE, .one = "b"};
    struct buf out = BUF_INIT;
    struct node_stream s;
    cleanup_buf struct buf node = BUF_INIT;
    buf_puts(&node, "{\"metadata\":{\"name\":\"n\"},\"status\":{\"images\":\"");
    for (int i = 0; i < 1000; i++)
        buf_puts(&node, "0123456789");
    buf_puts(&node, "\"}},");
    node_stream_begin(&s, &out, ask, &a);
    node_stream_put(&s, HEAD, strlen(HEAD));
    for (int i = 0; i < 5000; i++)
        node_stream_put(&s, node.data, node.len);
    node_stream_put(&s, NODE_B TAIL, strlen(NODE_B TAIL));
    assert_true(s.node.cap < 4 * node.len);
    node_stream_end(&s);
    assert_true(out.cap < (size_t)1 << 20); /* of 50 MB */
    assert_non_null(strstr(buf_str(&out), NODE_B));
    buf_done(&out);
    free(a.before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(what_stands_before_is_there_when_it_asks),
        cmocka_unit_test(a_request_that_is_cut_off_loses_nothing),
        cmocka_unit_test(P05_of_many_nodes_one_is_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
