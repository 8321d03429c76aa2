/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.h - decodes LabelSelectors and NodeSelectors into facts. Pure: no I/O, no state, any
 * thread.
 */
#ifndef MUSTER_K8S_ENCODING_SELECTOR_H
#define MUSTER_K8S_ENCODING_SELECTOR_H

#include "gang/bounds.h"
#include "gang/facts.h"
#include "k8s/encoding/kube_field.h"

/* Decodes a LabelSelector (matchLabels, matchExpressions) into an empty term. If it is NULL or {},
 * the term stays empty. */
int decode_label_selector(const json_t *selector, struct gang_term *term, struct err *err);
/* How long a LabelSelector is: the number of its requirements and values. */
size_t decode_label_length(const json_t *selector);
/* Decodes the nodeSelectorTerms of a NodeSelector (NULL: none). The caller owns *ret, even after an
 * error. */
int decode_node_terms(const json_t *selector, struct gang_term **ret, size_t *ret_n,
                      struct err *err);
struct decode_length {
    size_t rules; /* terms and requirements */
    size_t values;
};
/* Adds the length of a NodeSelector to *more. */
void decode_node_length(const json_t *selector, struct decode_length *more);

#endif
