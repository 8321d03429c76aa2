/* SPDX-License-Identifier: Apache-2.0 */
#include "builtin_fixture.h"

#include <stdio.h>

#define WALL (INT64_C(1767225600) * USEC_PER_SEC)

static void post(void *arg, struct gang_event *ev)
{
    struct scripted_core *c = arg;
    assert_true(c->n_inbox < ARRAY_SIZE(c->inbox));
    c->inbox[c->n_inbox++] = *ev;
}

void core_apply(struct scripted_core *c, const struct gang_effect *e)
{
    c->cluster->ops->apply(c->cluster, c->now, e);
}

static void trace(struct scripted_core *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void trace(struct scripted_core *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_printf(&c->trace, "%ld %s\n", (long)((c->now - ORIGIN) / USEC_PER_MSEC), text);
}

static void answer_filter(struct scripted_core *c, const struct gang_event *ev)
{
    uint32_t passed[1];
    struct gang_filter_refusal refused = {0, c->filter_text ? c->filter_text : "no"};
    struct gang_effect e = {.kind = GANG_REPLY_FILTER, .filter = {.id = ev->id}};
    c->filters++;
    trace(c, "filter %s %zu %s", ev->pod->name, ev->n_names, ev->names[0]);
    e.filter.error = c->filter_error;
    e.filter.pass_all = !c->filter_node;
    for (uint32_t i = 0; c->filter_node && i < ev->n_names; i++)
        if (strcmp(ev->names[i], c->filter_node) == 0) {
            passed[0] = i;
            e.filter.n_passed = 1;
        }
    e.filter.passed = passed;
    if (c->filter_node && !e.filter.n_passed) {
        e.filter.refused = &refused;
        e.filter.n_refused = 1;
    }
    core_apply(c, &e);
}

static void answer_prioritize(struct scripted_core *c, const struct gang_event *ev)
{
    uint8_t scores[1024] = {0};
    struct gang_effect e = {.kind = GANG_REPLY_PRIORITIZE};
    c->prioritizes++;
    assert_true(ev->n_names <= ARRAY_SIZE(scores));
    for (size_t i = 0; i < ev->n_names; i++)
        scores[i] = str_eq(ev->names[i], c->best_node) ? 10 : 0;
    e.prioritize.id = ev->id;
    e.prioritize.scores = scores;
    e.prioritize.n = ev->n_names;
    core_apply(c, &e);
}

void core_reply_bind(struct scripted_core *c, uint64_t id, const char *error)
{
    struct gang_effect e = {.kind = GANG_REPLY_BIND};
    e.bind_reply.id = id;
    e.bind_reply.error = error;
    core_apply(c, &e);
}

void core_write_binding(struct scripted_core *c, const char *ns, const char *name, const char *uid,
                        const char *node)
{
    struct gang_effect e = {.kind = GANG_BIND, .pod = {ns, name, uid, node}};
    core_apply(c, &e);
}

static void answer_bind(struct scripted_core *c, const struct gang_event *ev)
{
    c->binds++;
    trace(c, "bind %s %s", ev->bind.name, ev->bind.node);
    c->held = ev->id;
    if (c->bind == BIND_WRITES)
        core_write_binding(c, ev->bind.ns, ev->bind.name, ev->bind.uid, ev->bind.node);
    else if (c->bind == BIND_REFUSES)
        core_reply_bind(c, ev->id, "not now");
}

static void take(struct scripted_core *c, const struct gang_event *ev)
{
    switch (ev->kind) {
    case GANG_EV_FILTER:
        assert_true(ev->id & CLUSTER_CALL);
        answer_filter(c, ev);
        break;
    case GANG_EV_PRIORITIZE:
        answer_prioritize(c, ev);
        break;
    case GANG_EV_BIND:
        answer_bind(c, ev);
        break;
    case GANG_EV_BIND_DONE:
        trace(c, "bind_done %d %s", (int)ev->result.outcome, ev->result.text ? "text" : "");
        if (c->bind == BIND_WRITES)
            core_reply_bind(c, c->held, "");
        break;
    case GANG_EV_POD_READ:
        trace(c, "pod_read %d %s", (int)ev->result.outcome,
              ev->result.node ? ev->result.node : "-");
        break;
    case GANG_EV_CALL_CLOSED:
        c->closed++;
        break;
    case GANG_EV_POD_SET:
        trace(c, "pod %s %s %d%s", ev->pod->name, ev->pod->node ? ev->pod->node : "-",
              (int)ev->pod->phase, ev->pod->deleting ? " deleting" : "");
        break;
    case GANG_EV_GROUP_SET:
        trace(c, "group %s", ev->group->ref.name);
        break;
    case GANG_EV_POD_GONE:
    case GANG_EV_NODE_GONE:
    case GANG_EV_GROUP_GONE:
        trace(c, "gone %s", ev->gone.name);
        break;
    default:
        trace(c, "%s", gang_event_name(ev->kind));
        break;
    }
}

static void moment(struct scripted_core *c)
{
    c->cluster->ops->advance(c->cluster, c->now);
    for (size_t i = 0; i < c->n_inbox; i++) {
        struct gang_event ev = c->inbox[i];
        take(c, &ev);
        gang_event_done(&ev);
    }
    c->n_inbox = 0;
}

void core_run(struct scripted_core *c, usec_t until)
{
    for (usec_t at; (at = c->cluster->ops->next(c->cluster)) <= ORIGIN + until;) {
        if (at > c->now)
            c->now = at;
        moment(c);
    }
    c->now = ORIGIN + until;
}

struct scripted_core *core_begin(const char *text)
{
    struct err err = {0};
    struct scenario *s = scenario_parse("t.yaml", ".", text, strlen(text), &err);
    if (!s)
        fail_msg("%s", err.text);
    struct scripted_core *c = xcalloc(1, sizeof *c);
    struct cluster_sink sink = {post, c};
    c->cluster = builtin_cluster_new(s, &sink, WALL);
    c->now = ORIGIN;
    return c;
}

void core_end(struct scripted_core *c)
{
    c->cluster->ops->close(c->cluster, 0);
    for (size_t i = 0; i < c->n_inbox; i++)
        gang_event_done(&c->inbox[i]);
    buf_done(&c->trace);
    free(c);
}

const json_t *pod_of(struct scripted_core *c, const char *name)
{
    const json_t *pod = builtin_cluster_object(c->cluster, KIND_POD, NULL, "default", name);
    if (!pod)
        fail_msg("no pod %s", name);
    return pod;
}

const char *uid_of(struct scripted_core *c, const char *name)
{
    return field_peek(pod_of(c, name), "metadata", "uid", NULL);
}

const char *node_of(struct scripted_core *c, const char *name)
{
    const char *node = field_peek(pod_of(c, name), "spec", "nodeName", NULL);
    return node ? node : "";
}

const char *phase_of(struct scripted_core *c, const char *name)
{
    return field_peek(pod_of(c, name), "status", "phase", NULL);
}

const char *message_of(struct scripted_core *c, const char *name)
{
    const json_t *conditions =
        json_object_get(json_object_get(pod_of(c, name), "status"), "conditions");
    const char *text = field_peek(json_array_get(conditions, 0), "message", NULL);
    return text ? text : "";
}

bool saw(const struct scripted_core *c, const char *line)
{
    return strstr(buf_str(&c->trace), line) != NULL;
}

int times(const struct scripted_core *c, const char *line)
{
    int n = 0;
    for (const char *at = buf_str(&c->trace); (at = strstr(at, line)) != NULL; at += strlen(line))
        n++;
    return n;
}

static void count_one(void *arg, const json_t *object)
{
    (void)object;
    ++*(int *)arg;
}

int count_pods(struct scripted_core *c)
{
    int n = 0;
    builtin_cluster_each(c->cluster, KIND_POD, count_one, &n);
    return n;
}
