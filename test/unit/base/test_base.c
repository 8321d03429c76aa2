/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "base/must.h"
#include "base/quantity.h"

static void quantities_are_read_as_kubernetes_reads_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t scale, want;
    } cases[] = {
        {"0", 1, 0},
        {"8", 1, 8},
        {"2", 1000, 2000},
        {"500m", 1000, 500},
        {"500m", 1, 1}, /* Value() rounds up */
        {"1.5", 1000, 1500},
        {"0.5", 1, 1},
        {"-0.5", 1, -1},
        {"16Gi", 1, INT64_C(16) << 30},
        {"1.5Gi", 1, INT64_C(3) << 29},
        {"1e3", 1, 1000},
        {"1E3", 1, 1000},
        {"12E", 1, INT64_MAX}, /* more than int64 holds: capped */
        {"0.5Ei", 1, INT64_C(1) << 59},
        {"8.5Ei", 1, INT64_MAX},
        {"100n", 1000, 1},
        {"+3k", 1, 3000},
        {".5", 1000, 500},
        {"5.", 1, 5},
        {"123456789012345678901234567890", 1, INT64_MAX},
        {"0.0000000000000000000000001", 1, 1},
        {"1e-3", 1000, 1},
        {"9223372036854775807", 1, INT64_MAX}, /* all 19 digits count */
        {"9223372036854775807m", 1000, INT64_MAX},
        {"1234567890123456789", 1, INT64_C(1234567890123456789)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t got;
        struct err err = {0};
        if (quantity_parse(cases[i].text, cases[i].scale, &got, &err) < 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        if (got != cases[i].want)
            fail_msg("%s: got %lld, want %lld", cases[i].text, (long long)got,
                     (long long)cases[i].want);
    }
    static const char *const bad[] = {"", "x", "1 Gi", "1GiB", "--1", "1e", "1.2.3", "Gi", "1e 3"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        int64_t got;
        if (quantity_parse(bad[i], 1, &got, NULL) == 0)
            fail_msg("\"%s\" was read as %lld", bad[i], (long long)got);
    }
}

static void an_amount_is_written_in_the_unit_of_its_resource(void **state)
{
    (void)state;
    static const struct {
        const char *resource;
        int64_t amount;
        const char *text;
    } cases[] = {
        {"cpu", 1500, "1500m"},
        {"cpu", 2000, "2"},
        {"cpu", 0, "0"},
        {"memory", INT64_C(16) << 30, "16Gi"},
        {"memory", 1500, "1500"},
        {"memory", INT64_C(64000000000), "64G"},
        {"memory", 0, "0"},
        {"memory", -2048, "-2Ki"},
        {"memory", INT64_MIN, "-8192Pi"},
        {"hugepages-2Mi", 4 << 20, "4Mi"},
        {"ephemeral-storage", 1 << 20, "1Mi"},
        {"storage", INT64_C(1) << 40, "1Ti"},
        {"pods", 2048, "2048"},
        {"nvidia.com/gpu", 1024, "1024"},
        {"example.com/memory", 1024, "1024"},
        {"gpu", -4, "-4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cleanup_buf struct buf b = BUF_INIT;
        quantity_format(&b, cases[i].resource, cases[i].amount);
        assert_string_equal(buf_str(&b), cases[i].text);
    }
}

static void a_map_keeps_its_order_when_it_grows_and_shrinks(void **state)
{
    (void)state;
    struct map m = MAP_INIT;
    static char values[2000];
    for (int i = 0; i < 2000; i++) {
        cleanup_free char *key = xasprintf("key-%d", i);
        assert_null(map_set(&m, key, &values[i]));
    }
    for (int i = 0; i < 2000; i += 3) {
        cleanup_free char *key = xasprintf("key-%d", i);
        assert_ptr_equal(map_remove(&m, key), &values[i]);
        assert_null(map_remove(&m, key));
    }
    const char *last = NULL;
    size_t n = 0;
    map_for_each (e, &m) {
        assert_true(!last || (const char *)e->value > last);
        last = e->value;
        n++;
        if (n % 2)
            map_remove(&m, e->key); /* the current entry may go */
    }
    assert_int_equal(n, 1333);
    assert_int_equal(map_count(&m), 666);
    /* The map does not grow when entries are added and removed all the time. */
    for (int i = 0; i < 100000; i++) {
        map_set(&m, "again", &values[0]);
        map_remove(&m, "again");
    }
    assert_true(m.cap < 10000);
    map_done(&m);
}

static void a_heap_returns_the_earliest_first_and_equal_times_in_order(void **state)
{
    (void)state;
    struct heap h = HEAP_INIT;
    struct heap_node nodes[200] = {0};
    for (int i = 0; i < 200; i++)
        heap_set(&h, &nodes[i], (i * 37) % 50);
    for (int i = 0; i < 200; i += 4)
        heap_remove(&h, &nodes[i]);
    heap_remove(&h, &nodes[0]); /* not in the heap: no effect */
    heap_set(&h, &nodes[1], 1000);
    const struct heap_node *last = NULL;
    size_t n = 0;
    for (struct heap_node *top; (top = heap_top(&h)) != NULL; n++) {
        if (last)
            assert_true(last->at < top->at || (last->at == top->at && last->seq < top->seq));
        last = top;
        heap_remove(&h, top);
    }
    assert_int_equal(n, 150);
    assert_ptr_equal(last, &nodes[1]);
    heap_done(&h);
}

struct letter {
    struct mail mail;
    int from, number;
};

static struct mailbox *box;

static void *write_letters(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        struct letter *l = xcalloc(1, sizeof *l);
        l->from = *(int *)arg;
        l->number = i;
        mailbox_put(box, &l->mail);
    }
    return NULL;
}

static void a_mailbox_keeps_the_order_of_each_sender_and_loses_nothing(void **state)
{
    (void)state;
    struct err err;
    box = mailbox_new(&err);
    pthread_t threads[4];
    int ids[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_letters, &ids[i]);
    int next[4] = {0}, got = 0;
    while (got < 4000) {
        struct pollfd p = {mailbox_fd(box), POLLIN, 0};
        assert_int_equal(poll(&p, 1, 10000), 1);
        for (struct mail *m = mailbox_take(box), *after; m; m = after, got++) {
            after = m->next;
            struct letter *l = CONTAINER_OF(m, struct letter, mail);
            assert_int_equal(l->number, next[l->from]++);
            free(l);
        }
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_null(mailbox_take(box));
    box = mailbox_free(box);
}

static void an_error_collects_context(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(err_set(&err, ERR_CONFLICT, "pod %s", "a"), -1);
    err_wrap(&err, "binding");
    assert_string_equal(err.text, "binding: pod a");
    assert_int_equal(err.code, ERR_CONFLICT);
    for (int i = 0; i < 100; i++)
        err_wrap(&err, "a rather long context number %d", i);
    assert_true(strlen(err.text) < sizeof err.text);
    err_set(&err, ERR_INVALID, "key \"%s\"", "a\nb\x1b[1m\xff\xc3\xbc");
    assert_string_equal(err.text, "key \"a?b?[1m?\xc3\xbc\""); /* safe to print */
    assert_int_equal(err_set(NULL, ERR_IO, "not stored"), -1);
}

static void a_buf_grows_and_gives_its_text_away(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "%d,", i);
    char big[500];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    buf_printf(&b, "%s", big);
    assert_int_equal(b.len, strlen(buf_str(&b)));
    cleanup_free char *text = buf_steal(&b);
    assert_int_equal(strlen(text), 290 + 499);
    assert_string_equal(buf_str(&b), "");
}

/* Stores what the child prints to stderr; returns the child's wait status. */
static int output_of_child(bool holds, char *output, size_t size)
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fds[1], STDERR_FILENO);
        MUST(holds || child);
        _exit(7);
    }
    close(fds[1]);
    size_t n = 0;
    for (ssize_t r; n < size - 1 && (r = read(fds[0], output + n, size - 1 - n)) > 0;)
        n += (size_t)r;
    output[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_failed_must_aborts_the_program_with_a_log_line(void **state)
{
    (void)state;
    char output[1024];
    int status = output_of_child(true, output, sizeof output);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_string_equal(output, "");
    status = output_of_child(false, output, sizeof output);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(output, " must=\"holds || child\" function=\"output_of_child\" "
                                   "file=\"test_base.c\" line=\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_read_as_kubernetes_reads_them),
        cmocka_unit_test(an_amount_is_written_in_the_unit_of_its_resource),
        cmocka_unit_test(a_map_keeps_its_order_when_it_grows_and_shrinks),
        cmocka_unit_test(a_heap_returns_the_earliest_first_and_equal_times_in_order),
        cmocka_unit_test(a_mailbox_keeps_the_order_of_each_sender_and_loses_nothing),
        cmocka_unit_test(an_error_collects_context),
        cmocka_unit_test(a_buf_grows_and_gives_its_text_away),
        cmocka_unit_test(a_failed_must_aborts_the_program_with_a_log_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
