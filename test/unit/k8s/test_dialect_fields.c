/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each dialect's table of fields (docs/reference/podgroup-fields.md) is what its code does, and
 * what the CRD of the chart has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/map.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "test/lib/yaml_object.h"

/* The use that the table has for the path; -1: none. */
static int use_of(const struct dialect *d, const char *path)
{
    for (const struct dialect_field *f = d->fields; f->path; f++)
        if (strcmp(f->path, path) == 0)
            return (int)f->use;
    return -1;
}

/* ---- what is read ---- */

/* A valid object or pod of each dialect, on which one field at a time becomes wrong. */
static const struct {
    const struct dialect *dialect;
    const char *object;
} objects[] = {
    {&dialect_kai,
     "{metadata: {name: g, namespace: ml}, spec: {subGroups: [{name: a, minMember: 1}]}}"},
    {&dialect_volcano, "{metadata: {name: g, namespace: ml}, spec: {minMember: 4, subGroupPolicy: "
                       "[{name: a, subGroupSize: 2, matchLabelKeys: [x], labelSelector: {}}]}}"},
    {&dialect_xk8s, "{metadata: {name: g, namespace: ml}, spec: {minMember: 4}}"},
    {&dialect_sigs, "{metadata: {name: g, namespace: ml, annotations: {}}, spec: {minMember: 4}}"},
    {&dialect_lightweight,
     "{metadata: {name: p, namespace: ml, labels: {pod-group.scheduling.sigs.k8s.io/name: g}, "
     "annotations: {gang.scheduling.koordinator.sh/min-available: '4'}}}"},
    {&dialect_koordinator,
     "{metadata: {name: p, namespace: ml, labels: {}, annotations: "
     "{gang.scheduling.koordinator.sh/name: g, gang.scheduling.koordinator.sh/min-available: "
     "'4'}}}"},
};

/* Whether the dialect takes the object. */
static bool is_valid(const struct dialect *d, const json_t *object)
{
    struct err err;
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref.api_group = xstrdup(d->api_group);
    f->ref.ns = xstrdup("ml");
    f->ref.name = xstrdup("g");
    bool valid = d->decode(object, f, &err) == 0;
    gang_group_facts_free(f);
    return valid;
}

/* Puts a value of a wrong kind where "spec.subGroups[].name" or "annotation KEY" leads. */
static void spoil(json_t *object, const char *path)
{
    json_t *metadata = json_object_get(object, "metadata");
    if (strncmp(path, "annotation ", 11) == 0) {
        json_object_set_new(json_object_get(metadata, "annotations"), path + 11, json_string("?"));
        return;
    }
    if (strncmp(path, "label ", 6) == 0) {
        json_object_set_new(json_object_get(metadata, "labels"), path + 6, json_string("?"));
        return;
    }
    cleanup_free char *copy = xstrdup(path);
    char *rest = copy, *key = strsep(&rest, ".");
    json_t *at = object;
    for (; rest; key = strsep(&rest, ".")) {
        char *list = strstr(key, "[]");
        if (list)
            *list = '\0';
        at = json_object_get(at, key);
        at = list ? json_array_get(at, 0) : at;
        if (!at)
            fail_msg("the object has no %s for %s", key, path);
    }
    json_object_set_new(at, key, json_true());
}

static void a_wrong_value_is_noticed_in_what_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        const struct dialect *d = objects[i].dialect;
        cleanup_json json_t *good = yaml_object(objects[i].object);
        if (!is_valid(d, good))
            fail_msg("%s: the object of this test is refused", d->name);
        for (const struct dialect_field *f = d->fields; f->path; f++) {
            if (strncmp(f->path, "status.", 7) == 0)
                continue;
            cleanup_json json_t *bad = json_deep_copy(good);
            spoil(bad, f->path);
            if (is_valid(d, bad) == ((f->use & DIALECT_READS) != 0))
                fail_msg("%s: %s is %s", d->name, f->path,
                         f->use & DIALECT_READS ? "not read" : "read");
        }
    }
}

/* ---- what is written ---- */

