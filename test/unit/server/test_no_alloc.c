/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What muster allocates for the call of a planned member: nothing, from the request's headers to
 * the end of its reply. The linker sends every allocation of muster's own code (not those of the
 * libraries) through the functions below, see CMakeLists.txt.
 */
#include "test/unit/server/served.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/lib/raw_client.h"

struct MHD_Connection;

/* ---- counting ---- */

static atomic_int allocations; /* on threads of the listeners */
static atomic_int suspensions; /* calls that were posted to the core thread, which had the turn */
static _Atomic pthread_t test_thread, core_thread;

static void count(void)
{
    pthread_t self = pthread_self();
    if (!pthread_equal(self, atomic_load(&test_thread)) &&
        !pthread_equal(self, atomic_load(&core_thread)))
        atomic_fetch_add(&allocations, 1);
}

/* X(result, name, parameters, arguments) */
#define ALLOCATORS(X)                                                                              \
    X(void *, malloc, (size_t n), (n))                                                             \
    X(void *, calloc, (size_t n, size_t size), (n, size))                                          \
    X(void *, realloc, (void *p, size_t n), (p, n))                                                \
    X(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))                        \
    X(char *, strdup, (const char *s), (s))                                                        \
    X(char *, strndup, (const char *s, size_t n), (s, n))                                          \
    X(int, vasprintf, (char **out, const char *fmt, va_list ap), (out, fmt, ap))

#define X(result, name, parameters, arguments)                                                     \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        count();                                                                                   \
        return __real_##name arguments;                                                            \
    }
ALLOCATORS(X)
#undef X

void __real_MHD_suspend_connection(struct MHD_Connection *c);
void __wrap_MHD_suspend_connection(struct MHD_Connection *c);
void __wrap_MHD_suspend_connection(struct MHD_Connection *c)
{
    atomic_fetch_add(&suspensions, 1);
    __real_MHD_suspend_connection(c);
}

/* ---- calls ---- */

#define NAMES 5000

static char *body_of(const char *pod, const char *group, int names)
{
    cleanup_buf struct buf b = BUF_INIT;
    cleanup_free char *json = pod_json(pod, group);
    buf_printf(&b, "{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":[", json);
    for (int i = 1; i < names; i++)
        buf_printf(&b, "\"node-%05d\",", i);
    buf_puts(&b, "\"n0\"]}");
    return buf_steal(&b);
}

static void ask(int fd, const char *path, const char *body)
{
    cleanup_reply struct client_reply r;
    client_request(fd, "POST", path, body);
    assert_true(client_read(fd, &r));
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(buf_str(&r.body), "n0"));
}

/* Some calls behind each other; false where the core thread had the turn, and one was posted. */
static bool round_of(int fd, const char *path, const char *body, int *allocated)
{
    ask(fd, path, body); /* makes the block as large as it must be; the one before is completed */
    atomic_store(&suspensions, 0);
    atomic_store(&allocations, 0);
    for (int i = 0; i < 50; i++)
        ask(fd, path, body);
    *allocated = atomic_load(&allocations);
    return atomic_load(&suspensions) == 0;
}

static void expect_none(struct server *s, const char *path, int names)
{
    cleanup_free char *body = body_of("p0", "g", names);
    int fd = client_connect(s->verbs);
    int clean = 0;
    for (int i = 0; i < 200 && clean < 5; i++) {
        int allocated;
        if (!round_of(fd, path, body, &allocated))
            continue;
        clean++;
        if (allocated > 0)
            fail_msg("%s with %d names: %d allocations in 50 calls", path, names, allocated);
    }
    assert_int_equal(clean, 5);
    close(fd);
}

/* ---- tests ---- */

static void begin(struct server *s)
{
    atomic_store(&test_thread, pthread_self());
    atomic_store(&core_thread, s->thread);
    post_world(s, 2);
    wait_ready(s);
}

static void P05_a_planned_member_is_answered_without_an_allocation(void **state)
{
    struct server *s = *state;
    begin(s);
    expect_none(s, "/scheduler/filter", 1);
    expect_none(s, "/scheduler/filter", NAMES);
    expect_none(s, "/scheduler/prioritize", 1);
    expect_none(s, "/scheduler/prioritize", NAMES);
}

/* Large and small ones behind each other, as kube-scheduler's calls come. */
static void P05_nor_where_the_calls_are_mixed(void **state)
{
    struct server *s = *state;
    cleanup_free char *one = body_of("p0", "g", 1), *many = body_of("p1", "g", NAMES);
    begin(s);
    int fd = client_connect(s->verbs), clean = 0;
    for (int i = 0; i < 2000 && clean < 100; i++) {
        ask(fd, "/scheduler/filter", many);
        ask(fd, "/scheduler/filter", one);
        atomic_store(&suspensions, 0);
        atomic_store(&allocations, 0);
        ask(fd, "/scheduler/filter", many);
        ask(fd, "/scheduler/filter", one);
        int allocated = atomic_load(&allocations);
        if (i == 0 || atomic_load(&suspensions) > 0)
            continue;
        clean++;
        assert_int_equal(allocated, 0);
    }
    assert_int_equal(clean, 100);
    close(fd);
}

/* What is counted is counted: a pod that the core does not know is decoded. */
static void a_stranger_is_decoded_and_that_is_seen(void **state)
{
    struct server *s = *state;
    cleanup_free char *body = body_of("stranger", NULL, 1);
    int allocated = 0;
    begin(s);
    int fd = client_connect(s->verbs);
    round_of(fd, "/scheduler/prioritize", body, &allocated);
    assert_true(allocated >= 50);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(P05_a_planned_member_is_answered_without_an_allocation),
        TEST(P05_nor_where_the_calls_are_mixed),
        TEST(a_stranger_is_decoded_and_that_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
