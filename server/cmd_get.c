/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running muster shows on its ops listener, as tables.
 */
#include <curl/curl.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/quantity.h"
#include "base/usec.h"
#include "server/cmd.h"
#include "server/table.h"

#define DEFAULT_SERVER "127.0.0.1:9911"
#define MAX_REPLY      (256 << 20)

struct request {
    const char *what;   /* gangs, nodes */
    const char *ns;     /* NULL: all */
    const char *output; /* "", "wide", "json" */
    const char *server;
};

/* ---- asking ---- */

static size_t receive(char *data, size_t one, size_t n, void *arg)
{
    struct buf *body = arg;
    if (body->len + n > MAX_REPLY)
        return 0;
    buf_append(body, data, one * n);
    return n;
}

static char *make_url(const struct request *r, CURL *curl)
{
    char *ns = r->ns ? curl_easy_escape(curl, r->ns, 0) : NULL;
    char *url = xasprintf("http://%s/api/v1/%s%s%s", r->server, r->what, ns ? "?namespace=" : "",
                          ns ? ns : "");
    curl_free(ns);
    return url;
}

static int fetch(const struct request *r, struct buf *body, struct err *err)
{
    CURL *curl = curl_easy_init();
    if (!curl)
        abort(); /* out of memory, as in base/mem.h */
    cleanup_free char *url = make_url(r, curl);
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK)
        return err_set(err, ERR_UNAVAILABLE,
                       "%s: %s; is muster running, and is --server its opsListen?", url,
                       curl_easy_strerror(code));
    if (status != 200)
        return err_set(err, ERR_UNAVAILABLE, "%s: HTTP %ld: %.300s", url, status, buf_str(body));
    return 0;
}

/* ---- tables ---- */

