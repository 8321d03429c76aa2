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
    fprintf(stderr, "\n\"muster %s --help\" shows how it is used.\n", command);
    return CMD_USAGE;
}

int cmd_flag_error(const char *command, char **argv, int opt)
{
    /* optind is behind the refused word; optopt is its letter, 0 for an unknown long flag. */
    const char *word = argv[optind - 1];
    if (opt == ':')
        return cmd_usage_error(command, "%s needs a value: write it behind the flag", word);
    if (optopt && word[0] == '-' && word[1] == '-')
        return cmd_usage_error(command, "%s takes no value: leave it out", word);
    if (optopt)
        return cmd_usage_error(command, "there is no flag -%c", optopt);
    return cmd_usage_error(command, "there is no flag %s (or it is short for several)", word);
}
