/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster simulate: the core and the built-in cluster in virtual time, in one thread. The same file
 * gives the same output, byte for byte.
 */
#include <getopt.h>
#include <stdio.h>

#include "base/duration.h"
#include "cmd/cmd.h"
#include "config/config.h"
#include "gang/gang.h"
#include "k8s/encoding/kube_field.h"
#include "server/loop/core_config.h"
#include "simulator/built_in_cluster.h"
#include "simulator/simulation_report.h"

/* 2026-01-01T00:00:00Z: creation times must not depend on the day. */
#define WALL (INT64_C(1767225600) * USEC_PER_SEC)
/* Some origin other than zero, so that nothing comes to rely on zero. */
#define ORIGIN (1000 * USEC_PER_SEC)
/* The run ends when the cluster itself has nothing to do for this long: a little more than the
 * scheduler takes to try every waiting pod anew without a reason. */
#define QUIET ((usec_t)(330 * USEC_PER_SEC))
#define UNTIL (3600 * USEC_PER_SEC)

enum { MAX_IDLE_STEPS = 1000000 }; /* at one moment of virtual time: the simulation is stuck */

struct sim {
    struct scenario *scenario; /* owned by the cluster */
    struct cluster *cluster;
    struct gang_core *core;
    struct simulation_report *timeline;
    struct gang_event *inbox; /* posted, not yet seen by the core */
    size_t n_inbox, cap_inbox;
    usec_t now, until;
    usec_t busy_until; /* the last time at which the cluster itself had something to do */
    bool until_given;
    size_t next_expect;
    struct err failure;
};

static void post(void *arg, struct gang_event *ev)
{
    struct sim *sim = arg;
    GROW(sim->inbox, sim->cap_inbox, sim->n_inbox + 1);
    sim->inbox[sim->n_inbox++] = *ev;
}

static usec_t clock_of(const struct sim *sim)
{
    return builtin_cluster_clock(sim->cluster, sim->now);
}

/* ---- expectations ---- */

static int differs(struct sim *sim, const struct scenario_expect *e, const char *name,
                   const char *what, const char *is, const char *expected)
{
    cleanup_buf struct buf at = BUF_INIT;
    duration_format(&at, e->at);
    return err_set(&sim->failure, ERR_INVALID, "%s: %s: at %s %s %s/%s: %s is %s, expected %s",
                   sim->scenario->name, e->where, buf_str(&at), e->gang ? "gang" : "pod", e->ns,
                   name, what, is, expected);
}

struct gang_check {
    struct sim *sim;
    const struct scenario_expect *expect;
    int seen, ret;
};

static int compare_gang(struct sim *sim, const struct scenario_expect *e,
                        const struct gang_status *s)
{
    const char *name = s->ref->name;
    if (e->state != GANG_STATE_MAX && e->state != s->state)
        return differs(sim, e, name, "state", gang_state_name(s->state), gang_state_name(e->state));
    if (e->reason != REASON_MAX && e->reason != s->reason)
        return differs(sim, e, name, "reason", gang_reason_name(s->reason),
                       gang_reason_name(e->reason));
    if (e->bound >= 0 && e->bound != s->bound) {
        char is[24], expected[24];
        snprintf(is, sizeof is, "%d", s->bound);
        snprintf(expected, sizeof expected, "%d", (int)e->bound);
        return differs(sim, e, name, "bound", is, expected);
    }
    return 0;
}

static int compare_words(struct sim *sim, const struct scenario_expect *e, const char *name,
                         const char *words)
{
    if (!e->says || strstr(words, e->says))
        return 0;
    cleanup_free char *expected = xasprintf("\"…%s…\"", e->says);
    return differs(sim, e, name, "its message", words, expected);
}

static void check_one_gang(void *arg, const struct gang_view *v)
{
    struct gang_check *c = arg;
    bool all = strcmp(c->expect->name, "*") == 0;
    if (c->ret < 0 || strcmp(v->status.ref->ns, c->expect->ns) != 0 ||
        (!all && strcmp(v->status.ref->name, c->expect->name) != 0))
        return;
    c->seen++;
    c->ret = compare_gang(c->sim, c->expect, &v->status);
    if (c->ret == 0)
        c->ret = compare_words(c->sim, c->expect, v->status.ref->name, v->status.text);
}

