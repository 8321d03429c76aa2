/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - walking over JSON bytes without building a tree.
 *
 * A request with 5,000 whole nodes is 70 MB and would become a 400 MB tree; all that is wanted of
 * it are names and where each node begins and ends. The scanner pulls:
 *
 *     struct json_scan s = json_scan_new(data, len);
 *     if (json_scan_object(&s))
 *         while (json_scan_key(&s, &key))
 *             if (str_eq(buf_str(&key), "x")) json_scan_string(&s, &value);
 *             else json_scan_skip(&s, NULL);
 *     json_scan_end(&s);
 *     if (s.error) …                      what is wrong, at byte s.at
 *
 * After an error every call returns false, so it need be looked at only once, at the end. Strict
 * (RFC 8259): UTF-8 only, no NUL in strings, no lone surrogates, nothing behind the value; what
 * it accepts jansson accepts (but for numbers out of range). Depth is bounded; nothing recurses.
 * Pure, any thread; the bytes are borrowed.
 */
#ifndef MUSTER_BASE_JSON_SCAN_H
#define MUSTER_BASE_JSON_SCAN_H

#include <stdint.h>

#include "base/buf.h"

#define JSON_SCAN_DEPTH 64

struct json_scan {
    const char *start, *p, *end;
    const char *error; /* NULL: none so far; constant text */
    size_t at;         /* of the error */
    int depth;
    char open[JSON_SCAN_DEPTH]; /* '{' or '[' per level */
    bool first;                 /* nothing was read inside the innermost bracket yet */
    size_t values;              /* that json_scan_skip() has passed over, inner ones too */
};

/* A piece of the input. */
struct json_span {
    size_t at, len;
};

struct json_scan json_scan_new(const char *data, size_t len);

/* The first byte of the next value: one of { [ " t f n - 0..9; 0 on error. Nothing is consumed. */
char json_scan_peek(struct json_scan *s);
/* Enters an object or array; an error when the value is something else. */
bool json_scan_object(struct json_scan *s);
bool json_scan_array(struct json_scan *s);
/* Reads the next key (unescaped, into *key) up to its value; false when the object ended. */
bool json_scan_key(struct json_scan *s, struct buf *key);
/* Goes to the next item of an array; false when it ended. */
bool json_scan_item(struct json_scan *s);
/* Reads a string, unescaped, into *out (cleared first). */
bool json_scan_string(struct json_scan *s, struct buf *out);
/* The same without a copy: where the string's bytes are, still escaped if *plain is false. */
bool json_scan_text(struct json_scan *s, struct json_span *ret, bool *plain);
/* Reads an integer. */
bool json_scan_int(struct json_scan *s, int64_t *out);
/* Passes over a whole value and checks it; its extent goes to *span unless NULL. */
bool json_scan_skip(struct json_scan *s, struct json_span *span);
/* Consumes null; false (and nothing consumed) when something else comes. */
bool json_scan_null(struct json_scan *s);
/* Nothing but white space may be left. */
bool json_scan_end(struct json_scan *s);
/* The UTF-16 code unit of an escape "\uXXXX" that begins at p; -1 when none begins there. */
int json_code_unit(const char *p, const char *end);
/* Notes an error of the caller's at the current place; returns false. */
bool json_scan_fail(struct json_scan *s, const char *constant_text);

#endif
