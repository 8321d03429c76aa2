/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of realistic manifests (kinds/) for each kind in the table, for KAI and Volcano. The test
 * also fails if no file covers a row of the table, in each of its versions.
 */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "workload/kinds.h"
#include "workload_fixture.h"

#define FOLDER "test/unit/workload/kinds"

/* "group/version Kind API": a file creates a PodGroup in this API from a chain with this kind. */
static struct map covered = MAP_INIT;

static void seen(const json_t *const *chain, size_t n, const char *gives, void *arg)
{
    (void)arg;
    if (strncmp(gives, "error", 5) == 0 || strcmp(gives, "no PodGroup") == 0 ||
        strcmp(gives, "left out") == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct workload_identity w = object_identity(chain, i);
        cleanup_free char *key =
            xasprintf("%s %s %.*s", w.api_version, w.kind, (int)strcspn(gives, " "), gives);
        map_set(&covered, key, &covered);
    }
}

static void W01_every_fixture_gives_the_documented_podgroup(void **state)
{
    (void)state;
    int wrong = 0, files = 0;
    DIR *dir = opendir(FOLDER);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        cleanup_free char *path = xasprintf(FOLDER "/%s", e->d_name);
        if (!strstr(e->d_name, ".yaml"))
            continue;
        wrong += fixture_run(path, seen, NULL);
        files++;
    }
    closedir(dir);
    assert_true(files > 20);
    assert_int_equal(wrong, 0);
}

static bool is_covered(const struct workload_kind *k, const char *version, const char *api)
{
    cleanup_free char *key =
        xasprintf("%s%s%s %s %s", k->group, *k->group ? "/" : "", version, k->kind, api);
    if (map_get(&covered, key))
        return true;
    fprintf(stderr, "no fixture creates a PodGroup for \"%s\"\n", key);
    return false;
}

static void W01_every_row_of_the_table_of_kinds_is_tested(void **state)
{
    static const char *const any[] = {"v1", NULL};
    static const char *const apis[] = {"scheduling.run.ai", "scheduling.volcano.sh"};
    bool all = true;
    (void)state;
    assert_true(map_count(&covered) > 0);
    for (size_t i = 0; workload_kind_at(i); i++) {
        const struct workload_kind *k = workload_kind_at(i);
        for (const char *const *v = k->versions ? k->versions : any; *v; v++)
            for (size_t a = 0; a < ARRAY_SIZE(apis); a++)
                all = is_covered(k, *v, apis[a]) && all;
    }
    assert_true(all);
}

/* Versions without a row get the default rule, as in KAI. */
static void other_versions_and_api_groups_are_other_kinds(void **state)
{
    (void)state;
    assert_string_equal(workload_plural("batch/v1", "Job"), "jobs");
    assert_string_equal(workload_plural("v1", "Pod"), "pods");
    assert_string_equal(workload_plural("run.ai/v2", "TrainingWorkload"), "trainingworkloads");
    assert_null(workload_plural("batch/v1beta1", "Job"));
    assert_null(workload_plural("example.com/v1", "Job"));
    assert_null(workload_plural("batch", "Job"));
    assert_null(workload_plural("batch/v1", "job"));
    assert_null(workload_plural("batch.example.com/v1", "Job"));
    assert_null(workload_plural("v1", "Job"));
    assert_null(workload_plural("apps/v1", "DaemonSet"));
}

static void each_kind_is_in_the_table_once(void **state)
{
    (void)state;
    for (size_t i = 0; workload_kind_at(i); i++) {
        const struct workload_kind *k = workload_kind_at(i);
        cleanup_free char *api = xasprintf("%s%s%s", k->group, *k->group ? "/" : "",
                                           k->versions ? k->versions[0] : "v1");
        assert_non_null(k->plural);
        assert_ptr_equal(workload_kind(api, k->kind), k);
    }
}

/* docs/workloads.md lists each kind. The kinds of run.ai are one entry there, `*Workload`. */
static void every_kind_is_documented(void **state)
{
    static const char ending[] = "Workload";
    cleanup_free char *docs = xcalloc(1, 65536);
    FILE *f = fopen("docs/workloads.md", "r");
    bool all = true;
    (void)state;
    assert_non_null(f);
    size_t len = fread(docs, 1, 65535, f);
    fclose(f);
    assert_true(len > 0 && len < 65535);
    for (size_t i = 0; workload_kind_at(i); i++) {
        const char *kind = workload_kind_at(i)->kind, *end = strstr(kind, ending);
        bool by_ending = end && strcmp(end, ending) == 0 && strstr(docs, "`*Workload`");
        if (by_ending || strstr(docs, kind))
            continue;
        fprintf(stderr, "docs/workloads.md does not mention %s\n", kind);
        all = false;
    }
    assert_true(all);
}

static void kinds_that_scale_are_watched_for_changes(void **state)
{
    struct workload_custom custom = {(char[]){"example.com/v1"}, (char[]){"TrainSet"},
                                     (char[]){"spec.replicas"}, NULL};
    struct workload_rules rules = fixture_rules();
    (void)state;
    assert_true(workload_scales(&rules, "ray.io/v1", "RayCluster"));
    assert_true(workload_scales(&rules, "batch/v1", "Job"));
    assert_true(workload_scales(&rules, "apps/v1", "ReplicaSet"));
    assert_false(workload_scales(&rules, "v1", "Pod"));
    assert_false(workload_scales(&rules, "batch/v1", "CronJob"));
    assert_false(workload_scales(&rules, "example.com/v1", "TrainSet"));
    rules.customs = &custom;
    rules.n_customs = 1;
    assert_true(workload_scales(&rules, "example.com/v1", "TrainSet"));
    assert_false(workload_scales(&rules, "example.com/v2", "TrainSet"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(W01_every_fixture_gives_the_documented_podgroup),
        cmocka_unit_test(W01_every_row_of_the_table_of_kinds_is_tested),
        cmocka_unit_test(other_versions_and_api_groups_are_other_kinds),
        cmocka_unit_test(each_kind_is_in_the_table_once),
        cmocka_unit_test(every_kind_is_documented),
        cmocka_unit_test(kinds_that_scale_are_watched_for_changes),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    map_done(&covered);
    return r;
}
