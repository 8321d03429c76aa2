/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling.run.ai/v2 Queue. Source: KAI's queue_types.go and docs/queues.
 *
 * A queue states quota (deserved), limit (cap) and overQuotaWeight of three resources: cpu in
 * millicores, memory in units of 10^6 bytes, and gpu, which counts all devices named VENDOR/gpu.
 * They are numbers, possibly with a fraction; -1 means unlimited. Unset means 0, also for the
 * limit: nothing is allowed then.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "k8s/dialect/queue_common.h"
#include "k8s/encoding/kube_field.h"

#define DEFAULT_PRIORITY 100
/* The largest quota, limit or weight: a cluster of 10^9 cores or 10^18 bytes. */
#define LARGEST INT64_C(1000000000000)
/* muster writes fewer names than would make the object too large for etcd. */
#define MAX_CHILDREN 1000

static const struct kai_resource {
    const char *key, *resource;
    int64_t unit; /* of the model, for one of KAI's */
} resources[] = {{"cpu", "cpu", 1}, {"memory", "memory", 1000000}, {"gpu", GANG_ANY_GPU, 1}};

/* ---- decoding ---- */

/*
 * The number (not -0) times unit, rounded down. A fraction is taken as the decimal number that was
 * written (15 digits), not as the binary number next to it: 0.29 times 1,000,000 is 290,000.
 */
static int64_t scale_down(double number, int64_t unit)
{
    char text[32];
    snprintf(text, sizeof text, "%.14e", number); /* "2.90000000000000e-01" */
    __int128 digits = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        digits = *p == '.' ? digits : digits * 10 + (*p - '0');
    digits *= unit;
    long exponent = strtol(p + 1, NULL, 10) - 14; /* negative, as number is at most LARGEST */
    for (; exponent < 0 && digits > 0; exponent++)
        digits /= 10;
    return (int64_t)digits;
}

/* Reads 0 to LARGEST, times unit; absent leaves *ret. -1 becomes GANG_UNLIMITED if `unlimited`,
 * which ends the error's sentence, is given. */
static int read_number(const json_t *object, const char *key, int64_t unit, const char *unlimited,
                       int64_t *ret, struct err *err)
{
    const json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_number(v))
        return json_value_mismatch(v, key, "a number", err);
    double number = json_number_value(v);
    if (number == -1 && unlimited) {
        *ret = GANG_UNLIMITED;
        return 0;
    }
    if (!isfinite(number) || number < 0 || number > (double)LARGEST)
        return err_set(err, ERR_INVALID, "%s is %.15g, must be between 0 and %" PRId64 "%s", key,
                       number, LARGEST, unlimited ? unlimited : "");
    *ret = json_is_integer(v) ? json_integer_value(v) * unit : scale_down(fabs(number), unit);
    return 0;
}

static int read_resource(const json_t *all, const struct kai_resource *r,
                         struct gang_queue_facts *facts, struct err *err)
{
    const json_t *object = NULL;
    struct gang_quota *q = gang_quota_add(facts, r->resource);
    q->deserved = q->cap = q->weight = 0;
    if (field_object(all, r->key, &object, err) < 0)
        return -1;
    if (read_number(object, "quota", r->unit, ", or -1 for all that the cluster has", &q->deserved,
                    err) < 0 ||
        read_number(object, "limit", r->unit, ", or -1 for no limit", &q->cap, err) < 0 ||
        read_number(object, "overQuotaWeight", 1000, /* unlimited= */ NULL, &q->weight, err) < 0)
        return err_at(err, "%s", r->key);
    q->cap_unset = !field_is_set(object, "limit");
    if (q->weight > facts->weight)
        facts->weight = q->weight;
    return 0;
}

static int kai_decode(const json_t *object, struct gang_queue_facts *facts, struct err *err)
{
    const json_t *spec, *all = NULL;
    const char *parent = NULL;
    int64_t priority = DEFAULT_PRIORITY;
    facts->parent_field = "spec.parentQueue";
    if (dialect_spec(object, &spec, err) < 0)
        return -1;
    if (field_string(spec, "parentQueue", &parent, err) < 0)
        return err_at(err, "spec");
    queue_parent(&queue_kai, parent, facts);
    if (field_int(spec, "priority", INT32_MIN + DEFAULT_PRIORITY, INT32_MAX, &priority, err) < 0 ||
        field_object(spec, "resources", &all, err) < 0)
        return err_at(err, "spec");
    facts->priority = (int32_t)(priority - DEFAULT_PRIORITY);
    facts->weight = 0; /* its largest, where the queue as a whole counts */
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
        if (read_resource(all, &resources[i], facts, err) < 0)
            return err_at(err, "spec.resources");
    if (dialect_spec_duration(spec, "preemptMinRuntime", &facts->preempt_min_runtime, err) < 0)
        return -1;
    return dialect_spec_duration(spec, "reclaimMinRuntime", &facts->reclaim_min_runtime, err);
}

