/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bed.h - a core of a few nodes and gangs, for targets that make facts of what others wrote.
 *
 * It begins with three nodes (n0 and n1 with 4 GPUs, n2 with a taint), PriorityClass "high", and
 * PodGroups of two dialects: "g" of KAI has both of its members placed, "w" of Volcano waits for
 * GPUs that are taken. Whatever comes in goes through bed_step(), which carries out what the core
 * asks for as a cluster would (each Binding is written at once), counts answers, and checks the
 * invariants of the core after every step. bed_free() stops the core: by then every call has its
 * answer, one each.
 */
#ifndef MUSTER_TEST_BED_H
#define MUSTER_TEST_BED_H

#include "gang/gang.h"
#include "test/fuzz/fuzz.h"

struct bed_call {
    uint64_t id;
    int answers;
};

struct bed {
    struct gang_core *core;
    usec_t now;
    struct bed_call *calls;
    size_t n_calls, cap_calls;
    struct gang_event *due; /* results of what the core asked for */
    size_t n_due, cap_due;
    /* Sees every effect before it is carried out; true: it has done so itself. May be NULL. */
    bool (*effect)(void *arg, const struct gang_effect *effect);
    void *arg;
};

struct bed *bed_new(void);
void bed_free(struct bed *b);

/* Takes the events' content; then the results of what came out, until nothing comes. */
void bed_step(struct bed *b, struct gang_event *events, size_t n);
/* Lets time pass, with a TICK whenever the core wants one; at most so many. */
void bed_wait(struct bed *b, usec_t t, int ticks);
/* A new id for a call, which must be answered once. */
uint64_t bed_call(struct bed *b);
bool bed_answered(const struct bed *b, uint64_t id);

/* The facts of the object with this apiVersion and kind as an event (NODE_SET, POD_SET, GROUP_SET,
 * CLASS_SET); false: it cannot be read, and *err says why, or it is of another kind. Pods are
 * packed. */
bool bed_event(const json_t *object, struct gang_event *ev, struct err *err);
/* The same of its end. */
struct gang_event bed_gone(const struct gang_event *set);

#endif
