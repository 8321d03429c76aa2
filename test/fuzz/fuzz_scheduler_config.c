/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube-scheduler's configuration file, as `muster check` judges it: each finding is a line with
 * file name and line number, and counts as an error or a warning.
 */
#include "config/scheduler_config.h"

#include "test/fuzz/fuzz.h"

static void check(const char *path, const struct config *c)
{
    struct scheduler_config_report report = {.errors = 0};
    scheduler_config_check(path, c, &report);
    int lines = 0;
    for (const char *line = buf_str(&report.text); *line; lines++) {
        size_t n = strcspn(line, "\n");
        const char *rest = line + strlen(path) + 1;
        HOLDS(strncmp(line, path, strlen(path)) == 0, "names no file: %.*s", (int)n, line);
        size_t digits = strspn(rest, "0123456789");
        rest += digits ? digits + 2 : 1;
        HOLDS(strncmp(rest, "error: ", 7) == 0 || strncmp(rest, "warning: ", 9) == 0,
              "neither error nor warning: %.*s", (int)n, line);
        HOLDS(line[n] == '\n', "no whole line");
        line += n + 1;
    }
    HOLDS(lines == report.errors + report.warnings, "%d lines for %d errors and %d warnings: %s",
          lines, report.errors, report.warnings, buf_str(&report.text));
    HOLDS(!report.errors || report.error_at < report.text.len, "the first error is nowhere");
    buf_done(&report.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(0, data, size);
    struct config *c = config_defaults();
    check(path, c);
    c->express_lane = true;
    check(path, c);
    config_free(c);
    return 0;
}
