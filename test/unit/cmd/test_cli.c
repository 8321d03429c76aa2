/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the program and checks its output and its exit code. argv[1] is the program.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "test/lib/raw_client.h"
#include "test/unit/config/temp_file.h"

static const char *program;

/* Runs the program with these arguments, split by a shell; stdout and stderr go to *out. */
static int muster(const char *args, struct buf *out)
{
    cleanup_free char *line = xasprintf("%s %s 2>&1", program, args);
    buf_clear(out);
    FILE *f = popen(line, "re");
    assert_non_null(f);
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(out, chunk, n);
    int status = pclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const struct {
    const char *args;
    int status;
    const char *output;
} cases[] = {
    {"", 2, "Commands:"},
    {"help", 0, "scheduler-config"},
    {"--help", 0, "Commands:"},
    {"help get", 0, "Usage: muster get "},
    {"bogus", 2, "unknown command \"bogus\""},
    {"version", 0, "muster "},
    {"--version", 0, "muster "},
    {"version x", 2, "muster version: unexpected argument \"x\""},
    {"serve --help", 0, "--hold-seconds"},
    {"serve --bogus", 2, "muster serve: unknown or ambiguous flag --bogus"},
    {"serve --hold-seconds", 2, "--hold-seconds needs a value"},
    {"serve extra", 2, "unexpected argument \"extra\""},
    {"serve --hold-seconds 26", 2, "--hold-seconds: holdSeconds: 26 is too long"},
    {"serve --config /nowhere.yaml", 2, "/nowhere.yaml: cannot be opened"},
    {"serve --cluster a --kubeconfig b", 2, "--cluster conflicts with a kubeconfig"},
    {"serve --cluster /nowhere.yaml --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0", 1,
     "/nowhere.yaml"},
    {"serve --record /dev/null --cluster examples/six-of-eight.yaml --listen 127.0.0.1:0 "
     "--ops-listen 127.0.0.1:0",
     1, "--record: /dev/null is not a regular file"},
    {"serve --record x --record-limit much", 2, "--record-limit: "},
    {"replay", 2, "name one recording"},
    {"replay a b", 2, "name one recording"},
    {"replay --output xml a", 2, "--output is \"xml\": write text or json"},
    {"replay --timeline --output json a", 2, "--timeline prints text"},
    {"replay /nowhere.jsonl", 1, "/nowhere.jsonl: cannot be opened"},
    {"replay examples/six-of-eight.yaml", 1, "examples/six-of-eight.yaml: line 1 is not JSON"},
    {"check", 0, "ok"},
    {"check --on-failed-commit evict", 0, "note: onFailedCommit: evict: muster evicts members"},
    {"check --strict-order maybe", 1,
     "--strict-order: strictOrder: \"maybe\" is not a valid value"},
    {"check --max-holds x", 1, "--max-holds: maxHolds: \"x\" is not a whole number"},
    {"check --scheduler-config /nowhere.yaml", 1, "/nowhere.yaml: error: cannot be opened"},
    {"check -f", 2, "-f needs a value"},
    {"check -f examples/train.yaml examples/two-gangs.yaml", 2,
     "unexpected argument \"examples/two-gangs.yaml\": write -f before each file"},
    {"check -f examples/train.yaml --config x", 2, "unknown or ambiguous flag --config"},
    {"check -o xml -f examples/train.yaml", 2, "-o xml: write text or json"},
    {"check -f /nowhere.yaml", 1, "check: /nowhere.yaml cannot be opened"},
    {"check -f /", 1, "check: / cannot be read"},
    {"check -f /dev/zero", 1, "/dev/zero: more than 256 KiB of manifests"},
    {"check --server 127.0.0.1:1 --filename=examples/train.yaml", 1,
     "check that muster is running"},
    {"check -h -f examples/train.yaml", 0, "Exit code: 0 if all gangs fit now"},
    {"scheduler-config --profile a-b", 0, "- schedulerName: \"a-b\""},
    {"scheduler-config --listen 127.0.0.1:1234", 0, "urlPrefix: http://127.0.0.1:1234/scheduler\n"},
    {"scheduler-config --profile A", 2, "profile \"A\" is not a valid schedulerName"},
    {"ungate", 2, "no pods are selected: write --all, or --namespace NS"},
    {"ungate --all --namespace ns", 2, "--all conflicts with --namespace"},
    {"ungate -n ns -A", 2, "--all conflicts with --namespace"},
    {"resume", 2, "write one of --all, --namespace NS, and KIND NS/NAME"},
    {"resume --all -n ns", 2, "write one of --all"},
    {"resume --all job a/b", 2, "write one of --all"},
    {"resume job", 2, "unexpected argument \"job\": write KIND NS/NAME"},
    {"resume job a/b c", 2, "unexpected argument \"job\""},
    {"resume job a", 2, "\"a\" is not a workload: write NS/NAME"},
    {"resume job /a", 2, "\"/a\" is not a workload"},
    {"resume statefulset a/b", 2, "muster does not suspend workloads of kind \"statefulset\""},
    {"resume --all --kubeconfig /nowhere", 1, "resume: "},
    {"resume --help", 0, "resume workloads that muster has suspended"},
    {"get", 2, "name what to show: gangs, nodes, queues or events"},
    {"get pods", 2, "name what to show: gangs, nodes, queues or events"},
    {"explain", 2, "name one gang, as NAMESPACE/NAME"},
    {"explain a/b c/d", 2, "name one gang"},
    {"explain -o wide a/b", 2, "-o wide: write text or json"},
    {"explain a", 1, "\"a\" is not the name of a gang: write NAMESPACE/NAME"},
    {"explain --server 127.0.0.1:1 a/b", 1, "check that muster is running"},
    {"explain --server http://127.0.0.1:1/ a/b", 1, "explain: http://127.0.0.1:1/api/v1/"},
    {"explain --server https://127.0.0.1:1 a/b", 1,
     "--server https://127.0.0.1:1: muster does not serve TLS: write http://ADDR:PORT"},
    {"get gangs a", 1, "\"a\" is not the name of a gang: write NAMESPACE/NAME"},
    {"get gangs a/b c", 2, "name what to show: gangs, nodes, queues or events"},
    {"get nodes a/b", 2, "unexpected argument \"a/b\""},
    {"get gangs -o yaml", 2, "-o yaml: write wide or json"},
    {"get gangs -n", 2, "-n needs a value"},
    {"get gangs -z", 2, "unknown flag -z"},
    {"get gangs --server 127.0.0.1:1", 1, "check that muster is running"},
    {"get gangs --server http://127.0.0.1:1", 1, "get: http://127.0.0.1:1/api/v1/gangs: "},
    {"get gangs --server HTTP://[::1]:1/", 1, "get: http://[::1]:1/api/v1/gangs: "},
    {"get gangs --server http://127.0.0.1:1/api", 1,
     "--server http://127.0.0.1:1/api is not an address: write http://ADDR:PORT or ADDR:PORT"},
    {"get gangs --server 127.0.0.1:1/api", 1, "--server 127.0.0.1:1/api is not an address"},
    {"get gangs --server ftp://127.0.0.1:1", 1, "--server ftp://127.0.0.1:1 is not an address"},
    {"get gangs --server http://", 1, "--server http:// is not an address"},
};

static void commands_name_the_mistake_and_set_the_exit_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf out = BUF_INIT;
        int status = muster(cases[i].args, &out);
        if (status != cases[i].status || !strstr(buf_str(&out), cases[i].output))
            fail_msg("muster %s: exit %d: %s", cases[i].args, status, buf_str(&out));
    }
}

