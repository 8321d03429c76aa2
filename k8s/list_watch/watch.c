/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/watch.h"

#include <inttypes.h>

#include "base/hash.h"
#include "base/json_repair.h"
#include "base/log.h"
#include "base/map.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"
#include "k8s/list_watch/unreadable_objects.h"

#define BACKOFF_FIRST      (200 * USEC_PER_MSEC)
#define BACKOFF_MOST       (30 * USEC_PER_SEC)
#define PAGE_TIMEOUT       (60 * USEC_PER_SEC)
#define PAGE_TIMEOUT_FIRST (15 * USEC_PER_SEC)
#define HEALTHY            (10 * USEC_PER_SEC) /* a watch that lasted this long did not fail */
#define TIMEOUT_SECONDS    290                 /* the real timeout is random: up to twice this */
#define PAGE_JSON          500                 /* JSON takes about three times the bytes */
#define PAGE_PROTO         2000
#define FRAME_HEAD         4 /* bytes of the length before each frame of a protobuf watch */
/* How often a watch that is behind is checked, and how long the API server may take to send the
 * missed events after it has answered. */
#define CATCH_UP (500 * USEC_PER_MSEC)
/* kube-apiserver sends about one bookmark a minute. */
#define MAX_PAUSE (75 * USEC_PER_SEC)

/* Kept small, because there is one for each object of the cluster. Versions and UIDs are only
 * compared, so digests are enough. */
struct known {
    uint64_t version, uid; /* digests */
    uint32_t seen;         /* number of the last list that contained it */
    bool given;            /* set() or unread() took it */
    bool unread;           /* it cannot be read, or only in part */
};

struct watch {
    struct client *client;
    struct api_metrics *metrics;
    struct watch_options o;
    char *path, *rule;
    struct map known; /* "ns/name" -> struct known */
    struct unreadable_objects unread;

    struct client_call *call;
    struct client_timer retry, silence, look;
    bool watching; /* `call` is a watch request, not a list */
    bool answered; /* at the last check, the API server had answered the watch request */
    bool behind;
    bool relist; /* after the pause, list again instead of watching */
    bool was_synced;
    bool warned;    /* a 403 was logged */
    bool troubled;  /* another failure was logged */
    int failures;   /* in a row */
    usec_t started; /* start of the current watch request */
    usec_t heard;   /* when data last arrived */

    int page;    /* number of objects to request; shrinks when a page is too large */
    bool shrunk; /* the page has shrunk and must not grow again */
    uint32_t list_number;
    char *token;        /* metadata.continue of the list */
    char *version;      /* resourceVersion from which to watch */
    struct buf line;    /* the incomplete line or frame at the end of the data */
    bool begun, framed; /* data has arrived; it is protobuf */
    struct err broken;  /* why muster ended the watch request */
};

static void list_page(struct watch *w);
static void watch_begin(struct watch *w);

/* ---- known objects ---- */

static char *key_of(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns, name);
}

static void take_back(struct watch *w, const char *key, struct known *k)
{
    const char *slash = strchr(key, '/');
    cleanup_free char *ns = xstrndup(key, (size_t)(slash - key)), *name = xstrdup(slash + 1);
    if (k->given)
        w->o.gone(w->o.arg, ns, name);
    k->given = false;
}

static void readable(struct watch *w, struct known *k)
{
    if (k->unread)
        unreadable_objects_remove(&w->unread);
    k->unread = false;
}

static void forget(struct watch *w, const char *key, struct known *k)
{
    take_back(w, key, k);
    readable(w, k);
    free(map_remove(&w->known, key));
}

/* Reports an object that cannot be read, or only in part. */
static void note_unread(struct watch *w, const char *key, struct known *k, const struct err *why)
{
    api_metrics_count(w->metrics, "watch_errors_total", "resource", w->o.resource);
    if (!k->unread)
        unreadable_objects_add(&w->unread, *key == '/' ? key + 1 : key, k->given, why);
    k->unread = true;
}

