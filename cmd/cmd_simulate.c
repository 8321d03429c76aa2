/* SPDX-License-Identifier: Apache-2.0 */
/*
 * muster simulate: runs the core and the built-in cluster in simulated time, in one thread. The
 * same file gives the same output, byte for byte.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"
#include "cmd/cmd.h"
#include "config/config.h"
#include "gang/gang.h"
#include "k8s/encoding/kube_field.h"
#include "server/loop/core_config.h"
#include "simulator/built_in_cluster.h"
#include "simulator/share_picture.h"
#include "simulator/simulation_report.h"

/* 2026-01-01T00:00:00Z: creation times must not depend on the real date. */
#define WALL (INT64_C(1767225600) * USEC_PER_SEC)
/* Not zero, so that no code relies on a clock that starts at zero. */
#define ORIGIN (1000 * USEC_PER_SEC)
/* The run ends when the cluster has had nothing to do for this long. This is a little longer than
 * the period in which the scheduler tries all waiting pods again. */
#define QUIET ((usec_t)(330 * USEC_PER_SEC))
#define UNTIL (3600 * USEC_PER_SEC)

enum { MAX_IDLE_STEPS = 1000000 }; /* steps at one simulated time: the simulation is stuck */

struct sim {
    struct scenario *scenario; /* owned by the cluster */
    struct cluster *cluster;
    struct gang_core *core;
    struct simulation_report *timeline;
    struct share_history *shares;
    struct gang_event *inbox; /* posted events, for the next step */
    size_t n_inbox, cap_inbox;
    usec_t now, until;
    usec_t busy_until; /* the last time when the cluster had something to do */
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
    static const char *const subjects[] = {
        [EXPECT_GANG] = "gang", [EXPECT_POD] = "pod", [EXPECT_QUEUE] = "queue"};
    return err_set(&sim->failure, ERR_INVALID, "%s: %s: at %s %s %s%s%s: %s is %s, expected %s",
                   sim->scenario->name, e->where, buf_str(&at), subjects[e->of], e->ns,
                   *e->ns ? "/" : "", name, what, is, expected);
}

/* expected -1: any. */
static int compare_count(struct sim *sim, const struct scenario_expect *e, const char *name,
                         const char *what, int64_t is, int64_t expected)
{
    char text[2][24];
    if (expected < 0 || is == expected)
        return 0;
    snprintf(text[0], sizeof text[0], "%" PRId64, is);
    snprintf(text[1], sizeof text[1], "%" PRId64, expected);
    return differs(sim, e, name, what, text[0], text[1]);
}

struct check {
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
    return compare_count(sim, e, name, "bound", s->bound, e->bound);
}

static int compare_message(struct sim *sim, const struct scenario_expect *e, const char *name,
                           const char *message)
{
    if (!e->says || strstr(message, e->says))
        return 0;
    cleanup_free char *expected = xasprintf("\"…%s…\"", e->says);
    return differs(sim, e, name, "message", message, expected);
}

static void check_one_gang(void *arg, const struct gang_view *v)
{
    struct check *c = arg;
    bool all = strcmp(c->expect->name, "*") == 0;
    if (c->ret < 0 || strcmp(v->status.ref->ns, c->expect->ns) != 0 ||
        (!all && strcmp(v->status.ref->name, c->expect->name) != 0))
        return;
    c->seen++;
    c->ret = compare_gang(c->sim, c->expect, &v->status);
    if (c->ret == 0)
        c->ret = compare_message(c->sim, c->expect, v->status.ref->name, v->status.text);
}

static int check_gang(struct sim *sim, const struct scenario_expect *e)
{
    struct check c = {.sim = sim, .expect = e};
    gang_core_each_gang(sim->core, check_one_gang, &c);
    return c.seen ? c.ret
                  : differs(sim, e, e->name, "state", "none (no such gang)",
                            e->state != GANG_STATE_MAX ? gang_state_name(e->state) : "any");
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
    const char *message = field_peek(json_array_get(conditions, 0), "message", NULL);
    return compare_message(sim, e, e->name, message ? message : "");
}

static int compare_used(struct sim *sim, const struct scenario_expect *e,
                        const struct gang_queue_status *s)
{
    const char *resource;
    json_t *amount;
    json_object_foreach((json_t *)(uintptr_t)e->used, resource, amount)
    {
        int64_t expected = 0, used = 0;
        json_value_amount(amount, resource, &expected, NULL); /* checked by the loader */
        for (size_t i = 0; i < s->n_amounts; i++)
            if (strcmp(s->amounts[i].resource, resource) == 0)
                used = s->amounts[i].used;
        cleanup_free char *what = xasprintf("used %s", resource);
        if (compare_count(sim, e, s->ref->name, what, used, expected) < 0)
            return -1;
    }
    return 0;
}

