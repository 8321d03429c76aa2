/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the commands, one function and one file (cmd_<name>.c) each; main.c has the table.
 *
 * A command gets its own name as argv[0] and its flags behind it, reads them with getopt_long,
 * writes what was asked for to stdout and everything else to stderr, and returns one of cmd_exit. A
 * mistake on the command line is reported by cmd_usage_error(), which names the remedy.
 */
#ifndef MUSTER_CMD_CMD_H
#define MUSTER_CMD_CMD_H

#include "base/mem.h"

/* CMD_HELP is no exit code: the command was asked for help, which main.c prints from its table. */
enum cmd_exit { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_HELP };

int cmd_serve(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_scheduler_config(int argc, char **argv);
int cmd_ungate(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Prints "muster COMMAND: …" and where help is to be had, to stderr; returns CMD_USAGE. */
int cmd_usage_error(const char *command, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same for what getopt_long refused (it returned '?' or ':', with opterr 0). */
int cmd_flag_error(const char *command, char **argv, int opt);

#endif