/* `bad` is set if `object` is only the readable part of an object; NULL: it is complete. */
static void give(struct watch *w, const char *key, struct known *k, json_t *object,
                 const struct err *bad)
{
    struct err err;
    int r = !bad          ? w->o.set(w->o.arg, object, &err)
            : w->o.unread ? w->o.unread(w->o.arg, object, bad)
                          : -1;
    if (r < 0)
        take_back(w, key, k); /* its earlier version no longer exists */
    else
        k->given = true;
    if (r == 0)
        readable(w, k);
    else
        note_unread(w, key, k, bad ? bad : &err);
}

static struct known *learn(struct watch *w, const char *key)
{
    struct known *k = map_get(&w->known, key);
    if (!k) {
        k = xcalloc(1, sizeof *k);
        map_set(&w->known, key, k);
    }
    return k;
}

struct identity {
    const char *ns, *name, *uid, *version;
};

static int identify(const json_t *object, struct identity *id, struct err *err)
{
    *id = (struct identity){.ns = field_peek(object, "metadata", "namespace", NULL),
                            .name = field_peek(object, "metadata", "name", NULL),
                            .uid = field_peek(object, "metadata", "uid", NULL),
                            .version = field_peek(object, "metadata", "resourceVersion", NULL)};
    if (!id->ns)
        id->ns = "";
    if (!id->uid)
        id->uid = "";
    if (!id->name || !id->version)
        return err_set(err, ERR_INVALID,
                       "an object has no metadata.name or no metadata.resourceVersion");
    return 0;
}

static int take_object(struct watch *w, json_t *object, const struct err *bad, struct err *err)
{
    struct identity id;
    if (identify(object, &id, err) < 0)
        return -1;
    cleanup_free char *key = key_of(id.ns, id.name);
    struct known *k = learn(w, key);
    uint64_t version = hash_text(HASH_START, id.version), uid = hash_text(HASH_START, id.uid);
    bool is_new = k->seen == 0;
    k->seen = w->list_number;
    if (!is_new && k->version == version)
        return 0;
    if (!is_new && k->uid != uid) {
        /* It was deleted and created again while no watch was open. */
        take_back(w, key, k);
        readable(w, k);
    }
    k->version = version;
    k->uid = uid;
    give(w, key, k, object, bad);
    return 0;
}

static int drop_object(struct watch *w, const json_t *object, struct err *err)
{
    struct identity id;
    if (identify(object, &id, err) < 0)
        return -1;
    cleanup_free char *key = key_of(id.ns, id.name);
    struct known *k = map_get(&w->known, key);
    if (k)
        forget(w, key, k);
    return 0;
}

/* ---- pauses ---- */

static void on_retry(void *arg)
{
    struct watch *w = arg;
    if (w->relist)
        list_page(w);
    else
        watch_begin(w);
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = xstrdup_null(value);
}

static void start_over(struct watch *w)
{
    set_text(&w->token, NULL);
    w->relist = true;
}

static void pause_then(struct watch *w, bool relist)
{
    if (relist)
        start_over(w);
    w->relist = relist;
    usec_t pause = client_backoff(w->client, w->failures++, BACKOFF_FIRST, BACKOFF_MOST);
    client_timer_set(w->client, &w->retry, usec_now() + pause);
}

/* Logs a warning for the first failure, and debug lines until recovered(). */
static void complain(struct watch *w, const char *what, const struct err *err)
{
    if (!w->troubled)
        log_warning(what, "resource", w->o.resource, "error", err->text, NULL);
    else
        log_debug(what, "resource", w->o.resource, "error", err->text, NULL);
    w->troubled = true;
}

static void recovered(struct watch *w)
{
    if (w->troubled)
        log_info("The watch works again", "resource", w->o.resource, NULL);
    w->troubled = false;
    w->failures = 0;
}

