/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario files and manifests (simulator/scenario.h, k8s/encoding/yaml_to_json.h,
 * simulator/manifest.h). The error about an invalid file names the file. A valid scenario can be
 * played: every step can be expanded, and the built-in cluster knows every manifest.
 */
#include "simulator/scenario.h"

#include "gang/gang.h"
#include "k8s/encoding/yaml_to_json.h"
#include "test/fuzz/fuzz.h"
#include "test/lib/test_config.h"
#include "workload/workload.h"

static void check_list(const json_t *todo, const char *key)
{
    const json_t *list = json_object_get(todo, key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_decref(scenario_patch(json_array_get(list, i)));
        struct scenario_target target;
        struct err err;
        if (scenario_target(json_array_get(list, i), &target, &err) < 0)
            fuzz_check_error(&err); /* a name may contain the number of the repetition */
        else
            HOLDS(target.name && target.ns, "half a target");
    }
}

static void check_step(const struct scenario_step *step)
{
    static const int64_t numbers[] = {0, 1, INT64_MAX};
    HOLDS(step->at >= 0 && step->every >= 0 && step->times > 0, "a step at no time");
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        cleanup_tree json_t *todo = scenario_step_todo(step, numbers[i]);
        cleanup_free char *text = json_dumps(todo, JSON_COMPACT);
        HOLDS(text, "a step that cannot be written");
        check_list(todo, "delete");
        check_list(todo, "scale");
        check_list(todo, "patch");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {.code = ERR_NONE};
    struct scenario *s = scenario_parse("f.yaml", "/nowhere/", (const char *)data, size, &err);
    if (!s) {
        fuzz_check_error(&err);
        HOLDS(strncmp(err.text, "f.yaml", strlen("f.yaml")) == 0, "names no file: %s", err.text);
        return 0;
    }
    struct gang_config config = test_config();
    scenario_config(s, &config);
    for (size_t i = 0; i < json_array_size(s->objects); i++) {
        const json_t *object = json_array_get(s->objects, i);
        HOLDS(manifest_check(object, &err) == 0, "taken, and then: %s", err.text);
        HOLDS(manifest_kind_of(object) != KIND_MAX, "of no kind");
        if (manifest_kind_of(object) == KIND_JOB)
            json_decref(workload_job_pod(object, 0));
    }
    for (size_t i = 0; i < s->n_steps; i++)
        check_step(&s->steps[i]);
    for (size_t i = 0; i < s->n_expects; i++)
        HOLDS(s->expects[i].ns && s->expects[i].name && s->expects[i].where, "expects nothing");
    scenario_free(s);
    return 0;
}
