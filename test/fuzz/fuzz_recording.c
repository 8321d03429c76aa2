/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings (server/recording/record.h, server/recording/replay.h): any text as a file. An invalid
 * file gets an error message. A recording is replayed to its end, to a difference, or to an
 * unreadable line.
 */
#include "server/recording/replay.h"

#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {.code = ERR_NONE};
    struct replay replay;
    const struct replay_options options = {.check = false};
    int r = replay_file(fuzz_file(0, data, size), &options, &replay, &err);
    if (r < 0)
        fuzz_check_error(&err);
    else
        HOLDS(replay.version && replay.at, "played, and nobody recorded it");
    if (r == 0 && replay.differs)
        HOLDS(replay.recorded && replay.decided, "a difference to nothing");
    replay_done(&replay);
    return 0;
}
