/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/invariant_log.h"

#include "base/log.h"

void invariant_log(const struct gang_core *core, uint32_t *said)
{
    for (int what = 0; what < GANG_INVARIANT_MAX; what++) {
        const char *first = gang_core_violation(core, (enum gang_invariant)what);
        if (!first || *said & 1u << what)
            continue;
        *said |= 1u << what;
        log_error("a gang is not what it should be, by a mistake in muster; please report this "
                  "line. Metric muster_invariant_violations_total counts how often this is so",
                  "check", gang_invariant_name((enum gang_invariant)what), "first", first, NULL);
    }
}
