/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <time.h>

#include "server/recording/record.h"

void record_names_done(struct record_names *names)
{
    map_done(&names->numbers);
    free(names->items);
    free(names->offered);
    *names = (struct record_names){.numbers = MAP_INIT};
}

/* Sets *number to the name's number and returns it; NULL: the name is new. */
static const size_t *known(const struct record_names *names, const char *name, size_t *number)
{
    *number = (size_t)(uintptr_t)map_get(&names->numbers, name);
    return (*number)-- ? number : NULL;
}

static int learn(struct record_names *names, const char *name, struct err *err)
{
    if (names->n >= RECORD_MAX_NAMES)
        return err_set(err, ERR_UNSUPPORTED, "calls offered more than %d different node names",
                       RECORD_MAX_NAMES);
    map_set(&names->numbers, name, (void *)(uintptr_t)(names->n + 1));
    GROW(names->items, names->cap, names->n + 1);
    /* The new entry is the last one, and its key is the map's own copy. */
    names->items[names->n++] = names->numbers.entries[names->numbers.used - 1].key;
    return 0;
}

/* ---- writing ---- */

void record_put_head(const struct gang_config *config, usec_t now, usec_t wall, struct buf *out)
{
    char at[32];
    time_t sec = (time_t)(wall / USEC_PER_SEC);
    struct tm tm;
    gmtime_r(&sec, &tm);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_printf(out,
               "{\"recording\":%d,\"muster\":\"%s\",\"at\":\"%s\",\"now\":%" PRId64 ",\"config\":",
               RECORD_FORMAT, MUSTER_VERSION, at, now);
    record_encode(&record_config, config, out);
    buf_puts(out, "}\n");
}

/* Numbers the names of all events. Each name is looked up only once, because a call can offer
 * thousands of names. */
static int number_names(struct record_names *names, const struct gang_event *events, size_t n,
                        struct err *err)
{
    size_t number, n_offered = 0;
    for (size_t i = 0; i < n; i++) {
        GROW(names->offered, names->offered_cap, n_offered + events[i].n_names);
        for (size_t j = 0; j < events[i].n_names; j++) {
            const char *name = events[i].names[j];
            if (!known(names, name, &number)) {
                number = names->n;
                if (learn(names, name, err) < 0)
                    return -1;
            }
            names->offered[n_offered++] = (uint32_t)number;
        }
    }
    return 0;
}

static void put_new_names(const struct record_names *names, size_t first, struct buf *out)
{
    for (size_t i = first; i < names->n; i++) {
        buf_puts(out, i == first ? ",\"new\":[" : ",");
        buf_json(out, names->items[i], strlen(names->items[i]));
    }
    buf_puts(out, first < names->n ? "]" : "");
}

static void put_victims(const struct gang_victims *v, size_t nth, struct buf *out)
{
    buf_puts(out, nth ? ",[" : "[");
    for (size_t i = 0; i < v->n; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, v->uids[i], strlen(v->uids[i]));
    }
    buf_putc(out, ']');
}

static void put_violations(const struct gang_event *ev, struct buf *out)
{
    for (size_t i = 0; i < ev->n_names; i++)
        buf_printf(out, "%s%" PRId64, i ? "," : "", ev->victims[i].violations);
}

static void put_event(const struct gang_event *ev, const uint32_t *offered, struct buf *out)
{
    const struct record_field *f = record_event_field(ev->kind);
    buf_printf(out, "{\"kind\":\"%s\"", gang_event_name(ev->kind));
    if (ev->id)
        buf_printf(out, ",\"id\":%" PRId64, (int64_t)ev->id);
    if (f) {
        const char *body = (const char *)ev + f->offset;
        buf_printf(out, ",\"%s\":", f->name);
        record_encode(f->of, f->kind == RECORD_OWNED ? *(const void *const *)body : body, out);
    }
    if (ev->n_names) {
        buf_puts(out, ",\"names\":");
        record_put_runs(offered, ev->n_names, out);
    }
    if (ev->victims) {
        buf_puts(out, ",\"victims\":[");
        for (size_t i = 0; i < ev->n_names; i++)
            put_victims(&ev->victims[i], i, out);
        buf_puts(out, "],\"violations\":[");
        put_violations(ev, out);
        buf_putc(out, ']');
    }
    buf_putc(out, '}');
}

int record_put_events(struct record_names *names, usec_t now, const struct gang_event *events,
                      size_t n, struct buf *out, struct err *err)
{
    size_t first = names->n;
    if (number_names(names, events, n, err) < 0)
        return -1;
    buf_printf(out, "{\"now\":%" PRId64, now);
    put_new_names(names, first, out);
    buf_puts(out, ",\"events\":[");
    const uint32_t *offered = names->offered;
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        put_event(&events[i], offered, out);
        offered += events[i].n_names;
    }
    buf_putc(out, ']');
    return 0;
}

void record_put_effect(const struct gang_effect *effect, struct buf *out)
{
    cleanup_buf struct buf body = BUF_INIT;
    record_encode(record_effect_type(effect->kind), effect, &body);
    buf_printf(out, "{\"do\":\"%s\"%s%s", record_effect_name(effect->kind), body.len > 2 ? "," : "",
               buf_str(&body) + 1); /* without the opening brace */
}

void record_put_effects(const struct gang_effect *effects, size_t n, struct buf *out)
{
    buf_puts(out, ",\"effects\":[");
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        record_put_effect(&effects[i], out);
    }
    buf_puts(out, "]}\n");
}

void record_put_end(const char *why, struct buf *out)
{
    buf_puts(out, "{\"end\":");
    buf_json(out, why, strlen(why));
    buf_puts(out, "}\n");
}

/* ---- reading ---- */

