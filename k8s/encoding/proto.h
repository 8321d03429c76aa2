/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - the API server's protobuf form of the objects that muster reads, as the jansson trees
 * that the decoders take.
 *
 * Lists and watches of built-in kinds are asked for in this form: of 50,000 pods it is a third of
 * the bytes, and what nobody here reads (managedFields, environments, probes) is passed over
 * instead of being built and thrown away. PodGroups have no such form and stay JSON.
 *
 * The tables in proto.c say which fields are read, by the numbers of generated.proto in k8s.io/api
 * and k8s.io/apimachinery. Whoever wants to read another field of a pod, node, claim, volume or
 * PriorityClass adds its row there; test_proto holds both forms of the same objects against each
 * other. What a PodSpec and its parts have beside that is no loss either: a field whose number is
 * not known becomes a member "field-N": true, so that nobody takes the pod for understood in all.
 * As in JSON, what is empty is absent: "", 0, false, an empty list or map. NUL and bytes
 * that are no UTF-8 become '?' (base/json_mend.h says why).
 *
 * Pure, any thread. Trees are the caller's; everything else borrows from the bytes given.
 */
#ifndef MUSTER_K8S_ENCODING_PROTO_H
#define MUSTER_K8S_ENCODING_PROTO_H

#include <jansson.h>

#include "base/err.h"

/* What Accept asks for: this form, or JSON of a server that does not have it. */
#define PROTO_ACCEPT "application/vnd.kubernetes.protobuf,application/json"

struct proto_message;
extern const struct proto_message proto_pod, proto_node, proto_claim, proto_volume, proto_class;

/* Whether a whole body is in this form. */
bool proto_is(const char *data, size_t len);
/* Whether a watch that begins with this byte sends frames and not lines: the first byte of a length
 * below 16 MiB. */
static inline bool proto_is_frame(char first)
{
    return first == 0;
}

/* The body of an object or a Status, whichever message says; NULL: it is none. err is set also
 * where only a part of it can be read: that part, mostly all but one field, is the tree then. */
json_t *proto_object(const struct proto_message *message, const char *data, size_t len,
                     struct err *err);
/* A Status, as JSON text; NULL when it is none. The caller frees it. */
char *proto_status_text(const char *data, size_t len);

/* A list: its metadata first, as a tree {"resourceVersion": …, "continue": …}. */
struct proto_list {
    const char *at, *end; /* what is left of it */
};
json_t *proto_list_begin(struct proto_list *list, const char *data, size_t len, struct err *err);
/* The next item, or the part of it that can be read, as above; NULL at the end, and then err is set
 * where the list was cut off. */
json_t *proto_list_next(struct proto_list *list, const struct proto_message *item, struct err *err);

/* The content of one frame of a watch, as {"type": …, "object": …}; NULL when it is none. Of
 * the object it may be a part, as above. */
json_t *proto_event(const struct proto_message *item, const char *data, size_t len,
                    struct err *err);

#endif