/* Each key of what was written is in the table, and what the table has was written. */
static void expect_written(const struct dialect *d, const struct map *written, unsigned use)
{
    for (const struct dialect_field *f = d->fields; f->path; f++)
        if (f->use & use && !map_get(written, f->path))
            fail_msg("%s: %s is not written", d->name, f->path);
    map_for_each (e, written)
        if (use_of(d, e->key) < 0 || !(use_of(d, e->key) & (int)use))
            fail_msg("%s: %s is written", d->name, e->key);
}

static void note(struct map *written, const char *prefix, const char *key)
{
    static char yes;
    cleanup_free char *path = xasprintf("%s.%s", prefix, key);
    map_set(written, path, &yes);
}

/* The types of conditions must be named in the meaning of status.conditions. */
static void expect_named(const struct dialect *d, const json_t *conditions)
{
    size_t i;
    const json_t *c;
    json_array_foreach(conditions, i, c)
    {
        cleanup_free char *name = xasprintf("`%s`", field_peek(c, "type", NULL));
        bool named = false;
        for (const struct dialect_field *f = d->fields; f->path; f++)
            named = named || (str_eq(f->path, "status.conditions") && strstr(f->meaning, name));
        if (!named)
            fail_msg("%s: status.conditions does not name %s", d->name, name);
    }
}

static void the_status_has_these_fields(void **state)
{
    (void)state;
    static const struct gang_ref ref = {(char *)(uintptr_t) "g", (char *)(uintptr_t) "ml",
                                        (char *)(uintptr_t) "g"};
    for (const struct dialect *const *d = dialects; *d; d++) {
        struct map written = MAP_INIT;
        for (int s = 0; (*d)->status && s < GANG_STATE_MAX; s++) {
            cleanup_free char *text = xasprintf("{apiVersion: %s/%s}", (*d)->api_group,
                                                str_eq((*d)->name, "kai") ? "v2alpha2" : "v1");
            cleanup_json json_t *group = yaml_object(text);
            const struct gang_status status = {.ref = &ref,
                                               .uid = "u",
                                               .state = (enum gang_state)s,
                                               .reason = REASON_NOT_ENOUGH_RESOURCES,
                                               .text = "t",
                                               .help = "",
                                               .needed = 8,
                                               .members = 8,
                                               .bound = 5,
                                               .running = 4,
                                               .succeeded = 1,
                                               .failed = 1};
            const struct dialect_view view = {group, "ml/job", USEC_PER_SEC};
            cleanup_json json_t *patch = (*d)->status(&status, &view);
            const char *key;
            json_t *value;
            json_object_foreach(json_object_get(patch, "status"), key, value)
            {
                note(&written, "status", key);
            }
            expect_named(*d, json_object_get(json_object_get(patch, "status"), "conditions"));
        }
        expect_written(*d, &written, DIALECT_WRITES);
        map_done(&written);
    }
}

static struct workload_role *role(const char *name, const char *parent, int64_t min_children)
{
    static struct workload_role made[8];
    static size_t n;
    made[n % ARRAY_SIZE(made)] =
        (struct workload_role){(char *)(uintptr_t)name, (char *)(uintptr_t)parent, 2, min_children};
    return &made[n++ % ARRAY_SIZE(made)];
}

static void note_made(struct map *written, const struct dialect *d, const struct workload_group *g)
{
    cleanup_json json_t *spec = d->make(g);
    const char *key, *inner;
    json_t *value, *item, *deep;
    size_t i;
    json_object_foreach(spec, key, value)
    {
        cleanup_free char *list = xasprintf("spec.%s[]", key);
        if (!json_is_array(value))
            note(written, "spec", key);
        json_array_foreach(value, i, item) json_object_foreach(item, inner, deep)
            note(written, list, inner);
    }
}

