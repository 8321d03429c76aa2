/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_protobuf.h - decodes the API server's protobuf into the jansson trees that the decoders
 * take.
 *
 * Built-in kinds are listed and watched in protobuf: for 50,000 pods it is a third of the bytes,
 * and fields that muster does not read (managedFields, environments, probes) are skipped instead
 * of built and thrown away. PodGroups have no protobuf form and stay JSON.
 *
 * The tables in kube_protobuf.c list the fields that are read, by the numbers of generated.proto
 * in k8s.io/api and k8s.io/apimachinery. To read another field of a pod, node, claim, volume or
 * PriorityClass, add its row there; test_kube_protobuf compares both forms of the same objects.
 * Unknown fields of a PodSpec and its parts are not lost: each becomes a member "field-N": true,
 * so the pod never counts as fully understood. As in JSON, empty values are absent: "", 0, false,
 * an empty list or map. NUL and bytes that are not UTF-8 become '?' (base/json_repair.h gives the
 * reason).
 *
 * Pure, any thread. Trees are the caller's; everything else borrows from the given bytes.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_PROTOBUF_H
#define MUSTER_K8S_ENCODING_KUBE_PROTOBUF_H

#include <jansson.h>

#include "base/err.h"

/* What Accept asks for: this form, or JSON of a server that does not have it. */
#define KUBE_PROTOBUF_ACCEPT "application/vnd.kubernetes.protobuf,application/json"

struct kube_protobuf_message;
extern const struct kube_protobuf_message kube_protobuf_pod, kube_protobuf_node,
    kube_protobuf_claim, kube_protobuf_volume, kube_protobuf_class;

/* Whether a whole body is in this form. */
bool kube_protobuf_is(const char *data, size_t len);
/* Whether a watch that begins with this byte sends frames and not lines: the first byte of a length
 * below 16 MiB. */
static inline bool kube_protobuf_is_frame(char first)
{
    return first == 0;
}

/* The body of an object or a Status, whichever message says; NULL: it is none. err is set also
 * where only a part of it can be read: that part, mostly all but one field, is the tree then. */
json_t *kube_protobuf_object(const struct kube_protobuf_message *message, const char *data,
                             size_t len, struct err *err);
/* A Status, as JSON text; NULL when it is none. The caller frees it. */
char *kube_protobuf_status_text(const char *data, size_t len);

/* A list: its metadata first, as a tree {"resourceVersion": …, "continue": …}. */
struct kube_protobuf_list {
    const char *at, *end; /* what is left of it */
};
json_t *kube_protobuf_list_begin(struct kube_protobuf_list *list, const char *data, size_t len,
                                 struct err *err);
/* The next item, or the part of it that can be read, as above; NULL at the end, and then err is set
 * where the list was cut off. */
json_t *kube_protobuf_list_next(struct kube_protobuf_list *list,
                                const struct kube_protobuf_message *item, struct err *err);

/* The content of one frame of a watch, as {"type": …, "object": …}; NULL when it is none. Of
 * the object it may be a part, as above. */
json_t *kube_protobuf_event(const struct kube_protobuf_message *item, const char *data, size_t len,
                            struct err *err);

#endif
