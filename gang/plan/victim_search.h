/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim_search.h - the state of one search for victims. These files share it:
 *
 *   preemption.c     searches for the cheapest set that is enough, and checks a set
 *   make_room.c      chooses victims that make room on nodes and in the gang's queue
 *   victim_search.c  removes a set in the trial, and asks the planner whether it is enough
 *
 * The chosen victims are those that are removed in the trial. The state is on the stack of
 * preemption(), which also opens the trial and ends it.
 */
#ifndef MUSTER_GANG_PLAN_VICTIM_SEARCH_H
#define MUSTER_GANG_PLAN_VICTIM_SEARCH_H

#include "gang/plan/victims.h"

/* Removing a pod costs as much work as scanning this many nodes. */
#define WORK_PER_POD 4

struct victim_search {
    struct gang_core *core;
    struct gang *gang;
    struct trial trial;
    struct trial_mark base; /* after trial_without_leaving() */
    struct victims all;
    size_t n;      /* the first n victims are considered */
    bool one_pass; /* trimming one victim after the other would take too long */
    bool *chosen;  /* by victim: removed in the trial */
    int *hits;     /* how many victims of an owner are chosen */
    size_t top;    /* the victims from here on are not chosen */
    size_t *whole; /* by owner: the victim that is the whole gang; SIZE_MAX: none */
    int64_t *work_left;
    struct shortage shortage; /* of the last try that failed */
};

static inline void search_spend(struct victim_search *s, int64_t work)
{
    *s->work_left -= work;
}

/* Chooses nothing. */
void search_reset(struct victim_search *s);
/* Chooses victim i, too. False: victim_remove() does not allow it, and nothing has changed. */
bool search_choose(struct victim_search *s, size_t i);
/* Chooses the set and nothing else. False: victim_remove() does not allow a victim of the set, and
 * only a part of the set is chosen. */
bool search_choose_set(struct victim_search *s, const bool *set);
/* Whether the gang fits without the chosen victims. Sets s->shortage. */
enum gang_answer search_fits(struct victim_search *s);
/* Whether the gang fits without the set, which becomes the chosen one. GANG_NO also if the set is
 * not allowed. */
enum gang_answer search_set_is_enough(struct victim_search *s, const bool *set);
/* Whether the gang fits without the first n victims. Chooses those that may go. */
enum gang_answer search_first_are_enough(struct victim_search *s, size_t n);

#endif
