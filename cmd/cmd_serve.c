/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/map.h"
#include "base/quantity.h"
#include "cmd/cmd.h"
#include "cmd/podgroup_rules.h"
#include "cmd/settings.h"
#include "config/scheduler_config.h"
#include "k8s/kube_cluster.h"
#include "server/loop/core_config.h"
#include "server/loop/loop.h"
#include "server/routes/ops_routes.h"
#include "server/routes/verb_routes.h"
#include "simulator/built_in_cluster.h"

#define VERBS_THREADS   2
#define OPS_CONNECTIONS (2 * OPS_QUERIES)
#define OPS_MEMORY      ((size_t)64 << 20)
/* Open files other than connections of the extender port: ops port, API server, muster's files. */
#define OTHER_FILES        (OPS_CONNECTIONS + 2 * HTTP_SPARE_CONNECTIONS + 128)
#define FEWEST_CONNECTIONS 128

/* ---- limits of the operating system ---- */

/* Raises the limit of open files. If it stays too low, lowers connectionLimit and maxHolds. */
static int fit_file_limit(struct config *c, struct err *err)
{
    struct rlimit limit;
    rlim_t want = (rlim_t)c->connection_limit + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return err_errno(err, "getrlimit");
    if (limit.rlim_cur < want) {
        limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            return err_errno(err, "raise the limit of open files");
    }
    if (limit.rlim_cur >= want)
        return 0;
    if (limit.rlim_cur < FEWEST_CONNECTIONS + OTHER_FILES)
        return err_set(err, ERR_INVALID,
                       "the limit of open files is %" PRIu64 ": raise the hard limit (ulimit -Hn, "
                       "LimitNOFILE) to at least %d",
                       (uint64_t)limit.rlim_cur, FEWEST_CONNECTIONS + OTHER_FILES);
    c->connection_limit = (int64_t)limit.rlim_cur - OTHER_FILES;
    if (c->max_holds > c->connection_limit / 2)
        c->max_holds = c->connection_limit / 2;
    log_warning("Lowered connectionLimit and maxHolds, because the limit of open files is too low; "
                "raise the hard limit (ulimit -Hn, LimitNOFILE)",
                "files", log_int(limit.rlim_cur), "connectionLimit", log_int(c->connection_limit),
                "maxHolds", log_int(c->max_holds), NULL);
    return 0;
}

static void seed_hashes(void)
{
    uint64_t key[3] = {0};
    if (getrandom(key, sizeof key, 0) == sizeof key) {
        map_seed(key[0], key[1]);
        json_object_seed((size_t)key[2] | 1);
    }
}

/* SIGTERM and SIGINT go to the loop; SIGHUP and SIGPIPE are ignored. Called before any thread
 * starts. */
static void arrange_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* ---- start ---- */

struct server {
    struct config *config;
    const char *scenario; /* --cluster */
    const char *record;   /* --record */
    int64_t record_limit; /* bytes */
    struct recorder *recorder;
    struct workload_rules *rules; /* NULL: muster creates no PodGroups */
    struct metrics metrics;
    struct loop *loop;
    struct check_reader *checks;
    struct verb_context verbs;
    struct ops_context ops;
};

static void warn_if_exposed(const char *address)
{
    cleanup_free char *host = NULL;
    int port;
    if (config_address(address, &host, &port, NULL) < 0 || str_eq(host, "::1") ||
        strncmp(host, "127.", 4) == 0)
        return;
    log_warning(
        "The extender port has no authentication and is reachable from other machines, so any "
        "client can place pods; set listen to a loopback address, or protect the port",
        "listen", address, NULL);
}

static int open_listeners(struct server *s, struct err *err)
{
    const struct config *c = s->config;
    cleanup_buf struct buf configz = BUF_INIT;
    config_json(c, &configz);
    s->verbs = (struct verb_context){s->loop, &s->metrics, s->rules};
    s->checks = check_reader_new(s->loop, s->rules, err);
    s->ops = (struct ops_context){s->loop, buf_steal(&configz), s->checks};
    if (!s->checks)
        return -1;
    const struct http_options verbs = {
        .listen = c->listen,
        .threads = VERBS_THREADS,
        .connection_limit = (unsigned)c->connection_limit,
        .body_limit = (size_t)c->max_body_mib << 20,
        .memory = (size_t)c->max_body_mib << 21,
        .setting = "maxBodyMiB",
        .request_timeout = c->request_timeout,
        .routes = verb_routes,
        .n_routes = verb_n_routes,
        .arg = &s->verbs,
        .refused = verb_refused,
    };
    const struct http_options ops = {
        .listen = c->ops_listen,
        .threads = 1,
        .connection_limit = OPS_CONNECTIONS,
        .body_limit = OPS_BODY_LIMIT,
        .memory = OPS_MEMORY,
        .request_timeout = c->request_timeout,
        .routes = ops_routes,
        .n_routes = ops_n_routes,
        .arg = &s->ops,
    };
    struct http *verbs_http = http_open(&verbs, err);
    loop_attach(s->loop, verbs_http, NULL);
    if (!verbs_http)
        return err_wrap(err, "listen");
    struct http *ops_http = http_open(&ops, err);
    loop_attach(s->loop, verbs_http, ops_http);
    if (!ops_http)
        return err_wrap(err, "opsListen");
    warn_if_exposed(c->listen);
    log_info("Listening", "verbs", http_address(verbs_http), "ops", http_address(ops_http), NULL);
    return 0;
}

