/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

int cmd_usage_error(const char *command, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "muster %s: ", command);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nRun \"muster %s --help\" for usage.\n", command);
    return CMD_USAGE;
}

int cmd_flag_error(const char *command, char **argv, int opt)
{
    /* optind is the index after the refused word. optopt is its letter; 0: an unknown long flag. */
    const char *word = argv[optind - 1];
    if (opt == ':')
        return cmd_usage_error(command, "%s needs a value: write it after the flag", word);
    if (optopt && word[0] == '-' && word[1] == '-')
        return cmd_usage_error(command, "%s takes no value: remove the value", word);
    if (optopt)
        return cmd_usage_error(command, "unknown flag -%c", optopt);
    return cmd_usage_error(command, "unknown or ambiguous flag %s", word);
}
