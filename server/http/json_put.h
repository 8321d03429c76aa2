/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_put.h - writes members of JSON objects into a buffer. Each function writes a comma first,
 * unless the member is the first after an opening bracket. Stateless; any thread.
 */
#ifndef MUSTER_SERVER_HTTP_JSON_PUT_H
#define MUSTER_SERVER_HTTP_JSON_PUT_H

#include "base/buf.h"
#include "base/usec.h"

/* Writes null for NULL. */
void json_put_text(struct buf *out, const char *key, const char *value);
void json_put_number(struct buf *out, const char *key, int64_t value);
void json_put_flag(struct buf *out, const char *key, bool value);
/* Writes a time, such as "2026-11-21T00:37:46Z". */
void json_put_moment(struct buf *out, const char *key, usec_t wall);
/* Writes the key and a colon. The caller writes the value. */
void json_put_key(struct buf *out, const char *key);
/* Writes a comma, unless the last byte is an opening bracket. For the elements of a list. */
void json_put_comma(struct buf *out);
/* The same, and the opening bracket of an element that is an object. */
void json_put_object(struct buf *out);

#endif
