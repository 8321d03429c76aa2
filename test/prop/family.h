/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - which PodGroups form one gang, and whether its minimums are met.
 *
 * An independent implementation: it uses only the objects of the model, and shares no code with
 * gang/. Stateless.
 *
 * A family is the set of PodGroups that form one gang, one bit for each PodGroup: a parent with its
 * children, and the PodGroups of a bundle. Pods can declare a group that has no PodGroup object.
 */
#ifndef MUSTER_TEST_PROP_FAMILY_H
#define MUSTER_TEST_PROP_FAMILY_H

#include "test/prop/model.h"

/* The spec of the group: the PodGroup's, or the spec that its pods declare. NULL if no pod declares
 * one, or if the pods differ. A declared spec is valid until the next call. */
const struct op *group_asks(const struct model *m, int g);

/* The priority of the group or of its PriorityClass. Without one, the highest of its members. */
int group_priority(const struct model *m, int g);

/* The family of group g, including g. */
uint32_t family_of(const struct model *m, int g);

/* Whether each group of the family has a valid spec, and the specs do not contradict each other.
 * Returns false for specs that the model cannot judge. */
bool family_valid(const struct model *m, uint32_t family);

/* Whether the pods in `has` meet the minimums of all groups of the family. */
bool family_whole(const struct model *m, uint32_t family, const bool has[PODS]);

/* Whether the pod counts as a member: it exists and is neither Terminating nor Failed. */
bool member_counts(const struct pod_truth *t);

#endif
