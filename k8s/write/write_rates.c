/* SPDX-License-Identifier: Apache-2.0 */
/* Which writes are urgent, and the rate limits of the others. */
#include "k8s/write/write_internal.h"

/* Statuses and PodGroup events that have waited this long no longer give way to urgent writes. */
#define PATIENCE_LAST (10 * USEC_PER_SEC)

/* These limits keep events and conditions from flooding the API server. */
#define EVENTS_PER_SECOND          50
#define EVENTS_BURST               200
#define CONDITIONS_PER_SECOND      50 /* high, because gated pods show their reason only here */
#define CONDITIONS_BURST           50
#define CONDITION_COST_WHEN_URGENT 10 /* tokens; a condition costs the API server two requests */
#define NOTICES_PER_SECOND         10
#define NOTICES_BURST              10
#define WORDS_PER_SECOND           20 /* statuses and PodGroup events, while members wait */
#define WORDS_BURST                2

/* ---- urgency ---- */

/* Members wait for these writes. */
static const enum lane_id urgent_lanes[] = {LANE_BIND, LANE_NOMINATE, LANE_UNGATE};

bool lane_is_urgent(enum lane_id id)
{
    for (size_t i = 0; i < ARRAY_SIZE(urgent_lanes); i++)
        if (urgent_lanes[i] == id)
            return true;
    return false;
}

static bool lane_busy(const struct lane *lane)
{
    return lane->queue.n > 0 || lane->n_in_flight > 0;
}

bool writer_urgent(const struct writer *w)
{
    for (size_t i = 0; i < ARRAY_SIZE(urgent_lanes); i++)
        if (lane_busy(&w->lanes[urgent_lanes[i]]))
            return true;
    return usec_now() < w->calm_at;
}

static bool busy_below(const struct writer *w, size_t lanes)
{
    for (size_t i = 0; i < lanes; i++)
        if (lane_busy(&w->lanes[i]))
            return true;
    return false;
}

bool writer_busy(const struct writer *w)
{
    return busy_below(w, LANE_MAX);
}

bool writer_owes(const struct writer *w)
{
    return busy_below(w, LANE_PODGROUP_EVENT);
}

/* ---- rates ---- */

/* Tests set other rates in the options. */
static void bucket_init(struct writer *w, struct token_bucket *b, double per_second, double burst,
                        void (*again)(void *writer))
{
    *b = (struct token_bucket){
        .per_second = w->o.events_per_second > 0 ? w->o.events_per_second : per_second,
        .burst = w->o.events_burst > 0 ? w->o.events_burst : burst,
        .at = usec_now(),
        .timer = {.fire = again, .arg = w},
    };
    b->tokens = b->burst;
}

static bool take_tokens(struct writer *w, struct token_bucket *b, double n)
{
    usec_t now = usec_now();
    b->tokens += (double)(now - b->at) / (double)USEC_PER_SEC * b->per_second;
    if (b->tokens > b->burst)
        b->tokens = b->burst;
    b->at = now;
    double need = n < b->burst ? n : b->burst;
    if (b->tokens >= need) {
        b->tokens -= need;
        return true;
    }
    usec_t wait = (usec_t)((need - b->tokens) / b->per_second * (double)USEC_PER_SEC);
    client_timer_set(w->o.client, &b->timer, now + wait + USEC_PER_MSEC);
    return false;
}

/* Limits statuses and PodGroup events while members wait. */
static bool may_speak(struct writer *w, enum lane_id id, const struct write_request *o)
{
    bool word = id == LANE_STATUS || id == LANE_QUEUE_STATUS || id == LANE_PODGROUP_EVENT;
    return !word || !writer_urgent(w) || o->since + PATIENCE_LAST <= usec_now() ||
           take_tokens(w, &w->words, 1);
}

bool may_send(struct writer *w, enum lane_id id, const struct write_request *o)
{
    double condition_cost = writer_urgent(w) ? CONDITION_COST_WHEN_URGENT : 1;
    return may_speak(w, id, o) && (id != LANE_PODGROUP_EVENT || take_tokens(w, &w->events, 1)) &&
           (id != LANE_POD_CONDITION || take_tokens(w, &w->conditions, condition_cost)) &&
           (id != LANE_POD_EVENT || take_tokens(w, &w->pod_events, 1));
}

/* ---- life ---- */

void rates_init(struct writer *w, void (*again)(void *writer))
{
    bucket_init(w, &w->events, EVENTS_PER_SECOND, EVENTS_BURST, again);
    bucket_init(w, &w->conditions, CONDITIONS_PER_SECOND, CONDITIONS_BURST, again);
    bucket_init(w, &w->pod_events, NOTICES_PER_SECOND, NOTICES_BURST, again);
    bucket_init(w, &w->words, WORDS_PER_SECOND, WORDS_BURST, again);
}

void rates_done(struct writer *w)
{
    client_timer_clear(w->o.client, &w->events.timer);
    client_timer_clear(w->o.client, &w->pod_events.timer);
    client_timer_clear(w->o.client, &w->words.timer);
    client_timer_clear(w->o.client, &w->conditions.timer);
}
