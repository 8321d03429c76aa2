/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/cmd.h"

int cmd_version(int argc, char **argv)
{
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")))
        return CMD_HELP;
    if (argc > 1)
        return cmd_usage_error(argv[0], "unexpected argument \"%s\": remove it", argv[1]);
    printf("muster %s\n", MUSTER_VERSION);
    return CMD_OK;
}
