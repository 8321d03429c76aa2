/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charts/muster/values.schema.json must have the settings of config_keys() below `config`, so that
 * Helm refuses the values that `muster check` refuses.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"

#define SCHEMA "charts/muster/values.schema.json"
#define LENGTH "([0-9]+(\\\\.[0-9]+)?)"
/* The syntax of duration_parse(): a number without a unit, or numbers that each have a unit. */
#define DURATION "^(" LENGTH "|(" LENGTH "(us|ms|s|m|h|d))+)$"

static void put_range(struct buf *out, const struct config_key *key, double unit)
{
    buf_printf(out, ",\"minimum\":%.10g,\"maximum\":%.10g", (double)key->min / unit,
               (double)key->max / unit);
}

static void put_choices(struct buf *out, const struct config_key *key)
{
    for (size_t i = 0; key->choices[i]; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "\"enum\":[", key->choices[i]);
    buf_putc(out, ']');
}

/* The keywords that the schema must have for the setting, as JSON. */
static void put_expected(struct buf *out, const struct config_key *key)
{
    static const char *const types[] = {
        [CONFIG_TEXT] = "\"type\":\"string\"",
        [CONFIG_ADDRESS] = "\"type\":\"string\"",
        [CONFIG_CHOICE] = "",
        [CONFIG_DURATION] = "\"type\":[\"number\",\"string\"],\"pattern\":\"" DURATION "\"",
        [CONFIG_COUNT] = "\"type\":\"integer\"",
        [CONFIG_BOOL] = "\"type\":\"boolean\"",
        [CONFIG_SCHEDULERS] = "\"type\":\"array\",\"uniqueItems\":true",
        [CONFIG_NAMESPACES] = "\"type\":\"array\",\"uniqueItems\":true",
        [CONFIG_WORKLOADS] = "\"type\":\"array\",\"uniqueItems\":true",
        [CONFIG_GRANTS] = "\"type\":\"array\",\"uniqueItems\":true",
    };
    /* The chart also writes this value into kube-scheduler's file, with the suffix "s". */
    bool seconds = str_eq(key->name, "httpTimeoutSeconds");
    buf_printf(out, "{%s", types[seconds ? CONFIG_COUNT : key->type]);
    if (key->type == CONFIG_CHOICE)
        put_choices(out, key);
    if (key->type == CONFIG_DURATION)
        put_range(out, key, 1e6);
    if (key->type == CONFIG_COUNT)
        put_range(out, key, 1);
    buf_putc(out, '}');
}

/* "gates.enabled" is the property `enabled` of the property `gates`. */
static const json_t *property_of(const json_t *properties, const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot)
        return json_object_get(properties, name);
    cleanup_free char *section = xstrndup(name, (size_t)(dot - name));
    const json_t *inside = json_object_get(properties, section);
    if (!json_is_false(json_object_get(inside, "additionalProperties")))
        fail_msg(SCHEMA ": config: \"%s\" accepts unknown properties", section);
    return json_object_get(json_object_get(inside, "properties"), dot + 1);
}

/* Whether the property, or one inside it, is not a setting. */
static bool is_unknown(const char *section, const char *name, const json_t *property,
                       const struct config_key *keys, size_t n)
{
    cleanup_free char *full = section ? xasprintf("%s.%s", section, name) : xstrdup(name);
    const char *inner;
    json_t *value;
    json_object_foreach(json_object_get(property, "properties"), inner,
                        value) if (is_unknown(full, inner, value, keys, n)) return true;
    for (size_t i = 0; i < n; i++)
        if (str_eq(keys[i].name, full))
            return false;
    return !json_object_size(json_object_get(property, "properties"));
}

static void expect_key(const json_t *properties, const struct config_key *key)
{
    cleanup_buf struct buf text = BUF_INIT;
    const char *word;
    json_t *value;
    put_expected(&text, key);
    json_t *expected = json_loads(buf_str(&text), 0, NULL);
    assert_non_null(expected);
    const json_t *has = property_of(properties, key->name);
    json_object_foreach(expected, word, value) if (!json_equal(json_object_get(has, word), value))
        fail_msg(SCHEMA ": config: \"%s\" must have %s", key->name, buf_str(&text));
    json_decref(expected);
}

static void the_chart_has_every_setting_and_no_other(void **state)
{
    (void)state;
    size_t n;
    json_error_t e;
    const char *name;
    json_t *property, *schema = json_load_file(SCHEMA, 0, &e);
    if (!schema)
        fail_msg(SCHEMA ":%d: %s", e.line, e.text);
    const struct config_key *keys = config_keys(&n);
    json_t *config = json_object_get(json_object_get(schema, "properties"), "config");
    json_t *properties = json_object_get(config, "properties");
    assert_true(json_is_false(json_object_get(config, "additionalProperties")));
    for (size_t i = 0; i < n; i++)
        expect_key(properties, &keys[i]);
    json_object_foreach(properties, name, property)
    {
        if (is_unknown(NULL, name, property, keys, n))
            fail_msg(SCHEMA ": config: \"%s\" is not a setting", name);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chart_has_every_setting_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
