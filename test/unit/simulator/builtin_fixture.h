/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin_fixture.h - the built-in cluster with a scripted core: the test decides which nodes pass
 * filter and how bind calls are answered.
 */
#ifndef MUSTER_TEST_BUILTIN_FIXTURE_H
#define MUSTER_TEST_BUILTIN_FIXTURE_H

#include "simulator/built_in_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"

#define NODE(name)        "- {name: " name ", allocatable: {cpu: 8, memory: 8Gi, nvidia.com/gpu: 1}}\n"
#define NODES             "nodes:\n" NODE("a") NODE("b")
#define POD_X(name, more) POD_XX(name, "1", more)
#define POD_XX(name, gpus, more)                                                                   \
    "- {apiVersion: v1, kind: Pod, metadata: {name: " name ", annotations: {muster.dev/duration: " \
    "10s}}, spec: {" more "containers: [{name: c, resources: {limits: {nvidia.com/gpu: " gpus      \
    "}}}]}}\n"
#define POD(name) POD_X(name, "")

/* The time at which a scenario begins. */
#define ORIGIN (50 * USEC_PER_SEC)

enum bind_answer { BIND_WRITES, BIND_REFUSES, BIND_HOLDS };

struct scripted_core {
    struct cluster *cluster;
    usec_t now;
    struct gang_event inbox[4096];
    size_t n_inbox;
    struct buf trace; /* the events, one line each: "MILLISECONDS event" */

    /* its answers */
    const char *filter_node;  /* the only node that passes; NULL: all; "": none */
    const char *filter_text;  /* why the others do not pass */
    const char *filter_error; /* an Error instead */
    const char *best_node;    /* gets the score 10 */
    enum bind_answer bind;
    uint64_t held;                           /* the id of the last bind call */
    int filters, prioritizes, binds, closed; /* number of calls so far */
};

/* Starts the cluster of a scenario, given as YAML. */
struct scripted_core *core_begin(const char *text);
void core_end(struct scripted_core *c);
/* Runs everything up to this time on the scenario's clock. */
void core_run(struct scripted_core *c, usec_t until);

/* Effects of the core. */
void core_apply(struct scripted_core *c, const struct gang_effect *e);
void core_reply_bind(struct scripted_core *c, uint64_t id, const char *error);
void core_write_binding(struct scripted_core *c, const char *ns, const char *name, const char *uid,
                        const char *node);

/* A pod of namespace default, as the cluster has it; it must exist. Texts are borrowed. */
const json_t *pod_of(struct scripted_core *c, const char *name);
const char *uid_of(struct scripted_core *c, const char *name);
const char *node_of(struct scripted_core *c, const char *name);
const char *phase_of(struct scripted_core *c, const char *name);
const char *message_of(struct scripted_core *c, const char *name);
int count_pods(struct scripted_core *c);

/* Whether, and how often, the trace contains the text. */
bool saw(const struct scripted_core *c, const char *line);
int times(const struct scripted_core *c, const char *line);

#endif
