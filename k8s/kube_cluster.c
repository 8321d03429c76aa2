/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kube_cluster.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "k8s/grouper/grouper.h"
#include "k8s/grouper/suspended_workloads.h"
#include "k8s/list_watch/claim_topology.h"
#include "k8s/list_watch/custom_watch.h"
#include "k8s/list_watch/queue_watches.h"
#include "k8s/list_watch/watch.h"
#include "k8s/write/write.h"

/* Long enough to stay idle, and short enough to notice soon that the clock has jumped. */
#define MAX_SLEEP (30 * USEC_PER_SEC)

/* The PodGroups of one dialect. */
struct kind {
    struct api *api;
    const struct dialect *dialect;
    struct custom_watch *watch;
    bool synced;
    bool forbidden; /* muster may not list its objects */
};

enum {
    SOURCE_NODES,
    SOURCE_PODS,
    SOURCE_CLAIMS,
    SOURCE_VOLUMES,
    SOURCE_CLASSES,
    SOURCE_BUDGETS,
    SOURCE_JOBS,
    N_SOURCES
};

struct api {
    struct cluster base;
    struct cluster_sink sink;
    pthread_t thread;
    struct mailbox *box;         /* write requests, and `stop` */
    struct api_metrics *metrics; /* has its own lock */
    struct {
        struct mail mail;
        usec_t deadline;
    } stop; /* owned by close() until it is posted */

    /* owned by the API thread */
    struct client *client;
    struct podgroups *groups;
    struct writer *writer;
    struct grouper *grouper; /* NULL: muster creates no PodGroups */
    struct claim_topology *claims;
    struct priority_classes *classes;
    struct suspended_workloads *suspended;
    struct feed {
        struct api *api;
        struct watch *watch;
        bool synced;
    } feeds[N_SOURCES];
    bool synced, gates, preemption;
    struct kind *kinds;
    size_t n_kinds;
    struct queue_cache *queues;
    struct queue_watches *queue_watches;
    bool queues_synced;
    struct gate_policy_check *policies; /* NULL: gates.enabled is false */
    usec_t deadline;                    /* USEC_NEVER until close() */
};

static void post(struct api *a, struct gang_event *ev)
{
    a->sink.post(a->sink.arg, ev);
}

static void check_synced(struct api *a)
{
    bool all = a->queues_synced, readable = true;
    for (size_t i = 0; i < N_SOURCES; i++)
        all = all && a->feeds[i].synced;
    for (size_t i = 0; i < a->n_kinds; i++) {
        all = all && a->kinds[i].synced;
        readable = readable && !a->kinds[i].forbidden;
    }
    if (all)
        suspended_workloads_begin(a->suspended, readable);
    if (!all || a->synced || !suspended_workloads_settled(a->suspended))
        return;
    a->synced = true;
    log_info("All initial lists are complete", NULL);
    post(a, &(struct gang_event){.kind = GANG_EV_SYNCED,
                                 .synced.api_time = client_api_time(a->client)});
}

static void suspended_settled(void *arg)
{
    check_synced(arg);
}

/* ---- resources that every cluster serves ---- */

static struct api *kube_cluster_of(void *feed)
{
    return ((struct feed *)feed)->api;
}

static int set_node(void *feed, json_t *object, struct err *err)
{
    struct gang_event ev = {.kind = GANG_EV_NODE_SET, .node = decode_node(object, err)};
    if (!ev.node)
        return -1;
    bool whole = !ev.node->invalid;
    if (!whole)
        err_set(err, ERR_INVALID, "node %s: %s", ev.node->name, ev.node->invalid);
    post(kube_cluster_of(feed), &ev);
    return whole ? 0 : 1;
}

/* muster must not plan on a node that it does not know completely. */
static int unread_node(void *feed, json_t *object, const struct err *why)
{
    (void)why;
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_NODE_SET, .node = decode_node(object, &err)};
    if (!ev.node)
        return -1;
    ev.node->unschedulable = true;
    post(kube_cluster_of(feed), &ev);
    return 1;
}

static void node_gone(void *feed, const char *ns, const char *name)
{
    (void)ns; /* nodes have no namespace */
    struct gang_event ev = {.kind = GANG_EV_NODE_GONE};
    ev.gone = (struct gang_ref){.name = xstrdup(name)};
    post(kube_cluster_of(feed), &ev);
}

