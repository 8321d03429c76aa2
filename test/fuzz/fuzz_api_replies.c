/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of the API server to everything that muster reads and writes. The input is a list of
 * replies; each answers the call that has waited longest (fake_client.h). Under way are the search
 * for PodGroups of a dialect and for policies, PodGroups for pods of a Job, of a RayCluster and
 * without an owner, and one write of each kind.
 *
 * Everything that muster sends is JSON. A Binding and a read of a pod have one result each.
 */
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/grouper/grouper.h"
#include "k8s/list_watch/api_discovery.h"
#include "test/fuzz/fake_client.h"

#define MOST_REPLIES 64
#define MOST_TICKS   200
#define KAI          "scheduling.run.ai"

#define OWNED(version, kind, name, uid)                                                            \
    ",\"ownerReferences\":[{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"" name \
    "\",\"uid\":\"" uid "\",\"controller\":true}]"
#define POD(name, more)                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"ns\",\"uid\":\"u-" name "\",\"resourceVersion\":\"3\",\"labels\":{"        \
    "\"ray.io/node-type\":\"worker\",\"ray.io/group\":\"w\"}" more "},\"spec\":{"                  \
    "\"schedulerName\":\"kai-scheduler\",\"containers\":[{\"name\":\"c\"}]}}"

static const char *const pods[] = {
    POD("job", OWNED("batch/v1", "Job", "train", "uj")),
    POD("ray", OWNED("ray.io/v1", "RayCluster", "ray", "ur")),
    POD("odd", OWNED("example.com/v1", "Thing", "thing", "ut")),
    POD("alone", ""),
};

static char kai[] = "kai-scheduler", home[] = KAI, ns[] = "ns", name[] = "g", group[] = KAI,
            none[] = "";
static char *schedulers[] = {kai};
static const struct workload_rules rules = {
    .on = true, .schedulers = schedulers, .n_schedulers = 1, .home = home};

struct world {
    struct client *client;
    struct api_metrics *metrics;
    struct podgroups *groups;
    struct queue_cache *queues;
    struct writer *writer;
    struct grouper *grouper;
    struct api_discovery *discover;
    struct gate_policy_check *policies;
    int bound, read; /* number of results */
};

static void take_result(void *arg, struct gang_event *ev)
{
    struct world *w = arg;
    w->bound += ev->kind == GANG_EV_BIND_DONE;
    w->read += ev->kind == GANG_EV_POD_READ;
    gang_event_done(ev);
}

static void show(void *arg, json_t *pod)
{
    struct world *w = arg;
    struct err err;
    grouper_overlay(w->grouper, pod);
    struct gang_pod_facts *f = decode_pod(pod, &err);
    if (f)
        grouper_pod(w->grouper, pod, f);
    gang_pod_facts_free(f);
}

static void found(void *arg, const char *version, bool status_subresource)
{
    struct world *w = arg;
    podgroups_serve(w->groups, &dialect_kai, version, status_subresource);
    grouper_ready(w->grouper, &dialect_kai, true);
}

static void order(struct world *w, const struct gang_effect *e)
{
    struct write_request *o = write_request_new(e);
    if (o)
        writer_take(w->writer, o);
}

static void write_request_all(struct world *w)
{
    static const struct gang_ref ref = {group, ns, name};
    static const enum gang_effect_kind kinds[] = {GANG_BIND,   GANG_READ_POD, GANG_NOMINATE,
                                                  GANG_UNGATE, GANG_EVICT,    GANG_PATCH_CONDITION};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct gang_effect e = {.kind = kinds[i]};
        e.pod.ns = ns;
        e.pod.name = "p";
        e.pod.uid = "u-p";
        e.pod.node = kinds[i] == GANG_READ_POD || kinds[i] == GANG_EVICT ? NULL : "n0";
        e.pod.text = kinds[i] == GANG_PATCH_CONDITION ? "gang ns/g: 1 of 2 members exist" : NULL;
        e.pod.version = kinds[i] == GANG_PATCH_CONDITION ? 3 : 0;
        order(w, &e);
    }
    struct gang_effect status = {.kind = GANG_STATUS};
    status.status = (struct gang_status){
        .ref = &ref, .uid = "u-g", .state = GANG_WAITING, .text = "waits", .help = "", .needed = 2};
    order(w, &status);
    static const struct gang_ref queue = {group, none, name};
    struct gang_effect queue_status = {.kind = GANG_QUEUE_STATUS};
    queue_status.queue = (struct gang_queue_status){.ref = &queue, .uid = "u-q", .text = ""};
    order(w, &queue_status);
    struct gang_effect event = {.kind = GANG_EVENT};
    event.event.kind = "Pod";
    event.event.ns = ns;
    event.event.name = "p";
    event.event.uid = "u-p";
    event.event.reason = "Unschedulable";
    event.event.message = "waits";
    order(w, &event);
}

