/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extender_request.h - decodes the body of a call of kube-scheduler into the core's structs.
 *
 * Source: k8s.io/kube-scheduler/extender/v1 types.go. The Go types have no JSON tags, so muster
 * ignores the case of keys: older clients write lower case. Both forms of nodes are accepted:
 * NodeNames (nodeCacheCapable: true) and Nodes. Complete nodes are not parsed into a tree. muster
 * keeps their place in the request, and a reply repeats the chosen nodes byte for byte.
 *
 * Life cycle: extender_parse() fills a zeroed struct in one pass over the request, except the pod.
 * extender_decode_pod() decodes the pod, unless the core already knows it. extender_reply.h builds
 * the reply, and extender_args_done() frees the content. The struct borrows the bytes of the
 * request and changes them: each name gets a NUL after it. The bytes must stay valid until
 * extender_args_done(). Stateless; any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_EXTENDER_REQUEST_H
#define MUSTER_SERVER_EXTENDER_EXTENDER_REQUEST_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json_scan.h"
#include "gang/effect.h"
#include "gang/event.h"
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

/* The maximum length of a UID or node name that is read. Valid ones are shorter. */
#define EXTENDER_TEXT 255

struct extender_args {
    /* filter, prioritize, preempt */
    struct gang_pod_facts *pod;   /* decoded; owned; the core may take it */
    struct gang_pod_facts *known; /* the core's own facts; the caller sets it instead of `pod` */
    struct json_span pod_span;
    /* The identity of the pod, by which the core finds it. "": missing or too long. */
    char pod_uid[EXTENDER_TEXT + 1];
    char pod_nominated[EXTENDER_TEXT + 1];
    int64_t pod_version;
    const char **names; /* offered nodes, or candidate nodes of a preemption */
    size_t n_names;
    struct json_span *items;   /* the places of complete nodes; NULL: the request has only names */
    struct json_span *victims; /* preempt: for each candidate, its MetaVictims in victims_text */
    struct buf victims_text;
    struct gang_victims *victim_uids; /* the same for the core; all in uid_list */
    const char **uid_list;
    struct buf uid_text;
    /* bind */
    char *ns, *name, *uid, *node;

    const char *body; /* borrowed */
    struct buf text;  /* copies of names, if they cannot be used in the body */
};

/* On failure, err has the error and its byte. */
int extender_parse(enum extender_verb verb, char *body, size_t len, struct extender_args *args,
                   struct err *err);
/* Fills args->pod from the request. Does nothing for bind. rules: the rules for PodGroups that
 * muster creates, see decode_awaits(); NULL: muster creates none. */
int extender_decode_pod(struct extender_args *args, const struct workload_rules *rules,
                        struct err *err);
/* Frees the content. The struct may be zeroed or partly filled. May be called twice. */
void extender_args_done(struct extender_args *args);

#endif
