/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the lines of a recording: encodes and decodes the core's events, effects and
 * configuration as JSON.
 *
 * A recording is a text file of JSON lines. The first line identifies it:
 *
 *     {"recording":1,"muster":"0.1.0","at":"2026-11-21T00:37:46Z","now":81000000,"config":{…}}
 *
 * Each following line is a step of the core: the time of the core's clock in microseconds, the
 * step's events and its effects. "new" lists the node names that a call offers for the first time.
 * Calls refer to these names by number ("0-99,7"). A last line {"end":"…"} has the reason for the
 * end.
 *
 * The keys of objects are the names of the C members in gang/facts.h, event.h and effect.h. Members
 * that are 0, false or absent are omitted. Tables of fields (record_types.c) describe the structs,
 * and one encoder and one decoder (record_codec.c) walk these tables. Call ids are written as
 * signed numbers.
 *
 * Life cycle: a struct record_names lives as long as the recording is written or read. Everything
 * else is stateless. One thread at a time.
 */
#ifndef MUSTER_SERVER_RECORDING_RECORD_H
#define MUSTER_SERVER_RECORDING_RECORD_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "gang/gang.h"

#define RECORD_FORMAT 1
/* The maximum number of different node names in a recording. */
#define RECORD_MAX_NAMES 1000000
/* The maximum length of a line, in bytes. */
#define RECORD_MAX_LINE ((size_t)256 << 20)

/* ---- tables ---- */

enum record_kind {
    RECORD_TEXT,     /* char *, owned */
    RECORD_CONSTANT, /* const char *, from the program or the pool */
    RECORD_BOOL,
    RECORD_I32, /* int32_t, int */
    RECORD_I64, /* int64_t, usec_t, uint64_t, size_t */
    RECORD_ENUM,
    RECORD_INSIDE, /* a struct inside the struct */
    RECORD_OWNED,  /* a pointer to a struct; may be NULL */
    RECORD_LIST,   /* a pointer to structs, with a count */
    RECORD_TEXTS,  /* char **, with a count */
    RECORD_RUNS,   /* uint32_t *, with a count: "0-99,7"; cannot be decoded */
    RECORD_DIGITS, /* uint8_t * from 0 to 15, with a count: "00aa"; cannot be decoded */
};

struct record_type;

struct record_field {
    const char *name; /* the C member, which is also the JSON key */
    enum record_kind kind;
    size_t offset;
    size_t count;           /* the offset of the count, which is a size_t */
    const char *count_name; /* the C member of the count */
    const struct record_type *of;
    const char *const *words; /* RECORD_ENUM: the texts of the values */
    size_t n_words;
    bool required; /* a recording without this field is refused */
};

enum record_form {
    RECORD_OBJECT,
    RECORD_ROW,  /* in a list: the values one after the other, without keys */
    RECORD_BARE, /* a struct with one field: only the value of the field is written */
};

struct record_type {
    const char *name; /* the C struct */
    size_t size;
    enum record_form form;
    const struct record_field *fields;
    size_t n_fields;
};

extern const struct record_type record_node, record_pod, record_group, record_class, record_claim,
    record_budget, record_job, record_queue, record_namespace, record_config;
/* All types, including nested ones. For tests. */
extern const struct record_type *const record_types[];
extern const size_t record_n_types;

/* The content of an event of this kind, except id and names; NULL: none. */
const struct record_field *record_event_field(enum gang_event_kind kind);
/* The content of an effect of this kind. Offsets are relative to struct gang_effect. */
const struct record_type *record_effect_type(enum gang_effect_kind kind);
const char *record_effect_name(enum gang_effect_kind kind);

/* ---- one struct ---- */

void record_encode(const struct record_type *type, const void *object, struct buf *out);
/*
 * Fills a zeroed struct. On failure, the struct may be partly filled, and the caller frees it as
 * usual. The pool owns the constants until record_pool_done().
 */
int record_decode(const struct record_type *type, const json_t *json, void *object,
                  struct map *pool, struct err *err);
void record_pool_done(struct map *pool);

/* Writes numbers as runs, such as "0-99,7". */
void record_put_runs(const uint32_t *v, size_t n, struct buf *out);

/* ---- lines ---- */

struct record_names {
    struct map numbers; /* name -> number + 1 */
    const char **items; /* the names by number; the map owns them */
    size_t n, cap;
    uint32_t *offered; /* the numbers of all names in the step that is being written */
    size_t offered_cap;
};
void record_names_done(struct record_names *names);

/* Writes the first line. `now` is the time of the core's clock, and `wall` is the same moment by
 * the wall clock. */
void record_put_head(const struct gang_config *config, usec_t now, usec_t wall, struct buf *out);
/* Writes the first half of a step's line. Call it before the step, because the core takes facts
 * from events. Fails if there are too many node names. The recording must end then. */
int record_put_events(struct record_names *names, usec_t now, const struct gang_event *events,
                      size_t n, struct buf *out, struct err *err);
/* Writes the second half of the line, with its end. */
void record_put_effects(const struct gang_effect *effects, size_t n, struct buf *out);
void record_put_effect(const struct gang_effect *effect, struct buf *out);
void record_put_end(const char *why, struct buf *out);

/* Adds the "new" names of a step's line. */
int record_take_names(struct record_names *names, const json_t *line, struct err *err);
/* Decodes an event. On success, the caller owns the event and its array of names, which it frees
 * with free(). The strings in the array belong to `names`. The array's block also has the victims,
 * whose strings belong to `json`. On failure there is nothing to free. */
int record_take_event(const struct record_names *names, struct map *pool, const json_t *json,
                      struct gang_event *ev, struct err *err);

#endif