static void check_accepts_the_output_of_scheduler_config(void **state)
{
    (void)state;
    cleanup_buf struct buf out = BUF_INIT;
    assert_int_equal(muster("scheduler-config --profile x --profile y", &out), 0);
    cleanup_file char *path = file_make(buf_str(&out));
    cleanup_free char *args = xasprintf("check --scheduler-config %s", path);
    assert_int_equal(muster(args, &out), 0);
    assert_string_equal(buf_str(&out), "ok\n");
    cleanup_free char *longer = xasprintf("check --hold-seconds 25 --http-timeout-seconds 40 "
                                          "--scheduler-config %s",
                                          path);
    assert_int_equal(muster(longer, &out), 0);
    cleanup_free char *too_long = xasprintf("check --hold-seconds 26 --http-timeout-seconds 40 "
                                            "--scheduler-config %s",
                                            path);
    assert_int_equal(muster(too_long, &out), 1);
    assert_non_null(strstr(buf_str(&out), "error: httpTimeout"));
}

/* The message names the first error, even if the report has a warning before it. */
static void serve_names_what_prevents_the_express_lane(void **state)
{
    (void)state;
    cleanup_file char *scheduler =
        file_make("apiVersion: kubescheduler.config.k8s.io/v1\n"
                  "kind: KubeSchedulerConfiguration\n"
                  "extenders:\n"
                  "- {urlPrefix: 'http://127.0.0.1:9910/scheduler', filterVerb: filter,\n"
                  "   prioritizeVerb: prioritize, preemptVerb: preempt, bindVerb: bind,\n"
                  "   weight: 10, httpTimeout: 30s}\n"
                  "profiles:\n"
                  "- plugins: {filter: {disabled: [{name: NodePorts}]}}\n");
    cleanup_free char *settings =
        xasprintf("expressLane: true\nkubeSchedulerConfig: %s\n", scheduler);
    cleanup_file char *config = file_make(settings);
    cleanup_free char *args = xasprintf("serve --config %s", config);
    cleanup_buf struct buf out = BUF_INIT;
    assert_int_equal(muster(args, &out), 1);
    if (!strstr(buf_str(&out), "expressLane: plugins.filter") || strstr(buf_str(&out), "warning: "))
        fail_msg("%s", buf_str(&out));
}

