/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/call_quota.h"

#include "base/must.h"
#include "gang/cluster/objects.h"

/* 1 / LEFT_FREE of the places is for namespaces that have none. */
#define LEFT_FREE 8

/* A namespace that has places, or was refused some. */
struct holder {
    char *ns;
    size_t places;
    size_t wants;      /* what it would have now, had it not been refused, */
    usec_t refused_at; /* then; 0: not since it got places last */
};

static struct holder *holder_of(struct gang_core *core, const char *ns)
{
    struct holder *h = map_get(&core->holders, ns);
    if (!h) {
        h = xcalloc(1, sizeof *h);
        h->ns = xstrdup(ns);
        map_set(&core->holders, ns, h);
    }
    return h;
}

static bool was_refused(const struct gang_core *core, const struct holder *h)
{
    return h->refused_at && core->now - h->refused_at < core->config.hold;
}

static void holder_free(struct holder *h)
{
    free(h->ns);
    free(h);
}

static void forget_unless_used(struct gang_core *core, struct holder *h)
{
    if (h->places || was_refused(core, h))
        return;
    map_remove(&core->holders, h->ns);
    holder_free(h);
}

/* Of all places, those that a namespace may book. */
static size_t most_of_one(const struct gang_core *core)
{
    return core->config.max_holds - core->config.max_holds / LEFT_FREE;
}

/* Who asks for few, and has none, does not wait for others. */
static bool asks_for_many(const struct gang_core *core, const struct holder *own, size_t n)
{
    return own->places || n > core->config.max_holds / LEFT_FREE;
}

/* Somebody was refused who has fewer places, or asked for fewer; whose turn is over is forgotten.
 */
static bool poorer_waits(struct gang_core *core, const struct holder *own, size_t n)
{
    bool any = false;
    map_for_each (e, &core->holders) {
        struct holder *h = e->value;
        bool poorer = own->places ? h->places < own->places : h->wants < n;
        any |= was_refused(core, h) && poorer;
        if (h != own)
            forget_unless_used(core, h);
    }
    return any;
}

static bool has_places(struct gang_core *core, const struct gang *gang, const struct holder *own,
                       size_t n)
{
    size_t taken = map_count(&core->calls) + core->booked, most = core->config.max_holds;
    if (own->places && gang->places < most_of_one(core))
        most = most_of_one(core);
    return taken + n <= most && !(asks_for_many(core, own, n) && poorer_waits(core, own, n));
}

/* The last that its quorum takes is not held. */
static size_t wanted(const struct gang_core *core, int lacks)
{
    size_t n = lacks > 2 ? (size_t)lacks - 1 : 1, most = most_of_one(core);
    return n < most ? n : most;
}

bool places_book(struct gang_core *core, struct gang *gang, int lacks)
{
    if ((size_t)gang->n_held < gang->places)
        return true;
    struct holder *own = gang->holder ? gang->holder : holder_of(core, gang->head->ref.ns);
    size_t n = gang->places ? 1 : wanted(core, lacks);
    if (!has_places(core, gang, own, n)) {
        own->refused_at = core->now;
        own->wants = own->places + n;
        return false;
    }
    size_t places = (size_t)gang->n_held + n; /* who completes a quorum may be held without one */
    own->refused_at = 0;
    own->places += places - gang->places;
    gang->holder = own;
    gang->places = places;
    core->booked += n;
    return true;
}

void place_taken(struct gang_core *core, struct gang *gang)
{
    core->booked -= (size_t)gang->n_held < gang->places;
    gang->n_held++;
}

void place_left(struct gang_core *core, struct gang *gang)
{
    MUST(gang->n_held > 0);
    gang->n_held--;
    core->booked += (size_t)gang->n_held < gang->places;
    if (gang->n_held > 0 || !gang->places)
        return;
    gang->holder->places -= gang->places;
    core->booked -= gang->places;
    gang->places = 0;
    forget_unless_used(core, STEAL(gang->holder));
}

void holders_done(struct gang_core *core)
{
    map_for_each (e, &core->holders)
        holder_free(e->value);
    map_done(&core->holders);
}

int holds_check(const struct gang_core *core, struct err *err)
{
    size_t booked = 0, places = 0, held = 0;
    list_for_each (gang, &core->gangs, struct gang, in_core) {
        size_t n = (size_t)gang->n_held;
        booked += gang->places > n ? gang->places - n : 0;
        places += gang->places;
        if (gang->places && !n)
            return err_set(err, ERR_INTERNAL, "gang %s has places for holds, and holds nothing",
                           gang->head->key);
    }
    map_for_each (e, &core->holders)
        held += ((const struct holder *)e->value)->places;
    if (booked != core->booked || places != held)
        return err_set(err, ERR_INTERNAL,
                       "%zu places for holds are booked and %zu of namespaces, counted as %zu and "
                       "%zu",
                       booked, places, core->booked, held);
    return 0;
}
