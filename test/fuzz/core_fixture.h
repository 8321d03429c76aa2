/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_fixture.h - a core with a few nodes and gangs, for targets that turn untrusted bytes into
 * facts.
 *
 * It starts with three nodes (n0 and n1 with 4 GPUs, n2 with a taint), the PriorityClass "high",
 * and PodGroups of two dialects: "g" (KAI) has two placed members, and "w" (Volcano) waits for GPUs
 * in use. Every event goes through core_fixture_step(). It carries out the core's effects as a
 * cluster would (each Binding succeeds at once), counts replies, and checks the core's invariants
 * after every step. core_fixture_free() stops the core. At that point every call has exactly one
 * reply.
 */
#ifndef MUSTER_TEST_CORE_FIXTURE_H
#define MUSTER_TEST_CORE_FIXTURE_H

#include "gang/gang.h"
#include "test/fuzz/fuzz.h"

struct core_fixture_call {
    uint64_t id;
    int answers;
};

struct core_fixture {
    struct gang_core *core;
    usec_t now;
    struct core_fixture_call *calls;
    size_t n_calls, cap_calls;
    struct gang_event *due; /* results of the core's effects */
    size_t n_due, cap_due;
    /* Sees every effect first; returns true if it has carried out the effect itself. May be NULL.
     */
    bool (*effect)(void *arg, const struct gang_effect *effect);
    void *arg;
};

struct core_fixture *core_fixture_new(void);
void core_fixture_free(struct core_fixture *b);

/* Takes the content of the events, and then the results of the effects, until there are none left.
 */
void core_fixture_step(struct core_fixture *b, struct gang_event *events, size_t n);
/* Lets time pass, with a TICK whenever the core wants one, but at most `ticks`. */
void core_fixture_wait(struct core_fixture *b, usec_t t, int ticks);
/* A new id for a call, which must get exactly one answer. */
uint64_t core_fixture_call(struct core_fixture *b);
bool core_fixture_answered(const struct core_fixture *b, uint64_t id);

/* The facts of an object with this apiVersion and kind, as an event (NODE_SET, POD_SET, GROUP_SET,
 * CLASS_SET, BUDGET_SET, JOB_SET). Returns false for another kind, or for an unreadable object,
 * which sets *err. Pods are packed. */
bool core_fixture_event(const json_t *object, struct gang_event *ev, struct err *err);
/* The event for the end of the same object. */
struct gang_event core_fixture_gone(const struct gang_event *set);

#endif
