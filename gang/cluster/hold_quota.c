/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/hold_quota.h"

#include "base/must.h"
#include "gang/cluster/lookup.h"

/* 1 / LEFT_FREE of all holds is left for namespaces that have booked none. */
#define LEFT_FREE 8

/* The quota of a namespace that has booked holds, or was refused holds. */
struct hold_quota {
    char *ns;
    size_t holds;      /* that it has booked */
    size_t wants;      /* how many it would have booked if it had not been refused */
    usec_t refused_at; /* when it was refused; 0: not since it last booked holds */
};

static struct hold_quota *hold_quota_of(struct gang_core *core, const char *ns)
{
    struct hold_quota *h = map_get(&core->hold_quotas, ns);
    if (!h) {
        h = xcalloc(1, sizeof *h);
        h->ns = xstrdup(ns);
        map_set(&core->hold_quotas, ns, h);
    }
    return h;
}

static bool was_refused(const struct gang_core *core, const struct hold_quota *h)
{
    return h->refused_at && core->now - h->refused_at < core->config.hold;
}

static void hold_quota_free(struct hold_quota *h)
{
    free(h->ns);
    free(h);
}

static void forget_unless_used(struct gang_core *core, struct hold_quota *h)
{
    if (h->holds || was_refused(core, h))
        return;
    map_remove(&core->hold_quotas, h->ns);
    hold_quota_free(h);
}

/* How many holds one namespace may book at most. */
static size_t most_of_one(const struct gang_core *core)
{
    return core->config.max_holds - core->config.max_holds / LEFT_FREE;
}

/* False: the namespace has booked no holds and requests few, so it need not wait for others. */
static bool wants_many(const struct gang_core *core, const struct hold_quota *own, size_t n)
{
    return own->holds || n > core->config.max_holds / LEFT_FREE;
}

/* Whether a namespace with fewer holds was refused within the last config.hold; if `own` has no
 * holds, whether one with a smaller request was. Forgets older refusals. */
static bool smaller_waits(struct gang_core *core, const struct hold_quota *own, size_t n)
{
    bool any = false;
    map_for_each (e, &core->hold_quotas) {
        struct hold_quota *h = e->value;
        bool smaller = own->holds ? h->holds < own->holds : h->wants < n;
        any |= was_refused(core, h) && smaller;
        if (h != own)
            forget_unless_used(core, h);
    }
    return any;
}

static bool has_holds_left(struct gang_core *core, const struct gang *gang,
                           const struct hold_quota *own, size_t n)
{
    size_t taken = map_count(&core->calls) + core->booked_unused, most = core->config.max_holds;
    if (own->holds && gang->booked_holds < most_of_one(core))
        most = most_of_one(core);
    return taken + n <= most && !(wants_many(core, own, n) && smaller_waits(core, own, n));
}

/* How many holds a gang books that lacks this many members at bind: the last member needs none. */
static size_t wanted(const struct gang_core *core, int lacks)
{
    size_t n = lacks > 2 ? (size_t)lacks - 1 : 1, most = most_of_one(core);
    return n < most ? n : most;
}

bool hold_quota_book(struct gang_core *core, struct gang *gang, int lacks)
{
    if ((size_t)gang->n_held < gang->booked_holds)
        return true;
    struct hold_quota *own =
        gang->hold_quota ? gang->hold_quota : hold_quota_of(core, gang->head->ref.ns);
    size_t n = gang->booked_holds ? 1 : wanted(core, lacks);
    if (!has_holds_left(core, gang, own, n)) {
        own->refused_at = core->now;
        own->wants = own->holds + n;
        return false;
    }
    /* n_held may exceed booked_holds, because a member that completes a quorum books no hold. */
    size_t holds = (size_t)gang->n_held + n;
    own->refused_at = 0;
    own->holds += holds - gang->booked_holds;
    gang->hold_quota = own;
    gang->booked_holds = holds;
    core->booked_unused += n;
    return true;
}

void hold_quota_taken(struct gang_core *core, struct gang *gang)
{
    core->booked_unused -= (size_t)gang->n_held < gang->booked_holds;
    gang->n_held++;
}

void hold_quota_left(struct gang_core *core, struct gang *gang)
{
    MUST(gang->n_held > 0);
    gang->n_held--;
    core->booked_unused += (size_t)gang->n_held < gang->booked_holds;
    if (gang->n_held > 0 || !gang->booked_holds)
        return;
    gang->hold_quota->holds -= gang->booked_holds;
    core->booked_unused -= gang->booked_holds;
    gang->booked_holds = 0;
    forget_unless_used(core, STEAL(gang->hold_quota));
}

void hold_quota_done(struct gang_core *core)
{
    map_for_each (e, &core->hold_quotas)
        hold_quota_free(e->value);
    map_done(&core->hold_quotas);
}

int hold_quota_check(const struct gang_core *core, struct err *err)
{
    size_t unused = 0, booked = 0, counted = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        size_t n = (size_t)gang->n_held;
        unused += gang->booked_holds > n ? gang->booked_holds - n : 0;
        booked += gang->booked_holds;
        if (gang->booked_holds && !n)
            return err_set(err, ERR_INTERNAL, "gang %s has booked holds, but holds no call",
                           gang->head->key);
    }
    map_for_each (e, &core->hold_quotas)
        counted += ((const struct hold_quota *)e->value)->holds;
    if (unused != core->booked_unused || booked != counted)
        return err_set(err, ERR_INTERNAL,
                       "hold quota: gangs have booked %zu holds, %zu of them unused, counted as "
                       "%zu and %zu",
                       booked, unused, counted, core->booked_unused);
    return 0;
}
