/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/simulation_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/map.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "simulator/queue_report.h"

/* What has been printed about a gang. */
struct gang_summary {
    enum gang_state state;
    enum gang_reason_code reason;
    char *text;
    bool seen;
    usec_t since;        /* when it first had enough members; -1: not yet */
    usec_t scheduled;    /* when it was first Scheduled; -1: not yet */
    int fresh;           /* Bindings that have not been printed yet */
    usec_t first, last;  /* the times of these Bindings */
    struct map on_nodes; /* node -> int *, the number of these Bindings */
};

/* Objects of one kind with the same event at the same time, which share a line. */
struct batch {
    usec_t clock;
    enum simulated_event_kind what;
    enum manifest_kind object;
    char *text;
    struct buf names;
    int n;
};

struct simulation_report {
    bool json;
    json_t *records;
    struct map gangs; /* "group|ns/name" -> struct gang_summary */
    struct batch batch;
};

enum { NAMES_SHOWN = 6 };

/* ---- lines ---- */

static void print_clock(usec_t clock)
{
    int64_t ms = clock / USEC_PER_MSEC, s = ms / 1000;
    printf("%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%03" PRId64 "  ", s / 3600, s / 60 % 60,
           s % 60, ms % 1000);
}

/* Prints a line such as "gang ml/a scheduled: 8 of 8 bound". text may be "". */
static void line(struct simulation_report *t, usec_t clock, const char *object, const char *name,
                 const char *what, const char *text)
{
    if (t->json) {
        json_array_append_new(t->records,
                              json_pack("{s:f, s:s, s:s, s:s, s:s}", "seconds",
                                        (double)clock / (double)USEC_PER_SEC, "object", object,
                                        "name", name, "what", what, "text", text));
        return;
    }
    const char *separator = str_eq(what, "bound") ? " " : ": "; /* "bound to gpu-0" */
    print_clock(clock);
    printf("%s%s%s%s%s%s%s\n", object, *name ? " " : "", name, *what ? " " : "", what,
           *text ? separator : "", text);
}

static void flush(struct simulation_report *t)
{
    struct batch *b = &t->batch;
    if (!b->n)
        return;
    static const char *const verbs[] = {
#define X(id, name) name,
        SIMULATED_EVENTS(X)
#undef X
    };
    if (b->n > NAMES_SHOWN)
        buf_printf(&b->names, " … (%d in total)", b->n);
    line(t, b->clock, manifest_kind_name(b->object), buf_str(&b->names), verbs[b->what], b->text);
    buf_clear(&b->names);
    free(STEAL(b->text));
    b->n = 0;
}

static void put_in_batch(struct simulation_report *t, usec_t clock, const struct simulated_event *h,
                         const char *text)
{
    struct batch *b = &t->batch;
    if (b->n && (b->clock != clock || b->what != h->kind || b->object != h->object ||
                 strcmp(b->text, text) != 0))
        flush(t);
    if (!b->n) {
        b->clock = clock;
        b->what = h->kind;
        b->object = h->object;
        b->text = xstrdup(text);
    }
    if (b->n++ < NAMES_SHOWN)
        buf_printf(&b->names, "%s%s%s%s", b->n > 1 ? ", " : "", h->ns, *h->ns ? "/" : "", h->name);
}

/* ---- gangs ---- */

static struct gang_summary *summary_of(struct simulation_report *t, const char *group,
                                       const char *ns, const char *name)
{
    cleanup_free char *key = xasprintf("%s|%s/%s", group, ns, name);
    struct gang_summary *g = map_get(&t->gangs, key);
    if (g)
        return g;
    g = xcalloc(1, sizeof *g);
    g->text = xstrdup("");
    g->since = g->scheduled = -1;
    map_set(&t->gangs, key, g);
    return g;
}

/* The gang that a pod is linked to, or NULL. */
static struct gang_summary *gang_of_pod(struct simulation_report *t, const json_t *pod)
{
    const char *name;
    const struct dialect *d = dialect_of_pod(pod, &name, /* ret_bad= */ NULL);
    return d ? summary_of(t, d->api_group, manifest_ns(pod), name) : NULL;
}

static void count_node(struct map *nodes, const char *node)
{
    int *n = map_get(nodes, node);
    if (!n) {
        n = xcalloc(1, sizeof *n);
        map_set(nodes, node, n);
    }
    ++*n;
}

