/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in cluster suspends and resumes Jobs, and shows the pods that stand for theirs. */
#include "builtin_events.h"

static void put(struct buf *b, const struct gang_event *ev)
{
    if (ev->kind == GANG_EV_POD_SET && ev->pod->suspended)
        buf_printf(b, "suspended %s %d\n", ev->pod->name, (int)ev->pod->priority);
    else if (ev->kind == GANG_EV_POD_SET && !ev->pod->deleting)
        buf_printf(b, "pod %s\n", ev->pod->name);
    else if (ev->kind == GANG_EV_POD_GONE)
        buf_printf(b, "no pod %s\n", ev->gone.name);
    else if (ev->kind == GANG_EV_SUSPEND_REFUSED)
        buf_printf(b, "refused %s\n", ev->gone.name);
}

#define JOB_OF(how)                                                                                \
    "- {apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "                        \
    "{muster.dev/preemption: " how "}}, spec: {parallelism: 2, template: {metadata: "              \
    "{annotations: {pod-group-name: g}}, spec: {priorityClassName: low, containers: [{name: "      \
    "c}]}}}}\n"
#define OBJECTS_OF(how)                                                                            \
    "objects:\n- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, "  \
    "value: 7}\n" JOB_OF(                                                                          \
        how) "- {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, "     \
             "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j}]}, spec: {minMember: "  \
             "2}}\n"                                                                               \
             "- {apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: "        \
             "free}}\n"

static void apply(struct builtin_events *x, enum gang_effect_kind kind, const char *name)
{
    const struct gang_ref ref = {(char *)(uintptr_t) "scheduling.run.ai",
                                 (char *)(uintptr_t) "default", (char *)(uintptr_t)name};
    struct gang_effect e = {.kind = kind};
    e.workload.ref = &ref;
    e.workload.uid = "";
    e.workload.text = "why";
    x->cluster->ops->apply(x->cluster, x->now, &e);
}

static const json_t *job_of(struct builtin_events *x)
{
    return builtin_cluster_object(x->cluster, KIND_JOB, NULL, "default", "j");
}

static void a_job_is_suspended_and_resumed(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(OBJECTS_OF("suspend"), put);
    assert_non_null(strstr(events_until(x, USEC_PER_SEC), "pod j-1\n"));
    apply(x, GANG_RESUME, "g"); /* muster has not suspended it */
    assert_string_equal(events_until(x, 2 * USEC_PER_SEC), "");
    apply(x, GANG_SUSPEND, "g");
    assert_non_null(
        field_peek(job_of(x), "metadata", "annotations", "muster.dev/suspended-reason", NULL));
    const char *lines = events_until(x, 3 * USEC_PER_SEC);
    assert_non_null(strstr(lines, "suspended job.j:0 7\nsuspended job.j:1 7\n"));
    assert_non_null(strstr(lines, "no pod j-1\n"));
    apply(x, GANG_RESUME, "g");
    assert_null(field_peek(job_of(x), "metadata", "labels", "muster.dev/suspended", NULL));
    lines = events_until(x, 60 * USEC_PER_SEC);
    assert_non_null(strstr(lines, "pod j-3\n"));
    assert_null(strstr(lines, "no pod"));
    assert_string_equal(events_until(x, 64 * USEC_PER_SEC), "no pod job.j:0\nno pod job.j:1\n");
    events_end(x);
}

static void other_workloads_are_refused(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(OBJECTS_OF("evict"), put);
    events_until(x, USEC_PER_SEC);
    apply(x, GANG_SUSPEND, "g");
    apply(x, GANG_SUSPEND, "free");
    apply(x, GANG_SUSPEND, "unknown");
    apply(x, GANG_RESUME, "free");
    assert_non_null(strstr(buf_str(&x->lines), "refused g\nrefused free\nrefused unknown\n"));
    events_end(x);
}

static void a_job_that_loses_its_podgroup_is_resumed(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        OBJECTS_OF("suspend") "timetable:\n- {at: 3s, delete: [{kind: PodGroup, name: g}]}\n", put);
    events_until(x, USEC_PER_SEC);
    apply(x, GANG_SUSPEND, "g");
    events_until(x, 2 * USEC_PER_SEC);
    const char *lines = events_until(x, 4 * USEC_PER_SEC);
    assert_non_null(strstr(lines, "no pod job.j:0\nno pod job.j:1\n"));
    assert_non_null(strstr(lines, "pod j-2\n"));
    events_end(x);
}

static void the_pods_go_with_the_job(void **state)
{
    (void)state;
    struct builtin_events *x = events_begin(
        OBJECTS_OF("suspend") "timetable:\n- {at: 3s, delete: [{kind: Job, name: j}]}\n", put);
    events_until(x, USEC_PER_SEC);
    apply(x, GANG_SUSPEND, "g");
    events_until(x, 2 * USEC_PER_SEC);
    assert_string_equal(events_until(x, 90 * USEC_PER_SEC), "no pod job.j:0\nno pod job.j:1\n");
    events_end(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_suspended_and_resumed),
        cmocka_unit_test(other_workloads_are_refused),
        cmocka_unit_test(a_job_that_loses_its_podgroup_is_resumed),
        cmocka_unit_test(the_pods_go_with_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
