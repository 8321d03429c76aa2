/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views.h"

#include <inttypes.h>
#include <time.h>

struct walk {
    const struct gang_core *core;
    const char *ns, *name, *api_group; /* what is looked for; NULL: everything */
    usec_t now, wall;
    struct buf *out;
    size_t n; /* written so far */
    size_t inner;
};

static void text(struct buf *out, const char *key, const char *value)
{
    buf_printf(out, "\"%s\":", key);
    if (value)
        buf_json(out, value, strlen(value));
    else
        buf_puts(out, "null");
}

static void number(struct buf *out, const char *key, int64_t value)
{
    buf_printf(out, ",\"%s\":%" PRId64, key, value);
}

static void flag(struct buf *out, const char *key, bool value)
{
    buf_printf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void moment(struct buf *out, const char *key, usec_t wall)
{
    char s[32];
    time_t sec = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    gmtime_r(&sec, &tm);
    strftime(s, sizeof s, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_putc(out, ',');
    text(out, key, s);
}

/* Everything but the closing brace. */
static void put_gang(const struct walk *w, const struct gang_view *v)
{
    const struct gang_status *s = &v->status;
    struct buf *out = w->out;
    buf_putc(out, '{');
    text(out, "namespace", s->ref->ns);
    buf_putc(out, ',');
    text(out, "name", s->ref->name);
    buf_putc(out, ',');
    text(out, "group", s->ref->api_group);
    buf_putc(out, ',');
    text(out, "state", gang_state_name(s->state));
    buf_puts(out, ",\"reason\":{");
    text(out, "code", gang_reason_name(s->reason));
    buf_putc(out, ',');
    text(out, "text", s->text);
    buf_putc(out, '}');
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"minMember", s->min_member}, {"needed", s->needed},     {"members", s->members},
        {"bound", s->bound},          {"running", s->running},   {"succeeded", s->succeeded},
        {"failed", s->failed},        {"held", v->held},         {"planned", v->planned},
        {"priority", v->priority},    {"attempts", v->attempts},
    };
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        number(out, numbers[i].key, numbers[i].value);
    moment(out, "since", w->wall - (w->now - v->since));
    flag(out, "known", v->known);
}

static bool wanted(const char *pattern, const char *value)
{
    return !pattern || str_eq(pattern, value);
}

static void list_gang(void *arg, const struct gang_view *v)
{
    struct walk *w = arg;
    if (!wanted(w->ns, v->status.ref->ns))
        return;
    buf_puts(w->out, w->n++ ? "," : "");
    put_gang(w, v);
    buf_putc(w->out, '}');
}

void views_gangs(const struct gang_core *core, const char *ns, usec_t now, usec_t wall,
                 struct buf *out)
{
    struct walk w = {.core = core, .ns = ns, .now = now, .wall = wall, .out = out};
    buf_puts(out, "{\"gangs\":[");
    gang_core_each_gang(core, list_gang, &w);
    buf_puts(out, "]}");
}

static const char *phase_name(enum gang_phase phase)
{
    static const char *const names[] = {[PHASE_PENDING] = "Pending",
                                        [PHASE_RUNNING] = "Running",
                                        [PHASE_SUCCEEDED] = "Succeeded",
                                        [PHASE_FAILED] = "Failed",
                                        [PHASE_UNKNOWN] = "Unknown"};
    return names[phase];
}

static void put_member(void *arg, const struct gang_member_view *v)
{
    struct walk *w = arg;
    const struct gang_pod_facts *f = v->facts;
    const struct {
        const char *key, *value;
    } texts[] = {
        {"name", f->name}, {"uid", f->uid},   {"state", v->state},
        {"node", v->node}, {"slot", v->slot}, {"phase", phase_name(f->phase)},
    };
    buf_puts(w->out, w->inner++ ? ",{" : "{");
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (i)
            buf_putc(w->out, ',');
        text(w->out, texts[i].key, texts[i].value);
    }
    number(w->out, "priority", f->priority);
    flag(w->out, "deleting", f->deleting);
    buf_putc(w->out, '}');
}

static void one_gang(void *arg, const struct gang_view *v)
{
    struct walk *w = arg;
    const struct gang_ref *ref = v->status.ref;
    if (w->n || !str_eq(w->ns, ref->ns) || !str_eq(w->name, ref->name) ||
        !wanted(w->api_group, ref->api_group))
        return;
    w->n++;
    put_gang(w, v);
    buf_puts(w->out, ",\"pods\":[");
    gang_core_each_member(w->core, ref, put_member, w);
    buf_puts(w->out, "]}");
}

bool views_gang(const struct gang_core *core, const char *ns, const char *name,
                const char *api_group, usec_t now, usec_t wall, struct buf *out)
{
    struct walk w = {.core = core,
                     .ns = ns,
                     .name = name,
                     .api_group = api_group,
                     .now = now,
                     .wall = wall,
                     .out = out};
    gang_core_each_gang(core, one_gang, &w);
    return w.n > 0;
}

static void put_amount(void *arg, const char *resource, int64_t allocatable, int64_t used,
                       int64_t reserved)
{
    struct walk *w = arg;
    buf_puts(w->out, w->inner++ ? "," : "");
    buf_json(w->out, resource, strlen(resource));
    buf_printf(w->out,
               ":{\"allocatable\":%" PRId64 ",\"used\":%" PRId64 ",\"reserved\":%" PRId64 "}",
               allocatable, used, reserved);
}

static void put_node(void *arg, const struct gang_node_view *v)
{
    struct walk *w = arg;
    buf_puts(w->out, w->n++ ? ",{" : "{");
    text(w->out, "name", v->facts->name);
    flag(w->out, "unschedulable", v->facts->unschedulable);
    number(w->out, "pods", v->pods);
    number(w->out, "slots", v->slots);
    buf_puts(w->out, ",\"resources\":{");
    w->inner = 0;
    gang_core_each_amount(w->core, v->facts->name, put_amount, w);
    buf_puts(w->out, "}}");
}

void views_nodes(const struct gang_core *core, struct buf *out)
{
    struct walk w = {.core = core, .out = out};
    buf_puts(out, "{\"nodes\":[");
    gang_core_each_node(core, put_node, &w);
    buf_puts(out, "]}");
}