/* ---- falling behind ---- */

static void tell_behind(struct watch *w, bool behind)
{
    if (w->o.behind && w->behind != behind)
        w->o.behind(w->o.arg, behind);
    w->behind = behind;
}

static void look_again(struct watch *w, usec_t at)
{
    if (w->o.behind)
        client_timer_set(w->client, &w->look, at);
}

static void on_look(void *arg)
{
    struct watch *w = arg;
    usec_t now = usec_now(), due = w->heard + w->o.max_pause;
    bool was = w->answered;
    w->answered = w->watching && now < due && client_status(w->call) == 200;
    tell_behind(w, !w->answered || !was);
    look_again(w, w->behind ? now + CATCH_UP : due);
}

/* Called when a watch request begins or ends. */
static void fall_behind(struct watch *w)
{
    w->answered = false;
    tell_behind(w, true);
    look_again(w, usec_now() + CATCH_UP);
}

/* ---- list ---- */

static void list_failed(struct watch *w, const struct client_reply *reply)
{
    struct err err;
    client_reply_error(reply, &err);
    if (reply->too_large && w->page > 1) {
        w->page = w->page > 4 ? w->page / 4 : 1;
        w->shrunk = true;
        start_over(w);
        list_page(w);
    } else if (!reply->error && reply->status == 404 && w->o.missing) {
        w->o.missing(w->o.arg);
    } else if (!reply->error && reply->status == 403) {
        if (w->rule && !w->warned)
            log_error("The API server does not let muster read objects; grant the missing rule",
                      "rule", w->rule, "error", err.text, NULL);
        w->warned = w->rule != NULL;
        if (w->o.forbidden)
            w->o.forbidden(w->o.arg);
        pause_then(w, /* relist= */ true);
    } else {
        /* An expired continue token (410) is not a failure of the API server. */
        if (reply->error || reply->status != 410)
            complain(w, "List failed, retrying", &err);
        pause_then(w, /* relist= */ true);
    }
}

static void sweep(struct watch *w)
{
    map_for_each (e, &w->known) {
        struct known *k = e->value;
        if (k->seen != w->list_number)
            forget(w, e->key, k);
    }
}

static void list_complete(struct watch *w)
{
    sweep(w);
    api_metrics_count(w->metrics, "watch_lists_total", "resource", w->o.resource);
    if (w->warned)
        log_info("The API server now lets muster read objects", "resource", w->o.resource, NULL);
    w->warned = false;
    if (!w->was_synced) {
        w->was_synced = true;
        w->o.synced(w->o.arg);
    }
    watch_begin(w);
}

/* Reads the metadata of a page: the version from which to watch, and the continue token. */
static int take_list_meta(struct watch *w, const json_t *meta, struct err *err)
{
    const char *version = field_peek(meta, "resourceVersion", NULL);
    const char *token = field_peek(meta, "continue", NULL);
    if (!version)
        return err_set(err, ERR_INVALID, "the reply is not a list with a resourceVersion");
    set_text(&w->version, version);
    set_text(&w->token, token && *token ? token : NULL);
    return 0;
}

/* Skips and reports an item that is not an object or has no name. */
static void take_item(struct watch *w, json_t *item, const struct err *bad)
{
    struct err err;
    if (take_object(w, item, bad, &err) == 0)
        return;
    api_metrics_count(w->metrics, "watch_errors_total", "resource", w->o.resource);
    unreadable_objects_add(&w->unread, NULL, false, &err);
}