/* ---- serving ---- */

struct serving {
    pid_t pid;
    int err_fd;
    char verbs[64], ops[64];
};

static void address_behind(const char *log, const char *key, char out[static 64])
{
    const char *at = strstr(log, key);
    assert_non_null(at);
    at += strlen(key);
    snprintf(out, 64, "%.*s", (int)strcspn(at, "\""), at);
}

/* Starts `muster serve` on a built-in cluster and free ports, and waits until it listens. `more`:
 * further arguments, NULL at the end. */
static void serve_with(struct serving *s, const char *scenario, const char *const *more)
{
    const char *argv[24] = {program,    "serve",       "--cluster",    scenario,
                            "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"};
    int pipe_fds[2], args = 8;
    while (*more)
        argv[args++] = *more++;
    assert_int_equal(pipe(pipe_fds), 0);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends the server if the test fails */
        dup2(pipe_fds[1], STDERR_FILENO);
        close(pipe_fds[0]);
        close(pipe_fds[1]);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(pipe_fds[1]);
    s->err_fd = pipe_fds[0];
    cleanup_buf struct buf log = BUF_INIT;
    char chunk[512];
    while (!strstr(buf_str(&log), "ops=\"") || !strchr(strstr(buf_str(&log), "ops=\""), '\n')) {
        ssize_t n = read(s->err_fd, chunk, sizeof chunk);
        if (n <= 0)
            fail_msg("muster serve ended: %s", buf_str(&log));
        buf_append(&log, chunk, (size_t)n);
    }
    address_behind(buf_str(&log), "verbs=\"", s->verbs);
    address_behind(buf_str(&log), "ops=\"", s->ops);
}

static void serve(struct serving *s, const char *scenario)
{
    serve_with(s, scenario, (const char *const[]){NULL});
}

