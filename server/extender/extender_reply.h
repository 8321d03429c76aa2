/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_reply.h - encodes the core's replies for kube-scheduler, and the reply to a call that
 * failed.
 *
 * Source: k8s.io/kube-scheduler/extender/v1 types.go. Keys are capitalized. The functions append to
 * `out`. Stateless; any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_EXTENDER_REPLY_H
#define MUSTER_SERVER_EXTENDER_EXTENDER_REPLY_H

#include "server/extender/extender_request.h"

void extender_write_filter(const struct extender_args *args, const struct gang_filter_reply *reply,
                           struct buf *out);
/*
 * Builds the same reply in the bytes of the request (*body, which args borrows) if complete nodes
 * pass. The bytes of 5,000 nodes are then in memory only once. False: not possible, and nothing is
 * changed.
 */
bool extender_filter_in_place(const struct extender_args *args,
                              const struct gang_filter_reply *reply, struct buf *body);
/* scores: one for each offered node. */
void extender_write_prioritize(const struct extender_args *args, const uint8_t *scores, size_t n,
                               struct buf *out);
void extender_write_preempt(const struct extender_args *args, const uint32_t *kept, size_t n_kept,
                            struct buf *out);
/* error: "" for success. */
void extender_write_bind(const char *error, struct buf *out);
/*
 * Writes the reply to a call that failed, and returns its HTTP status. The replies to filter and
 * bind have a field for the error; those to prioritize and preempt do not.
 */
int extender_write_failure(enum extender_verb verb, const char *error, struct buf *out);

#endif
