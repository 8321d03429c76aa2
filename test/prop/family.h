/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - which PodGroups are one gang, and whether its minimums are met: by the truth of the
 * model, written without looking at gang/. Stateless.
 *
 * A family is a set of groups, as bits: a parent with its children, and groups of a bundle that
 * name each other. A group without a PodGroup object may be declared by its pods.
 */
#ifndef MUSTER_TEST_PROP_FAMILY_H
#define MUSTER_TEST_PROP_FAMILY_H

#include "test/prop/model.h"

/* What is asked of the group: its PodGroup's spec, or what all its pods declare alike; NULL: it is
 * not known. Valid until the next call for a declared one. */
const struct op *group_asks(const struct model *m, int g);

/* The groups that are one gang with g, itself among them. */
uint32_t family_of(const struct model *m, int g);

/* Every PodGroup exists, and none contradicts itself or another, as far as the model knows. What
 * this cannot decide counts as wrong. */
bool family_valid(const struct model *m, uint32_t family);

/* The minimums of all of them are met if the pods in `has` are bound. */
bool family_whole(const struct model *m, uint32_t family, const bool has[PODS]);

/* A member that counts: neither Terminating nor Failed. */
bool member_counts(const struct pod_truth *t);

#endif
