/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of every dialect as they are followed, and namespaces that name one. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api_fixture.h"
#include "base/log.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/list_watch/queue_watches.h"
#include "log_capture.h"

#define KAI           "GET /apis/scheduling.run.ai/v2"
#define KAI_LIST      "GET /apis/scheduling.run.ai/v2/queues"
#define KAI_WATCH     "WATCH /apis/scheduling.run.ai/v2/queues"
#define VOLCANO       "GET /apis/scheduling.volcano.sh/v1beta1"
#define VOLCANO_LIST  "GET /apis/scheduling.volcano.sh/v1beta1/queues"
#define VOLCANO_WATCH "WATCH /apis/scheduling.volcano.sh/v1beta1/queues"
#define SIGS          "GET /apis/scheduling.sigs.k8s.io/v1alpha1"
#define SIGS_LIST     "GET /apis/scheduling.sigs.k8s.io/v1alpha1/elasticquotas"
#define SIGS_WATCH    "WATCH /apis/scheduling.sigs.k8s.io/v1alpha1/elasticquotas"
#define XK8S          "GET /apis/scheduling.x-k8s.io/v1alpha1"
#define XK8S_LIST     "GET /apis/scheduling.x-k8s.io/v1alpha1/elasticquotas"
#define NAMESPACES    "GET /api/v1/namespaces"
#define W_NAMESPACES  "WATCH /api/v1/namespaces"

#define SERVED(plural)                                                                             \
    "{\"resources\":[{\"name\":\"" plural "\"},{\"name\":\"" plural "/status\"}]}"
#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" items "]}"
#define META(name, version, more)                                                                  \
    "\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"" more "}"
#define QUEUE(name, version, spec) "{" META(name, version, "") ",\"spec\":{" spec "}}"
#define QUOTA(ns, name, version, created)                                                          \
    "{" META(name, version, ",\"namespace\":\"" ns "\",\"creationTimestamp\":\"" created "\"") "}"
#define NAMESPACE(name, version, queue)                                                            \
    "{" META(name, version,                                                                        \
             ",\"annotations\":{\"scheduling.volcano.sh/queue-name\":\"" queue "\"}") "}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

struct fixture {
    struct fake_api *api;
    struct api_metrics *metrics;
    struct client *client;
    struct queue_cache *cache;
    struct queue_watches *watches;
    struct cluster_sink sink;
    struct buf heard; /* "+API/ns/name[ in parent][: invalid] -… ns=queue ns- synced " */
    int fd;
};

static void on_event(void *arg, struct gang_event *ev)
{
    struct buf *b = &((struct fixture *)arg)->heard;
    const struct gang_ref *ref = ev->kind == GANG_EV_QUEUE_SET ? &ev->queue->ref : &ev->gone;
    switch (ev->kind) {
    case GANG_EV_QUEUE_SET:
        buf_printf(b, "+%s/%s/%s", ref->api_group, ref->ns, ref->name);
        if (ev->queue->parent)
            buf_printf(b, " in %s", ev->queue->parent);
        if (ev->queue->of_namespace)
            buf_printf(b, " of %s", ev->queue->of_namespace);
        if (ev->queue->invalid)
            buf_printf(b, ": %s", ev->queue->invalid);
        buf_puts(b, " ");
        break;
    case GANG_EV_QUEUE_GONE:
        buf_printf(b, "-%s/%s/%s ", ref->api_group, ref->ns, ref->name);
        break;
    case GANG_EV_NAMESPACE_SET:
        buf_printf(b, "%s=%s ", ev->namespace->name, ev->namespace->queue);
        break;
    case GANG_EV_NAMESPACE_GONE:
        buf_printf(b, "%s- ", ref->name);
        break;
    default:
        fail_msg("%s", gang_event_name(ev->kind));
    }
    gang_event_done(ev);
}

static void on_synced(void *arg)
{
    buf_puts(&((struct fixture *)arg)->heard, "synced ");
}

static int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    struct err err;
    x->api = fake_start();
    x->metrics = api_metrics_new();
    x->client = client_new(fake_kubeconfig(x->api), "test", x->metrics, &err);
    x->cache = queue_cache_new();
    x->sink = (struct cluster_sink){on_event, x};
    x->fd = eventfd(0, EFD_CLOEXEC);
    *state = x;
    return x->client ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    queue_watches_stop(x->watches);
    client_free(x->client);
    queue_cache_free(x->cache);
    api_metrics_free(x->metrics);
    fake_stop(x->api);
    buf_done(&x->heard);
    close(x->fd);
    free(x);
    return 0;
}

