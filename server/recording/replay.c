/* SPDX-License-Identifier: Apache-2.0 */
#include "server/recording/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "server/recording/record.h"

#define CHUNK ((size_t)1 << 16)

struct player {
    const struct replay_options *options;
    struct replay *result;
    FILE *file;
    struct buf text; /* bytes of the file; those before `used` are processed */
    size_t used;
    uint64_t line;
    struct gang_config config;
    struct gang_core *core;
    struct record_names names;
    struct map pool;
};

/* ---- lines ---- */

/* Reads and parses the next line. NULL: end of the file, or an error in err. A last line without a
 * newline is ignored. */
static json_t *next_line(struct player *p, struct err *err)
{
    char *end;
    size_t looked = p->used;
    while (!(end = memchr(buf_str(&p->text) + looked, '\n', p->text.len - looked))) {
        looked = p->text.len - p->used;
        if (p->used) {
            memmove(p->text.data, p->text.data + p->used, looked);
            p->text.len = looked;
            p->used = 0;
        }
        char chunk[CHUNK];
        size_t n = fread(chunk, 1, sizeof chunk, p->file);
        if (n == 0) {
            p->result->cut = p->text.len > 0;
            if (ferror(p->file))
                err_errno(err, "cannot be read");
            return NULL;
        }
        buf_append(&p->text, chunk, n);
        if (p->text.len > 2 * RECORD_MAX_LINE) {
            err_set(err, ERR_INVALID, "line %" PRIu64 " is too long: this is not a recording",
                    p->line + 1);
            return NULL;
        }
    }
    json_error_t e;
    const char *start = p->text.data + p->used;
    json_t *line = json_loadb(start, (size_t)(end - start), 0, &e);
    p->used = (size_t)(end + 1 - p->text.data);
    p->line++;
    if (!line)
        err_set(err, ERR_INVALID, "line %" PRIu64 " is not JSON: %s", p->line, e.text);
    return line;
}

static char *text_of(const json_t *line, const char *key)
{
    const char *s = json_string_value(json_object_get(line, key));
    return xstrdup(s ? s : "unknown");
}

static int take_head(struct player *p, const json_t *line, struct err *err)
{
    const json_t *format = json_object_get(line, "recording");
    p->result->version = text_of(line, "muster");
    p->result->at = text_of(line, "at");
    if (!json_is_integer(format))
        return err_set(err, ERR_INVALID,
                       "is not a recording: write one with \"muster serve --record FILE\"");
    if (json_integer_value(format) != RECORD_FORMAT)
        return err_set(err, ERR_UNSUPPORTED,
                       "has format %d, but this muster reads format %d: replay it with muster %s",
                       (int)json_integer_value(format), RECORD_FORMAT, p->result->version);
    p->result->start = p->result->now = json_integer_value(json_object_get(line, "now"));
    if (record_decode(&record_config, json_object_get(line, "config"), &p->config, &p->pool, err) <
        0)
        return err_wrap(err, "line 1: config");
    p->core = gang_core_new(&p->config);
    return 0;
}

/* ---- comparing ---- */

static void differ(struct replay *r, size_t i, const json_t *recorded, const char *decided)
{
    r->differs = true;
    r->effect = i;
    r->recorded = recorded ? json_dumps(recorded, JSON_COMPACT) : xstrdup("");
    r->decided = xstrdup(decided);
}

static bool same(const json_t *recorded, const struct buf *decided)
{
    json_t *j = json_loadb(buf_str(decided), decided->len, 0, NULL);
    bool equal = j && json_equal(j, recorded);
    json_decref(j);
    return equal;
}

static void compare(struct replay *r, const json_t *recorded, const struct gang_effect *effects,
                    size_t n)
{
    r->n_recorded = json_array_size(recorded);
    r->n_decided = n;
    cleanup_buf struct buf decided = BUF_INIT;
    for (size_t i = 0; i < n || i < r->n_recorded; i++) {
        buf_clear(&decided);
        if (i < n)
            record_put_effect(&effects[i], &decided);
        const json_t *was = json_array_get(recorded, i);
        if (!was || i >= n || !same(was, &decided)) {
            differ(r, i, was, buf_str(&decided));
            return;
        }
    }
}

/* ---- a step ---- */