/* `why` is set if `object` is only the part that could be decoded; NULL: it is complete. */
static int on_pod_set(struct api *a, json_t *object, const struct err *why, struct err *err)
{
    grouper_overlay(a->grouper, object);
    struct gang_event ev = {.kind = GANG_EV_POD_SET};
    ev.pod = why ? decode_pod_part(object, why, err) : decode_pod(object, err);
    if (!ev.pod)
        return -1;
    grouper_pod(a->grouper, object, ev.pod);
    if (ev.pod->group.name) {
        cleanup_free char *owners = dialect_owners(object);
        podgroups_linked(a->groups, &ev.pod->group, owners);
    }
    bool whole = !ev.pod->invalid;
    if (!whole)
        err_set(err, ERR_INVALID, "%s", ev.pod->invalid);
    ev.pod = gang_pod_facts_pack(ev.pod);
    post(a, &ev);
    return whole ? 0 : 1;
}

static int set_pod(void *feed, json_t *object, struct err *err)
{
    return on_pod_set(kube_cluster_of(feed), object, /* why= */ NULL, err);
}

/* A running pod must stay in the ledger, even if muster cannot decode all of it. */
static int unread_pod(void *feed, json_t *object, const struct err *why)
{
    struct err err;
    return on_pod_set(kube_cluster_of(feed), object, why, &err);
}

/* Handles a pod from a reply in the same way as a pod from the watch. */
static void show_pod(void *arg, json_t *object)
{
    struct err err;
    if (on_pod_set(arg, object, /* why= */ NULL, &err) < 0)
        log_error("Could not read a pod from a reply of the API server", "error", err.text, NULL);
}

static void pod_gone(void *feed, const char *ns, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_POD_GONE};
    grouper_pod_gone(kube_cluster_of(feed)->grouper, ns, name);
    ev.gone = (struct gang_ref){.ns = xstrdup(ns), .name = xstrdup(name)};
    post(kube_cluster_of(feed), &ev);
}

static int set_claim(void *feed, json_t *object, struct err *err)
{
    return claim_topology_set(kube_cluster_of(feed)->claims, object, err);
}

static void claim_gone(void *feed, const char *ns, const char *name)
{
    claim_topology_gone(kube_cluster_of(feed)->claims, ns, name);
}

static int set_volume(void *feed, json_t *object, struct err *err)
{
    return claim_topology_set_volume(kube_cluster_of(feed)->claims, object, err);
}

static void volume_gone(void *feed, const char *ns, const char *name)
{
    (void)ns; /* PersistentVolumes have no namespace */
    claim_topology_volume_gone(kube_cluster_of(feed)->claims, name);
}

static int set_class(void *feed, json_t *object, struct err *err)
{
    struct gang_event ev = {.kind = GANG_EV_CLASS_SET, .class = decode_class(object, err)};
    if (!ev.class)
        return -1;
    priority_classes_set(kube_cluster_of(feed)->classes, object);
    post(kube_cluster_of(feed), &ev);
    return 0;
}

static void class_gone(void *feed, const char *ns, const char *name)
{
    (void)ns; /* PriorityClasses have no namespace */
    priority_classes_gone(kube_cluster_of(feed)->classes, name);
    struct gang_event ev = {.kind = GANG_EV_CLASS_GONE};
    ev.gone = (struct gang_ref){.name = xstrdup(name)};
    post(kube_cluster_of(feed), &ev);
}

static int post_budget(void *feed, struct gang_budget_facts *budget)
{
    struct gang_event ev = {.kind = GANG_EV_BUDGET_SET, .budget = budget};
    if (!budget)
        return -1;
    post(kube_cluster_of(feed), &ev);
    return 0;
}

static int set_budget(void *feed, json_t *object, struct err *err)
{
    int r = post_budget(feed, decode_budget(object, err));
    return r == 0 && err->code != ERR_NONE ? 1 : r;
}

/* Its pods stay, as they do with a selector that cannot be read. */
static int unread_budget(void *feed, json_t *object, const struct err *why)
{
    (void)why;
    struct err err;
    return post_budget(feed, decode_budget_part(object, &err)) < 0 ? -1 : 1;
}

static void budget_gone(void *feed, const char *ns, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_BUDGET_GONE};
    ev.gone = (struct gang_ref){.ns = xstrdup(ns), .name = xstrdup(name)};
    post(kube_cluster_of(feed), &ev);
}

static int set_job(void *feed, json_t *object, struct err *err)
{
    struct gang_event ev = {.kind = GANG_EV_JOB_SET, .job = decode_job(object, err)};
    if (!ev.job)
        return -1;
    post(kube_cluster_of(feed), &ev);
    return 0;
}

