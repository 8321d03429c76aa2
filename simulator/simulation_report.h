/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_report.h - the output of a simulation: a timeline and a final table, as text or JSON.
 *
 * The report gets the simulated events as the built-in cluster's watch function, and reads the
 * gangs after every step of the core. It puts related changes on one line: the Bindings of a gang,
 * and objects that are created at the same time. It writes text to stdout at once, and JSON as one
 * object at the end. Life cycle: simulation_report_new(), the calls below in order of time,
 * simulation_report_end(), simulation_report_free(). One thread.
 */
#ifndef MUSTER_SIMULATOR_SIMULATION_REPORT_H
#define MUSTER_SIMULATOR_SIMULATION_REPORT_H

#include "gang/gang.h"
#include "simulator/built_in_cluster.h"
#include "simulator/share_history.h"

struct simulation_report;

struct simulation_report *simulation_report_new(bool json);
struct simulation_report *simulation_report_free(struct simulation_report *t);

/* A builtin_watch_fn. */
void simulation_report_event(void *timeline, usec_t clock, const struct simulated_event *what);
/* Reports what the last step has changed. */
void simulation_report_gangs(struct simulation_report *t, usec_t clock,
                             const struct gang_core *core);
/* Adds a line about the simulation itself. */
void simulation_report_note(struct simulation_report *t, usec_t clock, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* Writes the final table (text) or everything (JSON). failure: why the run failed, or NULL. */
void simulation_report_end(struct simulation_report *t, usec_t clock, const struct gang_core *core,
                           const struct cluster *cluster, const struct share_history *shares,
                           const char *failure);

#endif
