/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/encoding/kube_protobuf.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/usec.h"
#include "base/utf8.h"
#include "k8s/encoding/kube_field.h"

/* The form of a field in JSON. */
enum kind {
    STRING,
    STRINGS, /* repeated */
    INT,     /* int32 and int64 */
    COUNT,   /* an optional int, for which 0 differs from absent */
    BOOL,
    SWITCH,     /* an optional bool, for which false differs from absent */
    OBJECT,     /* a message */
    OBJECTS,    /* repeated */
    INLINE,     /* a message whose fields belong to the surrounding object */
    TIME,       /* Time */
    TEXTS,      /* map<string, string> */
    QUANTITIES, /* map<string, Quantity> */
    NOTHING,    /* a known field that muster does not read */
};

struct field {
    uint32_t number;
    enum kind kind;
    const char *name;
    const struct kube_protobuf_message *of;
};

struct kube_protobuf_message {
    const struct field *fields; /* in ascending order of number; the last has number 0 */
    bool strict;                /* a field that is not listed becomes a member "field-N": true */
};

#define FIELDS(name, ...)                                                                          \
    static const struct field name##_fields[] = {__VA_ARGS__, {0, NOTHING, NULL, NULL}}
#define MESSAGE(name, ...)                                                                         \
    FIELDS(name, __VA_ARGS__);                                                                     \
    static const struct kube_protobuf_message name = {name##_fields, false}
/* A message in which a new field could be a rule about nodes. Such a field must not be lost, so
 * that the pod is not treated as fully decoded. */
#define STRICT(name, ...)                                                                          \
    FIELDS(name, __VA_ARGS__);                                                                     \
    static const struct kube_protobuf_message name = {name##_fields, true}
#define PUBLIC(name, ...)                                                                          \
    FIELDS(name, __VA_ARGS__);                                                                     \
    const struct kube_protobuf_message name = {name##_fields, false}
#define SKIP(number)                                                                               \
    {                                                                                              \
        number, NOTHING, NULL, NULL                                                                \
    }

/* ---- k8s.io/apimachinery ---- */

/* A message whose content does not matter; only its presence counts. */
static const struct field opaque_fields[] = {{0, NOTHING, NULL, NULL}};
static const struct kube_protobuf_message opaque = {opaque_fields, false};

MESSAGE(owner, {1, STRING, "kind", NULL}, {3, STRING, "name", NULL}, {4, STRING, "uid", NULL},
        {5, STRING, "apiVersion", NULL}, {6, BOOL, "controller", NULL},
        {7, BOOL, "blockOwnerDeletion", NULL});
MESSAGE(object_meta, {1, STRING, "name", NULL}, {2, STRING, "generateName", NULL},
        {3, STRING, "namespace", NULL}, {5, STRING, "uid", NULL},
        {6, STRING, "resourceVersion", NULL}, {7, INT, "generation", NULL},
        {8, TIME, "creationTimestamp", NULL}, {9, TIME, "deletionTimestamp", NULL},
        {11, TEXTS, "labels", NULL}, {12, TEXTS, "annotations", NULL},
        {13, OBJECTS, "ownerReferences", &owner}, {14, STRINGS, "finalizers", NULL});
MESSAGE(list_meta, {2, STRING, "resourceVersion", NULL}, {3, STRING, "continue", NULL});
MESSAGE(status, {2, STRING, "status", NULL}, {3, STRING, "message", NULL},
        {4, STRING, "reason", NULL}, {6, INT, "code", NULL});
STRICT(requirement, {1, STRING, "key", NULL}, {2, STRING, "operator", NULL},
       {3, STRINGS, "values", NULL});
STRICT(label_selector, {1, TEXTS, "matchLabels", NULL},
       {2, OBJECTS, "matchExpressions", &requirement});

/* ---- k8s.io/api/core/v1 ---- */

STRICT(node_term, {1, OBJECTS, "matchExpressions", &requirement},
       {2, OBJECTS, "matchFields", &requirement});
STRICT(node_selector, {1, OBJECTS, "nodeSelectorTerms", &node_term});

MESSAGE(claim_source, {1, STRING, "claimName", NULL}, {2, BOOL, "readOnly", NULL});
STRICT(volume_source, {1, OBJECT, "hostPath", &opaque}, {2, OBJECT, "emptyDir", &opaque},
       {6, OBJECT, "secret", &opaque}, {7, OBJECT, "nfs", &opaque},
       {10, OBJECT, "persistentVolumeClaim", &claim_source}, {16, OBJECT, "downwardAPI", &opaque},
       {19, OBJECT, "configMap", &opaque}, {26, OBJECT, "projected", &opaque},
       {29, OBJECT, "ephemeral", &opaque});
MESSAGE(pod_volume, {1, STRING, "name", NULL}, {2, INLINE, NULL, &volume_source});

MESSAGE(port, {1, STRING, "name", NULL}, {2, INT, "hostPort", NULL},
        {3, INT, "containerPort", NULL}, {4, STRING, "protocol", NULL},
        {5, STRING, "hostIP", NULL});
MESSAGE(resources, {1, QUANTITIES, "limits", NULL}, {2, QUANTITIES, "requests", NULL});
STRICT(container, {1, STRING, "name", NULL}, {2, STRING, "image", NULL}, SKIP(3), SKIP(4), SKIP(5),
       {6, OBJECTS, "ports", &port}, SKIP(7), {8, OBJECT, "resources", &resources}, SKIP(9),
       SKIP(10), SKIP(11), SKIP(12), SKIP(13), SKIP(14), SKIP(15), SKIP(16), SKIP(17), SKIP(18),
       SKIP(19), SKIP(20), SKIP(21), SKIP(22), SKIP(23), {24, STRING, "restartPolicy", NULL},
       {25, OBJECTS, "restartPolicyRules", &opaque});
MESSAGE(container_status, {1, STRING, "name", NULL}, {10, QUANTITIES, "allocatedResources", NULL},
        {11, OBJECT, "resources", &resources});

STRICT(affinity_term, {1, OBJECT, "labelSelector", &label_selector},
       {2, STRINGS, "namespaces", NULL}, {3, STRING, "topologyKey", NULL},
       {4, OBJECT, "namespaceSelector", &label_selector}, {5, STRINGS, "matchLabelKeys", NULL},
       {6, STRINGS, "mismatchLabelKeys", NULL});
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
STRICT(node_affinity, {1, OBJECT, REQUIRED, &node_selector}, SKIP(2));
STRICT(pod_affinity, {1, OBJECTS, REQUIRED, &affinity_term}, SKIP(2));
STRICT(affinity, {1, OBJECT, "nodeAffinity", &node_affinity},
       {2, OBJECT, "podAffinity", &pod_affinity}, {3, OBJECT, "podAntiAffinity", &pod_affinity});
STRICT(spread, {1, INT, "maxSkew", NULL}, {2, STRING, "topologyKey", NULL},
       {3, STRING, "whenUnsatisfiable", NULL}, {4, OBJECT, "labelSelector", &label_selector},
       {5, INT, "minDomains", NULL}, {6, STRING, "nodeAffinityPolicy", NULL},
       {7, STRING, "nodeTaintsPolicy", NULL}, {8, STRINGS, "matchLabelKeys", NULL});
STRICT(toleration, {1, STRING, "key", NULL}, {2, STRING, "operator", NULL},
       {3, STRING, "value", NULL}, {4, STRING, "effect", NULL},
       {5, INT, "tolerationSeconds", NULL});
MESSAGE(gate, {1, STRING, "name", NULL});
MESSAGE(resource_claim, {1, STRING, "name", NULL}, {3, STRING, "resourceClaimName", NULL},
        {4, STRING, "resourceClaimTemplateName", NULL});
MESSAGE(scheduling_group, {1, STRING, "podGroupName", NULL});
STRICT(pod_spec, {1, OBJECTS, "volumes", &pod_volume}, {2, OBJECTS, "containers", &container},
       {3, STRING, "restartPolicy", NULL}, {4, INT, "terminationGracePeriodSeconds", NULL}, SKIP(5),
       SKIP(6), {7, TEXTS, "nodeSelector", NULL}, {8, STRING, "serviceAccountName", NULL}, SKIP(9),
       {10, STRING, "nodeName", NULL}, {11, BOOL, "hostNetwork", NULL}, SKIP(12), SKIP(13),
       SKIP(14), SKIP(15), SKIP(16), SKIP(17), {18, OBJECT, "affinity", &affinity},
       {19, STRING, "schedulerName", NULL}, {20, OBJECTS, "initContainers", &container}, SKIP(21),
       {22, OBJECTS, "tolerations", &toleration}, SKIP(23), {24, STRING, "priorityClassName", NULL},
       {25, INT, "priority", NULL}, SKIP(26), SKIP(27), SKIP(28),
       {29, STRING, "runtimeClassName", NULL}, SKIP(30), {31, STRING, "preemptionPolicy", NULL},
       {32, QUANTITIES, "overhead", NULL}, {33, OBJECTS, "topologySpreadConstraints", &spread},
       SKIP(34), SKIP(35), SKIP(36), {37, SWITCH, "hostUsers", NULL},
       {38, OBJECTS, "schedulingGates", &gate}, {39, OBJECTS, "resourceClaims", &resource_claim},
       {40, OBJECT, "resources", &resources}, {42, OBJECT, "workloadRef", &opaque},
       {43, OBJECT, "schedulingGroup", &scheduling_group});
MESSAGE(pod_condition, {1, STRING, "type", NULL}, {2, STRING, "status", NULL},
        {4, TIME, "lastTransitionTime", NULL}, {5, STRING, "reason", NULL},
        {6, STRING, "message", NULL});
MESSAGE(pod_status, {1, STRING, "phase", NULL}, {2, OBJECTS, "conditions", &pod_condition},
        {7, TIME, "startTime", NULL}, {8, OBJECTS, "containerStatuses", &container_status},
        {10, OBJECTS, "initContainerStatuses", &container_status},
        {11, STRING, "nominatedNodeName", NULL}, {14, STRING, "resize", NULL},
        {19, QUANTITIES, "allocatedResources", NULL}, {20, OBJECT, "resources", &resources});
PUBLIC(kube_protobuf_pod, {1, OBJECT, "metadata", &object_meta}, {2, OBJECT, "spec", &pod_spec},
       {3, OBJECT, "status", &pod_status});

MESSAGE(taint, {1, STRING, "key", NULL}, {2, STRING, "value", NULL}, {3, STRING, "effect", NULL});
MESSAGE(node_spec, {4, BOOL, "unschedulable", NULL}, {5, OBJECTS, "taints", &taint});
MESSAGE(node_status, {1, QUANTITIES, "capacity", NULL}, {2, QUANTITIES, "allocatable", NULL});
PUBLIC(kube_protobuf_node, {1, OBJECT, "metadata", &object_meta}, {2, OBJECT, "spec", &node_spec},
       {3, OBJECT, "status", &node_status});

MESSAGE(claim_spec, {3, STRING, "volumeName", NULL}, {5, STRING, "storageClassName", NULL});
PUBLIC(kube_protobuf_claim, {1, OBJECT, "metadata", &object_meta},
       {2, OBJECT, "spec", &claim_spec});

MESSAGE(volume_affinity, {1, OBJECT, "required", &node_selector});
MESSAGE(volume_spec, {9, OBJECT, "nodeAffinity", &volume_affinity});
PUBLIC(kube_protobuf_volume, {1, OBJECT, "metadata", &object_meta},
       {2, OBJECT, "spec", &volume_spec});

/* ---- k8s.io/api/scheduling/v1 ---- */

PUBLIC(kube_protobuf_class, {1, OBJECT, "metadata", &object_meta}, {2, INT, "value", NULL},
       {3, BOOL, "globalDefault", NULL}, {5, STRING, "preemptionPolicy", NULL});

/* ---- k8s.io/api/policy/v1 ---- */

MESSAGE(budget_spec, {2, OBJECT, "selector", &label_selector});
MESSAGE(budget_status, {1, INT, "observedGeneration", NULL}, {3, INT, "disruptionsAllowed", NULL});
PUBLIC(kube_protobuf_budget, {1, OBJECT, "metadata", &object_meta},
       {2, OBJECT, "spec", &budget_spec}, {3, OBJECT, "status", &budget_status});

/* ---- k8s.io/api/batch/v1: Job ---- */

MESSAGE(job_condition, {1, STRING, "type", NULL}, {2, STRING, "status", NULL});
MESSAGE(failure_rule, {1, STRING, "action", NULL}, {3, OBJECTS, "onPodConditions", &job_condition});
MESSAGE(failure_policy, {1, OBJECTS, "rules", &failure_rule});
MESSAGE(job_spec, {7, COUNT, "backoffLimit", NULL},
        {11, OBJECT, "podFailurePolicy", &failure_policy},
        {12, COUNT, "backoffLimitPerIndex", NULL});
MESSAGE(job_status, {1, OBJECTS, "conditions", &job_condition}, {6, INT, "failed", NULL});
PUBLIC(kube_protobuf_job, {1, OBJECT, "metadata", &object_meta}, {2, OBJECT, "spec", &job_spec},
       {3, OBJECT, "status", &job_status});

/* ---- k8s.io/api/core/v1: Namespace ---- */

PUBLIC(kube_protobuf_namespace, {1, OBJECT, "metadata", &object_meta});

/* ---- the wire format ---- */

/* More than the depth of any message above. RawExtension does not lead to recursion here. */
#define MAX_DEPTH 12

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire {
    const char *p, *end;
    bool bad;
};

/* The reading of one object. Items of lists and entries of maps beyond KUBE_PROTOBUF_ITEMS are left
 * out, because they would occupy the watch thread for too long: 56,000 containers take 0.2 s. What
 * decides how much the pod is charged has a limit of its own, so that no labels can hide it. */
struct reading {
    int depth;
    size_t charged, other; /* items so far */
    bool too_many;
};

struct piece {
    uint32_t number;
    uint64_t value; /* for a varint */
    const char *data;
    size_t len;
};

static uint64_t varint(struct wire *w)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && w->p < w->end; shift += 7) {
        unsigned char c = (unsigned char)*w->p++;
        value |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return value;
    }
    w->bad = true;
    return 0;
}

static const char *bytes(struct wire *w, uint64_t n)
{
    if (w->bad || n > (uint64_t)(w->end - w->p)) {
        w->bad = true;
        return NULL;
    }
    const char *at = w->p;
    w->p += n;
    return at;
}

/* The next field; false at the end and after an error. */
static bool next_piece(struct wire *w, struct piece *ret)
{
    if (w->bad || w->p == w->end)
        return false;
    uint64_t tag = varint(w);
    *ret = (struct piece){.number = (uint32_t)(tag >> 3)};
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        w->bad = true;
    switch (tag & 7) {
    case WIRE_VARINT:
        ret->value = varint(w);
        break;
    case WIRE_64:
        bytes(w, 8);
        break;
    case WIRE_32:
        bytes(w, 4);
        break;
    case WIRE_BYTES: {
        uint64_t n = varint(w);
        ret->data = bytes(w, n);
        ret->len = (size_t)n;
        break;
    }
    default:
        w->bad = true;
    }
    return !w->bad;
}

static struct wire wire_of(const char *data, size_t len)
{
    return (struct wire){data, data + len, false};
}

/* ---- values ---- */

static char *copy_bytes(const char *data, size_t len)
{
    char *copy = xmalloc(len + 1);
    memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

/* A copy of the text in which '?' replaces NUL and everything that is not UTF-8; the caller frees
 * it. NULL: the text is valid. */
static char *mended(const char *data, size_t len)
{
    const char *p = data, *end = data + len;
    while (p < end && *p) {
        size_t n = (unsigned char)*p < 0x80 ? 1 : utf8_len(p, end);
        if (n == 0)
            break;
        p += n;
    }
    if (p == end)
        return NULL;
    char *text = copy_bytes(data, len);
    for (size_t i = (size_t)(p - data); i < len;) {
        size_t n = (unsigned char)text[i] < 0x80 ? text[i] != 0 : utf8_len(text + i, text + len);
        if (n == 0)
            text[i] = '?';
        i += n ? n : 1;
    }
    return text;
}

static json_t *text_value(const char *data, size_t len)
{
    cleanup_free char *other = mended(data, len);
    return json_stringn_nocheck(other ? other : data, len);
}

static void put(json_t *to, const char *name, json_t *value)
{
    if (json_object_set_new_nocheck(to, name, value) < 0)
        abort(); /* out of memory, as in base/mem.h */
}

static void put_in_list(json_t *to, const char *name, json_t *value)
{
    json_t *list = json_object_get(to, name);
    if (!list) {
        list = json_array();
        put(to, name, list);
    }
    if (json_array_append_new(list, value) < 0)
        abort();
}

static bool put_time(json_t *to, const char *name, struct wire w)
{
    struct piece f;
    char text[32];
    int64_t seconds = 0;
    if (w.p == w.end)
        return true; /* the zero time is null in JSON */
    while (next_piece(&w, &f))
        if (f.number == 1)
            seconds = (int64_t)f.value;
    if (w.bad || seconds < 0 || seconds > INT64_C(253402300799)) /* 9999-12-31T23:59:59Z */
        return false;
    put(to, name, json_string(time_format(seconds * USEC_PER_SEC, text)));
    return true;
}

/* The text of a Quantity, which is a message. */
static struct piece unwrap(struct piece quantity, bool *good)
{
    struct wire w = wire_of(quantity.data, quantity.len);
    struct piece f, text = {.data = "", .len = 0};
    while (next_piece(&w, &f))
        if (f.number == 1 && f.data)
            text = f;
    *good = *good && !w.bad;
    return text;
}

static bool put_entry(json_t *to, const char *name, struct wire w, bool quantity)
{
    struct piece f, key = {.data = "", .len = 0}, value = {.data = "", .len = 0};
    bool good = true;
    while (next_piece(&w, &f))
        if (f.number == 1 && f.data)
            key = f;
        else if (f.number == 2 && f.data)
            value = f;
    if (quantity)
        value = unwrap(value, &good);
    if (w.bad || !good)
        return false;
    json_t *map = json_object_get(to, name);
    if (!map) {
        map = json_object();
        put(to, name, map);
    }
    cleanup_free char *mended_key = mended(key.data, key.len);
    char small[256];
    cleanup_free char *large = NULL;
    const char *text = mended_key;
    if (!text && key.len < sizeof small) {
        memcpy(small, key.data, key.len);
        small[key.len] = '\0';
        text = small;
    } else if (!text) {
        text = large = copy_bytes(key.data, key.len);
    }
    put(map, text, text_value(value.data, value.len));
    return true;
}

/* ---- messages ---- */

static bool fill(struct reading *r, json_t *to, const struct kube_protobuf_message *m,
                 struct wire w);

static bool put_message(struct reading *r, json_t *to, const struct field *f, struct wire w)
{
    json_t *object = json_object();
    if (f->kind == OBJECTS) {
        put_in_list(to, f->name, object);
    } else {
        json_t *before = json_object_get(to, f->name);
        if (before) { /* protobuf merges the parts of a repeated message field */
            json_decref(object);
            object = before;
        } else {
            put(to, f->name, object);
        }
    }
    return fill(r, object, f->of, w);
}

/* Counts an item of a list or an entry of a map. False: it is one too many. */
static bool count_item(struct reading *r, const struct field *f)
{
    bool charged = f->kind == QUANTITIES || f->of == &container || f->of == &container_status;
    size_t *n = charged ? &r->charged : &r->other;
    if (*n == KUBE_PROTOBUF_ITEMS) {
        r->too_many = true;
        return false;
    }
    *n += 1;
    return true;
}

static bool put_field(struct reading *r, json_t *to, const struct field *f, const struct piece *p)
{
    bool scalar = f->kind == INT || f->kind == COUNT || f->kind == BOOL || f->kind == SWITCH;
    if (f->kind != NOTHING && scalar != !p->data)
        return false; /* the wire type is wrong */
    bool repeated =
        f->kind == STRINGS || f->kind == OBJECTS || f->kind == TEXTS || f->kind == QUANTITIES;
    if (repeated && !count_item(r, f))
        return true;
    struct wire w = p->data ? wire_of(p->data, p->len) : wire_of("", 0);
    switch (f->kind) {
    case STRING:
        if (p->len)
            put(to, f->name, text_value(p->data, p->len));
        return true;
    case STRINGS:
        put_in_list(to, f->name, text_value(p->data, p->len));
        return true;
    case INT:
        if (p->value)
            put(to, f->name, json_integer((int64_t)p->value));
        return true;
    case COUNT:
        put(to, f->name, json_integer((int64_t)p->value));
        return true;
    case BOOL:
        if (p->value)
            put(to, f->name, json_true());
        return true;
    case SWITCH:
        put(to, f->name, json_boolean(p->value));
        return true;
    case TIME:
        return put_time(to, f->name, w);
    case TEXTS:
    case QUANTITIES:
        return put_entry(to, f->name, w, f->kind == QUANTITIES);
    case INLINE:
        return fill(r, to, f->of, w);
    case OBJECT:
    case OBJECTS:
        return put_message(r, to, f, w);
    case NOTHING:
        break;
    }
    return true;
}

static void put_unknown(json_t *to, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "field-%" PRIu32, number);
    put(to, name, json_true());
}

/* Decodes a message into `to`. After an invalid field, continues with the next one. */
static bool fill(struct reading *r, json_t *to, const struct kube_protobuf_message *m,
                 struct wire w)
{
    struct piece p;
    bool good = true;
    if (r->depth == MAX_DEPTH)
        return false;
    r->depth++;
    /* Fields are usually in the order of their numbers, so search on from the last one. */
    const struct field *at = m->fields;
    while (next_piece(&w, &p)) {
        if (at->number == 0 || at->number > p.number)
            at = m->fields;
        while (at->number && at->number < p.number)
            at++;
        if (at->number == p.number)
            good = put_field(r, to, at, &p) && good;
        else if (m->strict)
            put_unknown(to, p.number);
    }
    r->depth--;
    return good && !w.bad;
}

/* Decodes what can be read. err is set if this is not everything. */
static json_t *part_of(const struct kube_protobuf_message *m, struct piece raw, struct err *err)
{
    json_t *tree = json_object();
    struct reading r = {0};
    *err = (struct err){.code = ERR_NONE};
    if (!fill(&r, tree, m, wire_of(raw.data, raw.len)))
        err_set(err, ERR_INVALID, "a field is not valid Kubernetes protobuf");
    else if (r.too_many)
        err_set(err, ERR_INVALID,
                "its lists and maps have more than %d items; remove those that are not needed",
                KUBE_PROTOBUF_ITEMS);
    return tree;
}

static json_t *tree_of(const struct kube_protobuf_message *m, struct piece raw, struct err *err)
{
    json_t *tree = part_of(m, raw, err);
    if (err->code == ERR_NONE)
        return tree;
    json_decref(tree);
    return NULL;
}

/* ---- envelopes ---- */

static const char magic[4] = {'k', '8', 's', 0};

bool kube_protobuf_is(const char *data, size_t len)
{
    return len >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* Reads the magic and the runtime.Unknown that follows it: its content and the content's kind. */
static bool open_envelope(const char *data, size_t len, struct piece *raw, struct piece *kind)
{
    struct piece p, q;
    *raw = *kind = (struct piece){.data = "", .len = 0};
    if (!kube_protobuf_is(data, len))
        return false;
    struct wire w = wire_of(data + sizeof magic, len - sizeof magic);
    while (next_piece(&w, &p)) {
        if (p.number == 2 && p.data)
            *raw = p;
        struct wire type = p.number == 1 && p.data ? wire_of(p.data, p.len) : wire_of("", 0);
        while (next_piece(&type, &q))
            if (q.number == 2 && q.data)
                *kind = q;
    }
    return !w.bad;
}

static bool is_status(const struct piece *kind)
{
    return kind->len == strlen("Status") && memcmp(kind->data, "Status", kind->len) == 0;
}

json_t *kube_protobuf_object(const struct kube_protobuf_message *message, const char *data,
                             size_t len, struct err *err)
{
    struct piece raw, kind;
    if (!open_envelope(data, len, &raw, &kind)) {
        err_set(err, ERR_INVALID, "the object is not valid Kubernetes protobuf");
        return NULL;
    }
    return part_of(is_status(&kind) ? &status : message, raw, err);
}

char *kube_protobuf_status_text(const char *data, size_t len)
{
    struct piece raw, kind;
    struct err err;
    if (!open_envelope(data, len, &raw, &kind) || !is_status(&kind))
        return NULL;
    cleanup_json json_t *tree = tree_of(&status, raw, &err);
    return tree ? json_dumps(tree, JSON_COMPACT) : NULL;
}

/* ---- lists ---- */

json_t *kube_protobuf_list_begin(struct kube_protobuf_list *list, const char *data, size_t len,
                                 struct err *err)
{
    struct piece raw, kind, p;
    if (!open_envelope(data, len, &raw, &kind)) {
        err_set(err, ERR_INVALID, "the list is not valid Kubernetes protobuf");
        return NULL;
    }
    *list = (struct kube_protobuf_list){raw.data, raw.data + raw.len};
    struct wire w = wire_of(raw.data, raw.len);
    while (next_piece(&w, &p))
        if (p.number == 1 && p.data)
            return tree_of(&list_meta, p, err);
    err_set(err, ERR_INVALID, "the reply is not a list with a resourceVersion");
    return NULL;
}

json_t *kube_protobuf_list_next(struct kube_protobuf_list *list,
                                const struct kube_protobuf_message *item, struct err *err)
{
    struct wire w = wire_of(list->at, (size_t)(list->end - list->at));
    struct piece p;
    json_t *tree = NULL;
    *err = (struct err){.code = ERR_NONE};
    while (!tree && next_piece(&w, &p))
        if (p.number == 2 && p.data)
            tree = part_of(item, p, err);
    list->at = w.p;
    if (w.bad)
        err_set(err, ERR_INVALID, "the list is truncated or not valid Kubernetes protobuf");
    return tree;
}

/* ---- watches ---- */

/* The object in an event's RawExtension; NULL: there is none. */
static json_t *event_object(const struct kube_protobuf_message *item, struct piece extension,
                            struct err *err)
{
    struct wire w = wire_of(extension.data, extension.len);
    struct piece p;
    json_t *object = NULL;
    while (!object && next_piece(&w, &p))
        if (p.number == 1 && p.data)
            object = kube_protobuf_object(item, p.data, p.len, err);
    return object;
}

json_t *kube_protobuf_event(const struct kube_protobuf_message *item, const char *data, size_t len,
                            struct err *err)
{
    struct wire w = wire_of(data, len);
    struct piece p;
    json_t *event = json_object(), *object = NULL;
    while (next_piece(&w, &p)) {
        if (p.number == 1 && p.data)
            put(event, "type", text_value(p.data, p.len));
        if (p.number == 2 && p.data && !object && (object = event_object(item, p, err)))
            put(event, "object", object);
    }
    if (!w.bad && object)
        return event;
    json_decref(event);
    err_set(err, ERR_INVALID, "the watch sent a frame that is not an event");
    return NULL;
}