static void job_gone(void *feed, const char *ns, const char *name)
{
    struct gang_event ev = {.kind = GANG_EV_JOB_GONE};
    ev.gone = (struct gang_ref){.ns = xstrdup(ns), .name = xstrdup(name)};
    post(kube_cluster_of(feed), &ev);
}

static void feed_synced(void *arg)
{
    struct feed *feed = arg;
    feed->synced = true;
    check_synced(feed->api);
}

static void feed_behind(void *arg, bool behind)
{
    static const enum gang_watch watches[] = {
        [SOURCE_NODES] = GANG_WATCH_NODES, [SOURCE_PODS] = GANG_WATCH_PODS};
    struct feed *feed = arg;
    struct gang_event ev = {.kind = GANG_EV_WATCH};
    ev.watch.of = watches[feed - feed->api->feeds];
    ev.watch.behind = behind;
    post(feed->api, &ev);
}

/* A source that is not `needed` only improves plans. If muster may not read it, the watch logs one
 * error, and muster continues as if the API server did not serve the resource. */
static const struct source {
    const char *path, *resource, *rule;
    const struct kube_protobuf_message *proto;
    int (*set)(void *feed, json_t *object, struct err *err);
    int (*unread)(void *feed, json_t *object, const struct err *why);
    void (*gone)(void *feed, const char *ns, const char *name);
    bool needed, for_preemption;
} sources[N_SOURCES] = {
    [SOURCE_NODES] = {"/api/v1/nodes", "nodes", "list and watch nodes", &kube_protobuf_node,
                      set_node, unread_node, node_gone, true, false},
    [SOURCE_PODS] = {"/api/v1/pods", "pods", "list and watch pods", &kube_protobuf_pod, set_pod,
                     unread_pod, pod_gone, true, false},
    [SOURCE_CLAIMS] = {"/api/v1/persistentvolumeclaims", "persistentvolumeclaims",
                       "list and watch persistentvolumeclaims", &kube_protobuf_claim, set_claim,
                       NULL, claim_gone, false, false},
    [SOURCE_VOLUMES] = {"/api/v1/persistentvolumes", "persistentvolumes",
                        "list and watch persistentvolumes", &kube_protobuf_volume, set_volume, NULL,
                        volume_gone, false, false},
    [SOURCE_CLASSES] = {"/apis/scheduling.k8s.io/v1/priorityclasses", "priorityclasses",
                        "list and watch priorityclasses in API group scheduling.k8s.io",
                        &kube_protobuf_class, set_class, NULL, class_gone, false, false},
    [SOURCE_BUDGETS] = {"/apis/policy/v1/poddisruptionbudgets", "poddisruptionbudgets",
                        "list and watch poddisruptionbudgets in API group policy",
                        &kube_protobuf_budget, set_budget, unread_budget, budget_gone, false, true},
    [SOURCE_JOBS] = {"/apis/batch/v1/jobs", "jobs", "list and watch jobs in API group batch",
                     &kube_protobuf_job, set_job, NULL, job_gone, false, true},
};

static void start_watches(struct api *a)
{
    for (size_t i = 0; i < N_SOURCES; i++) {
        const struct source *s = &sources[i];
        struct feed *feed = &a->feeds[i];
        feed->api = a;
        if (s->for_preemption && !a->preemption) {
            feed->synced = true;
            continue;
        }
        feed->watch =
            watch_start(a->client, a->metrics,
                        &(struct watch_options){.path = s->path,
                                                .resource = s->resource,
                                                .rule = s->rule,
                                                .proto = s->proto,
                                                .set = s->set,
                                                .unread = s->unread,
                                                .gone = s->gone,
                                                .synced = feed_synced,
                                                .behind = s->needed ? feed_behind : NULL,
                                                .missing = s->needed ? NULL : feed_synced,
                                                .forbidden = s->needed ? NULL : feed_synced,
                                                .arg = feed});
    }
}

/* ---- PodGroups ---- */

static int set_group(void *arg, json_t *object, struct err *err)
{
    struct kind *k = arg;
    struct gang_event ev = {.kind = GANG_EV_GROUP_SET,
                            .group = decode_group(k->dialect, object, err)};
    if (!ev.group)
        return -1;
    podgroups_set(k->api->groups, &ev.group->ref, object);
    grouper_group(k->api->grouper, &ev.group->ref, object);
    suspended_workloads_group(k->api->suspended, ev.group, object);
    post(k->api, &ev);
    return 0;
}

/* The gang's pods show why they wait. muster writes no status to such a PodGroup, because a status
 * is written as a difference to a known object. */
