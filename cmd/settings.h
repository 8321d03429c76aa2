/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - parses the command line of commands that accept settings.
 *
 * Each key of config/config.h is a flag, and --config names a file. A command may add flags of its
 * own. Called by the main thread before other threads start.
 */
#ifndef MUSTER_CMD_SETTINGS_H
#define MUSTER_CMD_SETTINGS_H

#include "config/config.h"

/* A flag that only this command has. It takes a value. */
struct settings_flag {
    const char *name;
    /* Called for each use of the flag. The value is borrowed from argv. */
    void (*take)(void *arg, const char *value);
    void *arg;
};
/* A `take` that keeps the last value: arg is a const char **. */
void settings_take_last(void *arg, const char *value);

/*
 * Parses argv and loads the settings. Returns 0 and the settings in *ret, which the caller frees.
 * If settings are wrong, *ret is NULL, and *mistakes has a line for each mistake, which the caller
 * prints. Returns -1 and *exit_code if help was requested, or if it has reported a mistake on the
 * command line.
 */
int settings_parse(int argc, char **argv, const struct settings_flag *own, size_t n_own,
                   struct config **ret, struct buf *mistakes, int *exit_code);

#endif
