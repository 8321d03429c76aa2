/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster behind an API server, as server/loop uses it: from kubeconfig to close, with its
 * thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "fake_api.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/kube_cluster.h"

#define NODES    "GET /api/v1/nodes"
#define PODS     "GET /api/v1/pods"
#define CLAIMS   "GET /api/v1/persistentvolumeclaims"
#define VOLUMES  "GET /api/v1/persistentvolumes"
#define WATCH    "WATCH /api/v1/pods"
#define W_CLAIMS "WATCH /api/v1/persistentvolumeclaims"
#define VERSION  "GET /apis/scheduling.volcano.sh/v1beta1"
#define GROUPS   "GET /apis/scheduling.volcano.sh/v1beta1/podgroups"
#define W_GROUPS "WATCH /apis/scheduling.volcano.sh/v1beta1/podgroups"
#define CLASSES  "GET /apis/scheduling.k8s.io/v1/priorityclasses"
#define W_CLASS  "WATCH /apis/scheduling.k8s.io/v1/priorityclasses"
#define BUDGETS  "GET /apis/policy/v1/poddisruptionbudgets"
#define W_BUDGET "WATCH /apis/policy/v1/poddisruptionbudgets"
#define BINDING  "POST /api/v1/namespaces/ml/pods/p/binding"

#define META(name, version)                                                                        \
    "\"metadata\":{\"namespace\":\"ml\",\"name\":\"" name "\",\"uid\":\"u-" name                   \
    "\",\"resourceVersion\":\"" version "\"}"
#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define NODE   "{\"metadata\":{\"name\":\"n1\",\"uid\":\"un\",\"resourceVersion\":\"1\"}}"
#define SERVED "{\"resources\":[{\"name\":\"podgroups\"},{\"name\":\"podgroups/status\"}]}"

struct fixture {
    struct fake_api *api;
    struct cluster *cluster;
    char config[32];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buf heard; /* shared */
    usec_t api_time;  /* of SYNCED; shared */
};

