/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_fixture.h - chains of owners as YAML, and PodGroups as one line of words.
 *
 * A file is a stream of documents: first the questions, then the chain, the pod first, the top
 * owner last:
 *
 *     cases:
 *     - name: as it is                    # schedulerName kai-scheduler, nothing changed
 *       gives: scheduling.run.ai pg-x-1 min 1 of v1/Pod/x
 *     - name: scaled, in Volcano
 *       scheduler: volcano                # of the pod; "" leaves it
 *       home: scheduling.x-k8s.io         # of the rules
 *       chain: 1                          # only so many of the documents
 *       patch: [{}, {spec: {replicas: 3}}] # merged into pod, owner, …; list items by "0", "1"
 *       gives: …
 *
 * `gives` is what fixture_words() writes, "no PodGroup", or "error: " and the sentence.
 */
#ifndef MUSTER_TEST_WORKLOAD_FIXTURE_H
#define MUSTER_TEST_WORKLOAD_FIXTURE_H

#include "workload/workload.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One document of YAML, or the test fails. The caller owns it. */
json_t *fixture_parse(const char *yaml);
/* Rules that make PodGroups for pods of kai-scheduler and volcano; home: scheduling.run.ai. */
struct workload_rules fixture_rules(void);
/* A group in words: "API NAME min N [children N] [role …] … of OWNER". The caller frees it. */
char *fixture_words(const struct workload_group *g);
/* The same of what comes of a chain. */
char *fixture_ask(const struct workload_rules *rules, const json_t *const *chain, size_t n);

/* Each chain that is asked about, before it is. */
typedef void fixture_seen(const json_t *const *chain, size_t n, const char *gives, void *arg);
/* Asks every question of a file, and returns how many answers were others than said, with a line
 * for each on stderr. */
int fixture_run(const char *path, fixture_seen *seen, void *arg);

#endif