static void start(struct fixture *x)
{
    x->watches = queue_watches_start(&(struct queue_watches_options){.client = x->client,
                                                                     .metrics = x->metrics,
                                                                     .cache = x->cache,
                                                                     .sink = &x->sink,
                                                                     .synced = on_synced,
                                                                     .arg = x});
}

static bool heard(const struct fixture *x, const char *text)
{
    return strstr(buf_str(&x->heard), text) != NULL;
}

static void run_for(struct fixture *x, usec_t time)
{
    usec_t limit = usec_now() + time;
    while (usec_now() < limit)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
}

/* A stream is there to push into. */
static void run_until_watched(struct fixture *x, const char *route)
{
    run_until(x, fake_count(x->api, route) > 0);
    run_for(x, 50 * USEC_PER_MSEC);
}

static void without_queues_it_is_synced_and_asks_for_no_namespaces(void **state)
{
    struct fixture *x = *state;
    start(x);
    run_until(x, heard(x, "synced "));
    run_for(x, 50 * USEC_PER_MSEC);
    assert_string_equal(buf_str(&x->heard), "synced ");
    assert_int_equal(fake_count(x->api, NAMESPACES), 0);
}

static void Q01_queues_of_every_dialect_are_followed(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, KAI, 200, SERVED("queues"));
    fake_answer(x->api, KAI_LIST, 200,
                LIST(QUEUE("team", "1", "") "," QUEUE("a", "2", "\"parentQueue\":\"team\"")));
    fake_answer(x->api, VOLCANO, 200, SERVED("queues"));
    fake_answer(x->api, VOLCANO_LIST, 200,
                LIST(QUEUE("root", "1", "") "," QUEUE("v", "2", "\"parent\":\"root\"")));
    fake_answer(x->api, NAMESPACES, 200, LIST(""));
    fake_answer(x->api, SIGS, 200, SERVED("elasticquotas"));
    fake_answer(x->api, SIGS_LIST, 200, LIST(QUOTA("ml", "ml", "1", "2024-02-29T12:00:00Z")));
    fake_answer(x->api, XK8S, 200, SERVED("elasticquotas"));
    fake_answer_late(x->api, XK8S_LIST, 200, LIST(QUOTA("ml", "q", "1", "2024-02-29T12:00:00Z")));
    start(x);
    run_until(x, heard(x, "scheduling.sigs.k8s.io") && heard(x, "/v ") && heard(x, "/a "));
    run_for(x, 50 * USEC_PER_MSEC);
    assert_false(heard(x, "synced"));
    fake_release(x->api);
    run_until(x, heard(x, "synced "));
    static const char *const all[] = {
        "+scheduling.run.ai//team ",        "+scheduling.run.ai//a in team ",
        "+scheduling.volcano.sh//v ",       "+scheduling.sigs.k8s.io//ml of ml ",
        "+scheduling.x-k8s.io/ml/q of ml ",
    };
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if (!heard(x, all[i]))
            fail_msg("%s is not in %s", all[i], buf_str(&x->heard));
    assert_false(heard(x, "/root")); /* it stands for the cluster */
    assert_string_equal(queue_cache_api(x->cache, "scheduling.run.ai")->version, "v2");
    /* One is deleted, another one becomes invalid. */
    run_until_watched(x, KAI_WATCH);
    fake_push(x->api, KAI_WATCH, EVENT("DELETED", QUEUE("a", "10", "")), FAKE_OPEN);
    fake_push(x->api, KAI_WATCH, EVENT("MODIFIED", QUEUE("team", "11", "\"resources\":7")),
              FAKE_OPEN);
    run_until(x, heard(x, "team: spec.resources is a number, must be an object"));
    assert_true(heard(x, "-scheduling.run.ai//a "));
}

static void a_crd_of_queues_may_come_later_and_go_again(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, VOLCANO, 404, "404 page not found");
    fake_answer(x->api, VOLCANO, 200, SERVED("queues"));
    fake_answer(x->api, VOLCANO_LIST, 200, LIST(QUEUE("v", "2", "")));
    fake_answer(x->api, VOLCANO_LIST, 404, "404 page not found");
    fake_stream(x->api, VOLCANO_WATCH, "", FAKE_OPEN);
    fake_answer(x->api, VOLCANO_WATCH, 404, "404 page not found");
    fake_answer(x->api, NAMESPACES, 200, LIST(NAMESPACE("ml", "3", "v")));
    start(x);
    run_until(x, heard(x, "+scheduling.volcano.sh//v ") && heard(x, "ml=v "));
    assert_true(heard(x, "synced "));
    run_until_watched(x, VOLCANO_WATCH);
    fake_push(x->api, VOLCANO_WATCH, "", FAKE_END);
    run_until(x, heard(x, "-scheduling.volcano.sh//v ") && heard(x, "ml- "));
    assert_null(queue_cache_api(x->cache, "scheduling.volcano.sh"));
}

