/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every fuzz target uses.
 *
 * A target is one file with LLVMFuzzerTestOneInput(): it takes any bytes, gives them to one part of
 * muster, and checks with HOLDS() what must be true of the outcome. libFuzzer calls it in the
 * preset `fuzz`; everywhere else run_corpus.c gives it the files of the corpus.
 *
 * A target needs no thread, no network and no clock: fuzz.c stands in for base/usec.c and
 * base/log.c at link time. The time is fuzz_time, which a target may move.
 */
#ifndef MUSTER_TEST_FUZZ_H
#define MUSTER_TEST_FUZZ_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with a sentence when the condition is false. */
#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)
void fuzz_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4)
    __attribute__((noreturn));

/* The clock, monotonic and wall; begins anew with fuzz_begin(). */
extern usec_t fuzz_time;
void fuzz_begin(void);

/* Numbers that depend on the input alone: the same bytes give the same sequence. */
struct fuzz_dice {
    uint64_t state;
};
struct fuzz_dice fuzz_dice(const uint8_t *data, size_t size);
/* 0 to n - 1. */
size_t fuzz_roll(struct fuzz_dice *d, size_t n);

/* A copy with a NUL behind it. */
char *fuzz_text(const uint8_t *data, size_t size);
/* The path of a file in memory that holds these bytes, until the next call for the same one of
 * FUZZ_FILES. */
#define FUZZ_FILES 2
const char *fuzz_file(int which, const void *data, size_t size);

/* An error says something, and what it says is one line without control characters. */
void fuzz_check_error(const struct err *err);
/* The bytes are JSON; the tree is the caller's. */
json_t *fuzz_json(const char *what, const char *data, size_t len);

static inline void fuzz_decref(json_t **json)
{
    json_decref(*json);
}
#define cleanup_tree __attribute__((cleanup(fuzz_decref)))

#endif
