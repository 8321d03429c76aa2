/* SPDX-License-Identifier: Apache-2.0 */
#include "log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"

int capture_log(FILE **file)
{
    int saved = dup(STDERR_FILENO);
    *file = tmpfile();
    assert_non_null(*file);
    dup2(fileno(*file), STDERR_FILENO);
    log_setup(LOG_WARNING, LOG_TEXT);
    return saved;
}

char *end_capture(FILE *file, int saved)
{
    log_setup(LOG_ERROR, LOG_TEXT);
    dup2(saved, STDERR_FILENO);
    close(saved);
    struct buf text = BUF_INIT;
    char piece[512];
    rewind(file);
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;)
        buf_append(&text, piece, n);
    fclose(file);
    return buf_steal(&text);
}