/* "gpu-0 ×4, gpu-1 ×4" */
static void put_nodes(struct buf *b, const struct map *nodes)
{
    size_t shown = 0;
    map_for_each (e, nodes) {
        if (shown == NAMES_SHOWN) {
            buf_printf(b, " … (%zu nodes in total)", map_count(nodes));
            break;
        }
        buf_printf(b, "%s%s", shown++ ? ", " : "", e->key);
        if (*(int *)e->value > 1)
            buf_printf(b, " ×%d", *(int *)e->value);
    }
}

static void forget_nodes(struct map *nodes)
{
    map_for_each (e, nodes)
        free(e->value);
    map_done(nodes);
}

static void bound(struct simulation_report *t, usec_t clock, const struct simulated_event *h)
{
    struct gang_summary *g = gang_of_pod(t, h->json);
    if (!g) {
        cleanup_free char *text = xasprintf("to %s", h->node);
        put_in_batch(t, clock, h, text);
        return;
    }
    if (!g->fresh++)
        g->first = clock;
    g->last = clock;
    count_node(&g->on_nodes, h->node);
}

/* The text without "gang ns/name: ", because the line names the gang already. */
static const char *bare(const struct gang_status *s)
{
    char prefix[512];
    int n = snprintf(prefix, sizeof prefix, "gang %s/%s: ", s->ref->ns, s->ref->name);
    bool has = n > 0 && strncmp(s->text, prefix, (size_t)n) == 0;
    return has ? s->text + n : s->text;
}

struct slot_count {
    struct map nodes;
    int n;
};

