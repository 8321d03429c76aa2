/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check_manifests.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/gang_text.h"
#include "cmd/ops_client.h"
#include "gang/effect.h"
#include "server/routes/ops_routes.h"

#define NODES_SHOWN 16

struct question {
    struct buf text; /* of all files */
    const char *ns;  /* NULL: default */
    const char *server;
    bool json;
};

/* ---- the files ---- */

static int read_stream(FILE *f, const char *name, struct buf *out, struct err *err)
{
    char chunk[16384];
    errno = 0;
    for (size_t n; out->len <= OPS_BODY_LIMIT && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(out, chunk, n);
    if (ferror(f))
        return err_errno(err, "%s cannot be read", name);
    if (out->len > OPS_BODY_LIMIT)
        return err_set(err, ERR_INVALID,
                       "%s: more than %zu KiB of manifests, the most that muster checks at a time",
                       name, OPS_BODY_LIMIT >> 10);
    return 0;
}

/* Several files are documents of one stream. */
static int add_file(struct question *q, const char *path, struct err *err)
{
    if (q->text.len)
        buf_puts(&q->text, "\n---\n");
    if (str_eq(path, "-"))
        return read_stream(stdin, "standard input", &q->text, err);
    FILE *f = fopen(path, "re");
    if (!f)
        return err_errno(err, "%s cannot be opened", path);
    int r = read_stream(f, path, &q->text, err);
    fclose(f);
    return r;
}

/* ---- one gang ---- */

/* "Job ml/train", or "gang ml/train" if the PodGroup is in the manifests. */
static void put_title(struct buf *out, const json_t *gang)
{
    const json_t *workload = json_object_get(gang, "workload");
    buf_printf(out, "%s %s/%s", workload ? reply_text(workload, "kind") : "gang",
               reply_text(gang, "namespace"),
               workload ? reply_text(workload, "name") : reply_text(gang, "name"));
}

/* Whether an object of the gang is wrong, so that waiting does not help. */
static bool is_invalid(const json_t *gang)
{
    const char *code = reply_text(json_object_get(gang, "reason"), "code");
    return str_eq(code, gang_reason_name(REASON_GROUP_INVALID)) ||
           str_eq(code, gang_reason_name(REASON_MEMBER_INVALID));
}

static void put_head(struct buf *out, const json_t *gang)
{
    const json_t *fits = json_object_get(gang, "fits");
    const char *text = bare_reason(gang, reply_text(json_object_get(gang, "reason"), "text"));
    int64_t needed = reply_number(gang, "needed");
    put_title(out, gang);
    if (json_is_true(fits))
        buf_printf(
            out, " fits now: %" PRId64 " of %" PRId64 " pod%s get a node, %" PRId64 " %s needed\n",
            reply_number(gang, "placed"), reply_number(gang, "members"),
            reply_number(gang, "members") == 1 ? "" : "s", needed, needed == 1 ? "is" : "are");
    else if (json_is_false(fits))
        buf_printf(out, " %s: %s\n", is_invalid(gang) ? "is invalid" : "does not fit now", text);
    else
        buf_puts(out, " was not tried, because this would take too long\n");
}

static void put_nodes(struct buf *out, const json_t *gang)
{
    const json_t *nodes = json_object_get(gang, "nodes");
    size_t n = json_array_size(nodes), shown = n > NODES_SHOWN ? NODES_SHOWN : n;
    for (size_t i = 0; i < shown; i++) {
        const json_t *node = json_array_get(nodes, i);
        buf_printf(out, "%s%s (%" PRId64 ")", i ? ", " : "nodes       ", reply_text(node, "name"),
                   reply_number(node, "members"));
    }
    if (n > shown)
        buf_printf(out, " and %zu more", n - shown);
    if (n)
        buf_putc(out, '\n');
}

/* For a PodGroup that muster creates, an annotation of the workload sets the minimum. */
static void put_smaller(struct buf *out, const json_t *gang)
{
    const json_t *workload = json_object_get(gang, "workload");
    int64_t smaller = reply_number(gang, "smallerMinimum");
    if (!smaller)
        return;
    buf_printf(out, "would fit   with a minimum of %" PRId64 " member%s", smaller,
               smaller == 1 ? "" : "s");
    if (workload)
        buf_printf(out, " (annotation muster.dev/min-member: \"%" PRId64 "\")", smaller);
    buf_putc(out, '\n');
}

static void put_queues(struct buf *out, const json_t *gang)
{
    const json_t *queues = json_object_get(gang, "otherQueues");
    size_t n = json_array_size(queues);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s",
                   i == 0       ? "would fit   in queue "
                   : i + 1 == n ? " or "
                                : ", ",
                   json_string_value(json_array_get(queues, i)));
    if (n)
        buf_putc(out, '\n');
}

