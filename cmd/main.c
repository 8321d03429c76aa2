/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "config/config.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage; /* behind the name */
    const char *help;
    bool settings; /* takes every setting as a flag */
} commands[] = {
    {"serve", cmd_serve, "[--config FILE] [--kubeconfig FILE | --cluster FILE] [--record FILE]",
     "serve kube-scheduler's calls\n"
     "  --config FILE        settings (YAML); flags win\n"
     "  --cluster FILE       a built-in cluster from a scenario file, instead of Kubernetes\n"
     "  --record FILE        write down what comes in and what is decided, for \"muster replay\"\n"
     "  --record-limit SIZE  at most so much (default 1Gi)",
     true},
    {"simulate", cmd_simulate, "FILE [--until T] [--output text|json]",
     "what would happen in a scenario file, as a timeline\n"
     "  --until T        how far to go, such as 90s or 5m\n"
     "  --output FORMAT  text (default) or json",
     false},
    {"check", cmd_check, "[--config FILE] [--scheduler-config FILE]",
     "look for mistakes in settings and in kube-scheduler's configuration\n"
     "  --config FILE            settings (YAML)\n"
     "  --scheduler-config FILE  a KubeSchedulerConfiguration",
     true},
    {"get", cmd_get,
     "gangs|nodes|events [NS/GANG | -n NS | -A] [-o wide|json] [--server ADDR:PORT]",
     "show gangs, nodes or the last events of a running muster\n"
     "  NS/GANG              this gang, or events of this gang\n"
     "  -n, --namespace NS   gangs and events of this namespace only\n"
     "  -A, --all-namespaces gangs of all namespaces (default)\n"
     "  -o, --output FORMAT  wide (more columns) or json\n"
     "  --server ADDR:PORT   muster's opsListen, or http://ADDR:PORT (default 127.0.0.1:9911)",
     false},
    {"explain", cmd_explain, "NS/GANG [-o text|json] [--server ADDR:PORT]",
     "why a gang is where it is: what is missing, who has it, what would help\n"
     "  -o, --output FORMAT  text (default) or json\n"
     "  --server ADDR:PORT   muster's opsListen, or http://ADDR:PORT (default 127.0.0.1:9911)",
     false},
    {"replay", cmd_replay, "RECORDING [--output text|json] [--timeline] [--check]",
     "decide a recording again and compare the decisions\n"
     "  --output FORMAT  text (default) or json\n"
     "  --timeline       what became of the gangs, as it happened\n"
     "  --check          judge the invariants after every step too",
     false},
    {"scheduler-config", cmd_scheduler_config, "[--profile NAME]... [--config FILE]",
     "print a KubeSchedulerConfiguration that registers muster\n"
     "  --profile NAME   a schedulerName to serve (default default-scheduler,\n"
     "                   kai-scheduler, volcano and muster)\n"
     "  --config FILE    settings (YAML)",
     true},
    {"ungate", cmd_ungate, "--all | -n NS [--dry-run] [--kubeconfig FILE]",
     "take muster's scheduling gate off pods, for good; muster need not run\n"
     "  --all                of all namespaces\n"
     "  -n, --namespace NS   of this namespace only\n"
     "  --dry-run            only say which\n"
     "  --kubeconfig FILE    without it the pod's service account",
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
    printf("\nSettings, in the file as \"key: value\" and as flags:\n");
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *flag = xasprintf("--%s", keys[i].flag);
        printf("  %-24s %-29s %s", keys[i].name, flag, keys[i].help);
        if (keys[i].initial)
            printf(" (default %s)", keys[i].initial);
        putchar('\n');
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
    fprintf(to, "\n\"muster COMMAND --help\" tells more.\n");
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
        fprintf(stderr, "muster: there is no command \"%s\"\n\n", name);
        return help_all(stderr, CMD_USAGE);
    }
    int status = c->run(argc - 1, argv + 1);
    return status == CMD_HELP ? help_one(c) : status;
}
