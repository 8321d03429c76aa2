/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests as users write them: which gangs come of them, what is wrong in which object, and what
 * a hostile text costs. */
#include "k8s/manifest/manifest_gangs.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/buf.h"
#include "test/lib/cpu_cost.h"

#define NOW (INT64_C(1800000000) * USEC_PER_SEC)

static struct workload_rules rules(void)
{
    static char muster[] = "muster", volcano[] = "volcano", home[] = "scheduling.run.ai";
    static char *schedulers[] = {muster, volcano};
    return (struct workload_rules){
        .on = true, .schedulers = schedulers, .n_schedulers = 2, .home = home};
}

static struct manifest_gangs *read_text(const char *text, size_t len, struct err *err)
{
    static struct workload_rules r;
    r = rules();
    return manifest_gangs_read(
        text, len, &(struct manifest_options){.ns = "ml", .rules = &r, .wall = NOW}, err);
}

static void put_pod(struct buf *b, const struct manifest_gangs *m, size_t i)
{
    const struct gang_pod_facts *f = m->events[i].pod;
    buf_printf(b, "pod %s/%s in %s/%s", f->ns, f->name, f->group.api_group, f->group.name);
    if (f->role)
        buf_printf(b, " as %s", f->role);
    for (size_t k = 0; k < f->requests.n; k++)
        buf_printf(b, " %s=%" PRId64, f->requests.items[k].resource, f->requests.items[k].amount);
    if (f->queue.name)
        buf_printf(b, " queue %s", f->queue.name);
    if (m->classes[i])
        buf_printf(b, " class %s", m->classes[i]);
    if (f->declared)
        buf_printf(b, " declares %" PRId64, f->declared->min_member);
    buf_putc(b, '\n');
}

static void put_group(struct buf *b, const struct manifest_gangs *m,
                      const struct gang_group_facts *f)
{
    const struct manifest_source *s = manifest_source_of(m, &f->ref);
    assert_int_equal(f->created, NOW);
    buf_printf(b, "group %s/%s/%s min %" PRId64, f->ref.api_group, f->ref.ns, f->ref.name,
               f->min_member);
    if (f->queue)
        buf_printf(b, " queue %s", f->queue);
    if (f->invalid)
        buf_printf(b, " invalid: %s", f->invalid);
    if (s)
        buf_printf(b, " of %s %s%s", s->kind, s->name, s->single ? ", singly" : "");
    buf_putc(b, '\n');
}

/* Everything that was read, as lines; equal pods of one role are one line with their number. */
static char *lines_of(const char *yaml)
{
    struct err err;
    struct buf b = BUF_INIT;
    struct manifest_gangs *m = read_text(yaml, strlen(yaml), &err);
    if (!m) {
        buf_printf(&b, "error: %s\n", err.text);
        return buf_steal(&b);
    }
    for (size_t i = 0; i < m->n; i++)
        if (m->events[i].kind == GANG_EV_POD_SET)
            put_pod(&b, m, i);
        else
            put_group(&b, m, m->events[i].group);
    for (size_t i = 0; i < m->n_faults; i++)
        buf_printf(&b, "fault: %s\n", m->faults[i]);
    for (size_t i = 0; i < m->n_ignored; i++)
        buf_printf(&b, "ignored: %s\n", m->ignored[i]);
    manifest_gangs_free(m);
    return buf_steal(&b);
}

static void expect(const char *yaml, const char *want)
{
    cleanup_free char *got = lines_of(yaml);
    if (strcmp(got, want) != 0)
        fail_msg("%s\n  got:\n%s\n  want:\n%s", yaml, got, want);
}

#define SPEC "{containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}"
#define OURS                                                                                       \
    "{schedulerName: muster, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}"
#define GPU " nvidia.com/gpu=1"

/* ---- what is read ---- */