/* ---- the status ---- */

static void draft_children(struct status_draft *d, const struct gang_queue_status *s)
{
    json_t *names = json_array();
    for (size_t i = 0; i < s->n_children && i < MAX_CHILDREN; i++)
        json_array_append_new(names, json_string(s->children[i]));
    const json_t *old = json_object_get(d->old, "childQueues");
    if (!json_equal(old, names) && (old || s->n_children > 0))
        json_object_set(d->patch, "childQueues", names);
    json_decref(names);
}

static void draft_when(struct status_draft *d, const char *type, const char *reason,
                       const char *message, const char *otherwise)
{
    if (message)
        draft_condition(d, type, true, reason, message);
    else
        draft_condition_clear(d, type, otherwise);
}

/* The first resource of which it uses more than this, as a sentence; NULL: none. */
static char *over(const struct gang_queue_status *s, size_t member, const char *name)
{
    const struct gang_queue_amount *a = queue_over(s, member);
    if (!a)
        return NULL;
    cleanup_free char *used = queue_quantity(a->resource, a->used);
    cleanup_free char *most = queue_quantity(a->resource, queue_amount(a, member));
    return xasprintf("%s: %s used, %s is %s", a->resource, used, name, most);
}

/* The resources without a limit, as a sentence; NULL: all have one. KAI's documentation calls -1
 * the default, so people leave the limit out and wait. */
static char *missing_limits(const json_t *object)
{
    struct buf b = BUF_INIT;
    const json_t *all = json_object_get(json_object_get(object, "spec"), "resources");
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        if (!field_is_set(json_object_get(all, resources[i].key), "limit"))
            buf_printf(&b, "%sspec.resources.%s.limit",
                       b.len ? ", " : "a limit that is not set allows nothing: ", resources[i].key);
    }
    if (!b.len)
        return NULL;
    buf_puts(&b, "; set each of them, or write -1 for no limit");
    return buf_steal(&b);
}

static json_t *kai_status(const struct gang_queue_status *s, const struct queue_view *view)
{
    struct status_draft d =
        draft_begin(&(struct dialect_view){.group = view->object, .wall = view->wall});
    bool invalid = s->reason == REASON_QUEUE_INVALID;
    cleanup_free char *over_quota = over(s, AMOUNT(deserved), "quota"),
                      *over_limit = over(s, AMOUNT(cap), "limit"),
                      *missing = missing_limits(view->object);
    queue_draft_amounts(&d, "allocated", s, AMOUNT(used));
    queue_draft_amounts(&d, "allocatedNonPreemptible", s, AMOUNT(firm));
    queue_draft_amounts(&d, "requested", s, AMOUNT(requested));
    draft_children(&d, s);
    /* Source of the first two types: KAI's queue conditions. */
    draft_when(&d, "Orphan", "ParentNotFound", view->orphan ? s->text : NULL, "ParentFound");
    draft_when(&d, "OverQuota", "OverQuota", over_quota, "WithinQuota");
    draft_when(&d, "OverLimit", "OverLimit", over_limit, "WithinLimit");
    draft_when(&d, "Invalid", gang_reason_name(REASON_QUEUE_INVALID), invalid ? s->text : NULL,
               "Valid");
    if (!invalid) /* the limits may not have been read */
        draft_when(&d, "LimitNotSet", "LimitNotSet", missing, "LimitSet");
    return draft_end(&d);
}

const struct queue_dialect queue_kai = {
    .name = "kai",
    .api_group = "scheduling.run.ai",
    .versions = (const char *const[]){"v2", NULL},
    .plural = "queues",
    .kind = "Queue",
    .fallback = "default-queue",
    .has_conditions = true,
    .links = (const struct dialect_key[]){{KEY_LABEL, "kai.scheduler/queue"},
                                          {KEY_LABEL, "runai/queue"},
                                          {KEY_END, NULL}},
    .preemptible_label = "kai.scheduler/preemptibility",
    /* KAI plans semi-preemptible: only what exceeds the minimum can be preempted. Here members are
     * preempted with their gang, so it counts as preemptible. */
    .preemptible_words = (const struct queue_word[]){{"preemptible", PREEMPTIBLE_YES},
                                                     {"semi-preemptible", PREEMPTIBLE_YES},
                                                     {"non-preemptible", PREEMPTIBLE_NO},
                                                     {NULL, PREEMPTIBLE_BY_PRIORITY}},
    .firm_priority = 100, /* source: KAI's constants.go */
    .decode = kai_decode,
    .status = kai_status,
};
