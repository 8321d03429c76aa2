/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_put.h - members of JSON objects, written into a buffer. Each puts a comma before itself
 * unless it is the first behind an opening brace. Stateless.
 */
#ifndef MUSTER_SERVER_HTTP_JSON_PUT_H
#define MUSTER_SERVER_HTTP_JSON_PUT_H

#include "base/buf.h"
#include "base/usec.h"

/* NULL is written as null. */
void json_put_text(struct buf *out, const char *key, const char *value);
void json_put_number(struct buf *out, const char *key, int64_t value);
void json_put_flag(struct buf *out, const char *key, bool value);
/* "2026-11-21T00:37:46Z" */
void json_put_moment(struct buf *out, const char *key, usec_t wall);
/* The key and its colon, before a value that is written otherwise. */
void json_put_key(struct buf *out, const char *key);
/* A comma between the elements of a list. */
void json_put_comma(struct buf *out);

#endif
