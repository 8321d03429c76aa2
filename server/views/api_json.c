/* SPDX-License-Identifier: Apache-2.0 */
#include "server/views/api_json.h"

#include <inttypes.h>

#include "base/edit_distance.h"
#include "server/http/json_put.h"

struct walk {
    struct gang_core *core;
    struct gang_page *page; /* of a gang's members */
    usec_t now, wall;
    const struct gang_ref *ref; /* the gang that was written */
    struct buf *out;
};

void api_json_metadata(struct buf *out, const struct gang_page *page)
{
    json_put_key(out, "metadata");
    buf_putc(out, '{');
    if (page->last) {
        json_put_text(out, "continue", page->last);
        json_put_number(out, "remainingItemCount", (int64_t)page->left);
    }
    buf_putc(out, '}');
}

/* Writes a gang without the closing brace. */
static void put_gang(const struct walk *w, const struct gang_view *v)
{
    const struct gang_status *s = &v->status;
    struct buf *out = w->out;
    buf_putc(out, '{');
    json_put_text(out, "namespace", s->ref->ns);
    json_put_text(out, "name", s->ref->name);
    json_put_text(out, "apiGroup", s->ref->api_group);
    json_put_text(out, "state", gang_state_name(s->state));
    json_put_key(out, "reason");
    buf_putc(out, '{');
    json_put_text(out, "code", gang_reason_name(s->reason));
    json_put_text(out, "text", s->text);
    buf_putc(out, '}');
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"minMember", s->min_member},
        {"needed", s->needed},
        {"members", s->members},
        {"bound", s->bound},
        {"running", s->running},
        {"succeeded", s->succeeded},
        {"failed", s->failed},
        {"held", v->held},
        {"planned", v->planned},
        {"priority", v->priority},
        {"groupPriority", v->own_priority},
        {"attempts", v->attempts},
        {"position", v->position},
    };
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        json_put_number(out, numbers[i].key, numbers[i].value);
    json_put_moment(out, "since", w->wall - (w->now - v->since));
    if (v->waiting_since)
        json_put_moment(out, "waitingSince", w->wall - (w->now - v->waiting_since));
    if (v->last_planned)
        json_put_moment(out, "lastPlanned", w->wall - (w->now - v->last_planned));
    json_put_flag(out, "podGroupExists", v->known);
    json_put_text(out, "hint", s->help);
    json_put_text(out, "root", v->root->name);
}

static void list_gang(void *arg, const struct gang_view *v)
{
    struct walk *w = arg;
    json_put_comma(w->out);
    put_gang(w, v);
    buf_putc(w->out, '}');
}

void api_json_gangs(struct gang_core *core, const char *ns, struct gang_page *page, usec_t now,
                    usec_t wall, struct buf *out)
{
    struct walk w = {.core = core, .now = now, .wall = wall, .out = out};
    buf_puts(out, "{\"gangs\":[");
    gang_core_page_gangs(core, ns, page, list_gang, &w);
    buf_putc(out, ']');
    api_json_metadata(out, page);
    buf_putc(out, '}');
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
    json_put_object(w->out);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        json_put_text(w->out, texts[i].key, texts[i].value);
    json_put_number(w->out, "priority", f->priority);
    json_put_flag(w->out, "deleting", f->deleting);
    buf_putc(w->out, '}');
}

static void one_gang(void *arg, const struct gang_view *v)
{
    struct walk *w = arg;
    w->ref = v->status.ref;
    put_gang(w, v);
    buf_puts(w->out, ",\"pods\":[");
    gang_core_page_members(w->core, w->ref, w->page, put_member, w);
    buf_putc(w->out, ']');
    api_json_metadata(w->out, w->page);
}

const struct gang_ref *api_json_gang(struct gang_core *core, const char *ns, const char *name,
                                     const char *api_group, struct gang_page *page, usec_t now,
                                     usec_t wall, struct buf *out)
{
    struct walk w = {.core = core, .page = page, .now = now, .wall = wall, .out = out};
    gang_core_one_gang(core, ns, name, api_group, one_gang, &w);
    return w.ref;
}

/* ---- similar names ---- */

/* The maximum number of compared pairs of letters, about 3 ms. Names beyond it are not compared. */
#define NEAR_WORK ((size_t)500000)
enum { NEAR_SHOWN = 8 };

struct near {
    const char *name;
    struct {
        const struct gang_ref *ref;
        size_t distance;
    } best[NEAR_SHOWN];
    size_t n, work;
};

/* Keeps the NEAR_SHOWN most similar names, the most similar first. */
static void look_near(void *arg, const struct gang_ref *ref)
{
    struct near *near = arg;
    near->work += strlen(ref->name) * strlen(near->name);
    if (near->work > NEAR_WORK)
        return;
    size_t d = edit_distance(ref->name, near->name), i = near->n;
    if (near->n < NEAR_SHOWN)
        near->n++;
    else if (d >= near->best[--i].distance)
        return;
    for (; i > 0 && near->best[i - 1].distance > d; i--)
        near->best[i] = near->best[i - 1];
    near->best[i].ref = ref;
    near->best[i].distance = d;
}

void api_json_no_gang(const struct gang_core *core, const char *ns, const char *name,
                      struct buf *out)
{
    struct near near = {.name = name};
    size_t all = gang_core_names(core, ns, look_near, &near);
    buf_printf(out, "gang %s/%s does not exist", ns, name);
    if (!all)
        buf_puts(out, ", and its namespace has no gangs; to list all gangs: muster get gangs");
    else
        buf_puts(out, "; gangs in its namespace: ");
    for (size_t i = 0; i < near.n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", near.best[i].ref->name);
    if (all > near.n)
        buf_printf(out, "%s%zu%s", near.n ? " and " : "", all - near.n, near.n ? " more" : "");
}

static void put_amount(void *arg, const char *resource, int64_t allocatable, int64_t used,
                       int64_t reserved)
{
    struct walk *w = arg;
    json_put_comma(w->out);
    buf_json(w->out, resource, strlen(resource));
    buf_printf(w->out,
               ":{\"allocatable\":%" PRId64 ",\"used\":%" PRId64 ",\"reserved\":%" PRId64 "}",
               allocatable, used, reserved);
}

static void put_node(void *arg, const struct gang_node_view *v)
{
    struct walk *w = arg;
    json_put_object(w->out);
    json_put_text(w->out, "name", v->facts->name);
    json_put_flag(w->out, "unschedulable", v->facts->unschedulable);
    json_put_number(w->out, "pods", v->pods);
    json_put_number(w->out, "slots", v->slots);
    buf_puts(w->out, ",\"resources\":{");
    gang_core_each_amount(w->core, v->facts->name, put_amount, w);
    buf_puts(w->out, "}}");
}

void api_json_nodes(struct gang_core *core, struct gang_page *page, struct buf *out)
{
    struct walk w = {.core = core, .out = out};
    buf_puts(out, "{\"nodes\":[");
    gang_core_page_nodes(core, page, put_node, &w);
    buf_putc(out, ']');
    api_json_metadata(out, page);
    buf_putc(out, '}');
}
