/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of an HTTP/2 connection (k8s/client/http2_session.h), with any bytes from the
 * server. Three requests are under way, and the third is dropped. The result does not depend on
 * where the bytes are cut, and no request ends twice.
 */
#include "k8s/client/http2_session.h"

#include <stdio.h>

#include "test/fuzz/fuzz.h"

#define REQUESTS 3
/* The bound for a reply. */
#define MOST_BODY 512

static struct asked {
    struct http2_stream stream; /* must be the first member */
    struct buf body;
    int ends;
    enum http2_end how;
} asked[REQUESTS];

static bool on_data(struct http2_stream *s, const char *data, size_t len)
{
    struct asked *a = (struct asked *)(void *)s;
    HOLDS(a->ends == 0, "data behind the end");
    buf_append(&a->body, data, len);
    return a->body.len <= MOST_BODY;
}

static void on_end(struct http2_stream *s, enum http2_end how)
{
    struct asked *a = (struct asked *)(void *)s;
    HOLDS(++a->ends == 1, "a request ends twice");
    a->how = how;
}

static const struct http2_hooks hooks = {on_data, on_end};

static void drain(struct http2_session *h)
{
    char out[1024];
    while (http2_session_output(h, out, sizeof out) > 0)
        ;
}

static void play(const char *data, size_t size, size_t most, struct buf *log)
{
    static const struct http2_header headers[] = {
        {":method", "POST"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/api/v1/pods"}};
    struct fuzz_dice dice = fuzz_dice((const uint8_t *)data, size);
    struct http2_session *h = http2_session_new(&hooks);
    for (size_t i = 0; i < REQUESTS; i++) {
        asked[i] = (struct asked){.body = BUF_INIT};
        HOLDS(http2_session_request(h, &asked[i].stream, headers, ARRAY_SIZE(headers),
                                    i ? "{}" : NULL) == 0,
              "a request is refused");
    }
    drain(h);
    http2_session_drop(h, &asked[2].stream);
    int r = 0;
    for (size_t at = 0, n; r == 0 && at < size; at += n) {
        n = most ? fuzz_roll(&dice, most) + 1 : size;
        n = n < size - at ? n : size - at;
        cleanup_free char *piece = xmalloc(n);
        memcpy(piece, data + at, n);
        r = http2_session_input(h, piece, n);
    }
    drain(h);
    /* The owner of a dead connection ends the remaining requests as broken. */
    bool dead = r < 0 || !http2_session_alive(h);
    buf_printf(log, "%s", dead ? "dead" : http2_session_open(h) ? "open" : "leaving");
    HOLDS(asked[2].ends == 0 && asked[2].body.len == 0, "a request that was dropped goes on");
    for (size_t i = 0; i < REQUESTS; i++) {
        struct asked *a = &asked[i];
        enum http2_end how = a->ends ? a->how : HTTP2_BROKEN;
        if (a->body.len <= MOST_BODY) /* otherwise the length depends on the pieces */
            buf_printf(log, ", %ld %zu %d %d", a->stream.status, a->body.len, a->ends || dead, how);
        HOLDS(a->stream.status >= 0 && a->stream.status <= 999, "no status of HTTP");
    }
    http2_session_free(h);
    for (size_t i = 0; i < REQUESTS; i++)
        buf_done(&asked[i].body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t cuts[] = {1, 40};
    cleanup_buf struct buf whole = BUF_INIT, cut = BUF_INIT;
    play((const char *)data, size, 0, &whole);
    for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
        buf_clear(&cut);
        play((const char *)data, size, cuts[i], &cut);
        HOLDS(str_eq(buf_str(&whole), buf_str(&cut)), "cut: %s, whole: %s", buf_str(&cut),
              buf_str(&whole));
    }
    return 0;
}
