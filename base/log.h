/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line per fact, on stderr, as text or JSON.
 *
 *     log_info("gang scheduled", "gang", "ml/ddp", "members", log_int(8), NULL);
 *     text: I1120 21:39:11.123456 gang scheduled gang="ml/ddp" members="8"
 *     json: {"ts":1.7e9,"level":"info","msg":"gang scheduled","gang":"ml/ddp","members":"8"}
 *
 * A message is followed by pairs of strings and a closing NULL. Values are escaped: what comes from
 * outside cannot forge a line. Only server/ and k8s/ log; gang/ returns reasons. Safe from every
 * thread.
 */
#ifndef MUSTER_BASE_LOG_H
#define MUSTER_BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Before threads start. */
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

/* A number as text, valid until the end of the enclosing block. */
#define log_int(n) log_int_into((char[24]){0}, (int64_t)(n))
const char *log_int_into(char *buf, int64_t n);

#endif
