/* SPDX-License-Identifier: Apache-2.0 */
#include "writer_fixture.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"

char *letters(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void on_event(void *arg, struct gang_event *ev)
{
    static const char *const outcomes[] = {"ok", "refused", "unclear", "unbound"};
    struct fixture *x = arg;
    if (ev->kind == GANG_EV_SUSPEND_REFUSED) {
        buf_printf(&x->heard, "refused:%s/%s ", ev->gone.ns, ev->gone.name);
        gang_event_done(ev);
        return;
    }
    buf_printf(&x->heard, "%s:%s:%s:%s ", ev->kind == GANG_EV_BIND_DONE ? "bind" : "read",
               ev->result.uid, ev->result.node ? ev->result.node : "-",
               outcomes[ev->result.outcome]);
    gang_event_done(ev);
}

void make_writer(struct fixture *x, int bindings, double rate, double burst)
{
    x->writer = writer_new(&(struct writer_options){.client = x->client,
                                                    .groups = x->groups,
                                                    .queues = x->queues,
                                                    .classes = x->classes,
                                                    .metrics = x->metrics,
                                                    .sink = &x->sink,
                                                    .bindings = bindings,
                                                    .events_per_second = rate,
                                                    .events_burst = burst,
                                                    .eviction_time = x->eviction_time});
}

int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    struct err err;
    x->api = fake_start();
    x->metrics = api_metrics_new();
    x->client = client_new(fake_kubeconfig(x->api), "test", x->metrics, &err);
    x->groups = podgroups_new();
    x->queues = queue_cache_new();
    x->classes = priority_classes_new();
    x->sink = (struct cluster_sink){on_event, x};
    x->fd = eventfd(0, EFD_CLOEXEC);
    make_writer(x, 4, 0, 0);
    *state = x;
    return x->client ? 0 : -1;
}

int tear_down(void **state)
{
    struct fixture *x = *state;
    writer_free(x->writer);
    client_free(x->client);
    podgroups_free(x->groups);
    queue_cache_free(x->queues);
    priority_classes_free(x->classes);
    api_metrics_free(x->metrics);
    fake_stop(x->api);
    buf_done(&x->heard);
    close(x->fd);
    free(x);
    return 0;
}

void apply(struct fixture *x, const struct gang_effect *e)
{
    writer_take(x->writer, write_request_new(e));
    writer_pump(x->writer);
}

void pod_effect(struct fixture *x, enum gang_effect_kind kind, const char *name, const char *uid,
                const char *node)
{
    struct gang_effect e = {.kind = kind};
    e.pod.ns = "ns";
    e.pod.name = name;
    e.pod.uid = uid;
    e.pod.node = node;
    apply(x, &e);
}

json_t *body_of(struct fixture *x, const char *route, size_t n)
{
    json_t *json = json_loads(fake_body(x->api, route, n), 0, NULL);
    assert_non_null(json);
    return json;
}
