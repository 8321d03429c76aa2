/* SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

void must_fail(const char *file, int line, const char *function, const char *condition)
{
    const char *slash = strrchr(file, '/');
    log_error("Internal error in muster, aborting; please report this line", "must", condition,
              "function", function, "file", slash ? slash + 1 : file, "line", log_int(line), NULL);
    abort();
}
