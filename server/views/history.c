/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/history.h"

#include "base/fair_queue.h"
#include "base/log.h"
#include "base/map.h"
#include "server/http/json_put.h"

#define TEXT_MAX 1024

enum kind { IS_STATE, IS_EVENT, IS_EVICTED, IS_DELETED };

struct entry {
    struct fair_queue_item kept;
    enum kind kind;
    usec_t wall;
    struct gang_ref gang;  /* empty for an eviction whose gang is unknown */
    const char *from, *to; /* states; from NULL: the gang is new */
    char *reason, *text;
    char *pod; /* of IS_EVICTED */
    bool warning;
};

struct history {
    struct fair_queue entries; /* at most HISTORY_SIZE; the owners are namespaces */
    struct map seen;           /* key of a gang -> state + 1 */
    /* The rate limit of the log: the number of lines that were allowed at tokens_at. */
    double tokens;
    usec_t tokens_at;
    uint64_t unlogged; /* lines that have been skipped since the last line */
};

struct history *history_new(void)
{
    struct history *h = xcalloc(1, sizeof *h);
    fair_queue_init(&h->entries, /* turn= */ 1);
    h->tokens = HISTORY_LOG_RATE;
    return h;
}

static struct entry *entry_of(struct fair_queue_item *item)
{
    return CONTAINER_OF(item, struct entry, kept);
}

static void entry_free(struct history *h, struct entry *e)
{
    fair_queue_remove(&h->entries, &e->kept);
    free(e->gang.api_group);
    free(e->gang.ns);
    free(e->gang.name);
    free(e->reason);
    free(e->text);
    free(e->pod);
    free(e);
}

struct history *history_free(struct history *h)
{
    if (!h)
        return NULL;
    while (h->entries.n > 0)
        entry_free(h, entry_of(fair_queue_oldest(&h->entries)));
    fair_queue_done(&h->entries);
    map_done(&h->seen);
    free(h);
    return NULL;
}

static char *key_of(const struct gang_ref *ref)
{
    return xasprintf("%s|%s/%s", ref->api_group, ref->ns, ref->name);
}

static struct entry *add(struct history *h, enum kind kind, usec_t wall, const char *api_group,
                         const char *ns, const char *name)
{
    if (h->entries.n >= HISTORY_SIZE)
        entry_free(h, entry_of(fair_queue_longest_first(&h->entries, ns ? ns : "")));
    struct entry *e = xcalloc(1, sizeof *e);
    *e = (struct entry){
        .kind = kind,
        .wall = wall,
        .gang = {xstrdup_null(api_group), xstrdup_null(ns), xstrdup_null(name)},
    };
    fair_queue_push(&h->entries, ns ? ns : "", &e->kept);
    return e;
}

/* ---- the log ---- */

static bool may_log(struct history *h, usec_t now)
{
    h->tokens += (double)(now - h->tokens_at) / (double)USEC_PER_SEC * HISTORY_LOG_RATE;
    h->tokens = h->tokens > HISTORY_LOG_RATE ? HISTORY_LOG_RATE : h->tokens;
    h->tokens_at = now;
    if (h->tokens < 1) {
        h->unlogged++;
        return false;
    }
    h->tokens--;
    if (h->unlogged > 0)
        log_info("Skipped log lines about changes of gang states, because there were too many",
                 "lines", log_int(h->unlogged), NULL);
    h->unlogged = 0;
    return true;
}

static void log_change(struct history *h, usec_t now, const struct entry *e)
{
    if (log_level() < LOG_INFO || !may_log(h, now))
        return;
    cleanup_free char *gang = xasprintf("%s/%s", e->gang.ns, e->gang.name);
    log_info("Gang state changed", "gang", gang, "from", e->from ? e->from : "", "to", e->to,
             "reason", e->reason, "text", e->text, NULL);
}

/* ---- entries ---- */

/* The text of a state. Statuses without an error have no text, so it is made here. */
static char *text_of(const struct gang_status *s)
{
    if (s->text[0])
        return xstrndup(s->text, TEXT_MAX);
    if (s->state == GANG_PLANNED)
        return xasprintf("%d members needed, %d exist: slots are reserved", s->needed, s->members);
    if (s->state == GANG_COMMITTING && s->bound)
        return xasprintf(
            "%d of %d members are bound, %d needed: muster sends the remaining Bindings", s->bound,
            s->members, s->needed);
    if (s->state == GANG_COMMITTING)
        return xasprintf("muster sends the Bindings of all %d needed members", s->needed);
    if (s->state == GANG_DONE)
        return xasprintf("all members have finished, %d of them successfully", s->succeeded);
    return xasprintf("%d of %d members are bound, %d needed", s->bound, s->members, s->needed);
}

