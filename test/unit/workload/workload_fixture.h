/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_fixture.h - chains of owners in YAML, and PodGroups as one line of text.
 *
 * A file is a stream of documents: first the cases, then the chain, from the pod to the top owner:
 *
 *     cases:
 *     - name: as it is                    # schedulerName kai-scheduler, nothing changed
 *       gives: scheduling.run.ai pg-x-1 min 1 of v1/Pod/x
 *     - name: scaled, in Volcano
 *       scheduler: volcano                # of the pod; "": the pod's own
 *       home: scheduling.x-k8s.io         # of the rules
 *       chain: 1                          # use only the first documents
 *       patch: [{}, {spec: {replicas: 3}}] # merged into pod, owner, …; list items by "0", "1"
 *       gives: …
 *
 * `gives` is the text from fixture_words(), "no PodGroup", or "error: " and the message; or "left
 * out" for a pod whose owners muster does not read (workload_wants_podgroup()).
 */
#ifndef MUSTER_TEST_WORKLOAD_FIXTURE_H
#define MUSTER_TEST_WORKLOAD_FIXTURE_H

#include "workload/workload.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Rules that create PodGroups for pods of kai-scheduler and volcano; home: scheduling.run.ai. */
struct workload_rules fixture_rules(void);
/* A group as text: "API NAME min N [children N] [role …] … of OWNER". The caller frees it. */
char *fixture_words(const struct workload_group *g);
/* The same for the group that the chain gives. */
char *fixture_ask(const struct workload_rules *rules, const json_t *const *chain, size_t n);

/* Called for each chain before the case runs. */
typedef void fixture_seen(const json_t *const *chain, size_t n, const char *gives, void *arg);
/* Runs all cases of a file. Returns how many gave another result than expected, and prints a line
 * to stderr for each. */
int fixture_run(const char *path, fixture_seen *seen, void *arg);

#endif