static void Q01_namespaces_are_posted_while_they_name_a_queue(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, VOLCANO, 200, SERVED("queues"));
    fake_answer(x->api, VOLCANO_LIST, 200, LIST(""));
    fake_answer_late(x->api, NAMESPACES, 200,
                     LIST(NAMESPACE("ml", "1", "v") ",{" META("web", "2", "") "}"));
    start(x);
    run_for(x, 300 * USEC_PER_MSEC);
    assert_false(heard(x, "synced"));
    fake_release(x->api);
    run_until(x, heard(x, "synced "));
    assert_string_equal(buf_str(&x->heard), "ml=v synced ");
    run_until_watched(x, W_NAMESPACES);
    fake_push(x->api, W_NAMESPACES,
              EVENT("MODIFIED", "{" META("web", "10", "") "}") //
              EVENT("DELETED", "{" META("web", "11", "") "}")  //
              EVENT("MODIFIED", NAMESPACE("ml", "12", "w"))    //
              EVENT("MODIFIED", NAMESPACE("ml", "13", ""))     //
              EVENT("DELETED", NAMESPACE("ml", "14", ""))      //
              EVENT("ADDED", NAMESPACE("lab", "15", "v"))      //
              EVENT("DELETED", NAMESPACE("lab", "16", "v")),
              FAKE_OPEN);
    run_until(x, heard(x, "lab- "));
    assert_string_equal(buf_str(&x->heard), "ml=v synced ml=w ml- lab=v lab- ");
}

static void without_the_right_to_read_namespaces_it_is_synced(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, VOLCANO, 200, SERVED("queues"));
    fake_answer(x->api, VOLCANO_LIST, 403, "{\"message\":\"queues is forbidden\"}");
    fake_answer(x->api, NAMESPACES, 403, "{\"message\":\"namespaces is forbidden\"}");
    start(x);
    run_until(x, heard(x, "synced "));
}

/* The text of more values than muster reads of an object, for an array. */
static char *too_many_values(void)
{
    struct buf values = BUF_INIT;
    for (int i = 0; i < KUBE_JSON_VALUES; i++)
        buf_puts(&values, "0,");
    buf_puts(&values, "0");
    return buf_steal(&values);
}

static void Q05_a_queue_that_cannot_be_read_is_invalid(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *values = too_many_values();
    cleanup_free char *list =
        xasprintf("{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{\"metadata\":{\"name\":"
                  "\"rich\",\"uid\":\"u\",\"resourceVersion\":\"2\"},\"x\":[%s]},"
                  "{\"metadata\":7},7," QUEUE("fine", "3", "") "]}",
                  values);
    fake_answer(x->api, KAI, 200, SERVED("queues"));
    fake_answer(x->api, KAI_LIST, 200, list);
    start(x);
    run_until(x, heard(x, "synced "));
    assert_true(heard(x,
                      "+scheduling.run.ai//rich: it cannot be read: it has 20007 values, must be "
                      "at most 20000"));
    assert_true(heard(x, "+scheduling.run.ai//fine "));
}

/* Names of Koordinator's quotas are unique; where they are not, the older one counts. */
static void Q05_of_two_quotas_with_a_name_the_older_one_counts(void **state)
{
    struct fixture *x = *state;
    fake_answer(x->api, SIGS, 200, SERVED("elasticquotas"));
    fake_answer(x->api, SIGS_LIST, 200,
                LIST(QUOTA("a", "q", "1", "2024-02-02T00:00:00Z") "," QUOTA(
                    "q", "q", "2", "2024-02-01T00:00:00Z") "," QUOTA("c", "q", "3",
                                                                     "2024-02-03T00:00:00Z")));
    FILE *log;
    int saved = capture_log(&log);
    start(x);
    run_until(x, heard(x, "synced "));
    cleanup_free char *text = end_capture(log, saved);
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q +scheduling.sigs.k8s.io//q "
                                            "of q synced ");
    assert_non_null(strstr(text, "namespace q has an older ElasticQuota with this name"));
    run_until_watched(x, SIGS_WATCH);
    buf_clear(&x->heard);
    fake_push(x->api, SIGS_WATCH,
              EVENT("DELETED", QUOTA("c", "q", "10", "2024-02-03T00:00:00Z"))
                  EVENT("ADDED", QUOTA("d", "q", "11", "2024-02-04T00:00:00Z"))
                      EVENT("DELETED", QUOTA("q", "q", "12", "2024-02-01T00:00:00Z")),
              FAKE_OPEN);
    run_until(x, heard(x, "+"));
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q ");
    struct gang_ref ref = {(char *)(uintptr_t) "scheduling.sigs.k8s.io", (char *)(uintptr_t) "",
                           (char *)(uintptr_t) "q"};
    json_t *object = queue_cache_load(x->cache, &ref, usec_now());
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(object, "metadata"), "namespace")), "a");
    json_decref(object);
    fake_push(x->api, SIGS_WATCH,
              EVENT("DELETED", QUOTA("a", "q", "13", "2024-02-02T00:00:00Z"))
                  EVENT("DELETED", QUOTA("d", "q", "14", "2024-02-04T00:00:00Z")),
              FAKE_OPEN);
    run_until(x, heard(x, "-"));
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q +scheduling.sigs.k8s.io//q "
                                            "-scheduling.sigs.k8s.io//q ");
}

