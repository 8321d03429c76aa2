/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prop.c - plays scenario files or seeds against the core.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/prop/run.h"

/* Every eighth seed runs two cores and compares their effects (I7). */
#define TWIN_EVERY 8

static const char usage[] =
    "usage: test_prop FILE...              play scenarios and print all events and effects\n"
    "       test_prop --quiet FILE...      print only whether each scenario passes\n"
    "       test_prop [OPTION...]          play seeds\n"
    "         --seed N                     the first seed (default 1)\n"
    "         --runs M                     the number of seeds (default 1)\n"
    "         --events E                   stop after E events\n"
    "         --jobs J                     play J seeds at a time (default 1)\n"
    "         --failures K                 stop after K failures (default 1)\n"
    "         --tries T                    shrink a failing seed in at most T runs (default 3000)\n"
    "         --out DIR                    write it to DIR/seed-N.scenario\n"
    "                                      (default build/test/prop)\n"
    "         --at-least E                 fail if there are fewer than E events\n"
    "         --cells C                    fail if a cell of the state table is hit fewer than C\n"
    "                                      times\n"
    "         --digests FILE               write one line for each seed, in any order: the seed "
    "and\n"
    "                                      a hash of all effects without message texts\n"
    "       test_prop --print --seed N     print the operations of a seed\n"
    "       test_prop --help               print the verbs and attributes of scenarios\n";

/* ---- files ---- */

static void fail_here(struct model *m, const char *tag, const char *text)
{
    fflush(stdout);
    printf("line %d: %s: %s\n", m->line, tag, text);
    exit(1);
}

static char *read_file(const char *path)
{
    struct buf b = BUF_INIT;
    char block[4096];
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "test_prop: cannot open %s\n", path);
        exit(2);
    }
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        buf_append(&b, block, n);
    fclose(f);
    return buf_steal(&b);
}

static int play_file(const char *path, bool quiet)
{
    cleanup_free char *text = read_file(path);
    struct ops ops = {NULL, 0, 0};
    struct err err;
    struct totals totals = {0};
    if (ops_parse(&ops, text, &err) < 0) {
        fprintf(stderr, "test_prop: %s: %s\n", path, err.text);
        exit(2);
    }
    int code = 0;
    if (quiet) {
        struct failure f = run_list(&ops, true, NULL);
        code = f.failed;
        printf("%s %s%s%s%s\n", f.failed ? "FAILED" : "ok    ", path, f.failed ? ": " : "",
               f.failed ? f.tag : "", "");
        if (f.failed)
            printf("  line %d: %s\n", f.line, f.text);
    } else {
        play(&ops, true, true, NULL, &totals, NULL, fail_here);
    }
    ops_done(&ops);
    return code;
}

/* ---- seeds ---- */

struct options {
    uint64_t seed, runs, events, at_least, cells;
    int jobs, failures, tries;
    bool quiet, print;
    const char *out;
    int digests; /* file descriptor, or -1 */
};

/* Memory that a worker process shares with its parent. */
struct desk {
    uint64_t seed; /* the current seed */
    struct failure failure;
    struct totals totals;
};

static struct desk *my_desk;

static void fail_at_desk(struct model *m, const char *tag, const char *text)
{
    struct failure *f = &my_desk->failure;
    f->failed = true;
    f->line = m->line;
    snprintf(f->tag, sizeof f->tag, "%s", tag);
    snprintf(f->text, sizeof f->text, "%s", text);
    _exit(1);
}

static bool twin_of(uint64_t seed)
{
    return seed % TWIN_EVERY == 0;
}

static void work(struct desk *desk, const struct options *o, uint64_t from)
{
    struct ops ops = {NULL, 0, 0};
    my_desk = desk;
    for (uint64_t seed = from; seed < o->seed + o->runs; seed += (uint64_t)o->jobs) {
        if (o->events && desk->totals.events >= o->events / (uint64_t)o->jobs)
            break;
        desk->seed = seed;
        limit_run();
        draw_seed(seed, &ops);
        uint64_t digest;
        bool wanted = o->digests >= 0;
        play(&ops, twin_of(seed), false, NULL, &desk->totals, wanted ? &digest : NULL,
             fail_at_desk);
        if (wanted && dprintf(o->digests, "%" PRIu64 " %016" PRIx64 "\n", seed, digest) < 0)
            exit(2);
    }
    ops_done(&ops);
    exit(0);
}

static pid_t start(struct desk *desk, const struct options *o, uint64_t from)
{
    fflush(NULL);
    desk->failure.failed = false;
    pid_t pid = fork();
    if (pid < 0) {
        perror("test_prop: fork");
        exit(2);
    }
    if (pid == 0)
        work(desk, o, from);
    return pid;
}

