/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster explain: asks a running muster about one gang.
 */
#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/explain_text.h"
#include "cmd/ops_client.h"

struct target {
    const char *name; /* NS/GANG */
    const char *server;
    bool json;
};

static int show(const struct target *r, struct err *err)
{
    cleanup_free char *ns = NULL, *name = NULL;
    cleanup_buf struct buf out = BUF_INIT;
    if (parse_gang_name(r->name, &ns, &name, err) < 0)
        return -1;
    cleanup_free char *ns_part = ops_client_escape(ns), *name_part = ops_client_escape(name);
    cleanup_free char *path = xasprintf("/api/v1/gangs/%s/%s", ns_part, name_part);
    json_t *gang = ops_client_list(r->server, path, "pods", err);
    if (!gang)
        return -1;
    if (r->json)
        reply_print(gang);
    else
        explain_text(gang, &out);
    fputs(buf_str(&out), stdout);
    json_decref(gang);
    return 0;
}

static int parse(int argc, char **argv, struct target *r)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"server", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    opterr = 0;
    optind = 1;
    for (int opt; (opt = getopt_long(argc, argv, ":o:h", options, NULL)) != -1;) {
        if (opt == 'o') {
            r->json = str_eq(optarg, "json");
            if (!r->json && !str_eq(optarg, "text"))
                return cmd_usage_error(argv[0], "-o %s: write text or json", optarg);
        } else if (opt == 's') {
            r->server = optarg;
        } else if (opt == 'h') {
            return CMD_HELP;
        } else {
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    if (optind + 1 != argc)
        return cmd_usage_error(argv[0], "name one gang, as NAMESPACE/NAME");
    r->name = argv[optind];
    return CMD_OK;
}

int cmd_explain(int argc, char **argv)
{
    struct target r = {.server = OPS_CLIENT_DEFAULT_SERVER};
    int status = parse(argc, argv, &r);
    if (status != CMD_OK)
        return status;
    struct err err;
    ops_client_begin();
    if (show(&r, &err) < 0) {
        fprintf(stderr, "muster explain: %s\n", err.text);
        status = CMD_FAILED;
    }
    ops_client_end();
    return status;
}
