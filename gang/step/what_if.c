/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/step/what_if.h"

#include "gang/cluster/trial.h"
#include "gang/plan/placement.h"
#include "gang/podgroup/quorum.h"

/* All questions about a gang cost no more than so many looks at nodes: some 2 ms. */
#define LOOKS_MAX 10000
/* To place a member, and to take a pod away, both there and back, takes as long as so many looks.
 */
#define LOOKS_OF_A_MEMBER 8
#define LOOKS_OF_A_POD    4
/* Nodes that are added, and how many beyond the least: rules may keep members apart. */
#define NODES_MAX  256
#define NODES_MORE 8

bool what_if_begin(struct what_if *w, struct gang_core *core, struct gang *gang)
{
    *w = (struct what_if){core, gang, LOOKS_MAX};
    bool waits = gang->state == GANG_WAITING || gang->state == GANG_BACKED_OFF;
    return waits && !gang->over && !gang->n_slots && gang_lacks(core, gang, STAGE_REACHABLE) <= 0;
}

/* Pays for a question beforehand, but for the looks at nodes. */
static bool may_ask(struct what_if *w, int pods)
{
    int64_t price = w->gang->root->t.plannable * LOOKS_OF_A_MEMBER + pods * LOOKS_OF_A_POD;
    if (price > w->looks)
        return false;
    w->looks -= price;
    return true;
}

static bool has_room(struct what_if *w, struct trial *t)
{
    struct shortage shortage;
    int64_t before = w->core->work;
    bool room = place_in_trial(t, w->gang, &shortage);
    w->looks -= w->core->work - before;
    return room;
}

static int size_of(const struct gang *other, const struct pod *pod)
{
    return other ? other->root->t.members + other->n_slots : pod->node ? 1 : INT32_MAX / 8;
}

enum gang_answer what_if_gone(struct what_if *w, struct gang *other, struct pod *pod)
{
    if (other == w->gang || !may_ask(w, size_of(other, pod)))
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
    bool room = has_room(w, &t);
    trial_end(&t);
    return room ? GANG_YES : GANG_NO;
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
    while (!room && n < least + NODES_MORE && may_ask(w, n)) {
        trial_with_node(&t, like);
        n++;
        room = has_room(w, &t);
    }
    trial_end(&t);
    return room ? n : 0;
}
