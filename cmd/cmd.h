/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the commands. Each has a function and a file (cmd_<name>.c); main.c has the table.
 *
 * A command gets its name as argv[0], parses its flags with getopt_long, and returns one of
 * cmd_exit. It writes results to stdout and messages to stderr. cmd_usage_error() reports a mistake
 * on the command line. The main thread calls these functions.
 */
#ifndef MUSTER_CMD_CMD_H
#define MUSTER_CMD_CMD_H

#include "base/mem.h"

/* CMD_HELP is not an exit code: main.c then prints the help of the command from its table. */
enum cmd_exit { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_NOT_NOW = 3, CMD_HELP };

int cmd_serve(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_scheduler_config(int argc, char **argv);
int cmd_ungate(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Writes "muster COMMAND: …" and how to get help to stderr; returns CMD_USAGE. */
int cmd_usage_error(const char *command, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same for a flag that getopt_long refused: it returned '?' or ':', with opterr 0. */
int cmd_flag_error(const char *command, char **argv, int opt);

#endif