static int check_gang(struct sim *sim, const struct scenario_expect *e)
{
    struct gang_check c = {.sim = sim, .expect = e};
    gang_core_each_gang(sim->core, check_one_gang, &c);
    return c.seen ? c.ret : differs(sim, e, e->name, "it", "not known", "a gang");
}

static int check_pod(struct sim *sim, const struct scenario_expect *e)
{
    const json_t *pod = builtin_cluster_object(sim->cluster, KIND_POD, NULL, e->ns, e->name);
    const char *node = field_peek(pod, "spec", "nodeName", NULL);
    const char *phase = field_peek(pod, "status", "phase", NULL);
    if (e->phase && !str_eq(e->phase, phase ? phase : ""))
        return differs(sim, e, e->name, "phase", phase ? phase : "none (no such pod)", e->phase);
    if (e->node && strcmp(e->node, node ? node : "") != 0)
        return differs(sim, e, e->name, "node", node ? node : "none", *e->node ? e->node : "none");
    const json_t *conditions = json_object_get(json_object_get(pod, "status"), "conditions");
    const char *words = field_peek(json_array_get(conditions, 0), "message", NULL);
    return compare_words(sim, e, e->name, words ? words : "");
}

/* Those that are due before `clock`. */
static int check_expects(struct sim *sim, usec_t clock)
{
    const struct scenario *s = sim->scenario;
    for (; sim->next_expect < s->n_expects; sim->next_expect++) {
        const struct scenario_expect *e = &s->expects[sim->next_expect];
        if (e->at >= clock)
            return 0;
        if ((e->gang ? check_gang(sim, e) : check_pod(sim, e)) < 0)
            return -1;
    }
    return 0;
}

/* ---- steps ---- */

static bool for_cluster(const struct gang_effect *e)
{
    switch (e->kind) {
    case GANG_REPLY_FILTER:
        return e->filter.id & CLUSTER_CALL;
    case GANG_REPLY_PRIORITIZE:
        return e->prioritize.id & CLUSTER_CALL;
    case GANG_REPLY_PREEMPT:
        return e->preempt.id & CLUSTER_CALL;
    case GANG_REPLY_BIND:
        return e->bind_reply.id & CLUSTER_CALL;
    default:
        return true;
    }
}

/* The core takes what was posted, or a TICK; its effects may post more. */
static int step(struct sim *sim)
{
    struct gang_event *events = STEAL(sim->inbox);
    size_t n = sim->n_inbox, n_effects;
    sim->n_inbox = sim->cap_inbox = 0;
    struct gang_event tick = {.kind = GANG_EV_TICK};
    const struct gang_effect *effects =
        gang_step(sim->core, sim->now, n ? events : &tick, n ? n : 1, &n_effects);
    int ret = gang_core_check(sim->core, &sim->failure);
    simulation_report_gangs(sim->timeline, clock_of(sim), sim->core);
    for (size_t i = 0; i < n_effects; i++)
        if (for_cluster(&effects[i]))
            sim->cluster->ops->apply(sim->cluster, sim->now, &effects[i]);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    free(events);
    return ret;
}

/* Everything that happens at sim->now. */
static int moment(struct sim *sim)
{
    sim->cluster->ops->advance(sim->cluster, sim->now);
    do {
        if (step(sim) < 0)
            return err_wrap(&sim->failure, "invariant violated");
    } while (sim->n_inbox);
    if (!builtin_cluster_settled(sim->cluster))
        sim->busy_until = sim->now;
    return 0;
}

static usec_t next_moment(const struct sim *sim)
{
    usec_t a = gang_core_next(sim->core), b = sim->cluster->ops->next(sim->cluster);
    usec_t next = a < b ? a : b;
    return next < sim->now ? sim->now : next;
}

