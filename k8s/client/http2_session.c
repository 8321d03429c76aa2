/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/http2_session.h"

#include <nghttp2/nghttp2.h>

#include "base/must.h"

/* A window limits only the bytes in transit; the caller limits the size of a reply. */
#define STREAM_WINDOW     (1 << 20)
#define CONNECTION_WINDOW (16 << 20)
#define MAX_HEADERS       16

struct http2_session {
    nghttp2_session *session;
    const struct http2_hooks *hooks;
    const uint8_t *piece; /* memory of nghttp2: the bytes that did not fit into the last output */
    size_t piece_len;
};

/* ---- callbacks of nghttp2 ---- */

static struct http2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

/* Reports the end of a request once: nghttp2 may also close a stream that it could not send. */
static void end(const struct http2_session *h, struct http2_stream *s, enum http2_end how)
{
    nghttp2_session_set_stream_user_data(h->session, s->id, NULL);
    h->hooks->end(s, how);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *arg)
{
    (void)flags;
    (void)arg;
    struct http2_stream *s = stream_of(session, frame->hd.stream_id);
    if (!s || name_len != strlen(":status") || memcmp(name, ":status", name_len) != 0)
        return 0;
    s->status = 0; /* overwrites the status of an informational reply */
    for (size_t i = 0; i < value_len; i++)
        s->status = s->status * 10 + (value[i] - '0'); /* nghttp2 accepts only three digits */
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t len, void *arg)
{
    (void)flags;
    struct http2_session *h = arg;
    struct http2_stream *s = stream_of(session, id);
    if (s && !h->hooks->data(s, (const char *)data, len)) {
        http2_session_drop(h, s);
        h->hooks->end(s, HTTP2_BROKEN);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    (void)arg;
    bool content = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    struct http2_stream *s = content ? stream_of(session, frame->hd.stream_id) : NULL;
    if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        s->whole = true;
    return 0;
}

/* After GOAWAY, nghttp2 closes the streams that the server has not processed as refused. */
static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    const struct http2_session *h = arg;
    struct http2_stream *s = stream_of(session, id);
    if (!s)
        return 0;
    bool unseen = code == NGHTTP2_REFUSED_STREAM && !s->status;
    end(h, s, s->whole ? HTTP2_WHOLE : unseen ? HTTP2_UNSEEN : HTTP2_BROKEN);
    return 0;
}

/* The request was never sent. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error, void *arg)
{
    (void)error;
    const struct http2_session *h = arg;
    struct http2_stream *s =
        frame->hd.type == NGHTTP2_HEADERS ? stream_of(session, frame->hd.stream_id) : NULL;
    if (s)
        end(h, s, HTTP2_UNSEEN);
    return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *out, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)session;
    (void)id;
    (void)arg;
    struct http2_stream *s = source->ptr;
    size_t n = s->left < room ? s->left : room;
    memcpy(out, s->body, n);
    s->body += n;
    s->left -= n;
    if (s->left == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

/* ---- life ---- */

struct http2_session *http2_session_new(const struct http2_hooks *hooks)
{
    struct http2_session *h = xcalloc(1, sizeof *h);
    h->hooks = hooks;
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        abort(); /* out of memory, as in xmalloc */
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
    if (nghttp2_session_client_new(&h->session, callbacks, h) != 0)
        abort();
    nghttp2_session_callbacks_del(callbacks);
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    if (nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, ARRAY_SIZE(settings)) !=
            0 ||
        nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0,
                                              CONNECTION_WINDOW) != 0)
        abort();
    return h;
}

struct http2_session *http2_session_free(struct http2_session *h)
{
    if (h)
        nghttp2_session_del(h->session);
    free(h);
    return NULL;
}

bool http2_session_open(const struct http2_session *h)
{
    return nghttp2_session_check_request_allowed(h->session) != 0;
}

bool http2_session_alive(const struct http2_session *h)
{
    return nghttp2_session_want_read(h->session) || nghttp2_session_want_write(h->session);
}

/* ---- requests ---- */

static nghttp2_nv pair_of(const struct http2_header *header)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)header->name,
                        .value = (uint8_t *)(uintptr_t)header->value,
                        .namelen = strlen(header->name),
                        .valuelen = strlen(header->value),
                        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

int http2_session_request(struct http2_session *h, struct http2_stream *s,
                          const struct http2_header *headers, size_t n, const char *body)
{
    nghttp2_nv pairs[MAX_HEADERS];
    MUST(n <= ARRAY_SIZE(pairs));
    for (size_t i = 0; i < n; i++)
        pairs[i] = pair_of(&headers[i]);
    *s = (struct http2_stream){.body = body, .left = body ? strlen(body) : 0};
    nghttp2_data_provider provider = {.source.ptr = s, .read_callback = read_body};
    s->id = nghttp2_submit_request(h->session, NULL, pairs, n, body ? &provider : NULL, s);
    return s->id < 0 ? -1 : 0;
}

bool http2_session_unsent(const struct http2_session *h, const struct http2_stream *s)
{
    return nghttp2_session_find_stream(h->session, s->id) == NULL;
}

/* Nothing more of the request is sent, because nghttp2 sends RST_STREAM before data. */
void http2_session_drop(struct http2_session *h, struct http2_stream *s)
{
    nghttp2_session_set_stream_user_data(h->session, s->id, NULL);
    nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
}

/* ---- bytes ---- */

int http2_session_input(struct http2_session *h, const char *data, size_t len)
{
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)data, len);
    return n < 0 || (size_t)n < len ? -1 : 0;
}

size_t http2_session_output(struct http2_session *h, char *out, size_t room)
{
    size_t len = 0;
    while (len < room) {
        if (h->piece_len == 0) {
            ssize_t n = nghttp2_session_mem_send(h->session, &h->piece);
            if (n <= 0)
                break; /* after an error, http2_session_alive() returns false */
            h->piece_len = (size_t)n;
        }
        size_t n = h->piece_len < room - len ? h->piece_len : room - len;
        memcpy(out + len, h->piece, n);
        h->piece += n;
        h->piece_len -= n;
        len += n;
    }
    return len;
}
