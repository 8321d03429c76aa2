/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"
#include "test/reference/reference.h"

static const char *const groups[] = {
#define X(id, title) title,
    CONFIG_GROUPS(X)
#undef X
};

static const char *const types[] = {
    [CONFIG_TEXT] = "text",
    [CONFIG_ADDRESS] = "address",
    [CONFIG_CHOICE] = "choice",
    [CONFIG_DURATION] = "duration",
    [CONFIG_COUNT] = "number",
    [CONFIG_BOOL] = "true or false",
    [CONFIG_SCHEDULERS] = "list of schedulerNames",
    [CONFIG_NAMESPACES] = "list of namespaces",
    [CONFIG_WORKLOADS] = "list of kinds",
    [CONFIG_GRANTS] = "list of `QUEUE:NAMESPACE`",
};
_Static_assert(ARRAY_SIZE(types) == CONFIG_TYPE_MAX, "name each type of setting");

static void print_values(const struct config_key *key)
{
    if (key->type == CONFIG_CHOICE) {
        printf(" ");
        for (size_t i = 0; key->choices[i]; i++)
            printf("%s`%s`", i ? ", " : "", key->choices[i]);
        printf(" |");
    } else if (key->type == CONFIG_DURATION) {
        cleanup_free char *max = page_number(key->max / USEC_PER_SEC);
        page_cell("%.10g s to %s s", (double)key->min / 1e6, max);
    } else if (key->type == CONFIG_COUNT) {
        cleanup_free char *min = page_number(key->min), *max = page_number(key->max);
        page_cell("%s to %s", min, max);
    } else {
        page_cell("%s", key->type == CONFIG_ADDRESS ? "`ADDR:PORT`" : "");
    }
}

/* All defaults are whole numbers, durations in seconds. */
static void print_number(const struct config_key *key)
{
    cleanup_free char *number = page_number(strtoll(key->initial, NULL, 10));
    page_cell(key->type == CONFIG_DURATION ? "%s s" : "%s", number);
}

static void print_default(const struct config_key *key)
{
    if (!key->initial)
        page_cell("%s", "");
    else if (key->type == CONFIG_DURATION || key->type == CONFIG_COUNT)
        print_number(key);
    else
        page_cell("`%s`", key->initial);
}

static void print_key(const struct config_key *key)
{
    printf("| `%s` | `--%s` |", key->name, key->flag);
    page_cell("%s", types[key->type]);
    print_default(key);
    print_values(key);
    page_cell("%s", key->help);
    putchar('\n');
}

void page_settings(const char *root)
{
    (void)root;
    size_t n;
    const struct config_key *keys = config_keys(&n);
    page_title("Settings",
               "This page is for operators who configure muster. It lists each setting with its "
               "type, default and values.",
               "the table in `config/config_keys.c`");
    printf(
        "Write the settings into a YAML file, and start muster with `muster serve --config FILE`. "
        "With the chart, write\nthem under `config` ([chart values](chart-values.md)). A flag on "
        "the command line overrides the file.\n\n"
        "- A name with a dot is a key in a section: `gates.enabled` is `gates: {enabled: true}`.\n"
        "- A duration is a number of seconds, or numbers with units: `500ms`, `90s`, `1m30s`, "
        "`2h`. The units are `us`,\n  `ms`, `s`, `m`, `h` and `d`.\n"
        "- In the file, a list is a YAML list. On the command line, separate the entries with "
        "commas.\n"
        "- If the table shows no default, the setting is unset by default, or is an empty list.\n\n"
        "`muster check --config FILE` reports mistakes. `GET /configz` on the ops port returns the "
        "settings that muster\nruns with.\n");
    for (int g = 0; g < CONFIG_GROUP_MAX; g++) {
        printf(
            "\n## %s\n\n"
            "| setting | flag | type | default | values | meaning |\n|---|---|---|---|---|---|\n",
            groups[g]);
        for (size_t i = 0; i < n; i++)
            if ((int)keys[i].group == g)
                print_key(&keys[i]);
    }
}