static int end(struct serving *s, int signal_number)
{
    int status;
    kill(s->pid, signal_number);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    close(s->err_fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Waits until `muster ARGS` prints the text. */
static void wait_until(const char *args, const char *output)
{
    cleanup_buf struct buf out = BUF_INIT;
    for (int try = 0; try < 500; try++) {
        muster(args, &out);
        if (strstr(buf_str(&out), output))
            return;
        usleep(20000);
    }
    fail_msg("muster %s does not print \"%s\": %s", args, output, buf_str(&out));
}

static void expect(const char *args, int status, const char *output)
{
    cleanup_buf struct buf out = BUF_INIT;
    int is = muster(args, &out);
    if (is != status || !strstr(buf_str(&out), output))
        fail_msg("muster %s: exit %d: %s", args, is, buf_str(&out));
}

/* Checks the outputs about the gang of test/sim/waiting.yaml. */
static void one_gang_is_shown(const char *ops)
{
    cleanup_free char *one = xasprintf("get gangs ml/training-job-pg --server %s", ops);
    cleanup_free char *json = xasprintf("get gangs ml/training-job-pg -o json --server %s", ops);
    cleanup_free char *unknown = xasprintf("get gangs ml/training-job-gp --server %s", ops);
    cleanup_free char *elsewhere = xasprintf("get gangs lm/training-job-pg --server %s", ops);
    cleanup_free char *events = xasprintf("get events --server %s", ops);
    cleanup_free char *of_one = xasprintf("get events ml/training-job-pg -o json --server %s", ops);
    cleanup_free char *of_none = xasprintf("get events -n nobody --server %s", ops);
    expect(one, 0, "   Waiting   ");
    expect(json, 0, "\"name\":\"training-job-pg\"");
    expect(unknown, 1,
           "gang ml/training-job-gp does not exist; gangs in its namespace: training-job-pg\n");
    expect(elsewhere, 1, "gang lm/training-job-pg does not exist, and its namespace has no gangs");
    expect(events, 0, "NotEnoughResources");
    expect(of_one, 0, "\"to\":\"Waiting\"");
    expect(of_none, 0, "No events found.\n");
    cleanup_free char *explain = xasprintf("explain ml/training-job-pg --server %s", ops);
    cleanup_free char *explain_json =
        xasprintf("explain ml/training-job-pg -o json --server %s", ops);
    cleanup_free char *explain_unknown = xasprintf("explain ml/training-job --server %s", ops);
    static const char *const lines[] = {
        "ml/training-job-pg is Waiting: 8 members needed, room for 6 (2 short of nvidia.com/gpu)\n"
        "would help: 2 more nvidia.com/gpu on any of 3 nodes",
        "\nmembers     8 exist, 8 needed, 0 bound, 0 at bind, 0 with a slot\n",
        "\nin order    1 of 1 waiting gangs, priority 0\n",
        "MEMBERS   SUCH AS          NODES   PASS RULES   BIG ENOUGH   HAVE ROOM   FIT NOW   SHORT "
        "OF\n"
        "8         training-job-0   3       3            3            3           6         "
        "nvidia.com/gpu: 1 each, 6 free, 2 on one node\n",
        "\ntraining-job-7   Unscheduled   Pending\n",
        "   Waiting      NotEnoughResources   8 members needed, room for 6",
    };
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        expect(explain, 0, lines[i]);
    expect(explain_json, 0,
           "\"shortage\":{\"resource\":\"nvidia.com/gpu\",\"perMember\":1,\"free\":6,");
    expect(explain_unknown, 1,
           "gang ml/training-job does not exist; gangs in its namespace: "
           "training-job-pg\n");
}

static void serve_shows_itself_and_ends_on_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        struct serving s;
        cleanup_buf struct buf out = BUF_INIT;
        serve(&s, "test/sim/waiting.yaml");
        cleanup_free char *gangs = xasprintf("get gangs --server %s", s.ops);
        cleanup_free char *none = xasprintf("get gangs -n nobody --server http://%s/", s.ops);
        cleanup_free char *json = xasprintf("get gangs -A -o json --server %s", s.ops);
        cleanup_free char *nodes = xasprintf("get nodes -o wide --server %s", s.ops);
        for (int try = 0; try < 500; try++) {
            assert_int_equal(muster(gangs, &out), 0);
            if (strstr(buf_str(&out), "Waiting"))
                break;
            usleep(20000);
        }
        assert_non_null(strstr(buf_str(&out), "NAMESPACE   NAME "));
        assert_non_null(strstr(buf_str(&out), "Waiting"));
        assert_int_equal(muster(none, &out), 0);
        assert_string_equal(buf_str(&out), "No gangs found.\n");
        assert_int_equal(muster(json, &out), 0);
        assert_int_equal(strncmp(buf_str(&out), "{\"gangs\":[{", 11), 0);
        assert_int_equal(muster(nodes, &out), 0);
        assert_non_null(strstr(buf_str(&out), "nvidia.com/gpu=0/2"));
        one_gang_is_shown(s.ops);
        kill(s.pid, SIGHUP); /* is ignored */
        cleanup_reply struct client_reply r;
        client_ask(s.ops, "GET", "/livez", NULL, &r);
        assert_int_equal(r.status, 200);
        assert_int_equal(end(&s, signals[i]), 0);
    }
}

