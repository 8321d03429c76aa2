/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.h - selectors of nodes, and of pods by their labels, as facts. Pure: any thread.
 */
#ifndef MUSTER_K8S_ENCODING_SELECTOR_H
#define MUSTER_K8S_ENCODING_SELECTOR_H

#include "gang/bounds.h"
#include "gang/facts.h"
#include "k8s/encoding/kube_field.h"

/* A LabelSelector (matchLabels, matchExpressions) into an empty term; absent and {} select all. */
int decode_label_selector(const json_t *selector, struct gang_term *term, struct err *err);
/* The nodeSelectorTerms of a NodeSelector (NULL: none); what was read is the caller's also after an
 * error. */
int decode_node_terms(const json_t *selector, struct gang_term **ret, size_t *ret_n,
                      struct err *err);
/* How long a NodeSelector is, in `more` beside what is there already: terms and requirements, and
 * values. */
struct decode_length {
    size_t rules, values;
};
void decode_node_length(const json_t *selector, struct decode_length *more);

#endif
