/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/what_if.h"

#include "gang/cluster/trial.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/quorum.h"

/* The limit of all queries about a gang, in scanned nodes. It takes about 2 ms. */
#define WORK_MAX 10000
/* Removing a pod takes as long as this many scanned nodes. */
#define WORK_PER_POD 4
/* How many nodes are added at most: in total, and beyond `least`, because rules may spread the
 * members. */
#define NODES_MAX  256
#define NODES_MORE 8

bool what_if_begin(struct what_if *w, struct gang_core *core, struct gang *gang)
{
    *w = (struct what_if){core, gang, WORK_MAX};
    bool waits = gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF;
    return waits && !gang->over && !gang->n_slots && gang_lacks(core, gang, STAGE_REACHABLE) <= 0;
}

/* Deducts the cost of removing pods from the work that is left. False: it is too little. */
static bool spend_work(struct what_if *w, int pods)
{
    int64_t cost = (int64_t)pods * WORK_PER_POD;
    if (cost >= w->work_left)
        return false;
    w->work_left -= cost;
    return true;
}

static enum gang_answer has_room(struct what_if *w, struct trial *t)
{
    struct shortage shortage;
    return fits_in_trial(t, w->gang, &w->work_left, &shortage);
}

/* How many pods and slots a query removes. */
static int size_of(const struct gang *other, const struct pod *pod)
{
    return other ? other->root->t.members + other->n_slots : pod->node ? 1 : INT32_MAX / 8;
}

enum gang_answer what_if_gone(struct what_if *w, struct gang *other, struct pod *pod)
{
    if (other == w->gang || !spend_work(w, size_of(other, pod)))
        return GANG_NOT_ASKED;
    struct trial t = trial_begin(w->core);
    if (pod)
        trial_without_pod(&t, pod);
    if (other) {
        list_for_each (member, &other->members, struct pod, in_gang)
            if (member->node)
                trial_without_pod(&t, member);
        list_for_each_safe (slot, &other->slots, struct slot, in_gang)
            trial_without_slot(&t, slot);
    }
    enum gang_answer room = has_room(w, &t);
    trial_end(&t);
    return room;
}

int what_if_nodes(struct what_if *w, const struct node *like, int least)
{
    bool room = false;
    int n = 0;
    if (least > NODES_MAX)
        return 0;
    struct trial t = trial_begin(w->core);
    while (n + 1 < least) {
        trial_with_node(&t, like);
        n++;
    }
    while (!room && n < least + NODES_MORE && spend_work(w, n)) {
        trial_with_node(&t, like);
        n++;
        room = has_room(w, &t) == GANG_YES;
    }
    trial_end(&t);
    return room ? n : 0;
}