static void count(struct replay *r, const struct gang_effect *effects, size_t n)
{
    r->effects += n;
    for (size_t i = 0; i < n; i++) {
        const struct gang_effect *e = &effects[i];
        r->bindings += e->kind == GANG_BIND;
        r->scheduled += e->kind == GANG_EVENT && str_eq(e->event.reason, "PodGroupScheduled");
    }
}

static int check(struct player *p, struct err *err)
{
    if (!p->options->check || gang_core_check(p->core, err) == 0)
        return 0;
    return err_wrap(err, "line %" PRIu64 ", %.3f s after the start: invariant violated", p->line,
                    (double)(p->result->now - p->result->start) / 1e6);
}

static int decide(struct player *p, const json_t *line, struct gang_event *events, size_t n,
                  struct err *err)
{
    struct replay *r = p->result;
    size_t n_effects;
    const struct gang_effect *effects = gang_step(p->core, r->now, events, n, &n_effects);
    r->steps++;
    r->events += n;
    count(r, effects, n_effects);
    compare(r, json_object_get(line, "effects"), effects, n_effects);
    if (p->options->after)
        p->options->after(p->options->arg, r->now - r->start, p->core);
    return check(p, err);
}

static int take_step(struct player *p, const json_t *line, struct err *err)
{
    const json_t *list = json_object_get(line, "events"), *json;
    const json_t *now = json_object_get(line, "now");
    if (!json_is_array(list) || !json_is_integer(now) ||
        !json_is_array(json_object_get(line, "effects")))
        return err_set(err, ERR_INVALID,
                       "line %" PRIu64 " is not a step: now, events or effects is missing",
                       p->line);
    if (json_integer_value(now) < p->result->now)
        return err_set(err, ERR_INVALID, "line %" PRIu64 ": now is earlier than in the line before",
                       p->line);
    p->result->now = json_integer_value(now);
    size_t i, n = 0;
    cleanup_free struct gang_event *events = xcalloc(json_array_size(list) + 1, sizeof *events);
    cleanup_free const char *const **names = xcalloc(json_array_size(list) + 1, sizeof *names);
    int ret = record_take_names(&p->names, line, err);
    json_array_foreach(list, i, json)
    {
        if (ret == 0)
            ret = record_take_event(&p->names, &p->pool, json, &events[n], err);
        if (ret < 0)
            break;
        names[n] = events[n].names;
        n++;
    }
    if (ret < 0)
        err_wrap(err, "line %" PRIu64, p->line);
    else
        ret = decide(p, line, events, n, err);
    for (i = 0; i < n; i++) {
        gang_event_done(&events[i]);
        free((void *)(uintptr_t)names[i]);
    }
    return ret;
}

static int play(struct player *p, struct err *err)
{
    struct replay *r = p->result;
    err->code = ERR_NONE;
    for (json_t *line; !r->differs && !r->end && (line = next_line(p, err)) != NULL;) {
        int ret = 0;
        if (p->line == 1)
            ret = take_head(p, line, err);
        else if (json_object_get(line, "end"))
            r->end = text_of(line, "end");
        else
            ret = take_step(p, line, err);
        json_decref(line);
        if (ret < 0)
            return -1;
    }
    if (err->code == ERR_NONE && !p->core)
        return err_set(err, ERR_INVALID,
                       "is empty: write a recording with \"muster serve --record FILE\"");
    if (p->core)
        gang_core_stats(p->core, &r->stats);
    return err->code == ERR_NONE ? 0 : -1;
}

static void free_texts(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)texts[i]);
    free((void *)(uintptr_t)texts);
}

/* What record_decode() has allocated in it. */
static void config_done(struct gang_config *c)
{
    free_texts(c->scheduler_names, c->n_scheduler_names);
    free_texts(c->queue_grants, c->n_queue_grants);
}

int replay_file(const char *path, const struct replay_options *options, struct replay *ret,
                struct err *err)
{
    *ret = (struct replay){.version = NULL};
    struct player p = {.options = options, .result = ret, .pool = MAP_INIT};
    p.file = fopen(path, "re");
    int r = p.file ? play(&p, err) : err_errno(err, "cannot be opened");
    if (p.file)
        fclose(p.file);
    gang_core_free(p.core);
    config_done(&p.config);
    record_names_done(&p.names);
    record_pool_done(&p.pool);
    buf_done(&p.text);
    return r;
}

void replay_done(struct replay *r)
{
    free(r->version);
    free(r->at);
    free(r->end);
    free(r->recorded);
    free(r->decided);
}
