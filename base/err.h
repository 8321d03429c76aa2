/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - errors as values.
 *
 * A function that can fail takes `struct err *err` as its last parameter. On success it returns 0
 * (or a pointer) and does not touch *err. On failure it returns a negative number (or NULL) and
 * fills *err. The caller owns the struct, which needs no freeing. Callers add context with
 * err_wrap():
 *
 *     if (file_read(path, &text, err) < 0)
 *         return err_wrap(err, "kubeconfig %s", path);
 *
 * The text is always one line of UTF-8 without control characters, even if it quotes other data.
 *
 * Library code does not log. The code that handles the error logs it, once.
 */
#ifndef MUSTER_BASE_ERR_H
#define MUSTER_BASE_ERR_H

#include "base/mem.h"

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID, /* wrong input; the text names the place and the remedy */
    ERR_NOT_FOUND,
    ERR_CONFLICT,
    ERR_FORBIDDEN,
    ERR_UNAVAILABLE, /* peer unreachable, timeout, or status 5xx: a retry may help */
    ERR_IO,
    ERR_UNSUPPORTED,
    ERR_INTERNAL,
};

struct err {
    enum err_code code;
    char text[768];
};

/* Fills *err, which may be NULL, and returns -1. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Prepends "context: " to the text, keeps the code, and returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Prepends a path to the key at the start of the text: with "spec", "minMember is …" becomes
 * "spec.minMember is …". Keeps the code, and returns -1. */
int err_at(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Like err_set() with code ERR_IO, and appends ": " and strerror(errno) to the text. */
int err_errno(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
