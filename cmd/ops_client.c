/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/ops_client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>

#define MAX_REPLY (256 << 20)

void ops_client_begin(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void ops_client_end(void)
{
    curl_global_cleanup();
}

static size_t receive(char *data, size_t one, size_t n, void *arg)
{
    struct buf *body = arg;
    if (body->len + n > MAX_REPLY)
        return 0;
    buf_append(body, data, one * n);
    return n;
}

/* muster sends its error message as "error" of a JSON object. */
static int refusal(const char *url, long status, const struct buf *body, struct err *err)
{
    json_t *reply = json_loadb(buf_str(body), body->len, 0, NULL);
    const char *why = json_string_value(json_object_get(reply, "error"));
    enum err_code code = status == 404 ? ERR_NOT_FOUND : ERR_UNAVAILABLE;
    if (why)
        err_set(err, code, "%s", why);
    else
        err_set(err, code, "%s: HTTP %ld: %.300s", url, status, buf_str(body));
    json_decref(reply);
    return -1;
}

/* ADDR:PORT from the value of --server, which may be a URL; the caller frees it. */
static char *address_of(const char *server, struct err *err)
{
    static const char scheme[] = "http://";
    bool url = strncasecmp(server, scheme, sizeof scheme - 1) == 0;
    const char *address = url ? server + sizeof scheme - 1 : server;
    size_t n = strcspn(address, "/?#@");
    if (strncasecmp(server, "https://", 8) == 0)
        err_set(err, ERR_INVALID,
                "--server %s: muster does not serve TLS: write http://ADDR:PORT or ADDR:PORT",
                server);
    else if (n == 0 || (address[n] && !str_eq(address + n, "/")))
        err_set(err, ERR_INVALID,
                "--server %s is not an address: write http://ADDR:PORT or ADDR:PORT, such "
                "as " OPS_CLIENT_DEFAULT_SERVER,
                server);
    else
        return xstrndup(address, n);
    return NULL;
}

/* Sends a POST with the body `sent`, or a GET if that is NULL. */
static int request(const char *server, const char *path, const struct buf *sent, struct buf *body,
                   struct err *err)
{
    cleanup_free char *address = address_of(server, err);
    if (!address)
        return -1;
    CURL *curl = curl_easy_init();
    if (!curl)
        abort(); /* out of memory, as in base/mem.h */
    cleanup_free char *url = xasprintf("http://%s%s", address, path);
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    if (sent) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sent->len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, buf_str(sent));
    }
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK)
        return err_set(err, ERR_UNAVAILABLE,
                       "%s: %s: check that muster is running, and that --server is its opsListen",
                       url, curl_easy_strerror(code));
    return status == 200 ? 0 : refusal(url, status, body, err);
}

int ops_client_get(const char *server, const char *path, struct buf *body, struct err *err)
{
    return request(server, path, NULL, body, err);
}

json_t *ops_client_post(const char *server, const char *path, const struct buf *sent,
                        struct err *err)
{
    cleanup_buf struct buf body = BUF_INIT;
    json_error_t e;
    if (request(server, path, sent, &body, err) < 0)
        return NULL;
    json_t *reply = json_loadb(buf_str(&body), body.len, 0, &e);
    if (!reply)
        err_set(err, ERR_INVALID,
                "the reply of %s is not valid JSON: %s: check that --server is muster's opsListen",
                server, e.text);
    return reply;
}

json_t *ops_client_json(const char *server, const char *path, struct err *err)
{
    return ops_client_post(server, path, /* sent= */ NULL, err);
}

/* The token for the next page; the caller frees it. NULL: this was the last page. */
static char *continue_of(const json_t *page)
{
    const char *token = reply_text(json_object_get(page, "metadata"), "continue");
    return *token ? ops_client_escape(token) : NULL;
}

json_t *ops_client_list(const char *server, const char *path, const char *key, struct err *err)
{
    json_t *all = ops_client_json(server, path, err);
    cleanup_free char *token = all ? continue_of(all) : NULL;
    while (token) {
        cleanup_free char *next =
            xasprintf("%s%ccontinue=%s", path, strchr(path, '?') ? '&' : '?', token);
        json_t *page = ops_client_json(server, next, err);
        free(token);
        token = page ? continue_of(page) : NULL;
        if (page)
            json_array_extend(json_object_get(all, key), json_object_get(page, key));
        else
            json_decref(STEAL(all));
        json_decref(page);
    }
    if (all)
        json_object_del(all, "metadata");
    return all;
}

void reply_print(const json_t *reply)
{
    json_dumpf(reply, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    putchar('\n');
}

char *ops_client_escape(const char *text)
{
    char *escaped = curl_easy_escape(NULL, text, 0);
    char *own = xstrdup(escaped ? escaped : "");
    curl_free(escaped);
    return own;
}

const char *reply_text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

int64_t reply_number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

int parse_gang_name(const char *text, char **ret_ns, char **ret_name, struct err *err)
{
    const char *slash = strchr(text, '/');
    if (!slash || slash == text || !slash[1] || strchr(slash + 1, '/'))
        return err_set(err, ERR_INVALID,
                       "\"%s\" is not the name of a gang: write NAMESPACE/NAME, such as ml/train",
                       text);
    *ret_ns = xstrndup(text, (size_t)(slash - text));
    *ret_name = xstrdup(slash + 1);
    return 0;
}
