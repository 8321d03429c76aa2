/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/dialect/queue_common.h"

#include "base/buf.h"
#include "base/quantity.h"
#include "gang/bounds.h"
#include "k8s/encoding/kube_field.h"

/* Of a qualified name in Kubernetes: PREFIX/NAME. */
#define LONGEST_RESOURCE (253 + 1 + 63)

/* ---- decoding ---- */

int queue_check_bound(enum gang_bound bound, size_t n, struct err *err)
{
    if (n <= gang_bounds[bound].most)
        return 0;
    cleanup_free char *text = gang_bound_exceeded(bound, n);
    return err_set(err, ERR_INVALID, "%s", text);
}

/* Messages and tables show the names, and a CRD allows any text as the key of a map. */
static int check_resource(const char *path, const char *name, struct err *err)
{
    static const char allowed[] =
        "-./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    char q[FIELD_QUOTED];
    size_t n = strspn(name, allowed);
    if (n > 0 && n <= LONGEST_RESOURCE && !name[n])
        return 0;
    return err_set(err, ERR_INVALID, "spec.%s: %s is not the name of a resource", path,
                   field_quote(name, q));
}

static int64_t *member_of(struct gang_quota *quota, size_t member)
{
    return (int64_t *)(void *)((char *)quota + member);
}

int queue_quantities(const json_t *spec, const char *path, size_t member,
                     struct gang_queue_facts *facts, struct err *err)
{
    const json_t *map = NULL;
    struct gang_amounts amounts = {NULL, 0};
    if (field_whole_object(spec, path, &map, err) < 0)
        return err_at(err, "spec");
    if (queue_check_bound(OVER_QUEUE_RESOURCES, json_object_size(map), err) < 0)
        return -1;
    int r = field_amounts(spec, path, &amounts, err);
    if (r < 0)
        err_at(err, "spec");
    for (size_t i = 0; r == 0 && i < amounts.n; i++) {
        const struct gang_amount *a = &amounts.items[i];
        if ((r = check_resource(path, a->resource, err)) < 0)
            break;
        *member_of(gang_quota_add(facts, a->resource), member) = a->amount;
        if (member != QUOTA(cap) && a->amount == GANG_UNLIMITED)
            r = err_set(err, ERR_INVALID, "spec.%s: %.200s is too large; lower it", path,
                        a->resource);
    }
    gang_amounts_done(&amounts);
    return r < 0 ? -1 : queue_check_bound(OVER_QUEUE_RESOURCES, facts->n_quotas, err);
}

void queue_parent(const struct queue_dialect *dialect, const char *name,
                  struct gang_queue_facts *facts)
{
    if (name && *name && !queue_dialect_is_root(dialect, name))
        facts->parent = dialect_queue_name(name);
}

/* ---- statuses ---- */

char *queue_quantity(const char *resource, int64_t amount)
{
    struct buf b = BUF_INIT;
    quantity_format(&b, resource, amount);
    return buf_steal(&b);
}

int64_t queue_amount(const struct gang_queue_amount *a, size_t member)
{
    return *(const int64_t *)(const void *)((const char *)a + member);
}

const struct gang_queue_amount *queue_over(const struct gang_queue_status *status, size_t member)
{
    for (size_t i = 0; i < status->n_amounts; i++) {
        const struct gang_queue_amount *a = &status->amounts[i];
        if (queue_amount(a, member) != GANG_NOT_STATED && a->used > queue_amount(a, member))
            return a;
    }
    return NULL;
}

static bool lists_gpus(const struct gang_queue_status *status)
{
    for (size_t i = 0; i < status->n_amounts; i++)
        if (gang_is_any_gpu(status->amounts[i].resource))
            return true;
    return false;
}

/* The name under which an amount is written; NULL: it is left out. */
static const char *name_of(const struct gang_queue_amount *a, bool gpus)
{
    if (!str_eq(a->resource, GANG_ANY_GPU))
        return a->resource;
    return gpus ? NULL : "nvidia.com/gpu";
}

static bool same_quantity(const json_t *old, const char *resource, int64_t amount)
{
    struct err err;
    int64_t n;
    const json_t *v = json_object_get(old, resource);
    return v && json_value_amount(v, resource, &n, &err) == 0 && n == amount;
}

void queue_draft_amounts(struct status_draft *d, const char *key,
                         const struct gang_queue_status *status, size_t member)
{
    const json_t *old = json_object_get(d->old, key);
    json_t *patch = json_object();
    const char *name;
    json_t *value;
    bool gpus = lists_gpus(status);
    json_object_foreach((json_t *)(uintptr_t)old, name, value)
    {
        if (!json_is_null(value))
            json_object_set_new(patch, name, json_null()); /* removes it, unless it is listed */
    }
    for (size_t i = 0; i < status->n_amounts; i++) {
        const struct gang_queue_amount *a = &status->amounts[i];
        int64_t amount = queue_amount(a, member);
        if (!(name = name_of(a, gpus)))
            continue;
        cleanup_free char *text = queue_quantity(name, amount);
        if (same_quantity(old, name, amount))
            json_object_del(patch, name);
        else
            json_object_set_new(patch, name, json_string(text));
    }
    if (json_object_size(patch) > 0)
        json_object_set(d->patch, key, patch);
    json_decref(patch);
}
