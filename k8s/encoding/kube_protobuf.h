/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_protobuf.h - decodes the API server's protobuf into the jansson trees that the decoders
 * take.
 *
 * muster lists and watches built-in kinds in protobuf. For 50,000 pods this takes a third of the
 * bytes of JSON, and muster builds no trees for fields that it does not read (managedFields,
 * environments, probes). PodGroups have no protobuf form, so muster reads them in JSON.
 *
 * The tables in kube_protobuf.c list the fields that muster reads, by their numbers in
 * generated.proto of k8s.io/api and k8s.io/apimachinery. To read another field of a pod, node,
 * claim, volume, PriorityClass, PodDisruptionBudget or Job, add its row there; test_kube_protobuf
 * compares both forms of the same objects. An unknown field in a PodSpec or its parts becomes a
 * member "field-N": true, so that the pod does not count as fully decoded. As in JSON, empty values
 * are absent: "", 0, false, an empty list or map. NUL and bytes that are not UTF-8 become '?', for
 * the reason given in base/json_repair.h.
 *
 * The caller owns the returned trees. Everything else borrows from the given bytes. Pure: no I/O,
 * no state, any thread.
 */
#ifndef MUSTER_K8S_ENCODING_KUBE_PROTOBUF_H
#define MUSTER_K8S_ENCODING_KUBE_PROTOBUF_H

#include <jansson.h>

#include "base/err.h"

/* How many items of lists and entries of maps are read of one object: so many in its containers,
 * their states and resources together, and so many in all the others. */
#define KUBE_PROTOBUF_ITEMS 10000

/* The Accept header: protobuf, or JSON from a server that does not have protobuf. */
#define KUBE_PROTOBUF_ACCEPT "application/vnd.kubernetes.protobuf,application/json"

struct kube_protobuf_message;
extern const struct kube_protobuf_message kube_protobuf_pod, kube_protobuf_node,
    kube_protobuf_claim, kube_protobuf_volume, kube_protobuf_class, kube_protobuf_budget,
    kube_protobuf_job, kube_protobuf_namespace;

/* Whether a body is protobuf. */
bool kube_protobuf_is(const char *data, size_t len);
/* Whether a watch that begins with this byte sends protobuf frames, not lines of JSON. A frame
 * below 16 MiB begins with a 0 byte of its length. */
static inline bool kube_protobuf_is_frame(char first)
{
    return first == 0;
}

/* Decodes a body that contains a `message` or a Status. NULL: it is not protobuf of Kubernetes.
 * Sets err->code; ERR_NONE means that the tree is complete. After an error, the tree contains all
 * fields that could be read, usually all but one. Of an object with too many items, it contains
 * the first ones and all single values. */
json_t *kube_protobuf_object(const struct kube_protobuf_message *message, const char *data,
                             size_t len, struct err *err);
/* A Status as JSON text, which the caller frees. NULL: the body is not a Status. */
char *kube_protobuf_status_text(const char *data, size_t len);

struct kube_protobuf_list {
    const char *at, *end; /* the rest of the list */
};
/* Begins to read a list. Returns its metadata as a tree {"resourceVersion": …, "continue": …}. */
json_t *kube_protobuf_list_begin(struct kube_protobuf_list *list, const char *data, size_t len,
                                 struct err *err);
/* The next item, complete or in part, as kube_protobuf_object() returns it. NULL: the end; err is
 * set if the list is truncated. */
json_t *kube_protobuf_list_next(struct kube_protobuf_list *list,
                                const struct kube_protobuf_message *item, struct err *err);

/* Decodes the content of one frame of a watch. Returns {"type": …, "object": …}, where the object
 * can be incomplete, as in kube_protobuf_object(). NULL: the frame is not an event. */
json_t *kube_protobuf_event(const struct kube_protobuf_message *item, const char *data, size_t len,
                            struct err *err);

#endif
