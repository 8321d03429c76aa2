/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (!err)
        return -1;
    err->code = code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    utf8_clean(err->text);
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char context[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(context, sizeof context, fmt, ap);
    va_end(ap);
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    int n = snprintf(err->text, sizeof err->text, "%s: ", context);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof err->text ? (size_t)n : sizeof err->text - 1;
    size_t rest = strnlen(old, sizeof old - 1);
    if (rest > sizeof err->text - 1 - used)
        rest = sizeof err->text - 1 - used;
    memcpy(err->text + used, old, rest);
    err->text[used + rest] = '\0';
    utf8_clean(err->text);
    return -1;
}

int err_errno(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    if (!err)
        return -1;
    char context[sizeof err->text / 2];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(context, sizeof context, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_IO, "%s: %s", context, strerror(saved));
}

int err_at(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char path[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    struct err old = *err;
    return err_set(err, old.code, "%s.%.600s", path, old.text);
}
