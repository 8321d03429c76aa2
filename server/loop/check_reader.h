/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_reader.h - a thread that reads the manifests of checks.
 *
 * To read manifests may take a good part of a second (manifest_gangs.h). The listener's thread must
 * answer probes meanwhile, and the core thread calls of kube-scheduler. So the listener posts a
 * check here. This thread reads the manifests of one check after the other, and posts the checks to
 * the loop, which answers them as any other query.
 *
 * Life cycle: check_reader_new() after loop_new() and before the listeners; check_reader_free()
 * after loop_run() or loop_abandon(), which wait for all queries.
 */
#ifndef MUSTER_SERVER_LOOP_CHECK_READER_H
#define MUSTER_SERVER_LOOP_CHECK_READER_H

#include "server/loop/loop.h"
#include "server/loop/ops_queries.h"

struct check_reader;

/* The rules are borrowed; NULL: muster creates no PodGroups. */
struct check_reader *check_reader_new(struct loop *loop, const struct workload_rules *rules,
                                      struct err *err);
/* Accepts NULL; returns NULL. */
struct check_reader *check_reader_free(struct check_reader *c);
/* Any thread. The query must be deferred. It is refused if too many checks wait for their answers.
 */
void check_reader_post(struct check_reader *c, struct ops_query *query);

#endif