static void show_queue(struct world *w)
{
    static const char object[] =
        "{\"metadata\":{\"name\":\"g\",\"uid\":\"u-q\",\"resourceVersion\":\"3\"}}";
    const struct queue_dialect *dialect = queue_dialect_by_group(KAI);
    struct err err;
    const char *other;
    cleanup_tree json_t *tree = fuzz_json("a queue", object, strlen(object));
    struct gang_queue_facts *f = decode_queue(dialect, tree, &err);
    queue_cache_serve(w->queues, dialect, "v2", /* status_subresource= */ true);
    HOLDS(f && queue_cache_set(w->queues, f, tree, NULL, &other), "the queue is not taken");
    gang_queue_facts_free(f);
}

static void begin(struct world *w, const struct cluster_sink *sink)
{
    w->client = fake_client_new();
    w->metrics = api_metrics_new();
    w->groups = podgroups_new();
    podgroups_serve(w->groups, &dialect_kai, "v2alpha2", /* status_subresource= */ true);
    w->queues = queue_cache_new();
    show_queue(w);
    w->writer = writer_new(&(struct writer_options){.client = w->client,
                                                    .groups = w->groups,
                                                    .queues = w->queues,
                                                    .metrics = w->metrics,
                                                    .sink = sink});
    w->grouper = grouper_new(&(struct grouper_options){.rules = &rules,
                                                       .client = w->client,
                                                       .groups = w->groups,
                                                       .writer = w->writer,
                                                       .metrics = w->metrics,
                                                       .show = show,
                                                       .arg = w});
    grouper_ready(w->grouper, &dialect_kai, true);
    w->discover = api_discovery_start(
        w->client, &(struct api_resource){dialect_kai.api_group, dialect_kai.versions, "podgroups"},
        found, w);
    w->policies = gate_policy_check_start(w->client);
    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        cleanup_tree json_t *pod = fuzz_json("a pod", pods[i], strlen(pods[i]));
        show(w, pod);
    }
    write_request_all(w);
    writer_pump(w->writer);
}

static void end(struct world *w)
{
    gate_policy_check_free(w->policies);
    api_discovery_free(w->discover);
    grouper_free(w->grouper);
    writer_free(w->writer);
    HOLDS(!fake_client_tick(w->client), "a timer is left");
    fake_client_free(w->client);
    podgroups_free(w->groups);
    queue_cache_free(w->queues);
    api_metrics_free(w->metrics);
}

/* Answers all open calls with 404 until both results are there. */
static void settle(struct world *w)
{
    static const char gone[] = "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}";
    for (int i = 0; i < MOST_TICKS && (!w->bound || !w->read); i++) {
        struct client_call *call = fake_client_oldest(w->client);
        if (call)
            fake_client_answer(w->client, call, 404, gone, strlen(gone), 0);
        else
            fake_client_tick(w->client);
        writer_pump(w->writer);
    }
    HOLDS(w->bound == 1 && w->read == 1, "%d results of the Binding, %d of the read", w->bound,
          w->read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data, *last = p + size;
    struct world w = {.client = NULL};
    const struct cluster_sink sink = {take_result, &w};
    struct fake_reply reply;
    fuzz_begin();
    begin(&w, &sink);
    for (int i = 0; i < MOST_REPLIES && fake_reply_next(&p, last, &reply); i++) {
        for (int t = 0; t < 8 && !fake_client_open(w.client); t++)
            fake_client_tick(w.client);
        struct client_call *call = fake_client_oldest(w.client);
        if (call)
            fake_client_answer(w.client, call, reply.status, reply.body, reply.len, 50);
        writer_pump(w.writer);
    }
    settle(&w);
    end(&w);
    return 0;
}
