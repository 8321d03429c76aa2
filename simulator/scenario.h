/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - scenario files: a cluster, and what happens to it, for the built-in cluster.
 *
 * A scenario is one YAML document:
 *
 *     nodes:                        # short form, or complete Node manifests
 *     - {name: gpu, count: 4, allocatable: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
 *     objects:                      # manifests; a string names a file of manifests, relative to
 *     - podgroup.yaml               # the folder of this file
 *     - apiVersion: v1
 *       kind: Pod
 *       ...
 *     timetable:
 *     - at: 30s                     # once, or `every: 60s` with an optional `times: 5`
 *       create: [...]               # $(n) in strings is the number of the repetition, from 0
 *       delete: [{kind: Pod, namespace: ml, name: a-0}]
 *       cordon: [gpu-0]
 *       uncordon: [gpu-1]
 *       scale: [{kind: Job, namespace: ml, name: train, parallelism: 4}]
 *       patch: [{kind: Queue, name: ml, spec: {weight: 3}}]
 *     config: {holdSeconds: 20}     # settings of the core, for this file only
 *     expect:                       # checks of `muster simulate`
 *     - {at: 20s, gang: ml/train, state: Waiting, reason: NotEnoughResources, bound: 0}
 *     - {at: 40s, pod: ml/small, phase: Running, node: gpu-0}
 *     - {at: 40s, pod: ml/train-0, phase: Pending, says: 8 members needed}
 *     - {at: 40s, queue: ml, used: {nvidia.com/gpu: 6}, waiting: 2, running: 3}
 *
 * In `expect`, the gang name * means every gang of the namespace. A stream of manifests is also a
 * scenario, in which all objects exist from the start.
 *
 * Life cycle: scenario_load() or scenario_parse(), then read only, then scenario_free(). An error
 * names the file, the place in the file and the remedy. Each manifest is decoded once when the file
 * is read, so that it cannot fail later. Stateless; any thread.
 */
#ifndef MUSTER_SIMULATOR_SCENARIO_H
#define MUSTER_SIMULATOR_SCENARIO_H

#include <jansson.h>

#include "base/err.h"
#include "base/usec.h"
#include "gang/effect.h"
#include "simulator/manifest.h"

struct gang_config;

/* An object named in a timetable (delete, scale, patch). */
struct scenario_target {
    enum manifest_kind kind;
    const char *api_group; /* NULL: any that has the kind */
    const char *ns;        /* "" for kinds without a namespace */
    const char *name;
    int64_t parallelism; /* in scale entries; -1: missing */
};

struct scenario_step {
    usec_t at;
    usec_t every;  /* 0: once */
    int64_t times; /* INT64_MAX: without end */
    json_t *todo;  /* {create: [objects], delete, cordon, uncordon, scale, patch: […]} */
};

struct scenario_expect {
    usec_t at;
    char *ns, *name;
    enum scenario_subject { EXPECT_GANG, EXPECT_POD, EXPECT_QUEUE } of;
    /* The expected values. Each has one value that means "not checked". */
    enum gang_state state;        /* GANG_STATE_MAX: not checked */
    enum gang_reason_code reason; /* REASON_MAX: not checked */
    int64_t bound;                /* -1: not checked */
    int64_t waiting, running;     /* gangs of a queue; -1: not checked */
    const json_t *used;           /* amounts that a queue uses, by resource; NULL: not checked */
    const char *phase, *node;     /* NULL: not checked; node "": the pod is not bound */
    const char *says;             /* a part of the gang's reason, of the pod's condition, or of why
                                     the queue is invalid; NULL: not checked */
    char *where;                  /* the place in the file, for error texts */
};

struct scenario {
    char *name;
    json_t *objects; /* manifests in the order of creation, with short nodes expanded */
    struct scenario_step *steps;
    size_t n_steps;
    struct scenario_expect *expects;
    size_t n_expects;
    json_t *config;
    const char **queue_grants; /* of `config`; the strings are its own */
    json_t *raw;               /* the documents, into which the pointers above point */
};

struct scenario *scenario_load(const char *path, struct err *err);
/* Like scenario_load(), from text. Files that it names are relative to the folder `dir`. */
struct scenario *scenario_parse(const char *name, const char *dir, const char *text, size_t len,
                                struct err *err);
struct scenario *scenario_free(struct scenario *s);

/* Sets the fields that the file's `config` names. */
void scenario_config(const struct scenario *s, struct gang_config *config);

/* The step's `todo` for repetition n, with $(n) replaced. The caller owns it. */
json_t *scenario_step_todo(const struct scenario_step *step, int64_t n);

/* Reads an entry of a delete, scale or patch list. The result borrows its strings from the entry.
 */
int scenario_target(const json_t *entry, struct scenario_target *ret, struct err *err);
/* The merge patch of an entry of a patch list. The caller owns it. */
json_t *scenario_patch(const json_t *entry);

#endif
