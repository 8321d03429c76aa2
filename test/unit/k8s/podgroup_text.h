/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podgroup_text.h - PodGroups and pods as one readable line, and their facts as another, for the
 * tests of the dialects.
 */
#ifndef MUSTER_TEST_PODGROUP_TEXT_H
#define MUSTER_TEST_PODGROUP_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"

#define WALL ((usec_t)1709208000 * USEC_PER_SEC) /* 2024-02-29T12:00:00Z */

#define KAI     "scheduling.run.ai"
#define VOLCANO "scheduling.volcano.sh"
#define SIGS    "scheduling.sigs.k8s.io"
#define XK8S    "scheduling.x-k8s.io"
#define KOORD   "gang.scheduling.koordinator.sh"
#define LIGHT   "pod-group.scheduling.sigs.k8s.io"

/* The facts of PodGroup ml/g of this API with these annotations and this spec. */
struct gang_group_facts *read_group(const char *api_group, const char *annotations,
                                    const char *spec);
/* The facts of pod ml/p with this in its metadata. */
struct gang_pod_facts *read_pod(const char *metadata);
/* Compares the facts with a text of everything that differs from an empty PodGroup ("min 4 max 8
 * …"), or with the error of an invalid one. `what` names the case in a failure. */
void assert_words(const struct gang_group_facts *f, const char *what, const char *want);

#endif
