/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offline_flags.h - the flags of `muster resume` and `muster ungate`, the commands for emergencies.
 * They work without a running muster.
 */
#ifndef MUSTER_CMD_OFFLINE_FLAGS_H
#define MUSTER_CMD_OFFLINE_FLAGS_H

#include <stdbool.h>

struct offline_flags {
    const char *ns, *kubeconfig; /* borrowed from argv; NULL: not given */
    bool all, dry_run;
};

/* Reads the flags up to argv[optind]. Returns CMD_OK. Otherwise the command must return this status
 * at once. */
int offline_flags_read(struct offline_flags *flags, int argc, char **argv);

#endif
