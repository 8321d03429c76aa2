/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - allocation that cannot fail, and local variables that free what they own.
 *
 * If no memory is left, the program aborts. Every input from outside is bounded before it is
 * stored, so running out of memory is a bug or the machine is too small. A local variable that owns
 * memory has an attribute:
 *
 *     cleanup_free char *text = xstrdup(s);
 *
 * STEAL(text) passes the memory on. Stateless; any thread.
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

/* Yields the pointer and sets the variable to NULL. */
#define STEAL(p)                                                                                   \
    ({                                                                                             \
        __auto_type steal_tmp_ = (p);                                                              \
        (p) = NULL;                                                                                \
        steal_tmp_;                                                                                \
    })

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* For n items of `size` bytes. Aborts if n * size overflows. */
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
/* Returns NULL for NULL. */
char *xstrdup_null(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Grows the array `items` so that at least n elements fit. `cap` is in elements. */
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
