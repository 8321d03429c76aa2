/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and reading walk over the tables. The depth of the recursion is the nesting of the types,
 * and no type contains itself.
 */
#include <inttypes.h>

#include "server/recording/record.h"

/* ---- writing ---- */

static const void *at(const void *object, size_t offset)
{
    return (const char *)object + offset;
}

static const void *pointer_at(const void *object, const struct record_field *f)
{
    return *(const void *const *)at(object, f->offset);
}

static size_t count_at(const void *object, const struct record_field *f)
{
    return *(const size_t *)at(object, f->count);
}

static void put_text(const char *s, struct buf *out)
{
    if (s)
        buf_json(out, s, strlen(s));
    else
        buf_puts(out, "null");
}

static int enum_at(const void *object, const struct record_field *f)
{
    /* In gcc, an enum without negative values has the size of an int. */
    return *(const int *)at(object, f->offset);
}

static void put_list(const void *object, const struct record_field *f, struct buf *out);
static void put_value(const void *object, const struct record_field *f, struct buf *out);

/* Writes the values of a row, separated by commas. */
static void put_row(const struct record_type *type, const void *object, struct buf *out)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        buf_puts(out, i ? "," : "");
        put_value(object, &type->fields[i], out);
    }
}

static void put_list(const void *object, const struct record_field *f, struct buf *out)
{
    const char *items = pointer_at(object, f);
    size_t n = count_at(object, f);
    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        if (f->of->form == RECORD_ROW)
            put_row(f->of, items + i * f->of->size, out);
        else
            record_encode(f->of, items + i * f->of->size, out);
    }
    buf_putc(out, ']');
}

static void put_texts(const char *const *items, size_t n, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        put_text(items[i], out);
    }
    buf_putc(out, ']');
}

void record_put_runs(const uint32_t *v, size_t n, struct buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && v[last + 1] == v[last] + 1;)
            last++;
        buf_printf(out, "%s%" PRIu32, i ? "," : "", v[i]);
        if (last > i)
            buf_printf(out, "-%" PRIu32, v[last]);
    }
    buf_putc(out, '"');
}

static void put_digits(const uint8_t *v, size_t n, struct buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++)
        buf_putc(out, "0123456789abcdef"[v[i] & 15]);
    buf_putc(out, '"');
}

static void put_value(const void *object, const struct record_field *f, struct buf *out)
{
    const void *p = at(object, f->offset);
    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_CONSTANT:
        put_text(pointer_at(object, f), out);
        break;
    case RECORD_BOOL:
        buf_puts(out, *(const bool *)p ? "true" : "false");
        break;
    case RECORD_I32:
        buf_printf(out, "%" PRId32, *(const int32_t *)p);
        break;
    case RECORD_I64:
        buf_printf(out, "%" PRId64, *(const int64_t *)p);
        break;
    case RECORD_ENUM:
        put_text(f->words[enum_at(object, f)], out);
        break;
    case RECORD_INSIDE:
        record_encode(f->of, p, out);
        break;
    case RECORD_OWNED:
        record_encode(f->of, pointer_at(object, f), out);
        break;
    case RECORD_LIST:
        put_list(object, f, out);
        break;
    case RECORD_TEXTS:
        put_texts(pointer_at(object, f), count_at(object, f), out);
        break;
    case RECORD_RUNS:
        record_put_runs(pointer_at(object, f), count_at(object, f), out);
        break;
    case RECORD_DIGITS:
        put_digits(pointer_at(object, f), count_at(object, f), out);
        break;
    }
}

static bool is_zero(const void *object, const struct record_field *f);

static bool all_zero(const struct record_type *type, const void *object)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (!is_zero(object, &type->fields[i]))
            return false;
    return true;
}

/* A field that is zero is not written, because record_decode() fills a zeroed struct. */
static bool is_zero(const void *object, const struct record_field *f)
{
    const void *p = at(object, f->offset);
    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_CONSTANT:
    case RECORD_OWNED:
        return !pointer_at(object, f);
    case RECORD_BOOL:
        return !*(const bool *)p;
    case RECORD_I32:
        return *(const int32_t *)p == 0;
    case RECORD_I64:
        return *(const int64_t *)p == 0;
    case RECORD_ENUM:
        return enum_at(object, f) == 0;
    case RECORD_INSIDE:
        return all_zero(f->of, p);
    case RECORD_LIST:
    case RECORD_TEXTS:
    case RECORD_RUNS:
    case RECORD_DIGITS:
        return count_at(object, f) == 0;
    }
    return false;
}

void record_encode(const struct record_type *type, const void *object, struct buf *out)
{
    if (type->form == RECORD_BARE) {
        put_value(object, &type->fields[0], out);
        return;
    }
    const char *comma = "";
    buf_putc(out, '{');
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct record_field *f = &type->fields[i];
        if (is_zero(object, f))
            continue;
        buf_printf(out, "%s\"%s\":", comma, f->name);
        put_value(object, f, out);
        comma = ",";
    }
    buf_putc(out, '}');
}

/* ---- reading ---- */

struct taking {
    struct map *pool;
    struct err *err;
};

static int take_value(struct taking *t, const json_t *json, void *object,
                      const struct record_field *f);
static int take_struct(struct taking *t, const struct record_type *type, const json_t *json,
                       void *object);

static int wrong(struct taking *t, const char *wanted)
{
    return err_set(t->err, ERR_INVALID, "is not %s", wanted);
}

static void *place(void *object, size_t offset)
{
    return (char *)object + offset;
}

static int take_text(struct taking *t, const json_t *json, bool required, char **ret)
{
    if (json_is_null(json) && !required)
        return 0;
    if (!json_is_string(json))
        return wrong(t, "a string");
    *ret = xstrdup(json_string_value(json));
    return 0;
}

