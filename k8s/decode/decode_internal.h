/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_internal.h - shared by the decoders. Pure: no I/O, no state, any thread.
 */
#ifndef MUSTER_K8S_DECODE_DECODE_INTERNAL_H
#define MUSTER_K8S_DECODE_DECODE_INTERNAL_H

#include "gang/bounds.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/selector.h"

/* Borrowed from the object. */
struct decoded_metadata {
    const json_t *json;
    const char *ns; /* "default" if the object has no namespace, as in kubectl */
    const char *name;
    const char *uid; /* may be NULL */
    usec_t created;
};

/* Marks the facts as inexact, because they lack this constraint. Only the first mark is kept. */
void decode_mark_inexact(struct gang_pod_facts *f, const char *what);
/* Records the text of an error about a field that cannot be read. Only the first text is kept. */
void decode_invalid(struct gang_pod_facts *f, const struct err *err);
/* Whether n is within the bound. If not, records it as decode_invalid() does. */
bool decode_within(struct gang_pod_facts *f, enum gang_bound bound, size_t n);

int decode_metadata(const json_t *object, const char *kind, struct decoded_metadata *ret,
                    struct err *err);
/* metadata.resourceVersion as in struct gang_pod_facts. */
int64_t decode_version(const struct decoded_metadata *meta);
/* Decodes the pod's PodGroup, its role there, and the facts that the pod declares about the
 * PodGroup. f->ns must be set. */
void decode_link(const json_t *pod, const struct decoded_metadata *meta, struct gang_pod_facts *f);
/* Decode parts of a pod's spec. After an error, f keeps what could be read. f->labels must be
 * set. */
int decode_anti_affinity(const json_t *spec, struct gang_pod_facts *f, struct err *err);
int decode_spreads(const json_t *spec, struct gang_pod_facts *f, struct err *err);
/* Marks the facts as inexact if the spec has constraints that no decoder reads: some volumes,
 * resource claims, restart rules, user namespaces on the host's network, unknown fields. */
void decode_unknown_fields(const json_t *spec, struct gang_pod_facts *f);
int decode_taint_effect(const char *text, enum gang_taint_effect *ret, struct err *err);

#endif
