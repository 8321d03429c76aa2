/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch (k8s/list_watch/watch.h) of an API server that sends anything. The input is its replies,
 * one after the other (fake_client.h), for lists and watches. The format is protobuf, or JSON if
 * the input starts with "json ".
 *
 * The result does not depend on where a stream is cut. The watch reports an object as gone only if
 * it has reported the object before, only once, and at the end for all remaining objects.
 */
#include "k8s/list_watch/watch.h"

#include "base/map.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"
#include "test/fuzz/fake_client.h"

#define MOST_REPLIES 32
#define MOST_TICKS   8

struct seen {
    struct buf log;
    struct map given; /* "ns/name" -> itself */
    int synced;
};

static char *key_of(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns ? ns : "", name);
}

static int set(void *arg, json_t *object, struct err *err)
{
    struct seen *s = arg;
    const char *name = field_peek(object, "metadata", "name", NULL);
    cleanup_free char *key = key_of(field_peek(object, "metadata", "namespace", NULL), name);
    struct gang_pod_facts *f = decode_pod(object, err);
    buf_printf(&s->log, "%s %s\n", f ? "set" : "unreadable", key);
    gang_pod_facts_free(f);
    if (f)
        map_set(&s->given, key, s);
    return f ? 0 : -1;
}

static void gone(void *arg, const char *ns, const char *name)
{
    struct seen *s = arg;
    cleanup_free char *key = key_of(ns, name);
    buf_printf(&s->log, "gone %s\n", key);
    HOLDS(map_remove(&s->given, key), "%s is taken back, and was not given", key);
}

static void synced(void *arg)
{
    struct seen *s = arg;
    HOLDS(++s->synced == 1, "synced twice");
    buf_puts(&s->log, "synced\n");
}

static void behind(void *arg, bool is)
{
    struct seen *s = arg;
    buf_printf(&s->log, "behind %d\n", is);
}

static void play(const char *p, const char *end, size_t most, bool json, struct seen *s)
{
    fuzz_begin();
    struct client *c = fake_client_new();
    struct api_metrics *metrics = api_metrics_new();
    struct watch *w = watch_start(c, metrics,
                                  &(struct watch_options){.path = "/api/v1/pods",
                                                          .resource = "pods",
                                                          .rule = "list and watch pods",
                                                          .proto = json ? NULL : &kube_protobuf_pod,
                                                          .set = set,
                                                          .gone = gone,
                                                          .synced = synced,
                                                          .behind = behind,
                                                          .arg = s,
                                                          .max_line = 1 << 16,
                                                          .max_page = 1 << 16});
    struct fake_reply reply;
    for (int i = 0; i < MOST_REPLIES && fake_reply_next(&p, end, &reply); i++) {
        for (int t = 0; t < MOST_TICKS && !fake_client_open(c); t++)
            HOLDS(fake_client_tick(c), "it waits for nothing");
        struct client_call *call = fake_client_oldest(c);
        HOLDS(!call || fake_client_open(c) == 1, "more than one call at once");
        if (call)
            fake_client_answer(c, call, reply.status, reply.body, reply.len, most);
    }
    watch_stop(w, /* forget= */ true);
    HOLDS(map_count(&s->given) == 0, "not all is taken back at the end");
    HOLDS(!fake_client_tick(c), "a timer is left");
    map_done(&s->given);
    api_metrics_free(metrics);
    fake_client_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t cuts[] = {1, 5, 300};
    static const char mark[] = "json ";
    const char *p = (const char *)data, *end = p + size;
    bool json = size >= strlen(mark) && memcmp(p, mark, strlen(mark)) == 0;
    p += json ? strlen(mark) : 0;
    struct seen whole = {.given = MAP_INIT};
    play(p, end, 0, json, &whole);
    for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
        struct seen cut = {.given = MAP_INIT};
        play(p, end, cuts[i], json, &cut);
        HOLDS(str_eq(buf_str(&whole.log), buf_str(&cut.log)),
              "in pieces of %zu bytes it is\n%s\nand whole\n%s", cuts[i], buf_str(&cut.log),
              buf_str(&whole.log));
        buf_done(&cut.log);
    }
    buf_done(&whole.log);
    return 0;
}
