/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what happened in a simulation, told to a person (text) or a program (JSON).
 *
 * Gets what happens in the built-in cluster (as its watch function) and, after every step of the
 * core, a look at the gangs; puts together what belongs together (pods of a gang that are bound,
 * objects created at the same moment). Text is written to stdout as it comes, JSON as one object
 * at the end. Life cycle: timeline_new(), the calls in the order of time, timeline_end(),
 * timeline_free(). One thread.
 */
#ifndef MUSTER_SIMULATOR_TIMELINE_H
#define MUSTER_SIMULATOR_TIMELINE_H

#include "gang/gang.h"
#include "simulator/built_in_cluster.h"

struct timeline;

struct timeline *timeline_new(bool json);
struct timeline *timeline_free(struct timeline *t);

/* A builtin_watch_fn. */
void timeline_happening(void *timeline, usec_t clock, const struct builtin_happening *what);
/* What the last step changed. */
void timeline_gangs(struct timeline *t, usec_t clock, const struct gang_core *core);
/* A line about the simulation itself. */
void timeline_note(struct timeline *t, usec_t clock, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The closing table (text) or everything (JSON). `failure` is why the run failed, or NULL. */
void timeline_end(struct timeline *t, usec_t clock, const struct gang_core *core,
                  const struct cluster *cluster, const char *failure);

#endif