int record_take_names(struct record_names *names, const json_t *line, struct err *err)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(line, "new"), i, name)
    {
        size_t number;
        const char *s = json_string_value(name);
        if (!s || known(names, s, &number))
            return err_set(err, ERR_INVALID, "new[%zu] is not a new name", i);
        if (learn(names, s, err) < 0)
            return -1;
    }
    return 0;
}

/* Reads "0-99,7", at most RECORD_MAX_NAMES names. */
static int take_name_list(const struct record_names *names, const char *s, struct gang_event *ev,
                          struct err *err)
{
    cleanup_free const char **list = NULL;
    size_t n = 0, cap = 0;
    while (*s) {
        char *end = NULL;
        unsigned long from = *s >= '0' && *s <= '9' ? strtoul(s, &end, 10) : ULONG_MAX, to = from;
        if (end && *end == '-')
            to = strtoul(end + 1, &end, 10);
        if (!end || to < from || to >= names->n || n > RECORD_MAX_NAMES || (*end && *end != ','))
            return err_set(err, ERR_INVALID, "names is not a list of numbers of known names");
        for (; from <= to; from++) {
            GROW(list, cap, n + 1);
            list[n++] = names->items[from];
        }
        s = *end ? end + 1 : end;
    }
    ev->names = STEAL(list);
    ev->n_names = n;
    return 0;
}

/* Reads the victims on each node. They are stored in one block with the names. */
static int take_victims(const json_t *lists, const json_t *violations, struct gang_event *ev,
                        struct err *err)
{
    size_t n = ev->n_names, n_uids = 0, i, j;
    const json_t *list, *uid;
    json_array_foreach(lists, i, list)
    {
        n_uids += json_array_size(list);
    }
    if (json_array_size(lists) != n)
        return err_set(err, ERR_INVALID, "victims is not a list for each of the names");
    char *block =
        xcalloc(1, n * (sizeof *ev->names + sizeof *ev->victims) + n_uids * sizeof(char *));
    const char **names = (const char **)(void *)block;
    struct gang_victims *victims = (struct gang_victims *)(void *)(names + n);
    const char **uids = (const char **)(void *)(victims + n);
    if (n)
        memcpy(names, ev->names, n * sizeof *names);
    free((void *)(uintptr_t)ev->names);
    ev->names = names;
    ev->victims = victims;
    json_array_foreach(lists, i, list)
    {
        int64_t violated = json_integer_value(json_array_get(violations, i));
        victims[i] = (struct gang_victims){uids, json_array_size(list), violated};
        json_array_foreach(list, j, uid)
        {
            *uids = json_string_value(uid);
            if (!*uids++)
                return err_set(err, ERR_INVALID, "victims has a UID that is not a text");
        }
    }
    return 0;
}

static enum gang_event_kind kind_named(const char *name)
{
    enum gang_event_kind kind = 0;
    while (kind < GANG_EV_MAX && !str_eq(gang_event_name(kind), name))
        kind++;
    return kind;
}

/* Whether the event has the names that the core needs. */
static bool is_whole(const struct gang_event *ev)
{
    const struct gang_ref *gone = &ev->gone;
    switch (ev->kind) {
    case GANG_EV_NODE_GONE:
    case GANG_EV_CLASS_GONE:
    case GANG_EV_NAMESPACE_GONE:
        return gone->name;
    case GANG_EV_POD_GONE:
    case GANG_EV_CLAIM_GONE:
    case GANG_EV_BUDGET_GONE:
    case GANG_EV_JOB_GONE:
        return gone->ns && gone->name;
    case GANG_EV_GROUP_GONE:
    case GANG_EV_QUEUE_GONE:
        return gone->api_group && gone->ns && gone->name;
    default:
        return true;
    }
}

static int take_body(struct map *pool, const json_t *json, struct gang_event *ev, struct err *err)
{
    const struct record_field *f = record_event_field(ev->kind);
    if (!f)
        return 0;
    const json_t *value = json_object_get(json, f->name);
    void *body = (char *)ev + f->offset;
    if (!value && ev->kind == GANG_EV_SYNCED)
        return 0; /* an old recording */
    if (!value)
        return err_set(err, ERR_INVALID, "%s is missing", f->name);
    if (f->kind == RECORD_OWNED)
        body = *(void **)body = xcalloc(1, f->of->size);
    if (record_decode(f->of, value, body, pool, err) < 0)
        return err_wrap(err, "%s", f->name);
    return is_whole(ev) ? 0 : err_set(err, ERR_INVALID, "gone: a name is missing");
}

int record_take_event(const struct record_names *names, struct map *pool, const json_t *json,
                      struct gang_event *ev, struct err *err)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const json_t *id = json_object_get(json, "id"), *list = json_object_get(json, "names"),
                 *victims = json_object_get(json, "victims");
    *ev = (struct gang_event){.kind = kind_named(kind), .id = (uint64_t)json_integer_value(id)};
    if (ev->kind == GANG_EV_MAX)
        return err_set(err, ERR_INVALID, "kind: this version does not know the event \"%.100s\"",
                       kind ? kind : "");
    bool call = ev->kind >= GANG_EV_FILTER && ev->kind <= GANG_EV_CALL_CLOSED;
    int r = 0;
    if (call != (ev->id != 0))
        r = err_set(err, ERR_INVALID, call ? "id is missing" : "id: only calls have an id");
    if (r == 0 && list)
        r = take_name_list(names, json_string_value(list) ? json_string_value(list) : "?", ev, err);
    if (r == 0 && victims)
        r = take_victims(victims, json_object_get(json, "violations"), ev, err);
    if (r == 0)
        r = take_body(pool, json, ev, err);
    if (r < 0) {
        gang_event_done(ev);
        free((void *)(uintptr_t)ev->names);
        return err_wrap(err, "%s", kind);
    }
    return 0;
}
