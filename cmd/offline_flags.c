/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/offline_flags.h"

#include <getopt.h>

#include "cmd/cmd.h"

int offline_flags_read(struct offline_flags *ret, int argc, char **argv)
{
    static const struct option flags[] = {{"all", no_argument, NULL, 'a'},
                                          {"all-namespaces", no_argument, NULL, 'A'},
                                          {"namespace", required_argument, NULL, 'n'},
                                          {"dry-run", no_argument, NULL, 'd'},
                                          {"kubeconfig", required_argument, NULL, 'k'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int opt;
    *ret = (struct offline_flags){.all = false};
    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":An:h", flags, NULL)) != -1) {
        switch (opt) {
        case 'a':
        case 'A':
            ret->all = true;
            break;
        case 'n':
            ret->ns = optarg;
            break;
        case 'd':
            ret->dry_run = true;
            break;
        case 'k':
            ret->kubeconfig = optarg;
            break;
        case 'h':
            return CMD_HELP;
        default:
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    return CMD_OK;
}
