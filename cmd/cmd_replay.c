/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster replay: runs the core on a recording (`muster serve --record FILE`) and compares the
 * decisions.
 */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "server/recording/replay.h"
#include "simulator/simulation_report.h"

/* Longer texts are cut at this many bytes. */
#define TEXT_SHOWN 600

static double seconds(const struct replay *r)
{
    return (double)(r->now - r->start) / (double)USEC_PER_SEC;
}

/* ---- text ---- */

static void print_value(const char *who, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    size_t n = text ? strlen(text) : 0;
    printf("    %s %.*s%s\n", who, TEXT_SHOWN, text ? text : "nothing", n > TEXT_SHOWN ? "…" : "");
    free(text);
}

static void print_if_different(const char *key, const json_t *recorded, const json_t *decided)
{
    const json_t *was = json_object_get(recorded, key), *is = json_object_get(decided, key);
    if (was && is && json_equal(was, is))
        return;
    printf("  %s:\n", key);
    print_value("recorded:", was);
    print_value("decided: ", is);
}

static void print_difference(const struct replay *r)
{
    json_t *was = json_loads(r->recorded, 0, NULL), *is = json_loads(r->decided, 0, NULL);
    const char *key;
    json_t *value;
    printf("DIFFERENT in step %" PRIu64 " (line %" PRIu64 "), %.6f s after the start, decision %zu "
           "(%zu were recorded, %zu decided)\n",
           r->steps, r->steps + 1, seconds(r), r->effect + 1, r->n_recorded, r->n_decided);
    print_value("recorded:", was);
    print_value("decided: ", is);
    if (was && is) {
        json_object_foreach(was, key, value) print_if_different(key, was, is);
        json_object_foreach(is, key, value) if (!json_object_get(was, key))
            print_if_different(key, was, is);
    }
    json_decref(was);
    json_decref(is);
}

static void print_text(const struct replay *r)
{
    const struct gang_stats *s = &r->stats;
    printf("recorded by muster %s at %s, %.1f s long", r->version, r->at, seconds(r));
    if (!str_eq(r->version, MUSTER_VERSION))
        printf(" (replayed by %s)", MUSTER_VERSION);
    printf("\n%" PRIu64 " steps, %" PRIu64 " events, %" PRIu64 " decisions\n", r->steps, r->events,
           r->effects);
    printf("%" PRIu64 " gangs scheduled, %" PRIu64 " bindings; at the end %zu nodes, %zu pods, %zu "
           "PodGroups\n",
           r->scheduled, r->bindings, s->nodes, s->pods, s->groups);
    if (r->differs) {
        print_difference(r);
        return;
    }
    if (r->cut)
        puts("the last line is incomplete and was left out: muster was probably killed");
    else if (!r->end)
        puts("the recording has no end: muster is still writing it, or was killed");
    else if (!str_eq(r->end, "stopped"))
        printf("the recording ends early: %s\n", r->end);
    puts("the same decisions");
}

/* ---- JSON ---- */

static void print_json(const struct replay *r)
{
    json_t *j =
        json_pack("{s:b, s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:s?, s:b}", "same", !r->differs,
                  "version", r->version, "at", r->at, "seconds", seconds(r), "steps",
                  (json_int_t)r->steps, "events", (json_int_t)r->events, "decisions",
                  (json_int_t)r->effects, "scheduled", (json_int_t)r->scheduled, "bindings",
                  (json_int_t)r->bindings, "end", r->end, "cut", r->cut);
    if (r->differs)
        json_object_set_new(j, "difference",
                            json_pack("{s:I, s:I, s:I, s:o?, s:o?}", "step", (json_int_t)r->steps,
                                      "line", (json_int_t)r->steps + 1, "decision",
                                      (json_int_t)r->effect + 1, "recorded",
                                      json_loads(r->recorded, 0, NULL), "decided",
                                      json_loads(r->decided, 0, NULL)));
    json_dumpf(j, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(j);
}

/* ---- the command line ---- */

static void show_gangs(void *timeline, usec_t clock, const struct gang_core *core)
{
    simulation_report_gangs(timeline, clock, core);
}

static int replay(const char *path, bool json, bool timeline, bool check)
{
    struct simulation_report *t = timeline ? simulation_report_new(false) : NULL;
    const struct replay_options options = {check, t ? show_gangs : NULL, t};
    struct replay r;
    struct err err;
    int status = CMD_FAILED;
    if (replay_file(path, &options, &r, &err) < 0) {
        fprintf(stderr, "muster replay: %s: %s\n", path, err.text);
    } else {
        (json ? print_json : print_text)(&r);
        status = r.differs ? CMD_FAILED : CMD_OK;
    }
    replay_done(&r);
    simulation_report_free(t);
    return status;
}

int cmd_replay(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"timeline", no_argument, NULL, 't'},
                                            {"check", no_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    bool json = false, timeline = false, check = false;
    opterr = 0;
    optind = 1;
    for (int opt; (opt = getopt_long(argc, argv, ":o:h", options, NULL)) != -1;) {
        if (opt == 'h')
            return CMD_HELP;
        if (opt == 't') {
            timeline = true;
        } else if (opt == 'c') {
            check = true;
        } else if (opt == 'o') {
            json = str_eq(optarg, "json");
            if (!json && !str_eq(optarg, "text"))
                return cmd_usage_error(argv[0], "--output is \"%s\": write text or json", optarg);
        } else {
            return cmd_flag_error(argv[0], argv, opt);
        }
    }
    if (argc - optind != 1)
        return cmd_usage_error(argv[0],
                               "name one recording, as written by \"muster serve --record FILE\"");
    if (json && timeline)
        return cmd_usage_error(argv[0], "--timeline prints text: remove --output json");
    return replay(argv[optind], json, timeline, check);
}
