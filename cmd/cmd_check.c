/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/check_manifests.h"
#include "cmd/cmd.h"
#include "cmd/settings.h"
#include "config/scheduler_config.h"

static void print_remarks(const struct config *config)
{
    cleanup_buf struct buf remarks = BUF_INIT;
    config_remarks(config, &remarks);
    for (const char *line = buf_str(&remarks); *line; line += strcspn(line, "\n") + 1)
        printf("note: %.*s\n", (int)strcspn(line, "\n"), line);
}

int cmd_check(int argc, char **argv)
{
    if (is_check_of_manifests(argc, argv))
        return check_manifests(argc, argv);
    const char *scheduler_config = NULL;
    const struct settings_flag own[] = {
        {"scheduler-config", settings_take_last, &scheduler_config},
    };
    cleanup_buf struct buf mistakes = BUF_INIT;
    struct config *config = NULL;
    int status;
    if (settings_parse(argc, argv, own, ARRAY_SIZE(own), &config, &mistakes, &status) < 0)
        return status;
    bool bad = !config;
    fputs(buf_str(&mistakes), stdout);
    if (config && !scheduler_config)
        scheduler_config = config->kube_scheduler_config;
    if (scheduler_config && !config) {
        printf("%s: not checked: correct the settings first\n", scheduler_config);
    } else if (scheduler_config) {
        struct scheduler_config_report report;
        scheduler_config_check(scheduler_config, config, &report);
        fputs(buf_str(&report.text), stdout);
        bad = report.errors > 0;
        buf_done(&report.text);
    }
    if (config)
        print_remarks(config);
    if (!bad)
        puts("ok");
    config_free(config);
    return bad ? CMD_FAILED : CMD_OK;
}
