/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a check of manifests, as JSON.
 */
#include "server/http/json_put.h"
#include "server/views/api_json.h"

struct answer {
    const struct manifest_gangs *m;
    struct buf *out;
    bool fits; /* all gangs */
};

static void put_name(struct buf *out, const struct gang_ref *ref)
{
    json_put_text(out, "namespace", ref->ns);
    json_put_text(out, "name", ref->name);
    json_put_text(out, "apiGroup", ref->api_group);
}

static void put_source(struct buf *out, const struct manifest_source *source)
{
    if (!source)
        return;
    json_put_key(out, "workload");
    buf_putc(out, '{');
    json_put_text(out, "kind", source->kind);
    json_put_text(out, "name", source->name);
    json_put_flag(out, "singlePods", source->single);
    buf_putc(out, '}');
}

static void put_fits(struct buf *out, enum gang_answer fits)
{
    if (fits != GANG_NOT_ASKED) {
        json_put_flag(out, "fits", fits == GANG_YES);
        return;
    }
    json_put_key(out, "fits");
    buf_puts(out, "null");
}

static void put_nodes(struct buf *out, const struct gang_dry_run *run)
{
    json_put_key(out, "nodes");
    buf_putc(out, '[');
    for (size_t i = 0; i < run->n_nodes; i++) {
        json_put_object(out);
        json_put_text(out, "name", run->nodes[i].name);
        json_put_number(out, "members", run->nodes[i].members);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_queue(struct buf *out, const struct gang_dry_run *run)
{
    if (!run->queue)
        return;
    json_put_key(out, "queue");
    buf_putc(out, '{');
    put_name(out, run->queue);
    buf_putc(out, '}');
}

static void put_limit(struct buf *out, const struct gang_dry_limit *limit)
{
    if (!limit->queue)
        return;
    json_put_key(out, "limit");
    buf_putc(out, '{');
    json_put_text(out, "queue", limit->queue->name);
    json_put_text(out, "resource", limit->resource);
    json_put_number(out, "limit", limit->limit);
    json_put_number(out, "used", limit->used);
    json_put_number(out, "needed", limit->needed);
    buf_putc(out, '}');
}

/* Its place among the gangs that wait; of all, or of its queue. */
static void put_order(struct buf *out, const struct gang_explained *why)
{
    json_put_number(out, "position", why->queue_position);
    api_json_ahead(out, why);
    api_json_more_nodes(out, why);
}

/* Changes with which it would fit. */
static void put_changes(struct buf *out, const struct gang_dry_run *run)
{
    json_put_number(out, "smallerMinimum", run->smaller);
    json_put_key(out, "otherQueues");
    buf_putc(out, '[');
    for (size_t i = 0; i < run->n_queues; i++) {
        const char *name = run->queues[i]->name;
        json_put_comma(out);
        buf_json(out, name, strlen(name));
    }
    buf_putc(out, ']');
    json_put_key(out, "after");
    buf_putc(out, '[');
    for (size_t i = 0; i < run->n_after; i++) {
        const struct gang_dry_holder *h = &run->after[i];
        json_put_object(out);
        json_put_text(out, "kind", h->gang ? "gang" : "pod");
        json_put_text(out, "namespace", h->gang ? h->gang->ns : h->pod->ns);
        json_put_text(out, "name", h->gang ? h->gang->name : h->pod->name);
        json_put_flag(out, "planned", h->planned);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_gang(void *arg, const struct gang_dry_run *run)
{
    struct answer *a = arg;
    struct buf *out = a->out;
    a->fits = a->fits && run->fits == GANG_YES;
    json_put_object(out);
    put_name(out, run->ref);
    put_source(out, manifest_source_of(a->m, run->ref));
    put_fits(out, run->fits);
    json_put_key(out, "reason");
    buf_putc(out, '{');
    json_put_text(out, "code", gang_reason_name(run->reason));
    json_put_text(out, "text", run->text);
    buf_putc(out, '}');
    json_put_text(out, "hint", run->help);
    json_put_number(out, "needed", run->needed);
    json_put_number(out, "members", run->members);
    json_put_number(out, "placed", run->placed);
    put_nodes(out, run);
    put_queue(out, run);
    put_limit(out, &run->limit);
    put_changes(out, run);
    if (run->why)
        put_order(out, run->why);
    if (run->eviction)
        api_json_eviction(out, run->eviction, NULL);
    buf_putc(out, '}');
}

static void put_texts(struct buf *out, const char *key, char *const *texts, size_t n)
{
    json_put_key(out, key);
    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        json_put_comma(out);
        buf_json(out, texts[i], strlen(texts[i]));
    }
    buf_putc(out, ']');
}

/* Gives pods the priority of their class, as admission does. */
static void set_priorities(const struct gang_core *core, struct manifest_gangs *m)
{
    const char *missing = NULL;
    int32_t ignored;
    /* If muster may read the classes, it knows those that every cluster has. */
    bool all = gang_core_priority_class(core, "system-node-critical", &ignored);
    for (size_t i = 0; i < m->n; i++) {
        const char *class = m->classes[i];
        struct gang_pod_facts *f = class ? m->events[i].pod : NULL;
        if (!f || gang_core_priority_class(core, class, &f->priority) || !all ||
            str_eq(class, missing))
            continue;
        missing = class;
        manifest_fault(m, "Pod", f->ns, f->name,
                       "spec.priorityClassName names a PriorityClass that does not exist; create "
                       "it or correct the name");
    }
}

int api_json_check(struct gang_core *core, struct manifest_gangs *m, struct buf *out,
                   struct err *err)
{
    struct answer a = {.m = m, .out = out, .fits = true};
    set_priorities(core, m);
    buf_puts(out, "{\"gangs\":[");
    if (gang_core_dry_run(core, m->events, m->n, put_gang, &a, err) < 0)
        return -1;
    buf_putc(out, ']');
    json_put_flag(out, "fits", a.fits && !m->n_faults);
    put_texts(out, "faults", m->faults, m->n_faults);
    put_texts(out, "ignored", m->ignored, m->n_ignored);
    buf_putc(out, '}');
    return 0;
}
