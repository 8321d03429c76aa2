/* SPDX-License-Identifier: Apache-2.0 */
/* What muster writes to PodGroups of each dialect. What it reads: test_dialect_decode.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"

#define WALL ((usec_t)1709208000 * USEC_PER_SEC) /* 2024-02-29T12:00:00Z */

static json_t *parse(const char *text)
{
    json_error_t at;
    json_t *json = json_loads(text, 0, &at);
    if (!json)
        fail_msg("%s: %s", at.text, text);
    return json;
}

/* ---- writes ---- */

static struct gang_status status_of(enum gang_state state)
{
    static const struct gang_ref ref = {(char *)(uintptr_t) "g", (char *)(uintptr_t) "ns",
                                        (char *)(uintptr_t) "name"};
    return (struct gang_status){.ref = &ref,
                                .uid = "u",
                                .state = state,
                                .reason = REASON_NOT_ENOUGH_RESOURCES,
                                .text = "8 members needed, room for 6",
                                .help = "",
                                .min_member = 8,
                                .needed = 8,
                                .members = 8};
}

/* The status that a dialect writes for this object at that time. */
static json_t *status_at(const struct dialect *d, const struct gang_status *s, const json_t *object,
                         usec_t wall)
{
    return d->status(s, &(struct dialect_view){.group = object, .wall = wall});
}

static void the_phase_follows_the_state_of_the_gang(void **state)
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
        {GANG_SCHEDULED, 0, 0, false, "Scheduled", "Running", "Scheduled", "Scheduling"},
        {GANG_SCHEDULED, 7, 0, false, "Scheduled", "Running", "Scheduled", "Scheduling"},
        {GANG_SCHEDULED, 6, 2, false, "Running", "Running", "Running", "Running"},
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
            cleanup_json json_t *patch = status_at(dialect_by_group(groups[g]), &s, NULL, WALL);
            const char *phase = field_peek(patch, "status", "phase", NULL);
            if (!str_eq(phase, want[g]))
                fail_msg("case %zu, %s: got %s, want %s", i, groups[g], phase, want[g]);
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

/* As a server applies merge patches: null is not used, lists are replaced. */
static void apply_patch(json_t *object, const json_t *patch)
{
    json_t *status = json_object_get(object, "status");
    if (!status) {
        status = json_object();
        json_object_set_new(object, "status", status);
    }
    json_object_update(status, json_object_get(patch, "status"));
}

static void S01_a_volcano_podgroup_shows_why_it_waits_until_it_is_scheduled(void **state)
{
    (void)state;
    const struct dialect *d = dialect_by_group("scheduling.volcano.sh");
    cleanup_json json_t *object =
        parse("{\"metadata\":{\"name\":\"g\"},\"status\":{\"conditions\":[{\"type\":\"Other\","
              "\"status\":\"True\"}]}}");

    struct gang_status s = status_of(GANG_ASSEMBLING);
    s.reason = REASON_NOT_ENOUGH_MEMBERS;
    s.text = "3 of 8 members exist";
    s.members = 3;
    json_t *patch = status_at(d, &s, object, WALL);
    apply_patch(object, patch);
    json_decref(patch);
    assert_condition(object, "Unschedulable", "True", "NotEnoughTasks", "3 of 8 members exist",
                     "2024-02-29T12:00:00Z");

    s = status_of(GANG_WAITING);
    patch = status_at(d, &s, object, WALL + 60 * USEC_PER_SEC);
    apply_patch(object, patch);
    json_decref(patch);
    /* Another reason, but unschedulable since the same time. */
    assert_condition(object, "Unschedulable", "True", "NotEnoughResources",
                     "8 members needed, room for 6", "2024-02-29T12:00:00Z");
    assert_null(condition(object, "Scheduled"));

    s = status_of(GANG_SCHEDULED);
    s.bound = 8;
    patch = status_at(d, &s, object, WALL + 120 * USEC_PER_SEC);
    apply_patch(object, patch);
    json_decref(patch);
    assert_condition(object, "Unschedulable", "False", "Scheduled", "", "2024-02-29T12:02:00Z");
    assert_condition(object, "Scheduled", "True", "tasks in gang are ready to be scheduled", "",
                     "2024-02-29T12:02:00Z");
    assert_non_null(condition(object, "Other")); /* the condition of another writer */
}