static int read_page(struct watch *w, const struct client_reply *reply, struct err *err)
{
    struct kube_protobuf_list frames;
    struct kube_json_list lines;
    bool proto = w->o.proto && kube_protobuf_is(reply->body, reply->len);
    if (proto && w->page == PAGE_JSON && !w->o.page && !w->shrunk)
        w->page = PAGE_PROTO;
    cleanup_json json_t *meta =
        proto ? kube_protobuf_list_begin(&frames, reply->body, reply->len, err)
              : kube_json_list_begin(&lines, reply->body, reply->len, err);
    if (!meta || take_list_meta(w, meta, err) < 0)
        return -1;
    json_t *item; /* one tree at a time: a tree can be a hundred times the size of its text */
    while ((item = proto ? kube_protobuf_list_next(&frames, w->o.proto, err)
                         : kube_json_list_next(&lines, err)) != NULL) {
        take_item(w, item, err->code == ERR_NONE ? NULL : err);
        json_decref(item);
    }
    return err->code == ERR_NONE ? 0 : -1;
}

static void on_list(void *arg, const struct client_reply *reply)
{
    struct watch *w = arg;
    w->call = NULL;
    if (!client_ok(reply)) {
        list_failed(w, reply);
        return;
    }
    struct err err;
    if (read_page(w, reply, &err) < 0) {
        complain(w, "List failed, retrying", &err);
        pause_then(w, /* relist= */ true);
    } else if (w->token) {
        list_page(w);
    } else {
        list_complete(w);
    }
}

static const char *accept_of(const struct watch *w)
{
    return w->o.proto ? KUBE_PROTOBUF_ACCEPT : NULL;
}

static void put_selector(const struct watch *w, struct buf *path)
{
    if (w->o.selector)
        buf_printf(path, "&%s", w->o.selector);
}

/* kube-apiserver may never answer a list that comes while it begins to serve a CRD, so muster soon
 * sends it again. A slow server gets more time with each try. */
static usec_t page_timeout(const struct watch *w)
{
    usec_t timeout = w->o.page_timeout << (w->failures < 6 ? w->failures : 6);
    return timeout < PAGE_TIMEOUT ? timeout : PAGE_TIMEOUT;
}

static void list_page(struct watch *w)
{
    if (!w->token)
        w->list_number++;
    cleanup_buf struct buf path = BUF_INIT;
    buf_printf(&path, "%s?limit=%d", w->path, w->page);
    put_selector(w, &path);
    if (w->token) {
        buf_puts(&path, "&continue=");
        client_escape(&path, w->token);
    }
    w->call = client_send(w->client, &(struct client_request){.verb = "list",
                                                              .resource = w->o.resource,
                                                              .method = "GET",
                                                              .path = buf_str(&path),
                                                              .accept = accept_of(w),
                                                              .alone = true,
                                                              .timeout = page_timeout(w),
                                                              .max_body = w->o.max_page,
                                                              .done = on_list,
                                                              .arg = w});
}

/* ---- watch ---- */

static int take_bookmark(struct watch *w, const json_t *object, struct err *err)
{
    if (!field_peek(object, "metadata", "resourceVersion", NULL))
        return err_set(err, ERR_INVALID, "a BOOKMARK event has no metadata.resourceVersion");
    (void)w; /* take_line() stores the version of every event */
    return 0;
}

static int take_line(struct watch *w, const char *line, size_t len, struct err *err)
{
    struct err bad;
    bad.code = ERR_NONE;
    cleanup_json json_t *event = w->framed ? kube_protobuf_event(w->o.proto, line, len, &bad)
                                           : kube_json_event(line, len, &bad);
    if (!event) {
        *err = bad;
        return -1;
    }
    const char *type = field_peek(event, "type", NULL);
    json_t *object = json_object_get(event, "object");
    if (!type || !json_is_object(object))
        return err_set(err, ERR_INVALID, "the watch sent something that is not an event");
    if (str_eq(type, "ERROR")) {
        const char *message = field_peek(object, "message", NULL);
        bool expired = json_integer_value(json_object_get(object, "code")) == 410;
        return err_set(err, expired ? ERR_NOT_FOUND : ERR_UNAVAILABLE, "%s",
                       message ? message : "the watch sent an ERROR event without a message");
    }
    int r;
    if (str_eq(type, "ADDED") || str_eq(type, "MODIFIED"))
        r = take_object(w, object, bad.code == ERR_NONE ? NULL : &bad, err);
    else if (str_eq(type, "DELETED"))
        r = drop_object(w, object, err);
    else if (str_eq(type, "BOOKMARK"))
        r = take_bookmark(w, object, err);
    else
        return err_set(err, ERR_INVALID, "the watch sent an event of unknown type \"%.40s\"", type);
    if (r < 0)
        return -1;
    set_text(&w->version, field_peek(object, "metadata", "resourceVersion", NULL));
    return 0;
}

