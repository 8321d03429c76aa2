/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/settings.h"
#include "config/scheduler_config.h"

struct profiles {
    const char **names;
    size_t n, cap;
};

static void take_profile(void *arg, const char *value)
{
    struct profiles *p = arg;
    GROW(p->names, p->cap, p->n + 1);
    p->names[p->n++] = value;
}

int cmd_scheduler_config(int argc, char **argv)
{
    struct profiles profiles = {0};
    const struct settings_flag own[] = {{"profile", take_profile, &profiles}};
    cleanup_buf struct buf mistakes = BUF_INIT, out = BUF_INIT;
    struct config *config = NULL;
    struct err err;
    int status;
    if (settings_parse(argc, argv, own, ARRAY_SIZE(own), &config, &mistakes, &status) == 0) {
        status = CMD_OK;
        if (!config) {
            fputs(buf_str(&mistakes), stderr);
            status = CMD_USAGE;
        } else if (scheduler_config_print(config, profiles.names, profiles.n, &out, &err) < 0) {
            status = cmd_usage_error(argv[0], "--profile: %s", err.text);
        }
    }
    fputs(buf_str(&out), stdout);
    config_free(config);
    free(profiles.names);
    return status;
}
