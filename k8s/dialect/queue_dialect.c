/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/dialect/queue_dialect.h"

#include "k8s/dialect/dialect_common.h"
#include "k8s/dialect/queue_common.h"

const struct queue_dialect *const queue_dialects[] = {
    &queue_kai, &queue_volcano, &queue_koordinator, &queue_xk8s, NULL,
};

const struct queue_dialect *queue_dialect_by_group(const char *api_group)
{
    for (const struct queue_dialect *const *d = queue_dialects; *d; d++)
        if (str_eq((*d)->api_group, api_group))
            return *d;
    return NULL;
}

static bool belongs_to(const struct queue_dialect *d, const struct dialect *linked)
{
    return str_eq(d->api_group, linked->api_group) ||
           (d->family && str_eq(d->family, linked->family));
}

static const char *name_in(const struct queue_dialect *d, const json_t *pod)
{
    const char *name = NULL;
    for (const struct dialect_key *k = d->links; !name && k->kind != KEY_END; k++)
        name = dialect_value(pod, k);
    return name;
}

const struct queue_dialect *queue_dialect_of_pod(const json_t *pod, const struct dialect *linked,
                                                 const char **ret_name)
{
    const struct queue_dialect *found = NULL;
    for (const struct queue_dialect *const *d = queue_dialects; *d; d++) {
        const char *name = name_in(*d, pod);
        bool preferred = name && linked && belongs_to(*d, linked);
        if (name && (!found || preferred)) {
            found = *d;
            *ret_name = name;
        }
        if (preferred)
            break;
    }
    return found;
}

enum gang_preemptible queue_dialect_preemptible(const json_t *pod)
{
    enum gang_preemptible is = PREEMPTIBLE_BY_PRIORITY;
    for (const struct queue_dialect *const *d = queue_dialects; *d; d++) {
        const char *text =
            (*d)->preemptible_label ? dialect_label(pod, (*d)->preemptible_label) : NULL;
        for (const struct queue_word *w = (*d)->preemptible_words; text && w->text; w++)
            if (strcmp(w->text, text) == 0 && w->means > is)
                is = w->means;
    }
    return is;
}

char *queue_dialect_over_limit(const struct gang_queue_status *status)
{
    const struct gang_queue_amount *a = queue_over(status, AMOUNT(cap));
    if (!a)
        return NULL;
    cleanup_free char *limit = queue_quantity(a->resource, a->cap);
    return xasprintf("queue %s: it uses more %s than its limit of %s; its pods stay, and new ones "
                     "wait",
                     status->ref->name, a->resource, limit);
}