static void an_unchanged_status_gives_no_patch(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++)
        for (int i = 0; dialect_has_objects(*d) && i < GANG_STATE_MAX; i++) {
            cleanup_json json_t *object = parse("{\"metadata\":{\"name\":\"g\"}}");
            struct gang_status s = status_of((enum gang_state)i);
            s.failed = 1;
            json_t *patch = status_at(*d, &s, object, WALL);
            assert_non_null(patch);
            apply_patch(object, patch);
            json_decref(patch);
            assert_null(status_at(*d, &s, object, WALL + USEC_PER_SEC));
            s.running = 5;
            patch = status_at(*d, &s, object, WALL + USEC_PER_SEC);
            assert_int_equal(
                json_integer_value(json_object_get(json_object_get(patch, "status"), "running")),
                5);
            /* The patch contains only what differs. */
            assert_null(json_object_get(json_object_get(patch, "status"), "failed"));
            json_decref(patch);
        }
}

static void counters_are_written(void **state)
{
    (void)state;
    struct gang_status s = status_of(GANG_SCHEDULED);
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
        cleanup_json json_t *patch =
            status_at(dialect_by_group(cases[i].api_group), &s, NULL, WALL);
        const json_t *n = json_object_get(json_object_get(patch, "status"), cases[i].key);
        assert_int_equal(json_integer_value(n), cases[i].want);
    }
}

/* So that kubectl shows the same for a gang that waited and for one that did not. */
static void a_count_that_became_0_is_absent(void **state)
{
    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++) {
        if (!dialect_has_objects(*d))
            continue;
        cleanup_json json_t *object = parse("{\"status\":{\"running\":3}}");
        struct gang_status s = status_of(GANG_WAITING);
        cleanup_json json_t *patch = status_at(*d, &s, object, WALL);
        assert_true(json_is_null(json_object_get(json_object_get(patch, "status"), "running")));
        apply_patch(object, patch);
        assert_null(status_at(*d, &s, object, WALL));
    }
}

static void S05_the_condition_contains_the_reason(void **state)
{
    (void)state;
    static const char *const groups[] = {"scheduling.run.ai", "scheduling.sigs.k8s.io",
                                         "scheduling.x-k8s.io"};
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        struct gang_status s = status_of(GANG_WAITING);
        cleanup_json json_t *patch = status_at(dialect_by_group(groups[i]), &s, NULL, WALL);
        assert_condition(patch, "PodGroupScheduled", "False", "NotEnoughResources",
                         "8 members needed, room for 6", "2024-02-29T12:00:00Z");
        s = status_of(GANG_SCHEDULED);
        s.reason = REASON_NONE;
        s.text = "";
        cleanup_json json_t *after = status_at(dialect_by_group(groups[i]), &s, patch, WALL);
        assert_condition(after, "PodGroupScheduled", "True", "Scheduled", "",
                         "2024-02-29T12:00:00Z");
    }
}

/* ---- messages ---- */

static void the_help_is_a_separate_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *help, *want;
    } cases[] = {
        {"room for 6", "", "room for 6"},
        {"room for 6", "2 more nvidia.com/gpu", "room for 6. To fit: 2 more nvidia.com/gpu"},
        {"", "minMember 6", "To fit: minMember 6"},
    };
    for (const struct dialect *const *d = dialects; *d; d++)
        for (size_t i = 0; dialect_has_objects(*d) && i < ARRAY_SIZE(cases); i++) {
            struct gang_status s = status_of(GANG_WAITING);
            s.text = cases[i].text;
            s.help = cases[i].help;
            cleanup_json json_t *patch = status_at(*d, &s, NULL, WALL);
            const char *type =
                str_eq((*d)->name, "volcano") ? "Unschedulable" : "PodGroupScheduled";
            assert_string_equal(field_peek(condition(patch, type), "message", NULL), cases[i].want);
        }
}

/* ---- Volcano ---- */

