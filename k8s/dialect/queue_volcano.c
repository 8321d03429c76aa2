/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.volcano.sh/v1beta1 Queue. Source: Volcano's scheduling/v1beta1/types.go.
 *
 * capability is the cap, deserved is deserved, guarantee.resource is reserved. Volcano creates a
 * queue "root" for the cluster and writes it as the parent of queues that name none.
 *
 * The status has no conditions. Its counts are PodGroups by phase: Pending waits, Inqueue is
 * planned. Unknown is always 0, because a gang that runs in part counts as running or waiting.
 */
#include "k8s/dialect/queue_common.h"
#include "k8s/encoding/kube_field.h"

static int volcano_order(const json_t *spec, struct gang_queue_facts *facts, struct err *err)
{
    const char *strategy = "traverse";
    int64_t weight = 1, priority = 0;
    char q[FIELD_QUOTED];
    if (field_int(spec, "weight", 1, 65535, &weight, err) < 0 ||
        field_int(spec, "priority", 0, INT32_MAX, &priority, err) < 0 ||
        field_bool(spec, "reclaimable", &facts->reclaimable, err) < 0 ||
        field_string(spec, "dequeueStrategy", &strategy, err) < 0)
        return err_at(err, "spec");
    facts->weight = weight * 1000;
    facts->priority = (int32_t)priority;
    facts->fifo = str_eq(strategy, "fifo");
    if (!facts->fifo && *strategy && !str_eq(strategy, "traverse"))
        return err_set(err, ERR_INVALID, "spec.dequeueStrategy is %s, must be traverse or fifo",
                       field_quote(strategy, q));
    return 0;
}

/* As in Volcano's plugin `capacity`: a queue deserves at least what is reserved for it, and a
 * capability of 0 cpu or memory is no limit. */
static void complete_quotas(struct gang_queue_facts *facts)
{
    for (size_t i = 0; i < facts->n_quotas; i++) {
        struct gang_quota *q = &facts->quotas[i];
        if (q->reserved > 0 && q->reserved > q->deserved) {
            q->implied = q->reserved - (q->deserved == GANG_NOT_STATED ? 0 : q->deserved);
            q->deserved = q->reserved;
        }
        if (q->cap == 0 && (str_eq(q->resource, "cpu") || str_eq(q->resource, "memory")))
            q->cap = GANG_UNLIMITED;
    }
}

static int volcano_decode(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    const json_t *spec;
    const char *parent = NULL;
    const char *state = field_peek(object, "status", "state", NULL);
    facts->parent_field = "spec.parent";
    facts->closed = state && *state && !str_eq(state, "Open");
    facts->closing = state && str_eq(state, "Closing");
    if (dialect_spec(object, &spec, err) < 0)
        return -1;
    if (field_string(spec, "parent", &parent, err) < 0)
        return err_at(err, "spec");
    queue_parent(&queue_volcano, parent, facts);
    if (volcano_order(spec, facts, err) < 0 ||
        queue_quantities(spec, "capability", QUOTA(cap), facts, err) < 0 ||
        queue_quantities(spec, "deserved", QUOTA(deserved), facts, err) < 0 ||
        queue_quantities(spec, "guarantee.resource", QUOTA(reserved), facts, err) < 0)
        return -1;
    complete_quotas(facts);
    return 0;
}

/* People open and close a queue by its state; muster only completes what they began. As in Volcano,
 * a queue is Closed when all its gangs have ended, those that wait included. */
static void draft_state(struct status_draft *d, const struct gang_queue_status *s)
{
    const char *state = field_peek(d->old, "state", NULL);
    if (!state || !*state)
        draft_string(d, "state", "Open");
    else if (str_eq(state, "Closing") && s->running == 0 && s->planned == 0 && s->waiting == 0)
        draft_string(d, "state", "Closed");
}

static json_t *volcano_status(const struct gang_queue_status *s, const struct queue_view *view)
{
    struct status_draft d =
        draft_begin(&(struct dialect_view){.group = view->object, .wall = view->wall});
    draft_state(&d, s);
    queue_draft_amounts(&d, "allocated", s, AMOUNT(used));
    if (!json_object_get(d.old, "allocated") && !json_object_get(d.patch, "allocated"))
        json_object_set_new(d.patch, "allocated", json_object()); /* the schema requires it */
    draft_count(&d, "pending", s->waiting);
    draft_count(&d, "inqueue", s->planned);
    draft_count(&d, "running", s->running);
    draft_count(&d, "completed", s->done);
    draft_count(&d, "unknown", 0);
    return draft_end(&d);
}

const struct queue_dialect queue_volcano = {
    .name = "volcano",
    .api_group = "scheduling.volcano.sh",
    .versions = (const char *const[]){"v1beta1", NULL},
    .plural = "queues",
    .kind = "Queue",
    .root = "root",
    .fallback = "default",
    .links = (const struct dialect_key[]){{KEY_ANNOTATION, "scheduling.volcano.sh/queue-name"},
                                          {KEY_END, NULL}},
    .namespace_annotation = "scheduling.volcano.sh/queue-name",
    .decode = volcano_decode,
    .status = volcano_status,
};
