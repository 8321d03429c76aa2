/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/state_table.h"
#include <string.h>

_Static_assert(sizeof GANG_STATE_LETTERS - 1 == GANG_STATE_MAX, "a letter for each state");
_Static_assert(TRIGGER_MAX <= 32, "a bit for each trigger");

static const struct {
    const char *name, *cells[GANG_STATE_MAX], *answer;
} table[TRIGGER_MAX] = {
#define X(id, name, a, w, p, c, l, r, b, d, answer) {name, {a, w, p, c, l, r, b, d}, answer},
#define ROW(...)                                    X(__VA_ARGS__)
    GANG_TRIGGERS(ROW)
#undef ROW
#undef X
};

const char *gang_trigger_name(enum gang_trigger what)
{
    return what < TRIGGER_MAX ? table[what].name : "?";
}

const char *gang_cell(enum gang_state state, enum gang_trigger what)
{
    return table[what].cells[state];
}

const char *gang_trigger_answer(enum gang_trigger what)
{
    return table[what].answer;
}

static int state_of(char letter)
{
    static const char letters[] = GANG_STATE_LETTERS;
    return (int)(strchr(letters, letter) - letters);
}

/* `states` and the states that one of the triggers leads to from them; one bit for each state. */
static uint32_t follow(uint32_t states, uint32_t triggered)
{
    uint32_t reached = states;
    for (int s = 0; s < GANG_STATE_MAX; s++)
        for (int t = 0; t < TRIGGER_MAX && (states >> s & 1); t++)
            for (const char *p = table[t].cells[s]; *p && (triggered >> t & 1); p++)
                reached |= 1u << state_of(*p);
    return reached;
}

bool gang_table_allows(enum gang_state from, uint32_t triggered, enum gang_state to)
{
    uint32_t states = 1u << from, more;
    if (from == to) /* a trigger need not change the state */
        return true;
    while ((more = follow(states, triggered)) != states)
        states = more;
    return states >> to & 1;
}
