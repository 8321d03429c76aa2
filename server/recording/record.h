/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what goes into the core and comes out of it, as JSON and back: the lines of a
 * recording.
 *
 * A recording is a text file of JSON lines. The first says what it is:
 *
 *     {"recording":1,"muster":"0.1.0","at":"2026-11-21T00:37:46Z","now":81000000,"config":{…}}
 *
 * Each line behind it is one step of the core: its time (the core's clock, microseconds), the
 * events it got and the effects it gave. "new" lists names of nodes that calls offer for the first
 * time; calls then give them by number ("0-99,7"). A last line {"end":"…"} says why it ends.
 *
 * Objects carry the names of the C members in gang/facts.h, event.h and effect.h; what is 0, false
 * or absent is left out. Tables of fields (record_types.c) are all there is to know about a
 * struct; one encoder and one decoder (record_codec.c) walk them. Ids of calls are written as
 * signed numbers.
 *
 * Life cycle: a record_names lives as long as the recording that is written or read; everything
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
/* Different names of nodes in one recording. */
#define RECORD_MAX_NAMES 1000000
/* Bytes of one line. */
#define RECORD_MAX_LINE ((size_t)256 << 20)

/* ---- tables ---- */

enum record_kind {
    RECORD_TEXT,     /* char *, owned */
    RECORD_CONSTANT, /* const char *, of the program or the pool */
    RECORD_BOOL,
    RECORD_I32, /* int32_t, int */
    RECORD_I64, /* int64_t, usec_t, uint64_t, size_t */
    RECORD_ENUM,
    RECORD_INSIDE, /* a struct in the struct */
    RECORD_OWNED,  /* a pointer to a struct, may be NULL */
    RECORD_LIST,   /* a pointer to structs, and how many */
    RECORD_TEXTS,  /* char **, and how many */
    RECORD_RUNS,   /* uint32_t *, and how many: "0-99,7"; written only */
    RECORD_DIGITS, /* uint8_t * of 0 to 15, and how many: "00aa"; written only */
};

struct record_type;

struct record_field {
    const char *name; /* of the C member, and in JSON */
    enum record_kind kind;
    size_t offset;
    size_t count;           /* offset of how many (size_t) */
    const char *count_name; /* of that member */
    const struct record_type *of;
    const char *const *words; /* RECORD_ENUM */
    size_t n_words;
    bool required; /* never NULL or absent: a recording without it is refused */
};

enum record_form {
    RECORD_OBJECT,
    RECORD_ROW,  /* in a list: all values one after the other, without names */
    RECORD_BARE, /* nothing but a list: written as that */
};

struct record_type {
    const char *name; /* of the C struct */
    size_t size;
    enum record_form form;
    const struct record_field *fields;
    size_t n_fields;
};

extern const struct record_type record_node, record_pod, record_group, record_class, record_claim,
    record_config;
/* All of them, with those inside: for tests. */
extern const struct record_type *const record_types[];
extern const size_t record_n_types;

/* What an event of that kind carries beside id and names; NULL: nothing. */
const struct record_field *record_event_field(enum gang_event_kind kind);
/* What an effect carries; its offsets are those of struct gang_effect. */
const struct record_type *record_effect_type(enum gang_effect_kind kind);
const char *record_effect_name(enum gang_effect_kind kind);

/* ---- one struct ---- */

void record_encode(const struct record_type *type, const void *object, struct buf *out);
/*
 * Fills a zeroed struct. On failure it may be half filled: it can be freed like any. Constants are
 * kept in the pool (a set), for which see record_pool_done().
 */
int record_decode(const struct record_type *type, const json_t *json, void *object,
                  struct map *pool, struct err *err);
void record_pool_done(struct map *pool);

/* "0-99,7" for 0 to 99 and 7. */
void record_put_runs(const uint32_t *v, size_t n, struct buf *out);

/* ---- lines ---- */

struct record_names {
    struct map numbers; /* name -> its number + 1 */
    const char **items; /* owned by the map */
    size_t n, cap;
    uint32_t *offered; /* numbers of all names in the step that is being written */
    size_t offered_cap;
};
void record_names_done(struct record_names *names);

/* `wall` is the moment `now` by the wall clock, microseconds since 1970. */
void record_put_head(const struct gang_config *config, usec_t now, usec_t wall, struct buf *out);
/* The first half of a step's line, before the step: the core takes facts away. Fails when there
 * are too many names; the recording then has to end. */
int record_put_events(struct record_names *names, usec_t now, const struct gang_event *events,
                      size_t n, struct buf *out, struct err *err);
/* The second half with the line's end. */
void record_put_effects(const struct gang_effect *effects, size_t n, struct buf *out);
void record_put_effect(const struct gang_effect *effect, struct buf *out);
void record_put_end(const char *why, struct buf *out);

/* Learns the "new" names of a step's line. */
int record_take_names(struct record_names *names, const json_t *line, struct err *err);
/* On success the caller owns the event and its names (free()), whose strings the record_names
 * own; on failure there is nothing to free. */
int record_take_event(const struct record_names *names, struct map *pool, const json_t *json,
                      struct gang_event *ev, struct err *err);

#endif
