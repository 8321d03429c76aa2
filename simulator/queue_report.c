/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/queue_report.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/map.h"

/* ---- text ---- */

struct queue_table {
    const struct share_history *shares;
    int width, n;
};

/* The name, with an indent for its depth in the tree. */
static void put_name(struct buf *b, const struct gang_queue_view *v)
{
    const struct gang_ref *ref = v->status.ref;
    buf_printf(b, "%*s%s%s%s", 2 * v->depth, "", ref->ns, *ref->ns ? "/" : "", ref->name);
}

static void measure(void *arg, const struct gang_queue_view *v)
{
    struct queue_table *t = arg;
    cleanup_buf struct buf name = BUF_INIT;
    put_name(&name, v);
    if ((int)name.len > t->width)
        t->width = (int)name.len;
    t->n++;
}

static void print_row(void *arg, const struct gang_queue_view *v)
{
    const struct queue_table *t = arg;
    const struct gang_queue_status *s = &v->status;
    cleanup_buf struct buf name = BUF_INIT;
    put_name(&name, v);
    printf("%-*s  %7d  %7d  %5d  %8.1f %%  %s\n", t->width, buf_str(&name), s->waiting, s->running,
           s->done, 100 * share_history_mean(t->shares, s->ref), s->text);
}

void queue_report_text(const struct gang_core *core, const struct share_history *shares)
{
    struct queue_table t = {.shares = shares, .width = 5};
    gang_core_queues(core, 0, SIZE_MAX, measure, &t);
    if (!t.n)
        return;
    printf("\n%-*s  %7s  %7s  %5s  %10s  %s\n", t.width, "QUEUE", "WAITING", "RUNNING", "DONE",
           "MEAN SHARE", "WHY");
    gang_core_queues(core, 0, SIZE_MAX, print_row, &t);
}

/* ---- JSON ---- */

struct queue_list {
    const struct share_history *shares;
    struct map objects; /* key of the ref -> object */
    json_t *json;
};

/* Also without the namespace: for some APIs the name alone identifies the queue. */
static void index_object(void *arg, const json_t *object)
{
    struct queue_list *l = arg;
    cleanup_free char *group = manifest_group(object);
    const char *namespaces[] = {manifest_ns(object), ""};
    for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
        cleanup_free char *key = gang_key(group, namespaces[i], manifest_name(object));
        if (!map_get(&l->objects, key))
            map_set(&l->objects, key, (void *)(uintptr_t)object);
    }
}

static void add_queue(void *arg, const struct gang_queue_view *v)
{
    struct queue_list *l = arg;
    const struct gang_queue_status *s = &v->status;
    cleanup_free char *key = gang_ref_key(s->ref);
    json_t *status = json_object_get(map_get(&l->objects, key), "status");
    json_array_append_new(
        l->json, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:f, s:O*}", "apiGroup",
                           s->ref->api_group, "namespace", s->ref->ns, "name", s->ref->name,
                           "parent", v->parent ? v->parent->name : "", "text", s->text, "waiting",
                           s->waiting, "running", s->running, "done", s->done, "meanShare",
                           share_history_mean(l->shares, s->ref), "status", status));
}

json_t *queue_report_json(const struct gang_core *core, const struct share_history *shares,
                          const struct cluster *cluster)
{
    struct queue_list l = {.shares = shares, .json = json_array()};
    builtin_cluster_each(cluster, KIND_QUEUE, index_object, &l);
    builtin_cluster_each(cluster, KIND_ELASTIC_QUOTA, index_object, &l);
    gang_core_queues(core, 0, SIZE_MAX, add_queue, &l);
    map_done(&l.objects);
    return l.json;
}
