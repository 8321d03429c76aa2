/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fake_http.h"

#include <ctype.h>
#include <stdio.h>

#include "base/json_repair.h"

static struct fake_request *fake_of(const struct http_request *r)
{
    return (struct fake_request *)(uintptr_t)r;
}

struct fake_request *fake_request_new(const struct http_route *route, const char *path)
{
    struct fake_request *f = xcalloc(1, sizeof *f);
    size_t n = strcspn(path, "?");
    f->path = xstrndup(path, n);
    f->query = path[n] ? xstrdup(path + n + 1) : NULL;
    f->r.route = route;
    f->r.path = f->path;
    f->r.started = usec_now();
    return f;
}

void fake_request_body(struct fake_request *f, const char *data, size_t size)
{
    buf_append(&f->r.body, data, size);
    f->r.bytes = size;
    f->r.whole = nsec_now();
    buf_append(&f->sent, data, size);
    json_repair_nul(f->sent.data, f->sent.len);
}

void fake_request_free(struct fake_request *f)
{
    HOLDS(f->status, "a request without an answer");
    HOLDS(f->deferred == f->gone, "deferred and not resumed, or the other way round");
    if (f->r.user && f->r.free_user)
        f->r.free_user(f->r.user);
    buf_done(&f->sent);
    buf_done(&f->r.body);
    buf_done(&f->r.reply);
    free(f->path);
    free(f->query);
    for (size_t i = 0; i < f->n_values; i++)
        free(f->values[i]);
    free(f);
}

/* ---- replaces server/http/http.c ---- */

static char *unescaped(const char *text, size_t n)
{
    char *out = xmalloc(n + 1), *to = out;
    for (size_t i = 0; i < n; i++) {
        char hex[3] = {0};
        if (text[i] == '%' && i + 2 < n && isxdigit((unsigned char)text[i + 1]) &&
            isxdigit((unsigned char)text[i + 2])) {
            memcpy(hex, text + i + 1, 2);
            *to++ = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            *to++ = text[i] == '+' ? ' ' : text[i];
        }
    }
    *to = '\0';
    return out;
}

const char *http_query(const struct http_request *r, const char *key)
{
    struct fake_request *f = fake_of(r);
    size_t len = strlen(key);
    for (const char *p = f->query; p && *p; p += strcspn(p, "&"), p += *p == '&') {
        size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
        if (name != len || strncmp(p, key, len) != 0)
            continue;
        HOLDS(f->n_values < ARRAY_SIZE(f->values), "more parameters than anybody looks at");
        char *value = name < n ? unescaped(p + name + 1, n - name - 1) : xstrdup("");
        return f->values[f->n_values++] = value;
    }
    return NULL;
}

const char *http_peer(const struct http_request *r, char out[HTTP_PEER])
{
    (void)r;
    snprintf(out, HTTP_PEER, "127.0.0.1:41000");
    return out;
}

void http_reply_in_place(struct http_request *r)
{
    struct buf body = r->body;
    r->body = r->reply;
    r->reply = body;
    r->in_place = true;
}

void http_answer(struct http_request *r, int status, const char *content_type)
{
    struct fake_request *f = fake_of(r);
    HOLDS(f->status == 0, "answered twice");
    HOLDS(status >= 200 && status < 600 && *content_type, "no answer of HTTP");
    f->status = status;
}

bool http_defer(struct http_request *r)
{
    struct fake_request *f = fake_of(r);
    HOLDS(!f->deferred && !f->status, "deferred twice, or after its answer");
    f->deferred = true;
    return true;
}

void http_resume(struct http_request *r)
{
    struct fake_request *f = fake_of(r);
    HOLDS(f->deferred && !f->gone && f->status, "resumed twice, or before its answer");
    f->gone = true;
}

size_t http_waiting(const struct http_request *r)
{
    (void)r;
    return 0;
}

bool http_is_full(const struct http_request *r)
{
    (void)r;
    return false;
}

int http_socket(const struct http_request *r)
{
    (void)r;
    return -1; /* its peer never disconnects */
}

void http_stats(struct http *h, struct http_stats *ret)
{
    (void)h;
    *ret = (struct http_stats){0};
}