static void count_slot(void *arg, const struct gang_member_view *m)
{
    struct slot_count *c = arg;
    if (!m->slot)
        return;
    c->n++;
    count_node(&c->nodes, m->slot);
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

static void put_plan(struct buf *b, const struct gang_core *core, const struct gang_view *v)
{
    struct slot_count c = {MAP_INIT, 0};
    gang_core_each_member(core, v->status.ref, count_slot, &c);
    const int expected = v->planned - c.n;
    buf_printf(b, "%d slot%s on %zu node%s: ", c.n, plural(c.n), map_count(&c.nodes),
               plural((int)map_count(&c.nodes)));
    put_nodes(b, &c.nodes);
    if (expected > 0)
        buf_printf(b, "; %d more slot%s for expected members", expected, plural(expected));
    forget_nodes(&c.nodes);
}

static void put_bindings(struct buf *b, struct gang_summary *g, const struct gang_status *s)
{
    buf_printf(b, "%d of %d bound", s->bound, s->members);
    if (g->fresh) {
        buf_puts(b, g->last > g->first ? " within " : " at once");
        if (g->last > g->first)
            duration_format(b, g->last - g->first);
        buf_puts(b, ": ");
        put_nodes(b, &g->on_nodes);
    }
}

static void forget_bindings(struct gang_summary *g)
{
    forget_nodes(&g->on_nodes);
    g->fresh = 0;
}

static void print_state(struct simulation_report *t, usec_t clock, const struct gang_core *core,
                        const struct gang_view *v, struct gang_summary *g)
{
    static const char *const verbs[GANG_STATE_MAX] = {
        [GANG_ASSEMBLING] = "assembling", [GANG_WAITING] = "waits",
        [GANG_PLANNED] = "planned",       [GANG_COMMITTING] = "commits",
        [GANG_SCHEDULED] = "scheduled",   [GANG_RECOVERING] = "recovers",
        [GANG_BACKED_OFF] = "backs off",  [GANG_DONE] = "done",
    };
    const struct gang_status *s = &v->status;
    cleanup_buf struct buf text = BUF_INIT;
    cleanup_free char *name = xasprintf("%s/%s", s->ref->ns, s->ref->name);
    if (s->state == GANG_PLANNED)
        put_plan(&text, core, v);
    else if (s->state == GANG_COMMITTING)
        buf_printf(&text, "muster sends the Bindings of all %d needed members", s->needed);
    else if (s->state == GANG_SCHEDULED)
        put_bindings(&text, g, s);
    else if (s->state != GANG_DONE)
        buf_puts(&text, bare(s));
    if (s->state == GANG_SCHEDULED)
        forget_bindings(g);
    line(t, clock, "gang", name, verbs[s->state], buf_str(&text));
}

struct look {
    struct simulation_report *t;
    usec_t clock;
    const struct gang_core *core;
};

static void remember(struct gang_summary *g, const struct gang_status *s, usec_t clock)
{
    g->state = s->state;
    g->reason = s->reason;
    free(g->text);
    g->text = xstrdup(s->text);
    if (g->since < 0 && s->state != GANG_ASSEMBLING)
        g->since = clock;
    if (g->scheduled < 0 && s->state == GANG_SCHEDULED)
        g->scheduled = clock;
    g->seen = true;
}

static void look_at_gang(void *arg, const struct gang_view *v)
{
    struct look *l = arg;
    const struct gang_status *s = &v->status;
    struct gang_summary *g = summary_of(l->t, s->ref->api_group, s->ref->ns, s->ref->name);
    bool moved = !g->seen || g->state != s->state;
    /* While a gang assembles, its text changes with every pod, so only a new reason is printed. */
    bool other =
        g->reason != s->reason || (s->state == GANG_WAITING && strcmp(g->text, s->text) != 0);
    if (moved || (other && (s->state == GANG_WAITING || s->state == GANG_ASSEMBLING ||
                            s->state == GANG_BACKED_OFF))) {
        flush(l->t);
        print_state(l->t, l->clock, l->core, v, g);
    } else if (s->state == GANG_SCHEDULED && g->fresh && l->clock > g->last) {
        cleanup_buf struct buf text = BUF_INIT;
        cleanup_free char *name = xasprintf("%s/%s", s->ref->ns, s->ref->name);
        flush(l->t);
        put_bindings(&text, g, s);
        forget_bindings(g);
        line(l->t, l->clock, "gang", name, "grows", buf_str(&text));
    }
    remember(g, s, l->clock);
}

void simulation_report_gangs(struct simulation_report *t, usec_t clock,
                             const struct gang_core *core)
{
    struct look l = {t, clock, core};
    gang_core_each_gang(core, look_at_gang, &l);
}

/* ---- simulated events ---- */

static bool has_owner(const json_t *object)
{
    return json_array_size(
               json_object_get(json_object_get(object, "metadata"), "ownerReferences")) > 0;
}

static bool worth_a_line(struct simulation_report *t, const struct simulated_event *h)
{
    bool pod = h->object == KIND_POD;
    switch (h->kind) {
    case SIMULATED_CREATED:
        return !pod || !has_owner(h->json);
    case SIMULATED_DELETED:
    case SIMULATED_CHANGED:
        return true;
    case SIMULATED_FINISHED:
    case SIMULATED_REJECTED:
        return !gang_of_pod(t, h->json);
    case SIMULATED_BIND_FAILED:
        return true;
    case SIMULATED_EVENT:
        /* Events of pods and PodGroups repeat the gang's line. */
        return h->object != KIND_POD && h->object != KIND_POD_GROUP;
    case SIMULATED_BOUND:
    case SIMULATED_RUNNING:
    case SIMULATED_EVENT_MAX:
        break;
    }
    return false;
}

void simulation_report_event(void *timeline, usec_t clock, const struct simulated_event *what)
{
    struct simulation_report *t = timeline;
    if (what->kind == SIMULATED_BOUND)
        bound(t, clock, what);
    else if (worth_a_line(t, what))
        put_in_batch(t, clock, what, what->text ? what->text : "");
}

void simulation_report_note(struct simulation_report *t, usec_t clock, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    flush(t);
    line(t, clock, text, "", "", "");
}

/* ---- the end ---- */

struct table {
    struct simulation_report *t;
    usec_t clock;
    json_t *gangs;
    int width, n;
};

static usec_t waited(const struct gang_summary *g, usec_t clock)
{
    if (g->since < 0)
        return 0;
    return (g->scheduled < 0 ? clock : g->scheduled) - g->since;
}

static void measure(void *arg, const struct gang_view *v)
{
    struct table *table = arg;
    int width = (int)(strlen(v->status.ref->ns) + 1 + strlen(v->status.ref->name));
    if (width > table->width)
        table->width = width;
    table->n++;
}

static void print_row(void *arg, const struct gang_view *v)
{
    struct table *table = arg;
    const struct gang_status *s = &v->status;
    const struct gang_summary *g =
        summary_of(table->t, s->ref->api_group, s->ref->ns, s->ref->name);
    cleanup_free char *name = xasprintf("%s/%s", s->ref->ns, s->ref->name);
    cleanup_buf struct buf wait = BUF_INIT;
    duration_format(&wait, waited(g, table->clock));
    bool good = s->state == GANG_SCHEDULED || s->state == GANG_DONE;
    printf("%-*s  %-10s  %5d  %6d  %7d  %8s  %s\n", table->width, name, gang_state_name(s->state),
           s->bound, s->needed, s->members, buf_str(&wait), good ? "" : bare(s));
}

static void json_row(void *arg, const struct gang_view *v)
{
    struct table *table = arg;
    const struct gang_status *s = &v->status;
    const struct gang_summary *g =
        summary_of(table->t, s->ref->api_group, s->ref->ns, s->ref->name);
    json_array_append_new(table->gangs,
                          json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:f}",
                                    "apiGroup", s->ref->api_group, "namespace", s->ref->ns, "name",
                                    s->ref->name, "state", gang_state_name(s->state), "reason",
                                    gang_reason_name(s->reason), "text", s->text, "bound", s->bound,
                                    "needed", s->needed, "members", s->members, "waitedSeconds",
                                    (double)waited(g, table->clock) / (double)USEC_PER_SEC));
}