static int unread_group(void *arg, json_t *object, const struct err *why)
{
    struct kind *k = arg;
    struct err err;
    struct gang_event ev = {.kind = GANG_EV_GROUP_SET,
                            .group = decode_group_part(k->dialect, object, why, &err)};
    if (!ev.group)
        return -1;
    podgroups_gone(k->api->groups, &ev.group->ref);
    suspended_workloads_group_gone(k->api->suspended, &ev.group->ref);
    post(k->api, &ev);
    return 1;
}

static void group_gone(void *arg, const char *ns, const char *name)
{
    struct kind *k = arg;
    struct gang_event ev = {.kind = GANG_EV_GROUP_GONE};
    ev.gone = (struct gang_ref){xstrdup(k->dialect->api_group), xstrdup(ns), xstrdup(name)};
    podgroups_gone(k->api->groups, &ev.gone);
    grouper_group_gone(k->api->grouper, &ev.gone);
    suspended_workloads_group_gone(k->api->suspended, &ev.gone);
    post(k->api, &ev);
}

/* Also called if muster may not read these PodGroups. muster can still serve all other pods. */
static void kind_listed(struct kind *k, bool forbidden)
{
    k->synced = true;
    k->forbidden = forbidden;
    grouper_ready(k->api->grouper, k->dialect, true);
    check_synced(k->api);
}

static void kind_synced(void *arg)
{
    kind_listed(arg, /* forbidden= */ false);
}

static void kind_forbidden(void *arg)
{
    kind_listed(arg, /* forbidden= */ true);
}

static void kind_served(void *arg, const char *version, bool status_subresource)
{
    struct kind *k = arg;
    struct api *a = k->api;
    podgroups_serve(a->groups, k->dialect, version, status_subresource);
    if (version) {
        log_info("PodGroups are served", "dialect", k->dialect->name, "version", version, NULL);
        grouper_ready(a->grouper, k->dialect, false);
    } else {
        log_info("PodGroups are no longer served", "dialect", k->dialect->name, NULL);
    }
}

static void start_kinds(struct api *a)
{
    size_t most = 0;
    while (dialects[most])
        most++;
    a->kinds = xcalloc(most, sizeof *a->kinds);
    for (size_t i = 0; i < most; i++) {
        if (!dialect_has_objects(dialects[i]))
            continue;
        struct kind *k = &a->kinds[a->n_kinds++];
        k->api = a;
        k->dialect = dialects[i];
        k->watch = custom_watch_start(
            a->client, a->metrics,
            &(struct custom_watch_options){
                .resource = {k->dialect->api_group, k->dialect->versions, "podgroups"},
                .set = set_group,
                .unread = unread_group,
                .gone = group_gone,
                .served = kind_served,
                .settled = kind_synced,
                .forbidden = kind_forbidden,
                .arg = k});
    }
}

/* ---- queues ---- */

static void queues_synced(void *arg)
{
    struct api *a = arg;
    a->queues_synced = true;
    check_synced(a);
}

static void start_queues(struct api *a)
{
    a->queue_watches = queue_watches_start(&(struct queue_watches_options){.client = a->client,
                                                                           .metrics = a->metrics,
                                                                           .cache = a->queues,
                                                                           .sink = &a->sink,
                                                                           .synced = queues_synced,
                                                                           .arg = a});
}

/* ---- the thread ---- */

static void take_mail(struct api *a)
{
    struct mail *next;
    for (struct mail *m = mailbox_take(a->box); m; m = next) {
        next = m->next;
        if (m == &a->stop.mail)
            a->deadline = a->stop.deadline;
        else
            writer_take(a->writer, write_request_of_mail(m));
    }
    writer_pump(a->writer);
}

static void *run(void *arg)
{
    struct api *a = arg;
    sigset_t all; /* the main thread handles signals; here a broken pipe is an error code */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    start_watches(a);
    start_kinds(a);
    start_queues(a);
    if (a->gates)
        a->policies = gate_policy_check_start(a->client);
    while (a->deadline == USEC_NEVER || (writer_owes(a->writer) && usec_now() < a->deadline)) {
        usec_t limit = MAX_SLEEP;
        if (a->deadline != USEC_NEVER && a->deadline - usec_now() < limit)
            limit = a->deadline - usec_now();
        client_run(a->client, limit, mailbox_fd(a->box));
        take_mail(a);
    }
    return NULL;
}

/* ---- the interface of cluster.h ---- */

