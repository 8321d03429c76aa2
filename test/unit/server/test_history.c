/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of decisions, and its lines in the log.
 */
#include "server/views/history.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "test/lib/test_config.h"
#include "test/unit/config/temp_file.h"

static struct gang_core *core; /* empty: no pod belongs to a gang */

static int setup(void **state)
{
    struct gang_config config = test_config();
    log_setup(LOG_ERROR, LOG_TEXT);
    core = gang_core_new(&config);
    *state = history_new();
    return 0;
}

static int teardown(void **state)
{
    history_free(*state);
    gang_core_free(core);
    return 0;
}

static void status_of(struct history *h, usec_t now, const char *ns, const char *name,
                      enum gang_state gang_state, const char *text)
{
    const struct gang_ref ref = {(char *)(uintptr_t) "x.io", (char *)(uintptr_t)ns,
                                 (char *)(uintptr_t)name};
    struct gang_effect e = {.kind = GANG_STATUS};
    e.status = (struct gang_status){
        .ref = &ref,
        .uid = "u",
        .state = gang_state,
        .reason = gang_state == GANG_WAITING ? REASON_NOT_ENOUGH_RESOURCES : REASON_NONE,
        .text = text,
        .help = "",
        .needed = 4,
        .members = 5,
        .bound = 3,
        .succeeded = 2};
    history_effects(h, now, now, core, &e, 1);
}

static void status(struct history *h, usec_t now, const char *name, enum gang_state gang_state,
                   const char *text)
{
    status_of(h, now, "ml", name, gang_state, text);
}

static json_t *show(const struct history *h, const char *ns, const char *name, size_t limit)
{
    const struct history_filter filter = {ns, name, NULL, limit};
    cleanup_buf struct buf b = BUF_INIT;
    history_json(h, &filter, &b);
    json_t *j = json_loadb(buf_str(&b), b.len, 0, NULL);
    assert_non_null(j);
    return j;
}

static const char *text_at(const json_t *list, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(list, i), key));
}

static void changes_of_state_are_kept_and_repetitions_are_not(void **state)
{
    struct history *h = *state;
    status(h, 1, "a", GANG_ASSEMBLING, "1 of 4 members exist");
    status(h, 2, "a", GANG_ASSEMBLING, "2 of 4 members exist");
    status(h, 3, "a", GANG_WAITING, "room for 3");
    status(h, 4, "a", GANG_PLANNED, "");
    status(h, 5, "a", GANG_COMMITTING, "");
    status(h, 6 * USEC_PER_SEC, "a", GANG_SCHEDULED, "");
    status(h, 6 * USEC_PER_SEC, "a", GANG_SCHEDULED, "");
    status(h, 7 * USEC_PER_SEC, "a", GANG_DONE, "");
    static const struct {
        const char *from, *to, *text;
    } expected[] = {
        {NULL, "Assembling", "1 of 4 members exist"},
        {"Assembling", "Waiting", "room for 3"},
        {"Waiting", "Planned", "4 members needed, 5 exist: slots are reserved"},
        {"Planned", "Committing",
         "3 of 5 members are bound, 4 needed: muster sends the remaining Bindings"},
        {"Committing", "Scheduled", "3 of 5 members are bound, 4 needed"},
        {"Scheduled", "Done", "all members have finished, 2 of them successfully"},
    };
    json_t *j = show(h, NULL, NULL, 100);
    assert_int_equal(json_array_size(j), ARRAY_SIZE(expected));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        assert_true(str_eq(text_at(j, i, "from"), expected[i].from));
        assert_string_equal(text_at(j, i, "to"), expected[i].to);
        assert_string_equal(text_at(j, i, "text"), expected[i].text);
        assert_string_equal(text_at(j, i, "kind"), "state");
    }
    assert_string_equal(text_at(j, 1, "reason"), "NotEnoughResources");
    assert_string_equal(text_at(j, 5, "time"), "1970-01-01T00:00:07Z");
    json_decref(j);
}

static void events_evictions_and_deletions_are_kept(void **state)
{
    struct history *h = *state;
    status(h, 1, "a", GANG_WAITING, "x");
    struct gang_effect e[] = {
        {.kind = GANG_EVENT}, {.kind = GANG_EVENT}, {.kind = GANG_EVICT}, {.kind = GANG_NOMINATE}};
    e[0].event.kind = "PodGroup";
    e[0].event.api_group = "x.io";
    e[1].event.kind = "Pod"; /* repeats the event of its gang */
    for (int i = 0; i < 2; i++) {
        e[i].event.ns = "ml";
        e[i].event.name = "a";
        e[i].event.uid = "u";
        e[i].event.warning = true;
        e[i].event.reason = "Unschedulable";
        e[i].event.message = "no room";
    }
    e[2].pod.ns = "ml";
    e[2].pod.name = "a-0";
    e[2].pod.uid = "p";
    e[2].pod.text = "to make room for gang ml/b";
    history_effects(h, 2, 2, core, e, ARRAY_SIZE(e));
    char ns[] = "ml", name[] = "a", group[] = "x.io", other[] = "b";
    const struct gang_event gone[] = {
        {.kind = GANG_EV_GROUP_GONE, .gone = {group, ns, name}},
        {.kind = GANG_EV_GROUP_GONE, .gone = {group, ns, other}}, /* it has no history */
        {.kind = GANG_EV_POD_GONE, .gone = {NULL, ns, name}},
    };
    history_events(h, 3, gone, ARRAY_SIZE(gone));
    json_t *j = show(h, NULL, NULL, 100);
    assert_int_equal(json_array_size(j), 4);
    assert_string_equal(text_at(j, 1, "kind"), "event");
    assert_string_equal(text_at(j, 1, "reason"), "Unschedulable");
    assert_true(json_is_true(json_object_get(json_array_get(j, 1), "warning")));
    assert_string_equal(text_at(j, 2, "kind"), "evicted");
    assert_string_equal(text_at(j, 2, "pod"), "ml/a-0");
    assert_string_equal(text_at(j, 2, "text"), "pod ml/a-0 is evicted to make room for gang ml/b");
    assert_string_equal(text_at(j, 3, "kind"), "deleted");
    json_decref(j);
    /* A recreated PodGroup has a new history. */
    status(h, 4, "a", GANG_WAITING, "x");
    j = show(h, NULL, NULL, 1);
    assert_null(text_at(j, 0, "from"));
    json_decref(j);
}

