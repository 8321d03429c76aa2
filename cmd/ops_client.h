/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_client.h - an HTTP client for the ops port of a running muster. Blocking; one thread.
 */
#ifndef MUSTER_CMD_OPS_CLIENT_H
#define MUSTER_CMD_OPS_CLIENT_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define OPS_CLIENT_DEFAULT_SERVER "127.0.0.1:9911"

/* Called once, before and after all other functions. */
void ops_client_begin(void);
void ops_client_end(void);

/*
 * Sends GET http://SERVER/PATH and appends the body to *body. SERVER is ADDR:PORT or
 * http://ADDR:PORT. On failure, err has muster's own error message if there is one; the code is
 * ERR_NOT_FOUND for a 404.
 */
int ops_client_get(const char *server, const char *path, struct buf *body, struct err *err);
/* The same, parsed. The caller owns the reply. NULL on failure. */
json_t *ops_client_json(const char *server, const char *path, struct err *err);
/* The same for a POST of the text; NULL: a GET. */
json_t *ops_client_post(const char *server, const char *path, const struct buf *sent,
                        struct err *err);
/* Reads all pages of a list and joins the items of the array `key`. The other members are those of
 * the first page, without "metadata". PATH may have a query. */
json_t *ops_client_list(const char *server, const char *path, const char *key, struct err *err);
/* Prints the reply to stdout, as one line. */
void reply_print(const json_t *reply);
/* Escapes a part of a path or a query; the caller frees the result. */
char *ops_client_escape(const char *text);

/* A member of a reply. "" or 0 if it is missing. */
const char *reply_text(const json_t *o, const char *key);
int64_t reply_number(const json_t *o, const char *key);

/* Splits NAMESPACE/NAME; the caller frees both parts. */
int parse_gang_name(const char *text, char **ret_ns, char **ret_name, struct err *err);

#endif
