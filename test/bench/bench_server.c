/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_server.c - the cost of a filter call in muster's server, compared with the time that
 * jansson alone needs to parse the same bytes (P05).
 *
 *   bench_server [NODES]        default 5,000
 *
 * This process runs the real listener, loop and core. One blocking client sends requests over
 * loopback, with the bodies that kube-scheduler sends: the pod as the watch has shown it, and names
 * or complete nodes. The server time is muster's own measurement (muster_extender_work_seconds, see
 * server/views/metrics.h): all work for a call from the first byte of its body to the queued reply,
 * without waiting for bytes. json_loadb() runs between the calls, in turns. The ratios compare 99th
 * percentiles; `figure` lines are for programs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "server/routes/verb_routes.h"

#define GANG    64 /* members of the planned gang */
#define CALLS   2000
#define LARGE   20 /* calls with complete nodes, 60 MB each */
#define IMAGES  50 /* images of a node, as kubelet reports them */
#define VERSION "184467"

struct bench {
    struct cluster cluster; /* must be the first member; never binds */
    struct config *config;
    struct metrics metrics;
    struct loop *loop;
    struct verb_context calls;
    pthread_t thread;
    char *address;
    int nodes;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- a cluster that does nothing ---- */

static void no_apply(struct cluster *c, usec_t now, const struct gang_effect *e)
{
    (void)c;
    (void)now;
    (void)e;
}

static void no_advance(struct cluster *c, usec_t now)
{
    (void)c;
    (void)now;
}

static usec_t no_next(const struct cluster *c)
{
    (void)c;
    return USEC_NEVER;
}

static void no_close(struct cluster *c, usec_t deadline)
{
    (void)c;
    (void)deadline;
}

static const struct cluster_ops no_ops = {no_apply, no_advance, no_next, no_close, NULL};

/* ---- objects ---- */

static char *node_name(int i)
{
    return xasprintf("node-%05d", i);
}

/* Similar in size to a training pod as kube-scheduler sends it (without managedFields). */
static char *pod_json(int i, const char *nominated)
{
    cleanup_free char *nomination =
        nominated ? xasprintf("\"nominatedNodeName\":\"%s\",", nominated) : xstrdup("");
    return xasprintf(
        "{\"metadata\":{\"name\":\"train-%d\",\"namespace\":\"ml\",\"uid\":"
        "\"7d1f2c3a-0000-4000-8000-%012d\",\"resourceVersion\":\"" VERSION "%d\",\"generation\":1,"
        "\"creationTimestamp\":\"2026-11-20T21:39:11Z\",\"labels\":{\"app\":\"train\","
        "\"batch.kubernetes.io/job-name\":\"train\",\"controller-uid\":\"8e2f\"},\"annotations\":{"
        "\"scheduling.k8s.io/group-name\":\"train\"},\"ownerReferences\":[{\"apiVersion\":"
        "\"batch/v1\",\"kind\":\"Job\",\"name\":\"train\",\"uid\":\"8e2f\",\"controller\":true}]},"
        "\"spec\":{\"volumes\":[{\"name\":\"kube-api-access\",\"projected\":{\"sources\":[{"
        "\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{"
        "\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}}],"
        "\"defaultMode\":420}}],\"containers\":[{\"name\":\"main\",\"image\":"
        "\"registry.example/team/train:2026.11\",\"command\":[\"python\",\"-m\",\"train\"],"
        "\"env\":[{\"name\":\"WORLD_SIZE\",\"value\":\"64\"},{\"name\":\"MASTER_ADDR\",\"value\":"
        "\"train-0\"},{\"name\":\"NCCL_DEBUG\",\"value\":\"INFO\"}],\"resources\":{\"limits\":{"
        "\"cpu\":\"8\",\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"1\"},\"requests\":{\"cpu\":\"8\","
        "\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"1\"}},\"volumeMounts\":[{\"name\":"
        "\"kube-api-access\",\"readOnly\":true,\"mountPath\":\"/var/run/secrets\"}],"
        "\"terminationMessagePath\":\"/dev/termination-log\",\"imagePullPolicy\":\"IfNotPresent\"}]"
        ",\"restartPolicy\":\"Never\",\"dnsPolicy\":\"ClusterFirst\",\"serviceAccountName\":"
        "\"default\",\"schedulerName\":\"default-scheduler\",\"tolerations\":[{\"key\":"
        "\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
        "\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":"
        "\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0},"
        "\"status\":{%s\"phase\":\"Pending\",\"qosClass\":\"Guaranteed\"}}",
        i, i, nominated ? 1 : 0, nomination);
}

static void post(struct bench *b, struct gang_event ev)
{
    struct cluster_sink sink = loop_sink(b->loop);
    sink.post(sink.arg, &ev);
}

static void post_node(struct bench *b, int i)
{
    struct gang_node_facts *n = gang_node_facts_new();
    n->name = node_name(i);
    gang_amounts_add(&n->allocatable, "pods", 110);
    gang_amounts_add(&n->allocatable, "cpu", 64000);
    gang_amounts_add(&n->allocatable, "memory", INT64_C(512) << 30);
    gang_amounts_add(&n->allocatable, "nvidia.com/gpu", 8);
    post(b, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = n});
}

