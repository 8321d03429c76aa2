/* SPDX-License-Identifier: Apache-2.0 */
/* PodGroups of every dialect: what is written to them. What is read: test_dialect_decode.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "k8s/dialect.h"
#include "k8s/field.h"

#define WALL ((usec_t)1709208000 * USEC_PER_SEC) /* 2024-02-29T12:00:00Z */

static json_t *parse(const char *text)
{
    json_error_t at;
    json_t *json = json_loads(text, 0, &at);
    if (!json)
        fail_msg("%s: %s", at.text, text);
    return json;
}

/* ---- what is written ---- */

static struct gang_status status_of(enum gang_state state)
{
    static const struct gang_ref ref = {(char *)(uintptr_t) "g", (char *)(uintptr_t) "ns",
                                        (char *)(uintptr_t) "name"};
    return (struct gang_status){.ref = &ref,
                                .uid = "u",
                                .state = state,
                                .reason = REASON_NOT_ENOUGH_RESOURCES,
                                .text = "8 members needed, room for 6",
                                .min_member = 8,
                                .needed = 8,
                                .members = 8};
}

static void phases_follow_the_gang(void **state)
{
    (void)state;
    static const struct {
        enum gang_state state;
        int running, succeeded;
        bool timed_out;
        const char *kai, *volcano, *sigs, *xk8s;
    } cases[] = {
        {GANG_ASSEMBLING, 0, 0, false, "Pending", "Inqueue", "Pending", "Pending"},
        {GANG_ASSEMBLING, 2, 0, false, "Pending", "Unknown", "Pending", "Pending"},
        {GANG_WAITING, 0, 0, false, "Pending", "Pending", "PreScheduling", "Scheduling"},
        {GANG_PLANNED, 0, 0, false, "PreScheduling", "Inqueue", "PreScheduling", "Scheduling"},
        {GANG_COMMITTING, 0, 0, false, "PreScheduling", "Inqueue", "Scheduling", "Scheduling"},
        {GANG_PLACED, 0, 0, false, "Scheduled", "Running", "Scheduled", "Scheduling"},
        {GANG_PLACED, 7, 0, false, "Scheduled", "Running", "Scheduled", "Scheduling"},
        {GANG_PLACED, 6, 2, false, "Running", "Running", "Running", "Running"},
        {GANG_RECOVERING, 0, 0, false, "PreScheduling", "Inqueue", "Scheduling", "Scheduling"},
        {GANG_RECOVERING, 3, 0, false, "PreScheduling", "Unknown", "Scheduling", "Scheduling"},
        {GANG_BACKED_OFF, 0, 0, false, "Pending", "Pending", "PreScheduling", "Scheduling"},
        {GANG_BACKED_OFF, 0, 0, true, "Failed", "Pending", "Failed", "Scheduling"},
        {GANG_DONE, 0, 8, false, "Finished", "Completed", "Finished", "Finished"},
        {GANG_DONE, 0, 3, false, "Failed", "Completed", "Failed", "Failed"},
    };
    static const char *const groups[] = {"scheduling.run.ai", "scheduling.volcano.sh",
                                         "scheduling.sigs.k8s.io", "scheduling.x-k8s.io"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_status s = status_of(cases[i].state);
        s.running = cases[i].running;
        s.succeeded = cases[i].succeeded;
        s.timed_out = cases[i].timed_out;
        const char *const want[] = {cases[i].kai, cases[i].volcano, cases[i].sigs, cases[i].xk8s};
        for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
            cleanup_json json_t *patch = dialect_by_group(groups[g])->status(&s, NULL, WALL);
            const char *phase = field_peek(patch, "status", "phase", NULL);
            if (!str_eq(phase, want[g]))
                fail_msg("case %zu, %s: %s instead of %s", i, groups[g], phase, want[g]);
        }
    }
}

static const json_t *condition(const json_t *object, const char *type)
{
    const json_t *list = json_object_get(json_object_get(object, "status"), "conditions");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_eq(field_peek(json_array_get(list, i), "type", NULL), type))
            return json_array_get(list, i);
    return NULL;
}

static void assert_condition(const json_t *object, const char *type, const char *status,
                             const char *reason, const char *message, const char *since)
{
    const json_t *c = condition(object, type);
    assert_non_null(c);
    assert_string_equal(field_peek(c, "status", NULL), status);
    assert_string_equal(field_peek(c, "reason", NULL), reason);
    assert_string_equal(field_peek(c, "message", NULL), message);
    assert_string_equal(field_peek(c, "lastTransitionTime", NULL), since);
}

/* A server that applies merge patches: null is not used, lists are replaced. */
static void apply_patch(json_t *object, const json_t *patch)
{
    json_t *status = json_object_get(object, "status");
    if (!status) {
        status = json_object();
        json_object_set_new(object, "status", status);
    }
    json_object_update(status, json_object_get(patch, "status"));
}