static void check_one_queue(void *arg, const struct gang_queue_view *v)
{
    struct check *c = arg;
    const struct scenario_expect *e = c->expect;
    const struct gang_queue_status *s = &v->status;
    const char *name = s->ref->name;
    if (c->ret < 0 || strcmp(name, e->name) != 0 || strcmp(s->ref->ns, e->ns) != 0)
        return;
    c->seen++;
    c->ret = compare_used(c->sim, e, s);
    if (c->ret == 0)
        c->ret = compare_count(c->sim, e, name, "waiting", s->waiting, e->waiting);
    if (c->ret == 0)
        c->ret = compare_count(c->sim, e, name, "running", s->running, e->running);
    if (c->ret == 0)
        c->ret = compare_message(c->sim, e, name, s->text);
}

static int check_queue(struct sim *sim, const struct scenario_expect *e)
{
    struct check c = {.sim = sim, .expect = e};
    gang_core_queues(sim->core, 0, SIZE_MAX, check_one_queue, &c);
    return c.seen ? c.ret : differs(sim, e, e->name, "state", "none (no such queue)", "any");
}

/* Checks the expectations before `clock`. */
static int check_expects(struct sim *sim, usec_t clock)
{
    static int (*const checks[])(struct sim *, const struct scenario_expect *) = {
        [EXPECT_GANG] = check_gang, [EXPECT_POD] = check_pod, [EXPECT_QUEUE] = check_queue};
    const struct scenario *s = sim->scenario;
    for (; sim->next_expect < s->n_expects; sim->next_expect++) {
        const struct scenario_expect *e = &s->expects[sim->next_expect];
        if (e->at >= clock)
            return 0;
        if (checks[e->of](sim, e) < 0)
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

/* Gives the core the posted events, or a TICK. Its effects may post more events. */
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

/* Runs everything that happens at sim->now. */
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

static void move_to(struct sim *sim, usec_t next)
{
    usec_t from = clock_of(sim);
    share_history_add(sim->shares, sim->core, from, from + next - sim->now);
    sim->now = next;
}

/* Whether the run ends before `next`. If so, prints the reason. */
static bool over(struct sim *sim, usec_t next)
{
    if (next - ORIGIN > sim->until) {
        move_to(sim, next == USEC_NEVER && !sim->until_given ? sim->now : ORIGIN + sim->until);
        simulation_report_note(sim->timeline, clock_of(sim),
                               next == USEC_NEVER ? "end: nothing more will happen"
                                                  : "end: the time limit is reached");
        return true;
    }
    if (sim->until_given || next - sim->busy_until <= QUIET)
        return false;
    simulation_report_note(sim->timeline, clock_of(sim), "end: only further attempts would follow");
    return true;
}

/* Expectations after --until cannot be checked. */
static int check_last_expects(struct sim *sim)
{
    int ret = check_expects(sim, sim->until_given ? sim->until + 1 : USEC_NEVER);
    size_t left = sim->scenario->n_expects - sim->next_expect;
    if (ret == 0 && left > 0)
        simulation_report_note(
            sim->timeline, clock_of(sim),
            "not checked, because they are after the end: %zu of %zu expectations", left,
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
            return err_set(&sim->failure, ERR_INTERNAL,
                           "the simulation is stuck: its time does not advance");
        move_to(sim, next);
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
    share_history_free(sim->shares);
}

static int write_picture(const struct share_history *shares, const char *path, struct err *err)
{
    cleanup_buf struct buf b = BUF_INIT;
    share_picture(shares, &b);
    FILE *file = fopen(path, "w");
    if (!file)
        return err_errno(err, "cannot write %s", path);
    bool written = fwrite(b.data, 1, b.len, file) == b.len;
    if (fclose(file) != 0 || !written)
        return err_errno(err, "cannot write %s", path);
    return 0;
}

/* picture NULL: none is drawn. */
static int simulate(struct scenario *scenario, bool json, usec_t until, bool until_given,
                    const char *picture)
{
    struct sim sim = {
        .scenario = scenario,
        .timeline = simulation_report_new(json),
        .shares = share_history_new(),
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
    simulation_report_end(sim.timeline, clock_of(&sim), sim.core, sim.cluster, sim.shares,
                          failed ? sim.failure.text : NULL);
    struct err err;
    if (picture && write_picture(sim.shares, picture, &err) < 0) {
        fprintf(stderr, "muster simulate: %s\n", err.text);
        failed = true;
    }
    shut_down(&sim);
    return failed ? CMD_FAILED : CMD_OK;
}

int cmd_simulate(int argc, char **argv)
{
    static const struct option options[] = {
        {"until", required_argument, NULL, 'u'},
        {"output", required_argument, NULL, 'o'},
        {"shares", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    usec_t until = UNTIL;
    const char *picture = NULL;
    bool json = false, until_given = false;
    struct err err;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, ":u:o:s:h", options, NULL)) != -1;) {
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
        } else if (opt == 's') {
            picture = optarg;
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
    return simulate(scenario, json, until, until_given, picture);
}
