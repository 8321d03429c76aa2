/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - allocation that cannot fail, and owners that clean up after themselves.
 *
 * Out of memory aborts (every input from outside is bounded before it is stored, so memory
 * running out is a bug or a mis-sized machine, not a condition to handle at each call).
 * A local that owns something says so with an attribute:
 *
 *     cleanup_free char *text = xstrdup(s);
 *
 * and hands it on with STEAL(text). Thread-safe: no state.
 */
#ifndef MUSTER_BASE_MEM_H
#define MUSTER_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)                  (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, field) ((type *)(void *)((char *)(ptr)-offsetof(type, field)))
#define PRINTF_LIKE(fmt, args)         __attribute__((format(printf, fmt, args)))

/* Moves a pointer out of its owner: yields the value and leaves NULL behind. */
#define STEAL(p)                                                                                   \
    ({                                                                                             \
        __auto_type steal_tmp_ = (p);                                                              \
        (p) = NULL;                                                                                \
        steal_tmp_;                                                                                \
    })

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* n * size with an overflow check. */
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/* NULL stays NULL. */
char *xstrdup_null(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Grows *items so that at least n fit; *cap is in elements. */
#define GROW(items, cap, n)                                                                        \
    do {                                                                                           \
        if ((n) > (cap)) {                                                                         \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            if ((cap) < (n))                                                                       \
                (cap) = (n);                                                                       \
            (items) = xreallocarray((items), (cap), sizeof *(items));                              \
        }                                                                                          \
    } while (0)

static inline bool str_eq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline void cleanup_freep(void *p)
{
    free(*(void **)p);
}
#define cleanup_free __attribute__((cleanup(cleanup_freep)))

#endif