static void volcano_gets_its_own_reasons(void **state)
{
    (void)state;
    static const struct {
        enum gang_state state;
        enum gang_reason_code reason;
        int members, failed;
        const char *want;
    } cases[] = {
        {GANG_WAITING, REASON_NOT_ENOUGH_RESOURCES, 8, 0, "NotEnoughResources"},
        {GANG_WAITING, REASON_NO_MATCHING_NODE, 8, 0, "NotEnoughResources"},
        {GANG_WAITING, REASON_MIN_RESOURCES, 8, 0, "NotEnoughResources"},
        {GANG_WAITING, REASON_BEHIND, 8, 0, "NotEnoughResources"},
        {GANG_WAITING, REASON_EARMARKED, 8, 0, "NotEnoughResources"},
        {GANG_WAITING, REASON_NOT_UNIFORM, 8, 0, "MembersDiffer"},
        {GANG_ASSEMBLING, REASON_NOT_ENOUGH_MEMBERS, 7, 0, "NotEnoughTasks"},
        {GANG_ASSEMBLING, REASON_NOT_ENOUGH_MEMBERS, 9, 0, "NotEnoughPodsOfTask"},
        {GANG_ASSEMBLING, REASON_MEMBERS_GATED, 8, 0, "NotEnoughTasks"},
        {GANG_ASSEMBLING, REASON_GROUP_INVALID, 8, 0, "InvalidPodGroup"},
        /* All members had slots, but not all came to bind in time, so resources were not short. */
        {GANG_BACKED_OFF, REASON_SCHEDULE_TIMEOUT, 8, 0, "ScheduleTimeout"},
        {GANG_BACKED_OFF, REASON_BIND_REFUSED, 8, 0, "BindingRefused"},
        {GANG_RECOVERING, REASON_NONE, 7, 0, "PodDeleted"},
        {GANG_RECOVERING, REASON_NONE, 7, 1, "PodFailed"},
        {GANG_RECOVERING, REASON_NOT_ENOUGH_RESOURCES, 8, 1, "NotEnoughResources"},
        {GANG_BACKED_OFF, REASON_NONE, 8, 0, "BackedOff"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct gang_status s = status_of(cases[i].state);
        s.reason = cases[i].reason;
        s.members = cases[i].members;
        s.failed = cases[i].failed;
        cleanup_json json_t *patch =
            status_at(dialect_by_group("scheduling.volcano.sh"), &s, NULL, WALL);
        const char *got = field_peek(condition(patch, "Unschedulable"), "reason", NULL);
        if (!str_eq(got, cases[i].want))
            fail_msg("case %zu: got %s, want %s", i, got, cases[i].want);
    }
}

static void volcano_transition_ids_count_transitions(void **state)
{
    (void)state;
    const struct dialect *d = dialect_by_group("scheduling.volcano.sh");
    cleanup_json json_t *object =
        parse("{\"metadata\":{\"name\":\"g\"},\"status\":{\"conditions\":[{\"type\":\"Other\","
              "\"transitionID\":\"9b1d1c7e-0000\"},{\"type\":\"Older\",\"transitionID\":\"6\"}]}}");
    static const struct {
        enum gang_state state;
        const char *text, *unschedulable, *scheduled; /* the transitionID of each condition */
    } steps[] = {
        {GANG_WAITING, "room for 6", "7", NULL},
        {GANG_WAITING, "room for 7", "7", NULL}, /* another message is not a transition */
        {GANG_SCHEDULED, "", "8", "9"},
        {GANG_WAITING, "room for 0", "11", "10"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        struct gang_status s = status_of(steps[i].state);
        s.text = steps[i].text;
        cleanup_json json_t *patch = status_at(d, &s, object, WALL);
        apply_patch(object, patch);
        const char *a = field_peek(condition(object, "Unschedulable"), "transitionID", NULL);
        const char *b = field_peek(condition(object, "Scheduled"), "transitionID", NULL);
        if (!str_eq(a, steps[i].unschedulable) || !str_eq(b, steps[i].scheduled))
            fail_msg("step %zu: got %s and %s", i, a, b);
    }
}

/* ---- KAI ---- */

static const json_t *pool_condition(const json_t *object)
{
    return json_array_get(
        json_object_get(json_object_get(object, "status"), "schedulingConditions"), 0);
}

static void kai_gets_the_conditions_of_its_own_tools_too(void **state)
{
    (void)state;
    const struct dialect *d = dialect_by_group("scheduling.run.ai");
    cleanup_json json_t *object = parse(
        "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"metadata\":{\"name\":\"g\",\"labels\":{"
        "\"kai.scheduler/node-pool\":\"a100\"}}}");
    struct gang_status s = status_of(GANG_PLANNED);
    json_t *patch = status_at(d, &s, object, WALL);
    assert_null(pool_condition(patch)); /* no problem so far */
    json_decref(patch);

    s = status_of(GANG_WAITING);
    s.help = "2 more nvidia.com/gpu";
    patch = status_at(d, &s, object, WALL);
    apply_patch(object, patch);
    json_decref(patch);
    const json_t *c = pool_condition(object);
    static const char *const want[][2] = {
        {"type", "UnschedulableOnNodePool"},
        {"nodePool", "a100"},
        {"status", "True"},
        {"reason", "Unschedulable"},
        {"message", "8 members needed, room for 6. To fit: 2 more nvidia.com/gpu"},
        {"transitionID", "1"},
        {"lastTransitionTime", "2024-02-29T12:00:00Z"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(want); i++)
        assert_string_equal(field_peek(c, want[i][0], NULL), want[i][1]);
    const json_t *why = json_array_get(json_object_get(c, "reasons"), 0);
    assert_string_equal(field_peek(why, "reason", NULL), "NotEnoughResources");
    assert_null(status_at(d, &s, object, WALL + USEC_PER_SEC));

    s = status_of(GANG_SCHEDULED);
    patch = status_at(d, &s, object, WALL + 60 * USEC_PER_SEC);
    apply_patch(object, patch);
    json_decref(patch);
    c = pool_condition(object);
    assert_string_equal(field_peek(c, "status", NULL), "False");
    assert_string_equal(field_peek(c, "transitionID", NULL), "2");
    assert_string_equal(field_peek(c, "lastTransitionTime", NULL), "2024-02-29T12:01:00Z");
    assert_int_equal(json_array_size(json_object_get(c, "reasons")), 0);
}

static void the_recipes_podgroup_gets_no_conditions_of_node_pools(void **state)
{
    (void)state;
    cleanup_json json_t *object =
        parse("{\"apiVersion\":\"scheduling.run.ai/v2\",\"metadata\":{\"name\":\"g\"}}");
    struct gang_status s = status_of(GANG_WAITING);
    cleanup_json json_t *patch = status_at(dialect_by_group("scheduling.run.ai"), &s, object, WALL);
    assert_null(pool_condition(patch));
    assert_string_equal(field_peek(patch, "status", "phase", NULL), "Pending");
}

/* ---- scheduler-plugins ---- */

static void S13_the_owners_in_occupied_by_are_written_once(void **state)
{
    (void)state;
    static const char *const groups[] = {"scheduling.x-k8s.io", "scheduling.sigs.k8s.io"};
    cleanup_json json_t *pod = parse(
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ml\",\"ownerReferences\":[{\"kind\":\"Job\","
        "\"name\":\"train\"},{\"kind\":\"X\",\"name\":\"y\"}]}}");
    cleanup_free char *owners = dialect_owners(pod);
    assert_string_equal(owners, "ml/train,ml/y");
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        const struct dialect *d = dialect_by_group(groups[i]);
        cleanup_json json_t *object = parse("{\"metadata\":{\"name\":\"g\"}}");
        struct gang_status s = status_of(GANG_ASSEMBLING);
        struct dialect_view view = {object, owners, WALL};
        json_t *patch = d->status(&s, &view);
        assert_null(field_peek(patch, "status", "occupiedBy", NULL));
        assert_null(field_peek(patch, "status", "scheduleStartTime", NULL));
        json_decref(patch);

        s = status_of(GANG_WAITING);
        patch = d->status(&s, &view);
        apply_patch(object, patch);
        json_decref(patch);
        assert_string_equal(field_peek(object, "status", "occupiedBy", NULL), "ml/train,ml/y");
        assert_string_equal(field_peek(object, "status", "scheduleStartTime", NULL),
                            "2024-02-29T12:00:00Z");

        s = status_of(GANG_SCHEDULED);
        view = (struct dialect_view){object, "ml/other", WALL + 60 * USEC_PER_SEC};
        patch = d->status(&s, &view);
        assert_null(field_peek(patch, "status", "occupiedBy", NULL));
        assert_null(field_peek(patch, "status", "scheduleStartTime", NULL));
        json_decref(patch);
    }
    cleanup_json json_t *alone = parse("{\"metadata\":{\"name\":\"p\"}}");
    assert_null(dialect_owners(alone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_phase_follows_the_state_of_the_gang),
        cmocka_unit_test(S01_a_volcano_podgroup_shows_why_it_waits_until_it_is_scheduled),
        cmocka_unit_test(an_unchanged_status_gives_no_patch),
        cmocka_unit_test(counters_are_written),
        cmocka_unit_test(a_count_that_became_0_is_absent),
        cmocka_unit_test(S05_the_condition_contains_the_reason),
        cmocka_unit_test(the_help_is_a_separate_sentence),
        cmocka_unit_test(volcano_gets_its_own_reasons),
        cmocka_unit_test(volcano_transition_ids_count_transitions),
        cmocka_unit_test(kai_gets_the_conditions_of_its_own_tools_too),
        cmocka_unit_test(the_recipes_podgroup_gets_no_conditions_of_node_pools),
        cmocka_unit_test(S13_the_owners_in_occupied_by_are_written_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
