/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/lifecycle/backoff.h"

#include "base/hash.h"
#include "gang/cluster/lookup.h"

/* Multiplies t by 0.8 to 1.2. The factor depends on the gang and the attempt, so it is the same in
 * each replay of a recording. */
static usec_t jittered(const struct gang *gang, usec_t t)
{
    uint64_t h = hash_u64(hash_text(HASH_START, gang->head->key), (uint64_t)gang->attempts);
    return t * 4 / 5 + (usec_t)(h % 1000) * (t * 2 / 5) / 1000;
}

void gang_failed(const struct gang_core *core, struct gang *gang)
{
    if (!core->config.strict_order)
        gang->last_failure = core->now;
}

usec_t gang_pause(const struct gang_core *core, struct gang *gang)
{
    usec_t pause =
        usec_backoff(core->config.backoff_initial, core->config.backoff_max, gang->backoffs++);
    return jittered(gang, pause);
}

void backoff_end(struct gang *gang)
{
    gang->backoffs = 0;
    gang->last_failure = 0;
}
