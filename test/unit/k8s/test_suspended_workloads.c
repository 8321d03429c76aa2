/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that the core sees of workloads that muster has suspended. */
#include "api_fixture.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/grouper/suspended_workloads.h"
#include "log_capture.h"
#include "test/lib/yaml_object.h"

#define GROUP          "scheduling.volcano.sh"
#define SERVED         "GET /apis/batch/v1"
#define LIST           "GET /apis/batch/v1/jobs"
#define WATCH          "WATCH /apis/batch/v1/jobs"
#define JOB(j)         "/apis/batch/v1/namespaces/ml/jobs/" j
#define JOBSETS_SERVED "GET /apis/jobset.x-k8s.io/v1alpha2"
#define JOBSETS_LIST   "GET /apis/jobset.x-k8s.io/v1alpha2/jobsets"
#define KEEP           (200 * USEC_PER_MSEC)

struct fixture {
    struct fake_api *api;
    struct api_metrics *metrics;
    struct client *client;
    struct podgroups *groups;
    struct writer *writer;
    struct priority_classes *classes;
    struct suspended_workloads *suspended;
    struct cluster_sink sink;
    struct buf heard; /* "+ns/name " and "-ns/name " */
    int fd;
};

static void on_event(void *arg, struct gang_event *ev)
{
    struct fixture *x = arg;
    if (ev->kind == GANG_EV_POD_SET)
        buf_printf(&x->heard, "+%s/%s ", ev->pod->ns, ev->pod->name);
    else if (ev->kind == GANG_EV_POD_GONE)
        buf_printf(&x->heard, "-%s/%s ", ev->gone.ns, ev->gone.name);
    gang_event_done(ev);
}

static void on_settled(void *arg)
{
    (void)arg;
}

static int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    struct err err;
    x->api = fake_start();
    x->metrics = api_metrics_new();
    x->client = client_new(fake_kubeconfig(x->api), "test", x->metrics, &err);
    x->groups = podgroups_new();
    x->classes = priority_classes_new();
    x->sink = (struct cluster_sink){on_event, x};
    x->fd = eventfd(0, EFD_CLOEXEC);
    x->writer = writer_new(&(struct writer_options){.client = x->client,
                                                    .groups = x->groups,
                                                    .classes = x->classes,
                                                    .metrics = x->metrics,
                                                    .sink = &x->sink});
    x->suspended =
        suspended_workloads_new(&(struct suspended_workloads_options){.client = x->client,
                                                                      .metrics = x->metrics,
                                                                      .groups = x->groups,
                                                                      .writer = x->writer,
                                                                      .classes = x->classes,
                                                                      .sink = &x->sink,
                                                                      .settled = on_settled,
                                                                      .keep = KEEP});
    fake_answer(x->api, SERVED, 200, "{\"resources\":[{\"name\":\"jobs\"}]}");
    *state = x;
    return x->client ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    suspended_workloads_free(x->suspended);
    writer_free(x->writer);
    client_free(x->client);
    podgroups_free(x->groups);
    priority_classes_free(x->classes);
    api_metrics_free(x->metrics);
    fake_stop(x->api);
    buf_done(&x->heard);
    close(x->fd);
    free(x);
    return 0;
}

/* The watch shows the PodGroup `name` of the Job `job`; NULL: it has no owner. */
static void show_group(struct fixture *x, const char *name, const char *job)
{
    struct err err;
    cleanup_free char *owner =
        job ? xasprintf("{apiVersion: batch/v1, kind: Job, name: %s, uid: u-%s}", job, job)
            : xstrdup("");
    cleanup_free char *yaml =
        xasprintf("{metadata: {namespace: ml, name: %s, uid: g-%s, resourceVersion: '1', "
                  "annotations: {muster.dev/preemption: suspend}, ownerReferences: [%s]}, "
                  "spec: {minMember: 2}}",
                  name, name, owner);
    cleanup_json json_t *object = yaml_object(yaml);
    struct gang_group_facts *facts = decode_group(dialect_by_group(GROUP), object, &err);
    assert_non_null(facts);
    podgroups_set(x->groups, &facts->ref, object);
    suspended_workloads_group(x->suspended, facts, object);
    gang_group_facts_free(facts);
}

