/* SPDX-License-Identifier: Apache-2.0 */
/* `muster resume`: which workloads it lists and resumes, without a running muster. */
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
#include "k8s/write/resume.h"

#define JOBS    "GET /apis/batch/v1/jobs"
#define MPI     "GET /apis/kubeflow.org/v2beta1/mpijobs"
#define JOB(j)  "/apis/batch/v1/namespaces/ml/jobs/" j
#define LIST(x) "{\"metadata\":{},\"items\":[" x "]}"
#define OBJECT(name)                                                                               \
    "{\"metadata\":{\"namespace\":\"ml\",\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":" \
    "\"1\",\"labels\":{\"muster.dev/suspended\":\"true\"}},\"spec\":{\"suspend\":true}}"

struct run {
    struct fake_api *api;
    struct resume_options o;
    struct buf said;
    struct err err;
    int status;
};

static void said(void *arg, const char *kind, const char *ns, const char *name,
                 enum resume_outcome outcome, const char *why)
{
    static const char *const words[] = {
        [RESUME_DONE] = "", [RESUME_GONE] = " gone", [RESUME_KEPT] = "!"};
    struct run *r = arg;
    buf_printf(&r->said, "%s %s/%s%s ", kind, ns, name, words[outcome]);
    assert_true((outcome == RESUME_KEPT) == (why && *why));
}

static int set_up(void **state)
{
    struct run *r = xcalloc(1, sizeof *r);
    r->api = fake_start();
    r->o = (struct resume_options){.version = "test", .workload = said, .arg = r};
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct run *r = *state;
    fake_stop(r->api);
    buf_done(&r->said);
    free(r);
    return 0;
}

static void run(struct run *r)
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
    r->o.kubeconfig = path;
    r->status = resume_workloads(&r->o, &r->err);
    unlink(path);
}

/* Kinds that the API server does not serve are fine. */
static void all_kinds_and_pages_are_resumed(void **state)
{
    struct run *r = *state;
    fake_answer(r->api, JOBS, 200,
                "{\"metadata\":{\"continue\":\"c1\"},\"items\":[" OBJECT("a") "]}");
    fake_answer(r->api, JOBS, 200, LIST(OBJECT("b")));
    fake_answer(r->api, MPI, 200, LIST(OBJECT("m")));
    fake_answer(r->api, "PATCH " JOB("a"), 200, "{}");
    fake_answer(r->api, "PATCH " JOB("b"), 200, "{}");
    fake_answer(r->api, "PATCH /apis/kubeflow.org/v2beta1/namespaces/ml/mpijobs/m", 200, "{}");
    run(r);
    assert_int_equal(r->status, 0);
    assert_string_equal(buf_str(&r->said), "Job ml/a Job ml/b MPIJob ml/m ");
    assert_non_null(strstr(fake_query(r->api, JOBS, 1), "continue=c1"));
    assert_non_null(strstr(fake_query(r->api, JOBS, 0), "muster.dev"));
    assert_non_null(strstr(fake_body(r->api, "PATCH " JOB("a"), 0), "\"suspend\":false"));
    assert_non_null(strstr(fake_body(r->api, "PATCH " JOB("a"), 0), "\"resourceVersion\":\"1\""));
}

static void a_dry_run_changes_nothing(void **state)
{
    struct run *r = *state;
    r->o.dry_run = true;
    fake_answer(r->api, JOBS, 200, LIST(OBJECT("a")));
    run(r);
    assert_int_equal(r->status, 0);
    assert_string_equal(buf_str(&r->said), "Job ml/a ");
    assert_int_equal(fake_count(r->api, "PATCH " JOB("a")), 0);
}

static void one_workload_can_be_chosen(void **state)
{
    struct run *r = *state;
    r->o.kind = "job";
    r->o.ns = "ml";
    r->o.name = "b";
    fake_answer(r->api, "GET /apis/batch/v1/namespaces/ml/jobs", 200,
                LIST(OBJECT("a") "," OBJECT("b")));
    fake_answer(r->api, "PATCH " JOB("b"), 200, "{}");
    run(r);
    assert_int_equal(r->status, 0);
    assert_string_equal(buf_str(&r->said), "Job ml/b ");
    assert_int_equal(fake_count(r->api, "GET /apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets"),
                     0);
    assert_true(resume_knows_kind("JOBS") && resume_knows_kind("RayCluster"));
    assert_false(resume_knows_kind("StatefulSet") || resume_knows_kind(""));
}

static void failures_do_not_stop_the_others(void **state)
{
    struct run *r = *state;
    fake_answer(r->api, JOBS, 200, LIST(OBJECT("a") "," OBJECT("b") "," OBJECT("c")));
    fake_answer(r->api, "PATCH " JOB("a"), 403, "{\"message\":\"forbidden\"}");
    fake_answer(r->api, "PATCH " JOB("c"), 503, "{}");
    fake_answer(r->api, "PATCH " JOB("c"), 200, "{}");
    fake_answer(r->api, "GET /apis/ray.io/v1/rayclusters", 403, "{\"message\":\"no list\"}");
    run(r);
    assert_int_equal(r->status, -1);
    assert_string_equal(buf_str(&r->said), "Job ml/a! Job ml/b gone Job ml/c ");
    assert_non_null(strstr(r->err.text, "list rayclusters"));
    assert_non_null(strstr(r->err.text, "no list"));
}

static void a_conflict_is_read_again(void **state)
{
    struct run *r = *state;
    fake_answer(r->api, JOBS, 200, LIST(OBJECT("a") "," OBJECT("b")));
    fake_answer(r->api, "PATCH " JOB("a"), 409, "{}");
    fake_answer(r->api, "PATCH " JOB("a"), 200, "{}");
    fake_answer(r->api, "GET " JOB("a"), 200, OBJECT("a"));
    fake_answer(r->api, "PATCH " JOB("b"), 409, "{}");
    fake_answer(r->api, "GET " JOB("b"), 200,
                "{\"metadata\":{\"namespace\":\"ml\",\"name\":\"b\"},\"spec\":{}}");
    run(r);
    assert_int_equal(r->status, 0);
    assert_string_equal(buf_str(&r->said), "Job ml/a Job ml/b gone ");
    assert_int_equal(fake_count(r->api, "PATCH " JOB("b")), 1);
}

static void an_api_server_that_does_not_answer_is_an_error(void **state)
{
    struct run *r = *state;
    r->o.kind = "Job";
    fake_answer(r->api, JOBS, 200, "no JSON");
    run(r);
    assert_int_equal(r->status, -1);
    assert_non_null(strstr(r->err.text, "list jobs"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_kinds_and_pages_are_resumed), TEST(a_dry_run_changes_nothing),
        TEST(one_workload_can_be_chosen),      TEST(failures_do_not_stop_the_others),
        TEST(a_conflict_is_read_again),        TEST(an_api_server_that_does_not_answer_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