static void on_event(void *arg, struct gang_event *ev)
{
    struct fixture *x = arg;
    pthread_mutex_lock(&x->lock);
    struct buf *b = &x->heard;
    switch (ev->kind) {
    case GANG_EV_NODE_SET:
        buf_printf(b, "+node %s%s;", ev->node->name, ev->node->unschedulable ? " cordoned" : "");
        break;
    case GANG_EV_POD_SET:
        buf_printf(b, "+pod %s%s%s;", ev->pod->name, ev->pod->awaits_group ? " waits" : "",
                   ev->pod->group.name ? " in its group" : "");
        break;
    case GANG_EV_GROUP_SET:
        buf_printf(b, "+group %s%s%s;", ev->group->ref.name, ev->group->invalid ? " " : "",
                   ev->group->invalid ? ev->group->invalid : "");
        break;
    case GANG_EV_GROUP_GONE:
        buf_printf(b, "-group %s/%s/%s;", ev->gone.api_group, ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_CLASS_SET:
        buf_printf(b, "+class %s %d;", ev->class->name, (int)ev->class->value);
        break;
    case GANG_EV_CLASS_GONE:
        buf_printf(b, "-class %s;", ev->gone.name);
        break;
    case GANG_EV_BUDGET_SET:
        buf_printf(b, "+budget %s %d%s;", ev->budget->name, (int)ev->budget->allowed,
                   ev->budget->selector.n || ev->budget->selects_none ? "" : " of all pods");
        break;
    case GANG_EV_BUDGET_GONE:
        buf_printf(b, "-budget %s/%s;", ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_JOB_SET:
        buf_printf(b, "+job %s %d;", ev->job->name, (int)ev->job->spare);
        break;
    case GANG_EV_JOB_GONE:
        buf_printf(b, "-job %s/%s;", ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_POD_GONE:
        buf_printf(b, "-pod %s/%s;", ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_CLAIM_SET:
        buf_printf(b, "+claim %s %s;", ev->claim->name,
                   ev->claim->n_terms ? ev->claim->terms[0].items[0].values[0] : "");
        break;
    case GANG_EV_CLAIM_GONE:
        buf_printf(b, "-claim %s/%s;", ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_QUEUE_SET:
        buf_printf(b, "+queue %s;", ev->queue->ref.name);
        break;
    case GANG_EV_QUEUE_GONE:
        buf_printf(b, "-queue %s/%s/%s;", ev->gone.api_group, ev->gone.ns, ev->gone.name);
        break;
    case GANG_EV_BIND_DONE:
        buf_printf(b, "bound %s %d;", ev->result.uid, (int)ev->result.outcome);
        break;
    case GANG_EV_SYNCED:
        buf_puts(b, "SYNCED;");
        x->api_time = ev->synced.api_time;
        break;
    default:
        buf_printf(b, "%s;", gang_event_name(ev->kind));
        break;
    }
    gang_event_done(ev);
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static bool await(struct fixture *x, const char *text, usec_t limit)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit / USEC_PER_SEC;
    until.tv_nsec += limit % USEC_PER_SEC * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&x->lock);
    int e = 0;
    bool found;
    while (!(found = strstr(buf_str(&x->heard), text) != NULL) && e == 0)
        e = pthread_cond_timedwait(&x->changed, &x->lock, &until);
    pthread_mutex_unlock(&x->lock);
    return found;
}

#define assert_heard(x, text)                                                                      \
    do {                                                                                           \
        if (!await((x), (text), 15 * USEC_PER_SEC))                                                \
            fail_msg("timed out: no %s in %s", (text), buf_str(&(x)->heard));                      \
    } while (0)
/* Other events may come in between, as those of watches do. */
#define assert_heard_before_synced(x, text)                                                        \
    do {                                                                                           \
        assert_heard(x, "SYNCED;");                                                                \
        const char *piece = strstr(buf_str(&(x)->heard), (text));                                  \
        if (!piece || piece > strstr(buf_str(&(x)->heard), "SYNCED;"))                             \
            fail_msg("no %s before SYNCED in %s", (text), buf_str(&(x)->heard));                   \
    } while (0)
#define assert_not_heard(x, text) assert_false(await((x), (text), 300 * USEC_PER_MSEC))

static int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    x->api = fake_start();
    strcpy(x->config, "/tmp/muster-api-XXXXXX");
    int fd = mkstemp(x->config);
    if (fd < 0)
        return -1;
    dprintf(fd,
            "current-context: c\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\n"
            "clusters:\n- name: c\n  cluster: {server: \"%s\"}\nusers:\n- name: u\n"
            "  user: {token: secret}\n",
            fake_url(x->api));
    close(fd);
    fake_answer(x->api, NODES, 200, LIST("5", NODE));
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    if (x->cluster)
        x->cluster->ops->close(x->cluster, 0);
    fake_stop(x->api);
    unlink(x->config);
    buf_done(&x->heard);
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
    free(x);
    return 0;
}

static void open_cluster_as(struct fixture *x, struct kube_cluster_options *options)
{
    struct err err;
    struct cluster_sink sink = {on_event, x};
    options->kubeconfig = x->config;
    options->version = "1.2.3";
    if (kube_cluster_open(options, &sink, &x->cluster, &err) < 0)
        fail_msg("%s", err.text);
}

static void open_cluster_with(struct fixture *x, const struct workload_rules *rules)
{
    open_cluster_as(x, &(struct kube_cluster_options){.rules = rules});
}

static void open_cluster(struct fixture *x)
{
    open_cluster_with(x, /* rules= */ NULL);
}

static void bind_pod(struct fixture *x, const char *name)
{
    struct gang_effect e = {.kind = GANG_BIND};
    e.pod.ns = "ml";
    e.pod.name = name;
    e.pod.uid = "u-p";
    e.pod.node = "n1";
    x->cluster->ops->apply(x->cluster, usec_now(), &e);
}

static void synced_is_reported_once_when_all_lists_are_read(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", "{" META("p", "2") "}"));
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer_late(x->api, GROUPS, 200,
                     LIST("7", "{" META("g", "3") ",\"spec\":{\"minMember\":8}}"));
    open_cluster(x);
    assert_heard(x, "+pod p;");
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
    fake_release(x->api);
    assert_heard_before_synced(x, "+group g;");
    assert_string_equal(fake_authorization(x->api, PODS, 0), "Bearer secret");
    /* A later list does not report it again. */
    while (fake_count(x->api, WATCH) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, WATCH, "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n", FAKE_OPEN);
    while (fake_count(x->api, PODS) == 1)
        usleep(1000);
    pthread_mutex_lock(&x->lock);
    const char *first = strstr(buf_str(&x->heard), "SYNCED");
    assert_null(strstr(first + 1, "SYNCED"));
    pthread_mutex_unlock(&x->lock);
}

/* Its clock may differ from the clock of muster's node. */
static void synced_has_the_time_of_the_api_server(void **state)
{
    struct fixture *x = *state;
    const usec_t year_2100 = 4102444800 * USEC_PER_SEC;
    fake_date(x->api, "Fri, 01 Jan 2100 00:00:00 GMT");
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer(x->api, GROUPS, 200, LIST("7", ""));
    usec_t before = usec_now();
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    assert_true(x->api_time >= year_2100);
    assert_true(x->api_time <= year_2100 + (usec_now() - before));
}

static void a_date_that_is_no_time_does_not_count(void **state)
{
    static const char *const dates[] = {"now",
                                        "2100",
                                        "2100-01-01T00:00:00Z",
                                        "Fri, 01 Jan 2100 00:00:00 +0100",
                                        "Fri, 01 Jan 2100 00:00:00 GMT+1",
                                        "Fri, 01 Jan 99999999999 00:00:00 GMT"};
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer(x->api, GROUPS, 200, LIST("7", ""));
    for (size_t i = 0; i < ARRAY_SIZE(dates); i++) {
        fake_date(x->api, dates[i]);
        open_cluster(x);
        assert_heard(x, "SYNCED;");
        if (x->api_time)
            fail_msg("\"%s\" is the time %lld", dates[i], (long long)x->api_time);
        x->cluster->ops->close(STEAL(x->cluster), 0);
        buf_clear(&x->heard);
    }
}

static void without_the_right_to_read_pods_it_is_never_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 403, "{\"message\":\"pods is forbidden\"}");
    open_cluster(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
}

/* Otherwise its pods would get the reason that it does not exist. */
static void T01_an_unreadable_podgroup_is_invalid(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf values = BUF_INIT;
    for (int i = 0; i < KUBE_JSON_VALUES; i++)
        buf_puts(&values, "0,");
    cleanup_free char *list =
        xasprintf(LIST("7", "{\"metadata\":{\"namespace\":\"ml\",\"name\":\"rich\",\"uid\":"
                            "\"u-r\",\"resourceVersion\":\"2\"},\"x\":[%s0]}"),
                  buf_str(&values));
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer(x->api, GROUPS, 200, list);
    open_cluster(x);
    assert_heard(x, "+group rich it cannot be read: it has 20008 values, must be at most 20000; "
                    "remove fields that are not needed;");
    assert_heard(x, "SYNCED;");
}

/* It is not forgotten, because pods run on it. */
static void T01_an_unreadable_node_is_cordoned(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf values = BUF_INIT;
    for (int i = 0; i < KUBE_JSON_VALUES; i++)
        buf_puts(&values, "0,");
    cleanup_free char *line =
        xasprintf("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"rich\",\"uid\":\"u\","
                  "\"resourceVersion\":\"7\"},\"x\":[%s0]}}\n",
                  buf_str(&values));
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_stream(x->api, "WATCH /api/v1/nodes", line, FAKE_OPEN);
    open_cluster(x);
    assert_heard(x, "+node rich cordoned;");
}

static void without_the_right_to_read_podgroups_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer(x->api, GROUPS, 403, "{\"message\":\"podgroups is forbidden\"}");
    open_cluster(x);
    assert_heard(x, "SYNCED;");
}

static void without_the_right_to_read_volumes_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, CLAIMS, 200, LIST("6", ""));
    fake_answer_late(x->api, VOLUMES, 403, "{\"message\":\"persistentvolumes is forbidden\"}");
    open_cluster(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED"); /* rights are checked before */
    fake_release(x->api);
    assert_heard(x, "SYNCED;");
}

