/* SPDX-License-Identifier: Apache-2.0 */
/* Violations that the core finds in itself: a metric, and one line in the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"
#include "server/views/invariant_log.h"
#include "server/views/metrics.h"
#include "test/lib/test_config.h"

static void a_step(struct gang_core *core, struct gang_event ev)
{
    size_t n;
    gang_step(core, USEC_PER_SEC, &ev, 1, &n);
    gang_event_done(&ev);
}

static struct gang_core *with_a_gang(void)
{
    struct gang_config config = test_config();
    struct gang_core *core = gang_core_new(&config);
    struct gang_group_facts *facts = gang_group_facts_new();
    facts->ref = (struct gang_ref){xstrdup("test"), xstrdup("ml"), xstrdup("train")};
    facts->uid = xstrdup("1");
    facts->min_member = 2;
    a_step(core, (struct gang_event){.kind = GANG_EV_SYNCED});
    a_step(core, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = facts});
    return core;
}

/* An inconsistent state that the step does not correct. */
static void spoil(struct gang_core *core)
{
    struct gang *gang = CONTAINER_OF(core->gangs.next, struct gang, in_core);
    gang->state = GANG_COMMITTING;
    gang_touch(core, gang);
    gang_reconciled(gang);
    a_step(core, (struct gang_event){.kind = GANG_EV_TICK});
}

static void assert_metric(const struct gang_core *core, const char *line)
{
    static struct metrics m;
    cleanup_buf struct buf text = BUF_INIT;
    metrics_write(&m, core, NULL, NULL, NULL, &text);
    if (!strstr(buf_str(&text), line))
        fail_msg("the metrics have no line: %s", line);
}

/* What is logged about the core now; the caller frees it. */
static char *logged(const struct gang_core *core, uint32_t *said)
{
    char words[4096];
    int saved = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    invariant_log(core, said);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    size_t n = fread(words, 1, sizeof words, file);
    fclose(file);
    return xstrndup(words, n);
}

static void each_kind_of_violation_is_counted_and_logged_once(void **state)
{
    (void)state;
    uint32_t said = 0;
    struct gang_core *core = with_a_gang();
    cleanup_free char *nothing = logged(core, &said);
    assert_string_equal(nothing, "");
    assert_metric(core, "\nmuster_invariant_violations_total{check=\"state\"} 0\n");
    spoil(core);
    cleanup_free char *line = logged(core, &said);
    assert_non_null(strstr(line, " check=\"state\" first=\"gang "));
    assert_non_null(strstr(line, "train is Committing, but has 0 members"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    spoil(core);
    cleanup_free char *again = logged(core, &said);
    assert_string_equal(again, "");
    assert_metric(core, "\nmuster_invariant_violations_total{check=\"state\"} 2\n");
    assert_metric(core, "\nmuster_invariant_violations_total{check=\"transition\"} 0\n");
    gang_core_free(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_violation_is_counted_and_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
