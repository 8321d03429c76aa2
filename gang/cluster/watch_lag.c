/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/watch_lag.h"

#include "gang/cluster/dirty_gangs.h"
#include "gang/cluster/lookup.h"

const char *watch_lag_doubt(const struct gang_core *core)
{
    return core->behind[GANG_WATCH_NODES]  ? "the watch of nodes is behind"
           : core->behind[GANG_WATCH_PODS] ? "the watch of pods is behind"
                                           : NULL;
}

void take_watch(struct gang_core *core, enum gang_watch of, bool behind)
{
    bool was = watch_lag_doubt(core);
    core->behind[of] = behind;
    bool is = watch_lag_doubt(core);
    if (is && !was)
        core->behind_since = core->now;
    if (is || !was)
        return;
    core->follows_since = core->now;
    list_for_each (gang, &core->open, struct gang, in_open)
        if (gang->n_held) /* the lag may have kept it off the express lane */
            gang_touch(core, gang);
}