static void group_gone(struct fixture *x, const char *name)
{
    const struct gang_ref ref = {(char *)(uintptr_t)GROUP, (char *)(uintptr_t) "ml",
                                 (char *)(uintptr_t)name};
    podgroups_gone(x->groups, &ref);
    suspended_workloads_group_gone(x->suspended, &ref);
}

static char *job(const char *name, const char *version, const char *more)
{
    return xasprintf("{\"metadata\":{\"namespace\":\"ml\",\"name\":\"%s\",\"uid\":\"u-%s\","
                     "\"generation\":%s,\"resourceVersion\":\"%s\",\"labels\":"
                     "{\"muster.dev/suspended\":\"true\"}},\"spec\":{\"suspend\":true,%s"
                     "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}",
                     name, name, version, version, more);
}

#define TWO "\"parallelism\":2,"

/* The list contains this Job only; NULL: none. Takes ownership. */
static void list_job(struct fixture *x, char *item)
{
    cleanup_free char *mine = item;
    cleanup_free char *list =
        xasprintf("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[%s]}", mine ? mine : "");
    fake_answer(x->api, LIST, 200, list);
}

/* Takes ownership of the object. */
static void push(struct fixture *x, const char *type, char *object)
{
    cleanup_free char *mine = object;
    cleanup_free char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, mine);
    run_until(x, fake_count(x->api, WATCH) > 0);
    fake_push(x->api, WATCH, line, FAKE_OPEN);
}

static bool heard(const struct fixture *x, const char *text)
{
    return strcmp(buf_str(&x->heard), text) == 0;
}

/* Shows the pods of the suspended Job `train` with two pods. */
static void show_train(struct fixture *x)
{
    list_job(x, job("train", "1", TWO));
    show_group(x, "g", "train");
    suspended_workloads_begin(x->suspended, true);
    run_until(x, heard(x, "+ml/job.train:0 +ml/job.train:1 "));
    buf_clear(&x->heard);
}

static void a_suspended_job_has_pods(void **state)
{
    struct fixture *x = *state;
    list_job(x, job("train", "1", TWO));
    show_group(x, "g", "train");
    assert_false(suspended_workloads_settled(x->suspended));
    run_until(x, fake_count(x->api, WATCH) > 0);
    assert_string_equal(buf_str(&x->heard), ""); /* it has not begun */
    assert_non_null(strstr(fake_query(x->api, LIST, 0), "muster.dev"));
    assert_non_null(strstr(fake_query(x->api, WATCH, 0), "muster.dev"));
    assert_false(suspended_workloads_settled(x->suspended));
    suspended_workloads_begin(x->suspended, true);
    run_until(x, suspended_workloads_settled(x->suspended));
    assert_string_equal(buf_str(&x->heard), "+ml/job.train:0 +ml/job.train:1 ");
}

static void no_kind_is_watched_before_the_start_or_a_podgroup_that_asks(void **state)
{
    struct fixture *x = *state;
    list_job(x, NULL);
    for (int i = 0; i < 10; i++)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
    assert_false(suspended_workloads_settled(x->suspended));
    assert_int_equal(fake_count(x->api, SERVED), 0);
    show_group(x, "g", "train");
    run_until(x, fake_count(x->api, WATCH) > 0);
    assert_int_equal(fake_count(x->api, JOBSETS_SERVED), 0);
    suspended_workloads_begin(x->suspended, true);
    run_until(x, suspended_workloads_settled(x->suspended));
    run_until(x, fake_count(x->api, JOBSETS_SERVED) > 0);
    assert_int_equal(fake_count(x->api, LIST), 1);
}

/* As long as muster may not list some PodGroups, a workload without a PodGroup may have one. */
static void no_job_is_resumed_while_podgroups_cannot_be_listed(void **state)
{
    struct fixture *x = *state;
    list_job(x, job("train", "1", TWO));
    suspended_workloads_begin(x->suspended, false);
    run_until(x, suspended_workloads_settled(x->suspended));
    for (int i = 0; i < 10; i++)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
    assert_int_equal(fake_count(x->api, LIST), 0);
    suspended_workloads_begin(x->suspended, true);
    run_until(x, fake_count(x->api, WATCH) > 0);
}