static void claims_are_joined_with_their_volumes(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, CLAIMS, 200,
                LIST("6", "{" META("c", "3") ",\"spec\":{\"volumeName\":\"v\"}}"));
    fake_answer(
        x->api, VOLUMES, 200,
        LIST("6",
             "{" META("v", "4") ",\"spec\":{\"nodeAffinity\":{\"required\":{"
                                "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
                                "\"operator\":\"In\",\"values\":[\"a\"]}]}]}}}}"));
    open_cluster(x);
    assert_heard(x, "+claim c a;");
    assert_heard(x, "SYNCED;");
    while (fake_count(x->api, W_CLAIMS) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_CLAIMS, "{\"type\":\"DELETED\",\"object\":{" META("c", "5") "}}\n",
              FAKE_OPEN);
    assert_heard(x, "-claim ml/c;");
}

#define CLASS(version)                                                                             \
    "{\"metadata\":{\"name\":\"high\",\"uid\":\"uc\",\"resourceVersion\":\"" version               \
    "\"},\"value\":1000}"

static void priority_classes_are_followed(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer_late(x->api, CLASSES, 200, LIST("7", CLASS("3")));
    open_cluster(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
    fake_release(x->api);
    assert_heard_before_synced(x, "+class high 1000;");
    while (fake_count(x->api, W_CLASS) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_CLASS, "{\"type\":\"DELETED\",\"object\":" CLASS("8") "}\n", FAKE_OPEN);
    assert_heard(x, "-class high;");
}

static void without_the_right_to_read_priority_classes_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, CLASSES, 403, "{\"message\":\"priorityclasses is forbidden\"}");
    fake_answer(x->api, CLASSES, 200, LIST("7", CLASS("3")));
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    assert_heard(x, "+class high 1000;"); /* the right is granted later */
}