/* Whether the run is over before `next`; says why. */
static bool over(struct sim *sim, usec_t next)
{
    if (next - ORIGIN > sim->until) {
        sim->now = next == USEC_NEVER && !sim->until_given ? sim->now : ORIGIN + sim->until;
        simulation_report_note(sim->timeline, clock_of(sim),
                               next == USEC_NEVER ? "quiet: nothing more will happen"
                                                  : "time is up");
        return true;
    }
    if (sim->until_given || next - sim->busy_until <= QUIET)
        return false;
    simulation_report_note(sim->timeline, clock_of(sim), "quiet: only new attempts would follow");
    return true;
}

/* What was asked for beyond --until is not known, and not judged. */
static int check_last_expects(struct sim *sim)
{
    int ret = check_expects(sim, sim->until_given ? sim->until + 1 : USEC_NEVER);
    size_t left = sim->scenario->n_expects - sim->next_expect;
    if (ret == 0 && left > 0)
        simulation_report_note(
            sim->timeline, clock_of(sim),
            "not judged, because they lie behind the end: %zu of %zu expectations", left,
            sim->scenario->n_expects);
    return ret;
}

static int run(struct sim *sim)
{
    int idle = 0;
    if (moment(sim) < 0)
        return -1;
    for (;;) {
        usec_t next = next_moment(sim);
        if (over(sim, next))
            return check_last_expects(sim);
        if (check_expects(sim, next - ORIGIN) < 0)
            return -1;
        idle = next == sim->now ? idle + 1 : 0;
        if (idle > MAX_IDLE_STEPS)
            return err_set(&sim->failure, ERR_INTERNAL, "time does not pass any more");
        sim->now = next;
        if (moment(sim) < 0)
            return -1;
    }
}

static void shut_down(struct sim *sim)
{
    struct gang_event stop = {.kind = GANG_EV_STOP};
    size_t n;
    gang_step(sim->core, sim->now, &stop, 1, &n);
    for (size_t i = 0; i < sim->n_inbox; i++)
        gang_event_done(&sim->inbox[i]);
    free(sim->inbox);
    gang_core_free(sim->core);
    sim->cluster->ops->close(sim->cluster, sim->now);
    simulation_report_free(sim->timeline);
}

static int simulate(struct scenario *scenario, bool json, usec_t until, bool until_given)
{
    struct sim sim = {
        .scenario = scenario,
        .timeline = simulation_report_new(json),
        .now = ORIGIN,
        .busy_until = ORIGIN,
        .until = until,
        .until_given = until_given,
    };
    struct cluster_sink sink = {post, &sim};
    struct config *settings = config_defaults();
    struct gang_config config = core_config(settings);
    scenario_config(scenario, &config);
    sim.core = gang_core_new(&config);
    config_free(settings);
    sim.cluster = builtin_cluster_new(scenario, &sink, WALL);
    builtin_cluster_watch(sim.cluster, simulation_report_event, sim.timeline);
    bool failed = run(&sim) < 0;
    simulation_report_end(sim.timeline, clock_of(&sim), sim.core, sim.cluster,
                          failed ? sim.failure.text : NULL);
    shut_down(&sim);
    return failed ? CMD_FAILED : CMD_OK;
}

int cmd_simulate(int argc, char **argv)
{
    static const struct option options[] = {
        {"until", required_argument, NULL, 'u'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    usec_t until = UNTIL;
    bool json = false, until_given = false;
    struct err err;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, ":u:o:h", options, NULL)) != -1;) {
        if (opt == 'h')
            return CMD_HELP;
        if (opt == 'u') {
            until_given = true;
            if (duration_parse(optarg, &until, &err) < 0)
                return cmd_usage_error("simulate", "--until: %s", err.text);
        } else if (opt == 'o') {
            json = strcmp(optarg, "json") == 0;
            if (!json && strcmp(optarg, "text") != 0)
                return cmd_usage_error("simulate", "--output is \"%s\": write text or json",
                                       optarg);
        } else {
            return cmd_flag_error("simulate", argv, opt);
        }
    }
    if (argc - optind != 1)
        return cmd_usage_error("simulate", "name one scenario file, such as "
                                           "examples/six-of-eight.yaml");
    struct scenario *scenario = scenario_load(argv[optind], &err);
    if (!scenario) {
        fprintf(stderr, "muster simulate: %s\n", err.text);
        return CMD_FAILED;
    }
    return simulate(scenario, json, until, until_given);
}
