/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings: defaults, one YAML file and flags.
 *
 * One table (config_keys()) defines each setting: its key in the file, its flag, type, default,
 * range and help. Life cycle: config_load() reads the file and the flags, checks each value and
 * then combinations of values. It returns the settings, or all mistakes with a line for each,
 * "FILE:LINE: key: what is wrong: what to write". The caller owns the settings and frees them with
 * config_free(). They do not change after the load, so any thread may read them.
 */
#ifndef MUSTER_CONFIG_CONFIG_H
#define MUSTER_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/usec.h"

/* What to do when the API server refuses a Binding of a commit. */
enum config_failed_commit { CONFIG_COMPLETE, CONFIG_EVICT };
/* How to schedule replacements for members that a Scheduled gang has lost. */
enum config_below_minimum { CONFIG_LEAVE, CONFIG_REQUEUE };
/* Where to begin the search for the reclaimMinRuntime of a victim. */
enum config_runtime_method { CONFIG_FROM_LCA, CONFIG_FROM_QUEUE };
/* When to nominate planned members to their nodes. */
enum config_steering { CONFIG_STEER_AUTO, CONFIG_STEER_ALWAYS, CONFIG_STEER_NEVER };

struct config_list {
    char **items;
    size_t n;
};

/* kube-scheduler's timeout must exceed a hold by this much, so that the reply arrives in time. */
#define CONFIG_HOLD_MARGIN (5 * USEC_PER_SEC)

struct config {
    char *listen;       /* extender port, "ADDR:PORT" */
    char *ops_listen;   /* ops port: metrics, health, API */
    char *kubeconfig;   /* NULL: the pod's service account */
    int64_t log_level;  /* enum log_level */
    int64_t log_format; /* enum log_format */
    usec_t hold;
    usec_t assemble;
    usec_t http_timeout; /* of muster's entry in kube-scheduler's configuration */
    usec_t schedule_timeout;
    usec_t max_schedule_timeout; /* upper bound for the timeout that a PodGroup sets */
    usec_t backoff;
    usec_t max_backoff;
    usec_t reason_refresh;
    usec_t request_timeout;
    usec_t starvation;           /* waiting time until a gang gets the earmark; 0: never */
    bool strict_order;           /* only higher priority passes the first waiting gang */
    bool trust_group_priority;   /* a PodGroup's priority may exceed that of its pods */
    int64_t on_failed_commit;    /* enum config_failed_commit */
    int64_t below_minimum;       /* enum config_below_minimum */
    int64_t steering;            /* enum config_steering */
    bool preemption;             /* evict gangs and pods of a lower priority to make room */
    bool express_lane;           /* the first member at bind is enough */
    char *kube_scheduler_config; /* the file that kube-scheduler uses; NULL: unknown */
    unsigned rules_off;          /* not a key: from that file, see scheduler_config.h */
    bool whole_lists;            /* not a key: from that file, offered lists are complete */
    int64_t max_holds;
    int64_t commit_batch_threshold; /* refused pods from which gangs commit together; 0: never */
    int64_t max_body_mib;
    int64_t connection_limit;
    struct config_list scheduler_names;  /* whose pods muster schedules; empty: all */
    bool gates;                          /* members keep muster's gate until there is a plan; else
                                            muster removes every gate */
    bool gates_show;                     /* remove the gates of gangs that lack room */
    struct config_list queue_namespaces; /* "QUEUE:NAMESPACE"; empty: all may use all */
    usec_t queue_half_life;              /* of credit and of past use */
    int64_t reclaim_limit_percent;       /* of what a queue uses, per 10 minutes; 0: no limit */
    int64_t reclaim_runtime_from;        /* enum config_runtime_method */
    int64_t queue_time_factor;           /* in percent; 0: shares do not depend on past use */
    int64_t max_metrics_queues;          /* queues with metrics of their own */
    /* Creation of PodGroups. */
    bool create_pod_groups;
    struct config_list pod_group_schedulers; /* whose pods need no annotation */
    struct config_list pod_group_namespaces; /* empty: all */
    struct config_list pod_group_excluded_namespaces;
    int64_t pod_group_dialect;    /* index in config_dialects[] */
    struct config_list workloads; /* each for config_workload() */
};

