/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/api_clock.h"

usec_t api_time(const struct gang_core *core)
{
    return core->now + core->api_ahead;
}

void api_time_seen(struct gang_core *core, usec_t time)
{
    if (time > api_time(core))
        core->api_ahead = time - core->now;
}