#define BUDGET(name, version, selector)                                                            \
    "{" META(name, version) ",\"spec\":{\"selector\":" selector "},\"status\":{"                   \
                            "\"disruptionsAllowed\":2}}"

static void open_cluster_with_preemption(struct fixture *x)
{
    open_cluster_as(x, &(struct kube_cluster_options){.preemption = true});
}

static void disruption_budgets_are_followed(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer_late(x->api, BUDGETS, 200,
                     LIST("7", BUDGET("b", "3", "{\"matchLabels\":{\"app\":\"a\"}}") "," BUDGET(
                                   "odd", "4", "{\"matchLabels\":{\"app\":1}}")));
    open_cluster_with_preemption(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
    fake_release(x->api);
    assert_heard_before_synced(x, "+budget b 2;+budget odd 0 of all pods;");
    while (fake_count(x->api, W_BUDGET) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_BUDGET, "{\"type\":\"DELETED\",\"object\":" BUDGET("b", "8", "{}") "}\n",
              FAKE_OPEN);
    assert_heard(x, "-budget ml/b;");
}

#define JOBS                      "GET /apis/batch/v1/jobs"
#define W_JOB                     "WATCH /apis/batch/v1/jobs"
#define JOB(name, version, limit) "{" META(name, version) ",\"spec\":{\"backoffLimit\":" limit "}}"

static void jobs_are_followed(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer_late(x->api, JOBS, 200, LIST("7", JOB("j", "3", "4") "," JOB("odd", "4", "[]")));
    open_cluster_with_preemption(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
    fake_release(x->api);
    assert_heard_before_synced(x, "+job j 4;");
    while (fake_count(x->api, W_JOB) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_JOB, "{\"type\":\"DELETED\",\"object\":" JOB("j", "8", "4") "}\n",
              FAKE_OPEN);
    assert_heard(x, "-job ml/j;");
}

static void T01_an_unreadable_budget_covers_its_namespace(void **state)
{
    struct fixture *x = *state;
    cleanup_buf struct buf values = BUF_INIT;
    for (int i = 0; i < KUBE_JSON_VALUES; i++)
        buf_puts(&values, "0,");
    cleanup_free char *list = xasprintf(
        LIST("7", "{" META("b", "2") ",\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"a\"}}},"
                                     "\"x\":[%s0]}"),
        buf_str(&values));
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, BUDGETS, 200, list);
    open_cluster_with_preemption(x);
    assert_heard_before_synced(x, "+budget b 0 of all pods;");
}

static void without_the_right_to_read_budgets_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, BUDGETS, 403, "{\"message\":\"poddisruptionbudgets is forbidden\"}");
    open_cluster_with_preemption(x);
    assert_heard(x, "SYNCED;");
}

static void without_preemption_budgets_and_jobs_are_not_read(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, BUDGETS, 200, LIST("7", BUDGET("b", "3", "{}")));
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    assert_int_equal(fake_count(x->api, BUDGETS), 0);
    assert_int_equal(fake_count(x->api, JOBS), 0);
}

static void a_crd_may_be_installed_later_and_removed_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, VERSION, 404, "404 page not found");
    fake_answer(x->api, VERSION, 200, SERVED);
    fake_answer(x->api, GROUPS, 200, LIST("7", "{" META("g", "3") ",\"spec\":{\"minMember\":8}}"));
    fake_answer(x->api, GROUPS, 404, "404 page not found");
    fake_stream(x->api, W_GROUPS, "", FAKE_OPEN);
    fake_answer(x->api, W_GROUPS, 404, "404 page not found");
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    assert_heard(x, "+group g;");
    while (fake_count(x->api, W_GROUPS) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_GROUPS, "", FAKE_END);
    assert_heard(x, "-group scheduling.volcano.sh/ml/g;");
}

