/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/invariant_log.h"

#include "base/log.h"

void invariant_log(const struct gang_core *core, uint32_t *logged)
{
    for (int what = 0; what < GANG_INVARIANT_MAX; what++) {
        const char *first = gang_core_violation(core, (enum gang_invariant)what);
        if (!first || *logged & 1u << what)
            continue;
        *logged |= 1u << what;
        log_error("Internal error in muster: a gang is inconsistent with its state; please report "
                  "this line. The metric muster_invariant_violations_total counts all violations",
                  "check", gang_invariant_name((enum gang_invariant)what), "first", first, NULL);
    }
}