static void take_status(struct history *h, usec_t now, usec_t wall, const struct gang_status *s)
{
    cleanup_free char *key = key_of(s->ref);
    uintptr_t before = (uintptr_t)map_get(&h->seen, key), is = (uintptr_t)s->state + 1;
    if (before == is)
        return;
    map_set(&h->seen, key, (void *)is);
    struct entry *e = add(h, IS_STATE, wall, s->ref->api_group, s->ref->ns, s->ref->name);
    e->from = before ? gang_state_name((enum gang_state)(before - 1)) : NULL;
    e->to = gang_state_name(s->state);
    e->reason = xstrdup(gang_reason_name(s->reason));
    e->text = text_of(s);
    log_change(h, now, e);
}

static void take_event(struct history *h, usec_t wall, const struct gang_effect *effect)
{
    if (str_eq(effect->event.reason, "PredicateMismatch"))
        log_warning("kube-scheduler's filters differ from muster's predicates; the express lane "
                    "stays closed for the pod's namespace, or for more pods, until muster restarts",
                    "text", effect->event.message, NULL);
    if (!effect->event.api_group)
        return; /* an event of a pod repeats the gang's event */
    struct entry *e =
        add(h, IS_EVENT, wall, effect->event.api_group, effect->event.ns, effect->event.name);
    e->reason = xstrdup(effect->event.reason);
    e->text = xstrndup(effect->event.message, TEXT_MAX);
    e->warning = effect->event.warning;
}

static void take_eviction(struct history *h, usec_t wall, const struct gang_core *core,
                          const struct gang_effect *effect)
{
    const struct gang_ref *gang = gang_core_gang_of(core, effect->pod.uid);
    struct entry *e = add(h, IS_EVICTED, wall, gang ? gang->api_group : NULL,
                          gang ? gang->ns : NULL, gang ? gang->name : NULL);
    e->pod = xasprintf("%s/%s", effect->pod.ns, effect->pod.name);
    e->text = xasprintf("pod %s is evicted %s", e->pod, effect->pod.text);
}

void history_events(struct history *h, usec_t wall, const struct gang_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gang_ref *gone = &events[i].gone;
        if (events[i].kind != GANG_EV_GROUP_GONE)
            continue;
        cleanup_free char *key = key_of(gone);
        if (!map_remove(&h->seen, key))
            continue;
        struct entry *e = add(h, IS_DELETED, wall, gone->api_group, gone->ns, gone->name);
        e->text = xstrdup("the PodGroup was deleted");
    }
}

void history_effects(struct history *h, usec_t now, usec_t wall, const struct gang_core *core,
                     const struct gang_effect *effects, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (effects[i].kind == GANG_STATUS)
            take_status(h, now, wall, &effects[i].status);
        else if (effects[i].kind == GANG_EVENT)
            take_event(h, wall, &effects[i]);
        else if (effects[i].kind == GANG_EVICT)
            take_eviction(h, wall, core, &effects[i]);
    }
}

/* ---- output ---- */

static bool wanted(const char *pattern, const char *value)
{
    return !pattern || str_eq(pattern, value);
}

static bool passes(const struct history_filter *f, const struct entry *e)
{
    return wanted(f->ns, e->gang.ns) && wanted(f->name, e->gang.name) &&
           wanted(f->api_group, e->gang.api_group);
}

static void put_entry(const struct entry *e, struct buf *out)
{
    static const char *const kinds[] = {[IS_STATE] = "state",
                                        [IS_EVENT] = "event",
                                        [IS_EVICTED] = "evicted",
                                        [IS_DELETED] = "deleted"};
    json_put_object(out);
    json_put_moment(out, "time", e->wall);
    json_put_text(out, "namespace", e->gang.ns);
    json_put_text(out, "name", e->gang.name);
    json_put_text(out, "apiGroup", e->gang.api_group);
    json_put_text(out, "kind", kinds[e->kind]);
    if (e->kind == IS_STATE) {
        json_put_text(out, "from", e->from);
        json_put_text(out, "to", e->to);
    }
    if (e->kind == IS_EVENT)
        json_put_flag(out, "warning", e->warning);
    if (e->reason)
        json_put_text(out, "reason", e->reason);
    if (e->pod)
        json_put_text(out, "pod", e->pod);
    json_put_text(out, "text", e->text);
    buf_putc(out, '}');
}

static const struct entry *entry_in_queue(struct list *l)
{
    return entry_of(CONTAINER_OF(l, struct fair_queue_item, in_queue));
}

void history_json(const struct history *h, const struct history_filter *filter, struct buf *out)
{
    struct list *from = NULL;
    size_t found = 0;
    for (struct list *l = h->entries.all.prev; l != &h->entries.all && found < filter->limit;
         l = l->prev) {
        found += passes(filter, entry_in_queue(l));
        from = l;
    }
    buf_putc(out, '[');
    for (struct list *l = from; l && l != &h->entries.all; l = l->next)
        if (passes(filter, entry_in_queue(l)))
            put_entry(entry_in_queue(l), out);
    buf_putc(out, ']');
}
