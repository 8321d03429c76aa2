/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/bounds.h"

#include "base/mem.h"

const struct gang_bound_row gang_bounds[GANG_BOUND_MAX] = {
#define X(name, most, field, counted) {#name, (most), (field), (counted)},
    GANG_BOUNDS(X)
#undef X
};

char *gang_bound_exceeded(enum gang_bound bound, size_t n)
{
    const struct gang_bound_row *b = &gang_bounds[bound];
    return xasprintf("%s: %zu %s; muster takes at most %zu", b->field, n, b->counted, b->most);
}
