/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority_classes.h - the PriorityClasses, for pods that do not exist yet. Admission gives a real
 * pod the values of its class. One thread.
 */
#ifndef MUSTER_K8S_DECODE_PRIORITY_CLASSES_H
#define MUSTER_K8S_DECODE_PRIORITY_CLASSES_H

#include <jansson.h>

#include "gang/facts.h"

struct priority_classes;

struct priority_classes *priority_classes_new(void);
/* Accepts NULL; returns NULL. */
struct priority_classes *priority_classes_free(struct priority_classes *c);

/* The object must have been decoded with decode_class(). */
void priority_classes_set(struct priority_classes *c, const json_t *object);
void priority_classes_gone(struct priority_classes *c, const char *name);
/* Gives the pod the priority and the preemption policy that admission would give it. The facts were
 * decoded from the pod. */
void priority_classes_admit(const struct priority_classes *c, const json_t *pod,
                            struct gang_pod_facts *facts);

#endif
