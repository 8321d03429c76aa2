/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_wire.h - kube-scheduler's extender wire format: request bytes to the core's structs,
 * and the core's replies to bytes.
 *
 * Source: k8s.io/kube-scheduler/extender/v1 types.go. The Go types carry no JSON tags; keys are
 * read in any case (older clients wrote lower case) and written capitalised. Both node forms are
 * accepted: NodeNames (nodeCacheCapable: true) and Nodes. Whole nodes are not parsed into a tree:
 * their offsets in the request are kept, so a reply echoes the chosen ones byte for byte.
 *
 * Life cycle: extender_parse() fills a zeroed struct in one pass over the request, without the
 * pod; extender_decode_pod() decodes the pod unless the caller already has it. extender_write_*()
 * renders the reply, extender_args_done() frees. The request's bytes are borrowed and changed
 * (each name is NUL-terminated in place); they must live as long. Pure, any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_EXTENDER_WIRE_H
#define MUSTER_SERVER_EXTENDER_EXTENDER_WIRE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json_scan.h"
#include "gang/effect.h"
#include "gang/facts.h"
#include "workload/workload.h"

#define EXTENDER_VERBS(X)                                                                          \
    X(FILTER, "filter")                                                                            \
    X(PRIORITIZE, "prioritize")                                                                    \
    X(PREEMPT, "preempt")                                                                          \
    X(BIND, "bind")

enum extender_verb {
#define X(id, name) EXTENDER_##id,
    EXTENDER_VERBS(X)
#undef X
        EXTENDER_VERB_MAX
};
const char *extender_verb_name(enum extender_verb verb);

/* More than a UID or a node's name has. */
#define EXTENDER_TEXT 255

struct extender_args {
    /* filter, prioritize, preempt */
    struct gang_pod_facts *pod;   /* decoded; owned; the core may take it */
    struct gang_pod_facts *known; /* instead: the core's own; set by whoever asked it */
    struct json_span pod_span;
    char pod_uid[EXTENDER_TEXT + 1]; /* what tells whether it is known; "": not there, or longer */
    char pod_nominated[EXTENDER_TEXT + 1];
    int64_t pod_version;
    const char **names; /* nodes offered, or candidates of a preemption */
    size_t n_names;
    struct json_span *items;   /* filter with whole nodes: where each is; else NULL */
    struct json_span *victims; /* preempt: per candidate, its MetaVictims in victims_text */
    struct buf victims_text;
    /* bind */
    char *ns, *name, *uid, *node;

    const char *body; /* borrowed */
    struct buf text;  /* of names that do not stand in the body as they are */
};

/* On failure err says what is wrong and at which byte. */
int extender_parse(enum extender_verb verb, char *body, size_t len, struct extender_args *args,
                   struct err *err);
/* Fills args->pod from the request. rules: for which pods PodGroups are made, see decode_awaits();
 * NULL: for none. Nothing to do for bind. */
int extender_decode_pod(struct extender_args *args, const struct workload_rules *rules,
                        struct err *err);
/* Frees the content; also of a zeroed or half-filled struct, and twice. */
void extender_args_done(struct extender_args *args);

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