static void post_pod(struct bench *b, int i, const char *nominated)
{
    cleanup_free char *text = pod_json(i, nominated);
    struct err err;
    json_t *tree = json_loads(text, 0, NULL);
    struct gang_pod_facts *pod = decode_pod(tree, &err);
    json_decref(tree);
    if (!pod)
        die(err.text);
    post(b, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod});
}

static void post_world(struct bench *b)
{
    for (int i = 0; i < b->nodes; i++)
        post_node(b, i);
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref = (struct gang_ref){xstrdup("scheduling.volcano.sh"), xstrdup("ml"), xstrdup("train")};
    g->uid = xstrdup("g");
    g->min_member = GANG;
    post(b, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g});
    for (int i = 0; i < GANG; i++)
        post_pod(b, i, NULL);
    post(b, (struct gang_event){.kind = GANG_EV_SYNCED});
    while (!loop_health(b->loop).synced)
        usleep(1000);
}

/* ---- bodies ---- */

enum form { NAMES, ONE_NAME, WHOLE_NODES };

static void put_whole_node(struct buf *out, int i)
{
    cleanup_free char *name = node_name(i);
    buf_printf(out,
               "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"1\","
               "\"labels\":{\"kubernetes.io/hostname\":\"%s\"}},\"spec\":{\"podCIDR\":"
               "\"10.0.0.0/24\"},\"status\":{\"allocatable\":{\"cpu\":\"64\",\"memory\":"
               "\"512Gi\",\"nvidia.com/gpu\":\"8\",\"pods\":\"110\"},\"images\":[",
               name, name, name);
    for (int k = 0; k < IMAGES; k++)
        buf_printf(out,
                   "%s{\"names\":[\"registry.example/team/image-%02d@sha256:"
                   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                   "\"registry.example/team/image-%02d:v1.%d\"],\"sizeBytes\":%d}",
                   k ? "," : "", k, k, k, 123456789 + k);
    buf_puts(out, "]}}");
}

/* With one name: for a nominated member, kube-scheduler offers only the node of its slot. */
static void put_body(struct buf *out, enum form form, int nodes, int pod, const char *slot)
{
    cleanup_free char *json = pod_json(pod, form == ONE_NAME ? slot : NULL);
    buf_printf(out, "{\"Pod\":%s,", json);
    if (form == WHOLE_NODES) {
        buf_puts(out, "\"Nodes\":{\"metadata\":{},\"items\":[");
        for (int i = 0; i < nodes; i++) {
            buf_puts(out, i ? "," : "");
            put_whole_node(out, i);
        }
        buf_puts(out, "]},\"NodeNames\":null}");
        return;
    }
    buf_puts(out, "\"Nodes\":null,\"NodeNames\":[");
    for (int i = 0; form == NAMES && i < nodes; i++) {
        cleanup_free char *name = node_name(i);
        buf_printf(out, "%s\"%s\"", i ? "," : "", name);
    }
    if (form == ONE_NAME)
        buf_printf(out, "\"%s\"", slot);
    buf_puts(out, "]}");
}

