/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster's own configuration file. For an invalid file, each error is a line with file name and
 * line number. The values of an accepted file are in their ranges, and it prints as JSON.
 */
#include "config/config.h"

#include "test/fuzz/fuzz.h"

static void check_ranges(const struct config *c)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++) {
        const char *at = (const char *)c + keys[i].offset;
        if (keys[i].type != CONFIG_DURATION && keys[i].type != CONFIG_COUNT)
            continue;
        int64_t v;
        memcpy(&v, at, sizeof v);
        HOLDS(v >= keys[i].min && v <= keys[i].max, "%s is out of its range", keys[i].name);
    }
}

/* Each line starts with "FILE:LINE: ". A file that is not YAML has no line numbers. */
static void check_mistakes(const char *path, const struct buf *mistakes)
{
    HOLDS(mistakes->len && mistakes->data[mistakes->len - 1] == '\n', "no whole line");
    for (const char *line = buf_str(mistakes); *line; line = strchr(line, '\n') + 1) {
        const char *rest = line + strlen(path) + 1;
        size_t digits = strncmp(line, path, strlen(path)) == 0 ? strspn(rest, "0123456789") : 0;
        HOLDS(digits && rest[digits] == ':' && rest[digits + 1] == ' ', "names no line: %.*s",
              (int)strcspn(line, "\n"), line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(0, data, size);
    cleanup_buf struct buf mistakes = BUF_INIT, text = BUF_INIT;
    struct config *c = config_load(path, NULL, 0, &mistakes);
    if (!c) {
        check_mistakes(path, &mistakes);
        return 0;
    }
    HOLDS(mistakes.len == 0, "taken with mistakes: %s", buf_str(&mistakes));
    check_ranges(c);
    config_remarks(c, &text);
    buf_clear(&text);
    config_json(c, &text);
    cleanup_tree json_t *json = fuzz_json("the settings", buf_str(&text), text.len);
    HOLDS(json_is_object(json), "no object");
    config_free(c);
    return 0;
}
