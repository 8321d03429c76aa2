/* SPDX-License-Identifier: Apache-2.0 */
/*
 * must.h - what must hold, in every build.
 *
 *     MUST(pod->charge == CHARGE_NONE);
 *
 * Where the condition is false, the program says which one and where, and aborts. A restart makes
 * the state anew from the API; to go on could bind a pod by a wrong one. So MUST is for what only a
 * mistake in this program can make false. What comes from outside is an error (base/err.h).
 *
 * No state: safe from every thread.
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