static void kube_cluster_apply(struct cluster *c, usec_t now, const struct gang_effect *effect)
{
    struct api *a = CONTAINER_OF(c, struct api, base);
    (void)now; /* the API thread sends the write as soon as it can */
    struct write_request *o = write_request_new(effect);
    if (o)
        mailbox_put(a->box, write_request_mail(o));
}

static void kube_cluster_advance(struct cluster *c, usec_t now)
{
    (void)c;
    (void)now; /* the API thread has its own timers */
}

static usec_t kube_cluster_next(const struct cluster *c)
{
    (void)c;
    return USEC_NEVER;
}

static void api_metrics(struct cluster *c, struct buf *out)
{
    api_metrics_print(CONTAINER_OF(c, struct api, base)->metrics, out);
}

static void kube_cluster_free(struct api *a)
{
    for (size_t i = 0; i < N_SOURCES; i++)
        watch_stop(a->feeds[i].watch, /* forget= */ false);
    for (size_t i = 0; i < a->n_kinds; i++)
        custom_watch_stop(a->kinds[i].watch);
    free(a->kinds);
    queue_watches_stop(a->queue_watches);
    gate_policy_check_free(a->policies);
    grouper_free(a->grouper);
    suspended_workloads_free(a->suspended);
    writer_free(a->writer);
    client_free(a->client);
    podgroups_free(a->groups);
    queue_cache_free(a->queues);
    claim_topology_free(a->claims);
    priority_classes_free(a->classes);
    api_metrics_free(a->metrics);
    mailbox_free(a->box);
    free(a);
}

static void kube_cluster_close(struct cluster *c, usec_t deadline)
{
    struct api *a = CONTAINER_OF(c, struct api, base);
    a->stop.deadline = deadline;
    mailbox_put(a->box, &a->stop.mail);
    pthread_join(a->thread, NULL);
    kube_cluster_free(a);
}

static const struct cluster_ops kube_cluster_ops = {
    .apply = kube_cluster_apply,
    .advance = kube_cluster_advance,
    .next = kube_cluster_next,
    .close = kube_cluster_close,
    .metrics = api_metrics,
};

static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

int kube_cluster_open(const struct kube_cluster_options *options, const struct cluster_sink *sink,
                      struct cluster **ret, struct err *err)
{
    static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
    pthread_once(&curl_once, init_curl);
    struct kubeconfig *kc = kubeconfig_load(options->kubeconfig, err);
    if (!kc)
        return -1;
    struct api *a = xcalloc(1, sizeof *a);
    a->base.ops = &kube_cluster_ops;
    a->sink = *sink;
    a->deadline = USEC_NEVER;
    a->gates = options->gates;
    a->preemption = options->preemption;
    a->metrics = api_metrics_new();
    a->groups = podgroups_new();
    a->queues = queue_cache_new();
    a->claims = claim_topology_new(sink);
    a->classes = priority_classes_new();
    cleanup_free char *agent = xasprintf("muster/%s", options->version);
    a->client = client_new(kc, agent, a->metrics, err);
    a->box = a->client ? mailbox_new(err) : NULL;
    if (!a->box) {
        kube_cluster_free(a);
        return -1;
    }
    a->writer = writer_new(&(struct writer_options){.client = a->client,
                                                    .groups = a->groups,
                                                    .queues = a->queues,
                                                    .rules = options->rules,
                                                    .classes = a->classes,
                                                    .metrics = a->metrics,
                                                    .sink = &a->sink,
                                                    .bindings = options->bindings});
    if (options->rules)
        a->grouper = grouper_new(&(struct grouper_options){.rules = options->rules,
                                                           .client = a->client,
                                                           .groups = a->groups,
                                                           .writer = a->writer,
                                                           .metrics = a->metrics,
                                                           .show = show_pod,
                                                           .arg = a});
    a->suspended =
        suspended_workloads_new(&(struct suspended_workloads_options){.client = a->client,
                                                                      .metrics = a->metrics,
                                                                      .groups = a->groups,
                                                                      .writer = a->writer,
                                                                      .classes = a->classes,
                                                                      .rules = options->rules,
                                                                      .sink = &a->sink,
                                                                      .settled = suspended_settled,
                                                                      .arg = a});
    int e = pthread_create(&a->thread, NULL, run, a);
    if (e) {
        kube_cluster_free(a);
        return err_set(err, ERR_INTERNAL, "cannot start the thread of the API client: %s",
                       strerror(e));
    }
    pthread_setname_np(a->thread, "api"); /* the name that top and perf show */
    *ret = &a->base;
    return 0;
}