static int open_cluster(struct server *s, struct err *err)
{
    struct cluster_sink sink = loop_sink(s->loop);
    struct cluster *cluster;
    const struct kube_cluster_options api = {.kubeconfig = s->config->kubeconfig,
                                             .version = MUSTER_VERSION,
                                             .gates = s->config->gates,
                                             .preemption = s->config->preemption,
                                             .rules = s->rules};
    int r = s->scenario ? builtin_cluster_open(s->scenario, &sink, &cluster, err)
                        : kube_cluster_open(&api, &sink, &cluster, err);
    if (r == 0)
        loop_attach_cluster(s->loop, cluster);
    return r;
}

static int open_recorder(struct server *s, struct err *err)
{
    if (!s->record)
        return 0;
    struct gang_config config = core_config(s->config);
    const struct recorder_options options = {s->record, s->record_limit, RECORDER_BACKLOG};
    s->recorder = recorder_open(&options, &config, err);
    if (!s->recorder)
        return err_wrap(err, "--record");
    loop_record(s->loop, s->recorder);
    log_info("Recording", "file", s->record, "limit", log_int(s->record_limit), NULL);
    return 0;
}

/* Reads what muster needs from kube-scheduler's configuration. With the express lane, a mistake in
 * it is an error; otherwise a warning. */
static int read_scheduler_config(struct config *c, struct err *err)
{
    if (!c->kube_scheduler_config)
        return 0;
    struct scheduler_config_report report;
    scheduler_config_check(c->kube_scheduler_config, c, &report);
    c->rules_off = report.rules_off;
    c->whole_lists = report.whole_lists;
    cleanup_free char *text = buf_steal(&report.text);
    buf_done(&report.text);
    if (report.errors == 0)
        return 0;
    char *first = text + report.error_at;
    first[strcspn(first, "\n")] = '\0';
    if (c->express_lane)
        return err_set(err, ERR_INVALID, "%s%s", first,
                       report.errors > 1 ? " (\"muster check\" prints all errors)" : "");
    log_warning(
        "kube-scheduler's configuration would break gangs; \"muster check\" prints all errors",
        "first", first, NULL);
    return 0;
}

static int start(struct server *s, struct err *err)
{
    if (read_scheduler_config(s->config, err) < 0)
        return -1;
    if (fit_file_limit(s->config, err) < 0)
        return -1;
    /* The built-in cluster has only the objects of its file. */
    if (s->config->create_pod_groups && !s->scenario)
        s->rules = podgroup_rules_new(s->config);
    s->loop = loop_new(s->config, &s->metrics, err);
    if (!s->loop || loop_watch_signals(s->loop, err) < 0)
        return -1;
    if (open_listeners(s, err) < 0 || open_cluster(s, err) < 0)
        return -1;
    /* Open the recorder last: it renames the previous recording, which a failed start must not do.
     * No event is lost, because events wait for loop_run(). */
    return open_recorder(s, err);
}

static int serve(struct server *s)
{
    struct err err;
    seed_hashes();
    arrange_signals();
    if (start(s, &err) == 0) {
        loop_run(s->loop);
        s->recorder = recorder_close(s->recorder);
        log_info("Stopped", NULL);
        return CMD_OK;
    }
    log_error("Cannot start", "error", err.text, NULL);
    if (s->loop)
        loop_abandon(s->loop);
    return CMD_FAILED;
}

/* Parses a size such as "1Gi" or "500Mi". Returns CMD_OK or CMD_USAGE. */
static int read_record_limit(const char *command, const char *text, int64_t *ret)
{
    struct err err;
    *ret = RECORDER_LIMIT;
    if (text && quantity_parse(text, 1, ret, &err) < 0)
        return cmd_usage_error(command, "--record-limit: %s", err.text);
    return CMD_OK;
}

int cmd_serve(int argc, char **argv)
{
    struct server s = {0};
    const char *record_limit = NULL;
    const struct settings_flag own[] = {{"cluster", settings_take_last, &s.scenario},
                                        {"record", settings_take_last, &s.record},
                                        {"record-limit", settings_take_last, &record_limit}};
    cleanup_buf struct buf mistakes = BUF_INIT;
    int status;
    if (settings_parse(argc, argv, own, ARRAY_SIZE(own), &s.config, &mistakes, &status) < 0)
        return status;
    if (!s.config) {
        fputs(buf_str(&mistakes), stderr);
        return CMD_USAGE;
    }
    log_setup((enum log_level)s.config->log_level, (enum log_format)s.config->log_format);
    if (s.scenario && s.config->kubeconfig)
        status = cmd_usage_error(argv[0], "--cluster conflicts with a kubeconfig: remove one");
    else if ((status = read_record_limit(argv[0], record_limit, &s.record_limit)) == CMD_OK)
        status = serve(&s);
    check_reader_free(s.checks);
    loop_free(s.loop);
    podgroup_rules_free(s.rules);
    free(s.ops.configz);
    config_free(s.config);
    return status;
}
