/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - errors as values.
 *
 * A function that can fail takes `struct err *err` last and returns 0 (or a pointer), and a
 * negative number (or NULL) on failure, with *err filled. The caller owns the struct; it needs no
 * freeing. On success *err is untouched. Add context on the way up with err_wrap():
 *
 *     if (file_read(path, &text, err) < 0)
 *         return err_wrap(err, "kubeconfig %s", path);
 *
 * The text is one line of UTF-8 without control characters, whatever it quotes.
 *
 * Library code does not log; whoever handles the error logs it, once.
 */
#ifndef MUSTER_BASE_ERR_H
#define MUSTER_BASE_ERR_H

#include "base/mem.h"

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID, /* input is wrong; the text says where and what to do */
    ERR_NOT_FOUND,
    ERR_CONFLICT,
    ERR_FORBIDDEN,
    ERR_UNAVAILABLE, /* peer not reachable, timed out, or 5xx: trying again may help */
    ERR_IO,
    ERR_UNSUPPORTED,
    ERR_INTERNAL,
};

struct err {
    enum err_code code;
    char text[768];
};

/* Fills *err (may be NULL) and returns -1. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "context: " before the text, keeps the code, and returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts a path before the key that the text begins with: "spec" makes "minMember is …"
 * "spec.minMember is …". Keeps the code, and returns -1. */
int err_at(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* err_set with ": strerror(errno)" behind the text and ERR_IO as code. */
int err_errno(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