static void a_podgroup_and_the_job_that_names_it(void **state)
{
    (void)state;
    expect("apiVersion: scheduling.run.ai/v2alpha2\n"
           "kind: PodGroup\n"
           "metadata: {name: train}\n"
           "spec: {minMember: 2, queue: vision}\n"
           "---\n"
           "apiVersion: batch/v1\n"
           "kind: Job\n"
           "metadata: {name: train}\n"
           "spec:\n"
           "  parallelism: 2\n"
           "  completions: 2\n"
           "  template:\n"
           "    metadata: {annotations: {pod-group-name: train}}\n"
           "    spec: {priorityClassName: high, schedulerName: muster, containers: [{name: c}]}\n",
           "group scheduling.run.ai/ml/train min 2 queue vision\n"
           "pod ml/train-0 in scheduling.run.ai/train class high\n"
           "pod ml/train-1 in scheduling.run.ai/train class high\n");
}

/* In each dialect with PodGroups; see also the links of test_dialect.c. */
static void podgroups_of_all_dialects(void **state)
{
    static const struct {
        const char *api, *link;
    } dialects_[] = {
        {"scheduling.run.ai/v2alpha2", "annotations: {pod-group-name: g}"},
        {"scheduling.volcano.sh/v1beta1", "annotations: {scheduling.k8s.io/group-name: g}"},
        {"scheduling.x-k8s.io/v1alpha1", "labels: {scheduling.x-k8s.io/pod-group: g}"},
        {"scheduling.sigs.k8s.io/v1alpha1", "labels: {pod-group.scheduling.sigs.k8s.io: g}"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(dialects_); i++) {
        cleanup_free char *yaml =
            xasprintf("{apiVersion: %s, kind: PodGroup, metadata: {name: g, namespace: x}, spec: "
                      "{minMember: 1}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, "
                      "namespace: x, %s}, spec: " SPEC "}\n",
                      dialects_[i].api, dialects_[i].link);
        int n = (int)strcspn(dialects_[i].api, "/");
        cleanup_free char *want = xasprintf("group %.*s/x/g min 1\npod x/p in %.*s/g" GPU "\n", n,
                                            dialects_[i].api, n, dialects_[i].api);
        expect(yaml, want);
    }
}

static void pods_can_declare_their_podgroup(void **state)
{
    (void)state;
    expect("apiVersion: v1\n"
           "kind: Pod\n"
           "metadata:\n"
           "  name: p\n"
           "  annotations: {gang.scheduling.koordinator.sh/name: g, "
           "gang.scheduling.koordinator.sh/min-available: '3'}\n"
           "spec: " SPEC "\n",
           "pod ml/p in gang.scheduling.koordinator.sh/g" GPU " declares 3\n");
}

static void muster_creates_the_podgroup_of_a_workload(void **state)
{
    (void)state;
    expect("apiVersion: jobset.x-k8s.io/v1alpha2\n"
           "kind: JobSet\n"
           "metadata: {name: set, labels: {kai.scheduler/queue: vision}}\n"
           "spec:\n"
           "  replicatedJobs:\n"
           "  - {name: a, template: {spec: {template: {spec: " OURS "}}}}\n"
           "  - {name: b, replicas: 2, template: {spec: {template: {spec: " OURS "}}}}\n",
           "group scheduling.run.ai/ml/pg-set-uid min 0 queue vision of JobSet set\n"
           "pod ml/set-a-0-0 in scheduling.run.ai/pg-set-uid as a-replica-0" GPU "\n"
           "pod ml/set-b-0-0 in scheduling.run.ai/pg-set-uid as b-replica-0" GPU "\n"
           "pod ml/set-b-1-0 in scheduling.run.ai/pg-set-uid as b-replica-1" GPU "\n");
    expect("{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {muster.dev/gang: g, "
           "muster.dev/min-member: '2'}}, spec: " SPEC "}\n"
           "---\n"
           "{apiVersion: v1, kind: Pod, metadata: {name: b, annotations: {muster.dev/gang: g, "
           "muster.dev/min-member: '2'}}, spec: " SPEC "}\n",
           "group scheduling.run.ai/ml/g min 2 of Pod a\n"
           "pod ml/a in scheduling.run.ai/g" GPU "\n"
           "pod ml/b in scheduling.run.ai/g" GPU "\n");
}

/* Two workloads of one name are two gangs. */
static void workloads_with_one_name_stay_apart(void **state)
{
    (void)state;
    expect("{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: " OURS
           "}}}\n"
           "---\n"
           "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {template: "
           "{spec: " OURS "}}}\n",
           "group scheduling.run.ai/ml/pg-x-uid min 1 of Job x\n"
           "pod ml/x-0 in scheduling.run.ai/pg-x-uid" GPU "\n"
           "group scheduling.run.ai/ml/pg-x-uid2 min 1 of StatefulSet x\n"
           "pod ml/x-0 in scheduling.run.ai/pg-x-uid2" GPU "\n");
}

static void pods_without_a_podgroup_are_gangs_of_one(void **state)
{
    (void)state;
    expect("apiVersion: batch/v1\n"
           "kind: Job\n"
           "metadata: {name: j}\n"
           "spec: {parallelism: 2, completions: 2, template: {metadata: {labels: "
           "{kai.scheduler/queue: vision}}, spec: " SPEC "}}\n",
           "group /ml/job.j min 1 of Job j, singly\n"
           "pod ml/j-0 in /job.j" GPU " queue vision\n"
           "pod ml/j-1 in /job.j" GPU " queue vision\n");
}

/* What `kubectl get -o yaml` prints of an object is read too. */
static void fields_of_the_server_do_not_count(void **state)
{
    (void)state;
    expect("apiVersion: v1\n"
           "kind: Pod\n"
           "metadata:\n"
           "  generateName: p-\n"
           "  uid: 7\n"
           "  creationTimestamp: never\n"
           "  deletionTimestamp: '2026-01-01T00:00:00Z'\n"
           "  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: "
           "true}]\n"
           "spec: " SPEC "\n"
           "status: {phase: Succeeded}\n",
           "group /ml/pod.p-x min 1 of Pod p-x, singly\n"
           "pod ml/p-x in /pod.p-x" GPU "\n");
}

static void json_and_lists_are_read(void **state)
{
    (void)state;
    const char *want = "group /ml/pod.a min 1 of Pod a, singly\n"
                       "pod ml/a in /pod.a\n"
                       "group /ml/pod.b min 1 of Pod b, singly\n"
                       "pod ml/b in /pod.b\n";
    expect("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
           "\"spec\":{\"containers\":[]}}\n"
           "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},"
           "\"spec\":{\"containers\":[]}}",
           want);
    expect("apiVersion: v1\n"
           "kind: List\n"
           "items:\n"
           "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}\n"
           "- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {}}\n",
           want);
}

static void other_objects_are_ignored(void **state)
{
    (void)state;
    expect("{apiVersion: v1, kind: Service, metadata: {name: s, namespace: x}}\n"
           "---\n"
           "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}}\n",
           "ignored: Service x/s\n"
           "ignored: Queue q\n");
}

/* ---- faults ---- */

static void faults_name_the_object_and_the_field(void **state)
{
    static const struct {
        const char *yaml, *want;
    } cases[] = {
        {"{kind: Pod}", "fault: object 1: apiVersion or kind is missing; write a manifest\n"},
        {"[1, 2]", "fault: object 1: apiVersion or kind is missing; write a manifest\n"},
        {"{apiVersion: v1, kind: Pod}",
         "fault: object 1: metadata is missing; write it, with a name\n"},
        {"{apiVersion: v1, kind: Pod, metadata: {}}",
         "fault: object 1: metadata.name is missing; write it\n"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: [p]}}",
         "fault: object 1: metadata.name is a list, must be a string\n"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n}}",
         "fault: Pod ml/p: spec.nodeName is set, so that nothing schedules the pod; remove it\n"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {pod-group-name: a, "
         "scheduling.k8s.io/group-name: b}}, spec: {}}",
         "fault: Pod ml/p: annotation pod-group-name is \"a\" and annotation "
         "scheduling.k8s.io/group-name is \"b\": a pod can be in one PodGroup only; remove one of "
         "the two\n"},
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: x}}",
         "fault: Job ml/j: spec.template.spec is missing; it describes the pods to create\n"},
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true}}",
         "fault: Job ml/j: spec.suspend is true, so that it creates no pods; set it to false\n"},
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 0, template: "
         "{spec: {}}}}",
         "fault: Job ml/j: it creates no pods; write at least one replica\n"},
        {"{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: "
         "{kai.scheduler/batch-min-member: '9'}}, spec: {parallelism: 2, template: {spec: " OURS
         "}}}",
         "fault: Job ml/j: annotation kai.scheduler/batch-min-member is 9, but only 2 pods run at "
         "once; lower it, or raise spec.parallelism (and spec.completions)\n"},
        {"{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s}}",
         "fault: SparkApplication ml/s: muster does not know which pods it creates; check these "
         "pods instead\n"},
        {"{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g}, spec: "
         "{minMember: many}}",
         "group scheduling.run.ai/ml/g min 0 invalid: spec.minMember is a string, "
         "must be a whole number\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect(cases[i].yaml, cases[i].want);
}

