/* SPDX-License-Identifier: Apache-2.0 */
/* `muster ungate`: a list that expired continues or starts again, and is repeated until no gated
 * pod is left. TestP07_UngateLiftsMustersGate tests the writes against a real API server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "fake_api.h"
#include "k8s/write/ungate.h"

#define LIST "GET /api/v1/pods"
#define PAGE_OF(name, rest)                                                                        \
    "{\"metadata\":{" rest "},\"items\":[{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name     \
    "\",\"uid\":\"" name "\"},\"spec\":{\"schedulingGates\":[{\"name\":\"muster.dev/plan\"}]}}]}"

struct run {
    struct fake_api *api;
    struct buf seen; /* names */
    struct err err;
    int status;
};

static void seen(void *arg, const char *ns, const char *name, enum ungate_outcome outcome,
                 const char *why)
{
    static const char *const words[] = {
        [UNGATE_DONE] = "", [UNGATE_GONE] = " gone", [UNGATE_KEPT] = "!"};
    struct run *r = arg;
    buf_printf(&r->seen, "%s/%s%s ", ns, name, words[outcome]);
    assert_true((outcome == UNGATE_KEPT) == (why && *why));
}

static void run_as(struct run *r, bool dry_run)
{
    char path[] = "/tmp/muster-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd,
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
            "clusters: [{name: c, cluster: {server: '%s'}}]\n"
            "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n",
            fake_url(r->api));
    close(fd);
    r->status = ungate_pods(
        &(struct ungate_options){
            .kubeconfig = path, .version = "test", .dry_run = dry_run, .pod = seen, .arg = r},
        &r->err);
    unlink(path);
}

static void run(struct run *r)
{
    run_as(r, /* dry_run= */ true);
}

static void an_expired_list_continues_where_it_was(void **state)
{
    (void)state;
    struct run r = {.api = fake_start(), .seen = BUF_INIT};
    fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"c1\""));
    fake_answer(r.api, LIST, 410,
                "{\"kind\":\"Status\",\"code\":410,\"metadata\":{\"continue\":\"c2\"}}");
    fake_answer(r.api, LIST, 200, PAGE_OF("b", ""));
    run(&r);
    assert_int_equal(r.status, 0);
    assert_string_equal(buf_str(&r.seen), "ns/a ns/b "); /* no pod twice */
    assert_non_null(strstr(fake_query(r.api, LIST, 1), "continue=c1"));
    assert_non_null(strstr(fake_query(r.api, LIST, 2), "continue=c2"));
    fake_stop(r.api);
    buf_done(&r.seen);
}

#define TOO_OLD "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}"

static void a_list_that_cannot_continue_starts_again(void **state)
{
    (void)state;
    struct run r = {.api = fake_start(), .seen = BUF_INIT};
    fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"c1\""));
    fake_answer(r.api, LIST, 410, TOO_OLD);
    fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"d1\""));
    fake_answer(r.api, LIST, 200, PAGE_OF("b", ""));
    run(&r);
    assert_int_equal(r.status, 0);
    assert_string_equal(buf_str(&r.seen), "ns/a ns/b "); /* no pod twice */
    assert_null(strstr(fake_query(r.api, LIST, 2), "continue="));
    assert_non_null(strstr(fake_query(r.api, LIST, 3), "continue=d1"));
    fake_stop(r.api);
    buf_done(&r.seen);
}

static void a_list_that_never_ends_is_an_error(void **state)
{
    (void)state;
    struct run r = {.api = fake_start(), .seen = BUF_INIT};
    for (int i = 0; i < 20; i++) {
        fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"c1\""));
        fake_answer(r.api, LIST, 410, TOO_OLD);
    }
    run(&r);
    assert_int_equal(r.status, -1);
    assert_non_null(strstr(r.err.text, "too old"));
    assert_int_equal(fake_count(r.api, LIST), 10);
    fake_stop(r.api);
    buf_done(&r.seen);
}

