/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/offline_flags.h"
#include "gang/facts.h"
#include "k8s/write/ungate.h"

struct tally {
    bool dry_run;
    size_t done, gone, kept;
};

static void pod_done(void *arg, const char *ns, const char *name, enum ungate_outcome outcome,
                     const char *why)
{
    struct tally *t = arg;
    switch (outcome) {
    case UNGATE_DONE:
        t->done++;
        printf("pod %s/%s %s\n", ns, name, t->dry_run ? "would be ungated" : "ungated");
        break;
    case UNGATE_GONE:
        t->gone++;
        printf("pod %s/%s is gone\n", ns, name);
        break;
    case UNGATE_KEPT:
        t->kept++;
        fprintf(stderr, "pod %s/%s: %s\n", ns, name, why);
        break;
    }
}

static int ungate(struct ungate_options *options)
{
    struct err err;
    struct tally t = {.dry_run = options->dry_run};
    options->version = MUSTER_VERSION;
    options->pod = pod_done;
    options->arg = &t;
    signal(SIGPIPE, SIG_IGN);
    bool listed = ungate_pods(options, &err) == 0;
    size_t all = t.done + t.gone + t.kept;
    fflush(stdout);
    if (listed && !all)
        printf("no pod has the scheduling gate " GANG_GATE "\n");
    if (t.kept)
        fprintf(stderr, "muster ungate: %zu of %zu pods still have the gate\n", t.kept, all);
    if (!listed)
        fprintf(stderr, "muster ungate: %s\n", err.text);
    if (!listed && all)
        fprintf(stderr,
                "muster ungate: %zu pods %s before this error; other pods may have the gate\n",
                t.done, t.dry_run ? "would be ungated" : "were ungated");
    return listed && !t.kept ? CMD_OK : CMD_FAILED;
}

int cmd_ungate(int argc, char **argv)
{
    struct offline_flags flags;
    int status = offline_flags_read(&flags, argc, argv);
    if (status != CMD_OK)
        return status;
    struct ungate_options options = {
        .ns = flags.ns, .kubeconfig = flags.kubeconfig, .dry_run = flags.dry_run};
    if (optind < argc)
        return cmd_usage_error(argv[0], "unexpected argument \"%s\": write flags only",
                               argv[optind]);
    if (!flags.all && !flags.ns)
        return cmd_usage_error(argv[0], "no pods are selected: write --all, or --namespace NS");
    if (flags.all && flags.ns)
        return cmd_usage_error(argv[0], "--all conflicts with --namespace: remove one");
    return ungate(&options);
}
