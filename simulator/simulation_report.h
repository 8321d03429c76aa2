/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_report.h - the output of a simulation, as text for people or JSON for programs.
 *
 * It receives the events of the built-in cluster (as its watch function) and reads the gangs after
 * every step of the core. It merges what belongs together (pods of a gang that are bound, objects
 * created at the same moment). Text goes to stdout as it comes, JSON as one object at the end.
 * Life cycle: simulation_report_new(), the calls in order of time, simulation_report_end(),
 * simulation_report_free(). One thread.
 */
#ifndef MUSTER_SIMULATOR_SIMULATION_REPORT_H
#define MUSTER_SIMULATOR_SIMULATION_REPORT_H

#include "gang/gang.h"
#include "simulator/built_in_cluster.h"

struct simulation_report;

struct simulation_report *simulation_report_new(bool json);
struct simulation_report *simulation_report_free(struct simulation_report *t);

/* A builtin_watch_fn. */
void simulation_report_event(void *timeline, usec_t clock, const struct simulated_event *what);
/* What the last step changed. */
void simulation_report_gangs(struct simulation_report *t, usec_t clock,
                             const struct gang_core *core);
/* A line about the simulation itself. */
void simulation_report_note(struct simulation_report *t, usec_t clock, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* The closing table (text) or everything (JSON). `failure` is why the run failed, or NULL. */
void simulation_report_end(struct simulation_report *t, usec_t clock, const struct gang_core *core,
                           const struct cluster *cluster, const char *failure);

#endif
