/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, and namespaces that name one. */
#include "k8s/decode/decode.h"
#include "k8s/decode/decode_internal.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/dialect/queue_dialect.h"

static struct gang_queue_facts *new_queue(const struct queue_dialect *dialect,
                                          const struct decoded_metadata *meta)
{
    struct gang_queue_facts *f = gang_queue_facts_new();
    f->ref.api_group = xstrdup(dialect->api_group);
    f->ref.ns = xstrdup(queue_dialect_ref_ns(dialect, meta->ns));
    f->ref.name = xstrdup(meta->name);
    f->of_namespace = dialect->namespaced ? xstrdup(meta->ns) : NULL;
    f->fallback = str_eq(dialect->fallback, meta->name);
    f->uid = xstrdup(meta->uid ? meta->uid : "");
    f->created = meta->created;
    f->firm_priority = dialect->firm_priority;
    return f;
}

/* What was read of an invalid queue's limits would mislead: only its place and its state stay. */
static struct gang_queue_facts *invalid_queue(const struct queue_dialect *dialect,
                                              const struct decoded_metadata *meta,
                                              struct gang_queue_facts *read, const char *why)
{
    struct gang_queue_facts *f = new_queue(dialect, meta);
    free(f->of_namespace);
    f->of_namespace = STEAL(read->of_namespace);
    f->more_namespaces = STEAL(read->more_namespaces);
    f->n_more_namespaces = read->n_more_namespaces;
    read->n_more_namespaces = 0;
    f->parent = STEAL(read->parent);
    f->parent_field = read->parent_field;
    f->closed = read->closed;
    f->closing = read->closing;
    f->invalid = xstrdup(why);
    gang_queue_facts_free(read);
    return f;
}

struct gang_queue_facts *decode_queue(const struct queue_dialect *dialect, const json_t *object,
                                      struct err *err)
{
    struct decoded_metadata meta;
    struct err problem;
    if (decode_metadata(object, dialect->kind, &meta, err) < 0)
        return NULL;
    struct gang_queue_facts *f = new_queue(dialect, &meta);
    if (dialect->decode(object, f, &problem) == 0)
        return f;
    return invalid_queue(dialect, &meta, f, problem.text);
}

struct gang_queue_facts *decode_queue_part(const struct queue_dialect *dialect,
                                           const json_t *object, const struct err *why,
                                           struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(object, dialect->kind, &meta, err) < 0)
        return NULL;
    struct gang_queue_facts *f = new_queue(dialect, &meta);
    if (dialect->unique_names && !str_eq(f->of_namespace, f->ref.name))
        free(STEAL(f->of_namespace)); /* as for an object that can be read */
    f->invalid = xasprintf("it cannot be read: %s", why->text);
    return f;
}

struct gang_namespace_facts *decode_namespace(const struct queue_dialect *dialect,
                                              const json_t *object, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(object, "namespace", &meta, err) < 0)
        return NULL;
    const char *queue = dialect_annotation(object, dialect->namespace_annotation);
    struct gang_namespace_facts *f = gang_namespace_facts_new();
    f->name = xstrdup(meta.name);
    f->queue = queue ? dialect_queue_name(queue) : NULL;
    f->api_group = f->queue ? xstrdup(dialect->api_group) : NULL;
    return f;
}