static void put_after(struct buf *out, const json_t *gang)
{
    size_t i;
    json_t *other;
    json_array_foreach(json_object_get(gang, "after"), i, other)
        buf_printf(out, "would fit   after %s %s/%s%s\n", reply_text(other, "kind"),
                   reply_text(other, "namespace"), reply_text(other, "name"),
                   json_is_true(json_object_get(other, "planned")) ? ", which is planned" : "");
}

static void put_place(struct buf *out, const json_t *gang)
{
    const json_t *queue = json_object_get(gang, "queue");
    int64_t position = reply_number(gang, "position");
    if (!queue && !position)
        return;
    buf_puts(out, queue ? "queue       " : "in order    ");
    put_queue_place(out, position, queue ? reply_text(queue, "name") : NULL,
                    json_object_get(gang, "ahead"));
    buf_putc(out, '\n');
}

static void put_gang(struct buf *out, const json_t *gang)
{
    const char *hint = reply_text(gang, "hint");
    const json_t *workload = json_object_get(gang, "workload");
    put_head(out, gang);
    put_nodes(out, gang);
    if (*hint)
        buf_printf(out, "would help  %s\n", hint);
    put_smaller(out, gang);
    put_queues(out, gang);
    put_after(out, gang);
    put_more_nodes(out, "would fit   ", gang);
    put_evictions(out, "would fit   ", "evictions   ", gang);
    put_place(out, gang);
    if (json_is_true(json_object_get(workload, "singlePods")))
        buf_puts(out, "note        these pods are in no gang: each starts by itself\n");
}

/* ---- the reply ---- */

static void put_reply(struct buf *out, const json_t *reply)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(reply, "gangs"), i, item)
    {
        buf_puts(out, i ? "\n" : "");
        put_gang(out, item);
    }
    json_array_foreach(json_object_get(reply, "faults"), i, item)
        buf_printf(out, "error: %s\n", json_string_value(item));
    json_array_foreach(json_object_get(reply, "ignored"), i, item)
        buf_printf(out, "%s%s", i ? ", " : "not checked: ", json_string_value(item));
    if (json_array_size(json_object_get(reply, "ignored")))
        buf_putc(out, '\n');
}

static int exit_code(const json_t *reply)
{
    size_t i;
    json_t *gang;
    json_array_foreach(json_object_get(reply, "gangs"), i, gang)
    {
        if (is_invalid(gang))
            return CMD_FAILED;
    }
    return json_array_size(json_object_get(reply, "faults")) ? CMD_FAILED
           : json_is_true(json_object_get(reply, "fits"))    ? CMD_OK
                                                             : CMD_NOT_NOW;
}

static int show(const struct question *q, int *ret_status, struct err *err)
{
    cleanup_buf struct buf out = BUF_INIT;
    cleanup_free char *ns = ops_client_escape(q->ns ? q->ns : "");
    cleanup_free char *path = xasprintf("/api/v1/check?namespace=%s", ns);
    json_t *reply = ops_client_post(q->server, path, &q->text, err);
    if (!reply)
        return -1;
    *ret_status = exit_code(reply);
    if (q->json)
        reply_print(reply);
    else
        put_reply(&out, reply);
    fputs(buf_str(&out), stdout);
    json_decref(reply);
    return 0;
}

/* ---- the command line ---- */

bool is_check_of_manifests(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-f", 2) == 0 || strncmp(argv[i], "--filename", 10) == 0)
            return true;
    return false;
}

static int parse(int argc, char **argv, struct question *q, struct err *err)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'}, {"namespace", required_argument, NULL, 'n'},
        {"output", required_argument, NULL, 'o'},   {"server", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    opterr = 0;
    optind = 1;
    for (int opt; (opt = getopt_long(argc, argv, ":f:n:o:h", options, NULL)) != -1;) {
        if (opt == 'f') {
            if (add_file(q, optarg, err) < 0)
                return CMD_FAILED;
        } else if (opt == 'n') {
            q->ns = optarg;
        } else if (opt == 'o') {
            q->json = str_eq(optarg, "json");
            if (!q->json && !str_eq(optarg, "text"))
                return cmd_usage_error(argv[0], "-o %s: write text or json", optarg);
        } else if (opt == 's') {
            q->server = optarg;
        } else if (opt == 'h') {
            return CMD_HELP;
        } else {
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    return optind < argc
               ? cmd_usage_error(argv[0], "unexpected argument \"%s\": write -f before each file",
                                 argv[optind])
               : CMD_OK;
}

int check_manifests(int argc, char **argv)
{
    struct question q = {.text = BUF_INIT, .server = OPS_CLIENT_DEFAULT_SERVER};
    struct err err = {.code = ERR_NONE};
    int status = parse(argc, argv, &q, &err);
    if (status == CMD_OK) {
        ops_client_begin();
        if (show(&q, &status, &err) < 0)
            status = CMD_FAILED;
        ops_client_end();
    }
    if (err.code)
        fprintf(stderr, "muster check: %s\n", err.text);
    buf_done(&q.text);
    return status;
}
