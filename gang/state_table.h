/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_table.h - the state machine of a gang: triggers, and the states that each may lead to.
 *
 * A row has the name of the trigger, one cell for each state in the order of GANG_STATES, and a
 * description of what muster does. A cell lists the states in which the gang may be at the end of
 * the step, one letter for each:
 *
 *     A Assembling  W Waiting     P Planned    C Committing
 *     S Scheduled   R Recovering  B BackedOff  D Done
 *
 * An empty cell means that the trigger cannot occur in that state. The table decides nothing:
 * reconcile.c derives the state from the facts, and every step is checked against the table
 * (gang/step/gang_invariants.h). docs/reference/states.md is generated from the table.
 *
 * Constant data and pure functions.
 */
#ifndef MUSTER_GANG_STATE_TABLE_H
#define MUSTER_GANG_STATE_TABLE_H

#include "gang/effect.h"

/* clang-format off */
#define GANG_TRIGGERS(X) \
    X(MEMBER_NEW, "member appears", "AWPSRD", "AWPSR", "AWPCSR", "CS", "SR", "CDSR", "AWPSRB", "AWPSRD", "The member counts. It completes the plan or fills an expected slot. Beyond the minimum it is an extra.") \
    X(MEMBER_LOST, "member deleted, terminating or failed", "AWP", "AWP", "ACWP", "ABCSRWP", "AWPSRD", "ACSRWP", "APB", "AD", "muster frees its slot and answers its held call. Another member completes the plan, or muster drops the whole plan. A Scheduled gang keeps running.") \
    X(MEMBER_ENDED, "member succeeded", "AWPSRD", "AWPSRD", "AWPCSRD", "CSRD", "SD", "CSRD", "APSRBD", "D", "The member counts as placed. Once all members have succeeded, the gang is Done.") \
    X(MEMBER_BOUND, "member seen on a node, or not evicted in time", "AWPSR", "AWPSR", "AWPCSR", "ABCSRWP", "S", "CSR", "APSRB", "DS", "muster charges the member to its node, regardless of what bound it. The other needed members start together.") \
    X(MEMBER_CHANGED, "member changed, or is plannable again", "AWP", "AWP", "AWPC", "CSR", "SR", "CSR", "APB", "D", "muster counts the member again. If it loses its slot, muster completes or drops the plan.") \
    X(GROUP_SET, "PodGroup created or edited", "AWPSRD", "AWP", "AWPC", "ABCSRWP", "ASRD", "ACSRD", "AWPB", "ADSR", "muster validates the PodGroup again: it either refuses the gang and names the field, or counts the members again.") \
    X(GROUP_GONE, "PodGroup deleted", "AWPSR", "AWP", "AWP", "ACSR", "ASR", "ACSR", "AWPB", "AD", "muster plans nothing without the PodGroup. Bound members keep running.") \
    X(FAMILY, "PodGroups joined or left the gang", "AWPCSRD", "AWPCSRD", "AWPCSRD", "AWPCSRBD", "AWPCSRD", "AWPCSRD", "AWPCSRBD", "AWPCSRD", "The parent, children or bundle changed: muster drops the plan and counts all members again.") \
    X(ROOM_MORE, "room grew somewhere", "AP", "WP", "AWP", "", "", "R", "PB", "", "muster plans the gang again when its turn comes.") \
    X(ROOM_LESS, "a slot no longer fits on its node", "", "", "AWP", "C", "S", "R", "", "", "The slot moves to another node, or muster completes or drops the plan.") \
    X(FILTERED, "kube-scheduler calls filter for a member", "A", "W", "AWP", "C", "S", "R", "B", "D", "With a plan, muster returns the node of the member's slot; without one, no node and the reason. Later members may use any node with room.") \
    X(REFUSED, "kube-scheduler refuses a member's planned node", "", "", "AWP", "C", "", "R", "", "", "muster avoids the refused nodes for a while. An extra gives up its slot; for a needed member, muster plans the gang elsewhere.") \
    X(REJECTED_EARLY, "kube-scheduler rejects a member early, without a filter call", "", "", "AWP", "", "", "R", "", "", "The member counts as unavailable until kube-scheduler calls filter for it or a pause ends. muster plans the gang without it, or the gang waits.") \
    X(AT_BIND, "member is at bind", "A", "W", "CP", "C", "S", "CR", "B", "", "muster holds the call until the needed members are at bind, then binds them all. It refuses a member without a slot, with the reason.") \
    X(CALL_LOST, "connection of a held bind call closed", "", "", "P", "", "", "R", "", "", "The hold ends and the slot stays. kube-scheduler tries the member again.") \
    X(BOUND_OK, "Binding succeeded", "A", "SPRW", "CSPR", "ABCSRWP", "S", "SR", "BSPR", "DS", "muster answers the call. Once the needed members are bound, the gang is Scheduled.") \
    X(BOUND_REFUSED, "Binding refused for good", "AWP", "APRW", "APRW", "ABCRWP", "ASRWP", "AWPR", "ABPR", "AD", "muster frees the room. It completes the gang before all others, or undoes the commit (onFailedCommit).") \
    X(BOUND_UNCLEAR, "result of a Binding is unclear", "A", "RW", "PR", "C", "S", "R", "BR", "D", "The pod stays charged. muster reads the pod and sends the same Binding again.") \
    X(EXPECTED_OVER, "missing members did not come in time", "A", "", "AP", "", "", "", "", "", "muster frees their slots. The reason on the existing members gives the number of missing ones.") \
    X(HOLD_OVER, "the oldest held bind call reaches its limit", "", "", "AP", "", "", "R", "", "", "muster answers all held calls together. The plan stays, and kube-scheduler tries the members again.") \
    X(ATTEMPT_OVER, "the attempt timed out (scheduleTimeoutSeconds)", "A", "B", "AB", "", "", "R", "", "", "muster releases all slots and the gang backs off. A Recovering gang keeps its state.") \
    X(BACKOFF_OVER, "backoff ended", "", "", "", "", "", "R", "AWP", "", "The next attempt starts.") \
    X(LOOK_AGAIN, "another timer of the gang is due", "AP", "WP", "CP", "C", "S", "R", "BP", "D", "muster plans the gang again, commits it or updates its reason.") \
    X(RESTART, "muster was started", "AWPSRD", "", "", "", "", "", "", "", "muster rebuilds its state from the API server: first the bound members, then the plans.")
/* clang-format on */

#define GANG_STATE_LETTERS "AWPCSRBD"

enum gang_trigger {
#define X(id, ...) TRIGGER_##id,
    GANG_TRIGGERS(X)
#undef X
        TRIGGER_MAX
};

const char *gang_trigger_name(enum gang_trigger what);
/* The letters of a cell; "": the trigger cannot occur in that state. */
const char *gang_cell(enum gang_state state, enum gang_trigger what);
/* What muster does, as the table describes it. */
const char *gang_trigger_answer(enum gang_trigger what);
/* Whether a gang may go from state `from` to state `to` in a step with these triggers, one bit for
 * each. */
bool gang_table_allows(enum gang_state from, uint32_t triggered, enum gang_state to);

#endif