static void an_object_with_a_fault_does_not_hide_others(void **state)
{
    (void)state;
    expect("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n}}\n"
           "---\n"
           "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {}}\n",
           "group /ml/pod.q min 1 of Pod q, singly\n"
           "pod ml/q in /pod.q\n"
           "fault: Pod ml/p: spec.nodeName is set, so that nothing schedules the pod; remove it\n");
}

static void text_that_is_no_manifest_is_refused(void **state)
{
    (void)state;
    expect("", "error: the text has no object; write a manifest\n");
    expect("a: [",
           "error: manifest:2: while parsing a flow node: did not find expected node content\n");
    expect("{\"a\": 1} x", "error: manifest:1: did not find expected <document start>\n");
}

/* ---- hostile text ---- */

static void repeat(struct buf *b, const char *text, int n)
{
    for (int i = 0; i < n; i++)
        buf_puts(b, text);
}

#define JOB(n, more)                                                                               \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: " #n               \
    ", template: {spec: {schedulerName: muster, containers: [], " more "}}}}"

static void many_pods(struct buf *b)
{
    buf_puts(b, JOB(1000000, ""));
}

static void many_containers(struct buf *b)
{
    buf_puts(b, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2048, "
                "template: {spec: {containers: [");
    repeat(b, "{resources: {limits: {cpu: 1}}}, ", 5000);
    buf_puts(b, "]}}}}");
}

