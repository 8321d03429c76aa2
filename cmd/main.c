/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "config/config.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage; /* arguments, after the name */
    const char *help;  /* the first line is also the summary */
    bool settings;     /* accepts each setting as a flag */
} commands[] = {
    {"serve", cmd_serve, "[--config FILE] [--kubeconfig FILE | --cluster FILE] [--record FILE]",
     "run the extender that kube-scheduler calls\n"
     "  --config FILE        read settings from this YAML file. Flags override the file\n"
     "  --cluster FILE       use a built-in cluster from a scenario file instead of Kubernetes\n"
     "  --record FILE        record all events and decisions, for \"muster replay\"\n"
     "  --record-limit SIZE  end the recording at this size (default 1Gi)",
     true},
    {"simulate", cmd_simulate, "FILE [--until T] [--output text|json] [--shares FILE]",
     "run a scenario file in simulated time and print a timeline\n"
     "  --until T        end at this time, such as 90s or 5m. By default, the simulation ends "
     "when\n"
     "                   nothing more happens, or after 1h\n"
     "  --output FORMAT  text (default) or json\n"
     "  --shares FILE    write a chart of each queue's share over time to this SVG file",
     false},
    {"check", cmd_check,
     "-f FILE [-n NS] [-o text|json] [--server ADDR:PORT]\n"
     "       muster check [--config FILE] [--scheduler-config FILE]",
     "check settings, or manifests before you submit them\n"
     "\n"
     "With -f: ask a running muster what would happen to the gangs in FILE. Nothing changes.\n"
     "  -f, --filename FILE      manifests in YAML or JSON. \"-\" is the standard input\n"
     "  -n, --namespace NS       namespace for objects that do not set one (default: default)\n"
     "  -o, --output FORMAT      text (default) or json\n"
     "  --server ADDR:PORT       address of muster's ops port (the setting opsListen), with or\n"
     "                           without http:// (default 127.0.0.1:9911)\n"
     "  Exit code: 0 if all gangs fit now; 1 if an object is wrong or muster does not answer;\n"
     "  2 if the command line is wrong; 3 if a gang does not fit now or was not tried\n"
     "\n"
     "Without -f: check settings and kube-scheduler's configuration for mistakes\n"
     "  --config FILE            settings to check (YAML)\n"
     "  --scheduler-config FILE  KubeSchedulerConfiguration to check (default: the setting\n"
     "                           kubeSchedulerConfig)",
     true},
    {"get", cmd_get,
     "gangs|nodes|queues|events [NS/GANG | -n NS | -A] [-o wide|json] [--server ADDR:PORT]",
     "show gangs, nodes, queues or recent events of a running muster\n"
     "  NS/GANG               show this gang, or the events of this gang\n"
     "  -n, --namespace NS    show gangs or events of this namespace only\n"
     "  -A, --all-namespaces  show gangs or events of all namespaces (default)\n"
     "  -o, --output FORMAT   wide (more columns) or json\n"
     "  --server ADDR:PORT    address of muster's ops port (the setting opsListen), with or "
     "without\n"
     "                        http:// (default 127.0.0.1:9911)",
     false},
    {"explain", cmd_explain, "NS/GANG [-o text|json] [--server ADDR:PORT]",
     "show why a gang waits, which pods use what it lacks, and what would help\n"
     "  -o, --output FORMAT  text (default) or json\n"
     "  --server ADDR:PORT   address of muster's ops port (the setting opsListen), with or "
     "without\n"
     "                       http:// (default 127.0.0.1:9911)",
     false},
    {"replay", cmd_replay, "RECORDING [--output text|json] [--timeline] [--check]",
     "replay a recording and compare the decisions with the recorded ones\n"
     "  --output FORMAT  text (default) or json\n"
     "  --timeline       also print what happens to the gangs, in chronological order\n"
     "  --check          also check the invariants of the core after each step",
     false},
    {"resume", cmd_resume, "--all | -n NS | KIND NS/NAME [--dry-run] [--kubeconfig FILE]",
     "resume workloads that muster has suspended, even if muster is not running\n"
     "  -A, --all, --all-namespaces  all namespaces\n"
     "  -n, --namespace NS           this namespace only\n"
     "  KIND NS/NAME                 this workload only, such as: job ml/train\n"
     "  --dry-run                    print the workloads, and change nothing\n"
     "  --kubeconfig FILE            path of a kubeconfig file (default: the service account of\n"
     "                               the pod in which the command runs)",
     false},
    {"scheduler-config", cmd_scheduler_config, "[--profile NAME]... [--config FILE]",
     "print a KubeSchedulerConfiguration that registers muster\n"
     "  --profile NAME   add a profile with this schedulerName (default: default-scheduler,\n"
     "                   kai-scheduler, volcano and muster)\n"
     "  --config FILE    read muster's settings from this YAML file",
     true},
    {"ungate", cmd_ungate, "--all | -n NS [--dry-run] [--kubeconfig FILE]",
     "remove muster's scheduling gate from pods, even if muster is not running\n"
     "  -A, --all, --all-namespaces  all namespaces\n"
     "  -n, --namespace NS           this namespace only\n"
     "  --dry-run                    print the pods, and change nothing\n"
     "  --kubeconfig FILE            path of a kubeconfig file (default: the service account of\n"
     "                               the pod in which the command runs)",
     false},
    {"version", cmd_version, "", "print the version", false},
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (str_eq(commands[i].name, name))
            return &commands[i];
    return NULL;
}

/* ---- help ---- */

static void print_settings(void)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    printf("\nSettings, with their flags. In the file, write \"key: value\".\n"
           "A duration is a number of seconds, or has a unit: 500ms, 90s, 1m30s, 2h.\n"
           "On the command line, separate the entries of a list with commas.\n\n");
    for (size_t i = 0; i < n; i++) {
        printf("  %s, --%s", keys[i].name, keys[i].flag);
        if (keys[i].initial)
            printf(" (default %s)", keys[i].initial);
        printf("\n      %s\n", keys[i].help);
    }
}

static int help_one(const struct command *c)
{
    printf("Usage: muster %s %s\n\n%s\n", c->name, c->usage, c->help);
    if (c->settings)
        print_settings();
    return CMD_OK;
}

static int help_all(FILE *to, int status)
{
    fprintf(to, "muster: gang scheduling for the stock kube-scheduler\n\nCommands:\n");
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        fprintf(to, "  %-17s %.*s\n", commands[i].name, (int)strcspn(commands[i].help, "\n"),
                commands[i].help);
    fprintf(to, "\nRun \"muster COMMAND --help\" for details.\n");
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return help_all(stderr, CMD_USAGE);
    const char *name = argv[1];
    if (str_eq(name, "--version"))
        name = "version";
    if (str_eq(name, "help") && argc > 2 && find_command(argv[2]))
        return help_one(find_command(argv[2]));
    if (str_eq(name, "help") || str_eq(name, "--help") || str_eq(name, "-h"))
        return help_all(stdout, CMD_OK);
    const struct command *c = find_command(name);
    if (!c) {
        fprintf(stderr, "muster: unknown command \"%s\"\n\n", name);
        return help_all(stderr, CMD_USAGE);
    }
    int status = c->run(argc - 1, argv + 1);
    return status == CMD_HELP ? help_one(c) : status;
}