/* ---- a client ---- */

static int connect_to(const char *address)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* as Go's HTTP client does */
    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof sa) < 0)
        die("connect");
    return fd;
}

static void send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            die("send");
        data += n;
        len -= (size_t)n;
    }
}

/* Reads the reply and leaves its body in *reply. */
static void receive(int fd, struct buf *reply)
{
    char chunk[65536];
    buf_clear(reply);
    for (;;) {
        const char *end = strstr(buf_str(reply), "\r\n\r\n");
        const char *length = end ? strcasestr(reply->data, "content-length:") : NULL;
        if (length &&
            reply->len >= (size_t)(end + 4 - reply->data) + strtoul(length + 15, NULL, 10))
            return;
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n <= 0)
            die("recv");
        buf_append(reply, chunk, (size_t)n);
    }
}

static void filter(int fd, const struct buf *body, struct buf *reply)
{
    cleanup_buf struct buf head = BUF_INIT;
    buf_printf(&head,
               "POST /scheduler/filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n",
               body->len);
    send_all(fd, head.data, head.len);
    send_all(fd, body->data, body->len);
    receive(fd, reply);
    if (!strstr(buf_str(reply), "200 OK") || !strstr(buf_str(reply), "node-"))
        die(buf_str(reply));
}

/* ---- times ---- */

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct quantiles {
    double median, p99; /* ms */
};

static struct quantiles quantiles_of(double *ms, size_t n)
{
    qsort(ms, n, sizeof *ms, by_time);
    return (struct quantiles){ms[n / 2], ms[n - 1 - n / 100]};
}

static struct quantiles server_quantiles(struct bench *b)
{
    return (struct quantiles){
        (double)samples_quantile(&b->metrics.work[EXTENDER_FILTER], 0.5) / 1e6,
        (double)samples_quantile(&b->metrics.work[EXTENDER_FILTER], 0.99) / 1e6,
    };
}

static double parse_time(const struct buf *body)
{
    int64_t begin = nsec_now();
    json_t *tree = json_loadb(body->data, body->len, 0, NULL);
    double ms = (double)(nsec_now() - begin) / 1e6;
    if (!tree)
        die("json_loadb");
    json_decref(tree);
    return ms;
}

/* Measures calls of one form, and json_loadb() on the same bytes, in turns. */
static void measure(struct bench *b, enum form form, int calls, struct quantiles *server,
                    struct quantiles *jansson, size_t *bytes)
{
    cleanup_buf struct buf body = BUF_INIT, reply = BUF_INIT, first = BUF_INIT;
    double *parse = xcalloc((size_t)calls, sizeof *parse);
    char slot[64] = "";
    int fd = connect_to(b->address);
    put_body(&first, NAMES, b->nodes, 0, NULL);
    filter(fd, &first, &reply);
    sscanf(strstr(buf_str(&reply), "node-"), "%63[a-z0-9-]", slot);
    put_body(&body, form, b->nodes, 0, slot);
    post_pod(b, 0, form == ONE_NAME ? slot : NULL);
    for (int i = 0; i < 3; i++)
        filter(fd, &body, &reply);
    samples_clear(&b->metrics.work[EXTENDER_FILTER]);
    for (int i = 0; i < calls; i++) {
        filter(fd, &body, &reply);
        parse[i] = parse_time(&body);
    }
    *server = server_quantiles(b);
    *jansson = quantiles_of(parse, (size_t)calls);
    *bytes = body.len;
    free(parse);
    close(fd);
}