#define KAI_V2   "GET /apis/scheduling.run.ai/v2"
#define QUEUES   "GET /apis/scheduling.run.ai/v2/queues"
#define W_QUEUES "WATCH /apis/scheduling.run.ai/v2/queues"
#define STATUS   "PATCH /apis/scheduling.run.ai/v2/queues/training/status"
#define QUEUE    "{\"metadata\":{\"name\":\"training\",\"uid\":\"uq\",\"resourceVersion\":\"3\"}}"

static void Q01_queues_are_followed_and_get_their_status(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, KAI_V2, 200,
                "{\"resources\":[{\"name\":\"queues\"},{\"name\":\"queues/status\"}]}");
    fake_answer_late(x->api, QUEUES, 200, LIST("7", QUEUE));
    fake_answer(x->api, STATUS, 200, QUEUE);
    open_cluster(x);
    assert_heard(x, "+node n1;");
    assert_not_heard(x, "SYNCED");
    fake_release(x->api);
    assert_heard_before_synced(x, "+queue training;");
    static char group[] = "scheduling.run.ai", none[] = "", name[] = "training";
    struct gang_ref ref = {group, none, name};
    struct gang_effect e = {.kind = GANG_QUEUE_STATUS};
    e.queue = (struct gang_queue_status){.ref = &ref, .uid = "uq", .text = ""};
    x->cluster->ops->apply(x->cluster, usec_now(), &e);
    while (fake_count(x->api, STATUS) == 0 || fake_count(x->api, W_QUEUES) == 0)
        usleep(1000);
    usleep(50000);
    fake_push(x->api, W_QUEUES, "{\"type\":\"DELETED\",\"object\":" QUEUE "}\n", FAKE_OPEN);
    assert_heard(x, "-queue scheduling.run.ai//training;");
}

static void without_the_right_to_read_queues_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, KAI_V2, 200, "{\"resources\":[{\"name\":\"queues\"}]}");
    fake_answer(x->api, QUEUES, 403, "{\"message\":\"queues is forbidden\"}");
    open_cluster(x);
    assert_heard(x, "SYNCED;");
}

static void waiting_bindings_are_written_before_close_returns(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, BINDING, 201, "{}");
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    for (int i = 0; i < 200; i++)
        bind_pod(x, "p");
    x->cluster->ops->close(x->cluster, usec_now() + 10 * USEC_PER_SEC);
    x->cluster = NULL;
    assert_int_equal(fake_count(x->api, BINDING), 200);
    assert_heard(x, "bound u-p 0;");
}

static void close_returns_within_its_time_limit(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer_late(x->api, BINDING, 201, "{}");
    open_cluster(x);
    bind_pod(x, "p");
    while (fake_count(x->api, BINDING) == 0)
        usleep(1000);
    usec_t begin = usec_now();
    x->cluster->ops->close(x->cluster, begin + 100 * USEC_PER_MSEC);
    x->cluster = NULL;
    assert_true(usec_now() - begin < 3 * USEC_PER_SEC);
}

static void the_metrics_of_the_client_are_printed(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, PODS, 200, LIST("6", ""));
    fake_answer(x->api, BINDING, 201, "{}");
    open_cluster(x);
    assert_heard(x, "SYNCED;");
    bind_pod(x, "p");
    assert_heard(x, "bound");
    cleanup_buf struct buf out = BUF_INIT;
    x->cluster->ops->metrics(x->cluster, &out);
    static const char *const lines[] = {
        "muster_api_requests_total{verb=\"list\",resource=\"pods\",code=\"200\"} 1\n",
        "muster_api_requests_total{verb=\"create\",resource=\"bindings\",code=\"201\"} 1\n",
        "muster_api_request_duration_seconds_count{verb=\"create\"} 1\n",
        "muster_watch_lists_total{resource=\"nodes\"} 1\n",
        "# TYPE muster_api_queue_length gauge\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        if (!strstr(buf_str(&out), lines[i]))
            fail_msg("no %s in %s", lines[i], buf_str(&out));
}

#define KAI_API "/apis/scheduling.run.ai/v2alpha2"
#define PLAIN_POD(more)                                                                            \
    "{\"metadata\":{\"namespace\":\"ml\",\"name\":\"p\",\"uid\":\"u-p\",\"resourceVersion\":"      \
    "\"2\"" more "},\"spec\":{\"schedulerName\":\"kai-scheduler\"}}"

