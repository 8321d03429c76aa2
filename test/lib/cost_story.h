/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost_story.h - steps of a core of a test that compares what they cost: each returns its CPU time.
 *
 * story_begin() makes the core, and story_end() checks its invariants and frees it.
 */
#ifndef MUSTER_TEST_COST_STORY_H
#define MUSTER_TEST_COST_STORY_H

#include "gang/gang.h"

/* Ten times as many objects may take at most this much longer. */
#define FACTOR 4

struct story {
    struct gang_core *core;
    usec_t now;
};

struct story story_begin(void);
void story_end(struct story *s);

/* Takes what the events own. Both return the CPU time of the step in microseconds. */
double story_step(struct story *s, struct gang_event *events, size_t n);
double story_step_one(struct story *s, struct gang_event ev);

/* group NULL: an ordinary pod. */
struct gang_pod_facts *story_pod(const char *ns, const char *name, const char *group);
void story_gang(struct story *s, const char *ns, const char *name, int min);

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

#endif
