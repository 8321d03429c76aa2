/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - structured log lines on stderr, as text or JSON.
 *
 *     log_info("Gang scheduled", "gang", "ml/ddp", "members", log_int(8), NULL);
 *     text: I1120 21:39:11.123456 Gang scheduled gang="ml/ddp" members="8"
 *     json: {"ts":1795210751.123456,"level":"info","msg":"Gang scheduled","gang":"ml/ddp",
 *            "members":"8"}
 *
 * After the message come pairs of key and value, and NULL at the end. Keys and values are strings.
 * Values are escaped, so that data from outside cannot forge a line. gang/ does not log: it returns
 * reasons. Any thread.
 */
#ifndef MUSTER_BASE_LOG_H
#define MUSTER_BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Call it before threads start. */
void log_setup(enum log_level level, enum log_format format);
enum log_level log_level(void);

void log_line(enum log_level level, const char *msg, ...) __attribute__((sentinel));

#define log_error(...)   log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
    do {                                                                                           \
        if (log_level() >= LOG_DEBUG)                                                              \
            log_line(LOG_DEBUG, __VA_ARGS__);                                                      \
    } while (0)

/* A number as text. It is valid until the end of the enclosing block. */
#define log_int(n) log_int_into((char[24]){0}, (int64_t)(n))
const char *log_int_into(char *buf, int64_t n);

#endif
