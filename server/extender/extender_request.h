/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_request.h - the body of kube-scheduler's call to an extender, as the core's structs.
 *
 * Source: k8s.io/kube-scheduler/extender/v1 types.go. The Go types carry no JSON tags; keys are
 * read in any case (older clients wrote lower case). Both node forms are accepted: NodeNames
 * (nodeCacheCapable: true) and Nodes. Whole nodes are not parsed into a tree: their offsets in the
 * request are kept, so a reply echoes the chosen ones byte for byte.
 *
 * Life cycle: extender_parse() fills a zeroed struct in one pass over the request, without the
 * pod; extender_decode_pod() decodes the pod unless the caller already has it. The reply is made
 * from it (extender_reply.h), then extender_args_done() frees. The request's bytes are borrowed and
 * changed (each name is NUL-terminated in place); they must live as long. Pure, any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_EXTENDER_REQUEST_H
#define MUSTER_SERVER_EXTENDER_EXTENDER_REQUEST_H

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
    struct gang_pod_facts *known; /* instead: the core's own; set by the caller */
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
/* Fills args->pod from the request. rules: for which pods PodGroups are created, see
 * decode_awaits(); NULL: for none. Nothing to do for bind. */
int extender_decode_pod(struct extender_args *args, const struct workload_rules *rules,
                        struct err *err);
/* Frees the content; also of a zeroed or half-filled struct, and twice. */
void extender_args_done(struct extender_args *args);

#endif
