/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - the scenario file: a small cluster and what happens to it, for the built-in cluster.
 *
 * One YAML document that a person can read:
 *
 *     nodes:                        # short form, or whole Node manifests
 *     - {name: gpu, count: 4, allocatable: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
 *     objects:                      # plain manifests; a string names a file of manifests beside
 *     - podgroup.yaml               # this one
 *     - apiVersion: v1
 *       kind: Pod
 *       ...
 *     timetable:
 *     - at: 30s                     # once, or again `every: 60s` (`times: 5`); $(n) in strings is
 *       create: [...]               # the number of the repetition, from 0
 *       delete: [{kind: Pod, namespace: ml, name: a-0}]
 *       cordon: [gpu-0]
 *       uncordon: [gpu-1]
 *       scale: [{kind: Job, namespace: ml, name: train, parallelism: 4}]
 *     config: {holdSeconds: 20}     # of the core, for this file alone
 *     expect:                       # what `muster simulate` checks
 *     - {at: 20s, gang: ml/train, state: Waiting, reason: NotEnoughResources, bound: 0}
 *     - {at: 40s, pod: ml/small, phase: Running, node: gpu-0}
 *     - {at: 40s, pod: ml/train-0, phase: Pending, says: 8 members needed}
 *
 * (The name * stands for every gang of the namespace.) A stream of plain manifests (kind: Node
 * among them) is a scenario too: everything exists from the start. Life cycle: scenario_load(),
 * then read only; scenario_free(). Every mistake is an error that names the file, the place in it
 * and what to write. Manifests are checked as they will be used (decoded once), so that nothing
 * fails later. Pure, any thread.
 */
#ifndef MUSTER_SIMULATOR_SCENARIO_H
#define MUSTER_SIMULATOR_SCENARIO_H

#include <jansson.h>

#include "base/err.h"
#include "base/usec.h"
#include "gang/effect.h"
#include "simulator/manifest.h"

struct gang_config;

/* An object named in a timetable (delete, scale). */
struct scenario_target {
    enum manifest_kind kind;
    const char *api_group; /* of a PodGroup; NULL: any */
    const char *ns;        /* "" for kinds without one */
    const char *name;
    int64_t parallelism; /* scale */
};

struct scenario_step {
    usec_t at;
    usec_t every;  /* 0: once */
    int64_t times; /* at most; INT64_MAX: for ever */
    json_t *todo;  /* {create: [objects], delete, cordon, uncordon, scale: […]} */
};

struct scenario_expect {
    usec_t at;
    char *ns, *name;
    bool gang;                    /* else a pod */
    enum gang_state state;        /* GANG_STATE_MAX: not asked; the same for what follows */
    enum gang_reason_code reason; /* REASON_MAX */
    int64_t bound;                /* -1 */
    const char *phase, *node;     /* NULL; node "": not bound */
    const char *says;             /* NULL; part of the gang's reason or of the pod's condition */
    char *where;                  /* the place in the file, for messages */
};

struct scenario {
    char *name;
    json_t *objects; /* manifests, short nodes written out, in the order of creation */
    struct scenario_step *steps;
    size_t n_steps;
    struct scenario_expect *expects;
    size_t n_expects;
    json_t *config;
    json_t *raw; /* the documents; what the pointers above point into */
};

struct scenario *scenario_load(const char *path, struct err *err);
/* From text; files named in it are looked for in the folder `dir`. */
struct scenario *scenario_parse(const char *name, const char *dir, const char *text, size_t len,
                                struct err *err);
struct scenario *scenario_free(struct scenario *s);

/* Overwrites the fields that the file's `config` names. */
void scenario_config(const struct scenario *s, struct gang_config *config);

/* What a step does the n-th time: its todo with $(n) filled in. The caller owns it. */
json_t *scenario_step_todo(const struct scenario_step *step, int64_t n);

/* Reads an entry of a todo's delete or scale list; strings are borrowed from it. */
int scenario_target(const json_t *entry, struct scenario_target *ret, struct err *err);

#endif