static void a_bind_without_filter_is_refused_and_a_port_in_use_is_named(void **state)
{
    (void)state;
    struct serving s;
    cleanup_buf struct buf out = BUF_INIT;
    serve(&s, "examples/six-of-eight.yaml");
    cleanup_reply struct client_reply r;
    client_ask(s.verbs, "POST", "/scheduler/bind",
               "{\"PodName\":\"x\",\"PodNamespace\":\"y\",\"PodUID\":\"z\",\"Node\":\"gpu-0\"}",
               &r);
    assert_int_equal(r.status, 200);
    assert_null(strstr(buf_str(&r.body), "\"Error\":\"\""));
    cleanup_free char *args = xasprintf(
        "serve --cluster examples/six-of-eight.yaml --listen %s --ops-listen 127.0.0.1:0", s.verbs);
    assert_int_equal(muster(args, &out), 1);
    assert_non_null(strstr(buf_str(&out), "Address already in use"));
    assert_int_equal(end(&s, SIGTERM), 0);
}

static void explain_shows_parts_holders_and_kept_capacity(void **state)
{
    (void)state;
    struct serving s;
    static const char *const flags[] = {"--starvation-seconds",
                                        "1",
                                        "--schedule-timeout-seconds",
                                        "5",
                                        "--backoff-seconds",
                                        "100",
                                        NULL};
    serve_with(&s, "test/sim/kept.yaml", flags);
    cleanup_free char *family = xasprintf("explain ml/family --server %s", s.ops);
    cleanup_free char *late = xasprintf("explain ml/late --server %s", s.ops);
    wait_until(late, "capacity    is kept for gang ml/family\n");
    expect(late, 0, "kept for another gang\n");
    expect(family, 0, "capacity    is kept for this gang\n");
    expect(family, 0,
           "ml/family   2        2       0         0         0       2 of 2\n"
           "  leader    1        1       0         0         0\n"
           "  worker    1        1       0         0         0\n");
    expect(family, 0,
           "Largest users of nvidia.com/gpu on nodes that pass the rules\n"
           "AMOUNT   PODS   WHO             IF IT ENDED\n"
           "1        1      pod ml/single   the gang fits\n");
    expect(family, 0, "would fit:  with 1 more node like gpu-0\n");
    wait_until(family, "ml/family is BackedOff: ");
    expect(family, 0, "attempt     1 has failed; the next one begins in ");
    assert_int_equal(end(&s, SIGTERM), 0);
}

static void explain_names_gangs_of_a_lower_priority_that_are_in_the_way(void **state)
{
    (void)state;
    struct serving s;
    serve_with(&s, "test/sim/urgent.yaml", (const char *const[]){"--preemption=false", NULL});
    cleanup_free char *urgent = xasprintf("explain ml/urgent --server %s", s.ops);
    wait_until(urgent, "would fit:  without gang ml/batch, which may be evicted (highest priority: "
                       "0, gangs and pods hit: 1, lost work: ");
    cleanup_file char *path = file_make(
        "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: new},"
        " spec: {minMember: 1}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: new-0,"
        " labels: {scheduling.x-k8s.io/pod-group: new}}, spec: {priority: 20, containers:"
        " [{name: main, resources: {requests: {nvidia.com/gpu: 4}}}]}}\n");
    cleanup_free char *check = xasprintf("check -f %s -n ml --server %s", path, s.ops);
    expect(check, 3, "would fit   without gang ml/batch, which may be evicted (highest priority: ");
    assert_int_equal(end(&s, SIGTERM), 0);
}

static void explain_names_pods_whose_moves_would_make_room(void **state)
{
    (void)state;
    struct serving s;
    serve(&s, "test/sim/fragmented.yaml");
    cleanup_free char *train = xasprintf("explain ml/train --server %s", s.ops);
    cleanup_free char *json = xasprintf("explain ml/train -o json --server %s", s.ops);
    wait_until(train, "would fit:  after moving pod ml/web-a from gpu-0 to gpu-1\n");
    expect(json, 0,
           "\"consolidation\":{\"makesRoom\":\"yes\",\"moves\":[{\"kind\":\"pod\",\"namespace\":"
           "\"ml\","
           "\"name\":\"web-a\",\"pods\":1,\"restarts\":1,\"from\":\"gpu-0\",\"to\":\"gpu-1\"}]}");
    assert_int_equal(end(&s, SIGTERM), 0);
}

