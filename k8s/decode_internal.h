/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_internal.h - what the decoders of one object kind share with each other, and nobody else.
 */
#ifndef MUSTER_K8S_DECODE_INTERNAL_H
#define MUSTER_K8S_DECODE_INTERNAL_H

#include "k8s/field.h"

/* Borrowed from the object. */
struct decoded_metadata {
    const json_t *json;
    const char *ns; /* "default" when the object names none, as kubectl has it */
    const char *name;
    const char *uid; /* may be NULL */
    usec_t created;
};

int decode_metadata(const json_t *object, const char *kind, struct decoded_metadata *ret,
                    struct err *err);
/* metadata.resourceVersion as in struct gang_pod_facts. */
int64_t decode_version(const struct decoded_metadata *meta);
/* The PodGroup that a pod is in, what it declares of it, and its part there. f->ns is set. */
void decode_link(const json_t *pod, const struct decoded_metadata *meta, struct gang_pod_facts *f);
/* One entry of matchExpressions, or (on_name) of a node selector's matchFields. */
int decode_requirement(const json_t *json, bool on_name, struct gang_requirement *r,
                       struct err *err);
/* A LabelSelector (matchLabels, matchExpressions) into an empty term; absent and {} select all. */
int decode_label_selector(const json_t *selector, struct gang_term *term, struct err *err);
/* The nodeSelectorTerms of a NodeSelector (NULL: none); what was read is the caller's also after an
 * error. */
int decode_node_terms(const json_t *selector, struct gang_term **ret, size_t *ret_n,
                      struct err *err);
/* affinity and topologySpreadConstraints; the pod's labels are to be there already. */
int decode_rules(const json_t *spec, struct gang_pod_facts *f, struct err *err);
/* Notes a constraint that is not in the facts; the first one noted stays. */
void decode_beyond(struct gang_pod_facts *f, const char *what);
/* What of the spec is not in the facts, of those fields that nothing else here reads. */
void decode_exactness(const json_t *spec, struct gang_pod_facts *f);
int decode_taint_effect(const char *text, enum gang_taint_effect *ret, struct err *err);

#endif
