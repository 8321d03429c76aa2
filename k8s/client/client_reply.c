/* SPDX-License-Identifier: Apache-2.0 */
/* Parses replies and escapes paths. All functions are pure. */
#include <time.h>

#include "base/json_repair.h"
#include "k8s/client/client_internal.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_protobuf.h"

void client_make_readable(struct buf *body)
{
    if (!body->len)
        return;
    if (!kube_protobuf_is(body->data, body->len)) {
        json_repair(body->data, body->len);
        return;
    }
    cleanup_free char *status = kube_protobuf_status_text(body->data, body->len);
    if (status) {
        buf_clear(body);
        buf_puts(body, status);
    }
}

void client_escape(struct buf *b, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
            *p == '-' || *p == '_' || *p == '.')
            buf_putc(b, (char)*p);
        else
            buf_printf(b, "%%%02X", *p);
}

/* Source: RFC 9110, IMF-fixdate. */
usec_t client_parse_date(const char *text)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return end && !*end ? (usec_t)timegm(&tm) * USEC_PER_SEC : 0;
}

static enum err_code code_of(long status)
{
    switch (status) {
    case 401:
    case 403:
        return ERR_FORBIDDEN;
    case 404:
    case 410:
        return ERR_NOT_FOUND;
    case 409:
        return ERR_CONFLICT;
    default:
        return status == 0 || status == 429 || status >= 500 ? ERR_UNAVAILABLE : ERR_INVALID;
    }
}

/* Source: k8s.io/apiserver forbiddenMessage(): 'User "u" cannot create resource "pods" ...'. */
bool client_reply_unauthorized(const struct client_reply *r)
{
    if (r->error || r->status != 403)
        return false;
    cleanup_json json_t *status = json_loadb(r->body, r->len, 0, NULL);
    const char *message = field_peek(status, "message", NULL);
    const char *user = message ? strstr(message, "User \"") : NULL;
    return !message || (user && strstr(user, "\" cannot "));
}

bool client_reply_is(const struct client_reply *r, const char *reason)
{
    cleanup_json json_t *status = r->error ? NULL : json_loadb(r->body, r->len, 0, NULL);
    return str_eq(field_peek(status, "reason", NULL), reason);
}

int client_reply_error(const struct client_reply *r, struct err *err)
{
    if (r->error)
        return err_set(err, ERR_UNAVAILABLE, "%s", r->error);
    cleanup_json json_t *status = json_loadb(r->body, r->len, 0, NULL);
    const char *message = field_peek(status, "message", NULL);
    if (message)
        return err_set(err, code_of(r->status), "%s", message);
    return err_set(err, code_of(r->status), "HTTP status %ld: %.*s", r->status,
                   (int)(r->len < 200 ? r->len : 200), r->body);
}
