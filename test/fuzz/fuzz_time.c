/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations ("1m30s") and timestamps ("2026-11-20T21:39:11Z"): a value that is parsed and written
 * is parsed as the same value.
 */
#include <inttypes.h>

#include "base/duration.h"
#include "k8s/encoding/kube_field.h"
#include "test/fuzz/fuzz.h"

#define HUNDRED_YEARS (INT64_C(100) * 365 * 24 * 3600 * USEC_PER_SEC)

static void check_duration(const char *text)
{
    usec_t d = 0, again = 0;
    struct err err;
    cleanup_buf struct buf out = BUF_INIT;
    if (duration_parse(text, &d, &err) < 0) {
        fuzz_check_error(&err);
        return;
    }
    HOLDS(d >= 0 && d <= HUNDRED_YEARS, "\"%s\" is %" PRId64, text, d);
    duration_format(&out, d);
    HOLDS(duration_parse(buf_str(&out), &again, &err) == 0 && again == d,
          "%" PRId64 " is written as %s and read as %" PRId64, d, buf_str(&out), again);
}

static void check_time(const char *text)
{
    usec_t t = 0, again = 0;
    struct err err;
    char out[32];
    if (time_parse(text, &t, &err) < 0) {
        fuzz_check_error(&err);
        return;
    }
    usec_t whole = t - t % USEC_PER_SEC;
    time_format(t, out);
    /* A time zone may move the last day of the year 9999, or the first of 0, out of four digits. */
    if (strlen(out) != strlen("2026-11-20T21:39:11Z"))
        return;
    HOLDS(time_parse(out, &again, &err) == 0 && again == whole,
          "\"%s\" is %" PRId64 ", written as %s and read as %" PRId64, text, t, out, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size);
    check_duration(text);
    check_time(text);
    return 0;
}
