/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chains of kinds/ with random invalid values, for KAI and Volcano. Nothing may crash (the
 * suite also runs under sanitizers), and the result is a valid PodGroup or an error message.
 */
#include <dirent.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"
#include "workload/kinds.h"
#include "workload_fixture.h"

#define FOLDER "test/unit/workload/kinds"

enum { MUTANTS = 400 }; /* for each file, for KAI and for Volcano */

/* ---- a random generator that is the same everywhere ---- */

static uint64_t dice_state;

static uint64_t dice(uint64_t sides)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (dice_state >> 33) % sides;
}

static json_t *odd_value(void)
{
    static const char *const texts[] = {"null",   "true",  "\"\"",        "\"x\"",
                                        "-1",     "0",     "1",           "2147483648",
                                        "1.5",    "[]",    "{}",          "[{}]",
                                        "[null]", "9e99",  "\"\\u00e9\"", "9223372036854775807",
                                        "\"-1\"", "\"3\"", "\"Ab_c..\"",  "{\"replicas\":3}"};
    return json_loads(texts[dice(ARRAY_SIZE(texts))], JSON_DECODE_ANY, NULL);
}

/* Puts an odd value somewhere; each depth is equally likely. */
static void mutate(json_t *v)
{
    size_t n = json_is_object(v) ? json_object_size(v) : json_array_size(v);
    if (n == 0)
        return;
    size_t at = dice(n);
    if (json_is_array(v)) {
        json_t *child = json_array_get(v, at);
        if (dice(3) && (json_is_object(child) || json_is_array(child)))
            mutate(child);
        else
            json_array_set_new(v, at, odd_value());
        return;
    }
    const char *key;
    json_t *child = NULL;
    json_object_foreach(v, key, child) if (at-- == 0) break;
    if (dice(4) && (json_is_object(child) || json_is_array(child)))
        mutate(child);
    else
        json_object_set_new(v, key, odd_value());
}

/* ---- what must hold ---- */

static void check_roles(const struct workload_group *g)
{
    bool joined = !g->role;
    assert_true(g->n_roles <= 1024); /* the bound of gang/podgroup/quorum.c */
    assert_true(g->min_children >= -1 && g->min_children <= (int64_t)g->n_roles);
    for (size_t i = 0; i < g->n_roles; i++) {
        const struct workload_role *r = &g->roles[i];
        bool parent_before = !r->parent;
        assert_true(strlen(r->name) <= 63 && is_object_name(r->name) && !strchr(r->name, '.'));
        assert_true(r->min_member >= 0 && r->min_member <= FIELD_MAX_COUNT);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(g->roles[k].name, r->name);
            parent_before |= str_eq(g->roles[k].name, r->parent);
        }
        assert_true(parent_before);
        joined |= str_eq(g->role, r->name);
    }
    assert_true(joined);
}

static void check_group(const struct workload_group *g)
{
    assert_true(is_object_name(g->name));
    assert_true(g->min_member >= 0 && g->min_member <= FIELD_MAX_COUNT);
    assert_non_null(g->labels);
    assert_non_null(g->annotations);
    assert_true(g->owner.api_version && g->owner.kind && g->owner.name && g->owner.uid);
    check_roles(g);
}

static void check_text(const char *text)
{
    const char *end = text + strlen(text);
    assert_true(*text);
    for (const char *p = text; p < end;) {
        size_t n = utf8_len(p, end);
        assert_true(n > 0 && (unsigned char)*p >= ' ');
        p += n;
    }
}

struct counts {
    size_t groups, refused, none;
};

static void try_chain(const struct workload_rules *rules, const json_t *const *chain, size_t n,
                      struct counts *counts)
{
    struct workload_group g;
    struct workload_ref ref;
    struct err err = {.text = ""};
    for (size_t i = 0; i < n; i++)
        if (workload_owner(rules, chain[i], &ref))
            workload_ref_done(&ref);
    (void)workload_wants_podgroup(rules, chain[0]);
    int r = workload_group(rules, chain, n, &g, &err);
    if (r < 0) {
        check_text(err.text);
        counts->refused++;
    } else if (r > 0) {
        counts->none++;
    } else {
        check_group(&g);
        cleanup_free char *once = fixture_words(&g);
        cleanup_free char *again = fixture_ask(rules, chain, n);
        assert_string_equal(once, again);
        workload_group_done(&g);
        counts->groups++;
    }
}

static void try_mutants_of(const json_t *docs, struct counts *counts)
{
    static const char *const schedulers[] = {"kai-scheduler", "volcano"};
    struct workload_rules rules = fixture_rules();
    size_t n = json_array_size(docs) - 1;
    const json_t *chain[WORKLOAD_MAX_CHAIN];
    assert_true(n <= WORKLOAD_MAX_CHAIN);
    for (size_t i = 0; i < (size_t)MUTANTS * 2; i++) {
        cleanup_json json_t *copy = json_deep_copy(docs);
        for (uint64_t times = 1 + dice(3); times; times--)
            mutate(json_array_get(copy, 1 + dice(n)));
        json_t *spec = json_object_get(json_array_get(copy, 1), "spec");
        if (json_is_object(spec))
            json_object_set_new(spec, "schedulerName", json_string(schedulers[i % 2]));
        for (size_t k = 0; k < n; k++)
            chain[k] = json_array_get(copy, k + 1);
        try_chain(&rules, chain, n, counts);
    }
}

static void odd_objects_give_a_valid_podgroup_or_an_error_message(void **state)
{
    struct counts counts = {0, 0, 0};
    DIR *dir = opendir(FOLDER);
    (void)state;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        struct err err;
        cleanup_free char *path = xasprintf(FOLDER "/%s", e->d_name);
        if (!strstr(e->d_name, ".yaml"))
            continue;
        cleanup_json json_t *docs = yaml_load(path, &err);
        assert_non_null(docs);
        dice_state = 42; /* so that the order of files does not matter */
        try_mutants_of(docs, &counts);
    }
    closedir(dir);
    /* All three results occurred. */
    assert_true(counts.groups > 1000);
    assert_true(counts.refused > 1000);
    assert_true(counts.none > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_objects_give_a_valid_podgroup_or_an_error_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
