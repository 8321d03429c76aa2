/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_reply.h - the core's replies as the bytes that kube-scheduler reads, and the reply to a
 * call that cannot be served.
 *
 * Source: k8s.io/kube-scheduler/extender/v1 types.go. Keys are written capitalised. `out` is
 * appended to. Pure, any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_EXTENDER_REPLY_H
#define MUSTER_SERVER_EXTENDER_EXTENDER_REPLY_H

#include "server/extender/extender_request.h"

void extender_write_filter(const struct extender_args *args, const struct gang_filter_reply *reply,
                           struct buf *out);
/*
 * The same where whole nodes pass, in the bytes of the request themselves (*body, which args
 * borrows): those of 5,000 nodes are not held twice. False, and nothing is changed, where that is
 * not possible.
 */
bool extender_filter_in_place(const struct extender_args *args,
                              const struct gang_filter_reply *reply, struct buf *body);
/* One score per offered name. */
void extender_write_prioritize(const struct extender_args *args, const uint8_t *scores, size_t n,
                               struct buf *out);
void extender_write_preempt(const struct extender_args *args, const uint32_t *kept, size_t n_kept,
                            struct buf *out);
/* error "" is success. */
void extender_write_bind(const char *error, struct buf *out);
/*
 * The reply to a call that cannot be served, and its HTTP status: filter and bind have a field for
 * the reason, prioritize and preempt have not.
 */
int extender_write_failure(enum extender_verb verb, const char *error, struct buf *out);

#endif
