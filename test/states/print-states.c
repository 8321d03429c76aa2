/* SPDX-License-Identifier: Apache-2.0 */
/* Prints docs/states.md from gang/state_table.h and the states' own table. */
#include <stdio.h>

#include "gang/gang.h"

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

int main(void)
{
    printf("# States of a gang, and what may happen in each\n\n"
           "`test/states/print-states` prints this page from `gang/state_table.h`. The code checks "
           "every\nstep against that table (`gang/step/gang_invariants.h`), and a test keeps the "
           "two equal.\n\n");
    print_states();
    printf("\nEach cell lists the states in which the gang may be at the end of the step. A dot "
           "means\nthat this cannot happen in that state.\n\n| what happens |");
    for (int s = 0; s < GANG_STATE_MAX; s++)
        printf(" %s |", gang_state_name((enum gang_state)s));
    printf(" what muster does |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int h = 0; h < TRIGGER_MAX; h++)
        print_row((enum gang_trigger)h);
    return 0;
}