/* Many nodes, and a gang with long rules that fits on none of them. */
static void put_long_rules(struct buf *out)
{
    buf_puts(out, "nodes:\n"
                  "- {name: n, count: 1000, allocatable: {cpu: 1}}\n"
                  "objects:\n"
                  "- apiVersion: scheduling.volcano.sh/v1beta1\n"
                  "  kind: PodGroup\n"
                  "  metadata: {name: g, namespace: ml}\n"
                  "  spec: {minMember: 1}\n"
                  "- apiVersion: v1\n"
                  "  kind: Pod\n"
                  "  metadata: {name: g-0, namespace: ml,\n"
                  "    annotations: {scheduling.k8s.io/group-name: g}}\n"
                  "  spec:\n"
                  "    containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]\n"
                  "    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:\n"
                  "      {nodeSelectorTerms: [{matchExpressions: [\n");
    for (int i = 0; i < 120; i++)
        buf_printf(
            out, "      {key: example.com/the-name-of-a-label-%03d, operator: DoesNotExist},\n", i);
    buf_puts(out, "      ]}]}}}\n");
}

static void T10_explain_shows_that_it_counted_on_some_nodes_only(void **state)
{
    (void)state;
    struct serving s;
    cleanup_buf struct buf text = BUF_INIT;
    put_long_rules(&text);
    cleanup_file char *path = file_make(buf_str(&text));
    serve(&s, path);
    cleanup_free char *args = xasprintf("explain ml/g --server %s", s.ops);
    cleanup_free char *json = xasprintf("explain ml/g -o json --server %s", s.ops);
    wait_until(args, "ml/g is Waiting: ");
    expect(args, 0, "… counted on some nodes only (NODES), because ");
    expect(json, 0, "\"fitNow\":0,\"partial\":true,\"shortage\":{");
    assert_int_equal(end(&s, SIGTERM), 0);
}

static void replay_finds_the_change(const char *path, const char *from, const char *to)
{
    cleanup_buf struct buf out = BUF_INIT;
    cleanup_file char *other = file_make("");
    cleanup_free char *change = xasprintf("sed 's/%s/%s/' %s >%s", from, to, path, other);
    cleanup_free char *args = xasprintf("replay %s", other);
    cleanup_free char *json = xasprintf("replay --output json %s", other);
    assert_int_equal(system(change), 0);
    expect(args, 1, "DIFFERENT in step ");
    expect(json, 1, "\"same\": false");
}

/* systemd and the kubelet start muster again and again until the cause is fixed. */
static void failed_starts_leave_the_recording_alone(void **state)
{
    (void)state;
    cleanup_file char *path = file_make("a recording\n");
    cleanup_file char *old = xasprintf("%s.old", path);
    cleanup_free char *args =
        xasprintf("serve --record %s --kubeconfig /nowhere --listen 127.0.0.1:0 "
                  "--ops-listen 127.0.0.1:0",
                  path);
    for (int i = 0; i < 2; i++)
        expect(args, 1, "/nowhere");
    cleanup_free char *same = xasprintf("replay %s", path);
    expect(same, 1, "line 1 is not JSON");
    assert_int_not_equal(access(old, F_OK), 0);
}

/* The API client runs when the file is refused. */
static void a_refused_recording_ends_the_start(void **state)
{
    (void)state;
    cleanup_file char *kubeconfig =
        file_make("current-context: c\n"
                  "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                  "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                  "users: [{name: u, user: {token: t}}]\n");
    cleanup_free char *args =
        xasprintf("serve --record /dev/null --kubeconfig %s --listen 127.0.0.1:0 "
                  "--ops-listen 127.0.0.1:0",
                  kubeconfig);
    expect(args, 1, "--record: /dev/null is not a regular file");
}

