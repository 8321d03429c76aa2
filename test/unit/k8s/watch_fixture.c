/* SPDX-License-Identifier: Apache-2.0 */
#include "watch_fixture.h"

#include <sys/eventfd.h>
#include <unistd.h>

static int on_set(void *arg, json_t *object, struct err *err)
{
    struct fixture *x = arg;
    if (json_object_get(object, "bad"))
        return err_set(err, ERR_INVALID, "bad object");
    buf_printf(&x->heard, "+%s@%s ", field_peek(object, "metadata", "name", NULL),
               field_peek(object, "metadata", "resourceVersion", NULL));
    return 0;
}

static int on_unread(void *arg, json_t *object, const struct err *why)
{
    struct fixture *x = arg;
    (void)why;
    buf_printf(&x->heard, "?%s@%s ", field_peek(object, "metadata", "name", NULL),
               field_peek(object, "metadata", "resourceVersion", NULL));
    return 1;
}

static void on_gone(void *arg, const char *ns, const char *name)
{
    struct fixture *x = arg;
    assert_string_equal(ns, "ns");
    buf_printf(&x->heard, "-%s ", name);
}

static void on_synced(void *arg)
{
    buf_puts(&((struct fixture *)arg)->heard, "synced ");
}

int set_up(void **state)
{
    struct fixture *x = xcalloc(1, sizeof *x);
    struct err err;
    x->api = fake_start();
    x->metrics = api_metrics_new();
    x->client = client_new(fake_kubeconfig(x->api), "test", x->metrics, &err);
    x->fd = eventfd(0, EFD_CLOEXEC);
    *state = x;
    return x->client ? 0 : -1;
}

int tear_down(void **state)
{
    struct fixture *x = *state;
    watch_stop(x->watch, false);
    client_free(x->client);
    api_metrics_free(x->metrics);
    fake_stop(x->api);
    buf_done(&x->heard);
    close(x->fd);
    free(x);
    return 0;
}

void start(struct fixture *x, struct watch_options o)
{
    o.path = "/api/v1/pods";
    o.resource = "pods";
    o.rule = "list and watch pods";
    o.set = on_set;
    o.unread = x->takes_parts ? on_unread : NULL;
    o.gone = on_gone;
    o.synced = on_synced;
    o.arg = x;
    x->watch = watch_start(x->client, x->metrics, &o);
}

bool heard(const struct fixture *x, const char *all)
{
    return str_eq(buf_str(&x->heard), all);
}

void run_for(struct fixture *x, usec_t time)
{
    usec_t limit = usec_now() + time;
    while (usec_now() < limit)
        client_run(x->client, 10 * USEC_PER_MSEC, x->fd);
}
