/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_client.h - the commands' client of a running muster's ops listener. One thread, blocking.
 */
#ifndef MUSTER_CMD_OPS_CLIENT_H
#define MUSTER_CMD_OPS_CLIENT_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define OPS_CLIENT_DEFAULT_SERVER "127.0.0.1:9911"

/* Once, around all others. */
void ops_client_begin(void);
void ops_client_end(void);

/*
 * GET http://SERVER/PATH; the body goes to *body. SERVER is ADDR:PORT or http://ADDR:PORT. On
 * failure err holds what muster said, if it said something, with ERR_NOT_FOUND as code for a 404.
 */
int ops_client_get(const char *server, const char *path, struct buf *body, struct err *err);
/* As ops_client_get(), parsed. NULL on failure. */
json_t *ops_client_json(const char *server, const char *path, struct err *err);
/* All pages of a list, as one object: items of the array `key` are put together, the other members
 * are those of the first page, without "metadata". PATH may have a query. */
json_t *ops_client_list(const char *server, const char *path, const char *key, struct err *err);
/* On one line of stdout. */
void reply_print(const json_t *reply);
/* A part of a path or a query, escaped; allocated. */
char *ops_client_escape(const char *text);

/* Members of a reply; "" and 0 when they are not there. */
const char *reply_text(const json_t *o, const char *key);
int64_t reply_number(const json_t *o, const char *key);

/* Reads NAMESPACE/NAME; the results are allocated. */
int parse_gang_name(const char *text, char **ret_ns, char **ret_name, struct err *err);

#endif
