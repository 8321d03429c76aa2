/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_internal.h - what the decoders of one object kind share with each other, and nobody else.
 */
#ifndef MUSTER_K8S_DECODE_DECODE_INTERNAL_H
#define MUSTER_K8S_DECODE_DECODE_INTERNAL_H

#include "gang/bounds.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/selector.h"

/* Borrowed from the object. */
struct decoded_metadata {
    const json_t *json;
    const char *ns; /* "default" when the object names none, as kubectl has it */
    const char *name;
    const char *uid; /* may be NULL */
    usec_t created;
};

/* Marks the facts as inexact: they lack this constraint. The first mark stays. */
void decode_mark_inexact(struct gang_pod_facts *f, const char *what);
/* Records a field that cannot be read, with the error's text; the first stays. The pod still
 * counts. */
void decode_invalid(struct gang_pod_facts *f, const struct err *err);
/* Whether n is within the bound; records it if not. */
bool decode_within(struct gang_pod_facts *f, enum gang_bound bound, size_t n);

int decode_metadata(const json_t *object, const char *kind, struct decoded_metadata *ret,
                    struct err *err);
/* metadata.resourceVersion as in struct gang_pod_facts. */
int64_t decode_version(const struct decoded_metadata *meta);
/* The PodGroup that a pod is in, what it declares of it, and its part there. f->ns is set. */
void decode_link(const json_t *pod, const struct decoded_metadata *meta, struct gang_pod_facts *f);
/* Parts of a pod's spec; what they read of it stays whatever they return. The pod's labels are to
 * be there already. */
int decode_anti_affinity(const json_t *spec, struct gang_pod_facts *f, struct err *err);
int decode_spreads(const json_t *spec, struct gang_pod_facts *f, struct err *err);
/* Marks the facts as inexact for constraints of the spec that no decoder reads: some volumes,
 * resource claims, restart rules, user namespaces on the host's network, unknown fields. */
void decode_unknown_fields(const json_t *spec, struct gang_pod_facts *f);
int decode_taint_effect(const char *text, enum gang_taint_effect *ret, struct err *err);

#endif
