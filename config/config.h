/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings: one YAML file, flags and defaults, checked once, then const.
 *
 * Everything there is to know about a setting stands in one table (config_keys()): its key in the
 * file, its flag, type, default, range and help. Life cycle: config_load() reads file and flags
 * (flags win), judges every value and their combinations, and either returns the settings or
 * writes every mistake it found, one line each, as "FILE:LINE: key: what is wrong and what to
 * write". config_free() at the end. The result may be read by every thread.
 */
#ifndef MUSTER_CONFIG_CONFIG_H
#define MUSTER_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/usec.h"

/* What becomes of a commit of which a binding was refused for good. */
enum config_failed_commit { CONFIG_COMPLETE, CONFIG_EVICT };
/* Later members of a gang that was Scheduled and fell below its minimum. */
enum config_below_minimum { CONFIG_LEAVE, CONFIG_REQUEUE };
/* Whether planned members are nominated to their nodes. */
enum config_steering { CONFIG_STEER_AUTO, CONFIG_STEER_ALWAYS, CONFIG_STEER_NEVER };

struct config_list {
    char **items;
    size_t n;
};

struct config {
    char *listen;       /* verbs, "ADDR:PORT" */
    char *ops_listen;   /* metrics, health, API */
    char *kubeconfig;   /* NULL: the pod's service account */
    int64_t log_level;  /* enum log_level */
    int64_t log_format; /* enum log_format */
    usec_t hold;
    usec_t assemble;
    usec_t http_timeout; /* as registered with kube-scheduler */
    usec_t schedule_timeout;
    usec_t max_schedule_timeout; /* the most that a PodGroup may say */
    usec_t backoff;
    usec_t max_backoff;
    usec_t reason_refresh;
    usec_t request_timeout;
    usec_t starvation;           /* a gang that waits so long gets the earmark; 0: never */
    bool strict_order;           /* nothing goes ahead of a waiting gang that comes before it */
    bool trust_group_priority;   /* a PodGroup's priority may be above that of its pods */
    int64_t on_failed_commit;    /* enum config_failed_commit */
    int64_t below_minimum;       /* enum config_below_minimum */
    int64_t steering;            /* enum config_steering */
    bool express_lane;           /* the first member at bind is enough */
    char *kube_scheduler_config; /* the file that kube-scheduler runs with; NULL: not known */
    unsigned rules_off;          /* no key: by that file, see scheduler_config.h */
    bool whole_lists;            /* no key: by that file, lists of nodes are never samples */
    int64_t max_holds;
    int64_t commit_batch_threshold; /* waiting refused pods: gangs commit together; 0: never */
    int64_t max_body_mib;
    int64_t connection_limit;
    struct config_list scheduler_names; /* whose pods are ours; none: all */
    bool gates;                         /* gated members wait for a plan; else all are let go */
    bool gates_show;                    /* those that lack room are shown to an autoscaler */
    /* PodGroups for pods that have none. */
    bool create_pod_groups;
    struct config_list pod_group_schedulers; /* of pods that get one unasked */
    struct config_list pod_group_namespaces; /* none: all */
    struct config_list pod_group_excluded_namespaces;
    int64_t pod_group_dialect;    /* index in config_dialects[] */
    struct config_list workloads; /* each for config_workload() */
};

/* The names of the dialects in which PodGroups can be created, NULL at the end. */
extern const char *const config_dialects[];

enum config_type {
    CONFIG_TEXT,
    CONFIG_ADDRESS,  /* ADDR:PORT */
    CONFIG_CHOICE,   /* one of a few words */
    CONFIG_DURATION, /* seconds, or with a unit: 500ms, 10s, 5m, 1h */
    CONFIG_COUNT,
    CONFIG_BOOL,       /* true or false */
    CONFIG_SCHEDULERS, /* lists; on the command line with commas */
    CONFIG_NAMESPACES,
    CONFIG_WORKLOADS,
};

struct config_key {
    const char *name; /* in the file; "gates.enabled" is `enabled` in the section `gates` */
    const char *flag; /* on the command line, without the dashes */
    enum config_type type;
    size_t offset;              /* in struct config */
    const char *initial;        /* as written in a file; NULL: unset */
    int64_t min, max;           /* of durations (microseconds) and counts */
    const char *const *choices; /* CONFIG_CHOICE: the words, value = index, NULL at the end */
    const char *help;
};

/* The table, in the order to print. */
const struct config_key *config_keys(size_t *ret_n);

/* A setting given on the command line; later ones win. */
struct config_flag {
    const struct config_key *key;
    const char *value;
};

/*
 * Reads `path` (NULL: no file) and the flags over the defaults. Returns NULL when anything was
 * wrong, with every mistake as a line in *mistakes.
 */
struct config *config_load(const char *path, const struct config_flag *flags, size_t n_flags,
                           struct buf *mistakes);
/* The defaults alone. Never NULL. */
struct config *config_defaults(void);
struct config *config_free(struct config *c);

/* What follows from settings that are right but have a price, a line each: "KEY: …". */
void config_remarks(const struct config *c, struct buf *out);

/* All settings as a JSON object, keys as in the file, durations in seconds. */
void config_json(const struct config *c, struct buf *out);

/* Splits "ADDR:PORT", "[V6]:PORT"; host is without brackets and owned by the caller. */
int config_address(const char *text, char **ret_host, int *ret_port, struct err *err);

/* A kind of workload, "example.com/v1/TrainSet:spec.workers:spec.minWorkers". */
struct config_workload {
    char *api_version, *kind; /* "example.com/v1", "TrainSet" */
    char *replicas, *minimum; /* paths; minimum NULL: all replicas */
};
/* Fields are the caller's, see config_workload_done(). */
int config_workload(const char *text, struct config_workload *ret, struct err *err);
void config_workload_done(struct config_workload *w);

#endif
