/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/offline_flags.h"
#include "k8s/write/resume.h"

struct tally {
    bool dry_run;
    size_t done, gone, kept;
};

static void workload_done(void *arg, const char *kind, const char *ns, const char *name,
                          enum resume_outcome outcome, const char *why)
{
    struct tally *t = arg;
    switch (outcome) {
    case RESUME_DONE:
        t->done++;
        printf("%s %s/%s %s\n", kind, ns, name, t->dry_run ? "would be resumed" : "resumed");
        break;
    case RESUME_GONE:
        t->gone++;
        printf("%s %s/%s is gone, or runs already\n", kind, ns, name);
        break;
    case RESUME_KEPT:
        t->kept++;
        fprintf(stderr, "%s %s/%s: %s\n", kind, ns, name, why);
        break;
    }
}

static int resume(struct resume_options *options)
{
    struct err err;
    struct tally t = {.dry_run = options->dry_run};
    options->version = MUSTER_VERSION;
    options->workload = workload_done;
    options->arg = &t;
    signal(SIGPIPE, SIG_IGN);
    bool listed = resume_workloads(options, &err) == 0;
    size_t all = t.done + t.gone + t.kept;
    fflush(stdout);
    if (listed && !all)
        printf("muster has suspended no such workload\n");
    if (t.kept)
        fprintf(stderr, "muster resume: %zu of %zu workloads are still suspended\n", t.kept, all);
    if (!listed)
        fprintf(stderr, "muster resume: %s\n", err.text);
    return listed && !t.kept ? CMD_OK : CMD_FAILED;
}

/* KIND NS/NAME */
static int resume_one(struct resume_options *options, const char *kind, const char *id)
{
    const char *slash = strchr(id, '/');
    if (!resume_knows_kind(kind))
        return cmd_usage_error("resume", "muster does not suspend workloads of kind \"%s\"", kind);
    if (!slash || slash == id || !slash[1])
        return cmd_usage_error("resume", "\"%s\" is not a workload: write NS/NAME", id);
    cleanup_free char *ns = xstrndup(id, (size_t)(slash - id));
    options->kind = kind;
    options->ns = ns;
    options->name = slash + 1;
    return resume(options);
}

int cmd_resume(int argc, char **argv)
{
    struct offline_flags flags;
    int status = offline_flags_read(&flags, argc, argv);
    if (status != CMD_OK)
        return status;
    struct resume_options options = {
        .ns = flags.ns, .kubeconfig = flags.kubeconfig, .dry_run = flags.dry_run};
    bool one = argc - optind == 2;
    if (optind < argc && !one)
        return cmd_usage_error(argv[0], "unexpected argument \"%s\": write KIND NS/NAME, or flags",
                               argv[optind]);
    if (flags.all + one + (flags.ns != NULL) != 1)
        return cmd_usage_error(argv[0], "write one of --all, --namespace NS, and KIND NS/NAME");
    return one ? resume_one(&options, argv[optind], argv[optind + 1]) : resume(&options);
}
