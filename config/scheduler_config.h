/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_config.h - kube-scheduler's configuration file (KubeSchedulerConfiguration): prints one
 * that registers muster, and checks an existing one.
 *
 * No state. The check reads the file. Any thread.
 */
#ifndef MUSTER_CONFIG_SCHEDULER_CONFIG_H
#define MUSTER_CONFIG_SCHEDULER_CONFIG_H

#include "config/config.h"

/* The path of the verbs, and so the end of the urlPrefix. */
#define SCHEDULER_CONFIG_PATH "/scheduler"

/* kube-scheduler's plugins whose rules muster checks at a bind call; NULL at the end. */
extern const char *const scheduler_config_rules[];

struct scheduler_config_report {
    struct buf text; /* a line for each finding: "FILE:LINE: error|warning: …" */
    size_t error_at; /* offset of the first error's line */
    int errors, warnings;
    unsigned rules_off; /* 1 << index in scheduler_config_rules: disabled in a profile */
    bool whole_lists;   /* percentageOfNodesToScore is 100: kube-scheduler checks all nodes */
};

/*
 * Checks a KubeSchedulerConfiguration file against muster's settings. The report also has an error
 * if the file cannot be read or is not valid YAML, and, with expressLane, for each rule that is not
 * a default of kube-scheduler. The caller frees the text.
 */
void scheduler_config_check(const char *path, const struct config *config,
                            struct scheduler_config_report *report);

/* Appends a KubeSchedulerConfiguration with these profiles (n 0: default-scheduler, kai-scheduler,
 * volcano and muster) to out. -1: a profile is not a valid name. */
int scheduler_config_print(const struct config *config, const char *const *profiles, size_t n,
                           struct buf *out, struct err *err);

#endif
