/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/gang.h"
#include "test/reference/reference.h"

static const char *const meanings[] = {
#define X(id, name, help) help,
    GANG_STATES(X)
#undef X
};

static void print_states(void)
{
    printf("| | state | meaning |\n|---|---|---|\n");
    for (int s = 0; s < GANG_STATE_MAX; s++)
        printf("| %c | %s | %s |\n", GANG_STATE_LETTERS[s], gang_state_name((enum gang_state)s),
               meanings[s]);
}

static void print_row(enum gang_trigger what)
{
    printf("| %s |", gang_trigger_name(what));
    for (int s = 0; s < GANG_STATE_MAX; s++) {
        const char *cell = gang_cell((enum gang_state)s, what);
        printf(" %s |", *cell ? cell : "·");
    }
    printf(" %s |\n", gang_trigger_answer(what));
}

void page_states(const char *root)
{
    (void)root;
    page_title("States of a gang, and what may happen in each",
               "This page is for contributors, and for operators who read "
               "`muster_gang_triggers_total`.",
               "`gang/state_table.h`");
    printf("muster checks every step against the table in `gang/state_table.h`. The check is in "
           "`gang/step/gang_invariants.c`.\n\n");
    print_states();
    printf("\nEach cell lists the states in which the gang may be at the end of the step. A dot "
           "means\nthat this cannot happen in that state.\n\n| what happens |");
    for (int s = 0; s < GANG_STATE_MAX; s++)
        printf(" %s |", gang_state_name((enum gang_state)s));
    printf(" what muster does |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int h = 0; h < TRIGGER_MAX; h++)
        print_row((enum gang_trigger)h);
}
