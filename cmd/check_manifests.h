/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_manifests.h - muster check -f FILE: asks a running muster what would happen to the gangs of
 * manifests.
 */
#ifndef MUSTER_CMD_CHECK_MANIFESTS_H
#define MUSTER_CMD_CHECK_MANIFESTS_H

#include <stdbool.h>

/* Whether the command line names manifests. */
bool is_check_of_manifests(int argc, char **argv);
/* Returns an exit code of cmd.h: CMD_OK if all gangs fit now. */
int check_manifests(int argc, char **argv);

#endif