struct pods {
    int pending, running, finished;
    json_t *json;
};

static void count_pod(void *arg, const json_t *pod)
{
    struct pods *p = arg;
    const char *node = field_peek(pod, "spec", "nodeName", NULL);
    const char *phase = field_peek(pod, "status", "phase", NULL);
    if (!node)
        p->pending++;
    else if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
        p->finished++;
    else
        p->running++;
    if (p->json)
        json_array_append_new(p->json,
                              json_pack("{s:s, s:s, s:s, s:s?}", "namespace", manifest_ns(pod),
                                        "name", manifest_name(pod), "phase", phase, "node", node));
}

static void end_text(struct table *table, const struct gang_core *core, const struct pods *pods,
                     const struct share_history *shares, const char *failure)
{
    gang_core_each_gang(core, measure, table);
    if (table->n) {
        printf("\n%-*s  %-10s  %5s  %6s  %7s  %8s  %s\n", table->width, "GANG", "STATE", "BOUND",
               "NEEDED", "MEMBERS", "WAITED", "WHY");
        gang_core_each_gang(core, print_row, table);
    }
    queue_report_text(core, shares);
    printf("\npods: %d pending, %d on nodes, %d finished\n", pods->pending, pods->running,
           pods->finished);
    if (failure)
        printf("FAILED: %s\n", failure);
}

/* Takes ownership of queues. */
static void end_json(struct table *table, const struct gang_core *core, struct pods *pods,
                     json_t *queues, const char *failure)
{
    table->gangs = json_array();
    gang_core_each_gang(core, json_row, table);
    json_t *all =
        json_pack("{s:O, s:o, s:o, s:O, s:f, s:s?}", "timeline", table->t->records, "gangs",
                  table->gangs, "queues", queues, "pods", pods->json, "endedAtSeconds",
                  (double)table->clock / (double)USEC_PER_SEC, "failure", failure);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

void simulation_report_end(struct simulation_report *t, usec_t clock, const struct gang_core *core,
                           const struct cluster *cluster, const struct share_history *shares,
                           const char *failure)
{
    struct table table = {.t = t, .clock = clock, .width = 4};
    struct pods pods = {.json = t->json ? json_array() : NULL};
    flush(t);
    builtin_cluster_each(cluster, KIND_POD, count_pod, &pods);
    if (t->json)
        end_json(&table, core, &pods, queue_report_json(core, shares, cluster), failure);
    else
        end_text(&table, core, &pods, shares, failure);
    json_decref(pods.json);
}

struct simulation_report *simulation_report_new(bool json)
{
    struct simulation_report *t = xcalloc(1, sizeof *t);
    t->json = json;
    t->records = json ? json_array() : NULL;
    return t;
}

struct simulation_report *simulation_report_free(struct simulation_report *t)
{
    if (!t)
        return NULL;
    map_for_each (e, &t->gangs) {
        struct gang_summary *g = e->value;
        forget_nodes(&g->on_nodes);
        free(g->text);
        free(g);
    }
    map_done(&t->gangs);
    buf_done(&t->batch.names);
    free(t->batch.text);
    json_decref(t->records);
    free(t);
    return NULL;
}