/* For example, because the conversion webhook of the CRD is broken. */
static void a_kind_that_cannot_be_listed_does_not_block_the_start_of_others(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, JOBSETS_SERVED, 200, "{\"resources\":[{\"name\":\"jobsets\"}]}");
    fake_answer(x->api, JOBSETS_LIST, 500, "{\"message\":\"webhook\"}");
    list_job(x, job("train", "1", TWO));
    show_group(x, "g", "train");
    suspended_workloads_begin(x->suspended, true);
    run_until(x, suspended_workloads_settled(x->suspended));
    assert_string_equal(buf_str(&x->heard), "+ml/job.train:0 +ml/job.train:1 ");
    run_until(x, fake_count(x->api, JOBSETS_LIST) > 1);
}

static void a_missing_right_does_not_block_the_start(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    fake_answer(x->api, LIST, 403, "{\"message\":\"no\"}");
    show_group(x, "g", "train");
    suspended_workloads_begin(x->suspended, true);
    int saved = capture_log(&file);
    run_until(x, suspended_workloads_settled(x->suspended));
    cleanup_free char *log = end_capture(file, saved);
    assert_non_null(strstr(log, "list and watch jobs in API group batch"));
}

static bool logged(FILE *file, const char *text)
{
    char all[8192];
    ssize_t n = pread(fileno(file), all, sizeof all - 1, 0);
    all[n > 0 ? n : 0] = '\0';
    return strstr(all, text) != NULL;
}

static void a_missing_right_is_logged_only_for_a_kind_that_a_podgroup_asks_about(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    fake_answer(x->api, LIST, 403, "{\"message\":\"no\"}");
    fake_answer(x->api, JOBSETS_SERVED, 200, "{\"resources\":[{\"name\":\"jobsets\"}]}");
    fake_answer(x->api, JOBSETS_LIST, 403, "{\"message\":\"no\"}");
    suspended_workloads_begin(x->suspended, true);
    int saved = capture_log(&file);
    run_until(x, fake_count(x->api, LIST) > 0 && fake_count(x->api, JOBSETS_LIST) > 0);
    run_until(x, suspended_workloads_settled(x->suspended));
    assert_false(logged(file, "jobs"));
    show_group(x, "g", "train");
    run_until(x, logged(file, "list and watch jobs in API group batch"));
    cleanup_free char *log = end_capture(file, saved);
    assert_null(strstr(log, "jobsets"));
}

/* The new pods replace them one by one. */
static void pods_stay_for_a_while_after_a_resume(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    usec_t then = usec_now();
    push(x, "DELETED", job("train", "2", TWO)); /* it has lost the label */
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 "));
    assert_true(usec_now() - then >= KEEP);
}

static void a_user_may_resume_and_leave_the_label(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    push(x, "MODIFIED",
         xstrdup("{\"metadata\":{\"namespace\":\"ml\",\"name\":\"train\",\"uid\":\"u-train\","
                 "\"resourceVersion\":\"2\",\"labels\":{\"muster.dev/suspended\":\"true\"}},"
                 "\"spec\":{}}"));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 "));
    assert_int_equal(fake_count(x->api, "GET " JOB("train")), 0);
}

/* The pods of the earlier suspension are replaced, so they do not count. */
static void a_job_that_is_suspended_again_gets_new_pods(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    push(x, "DELETED", job("train", "2", TWO));
    push(x, "ADDED", job("train", "3", TWO));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 +ml/job.train:0 +ml/job.train:1 "));
}

static void pods_follow_the_spec(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    push(x, "MODIFIED", job("train", "2", ""));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 +ml/job.train:0 "));
}