static const char *str(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static int64_t num(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* "45s", "12m", "3h", "5d" */
static void add_age(struct table *t, const char *since)
{
    struct tm tm = {0};
    if (!strptime(since, "%Y-%m-%dT%H:%M:%SZ", &tm)) {
        table_add(t, "<unknown>");
        return;
    }
    int64_t s = (int64_t)(usec_wall() / USEC_PER_SEC) - (int64_t)timegm(&tm);
    if (s < 0)
        s = 0;
    if (s < 120)
        table_addf(t, "%" PRId64 "s", s);
    else if (s < 120 * 60)
        table_addf(t, "%" PRId64 "m", s / 60);
    else if (s < 48 * 3600)
        table_addf(t, "%" PRId64 "h", s / 3600);
    else
        table_addf(t, "%" PRId64 "d", s / 86400);
}

static void add_heads(struct table *t, const char *const *heads, size_t n)
{
    t->columns = n;
    for (size_t i = 0; i < n; i++)
        table_add(t, heads[i]);
}

static void gangs_table(const json_t *reply, bool wide, struct table *t)
{
    static const char *const heads[] = {"NAMESPACE", "NAME",  "STATE",  "BOUND",   "NEEDED",
                                        "MEMBERS",   "SINCE", "REASON", "PLANNED", "HELD",
                                        "PRIORITY",  "GROUP", "TEXT"};
    size_t i;
    json_t *gang;
    add_heads(t, heads, wide ? ARRAY_SIZE(heads) : 8);
    json_array_foreach(json_object_get(reply, "gangs"), i, gang)
    {
        const json_t *reason = json_object_get(gang, "reason");
        table_add(t, str(gang, "namespace"));
        table_add(t, str(gang, "name"));
        table_add(t, str(gang, "state"));
        table_addf(t, "%" PRId64, num(gang, "bound"));
        table_addf(t, "%" PRId64, num(gang, "needed"));
        table_addf(t, "%" PRId64, num(gang, "members"));
        add_age(t, str(gang, "since"));
        table_add(t, str(reason, "code"));
        if (!wide)
            continue;
        table_addf(t, "%" PRId64, num(gang, "planned"));
        table_addf(t, "%" PRId64, num(gang, "held"));
        table_addf(t, "%" PRId64, num(gang, "priority"));
        table_add(t, str(gang, "group"));
        table_add(t, str(reason, "text"));
    }
}

/* As people write them: cpu in cores, memory in Gi. */
static void put_amount(struct buf *b, const char *resource, int64_t amount)
{
    if (str_eq(resource, "cpu"))
        quantity_format_milli(b, amount);
    else if (str_eq(resource, "memory") || str_eq(resource, "ephemeral-storage"))
        quantity_format_bytes(b, amount);
    else
        buf_printf(b, "%" PRId64, amount);
}

/* Resources with a domain are devices; the others are wide. */
static void add_resources(struct table *t, const json_t *resources, bool devices)
{
    cleanup_buf struct buf b = BUF_INIT;
    const char *name;
    json_t *r;
    json_object_foreach((json_t *)(uintptr_t)resources, name, r)
    {
        if ((strchr(name, '/') != NULL) != devices)
            continue;
        buf_printf(&b, "%s%s=", b.len ? "," : "", name);
        put_amount(&b, name, num(r, "used"));
        buf_putc(&b, '/');
        put_amount(&b, name, num(r, "allocatable"));
        if (num(r, "reserved")) {
            buf_puts(&b, "(+");
            put_amount(&b, name, num(r, "reserved"));
            buf_putc(&b, ')');
        }
    }
    table_add(t, b.len ? buf_str(&b) : "<none>");
}

static void nodes_table(const json_t *reply, bool wide, struct table *t)
{
    static const char *const heads[] = {"NAME", "STATUS", "PODS", "SLOTS", "DEVICES", "OTHER"};
    size_t i;
    json_t *node;
    add_heads(t, heads, wide ? ARRAY_SIZE(heads) : 5);
    json_array_foreach(json_object_get(reply, "nodes"), i, node)
    {
        bool cordoned = json_is_true(json_object_get(node, "unschedulable"));
        table_add(t, str(node, "name"));
        table_add(t, cordoned ? "Cordoned" : "Ok");
        table_addf(t, "%" PRId64, num(node, "pods"));
        table_addf(t, "%" PRId64, num(node, "slots"));
        add_resources(t, json_object_get(node, "resources"), true);
        if (wide)
            add_resources(t, json_object_get(node, "resources"), false);
    }
}

static int show(const struct request *r, struct err *err)
{
    cleanup_buf struct buf body = BUF_INIT, text = BUF_INIT;
    if (fetch(r, &body, err) < 0)
        return -1;
    if (str_eq(r->output, "json")) {
        fputs(buf_str(&body), stdout);
        return 0;
    }
    json_error_t e;
    json_t *reply = json_loadb(buf_str(&body), body.len, 0, &e);
    if (!reply)
        return err_set(err, ERR_INVALID, "%s is no muster: its reply is no JSON: %s", r->server,
                       e.text);
    struct table t = {0};
    bool wide = str_eq(r->output, "wide");
    if (str_eq(r->what, "gangs"))
        gangs_table(reply, wide, &t);
    else
        nodes_table(reply, wide, &t);
    table_write(&t, &text);
    if (t.n == t.columns)
        printf("No %s found.\n", r->what);
    else
        fputs(buf_str(&text), stdout);
    table_done(&t);
    json_decref(reply);
    return 0;
}

/* ---- the command line ---- */

static int parse(int argc, char **argv, struct request *r)
{
    static const struct option options[] = {{"namespace", required_argument, NULL, 'n'},
                                            {"all-namespaces", no_argument, NULL, 'A'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"server", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int opt;
    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":n:Ao:h", options, NULL)) != -1) {
        switch (opt) {
        case 'n':
            r->ns = optarg;
            break;
        case 'A':
            r->ns = NULL;
            break;
        case 'o':
            r->output = optarg;
            break;
        case 's':
            r->server = optarg;
            break;
        case 'h':
            cmd_help(argv[0]);
            return -1;
        default:
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    if (optind + 1 != argc || (!str_eq(argv[optind], "gangs") && !str_eq(argv[optind], "nodes")))
        return cmd_usage_error(argv[0], "say what to show: gangs or nodes");
    if (!str_eq(r->output, "") && !str_eq(r->output, "wide") && !str_eq(r->output, "json"))
        return cmd_usage_error(argv[0], "-o %s: write wide or json", r->output);
    r->what = argv[optind];
    return CMD_OK;
}

int cmd_get(int argc, char **argv)
{
    struct request r = {.output = "", .server = DEFAULT_SERVER};
    int status = parse(argc, argv, &r);
    if (status != CMD_OK)
        return status < 0 ? CMD_OK : status;
    struct err err;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (show(&r, &err) < 0) {
        fprintf(stderr, "muster get: %s\n", err.text);
        status = CMD_FAILED;
    }
    curl_global_cleanup();
    return status;
}