static void C15_a_recording_of_a_live_server_replays_to_the_same_decisions(void **state)
{
    (void)state;
    struct serving s;
    cleanup_file char *path = file_make("");
    serve_with(&s, "examples/two-gangs.yaml", (const char *const[]){"--record", path, NULL});
    cleanup_free char *gangs = xasprintf("get gangs --server %s", s.ops);
    wait_until(gangs, "Scheduled");
    /* Calls over HTTP between those of the built-in cluster's scheduler. */
    for (int i = 0; i < 3; i++) {
        cleanup_reply struct client_reply r;
        client_ask(
            s.verbs, "POST", "/scheduler/filter",
            "{\"Pod\":{\"metadata\":{\"name\":\"x\",\"namespace\":\"ml\",\"uid\":\"z\"},"
            "\"spec\":{\"containers\":[{\"name\":\"c\"}]}},\"NodeNames\":[\"no\",\"gpu-0\"]}",
            &r);
        assert_int_equal(r.status, 200);
        cleanup_reply struct client_reply bound;
        client_ask(s.verbs, "POST", "/scheduler/bind",
                   "{\"PodName\":\"x\",\"PodNamespace\":\"y\",\"PodUID\":\"z\",\"Node\":\"gpu-0\"}",
                   &bound);
    }
    assert_int_equal(end(&s, SIGTERM), 0);
    cleanup_free char *args = xasprintf("replay --check %s", path);
    cleanup_free char *json = xasprintf("replay --output json %s", path);
    cleanup_free char *timeline = xasprintf("replay --timeline %s", path);
    expect(args, 0, "the same decisions\n");
    expect(json, 0, "\"end\": \"stopped\"");
    expect(timeline, 0, " scheduled: ");
    replay_finds_the_change(path, "\"do\":\"bind\"", "\"do\":\"evict\"");
    replay_finds_the_change(path, "\"nvidia.com\\/gpu\",[0-9]*", "\"nvidia.com\\/gpu\",1");
}

/* Runs `muster check -f` on the text. */
static void checked(const char *ops, const char *manifests, int status, const char *output)
{
    cleanup_file char *path = file_make(manifests);
    cleanup_free char *args = xasprintf("check -f %s -n ml --server %s", path, ops);
    expect(args, status, output);
}

#define JOB(PODS, MORE)                                                                            \
    "apiVersion: batch/v1\n"                                                                       \
    "kind: Job\n"                                                                                  \
    "metadata: {name: train}\n"                                                                    \
    "spec:\n"                                                                                      \
    "  parallelism: " PODS "\n"                                                                    \
    "  template:\n"                                                                                \
    "    metadata: {annotations: {pod-group-name: train}}\n"                                       \
    "    spec:\n"                                                                                  \
    "      restartPolicy: Never\n" MORE                                                            \
    "      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]\n"
#define GANG_IN(QUEUE, MINIMUM)                                                                    \
    "---\n"                                                                                        \
    "{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: train},"            \
    " spec: {queue: " QUEUE ", minMember: " MINIMUM "}}\n"
#define GANG(MINIMUM) GANG_IN("", MINIMUM)
#define QUEUE(NAME, GPUS)                                                                          \
    "- {apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: " NAME "}, spec: "         \
    "{resources: {cpu: {limit: -1}, memory: {limit: -1}, gpu: {limit: " GPUS "}}}}\n"

