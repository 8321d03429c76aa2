/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - a scanner that reads JSON without building a tree.
 *
 * A request with 5,000 complete nodes has 70 MB, and a tree of it would take 400 MB. muster needs
 * only the names, and where each node begins and ends. The caller asks for one value at a time:
 *
 *     struct json_scan s = json_scan_new(data, len);
 *     if (json_scan_object(&s))
 *         while (json_scan_key(&s, &key))
 *             if (str_eq(buf_str(&key), "x")) json_scan_string(&s, &value);
 *             else json_scan_skip(&s, NULL);
 *     json_scan_end(&s);
 *     if (s.error) …                      the error is at byte s.at
 *
 * After an error every call returns false, so the caller needs to check only once, at the end. The
 * scanner is strict (RFC 8259): UTF-8 only, no NUL in strings, no unpaired surrogates, nothing
 * after the value. It accepts numbers of any size. Apart from these, jansson accepts every text
 * that the scanner accepts. It bounds the depth and does not recurse. The scanner borrows
 * the bytes and keeps no state outside the struct. Any thread.
 */
#ifndef MUSTER_BASE_JSON_SCAN_H
#define MUSTER_BASE_JSON_SCAN_H

#include <stdint.h>

#include "base/buf.h"

#define JSON_SCAN_DEPTH 64

struct json_scan {
    const char *start, *p, *end;
    const char *error; /* constant text; NULL: no error so far */
    size_t at;         /* the byte of the error */
    int depth;
    char open[JSON_SCAN_DEPTH]; /* '{' or '[' for each level */
    bool first;                 /* nothing inside the innermost bracket has been read yet */
    size_t values;              /* values that json_scan_skip() has skipped, with nested ones */
};

/* A part of the input. */
struct json_span {
    size_t at, len;
};

struct json_scan json_scan_new(const char *data, size_t len);

/* The first byte of the next value: one of { [ " t f n - 0..9; 0: error. Consumes white space. */
char json_scan_peek(struct json_scan *s);
/* Enters an object or array. It is an error if the value is something else. */
bool json_scan_object(struct json_scan *s);
bool json_scan_array(struct json_scan *s);
/* Reads the next key into *key, unescaped, and stops at its value. key may be NULL. False: the
 * object ended. */
bool json_scan_key(struct json_scan *s, struct buf *key);
/* Goes to the next item of an array. False: the array ended. */
bool json_scan_item(struct json_scan *s);
/* Clears *out and reads a string into it, unescaped. */
bool json_scan_string(struct json_scan *s, struct buf *out);
/* Reads a string without copying it: *ret is its place. If *plain is false, it has escapes. */
bool json_scan_text(struct json_scan *s, struct json_span *ret, bool *plain);
bool json_scan_int(struct json_scan *s, int64_t *out);
/* Checks and skips a complete value. span may be NULL; otherwise it gets the value's place. */
bool json_scan_skip(struct json_scan *s, struct json_span *span);
/* Consumes null. False: another value comes, and nothing is consumed. */
bool json_scan_null(struct json_scan *s);
/* It is an error if anything but white space is left. */
bool json_scan_end(struct json_scan *s);
/* The UTF-16 code unit of an escape "\uXXXX" that begins at p; -1: no such escape. */
int json_code_unit(const char *p, const char *end);
/* Sets an error of the caller at the current place. Returns false. */
bool json_scan_fail(struct json_scan *s, const char *constant_text);

#endif