static void S01_volcano_group_says_why_it_waits_and_is_cleared_later(void **state)
{
    (void)state;
    const struct dialect *d = dialect_by_group("scheduling.volcano.sh");
    cleanup_json json_t *object =
        parse("{\"metadata\":{\"name\":\"g\"},\"status\":{\"conditions\":[{\"type\":\"Other\","
              "\"status\":\"True\"}]}}");

    struct gang_status s = status_of(GANG_ASSEMBLING);
    s.reason = REASON_NOT_ENOUGH_MEMBERS;
    s.text = "3 of 8 members exist";
    json_t *patch = d->status(&s, object, WALL);
    apply_patch(object, patch);
    json_decref(patch);
    assert_condition(object, "Unschedulable", "True", "NotEnoughTasks", "3 of 8 members exist",
                     "2024-02-29T12:00:00Z");

    s = status_of(GANG_WAITING);
    patch = d->status(&s, object, WALL + 60 * USEC_PER_SEC);
    apply_patch(object, patch);
    json_decref(patch);
    /* Another reason, but unschedulable since the same moment. */
    assert_condition(object, "Unschedulable", "True", "NotEnoughResources",
                     "8 members needed, room for 6", "2024-02-29T12:00:00Z");
    assert_null(condition(object, "Scheduled"));

    s = status_of(GANG_PLACED);
    s.bound = 8;
    patch = d->status(&s, object, WALL + 120 * USEC_PER_SEC);
    apply_patch(object, patch);
    json_decref(patch);
    assert_condition(object, "Unschedulable", "False", "Scheduled", "", "2024-02-29T12:02:00Z");
    assert_condition(object, "Scheduled", "True", "tasks in gang are ready to be scheduled", "",
                     "2024-02-29T12:02:00Z");
    assert_non_null(condition(object, "Other")); /* somebody else's */
}

static void nothing_is_written_when_nothing_changed(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++)
        for (int i = 0; dialect_has_objects(*d) && i < GANG_STATE_MAX; i++) {
            cleanup_json json_t *object = parse("{\"metadata\":{\"name\":\"g\"}}");
            struct gang_status s = status_of((enum gang_state)i);
            s.failed = 1;
            json_t *patch = (*d)->status(&s, object, WALL);
            assert_non_null(patch);
            apply_patch(object, patch);
            json_decref(patch);
            assert_null((*d)->status(&s, object, WALL + USEC_PER_SEC));
            s.running = 5;
            patch = (*d)->status(&s, object, WALL + USEC_PER_SEC);
            assert_int_equal(
                json_integer_value(json_object_get(json_object_get(patch, "status"), "running")),
                5);
            /* Only what differs. */
            assert_null(json_object_get(json_object_get(patch, "status"), "failed"));
            json_decref(patch);
        }
}

static void counters_are_written(void **state)
{
    (void)state;
    struct gang_status s = status_of(GANG_PLACED);
    s.bound = 8;
    s.running = 5;
    s.succeeded = 2;
    s.failed = 1;
    static const struct {
        const char *api_group, *key;
        int want;
    } cases[] = {
        {"scheduling.run.ai", "pending", 1},      {"scheduling.run.ai", "running", 5},
        {"scheduling.run.ai", "succeeded", 2},    {"scheduling.run.ai", "failed", 1},
        {"scheduling.volcano.sh", "running", 5},  {"scheduling.volcano.sh", "succeeded", 2},
        {"scheduling.volcano.sh", "failed", 1},   {"scheduling.sigs.k8s.io", "scheduled", 8},
        {"scheduling.sigs.k8s.io", "running", 5}, {"scheduling.x-k8s.io", "succeeded", 2},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_json json_t *patch = dialect_by_group(cases[i].api_group)->status(&s, NULL, WALL);
        const json_t *n = json_object_get(json_object_get(patch, "status"), cases[i].key);
        assert_int_equal(json_integer_value(n), cases[i].want);
    }
}

static void S05_condition_carries_the_reason_in_words(void **state)
{
    (void)state;
    static const char *const groups[] = {"scheduling.run.ai", "scheduling.sigs.k8s.io",
                                         "scheduling.x-k8s.io"};
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        struct gang_status s = status_of(GANG_WAITING);
        cleanup_json json_t *patch = dialect_by_group(groups[i])->status(&s, NULL, WALL);
        assert_condition(patch, "PodGroupScheduled", "False", "NotEnoughResources",
                         "8 members needed, room for 6", "2024-02-29T12:00:00Z");
        s = status_of(GANG_PLACED);
        s.reason = REASON_NONE;
        s.text = "";
        cleanup_json json_t *after = dialect_by_group(groups[i])->status(&s, patch, WALL);
        assert_condition(after, "PodGroupScheduled", "True", "Scheduled", "",
                         "2024-02-29T12:00:00Z");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_follow_the_gang),
        cmocka_unit_test(S01_volcano_group_says_why_it_waits_and_is_cleared_later),
        cmocka_unit_test(nothing_is_written_when_nothing_changed),
        cmocka_unit_test(counters_are_written),
        cmocka_unit_test(S05_condition_carries_the_reason_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
