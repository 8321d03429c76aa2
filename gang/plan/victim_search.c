/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/victim_search.h"

#include "gang/plan/placement.h"

void search_reset(struct victim_search *s)
{
    trial_back(&s->trial, s->base);
    for (size_t i = 0; i < s->top; i++) {
        s->chosen[i] = false;
        s->hits[s->all.items[i].owner] = 0;
    }
    s->top = 0;
}

bool search_choose(struct victim_search *s, size_t i)
{
    struct trial_mark before = trial_mark(&s->trial);
    s->chosen[i] = victim_remove(&s->trial, &s->all, i);
    search_spend(s, (int64_t)(s->trial.n - before.n) * WORK_PER_POD);
    if (!s->chosen[i])
        trial_back(&s->trial, before);
    s->hits[s->all.items[i].owner] += s->chosen[i];
    s->top = s->chosen[i] && i >= s->top ? i + 1 : s->top;
    return s->chosen[i];
}

enum gang_answer search_fits(struct victim_search *s)
{
    return fits_in_trial(&s->trial, s->gang, s->work_left, &s->shortage);
}

/* Whether the set has the whole gang of the member that victim i is. */
static bool is_covered(const struct victim_search *s, const bool *set, size_t i)
{
    size_t whole = s->whole[s->all.items[i].owner];
    return whole < s->n && whole != i && set[whole];
}

/* The trial may also have the gang's slots then. */
static bool is_chosen(const struct victim_search *s, const bool *set)
{
    return memcmp(s->chosen, set, (s->top > s->n ? s->top : s->n) * sizeof *set) == 0;
}

bool search_choose_set(struct victim_search *s, const bool *set)
{
    if (is_chosen(s, set))
        return true;
    search_reset(s);
    for (size_t i = 0; i < s->n; i++)
        if (set[i] && !is_covered(s, set, i) && !search_choose(s, i))
            return false;
    return true;
}

enum gang_answer search_set_is_enough(struct victim_search *s, const bool *set)
{
    return search_choose_set(s, set) ? search_fits(s) : GANG_NO;
}

/* Whole gangs and ordinary pods go first, then single members of the gangs that are left. */
enum gang_answer search_first_are_enough(struct victim_search *s, size_t n)
{
    search_reset(s);
    for (size_t i = 0; i<n && * s->work_left> 0; i++)
        if (!s->all.items[i].gang || !s->all.items[i].pod)
            search_choose(s, i);
    for (size_t i = 0; i<n && * s->work_left> 0; i++)
        if (!s->chosen[i])
            search_choose(s, i);
    return search_fits(s);
}