static void the_pods_go_with_the_podgroup(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    show_train(x);
    push(x, "DELETED", job("train", "2", TWO));
    push(x, "ADDED", job("other", "3", ""));
    int saved = capture_log(&file);
    run_until(x, fake_count(x->api, "GET " JOB("other")) > 0);
    buf_clear(&x->heard);
    group_gone(x, "g"); /* garbage collection follows the deletion of the Job */
    free(end_capture(file, saved));
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

/* A suspended workload that the core cannot plan is resumed at once. */
static void resumes(struct fixture *x)
{
    FILE *file;
    cleanup_free char *read = job("train", "2", TWO);
    fake_answer(x->api, "GET " JOB("train"), 200, read);
    fake_answer(x->api, "PATCH " JOB("train"), 200, "{}");
    int saved = capture_log(&file);
    run_until(x, fake_count(x->api, "PATCH " JOB("train")) > 0);
    free(end_capture(file, saved));
    assert_non_null(strstr(fake_body(x->api, "PATCH " JOB("train"), 0), "\"suspend\":false"));
}

static void a_job_that_loses_its_podgroup_is_resumed(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    group_gone(x, "g");
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

/* An earlier run of muster has suspended it, and its PodGroup was deleted between the runs. */
static void a_job_without_a_podgroup_is_resumed_after_a_start(void **state)
{
    struct fixture *x = *state;
    list_job(x, job("train", "1", TWO));
    suspended_workloads_begin(x->suspended, true);
    resumes(x);
    assert_non_null(strstr(fake_query(x->api, LIST, 0), "muster.dev"));
    assert_string_equal(buf_str(&x->heard), "");
}

/* A new list would not tell that a Job was deleted in the meantime. */
static void the_watch_of_a_job_goes_on_when_a_podgroup_asks(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    list_job(x, job("train", "1", TWO));
    suspended_workloads_begin(x->suspended, true);
    int saved = capture_log(&file);
    run_until(x, fake_count(x->api, "GET " JOB("train")) > 0);
    free(end_capture(file, saved));
    show_group(x, "g", "train");
    run_until(x, heard(x, "+ml/job.train:0 +ml/job.train:1 "));
    buf_clear(&x->heard);
    push(x, "DELETED", job("train", "2", TWO));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 "));
    assert_int_equal(fake_count(x->api, LIST), 1);
}

static void a_job_whose_podgroup_gets_another_owner_is_resumed(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    show_group(x, "g", "other");
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

static void a_job_whose_podgroup_loses_its_owner_is_resumed(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    show_group(x, "g", NULL);
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

/* The core sees the pods of the new owner, also if muster reads the new owner first. */
static void a_podgroup_may_move_to_another_suspended_job(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    show_train(x);
    push(x, "ADDED", job("other", "3", ""));
    int saved = capture_log(&file);
    run_until(x, fake_count(x->api, "GET " JOB("other")) > 0); /* it has no PodGroup */
    free(end_capture(file, saved));
    show_group(x, "h", "other"); /* so muster will read `other` before `train` */
    show_group(x, "g", "other");
    group_gone(x, "h");
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "+ml/job.other:0 -ml/job.train:0 -ml/job.train:1 ");
    group_gone(x, "g");
    run_until(x, heard(x, "+ml/job.other:0 -ml/job.train:0 -ml/job.train:1 -ml/job.other:0 "));
}

static void a_job_with_a_second_podgroup_is_resumed(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    show_group(x, "g", "train");
    show_group(x, "h", "train");
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

static void a_job_with_too_many_pods_is_resumed(void **state)
{
    struct fixture *x = *state;
    list_job(x, job("train", "1", "\"parallelism\":1000000,"));
    show_group(x, "g", "train");
    suspended_workloads_begin(x->suspended, true);
    resumes(x);
    assert_string_equal(buf_str(&x->heard), "");
}

/* One namespace cannot fill the core with pods that do not exist. */
static void the_pods_of_a_namespace_are_bounded(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    list_job(x, NULL);
    for (int i = 0; i < 6; i++) {
        cleanup_free char *name = xasprintf("%c", 'a' + i);
        show_group(x, name, name);
    }
    suspended_workloads_begin(x->suspended, true);
    int saved = capture_log(&file);
    for (int i = 0; i < 6; i++) {
        cleanup_free char *name = xasprintf("%c", 'a' + i);
        push(x, "ADDED", job(name, "1", "\"parallelism\":2000,"));
    }
    run_until(x, fake_count(x->api, "GET " JOB("f")) > 0);
    cleanup_free char *log = end_capture(file, saved);
    assert_non_null(strstr(log, "too many pods of its namespace are suspended"));
    assert_non_null(strstr(buf_str(&x->heard), "+ml/job.d:1999 "));
    assert_null(strstr(buf_str(&x->heard), "job.e:"));
    assert_int_equal(fake_count(x->api, "GET " JOB("a")), 0);
}

static void a_new_job_of_the_same_name_is_another(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    show_train(x);
    int saved = capture_log(&file);
    push(x, "DELETED", job("train", "2", TWO));
    push(x, "ADDED",
         xstrdup("{\"metadata\":{\"namespace\":\"ml\",\"name\":\"train\",\"uid\":\"new\","
                 "\"resourceVersion\":\"3\",\"labels\":{\"muster.dev/suspended\":\"true\"}},"
                 "\"spec\":{\"suspend\":true}}"));
    run_until(x, fake_count(x->api, "GET " JOB("train")) > 0); /* it has no PodGroup */
    free(end_capture(file, saved));
    assert_string_equal(buf_str(&x->heard), "-ml/job.train:0 -ml/job.train:1 ");
}

/* Kueue resumes it. A tenant has added muster's label. */
static void a_job_of_kueue_is_left_alone(void **state)
{
    struct fixture *x = *state;
    show_train(x);
    push(x, "MODIFIED",
         xstrdup("{\"metadata\":{\"namespace\":\"ml\",\"name\":\"train\",\"uid\":\"u-train\","
                 "\"generation\":2,\"resourceVersion\":\"2\",\"labels\":{\"muster.dev/suspended\":"
                 "\"true\",\"kueue.x-k8s.io/queue-name\":\"q\"}},\"spec\":{\"suspend\":true}}"));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 "));
    assert_int_equal(fake_count(x->api, "GET " JOB("train")), 0);
}

/* An API server lets these through, or a broken one sends them. */
static void strange_objects_are_skipped(void **state)
{
    struct fixture *x = *state;
    FILE *file;
    show_train(x);
    int saved = capture_log(&file);
    push(x, "ADDED",
         xstrdup("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\",\"labels\":"
                 "{\"muster.dev/suspended\":\"true\"}},\"spec\":{\"suspend\":true}}"));
    push(x, "ADDED",
         xstrdup("{\"metadata\":{\"namespace\":\"ml\",\"name\":\"b\",\"uid\":\"ub\","
                 "\"resourceVersion\":\"2\",\"labels\":7},\"spec\":[]}"));
    push(x, "MODIFIED", job("train", "2", ""));
    run_until(x, heard(x, "-ml/job.train:0 -ml/job.train:1 +ml/job.train:0 "));
    free(end_capture(file, saved));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_suspended_job_has_pods),
        TEST(no_kind_is_watched_before_the_start_or_a_podgroup_that_asks),
        TEST(no_job_is_resumed_while_podgroups_cannot_be_listed),
        TEST(a_kind_that_cannot_be_listed_does_not_block_the_start_of_others),
        TEST(a_missing_right_does_not_block_the_start),
        TEST(a_missing_right_is_logged_only_for_a_kind_that_a_podgroup_asks_about),
        TEST(pods_stay_for_a_while_after_a_resume),
        TEST(a_user_may_resume_and_leave_the_label),
        TEST(a_job_that_is_suspended_again_gets_new_pods),
        TEST(pods_follow_the_spec),
        TEST(the_pods_go_with_the_podgroup),
        TEST(a_job_that_loses_its_podgroup_is_resumed),
        TEST(a_job_without_a_podgroup_is_resumed_after_a_start),
        TEST(the_watch_of_a_job_goes_on_when_a_podgroup_asks),
        TEST(a_job_whose_podgroup_gets_another_owner_is_resumed),
        TEST(a_job_whose_podgroup_loses_its_owner_is_resumed),
        TEST(a_podgroup_may_move_to_another_suspended_job),
        TEST(a_job_with_a_second_podgroup_is_resumed),
        TEST(a_job_with_too_many_pods_is_resumed),
        TEST(the_pods_of_a_namespace_are_bounded),
        TEST(a_new_job_of_the_same_name_is_another),
        TEST(a_job_of_kueue_is_left_alone),
        TEST(strange_objects_are_skipped),
    };
    log_setup(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
