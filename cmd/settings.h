/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the command line of the commands that take settings as flags.
 *
 * Every key of config/config.h is a flag, --config names a file, and a command may add flags of its
 * own. Used by one thread, before others start.
 */
#ifndef MUSTER_CMD_SETTINGS_H
#define MUSTER_CMD_SETTINGS_H

#include "config/config.h"

/* A flag of the command's own, with a value. */
struct settings_flag {
    const char *name;
    /* Called for each use; value is borrowed from argv. */
    void (*take)(void *arg, const char *value);
    void *arg;
};
/* For flags that keep their last value: arg is a const char **. */
void settings_take_last(void *arg, const char *value);

/*
 * Reads argv, then the settings. Returns 0 with *ret (the caller frees it), or with *ret NULL and
 * the mistakes in the settings as lines in *mistakes, the caller's to tell. Returns -1 with the
 * exit code in *exit_code when help was requested or a mistake on the command line was reported.
 */
int settings_parse(int argc, char **argv, const struct settings_flag *own, size_t n_own,
                   struct config **ret, struct buf *mistakes, int *exit_code);

#endif
