/* SPDX-License-Identifier: Apache-2.0 */
/*
 * must.h - assertions that are active in every build.
 *
 *     MUST(pod->charge == CHARGE_NONE);
 *
 * If the condition is false, the program logs the condition and its place, and aborts. Continuing
 * could bind a pod wrongly, but a restart rebuilds all state from the API server. Use MUST only for
 * conditions that only a bug in muster can make false. For wrong input, return an error
 * (base/err.h).
 *
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_MUST_H
#define MUSTER_BASE_MUST_H

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            must_fail(__FILE__, __LINE__, __func__, #condition);                                   \
    } while (0)

_Noreturn void must_fail(const char *file, int line, const char *function, const char *condition);

#endif