static int take_constant(struct taking *t, const json_t *json, const char **ret)
{
    if (!json_is_string(json))
        return wrong(t, "a string");
    const char *s = json_string_value(json);
    char *kept = map_get(t->pool, s);
    if (!kept) {
        kept = xstrdup(s);
        map_set(t->pool, s, kept);
    }
    *ret = kept;
    return 0;
}

void record_pool_done(struct map *pool)
{
    map_for_each (e, pool)
        free(e->value);
    map_done(pool);
}

static int take_number(struct taking *t, const json_t *json, int64_t min, int64_t max, int64_t *ret)
{
    if (!json_is_integer(json))
        return wrong(t, "a whole number");
    *ret = json_integer_value(json);
    return *ret < min || *ret > max ? wrong(t, "in the range of its field") : 0;
}

static int take_word(struct taking *t, const json_t *json, const struct record_field *f, int *ret)
{
    for (size_t i = 0; i < f->n_words; i++) {
        if (str_eq(json_string_value(json), f->words[i])) {
            *ret = (int)i;
            return 0;
        }
    }
    return wrong(t, "a value that this version knows");
}

/* Reads rows, each from as many values as the type has fields. */
static int take_rows(struct taking *t, const struct record_type *type, const json_t *json,
                     char *items, size_t *n)
{
    const size_t width = type->n_fields, rows = json_array_size(json) / width;
    if (json_array_size(json) % width)
        return wrong(t, "a list of complete rows");
    for (*n = 0; *n < rows; ++*n) {
        for (size_t i = 0; i < width; i++)
            if (take_value(t, json_array_get(json, *n * width + i), items + *n * type->size,
                           &type->fields[i]) < 0) {
                ++*n; /* the partly filled row is freed too */
                return -1;
            }
    }
    return 0;
}

/* The zeroed items belong to the object at once, so that the caller can free it after an error. */
static int take_list(struct taking *t, const json_t *json, void *object,
                     const struct record_field *f)
{
    if (!json_is_array(json))
        return wrong(t, "a list");
    size_t all = json_array_size(json), *n = place(object, f->count);
    if (all == 0)
        return 0;
    char *items = xcalloc(all, f->of->size);
    *(void **)place(object, f->offset) = items;
    if (f->of->form == RECORD_ROW)
        return take_rows(t, f->of, json, items, n);
    *n = all;
    for (size_t i = 0; i < all; i++)
        if (take_struct(t, f->of, json_array_get(json, i), items + i * f->of->size) < 0)
            return -1;
    return 0;
}

static int take_texts(struct taking *t, const json_t *json, void *object,
                      const struct record_field *f)
{
    if (!json_is_array(json))
        return wrong(t, "a list");
    size_t all = json_array_size(json);
    if (all == 0)
        return 0;
    char **items = xcalloc(all, sizeof *items);
    *(char ***)place(object, f->offset) = items;
    *(size_t *)place(object, f->count) = all;
    for (size_t i = 0; i < all; i++)
        if (take_text(t, json_array_get(json, i), true, &items[i]) < 0)
            return -1;
    return 0;
}

static int take_value(struct taking *t, const json_t *json, void *object,
                      const struct record_field *f)
{
    void *p = place(object, f->offset);
    int64_t number = 0;
    switch (f->kind) {
    case RECORD_TEXT:
        return take_text(t, json, f->required, p);
    case RECORD_CONSTANT:
        return take_constant(t, json, p);
    case RECORD_BOOL:
        *(bool *)p = json_is_true(json);
        return json_is_boolean(json) ? 0 : wrong(t, "true or false");
    case RECORD_I32:
        if (take_number(t, json, INT32_MIN, INT32_MAX, &number) < 0)
            return -1;
        *(int32_t *)p = (int32_t)number;
        return 0;
    case RECORD_I64:
        return take_number(t, json, INT64_MIN, INT64_MAX, p);
    case RECORD_ENUM:
        return take_word(t, json, f, p);
    case RECORD_INSIDE:
        return take_struct(t, f->of, json, p);
    case RECORD_OWNED:
        *(void **)p = xcalloc(1, f->of->size);
        return take_struct(t, f->of, json, *(void **)p);
    case RECORD_LIST:
        return take_list(t, json, object, f);
    case RECORD_TEXTS:
        return take_texts(t, json, object, f);
    case RECORD_RUNS:
    case RECORD_DIGITS:
        break;
    }
    return wrong(t, "a field that can be decoded");
}

static const struct record_field *field_named(const struct record_type *type, const char *name)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

static int find_missing(struct taking *t, const struct record_type *type, const json_t *json)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].required && !json_object_get(json, type->fields[i].name))
            return err_set(t->err, ERR_INVALID, "%s is missing", type->fields[i].name);
    return 0;
}

static int take_struct(struct taking *t, const struct record_type *type, const json_t *json,
                       void *object)
{
    if (type->form == RECORD_BARE)
        return take_value(t, json, object, &type->fields[0]);
    if (!json_is_object(json))
        return wrong(t, "an object");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, name, value)
    {
        const struct record_field *f = field_named(type, name);
        if (!f)
            return err_set(t->err, ERR_INVALID, "\"%.100s\" is not a field of %s", name,
                           type->name);
        if (take_value(t, value, object, f) < 0)
            return err_wrap(t->err, "%s", name);
    }
    return find_missing(t, type, json);
}

int record_decode(const struct record_type *type, const json_t *json, void *object,
                  struct map *pool, struct err *err)
{
    struct err scratch;
    struct taking t = {pool, err ? err : &scratch};
    return take_struct(&t, type, json, object);
}