static void a_list_that_always_expires_is_an_error(void **state)
{
    (void)state;
    struct run r = {.api = fake_start(), .seen = BUF_INIT};
    fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"c1\""));
    fake_answer(r.api, LIST, 410,
                "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\",\"metadata\":{"
                "\"continue\":\"c2\"}}");
    run(&r);
    assert_int_equal(r.status, -1);
    assert_non_null(strstr(r.err.text, "list pods: "));
    assert_non_null(strstr(r.err.text, "too old"));
    assert_int_equal(fake_count(r.api, LIST), 6);
    fake_stop(r.api);
    buf_done(&r.seen);
}

#define PATCH_A "PATCH /api/v1/namespaces/ns/pods/a"
#define NOBODY  "{\"metadata\":{},\"items\":[]}"

/* A list of one page. The last list is used again and again, and so is the last answer. */
static const struct {
    const char *lists[3];
    unsigned answers[3];
    const char *seen;
    size_t n_lists, n_patches;
} rounds[] = {
    {{PAGE_OF("a", ""), NOBODY}, {200}, "ns/a ", 2, 1},
    {{NOBODY}, {200}, "", 1, 0},
    {{PAGE_OF("a", ""), NOBODY}, {404}, "ns/a gone ", 2, 1},
    /* Another pod has the name, or another program keeps writing to the pod. */
    {{PAGE_OF("a", ""), PAGE_OF("a", ""), NOBODY}, {409, 200}, "ns/a ", 3, 2},
    {{PAGE_OF("a", ""), NOBODY}, {409}, "", 2, 1},
    {{PAGE_OF("a", "")}, {409}, "ns/a! ", 5, 4},
    /* The write is forbidden. */
    {{PAGE_OF("a", "")}, {403}, "ns/a! ", 2, 1},
};

static void P07_a_pod_is_ungated_only_when_its_gate_is_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rounds); i++) {
        struct run r = {.api = fake_start(), .seen = BUF_INIT};
        for (size_t k = 0; k < 3 && rounds[i].lists[k]; k++)
            fake_answer(r.api, LIST, 200, rounds[i].lists[k]);
        for (size_t k = 0; k < 3 && rounds[i].answers[k]; k++)
            fake_answer(r.api, PATCH_A, rounds[i].answers[k], "{\"message\":\"why\"}");
        run_as(&r, /* dry_run= */ false);
        assert_int_equal(r.status, 0);
        assert_string_equal(buf_str(&r.seen), rounds[i].seen);
        assert_int_equal(fake_count(r.api, LIST), rounds[i].n_lists);
        assert_int_equal(fake_count(r.api, PATCH_A), rounds[i].n_patches);
        fake_stop(r.api);
        buf_done(&r.seen);
    }
}

static void pods_ungated_so_far_are_reported_when_the_list_fails(void **state)
{
    (void)state;
    struct run r = {.api = fake_start(), .seen = BUF_INIT};
    fake_answer(r.api, LIST, 200, PAGE_OF("a", "\"continue\":\"c1\""));
    fake_answer(r.api, LIST, 400, "{\"message\":\"no such list\"}");
    fake_answer(r.api, PATCH_A, 200, "{}");
    run_as(&r, /* dry_run= */ false);
    assert_int_equal(r.status, -1);
    assert_non_null(strstr(r.err.text, "no such list"));
    assert_string_equal(buf_str(&r.seen), "ns/a ");
    fake_stop(r.api);
    buf_done(&r.seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expired_list_continues_where_it_was),
        cmocka_unit_test(a_list_that_cannot_continue_starts_again),
        cmocka_unit_test(a_list_that_never_ends_is_an_error),
        cmocka_unit_test(a_list_that_always_expires_is_an_error),
        cmocka_unit_test(P07_a_pod_is_ungated_only_when_its_gate_is_off),
        cmocka_unit_test(pods_ungated_so_far_are_reported_when_the_list_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