static void created_podgroups_have_these_fields(void **state)
{
    (void)state;
    struct workload_role parts[] = {*role("a", NULL, -1), *role("b", NULL, 1), *role("c", "b", -1)};
    cleanup_json json_t *resources = yaml_object("{cpu: '8'}");
    struct workload_group flat = {
        .name = (char *)(uintptr_t) "g",
        .min_member = 6,
        .min_children = -1,
        .roles = parts,
        .n_roles = 1,
        .queue = (char *)(uintptr_t) "q",
        .priority_class = (char *)(uintptr_t) "high",
        .preemptibility = "preemptible",
        .preemption_delay = USEC_PER_SEC,
        .min_resources = resources,
    };
    struct workload_group tree = flat;
    tree.n_roles = ARRAY_SIZE(parts);
    tree.min_children = 1;
    for (const struct dialect *const *d = dialects; *d; d++) {
        struct map written = MAP_INIT;
        if ((*d)->make) {
            note_made(&written, *d, &flat);
            note_made(&written, *d, &tree);
        }
        expect_written(*d, &written, DIALECT_CREATES);
        map_done(&written);
    }
}

/* ---- the CRDs ---- */

/* The path, or one above it, is in the table. */
static bool is_covered(const struct dialect *d, const char *path)
{
    for (const struct dialect_field *f = d->fields; f->path; f++) {
        size_t n = strlen(f->path);
        if (strncmp(path, f->path, n) == 0 && (!path[n] || path[n] == '.' || path[n] == '['))
            return true;
    }
    return false;
}

/* Goes through the properties of a schema; each is seen, and those without properties are covered.
 */
static void walk_schema(const struct dialect *d, const json_t *schema, const char *path,
                        struct map *seen)
{
    static char yes;
    const json_t *items = json_object_get(schema, "items");
    const json_t *properties = json_object_get(items ? items : schema, "properties");
    const char *key;
    json_t *value;
    map_set(seen, path, &yes);
    if (!json_object_size(properties) && !is_covered(d, path))
        fail_msg("%s: the CRD has %s, the table does not", d->name, path);
    json_object_foreach((json_t *)(uintptr_t)properties, key, value)
    {
        cleanup_free char *inner = xasprintf("%s%s.%s", path, items ? "[]" : "", key);
        walk_schema(d, value, inner, seen);
    }
}

static void the_table_is_that_of_the_crd(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++) {
        struct err err;
        struct map seen = MAP_INIT;
        cleanup_free char *path =
            xasprintf("charts/muster/crds/podgroups.%s.yaml", (*d)->api_group);
        if (!dialect_has_objects(*d) || str_eq((*d)->name, "x-k8s"))
            continue; /* the chart has no CRD for them */
        cleanup_json json_t *documents = yaml_load(path, &err);
        if (!documents)
            fail_msg("%s", err.text);
        const json_t *crd = json_array_get(documents, 0);
        const json_t *versions = json_object_get(json_object_get(crd, "spec"), "versions");
        for (size_t i = 0; i < json_array_size(versions); i++) {
            const json_t *schema = json_object_get(
                json_object_get(json_array_get(versions, i), "schema"), "openAPIV3Schema");
            const json_t *all = json_object_get(schema, "properties");
            walk_schema(*d, json_object_get(all, "spec"), "spec", &seen);
            walk_schema(*d, json_object_get(all, "status"), "status", &seen);
        }
        for (const struct dialect_field *f = (*d)->fields; f->path; f++)
            if (strchr(f->path, '.') && !strchr(f->path, ' ') && !map_get(&seen, f->path))
                fail_msg("%s: the CRD has no %s", (*d)->name, f->path);
        assert_true(map_count(&seen) > 10);
        map_done(&seen);
    }
}

static void what_is_used_is_explained(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++)
        for (const struct dialect_field *f = (*d)->fields; f->path; f++)
            if ((f->use != 0) != (*f->meaning != '\0'))
                fail_msg("%s: %s", (*d)->name, f->path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_value_is_noticed_in_what_is_read),
        cmocka_unit_test(the_status_has_these_fields),
        cmocka_unit_test(created_podgroups_have_these_fields),
        cmocka_unit_test(the_table_is_that_of_the_crd),
        cmocka_unit_test(what_is_used_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