static void check_says_what_would_happen_to_manifests(void **state)
{
    (void)state;
    struct serving s;
    cleanup_file char *cluster =
        file_make("nodes:\n- {name: n, count: 3, allocatable: {cpu: 64, nvidia.com/gpu: 2}}\n"
                  "objects:\n" QUEUE("small", "4") QUEUE("large", "-1"));
    serve(&s, cluster);
    checked(s.ops, JOB("5", "") GANG_IN("small", "5"), 3,
            "gang ml/train does not fit now: 5 members needed (5 gpu), but queue small uses 0 of "
            "its limit of 4 gpu\nwould fit   with a minimum of 4 members\n"
            "would fit   in queue large\n");
    checked(s.ops, JOB("5", "") GANG_IN("none", "5"), 3,
            " does not fit now: queue none does not exist; create it or name another queue\n");
    checked(s.ops, JOB("5", "") GANG("4"), 0,
            "gang ml/train fits now: 5 of 5 pods get a node, 4 are needed\n"
            "nodes       n-0 (2), n-1 (2), n-2 (1)\n");
    checked(s.ops, JOB("8", "") GANG("8"), 3,
            "gang ml/train does not fit now: 8 members needed, room for 6 (2 short of "
            "nvidia.com/gpu)\n");
    checked(s.ops, JOB("8", "") GANG("8"), 3,
            "\nwould fit   with a minimum of 6 members\nwould fit   with 1 more node like n-0\n"
            "in order    1st of the gangs that wait\n");
    checked(s.ops, JOB("5", "") GANG("6"), 3,
            " does not fit now: 5 of 6 members exist\nwould fit   with a minimum of 5 members\n");
    checked(s.ops, JOB("5", "      nodeSelector: [a]\n") GANG("4"), 1,
            "gang ml/train is invalid: pod ml/train-0: spec: nodeSelector is a list");
    checked(s.ops, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n-0}}", 1,
            "error: Pod ml/p: spec.nodeName is set");
    checked(s.ops, "kind: Pod\nmetadata: [\n", 1, "check: manifest:3: while parsing");
    checked(s.ops, "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n" GANG("1"), 3,
            "not checked: Secret x\n");
    cleanup_free char *json =
        xasprintf("check -f examples/train.yaml -o json --server http://%s", s.ops);
    expect(json, 3, "\"smallerMinimum\":6,");
    cleanup_free char *input =
        xasprintf("check --filename - --server %s <examples/train.yaml", s.ops);
    expect(input, 3, "gang default/train does not fit now: ");
    cleanup_free char *twice =
        xasprintf("check -f - -f /dev/null --server %s <examples/train.yaml", s.ops);
    expect(twice, 3, "gang default/train does not fit now: ");
    cleanup_free char *gangs = xasprintf("get gangs --server %s", s.ops);
    expect(gangs, 0, "No gangs found.\n");
    assert_int_equal(end(&s, SIGTERM), 0);
}

static void metrics_say(const struct serving *s, const char *line)
{
    cleanup_reply struct client_reply r;
    client_ask(s->ops, "GET", "/metrics", NULL, &r);
    if (!strstr(buf_str(&r.body), line))
        fail_msg("the metrics do not contain: %s", line);
}

static void P03_the_lane_on_a_built_in_cluster(void **state)
{
    (void)state;
    struct serving s;
    cleanup_buf struct buf printed = BUF_INIT;
    assert_int_equal(muster("scheduler-config --listen 127.0.0.1:0", &printed), 0);
    cleanup_file char *path = file_make(buf_str(&printed));
    serve_with(
        &s, "test/sim/P03-express.yaml",
        (const char *const[]){"--express-lane", "true", "--kube-scheduler-config", path, NULL});
    cleanup_free char *gangs = xasprintf("get gangs --server %s", s.ops);
    wait_until(gangs, "Scheduled");
    metrics_say(&s, "\nmuster_express_lane 1\n");
    cleanup_reply struct client_reply r;
    client_ask(s.ops, "GET", "/metrics", NULL, &r);
    assert_null(strstr(buf_str(&r.body), "\nmuster_express_bindings_total 0\n"));
    assert_int_equal(end(&s, SIGTERM), 0);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    program = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_name_the_mistake_and_set_the_exit_code),
        cmocka_unit_test(check_accepts_the_output_of_scheduler_config),
        cmocka_unit_test(serve_names_what_prevents_the_express_lane),
        cmocka_unit_test(serve_shows_itself_and_ends_on_signals),
        cmocka_unit_test(explain_shows_parts_holders_and_kept_capacity),
        cmocka_unit_test(explain_names_gangs_of_a_lower_priority_that_are_in_the_way),
        cmocka_unit_test(explain_names_pods_whose_moves_would_make_room),
        cmocka_unit_test(T10_explain_shows_that_it_counted_on_some_nodes_only),
        cmocka_unit_test(failed_starts_leave_the_recording_alone),
        cmocka_unit_test(a_refused_recording_ends_the_start),
        cmocka_unit_test(C15_a_recording_of_a_live_server_replays_to_the_same_decisions),
        cmocka_unit_test(check_says_what_would_happen_to_manifests),
        cmocka_unit_test(P03_the_lane_on_a_built_in_cluster),
        cmocka_unit_test(a_bind_without_filter_is_refused_and_a_port_in_use_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
