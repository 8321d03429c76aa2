/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner of requests (base/json_scan.h) against jansson: jansson accepts what the scanner
 * accepts, except for numbers out of range, and both read the same values.
 */
#include "base/json_scan.h"
#include "test/fuzz/fuzz.h"

/* The next value as a tree. jansson reads numbers, from their bytes. */
static json_t *read_value(struct json_scan *s)
{
    cleanup_buf struct buf text = BUF_INIT;
    json_t *value = NULL;
    switch (json_scan_peek(s)) {
    case '{':
        value = json_object();
        json_scan_object(s);
        while (json_scan_key(s, &text)) {
            cleanup_free char *key = buf_steal(&text);
            json_t *inner = read_value(s);
            if (inner)
                json_object_set_new(value, key, inner);
        }
        return value;
    case '[':
        value = json_array();
        json_scan_array(s);
        while (json_scan_item(s)) {
            json_t *inner = read_value(s);
            if (inner)
                json_array_append_new(value, inner);
        }
        return value;
    case '"':
        return json_scan_string(s, &text) ? json_stringn(buf_str(&text), text.len) : NULL;
    case 'n':
        return json_scan_null(s) ? json_null() : NULL;
    case 0:
        return NULL;
    default: {
        struct json_span span;
        if (!json_scan_skip(s, &span))
            return NULL;
        return json_loadb(s->start + span.at, span.len, JSON_DECODE_ANY, NULL);
    }
    }
}

/* For a text that jansson refuses and the scanner accepts. */
static bool out_of_range(const json_error_t *e)
{
    enum json_error_code code = json_error_code(e);
    return code == json_error_numeric_overflow;
}

static void check_int(const char *text, size_t len, const json_t *tree)
{
    struct json_scan s = json_scan_new(text, len);
    int64_t n = 0;
    if (json_scan_int(&s, &n) && json_scan_end(&s))
        HOLDS(json_is_integer(tree) && json_integer_value(tree) == n, "another number");
    else
        HOLDS(!json_is_integer(tree), "a whole number is refused: %s", s.error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size);
    struct json_scan s = json_scan_new(text, size);
    struct json_span span = {0, 0};
    bool good = json_scan_skip(&s, &span) && json_scan_end(&s);
    HOLDS(good == !s.error, "an error without a word, or the other way round");
    HOLDS(s.error ? s.at <= size : span.at + span.len <= size, "a place outside of the text");

    json_error_t at;
    cleanup_tree json_t *tree = json_loadb(text, size, JSON_DECODE_ANY, &at);
    if (tree && !memchr(text, '\0', size)) /* jansson stops at a NUL */
        HOLDS(good || strcmp(s.error, "nested deeper than 64 levels") == 0,
              "jansson takes what the scanner refuses: %s, at byte %zu", s.error, s.at);
    else
        HOLDS(!good || out_of_range(&at), "the scanner takes what jansson refuses: %s", at.text);
    if (tree && good)
        check_int(text, size, tree);

    struct json_scan again = json_scan_new(text, size);
    cleanup_tree json_t *read = read_value(&again);
    bool read_well = json_scan_end(&again);
    HOLDS(read_well == good, "passed over and read differ: %s", read_well ? s.error : again.error);
    if (tree && good)
        HOLDS(json_equal(tree, read), "jansson reads something else");
    return 0;
}