/* ---- the server ---- */

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

static void open_server(struct bench *b)
{
    struct err err;
    log_setup(LOG_ERROR, LOG_TEXT);
    b->config = config_defaults();
    b->config->schedule_timeout = 24 * 3600 * USEC_PER_SEC; /* no gang is ever bound */
    b->loop = loop_new(b->config, &b->metrics, &err);
    b->calls = (struct verb_context){b->loop, &b->metrics, NULL};
    const struct http_options options = {.listen = "127.0.0.1:0",
                                         .threads = 2,
                                         .connection_limit = 64,
                                         .body_limit = (size_t)256 << 20,
                                         .memory = (size_t)512 << 20,
                                         .request_timeout = 60 * USEC_PER_SEC,
                                         .routes = verb_routes,
                                         .n_routes = verb_n_routes,
                                         .arg = &b->calls,
                                         .refused = verb_refused};
    struct http *http = b->loop ? http_open(&options, &err) : NULL;
    if (!http)
        die(err.text);
    b->address = xstrdup(http_address(http));
    b->cluster.ops = &no_ops;
    loop_attach(b->loop, http, NULL);
    loop_attach_cluster(b->loop, &b->cluster);
    pthread_create(&b->thread, NULL, run, b->loop);
}

static void close_server(struct bench *b)
{
    loop_stop(b->loop);
    pthread_join(b->thread, NULL);
    loop_free(b->loop);
    config_free(b->config);
    free(b->address);
}

/* ---- the table ---- */

static void row(const char *what, struct quantiles q, double base)
{
    printf("| %-44s | %9.3f | %9.3f | %6.2f |\n", what, q.median, q.p99, q.p99 / base);
}

static void figure(const char *key, double ratio, double target, double ms, double base)
{
    printf("figure P05 %s %.3f %.2f \"p99 %.3f ms, jansson %.3f ms\"\n", key, ratio, target, ms,
           base);
}

int main(int argc, char **argv)
{
    struct bench b = {.nodes = argc > 1 ? atoi(argv[1]) : 5000};
    if (b.nodes < 100) {
        fprintf(stderr, "usage: bench_server [NODES]     at least 100\n");
        return 2;
    }
    struct quantiles names, names_json, one, one_json, whole, whole_json;
    size_t names_bytes, one_bytes, whole_bytes;
    open_server(&b);
    post_world(&b);
    measure(&b, NAMES, CALLS, &names, &names_json, &names_bytes);
    measure(&b, ONE_NAME, CALLS, &one, &one_json, &one_bytes);
    measure(&b, WHOLE_NODES, LARGE, &whole, &whole_json, &whole_bytes);
    close_server(&b);

    printf("filter, %d nodes; bodies of %zu, %zu and %zu bytes\n\n", b.nodes, names_bytes,
           one_bytes, whole_bytes);
    printf("| %-44s | %9s | %9s | %6s |\n", "", "median ms", "p99 ms", "ratio");
    printf("|%.46s|%.10s:|%.10s:|%.7s:|\n", "----------------------------------------------",
           "----------", "----------", "-------");
    row("all names, json_loadb() alone", names_json, names_json.p99);
    row("all names", names, names_json.p99);
    row("one name", one, names_json.p99);
    row("complete nodes, json_loadb() alone", whole_json, whole_json.p99);
    row("complete nodes", whole, whole_json.p99);
    printf("\n");
    figure("filter-names", names.p99 / names_json.p99, 1.5, names.p99, names_json.p99);
    figure("filter-one-name", one.p99 / names_json.p99, 0.1, one.p99, names_json.p99);
    figure("filter-whole-nodes", whole.p99 / whole_json.p99, 1.5, whole.p99, whole_json.p99);
    return 0;
}
