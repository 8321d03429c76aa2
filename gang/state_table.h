/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_table.h - what may happen to a gang, and what becomes of it: each state and each happening.
 *
 * One row for each happening: its name; then for each state (in the order of GANG_STATES) the
 * states in which the gang may be when the step is over, a letter each:
 *
 *     A Assembling  W Waiting  P Planned  C Committing  L Placed  R Recovering  B BackedOff  D Done
 *
 * "" says that it cannot happen in that state. Then what muster does about it. The state is always
 * derived from what is true then (reconcile.c); the table says what that can lead to, and is
 * checked against every step (gang/step/gang_invariants.h). docs/states.md is made from it.
 */
#ifndef MUSTER_GANG_STATE_TABLE_H
#define MUSTER_GANG_STATE_TABLE_H

#include "gang/effect.h"

/* clang-format off */
#define GANG_TRIGGERS(X) \
    X(MEMBER_NEW, "member appears", "AWPLRD", "AWPLR", "AWPCLR", "CL", "LR", "CDLR", "AWPLRB", "AWPLRD", "counts; completes the plan, or fills the slot that was expected for it; beyond the needed ones it is an extra") \
    X(MEMBER_LOST, "member deleted, terminating or failed", "AWP", "AWP", "ACWP", "ABCLRWP", "AWPLRD", "ACLRWP", "APB", "AD", "its slot is free and its held call answered; the plan is completed with another member or undone whole; a Placed gang runs on") \
    X(MEMBER_ENDED, "member succeeded", "AWPLRD", "AWPLRD", "AWPCLRD", "CLRD", "LD", "CLRD", "APLRBD", "D", "counts as placed; when all have, the gang is Done") \
    X(MEMBER_BOUND, "member seen on a node", "AWPLR", "AWPLR", "AWPCLR", "ABCLRWP", "L", "CLR", "APLRB", "DL", "is charged there, whoever bound it; what else is needed is started together") \
    X(MEMBER_CHANGED, "member gated, relabelled, resized, tried again or shown by the watch at last", "AWP", "AWP", "AWPC", "CLR", "LR", "CLR", "APB", "D", "is counted anew; without its place the plan is completed or undone whole") \
    X(GROUP_SET, "PodGroup created or edited", "AWPLRD", "AWP", "AWPC", "ABCLRWP", "ALRD", "ACLRD", "AWPB", "ADLR", "is judged anew: refused with the field's name, or needed members are counted anew") \
    X(GROUP_GONE, "PodGroup deleted", "AWPLR", "AWP", "AWP", "ACLR", "ALR", "ACLR", "AWPB", "AD", "nothing is planned without it; what is bound runs on") \
    X(FAMILY, "PodGroups join or leave the gang", "AWPCLRD", "AWPCLRD", "AWPCLRD", "AWPCLRBD", "AWPCLRD", "AWPCLRD", "AWPCLRBD", "AWPCLRD", "parent, children or bundle changed: the plan is undone, all members are counted anew") \
    X(ROOM_MORE, "room grew somewhere", "AP", "WP", "AWP", "", "", "R", "PB", "", "the gang is tried again, in its order") \
    X(ROOM_LESS, "a planned node went, shrank or was taken", "", "", "AWP", "C", "L", "R", "", "", "the slot moves to another node, or the plan is completed anew or undone whole") \
    X(FILTERED, "scheduler asks where a member may go", "A", "W", "AWP", "C", "L", "R", "B", "D", "its slot's node; without a plan no node and the reason; later members wherever there is room") \
    X(REFUSED, "scheduler refuses every place of a member", "", "", "AWP", "C", "", "R", "", "", "believed for a while: an extra gives up its place, else the gang is planned elsewhere") \
    X(REJECTED_EARLY, "scheduler refuses a member unasked", "", "", "AWP", "", "", "R", "", "", "it counts as out of reach until the scheduler asks about it, or for a pause: the gang is planned without it, or waits") \
    X(AT_BIND, "member is at bind", "A", "W", "CP", "C", "L", "CR", "B", "", "held until the needed members are at bind, then all are bound; without a place it is refused with the reason") \
    X(CALL_LOST, "caller of a held bind went away", "", "", "P", "", "", "R", "", "", "the hold is void, the place stays: the member comes again") \
    X(BOUND_OK, "Binding succeeded", "A", "LPRW", "CLPR", "ABCLRWP", "L", "LR", "BLPR", "DL", "its call is answered; with the needed members bound the gang is Placed") \
    X(BOUND_REFUSED, "Binding refused for good", "AWP", "APRW", "APRW", "ABCRWP", "ALRWP", "AWPR", "ABPR", "AD", "its room is free; the gang is completed first in line (or its commit undone, onFailedCommit)") \
    X(BOUND_UNCLEAR, "Binding without a clear result", "A", "RW", "PR", "C", "L", "R", "BR", "D", "stays charged; the pod is read, and the same Binding sent again") \
    X(EXPECTED_OVER, "missing members did not come in time", "A", "", "AP", "", "", "", "", "", "what was reserved for them is free; those that exist are told how many are missing") \
    X(HOLD_OVER, "oldest held bind must be answered", "", "", "AP", "", "", "R", "", "", "all held calls are answered together; the plan stays and the members come again") \
    X(ATTEMPT_OVER, "scheduleTimeoutSeconds passed", "A", "B", "AB", "", "", "R", "", "", "all is released, the gang backs off; a Recovering one keeps its state") \
    X(BACKOFF_OVER, "backoff ended", "", "", "", "", "", "R", "AWP", "", "the next attempt begins") \
    X(LOOK_AGAIN, "a refusal lapsed, or a reason is old", "AP", "WP", "CP", "C", "L", "R", "BP", "D", "the gang is tried again, or told about again") \
    X(RESTART, "muster was started", "AWPLRD", "", "", "", "", "", "", "", "everything is rebuilt from the API: bound members first, then plans")
/* clang-format on */

#define GANG_STATE_LETTERS "AWPCLRBD"

enum gang_trigger {
#define X(id, ...) TRIGGER_##id,
    GANG_TRIGGERS(X)
#undef X
        TRIGGER_MAX
};

const char *gang_trigger_name(enum gang_trigger what);
/* The letters of a cell; "": cannot happen. */
const char *gang_cell(enum gang_state state, enum gang_trigger what);
/* What muster does about it. */
const char *gang_trigger_answer(enum gang_trigger what);
/* Whether a gang that was in `from` may be in `to` after a step in which all of that (a bit for
 * each happening) came to it. */
bool gang_table_allows(enum gang_state from, uint32_t triggered, enum gang_state to);

#endif