static bool cut_off(struct watch *w)
{
    api_metrics_count(w->metrics, "watch_errors_total", "resource", w->o.resource);
    return false;
}

static bool too_long(struct watch *w)
{
    err_set(&w->broken, ERR_INVALID, "the watch sent an event of more than %zu bytes",
            w->o.max_line);
    return cut_off(w);
}

/* Takes a complete event. */
static bool take_whole(struct watch *w, const char *line, size_t len)
{
    if (len > 0 && take_line(w, line, len, &w->broken) < 0)
        return cut_off(w);
    if (len > 0)
        api_metrics_count(w->metrics, "watch_events_total", "resource", w->o.resource);
    recovered(w);
    buf_clear(&w->line);
    return true;
}

/* JSON: one event on each line. */
static bool take_lines(struct watch *w, const char *data, size_t len)
{
    while (len > 0) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end ? (size_t)(end - data) : len;
        if (piece > w->o.max_line - w->line.len)
            return too_long(w);
        buf_append(&w->line, data, piece);
        if (!end)
            return true;
        if (w->line.len > 0)
            json_repair(w->line.data, w->line.len);
        if (!take_whole(w, w->line.data, w->line.len))
            return false;
        data = end + 1;
        len -= piece + 1;
    }
    return true;
}

/* The length of the frame that is arriving, with its head; 0: not known yet. */
static size_t frame_length(const struct watch *w)
{
    const unsigned char *p = (const unsigned char *)w->line.data;
    if (w->line.len < FRAME_HEAD)
        return 0;
    return FRAME_HEAD + ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]);
}

/* Protobuf: each event follows its length. */
static bool take_frames(struct watch *w, const char *data, size_t len)
{
    while (len > 0) {
        size_t whole = frame_length(w), want = (whole ? whole : FRAME_HEAD) - w->line.len;
        size_t piece = want < len ? want : len;
        buf_append(&w->line, data, piece);
        data += piece;
        len -= piece;
        whole = frame_length(w);
        if (whole > w->o.max_line)
            return too_long(w);
        if (whole && w->line.len == whole &&
            !take_whole(w, w->line.data + FRAME_HEAD, whole - FRAME_HEAD))
            return false;
    }
    return true;
}

static bool on_watch_data(void *arg, const char *data, size_t len)
{
    struct watch *w = arg;
    w->heard = usec_now();
    if (!w->begun && len > 0)
        w->framed = w->o.proto && kube_protobuf_is_frame(data[0]);
    w->begun = w->begun || len > 0;
    return w->framed ? take_frames(w, data, len) : take_lines(w, data, len);
}

static void on_watch_done(void *arg, const struct client_reply *reply)
{
    struct watch *w = arg;
    w->call = NULL;
    w->watching = false;
    fall_behind(w);
    client_timer_clear(w->client, &w->silence);
    api_metrics_count(w->metrics, "watch_restarts_total", "resource", w->o.resource);
    struct err err;
    if (w->broken.code != ERR_NONE) {
        /* The watch may have lost events, so list all objects again. */
        if (w->broken.code != ERR_NOT_FOUND)
            complain(w, "Watch failed, listing again", &w->broken);
        pause_then(w, /* relist= */ true);
    } else if (reply->status == 200) {
        if (usec_now() - w->started >= HEALTHY)
            recovered(w);
        if (w->failures == 0 && !reply->error) {
            w->failures++;
            watch_begin(w);
            return;
        }
        pause_then(w, /* relist= */ false);
    } else {
        bool answered = !reply->error && reply->status >= 400 && reply->status < 500;
        client_reply_error(reply, &err);
        if (reply->status != 410)
            complain(w, "Watch failed, retrying", &err);
        /* After a 4xx the next request is a list, which handles 403 and 404. */
        pause_then(w, answered && reply->status != 429);
    }
}