/* From the first list to the link, with the real watches. */
static void W01_a_pod_without_a_podgroup_gets_one(void **state)
{
    struct fixture *x = *state;
    static char *ours[] = {(char *)(uintptr_t) "kai-scheduler"};
    const struct workload_rules rules = {.on = true, .schedulers = ours, .n_schedulers = 1};
    fake_answer(x->api, PODS, 200, LIST("6", PLAIN_POD("")));
    fake_answer(x->api, "GET " KAI_API, 200, SERVED);
    fake_answer_late(x->api, "GET " KAI_API "/podgroups", 200, LIST("7", ""));
    fake_answer(x->api, "POST " KAI_API "/namespaces/ml/podgroups", 201, "{}");
    fake_answer(x->api, "PATCH /api/v1/namespaces/ml/pods/p", 200,
                PLAIN_POD(",\"annotations\":{\"pod-group-name\":\"pg-p-u-p\"}"));
    open_cluster_with(x, &rules);
    assert_heard(x, "+pod p waits;");
    assert_not_heard(x, "in its group"); /* existing PodGroups are not listed yet */
    assert_int_equal(fake_count(x->api, "POST " KAI_API "/namespaces/ml/podgroups"), 0);
    fake_release(x->api);
    assert_heard(x, "+pod p in its group;");
    cleanup_buf struct buf out = BUF_INIT;
    x->cluster->ops->metrics(x->cluster, &out);
    assert_non_null(strstr(buf_str(&out), "muster_podgroups_created_total{dialect=\"kai\"} 1\n"));
    x->cluster->ops->close(x->cluster, 0);
    x->cluster = NULL;
}

#define POLICIES "GET /apis/admissionregistration.k8s.io/v1"

/* An API server that fails at the start is asked again until it answers. */
static void P07_the_check_for_admission_policies_is_repeated_until_it_has_an_answer(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, POLICIES, 503, "{}");
    fake_answer(x->api, POLICIES, 401, "{}");
    fake_answer(x->api, POLICIES, 200, "{\"resources\":[{\"name\":\"others\"}]}");
    open_cluster_as(x, &(struct kube_cluster_options){.gates = true});
    usec_t until = usec_now() + 15 * USEC_PER_SEC;
    while (fake_count(x->api, POLICIES) < 3 && usec_now() < until)
        usleep(10000);
    assert_int_equal(fake_count(x->api, POLICIES), 3);
    usleep(300 * USEC_PER_MSEC);
    assert_int_equal(fake_count(x->api, POLICIES), 3);
}

static void a_missing_kubeconfig_is_an_error(void **state)
{
    struct fixture *x = *state;
    struct err err;
    struct cluster_sink sink = {on_event, x};
    assert_true(
        kube_cluster_open(&(struct kube_cluster_options){.kubeconfig = "/nowhere", .version = "1"},
                          &sink, &x->cluster, &err) < 0);
    assert_non_null(strstr(err.text, "/nowhere"));
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(synced_is_reported_once_when_all_lists_are_read),
        TEST(synced_has_the_time_of_the_api_server),
        TEST(a_date_that_is_no_time_does_not_count),
        TEST(without_the_right_to_read_pods_it_is_never_synced),
        TEST(T01_an_unreadable_podgroup_is_invalid),
        TEST(T01_an_unreadable_node_is_cordoned),
        TEST(without_the_right_to_read_podgroups_it_is_synced),
        TEST(without_the_right_to_read_volumes_it_is_synced),
        TEST(claims_are_joined_with_their_volumes),
        TEST(priority_classes_are_followed),
        TEST(without_the_right_to_read_priority_classes_it_is_synced),
        TEST(disruption_budgets_are_followed),
        TEST(jobs_are_followed),
        TEST(T01_an_unreadable_budget_covers_its_namespace),
        TEST(without_the_right_to_read_budgets_it_is_synced),
        TEST(without_preemption_budgets_and_jobs_are_not_read),
        TEST(a_crd_may_be_installed_later_and_removed_again),
        TEST(Q01_queues_are_followed_and_get_their_status),
        TEST(without_the_right_to_read_queues_it_is_synced),
        TEST(waiting_bindings_are_written_before_close_returns),
        TEST(close_returns_within_its_time_limit),
        TEST(the_metrics_of_the_client_are_printed),
        TEST(W01_a_pod_without_a_podgroup_gets_one),
        TEST(P07_the_check_for_admission_policies_is_repeated_until_it_has_an_answer),
        TEST(a_missing_kubeconfig_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