#define OLDER   "2024-02-01T00:00:00Z"
#define YOUNGER "2024-02-02T00:00:00Z"

/* A younger quota q in namespace b that cannot be read. */
static char *unread_quota(void)
{
    cleanup_free char *values = too_many_values();
    return xasprintf("{" META("q", "2",
                              ",\"namespace\":\"b\",\"creationTimestamp\":\"" YOUNGER
                              "\"") ",\"x\":[%s]}",
                     values);
}

static void list_quotas(struct fixture *x, const char *one, const char *other)
{
    cleanup_free char *list = xasprintf(LIST("%s,%s"), one, other);
    fake_answer(x->api, SIGS, 200, SERVED("elasticquotas"));
    fake_answer(x->api, SIGS_LIST, 200, list);
    start(x);
    run_until(x, heard(x, "synced "));
    run_until_watched(x, SIGS_WATCH);
}

static const char unread_q[] = ": it cannot be read: it has 20009 values, must be at most 20000";

static void Q05_a_younger_quota_that_cannot_be_read_waits_for_the_older_one(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *unread = unread_quota();
    list_quotas(x, QUOTA("a", "q", "1", OLDER), unread);
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q synced ");
    buf_clear(&x->heard);
    fake_push(x->api, SIGS_WATCH, EVENT("DELETED", QUOTA("a", "q", "10", OLDER)), FAKE_OPEN);
    run_until(x, heard(x, "+"));
    assert_true(heard(x, unread_q));
    assert_false(heard(x, "-"));
    /* It can be read now. */
    buf_clear(&x->heard);
    fake_push(x->api, SIGS_WATCH, EVENT("MODIFIED", QUOTA("b", "q", "11", YOUNGER)), FAKE_OPEN);
    run_until(x, heard(x, "+"));
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q ");
}

/* The API server may list them in any order. */
static void Q05_a_quota_that_cannot_be_read_steps_back_for_an_older_one(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *unread = unread_quota();
    list_quotas(x, unread, QUOTA("a", "q", "1", OLDER));
    assert_true(heard(x, unread_q));
    assert_true(heard(x, " +scheduling.sigs.k8s.io//q synced "));
    buf_clear(&x->heard);
    fake_push(x->api, SIGS_WATCH, EVENT("DELETED", QUOTA("a", "q", "10", OLDER)), FAKE_OPEN);
    run_until(x, heard(x, "+"));
    assert_true(heard(x, unread_q));
    assert_false(heard(x, "-"));
}

static void Q05_a_waiting_quota_that_becomes_readable_is_valid_when_its_turn_comes(void **state)
{
    struct fixture *x = *state;
    cleanup_free char *unread = unread_quota();
    list_quotas(x, QUOTA("a", "q", "1", OLDER), unread);
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q synced ");
    buf_clear(&x->heard);
    fake_push(x->api, SIGS_WATCH,
              EVENT("MODIFIED", QUOTA("b", "q", "10", YOUNGER))
                  EVENT("DELETED", QUOTA("a", "q", "11", OLDER)),
              FAKE_OPEN);
    run_until(x, heard(x, "+"));
    assert_string_equal(buf_str(&x->heard), "+scheduling.sigs.k8s.io//q ");
}

int main(void)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(without_queues_it_is_synced_and_asks_for_no_namespaces),
        TEST(Q01_queues_of_every_dialect_are_followed),
        TEST(a_crd_of_queues_may_come_later_and_go_again),
        TEST(Q01_namespaces_are_posted_while_they_name_a_queue),
        TEST(without_the_right_to_read_namespaces_it_is_synced),
        TEST(Q05_a_queue_that_cannot_be_read_is_invalid),
        TEST(Q05_of_two_quotas_with_a_name_the_older_one_counts),
        TEST(Q05_a_younger_quota_that_cannot_be_read_waits_for_the_older_one),
        TEST(Q05_a_quota_that_cannot_be_read_steps_back_for_an_older_one),
        TEST(Q05_a_waiting_quota_that_becomes_readable_is_valid_when_its_turn_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
