/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin_events.h - the built-in cluster as a source of facts: a test sees each event that the
 * cluster posts as a line of text. No core answers.
 */
#ifndef MUSTER_TEST_BUILTIN_EVENTS_H
#define MUSTER_TEST_BUILTIN_EVENTS_H

#include "simulator/built_in_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"

struct builtin_events {
    struct cluster *cluster;
    usec_t now;
    void (*put)(struct buf *to, const struct gang_event *ev);
    struct buf lines;
};

/* Starts the cluster of a scenario, given as YAML. put() appends a line for an event, or nothing.
 */
struct builtin_events *events_begin(const char *text,
                                    void (*put)(struct buf *to, const struct gang_event *ev));
void events_end(struct builtin_events *x);
/* Runs up to this time on the scenario's clock. Returns the lines of the events that happened; they
 * are valid until the next call. */
const char *events_until(struct builtin_events *x, usec_t until);

#endif
