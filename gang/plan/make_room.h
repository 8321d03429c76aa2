/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_room.h - chooses victims for what the last try lacked: nodes for members, or room in the
 * gang's queue. It is greedy: the planner then says whether this is enough.
 *
 * A room search knows which victims use which node. It belongs to the search that begins it, and is
 * valid as long as the number of considered victims (s->n) stays the same.
 */
#ifndef MUSTER_GANG_PLAN_MAKE_ROOM_H
#define MUSTER_GANG_PLAN_MAKE_ROOM_H

#include "gang/plan/victim_search.h"

struct room_search {
    struct victim_search *s;
    struct usage *usages; /* sorted by node */
    size_t n_usages;
    struct spot *items, **by_id; /* nodes with victims. by_id: by node id; NULL: no victims there */
    struct spot **order;         /* those with the cheapest victims first */
    size_t n, n_tried;           /* n_tried: the first ones in the order; the others wait */
    uint64_t stamp;
    struct signature *kind; /* of the members that need room now */
};

/* Call it while no victim is chosen. The caller ends it with room_search_done(). */
struct room_search room_search_begin(struct victim_search *s);
void room_search_done(struct room_search *r);
/* After a try without a node for s->shortage.culprit: chooses victims until the missing members
 * like it have room, or no victim helps. False: none helped. */
bool make_room(struct room_search *r);
/* After a try that a limit of the queue stopped: chooses the victim that frees the most of the
 * amount that is missing, and of equal ones the first in the list. A victim that frees more counts
 * as one that frees what is missing. False: none frees any. */
bool make_quota(struct victim_search *s);

#endif
