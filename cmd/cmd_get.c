/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster get: prints what the ops port of a running muster serves, as tables or JSON.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"
#include "cmd/cmd.h"
#include "cmd/human_readable.h"
#include "cmd/ops_client.h"
#include "cmd/queue_table.h"
#include "cmd/table.h"

struct request {
    const char *what;   /* gangs, nodes, queues, events */
    const char *name;   /* NS/NAME of one gang; NULL: all */
    const char *ns;     /* NULL: all */
    const char *output; /* "", "wide", "json" */
    const char *server;
};

static int make_path(const struct request *r, char **ret, struct err *err)
{
    cleanup_free char *ns = NULL, *name = NULL;
    if (r->name && parse_gang_name(r->name, &ns, &name, err) < 0)
        return -1;
    cleanup_free char *ns_part = ops_client_escape(ns ? ns : r->ns ? r->ns : "");
    cleanup_free char *name_part = ops_client_escape(name ? name : "");
    if (!r->name)
        *ret = xasprintf("/api/v1/%s%s%s", r->what, r->ns ? "?namespace=" : "", ns_part);
    else if (str_eq(r->what, "events"))
        *ret = xasprintf("/api/v1/events?gang=%s/%s", ns_part, name_part);
    else
        *ret = xasprintf("/api/v1/gangs/%s/%s", ns_part, name_part);
    return 0;
}

/* ---- tables ---- */

static void add_age(struct table *t, const char *since)
{
    cleanup_buf struct buf b = BUF_INIT;
    format_age(&b, since);
    table_add(t, buf_str(&b));
}

static void add_heads(struct table *t, const char *const *heads, size_t n)
{
    t->columns = n;
    for (size_t i = 0; i < n; i++)
        table_add(t, heads[i]);
}

static void gang_row(const json_t *gang, bool wide, struct table *t)
{
    const json_t *reason = json_object_get(gang, "reason");
    table_add(t, reply_text(gang, "namespace"));
    table_add(t, reply_text(gang, "name"));
    table_add(t, reply_text(gang, "state"));
    table_addf(t, "%" PRId64, reply_number(gang, "bound"));
    table_addf(t, "%" PRId64, reply_number(gang, "needed"));
    table_addf(t, "%" PRId64, reply_number(gang, "members"));
    add_age(t, reply_text(gang, "since"));
    table_add(t, reply_text(reason, "code"));
    if (!wide)
        return;
    table_addf(t, "%" PRId64, reply_number(gang, "planned"));
    table_addf(t, "%" PRId64, reply_number(gang, "held"));
    table_addf(t, "%" PRId64, reply_number(gang, "priority"));
    table_add(t, reply_text(gang, "apiGroup"));
    table_add(t, reply_text(reason, "text"));
}

static void gangs_table(const json_t *reply, bool wide, struct table *t)
{
    static const char *const heads[] = {"NAMESPACE", "NAME",  "STATE",  "BOUND",   "NEEDED",
                                        "MEMBERS",   "SINCE", "REASON", "PLANNED", "HELD",
                                        "PRIORITY",  "GROUP", "TEXT"};
    const json_t *gangs = json_object_get(reply, "gangs");
    size_t i;
    json_t *gang;
    add_heads(t, heads, wide ? ARRAY_SIZE(heads) : 8);
    if (!gangs)
        gang_row(reply, wide, t); /* the reply is one gang */
    json_array_foreach(gangs, i, gang) gang_row(gang, wide, t);
}

static void events_table(const json_t *reply, bool wide, struct table *t)
{
    static const char *const heads[] = {"AGE", "GANG", "WHAT", "REASON", "TEXT", "TIME", "GROUP"};
    size_t i;
    json_t *e;
    add_heads(t, heads, wide ? ARRAY_SIZE(heads) : 5);
    json_array_foreach(json_object_get(reply, "events"), i, e)
    {
        const char *to = reply_text(e, "to");
        add_age(t, reply_text(e, "time"));
        table_addf(t, "%s/%s", reply_text(e, "namespace"), reply_text(e, "name"));
        table_add(t, *to ? to : reply_text(e, "kind"));
        table_add(t, reply_text(e, "reason"));
        table_add(t, reply_text(e, "text"));
        if (!wide)
            continue;
        table_add(t, reply_text(e, "time"));
        table_add(t, reply_text(e, "apiGroup"));
    }
}

/* A device has a domain in its name. The other resources are only in the wide output. */
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
        quantity_format(&b, name, reply_number(r, "used"));
        buf_putc(&b, '/');
        quantity_format(&b, name, reply_number(r, "allocatable"));
        if (reply_number(r, "reserved")) {
            buf_puts(&b, "(+");
            quantity_format(&b, name, reply_number(r, "reserved"));
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
        table_add(t, reply_text(node, "name"));
        table_add(t, cordoned ? "Cordoned" : "Ok");
        table_addf(t, "%" PRId64, reply_number(node, "pods"));
        table_addf(t, "%" PRId64, reply_number(node, "slots"));
        add_resources(t, json_object_get(node, "resources"), true);
        if (wide)
            add_resources(t, json_object_get(node, "resources"), false);
    }
}

static const struct kind {
    const char *name;
    void (*table)(const json_t *reply, bool wide, struct table *t);
} kinds[] = {{"gangs", gangs_table},
             {"nodes", nodes_table},
             {"queues", queue_table},
             {"events", events_table}};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (str_eq(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static void print_table(const struct request *r, const json_t *reply)
{
    cleanup_buf struct buf text = BUF_INIT;
    struct table t = {0};
    kind_named(r->what)->table(reply, str_eq(r->output, "wide"), &t);
    table_write(&t, &text);
    if (t.n == t.columns)
        printf("No %s found.\n", r->what);
    else
        fputs(buf_str(&text), stdout);
    table_done(&t);
}

static int show(const struct request *r, struct err *err)
{
    cleanup_free char *path = NULL;
    if (make_path(r, &path, err) < 0)
        return -1;
    bool one = r->name && str_eq(r->what, "gangs");
    json_t *reply = ops_client_list(r->server, path, one ? "pods" : r->what, err);
    if (!reply)
        return -1;
    if (str_eq(r->output, "json"))
        reply_print(reply);
    else
        print_table(r, reply);
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
            return CMD_HELP;
        default:
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    r->what = optind < argc ? argv[optind] : NULL;
    r->name = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (!r->what || !kind_named(r->what) || optind + 2 < argc)
        return cmd_usage_error(argv[0], "name what to show: gangs, nodes, queues or events");
    if (r->name && (str_eq(r->what, "nodes") || str_eq(r->what, "queues")))
        return cmd_usage_error(argv[0], "unexpected argument \"%s\": \"get %s\" shows all %s",
                               r->name, r->what, r->what);
    if (!str_eq(r->output, "") && !str_eq(r->output, "wide") && !str_eq(r->output, "json"))
        return cmd_usage_error(argv[0], "-o %s: write wide or json", r->output);
    return CMD_OK;
}

int cmd_get(int argc, char **argv)
{
    struct request r = {.output = "", .server = OPS_CLIENT_DEFAULT_SERVER};
    int status = parse(argc, argv, &r);
    if (status != CMD_OK)
        return status;
    struct err err;
    ops_client_begin();
    if (show(&r, &err) < 0) {
        fprintf(stderr, "muster get: %s\n", err.text);
        status = CMD_FAILED;
    }
    ops_client_end();
    return status;
}
