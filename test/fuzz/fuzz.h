/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every fuzz target uses.
 *
 * A target is one file with LLVMFuzzerTestOneInput(): it takes any bytes, gives them to one part of
 * muster, and checks with HOLDS() what must be true of the result. In the preset `fuzz`, libFuzzer
 * calls it; in all other presets, run_corpus.c gives it the files of the corpus.
 *
 * A target needs no threads, network or clock: fuzz.c replaces base/usec.c and base/log.c at link
 * time. The time is fuzz_time, which a target may change.
 */
#ifndef MUSTER_TEST_FUZZ_H
#define MUSTER_TEST_FUZZ_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/usec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with a message if the condition is false. */
#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
    } while (0)
void fuzz_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4)
    __attribute__((noreturn));

/* The clock, monotonic and wall; fuzz_begin() resets it. */
extern usec_t fuzz_time;
void fuzz_begin(void);

/* Numbers that depend only on the input: the same bytes give the same sequence. */
struct fuzz_dice {
    uint64_t state;
};
struct fuzz_dice fuzz_dice(const uint8_t *data, size_t size);
/* 0 to n - 1. */
size_t fuzz_roll(struct fuzz_dice *d, size_t n);

/* A copy with a NUL at the end. */
char *fuzz_text(const uint8_t *data, size_t size);
/* The path of a file in memory with these bytes. It is valid until the next call for the same one
 * of FUZZ_FILES. */
#define FUZZ_FILES 2
const char *fuzz_file(int which, const void *data, size_t size);

/* Checks that an error has a text of one line without control characters. */
void fuzz_check_error(const struct err *err);
/* Parses JSON; the caller owns the tree. */
json_t *fuzz_json(const char *what, const char *data, size_t len);

static inline void fuzz_decref(json_t **json)
{
    json_decref(*json);
}
#define cleanup_tree __attribute__((cleanup(fuzz_decref)))

#endif
