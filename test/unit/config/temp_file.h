/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temp_file.h - a temporary file with some text, for code that needs a path. file_done() removes
 * the file and frees its path.
 */
#ifndef MUSTER_TEST_UNIT_CONFIG_TEMP_FILE_H
#define MUSTER_TEST_UNIT_CONFIG_TEMP_FILE_H

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

static inline char *file_make(const char *text)
{
    char *path = xstrdup("/tmp/muster-test-XXXXXX");
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f)
        abort();
    fputs(text, f);
    fclose(f);
    return path;
}

static inline void file_done(char **path)
{
    if (*path)
        unlink(*path);
    free(*path);
}
#define cleanup_file __attribute__((cleanup(file_done)))

#endif
