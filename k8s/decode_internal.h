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
int decode_taint_effect(const char *text, enum gang_taint_effect *ret, struct err *err);

#endif
