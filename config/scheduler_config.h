/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_config.h - kube-scheduler's own configuration file, as far as it concerns muster:
 * printing one that registers muster, and judging one that somebody wrote.
 *
 * Pure but for reading the file; any thread.
 */
#ifndef MUSTER_CONFIG_SCHEDULER_CONFIG_H
#define MUSTER_CONFIG_SCHEDULER_CONFIG_H

#include "config/config.h"

/* The path under which the verbs are served; the end of every urlPrefix. */
#define SCHEDULER_CONFIG_PATH "/scheduler"

/* kube-scheduler's plugins whose rules muster holds a bind call against; NULL at the end. */
extern const char *const scheduler_config_rules[];

struct scheduler_config_report {
    struct buf text; /* one line per finding: "FILE:LINE: error|warning: …" */
    size_t error_at; /* where the first error's line begins */
    int errors, warnings;
    unsigned rules_off; /* 1 << index in scheduler_config_rules: a profile filters without it */
    bool whole_lists;   /* every node that passes is offered: percentageOfNodesToScore is 100 */
};

/*
 * Judges a KubeSchedulerConfiguration file against our settings. Everything found is in the
 * report; a file that cannot be read or is no YAML is an error in it. With expressLane it is an
 * error too where kube-scheduler has rules that are not its own defaults. The caller frees text.
 */
void scheduler_config_check(const char *path, const struct config *config,
                            struct scheduler_config_report *report);

/* Prints a KubeSchedulerConfiguration for these profiles (n 0: default-scheduler,
 * kai-scheduler, volcano and muster). */
int scheduler_config_print(const struct config *config, const char *const *profiles, size_t n,
                           struct buf *out, struct err *err);

#endif