static void on_silence(void *arg)
{
    struct watch *w = arg;
    usec_t due = w->heard + w->o.max_silence;
    if (usec_now() < due) {
        client_timer_set(w->client, &w->silence, due);
        return;
    }
    client_cancel(w->client, STEAL(w->call));
    api_metrics_count(w->metrics, "watch_restarts_total", "resource", w->o.resource);
    watch_begin(w);
}

static void watch_begin(struct watch *w)
{
    buf_clear(&w->line);
    w->begun = false;
    w->broken = (struct err){.code = ERR_NONE};
    w->started = w->heard = usec_now();
    unsigned seconds = TIMEOUT_SECONDS + client_random(w->client) % TIMEOUT_SECONDS;
    cleanup_buf struct buf path = BUF_INIT;
    buf_printf(&path,
               "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%u&resourceVersion=", w->path,
               seconds);
    client_escape(&path, w->version);
    put_selector(w, &path);
    w->call = client_send(w->client, &(struct client_request){.verb = "watch",
                                                              .resource = w->o.resource,
                                                              .method = "GET",
                                                              .path = buf_str(&path),
                                                              .accept = accept_of(w),
                                                              .alone = true,
                                                              .data = on_watch_data,
                                                              .done = on_watch_done,
                                                              .arg = w});
    client_timer_set(w->client, &w->silence, w->heard + w->o.max_silence);
    w->watching = true;
    fall_behind(w);
}

/* ---- life ---- */

struct watch *watch_start(struct client *c, struct api_metrics *metrics,
                          const struct watch_options *options)
{
    struct watch *w = xcalloc(1, sizeof *w);
    w->client = c;
    w->metrics = metrics;
    w->o = *options;
    w->path = xstrdup(options->path);
    w->rule = xstrdup_null(options->rule);
    w->page = options->page ? options->page : PAGE_JSON;
    if (!w->o.max_line)
        w->o.max_line = (size_t)16 << 20;
    if (!w->o.max_page)
        w->o.max_page = (size_t)64 << 20;
    if (!w->o.page_timeout)
        w->o.page_timeout = PAGE_TIMEOUT_FIRST;
    if (!w->o.max_silence)
        w->o.max_silence = 150 * USEC_PER_SEC;
    if (!w->o.max_pause)
        w->o.max_pause = MAX_PAUSE;
    w->retry = (struct client_timer){.fire = on_retry, .arg = w};
    w->silence = (struct client_timer){.fire = on_silence, .arg = w};
    w->look = (struct client_timer){.fire = on_look, .arg = w};
    unreadable_objects_begin(&w->unread, c, metrics, options->resource, options->naming);
    list_page(w);
    return w;
}

struct watch *watch_stop(struct watch *w, bool forget_all)
{
    if (!w)
        return NULL;
    if (w->call)
        client_cancel(w->client, w->call);
    client_timer_clear(w->client, &w->retry);
    client_timer_clear(w->client, &w->silence);
    client_timer_clear(w->client, &w->look);
    map_for_each (e, &w->known) {
        if (forget_all)
            take_back(w, e->key, e->value);
        free(e->value);
    }
    map_done(&w->known);
    unreadable_objects_end(&w->unread);
    buf_done(&w->line);
    free(w->path);
    free(w->rule);
    free(w->token);
    free(w->version);
    free(w);
    return NULL;
}