static void many_labels(struct buf *b)
{
    buf_puts(b, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2048, "
                "template: {metadata: {labels: {");
    for (int i = 0; i < 8000; i++)
        buf_printf(b, "l%d: v, ", i);
    buf_puts(b, "}}, spec: {}}}}");
}

static void many_parts(struct buf *b)
{
    buf_puts(b, "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: s}, spec: "
                "{replicatedJobs: [{name: w, replicas: 998, template: {spec: {template: {spec: "
                "{schedulerName: muster}}}}}]}}");
}

static void many_objects(struct buf *b)
{
    repeat(b, "--- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n", 4000);
}

static void aliases(struct buf *b)
{
    buf_puts(b, "a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 0; i < 8; i++) {
        buf_printf(b, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            buf_printf(b, i ? "*a%d, " : "*a, ", i - 1);
        buf_puts(b, "]\n");
    }
}

static void long_aliases(struct buf *b)
{
    buf_puts(b, "a: &a \"");
    repeat(b, "xxxxxxxxxxxxxxxx", 8000);
    buf_puts(b, "\"\nb: [");
    repeat(b, "*a, ", 30000);
    buf_puts(b, "]\n");
}

static void long_keys(struct buf *b)
{
    buf_puts(b, "a: &a\n  ? \"");
    repeat(b, "xxxxxxxxxxxxxxxx", 8000);
    buf_puts(b, "\"\n  : 1\nb: [");
    repeat(b, "*a, ", 30000);
    buf_puts(b, "]\n");
}

static void deep(struct buf *b)
{
    repeat(b, "[", 200000);
}

static void deep_json(struct buf *b)
{
    repeat(b, "{\"a\":", 50000);
}

static void many_numbers(struct buf *b)
{
    buf_puts(b, "{\"a\":[1");
    repeat(b, ",1", 120000);
    buf_puts(b, "]}");
}

static void declared_bundles(struct buf *b)
{
    buf_puts(b, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2048, "
                "template: {metadata: {annotations: {gang.scheduling.koordinator.sh/name: g, "
                "gang.scheduling.koordinator.sh/min-available: '1', "
                "gang.scheduling.koordinator.sh/groups: '[");
    for (int i = 0; i < 4000; i++)
        buf_printf(b, "%s\"ml/g%d\"", i ? "," : "", i);
    buf_puts(b, "]'}}, spec: {}}}}");
}

/* A text of 256 KiB at most; what the listener lets pass. */
static void T15_hostile_text_costs_little(void **state)
{
    static const struct {
        const char *name;
        void (*make)(struct buf *);
        const char *error; /* NULL: it is read */
    } hostile[] = {
        {"many pods", many_pods, "Job ml/j: there are more than 2048 pods"},
        {"many containers", many_containers, "Job ml/j: to read its pods would take too long"},
        {"many labels", many_labels, "Job ml/j: the pods have too many labels and rules"},
        {"many parts", many_parts, "JobSet ml/s: to read its pods would take too long"},
        {"many objects", many_objects, "there are more than 512 objects"},
        {"aliases", aliases, "more than 50000 values"},
        {"long aliases", long_aliases, "more than 50000 values"},
        {"long keys", long_keys, "more than 50000 values"},
        {"deep", deep, "nested deeper than 128 levels"},
        {"deep JSON", deep_json, "nested deeper than 128 levels"},
        {"many numbers", many_numbers, "more than 50000 values"},
        {"declared bundles", declared_bundles, NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
        struct err err = {0};
        cleanup_buf struct buf b = BUF_INIT;
        hostile[i].make(&b);
        assert_true(b.len <= 256 * 1024);
        double begin = cost_ms();
        struct manifest_gangs *m = read_text(buf_str(&b), b.len, &err);
        double took = cost_ms() - begin;
        print_message("%-18s %6.1f ms: %s\n", hostile[i].name, took, m ? "read" : err.text);
        if (!m != !!hostile[i].error || (!m && !strstr(err.text, hostile[i].error)))
            fail_msg("%s: %s", hostile[i].name, m ? "read" : err.text);
        if (took > cost_limit(1000))
            fail_msg("%s: %.1f ms", hostile[i].name, took);
        manifest_gangs_free(m);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    print_message("at most %ld MiB\n", usage.ru_maxrss / 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_podgroup_and_the_job_that_names_it),
        cmocka_unit_test(podgroups_of_all_dialects),
        cmocka_unit_test(pods_can_declare_their_podgroup),
        cmocka_unit_test(muster_creates_the_podgroup_of_a_workload),
        cmocka_unit_test(workloads_with_one_name_stay_apart),
        cmocka_unit_test(pods_without_a_podgroup_are_gangs_of_one),
        cmocka_unit_test(fields_of_the_server_do_not_count),
        cmocka_unit_test(json_and_lists_are_read),
        cmocka_unit_test(other_objects_are_ignored),
        cmocka_unit_test(faults_name_the_object_and_the_field),
        cmocka_unit_test(an_object_with_a_fault_does_not_hide_others),
        cmocka_unit_test(text_that_is_no_manifest_is_refused),
        cmocka_unit_test(T15_hostile_text_costs_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
