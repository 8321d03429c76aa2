/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/settings.h"

#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"

/* The values of getopt_long: the command's own flags begin at OPT_OWN, settings at OPT_KEY. */
enum { OPT_CONFIG = 256, OPT_HELP, OPT_OWN = 300, OPT_KEY = 400 };

void settings_take_last(void *arg, const char *value)
{
    *(const char **)arg = value;
}

/* The caller frees the array. Its last entry is empty. */
static struct option *make_options(const struct settings_flag *own, size_t n_own)
{
    size_t n_keys, n = 0;
    const struct config_key *keys = config_keys(&n_keys);
    struct option *o = xcalloc(n_own + n_keys + 3, sizeof *o);
    o[n++] = (struct option){"config", required_argument, NULL, OPT_CONFIG};
    o[n++] = (struct option){"help", no_argument, NULL, OPT_HELP};
    for (size_t i = 0; i < n_own; i++)
        o[n++] = (struct option){own[i].name, required_argument, NULL, OPT_OWN + (int)i};
    for (size_t i = 0; i < n_keys; i++)
        o[n++] = (struct option){keys[i].flag, required_argument, NULL, OPT_KEY + (int)i};
    return o;
}

int settings_parse(int argc, char **argv, const struct settings_flag *own, size_t n_own,
                   struct config **ret, struct buf *mistakes, int *exit_code)
{
    size_t n_keys, n_flags = 0, cap = 0;
    const struct config_key *keys = config_keys(&n_keys);
    cleanup_free struct option *options = make_options(own, n_own);
    cleanup_free struct config_flag *flags = NULL;
    const char *path = NULL;
    int opt;
    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (opt == 'h' || opt == OPT_HELP) {
            *exit_code = CMD_HELP;
            return -1;
        } else if (opt == OPT_CONFIG) {
            path = optarg;
        } else if (opt >= OPT_KEY) {
            GROW(flags, cap, n_flags + 1);
            flags[n_flags++] = (struct config_flag){&keys[opt - OPT_KEY], optarg};
        } else if (opt >= OPT_OWN) {
            own[opt - OPT_OWN].take(own[opt - OPT_OWN].arg, optarg);
        } else {
            *exit_code = cmd_flag_error(argv[0], argv, opt);
            return -1;
        }
    }
    if (optind < argc) {
        *exit_code =
            cmd_usage_error(argv[0], "unexpected argument \"%s\": write flags only", argv[optind]);
        return -1;
    }
    *ret = config_load(path, flags, n_flags, mistakes);
    return 0;
}