static void write_scenario(const char *path, uint64_t seed, const struct failure *f,
                           const struct ops *ops)
{
    cleanup_buf struct buf b = BUF_INIT;
    buf_printf(&b, "# Seed %" PRIu64 ": %s: %s\n", seed, f->tag, f->text);
    ops_print(&b, ops);
    printf("  %s\n%s\n", path, buf_str(&b));
    FILE *file = fopen(path, "w");
    if (!file || fputs(buf_str(&b), file) < 0)
        fprintf(stderr, "test_prop: cannot write %s\n", path);
    if (file)
        fclose(file);
}

static void make_folder(const char *path)
{
    cleanup_free char *part = xstrdup(path);
    for (char *p = strchr(part + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(part, 0777);
        *p = '/';
    }
    mkdir(part, 0777); /* if this fails, writing the file fails and prints the error */
}

static void show_failure(const struct options *o, uint64_t seed, struct failure f)
{
    struct ops ops = {NULL, 0, 0};
    printf("seed %" PRIu64 ", line %d: %s: %s\n", seed, f.line, f.tag, f.text);
    fflush(stdout);
    if (o->tries <= 0)
        return;
    draw_seed(seed, &ops);
    f = shrink(&ops, twin_of(seed), f, o->tries);
    cleanup_free char *path = xasprintf("%s/seed-%" PRIu64 ".scenario", o->out, seed);
    make_folder(o->out);
    write_scenario(path, seed, &f, &ops);
    ops_done(&ops);
    fflush(stdout);
}

/* The failure of a worker that ended, by a violation or a crash. NULL if it played all its seeds.
 */
static struct failure *failed(struct desk *desk, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    if (!desk->failure.failed) {
        bool circles = ended_by_limit(status);
        desk->failure = (struct failure){.failed = true};
        snprintf(desk->failure.tag, sizeof desk->failure.tag, "%s", circles ? "endless" : "crash");
        snprintf(desk->failure.text, sizeof desk->failure.text, "the worker ended (wait status %d)",
                 status);
    }
    return &desk->failure;
}

static void add_totals(struct totals *to, const struct totals *from)
{
    to->runs += from->runs;
    to->ops += from->ops;
    to->events += from->events;
    to->steps += from->steps;
    to->effects += from->effects;
    to->rebuilds += from->rebuilds;
    to->calms += from->calms;
    to->dry_runs += from->dry_runs;
    to->dry_fits += from->dry_fits;
    for (int k = 0; k < GANG_EV_MAX; k++)
        to->kinds[k] += from->kinds[k];
    for (int s = 0; s < GANG_STATE_MAX; s++)
        for (int h = 0; h < TRIGGER_MAX; h++)
            to->cells[s][h] += from->cells[s][h];
}

/*
 * Prints the hits of each cell of the state table, one row for each trigger. "!" marks cells with
 * fewer than `wanted` hits, "?" marks hits in cells that the table rules out. Returns the number of
 * marked cells.
 */
static int tell_cells(const struct totals *t, uint64_t wanted)
{
    int bad = 0;
    printf("%-38s", "hits");
    for (int s = 0; s < GANG_STATE_MAX; s++)
        printf(" %11s", gang_state_name((enum gang_state)s));
    putchar('\n');
    for (int h = 0; h < TRIGGER_MAX; h++) {
        printf("%-38s", gang_trigger_name((enum gang_trigger)h));
        for (int s = 0; s < GANG_STATE_MAX; s++) {
            bool can = gang_cell((enum gang_state)s, (enum gang_trigger)h)[0];
            uint64_t n = t->cells[s][h];
            char mark = can && n < wanted ? '!' : !can && n > 0 ? '?' : ' ';
            bad += mark != ' ';
            if (can || n)
                printf(" %10" PRIu64 "%c", n, mark);
            else
                printf(" %11s", "- ");
        }
        putchar('\n');
    }
    if (bad)
        printf("%d cells with fewer than %" PRIu64 " hits (!), or with hits that the state table "
               "rules out (?)\n",
               bad, wanted);
    return bad;
}

static void tell_totals(const struct totals *t, usec_t took)
{
    printf("%" PRIu64 " seeds, %" PRIu64 " operations, %" PRIu64 " events in %" PRIu64
           " steps, %" PRIu64 " effects, %" PRIu64 " restarts compared, %" PRIu64
           " calm phases, %" PRIu64 " dry runs of gangs, %" PRIu64
           " of which fit; %.1f s, %.0f events/s\n",
           t->runs, t->ops, t->events, t->steps, t->effects, t->rebuilds, t->calms, t->dry_runs,
           t->dry_fits, (double)took / 1e6, (double)t->events * 1e6 / (double)(took ? took : 1));
    for (int k = 0; k < GANG_EV_MAX; k++)
        printf("  %-12s %" PRIu64 "\n", gang_event_name((enum gang_event_kind)k), t->kinds[k]);
}

/* Ends the workers that still run. */
static void stop_workers(const pid_t *pids, int n)
{
    for (int j = 0; j < n; j++)
        if (pids[j])
            kill(pids[j], SIGTERM);
    while (wait(NULL) > 0)
        ;
}

static int play_seeds(const struct options *o)
{
    size_t size = sizeof(struct desk) * (size_t)o->jobs;
    struct desk *desks =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cleanup_free pid_t *pids = xcalloc((size_t)o->jobs, sizeof *pids);
    int running = 0, failures = 0;
    usec_t began = usec_now();
    if (desks == MAP_FAILED)
        abort();
    for (int j = 0; j < o->jobs; j++, running++)
        pids[j] = start(&desks[j], o, o->seed + (uint64_t)j);
    while (running) {
        int status, j = 0;
        pid_t pid = wait(&status);
        while (j < o->jobs && pids[j] != pid)
            j++;
        if (j == o->jobs)
            continue;
        running--;
        pids[j] = 0;
        if (killed_from_outside(status)) {
            stop_workers(pids, o->jobs);
            fprintf(stderr, "test_prop: a worker was killed from outside (wait status %d)\n",
                    status);
            exit(2);
        }
        const struct failure *f = failed(&desks[j], status);
        if (!f)
            continue;
        failures++;
        show_failure(o, desks[j].seed, *f);
        if (failures < o->failures) {
            pids[j] = start(&desks[j], o, desks[j].seed + (uint64_t)o->jobs);
            running++;
        } else {
            stop_workers(pids, o->jobs);
            break;
        }
    }
    struct totals totals = {0};
    for (int j = 0; j < o->jobs; j++)
        add_totals(&totals, &desks[j].totals);
    tell_totals(&totals, usec_now() - began);
    int bad = failures + (o->cells ? tell_cells(&totals, o->cells) : 0);
    if (totals.events < o->at_least) {
        printf("only %" PRIu64 " events, but --at-least is %" PRIu64 "\n", totals.events,
               o->at_least);
        bad++;
    }
    printf("%d failed\n", failures);
    munmap(desks, size);
    return bad > 0;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t v = strtoull(text, &end, 10);
    if (end == text || *end) {
        fprintf(stderr, "test_prop: \"%s\" is not a number\n%s", text, usage);
        exit(2);
    }
    return v;
}

static void help(void)
{
    cleanup_buf struct buf b = BUF_INIT;
    op_help(&b);
    printf("%s\n%s", usage, buf_str(&b));
    exit(0);
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {
        {"seed", 1, NULL, 's'},     {"runs", 1, NULL, 'r'},     {"events", 1, NULL, 'e'},
        {"jobs", 1, NULL, 'j'},     {"failures", 1, NULL, 'f'}, {"tries", 1, NULL, 't'},
        {"out", 1, NULL, 'o'},      {"quiet", 0, NULL, 'q'},    {"print", 0, NULL, 'p'},
        {"at-least", 1, NULL, 'l'}, {"cells", 1, NULL, 'c'},    {"digests", 1, NULL, 'd'},
        {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;)
        switch (c) {
        case 's':
            o->seed = number(optarg);
            break;
        case 'r':
            o->runs = number(optarg);
            break;
        case 'e':
            o->events = number(optarg);
            break;
        case 'l':
            o->at_least = number(optarg);
            break;
        case 'c':
            o->cells = number(optarg);
            break;
        case 'j':
            o->jobs = (int)number(optarg);
            break;
        case 'f':
            o->failures = (int)number(optarg);
            break;
        case 't':
            o->tries = (int)number(optarg);
            break;
        case 'o':
            o->out = optarg;
            break;
        case 'd':
            o->digests = open(optarg, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
            if (o->digests < 0) {
                perror(optarg);
                exit(2);
            }
            break;
        case 'q':
            o->quiet = true;
            break;
        case 'p':
            o->print = true;
            break;
        case 'h':
            help();
            break;
        default:
            fputs(usage, stderr);
            exit(2);
        }
    if (o->events && !o->runs)
        o->runs = UINT64_C(1) << 60;
    if (!o->runs)
        o->runs = 1;
    if (o->jobs < 1 || o->jobs > 64)
        o->jobs = 1;
}

int main(int argc, char **argv)
{
    struct options o = {.seed = 1,
                        .jobs = 1,
                        .failures = 1,
                        .tries = 3000,
                        .out = "build/test/prop",
                        .digests = -1};
    parse(argc, argv, &o);
    int code = 0;
    for (int i = optind; i < argc; i++)
        code |= play_file(argv[i], o.quiet);
    if (optind < argc)
        return code;
    if (o.print) {
        struct ops ops = {NULL, 0, 0};
        cleanup_buf struct buf b = BUF_INIT;
        draw_seed(o.seed, &ops);
        ops_print(&b, &ops);
        fputs(buf_str(&b), stdout);
        ops_done(&ops);
        return 0;
    }
    return play_seeds(&o);
}