/* The dialects in which muster can create PodGroups, NULL at the end. */
extern const char *const config_dialects[];

enum config_type {
    CONFIG_TEXT,
    CONFIG_ADDRESS,  /* ADDR:PORT */
    CONFIG_CHOICE,   /* one of a few values */
    CONFIG_DURATION, /* seconds, or a number with a unit: 500ms, 10s, 5m, 1h */
    CONFIG_COUNT,
    CONFIG_BOOL,       /* true or false */
    CONFIG_SCHEDULERS, /* lists; separated by commas on the command line */
    CONFIG_NAMESPACES,
    CONFIG_WORKLOADS,
    CONFIG_GRANTS, /* QUEUE:NAMESPACE or QUEUE:* */
    CONFIG_TYPE_MAX
};

/* What a setting is about: the sections of docs/reference/settings.md, in their order. */
#define CONFIG_GROUPS(X)                                                                           \
    X(ACCESS, "Addresses and access")                                                              \
    X(SCHEDULER, "kube-scheduler")                                                                 \
    X(ATTEMPTS, "Attempts and backoff")                                                            \
    X(ORDER, "Order of gangs")                                                                     \
    X(QUEUES, "Queues")                                                                            \
    X(HOLDS, "Holds and commits")                                                                  \
    X(GATES, "Gates")                                                                              \
    X(PODGROUPS, "PodGroups that muster creates")                                                  \
    X(LIMITS, "Limits of the ports")                                                               \
    X(LOG, "Log and messages")

enum config_group {
#define X(id, title) ABOUT_##id,
    CONFIG_GROUPS(X)
#undef X
        CONFIG_GROUP_MAX
};

struct config_key {
    enum config_group group;
    const char *name; /* in the file; "gates.enabled" is `enabled` in the section `gates` */
    const char *flag; /* on the command line, without the dashes */
    enum config_type type;
    size_t offset;              /* in struct config */
    const char *initial;        /* the default as text; NULL: unset */
    int64_t min, max;           /* of durations (microseconds) and counts */
    const char *const *choices; /* CONFIG_CHOICE: the index is the value; NULL at the end */
    const char *help;
};

/* The table, in the order of the help. */
const struct config_key *config_keys(size_t *ret_n);

/* A setting from the command line. A later one overrides an earlier one. */
struct config_flag {
    const struct config_key *key;
    const char *value;
};

/*
 * Applies the file `path` (NULL: none) and then the flags to the defaults. If anything is wrong,
 * returns NULL and appends a line to *mistakes for each mistake.
 */
struct config *config_load(const char *path, const struct config_flag *flags, size_t n_flags,
                           struct buf *mistakes);
/* The defaults. Never NULL. */
struct config *config_defaults(void);
struct config *config_free(struct config *c);

/* Drawbacks of valid settings, a line for each: "KEY: …". */
void config_remarks(const struct config *c, struct buf *out);

/* All settings as a JSON object, keys as in the file, durations in seconds. */
void config_json(const struct config *c, struct buf *out);

/* Splits "ADDR:PORT" or "[V6]:PORT". The host has no brackets, and the caller frees it. */
int config_address(const char *text, char **ret_host, int *ret_port, struct err *err);

/* A kind of workload, "example.com/v1/TrainSet:spec.workers:spec.minWorkers". */
struct config_workload {
    char *api_version, *kind; /* "example.com/v1", "TrainSet" */
    char *replicas, *minimum; /* paths of fields; minimum NULL: all replicas */
};
/* The caller frees the fields with config_workload_done(). */
int config_workload(const char *text, struct config_workload *ret, struct err *err);
void config_workload_done(struct config_workload *w);

#endif
