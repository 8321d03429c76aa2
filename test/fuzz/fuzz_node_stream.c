/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests with whole nodes in pieces (server/extender/node_stream.h): the same comes out however
 * they are cut, and the request means the same as before: the same names in the same order, or the
 * same refusal. The node to be kept goes through byte for byte.
 */
#include "server/extender/node_stream.h"

#include "base/json_mend.h"
#include "server/extender/extender.h"
#include "test/fuzz/fuzz.h"

struct asked {
    enum node_keep keep;
    const char *one;
    int times;
};

static enum node_keep ask(void *arg, const struct buf *before, char one[NODE_STREAM_NAME + 1])
{
    struct asked *a = arg;
    struct extender_args pod = {0};
    extender_peek_pod(buf_str(before), before->len, &pod);
    extender_args_done(&pod);
    strcpy(one, a->one);
    a->times++;
    return a->keep;
}

static bool stream(const char *data, size_t size, size_t most, struct asked *a, struct buf *out)
{
    struct fuzz_dice dice = fuzz_dice((const uint8_t *)data, size);
    struct node_stream s;
    node_stream_begin(&s, out, ask, a);
    for (size_t at = 0, n; at < size; at += n) {
        n = most ? fuzz_roll(&dice, most) + 1 : size;
        n = n < size - at ? n : size - at;
        cleanup_free char *piece = xmalloc(n); /* so that a byte too far is seen */
        memcpy(piece, data + at, n);
        node_stream_put(&s, piece, n);
    }
    node_stream_end(&s);
    node_stream_drop(&s);
    return s.small;
}

struct meaning {
    bool good;
    struct buf names;
};

static struct meaning read_request(const char *data, size_t size)
{
    struct meaning m = {.names = BUF_INIT};
    struct extender_args args = {0};
    struct err err;
    cleanup_free char *body = fuzz_text((const uint8_t *)data, size);
    json_mend_nul(body, size);
    m.good = extender_parse(EXTENDER_FILTER, body, size, &args, &err) == 0;
    if (m.good)
        for (size_t i = 0; i < args.n_names; i++)
            buf_append(&m.names, args.names[i], strlen(args.names[i]) + 1);
    else
        fuzz_check_error(&err);
    extender_args_done(&args);
    return m;
}

static void check(const char *data, size_t size, enum node_keep keep, const char *one)
{
    cleanup_buf struct buf whole = BUF_INIT, cut = BUF_INIT;
    struct asked a = {keep, one, 0}, b = {keep, one, 0};
    bool small = stream(data, size, 0, &a, &whole);
    HOLDS(stream(data, size, 7, &b, &cut) == small, "small by where it is cut");
    HOLDS(a.times == b.times, "asked %d and %d times", a.times, b.times);
    HOLDS(whole.len == cut.len && memcmp(buf_str(&whole), buf_str(&cut), whole.len) == 0,
          "another request by where it is cut: %s\nand %s", buf_str(&whole), buf_str(&cut));
    HOLDS(small || (whole.len == size && memcmp(buf_str(&whole), data, size) == 0),
          "changed, and nothing was made small");
    struct meaning before = read_request(data, size), after = read_request(whole.data, whole.len);
    HOLDS(before.good == after.good, "one of both is read: %.*s\nand %s", (int)size, data,
          buf_str(&whole));
    if (before.good)
        HOLDS(before.names.len == after.names.len &&
                  memcmp(buf_str(&before.names), buf_str(&after.names), before.names.len) == 0,
              "other names");
    buf_done(&before.names);
    buf_done(&after.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    check(text, size, NODE_KEEP_ALL, "");
    check(text, size, NODE_KEEP_ONE, "");
    check(text, size, NODE_KEEP_ONE, "n0");
    return 0;
}