static void the_history_keeps_the_last_entries_and_shows_those_requested(void **state)
{
    struct history *h = *state;
    char name[16];
    for (int i = 0; i < 3 * HISTORY_SIZE; i++) {
        snprintf(name, sizeof name, "g%d", i);
        status(h, i, name, GANG_WAITING, "");
    }
    json_t *j = show(h, NULL, NULL, SIZE_MAX);
    assert_int_equal(json_array_size(j), HISTORY_SIZE);
    assert_string_equal(text_at(j, 0, "name"), "g2000");
    assert_string_equal(text_at(j, HISTORY_SIZE - 1, "name"), "g2999");
    json_decref(j);
    j = show(h, NULL, NULL, 3);
    assert_int_equal(json_array_size(j), 3);
    assert_string_equal(text_at(j, 0, "name"), "g2997");
    json_decref(j);
    status(h, 1, "g2500", GANG_PLANNED, "");
    j = show(h, "ml", "g2500", 10);
    assert_int_equal(json_array_size(j), 2);
    json_decref(j);
    j = show(h, "ml", "g2500", 1);
    assert_int_equal(json_array_size(j), 1);
    assert_string_equal(text_at(j, 0, "to"), "Planned");
    json_decref(j);
    j = show(h, "other", NULL, 10);
    assert_int_equal(json_array_size(j), 0);
    json_decref(j);
}

/* ---- the log ---- */

static int saved_stderr;

static char *begin_capture(void)
{
    char *path = file_make("");
    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stderr));
    log_setup(LOG_INFO, LOG_TEXT);
    return path;
}

static char *captured(const char *path)
{
    struct buf b = BUF_INIT;
    char chunk[4096];
    log_setup(LOG_ERROR, LOG_TEXT);
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    FILE *f = fopen(path, "re");
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(&b, chunk, n);
    fclose(f);
    return buf_steal(&b);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void each_change_is_logged_at_a_bounded_rate(void **state)
{
    struct history *h = *state;
    char name[16];
    cleanup_file char *path = begin_capture();
    status(h, 10 * USEC_PER_SEC, "a", GANG_WAITING, "no \"room\"");
    status(h, 10 * USEC_PER_SEC, "a", GANG_PLANNED, "");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "g%d", i);
        status(h, 10 * USEC_PER_SEC, name, GANG_WAITING, "");
    }
    status(h, 11 * USEC_PER_SEC, "a", GANG_SCHEDULED, "");
    cleanup_free char *log = captured(path);
    assert_non_null(strstr(log, " Gang state changed gang=\"ml/a\" from=\"\" to=\"Waiting\" "
                                "reason=\"NotEnoughResources\" text=\"no \\\"room\\\"\"\n"));
    assert_non_null(strstr(log, "gang=\"ml/a\" from=\"Waiting\" to=\"Planned\""));
    assert_non_null(strstr(log, "gang=\"ml/a\" from=\"Planned\" to=\"Scheduled\""));
    assert_int_equal(count(log, " Gang state changed "), HISTORY_LOG_RATE + 1);
    assert_non_null(strstr(log, "because there were too many lines=\"952\"\n"));
}

static void T16_the_history_of_one_namespace_does_not_replace_that_of_others(void **state)
{
    struct history *h = *state;
    status_of(h, 1, "quiet", "g", GANG_WAITING, "why");
    for (int i = 0; i < 3 * HISTORY_SIZE; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        status_of(h, 2 + i, "noisy", name, GANG_WAITING, "why");
    }
    json_t *j = show(h, "quiet", NULL, 10);
    assert_int_equal(json_array_size(j), 1);
    json_decref(j);
    j = show(h, NULL, NULL, 2 * HISTORY_SIZE);
    assert_int_equal(json_array_size(j), HISTORY_SIZE);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_of_state_are_kept_and_repetitions_are_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(events_evictions_and_deletions_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_history_keeps_the_last_entries_and_shows_those_requested, setup, teardown),
        cmocka_unit_test_setup_teardown(
            T16_the_history_of_one_namespace_does_not_replace_that_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(each_change_is_logged_at_a_bounded_rate, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
