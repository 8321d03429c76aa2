/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_room.h - keeps the room of a gang's future plan while evicted pods leave it
 * (gang/cluster/preempted_room.h).
 *
 * gang_preemption.c keeps the room when it has evicted pods. Each planning pass first counts kept
 * room in queues, and lifts the room of a gang while it plans this gang. If the plan fails,
 * gang_preemption.c keeps the room again, here or elsewhere. The slots are those of
 * preempted_room.c.
 */
#ifndef MUSTER_GANG_PLAN_KEEP_ROOM_H
#define MUSTER_GANG_PLAN_KEEP_ROOM_H

#include "gang/cluster/trial.h"

/* Where a gang keeps room. */
struct places {
    struct place {
        struct signature *signature;
        struct node *node;
    } * items;
    size_t n;
};

/* Keeps no room for the gang while it is planned. Returns where it was kept, for the same step;
 * the caller frees it with places_done(). */
struct places room_lift(struct gang_core *core, struct gang *gang);
/* Whether muster keeps room for the gang exactly there. */
bool room_is(const struct gang *gang, const struct places *places);
/* Keeps room for the gang there. */
void room_restore(struct gang_core *core, struct gang *gang, const struct places *places);
void places_done(struct gang_core *core, struct places *places);
/* Where the trial has reserved slots since it had n changes. The caller frees the result with
 * places_done(). */
struct places places_of_trial(const struct trial *t, size_t n);
/* Keeps room for the gang, if it fits once all Terminating and evicted pods are gone and the plans
 * that yield to it are dropped. Drops those that are in the way. The gang must have no slots and no
 * preempted room. False: it does not fit. */
bool room_keep(struct gang_core *core, struct gang *gang);
/* Keeps room at these places, where the gang must fit. */
void room_keep_at(struct gang_core *core, struct gang *gang, const struct places *places);
/* Whether the plan of the gang displaces room that muster keeps for another gang, or the plan of a
 * gang for which pods were evicted. Call it before displaced slots move. */
bool plan_takes_room(const struct gang_core *core, const struct gang *gang);
/* Counts preempted room in the queues as far as their limits allow. Call it before other gangs get
 * what evicted pods have left in their queue. */
void rooms_count_in_queues(struct gang_core *core);
/* Whether the gang has to wait for the end of pods in its preempted room. False also if the room is
 * not enough any more, for example because a node is gone. */
bool room_awaits_end(const struct gang_core *core, const struct gang *gang);

#endif
