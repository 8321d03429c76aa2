/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_scan.h"

#include <errno.h>

#include "base/utf8.h"

/* The bytes of a string that need no further check: ASCII from ' ', except '"' and '\'. */
static const bool plain[256] = {
    [0x20 ... 0x21] = true, [0x23 ... 0x5b] = true, [0x5d ... 0x7f] = true};

struct json_scan json_scan_new(const char *data, size_t len)
{
    return (struct json_scan){.start = data, .p = data, .end = data + len};
}

bool json_scan_fail(struct json_scan *s, const char *constant_text)
{
    if (!s->error) {
        s->error = constant_text;
        s->at = (size_t)(s->p - s->start);
    }
    return false;
}

static void skip_space(struct json_scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
}

static bool is_digit(const struct json_scan *s)
{
    return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

char json_scan_peek(struct json_scan *s)
{
    if (s->error)
        return 0;
    skip_space(s);
    if (s->p == s->end) {
        json_scan_fail(s, "expected a value, but the input ends");
        return 0;
    }
    if (!*s->p || !strchr("{[\"tfn-0123456789", *s->p)) {
        json_scan_fail(s, "expected a value");
        return 0;
    }
    return *s->p;
}

/* ---- brackets, keys and commas ---- */

static bool enter(struct json_scan *s, char bracket, const char *text)
{
    if (json_scan_peek(s) != bracket)
        return json_scan_fail(s, text);
    if (s->depth == JSON_SCAN_DEPTH)
        return json_scan_fail(s, "nested deeper than 64 levels");
    s->open[s->depth++] = bracket;
    s->first = true;
    s->p++;
    return true;
}

bool json_scan_object(struct json_scan *s)
{
    return enter(s, '{', "expected an object");
}

bool json_scan_array(struct json_scan *s)
{
    return enter(s, '[', "expected an array");
}

/* Goes to the next key or item inside the innermost bracket. False: the bracket closes. */
static bool advance(struct json_scan *s, char close)
{
    if (s->error)
        return false;
    skip_space(s);
    if (s->p == s->end)
        return json_scan_fail(s, "the input ends inside an object or array");
    if (*s->p == close) {
        s->p++;
        s->depth--;
        s->first = false;
        return false;
    }
    if (!s->first) {
        if (*s->p != ',')
            return json_scan_fail(s, close == '}' ? "expected a comma or '}'"
                                                  : "expected a comma or ']'");
        s->p++;
        skip_space(s);
    }
    s->first = false;
    return true;
}

/* ---- strings ---- */

int json_code_unit(const char *p, const char *end)
{
    int n = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        n = n * 16 + digit;
    }
    return n;
}

static void put_utf8(struct buf *out, int c)
{
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(lead[n] | c);
    buf_append(out, b, n);
}

/* The scanner is after "\u". */
static bool unicode_escape(struct json_scan *s, struct buf *out)
{
    int c = json_code_unit(s->p - 2, s->end);
    if (c < 0)
        return json_scan_fail(s, "\\u needs four hexadecimal digits");
    if (c == 0)
        return json_scan_fail(s, "\\u0000 is not allowed");
    s->p += 4;
    if (c >= 0xdc00 && c <= 0xdfff)
        return json_scan_fail(s, "unpaired surrogate in a string");
    if (c >= 0xd800 && c <= 0xdbff) {
        int low = json_code_unit(s->p, s->end);
        if (low < 0xdc00 || low > 0xdfff)
            return json_scan_fail(s, "unpaired surrogate in a string");
        s->p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (out)
        put_utf8(out, c);
    return true;
}

/* The scanner is at the backslash. */
static bool escape(struct json_scan *s, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (++s->p == s->end)
        return json_scan_fail(s, "the input ends inside a string");
    char c = *s->p++;
    if (c == 'u')
        return unicode_escape(s, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) {
        s->p--;
        return json_scan_fail(s, "unknown escape sequence");
    }
    if (out)
        buf_putc(out, to[found - from]);
    return true;
}

/* The scanner is at the opening quote. out may be NULL. */
static bool scan_string(struct json_scan *s, struct buf *out)
{
    const char *run = ++s->p;
    for (;;) {
        while (s->p < s->end && plain[(unsigned char)*s->p])
            s->p++;
        if (s->p == s->end)
            return json_scan_fail(s, "the input ends inside a string");
        unsigned char c = (unsigned char)*s->p;
        if (c >= 0x80) {
            size_t n = utf8_len(s->p, s->end);
            if (n == 0)
                return json_scan_fail(s, "invalid UTF-8");
            s->p += n;
            continue;
        }
        if (c < 0x20)
            return json_scan_fail(s, "control character in a string");
        if (out)
            buf_append(out, run, (size_t)(s->p - run));
        if (c == '"') {
            s->p++;
            return true;
        }
        if (!escape(s, out))
            return false;
        run = s->p;
    }
}

bool json_scan_string(struct json_scan *s, struct buf *out)
{
    buf_clear(out);
    if (json_scan_peek(s) != '"')
        return json_scan_fail(s, "expected a string");
    return scan_string(s, out);
}

bool json_scan_text(struct json_scan *s, struct json_span *ret, bool *plain_text)
{
    if (json_scan_peek(s) != '"')
        return json_scan_fail(s, "expected a string");
    const char *from = s->p + 1;
    if (!scan_string(s, NULL))
        return false;
    *ret = (struct json_span){(size_t)(from - s->start), (size_t)(s->p - 1 - from)};
    *plain_text = !memchr(from, '\\', ret->len);
    return true;
}

bool json_scan_key(struct json_scan *s, struct buf *key)
{
    if (!advance(s, '}'))
        return false;
    if (s->p == s->end || *s->p != '"')
        return json_scan_fail(s, "expected a key");
    if (key)
        buf_clear(key);
    if (!scan_string(s, key))
        return false;
    skip_space(s);
    if (s->p == s->end || *s->p != ':')
        return json_scan_fail(s, "expected a colon");
    s->p++;
    return true;
}

bool json_scan_item(struct json_scan *s)
{
    return advance(s, ']');
}

/* ---- numbers and literals ---- */

static bool scan_number(struct json_scan *s)
{
    if (*s->p == '-')
        s->p++;
    if (!is_digit(s))
        return json_scan_fail(s, "expected a digit");
    bool zero = *s->p++ == '0';
    if (zero && is_digit(s))
        return json_scan_fail(s, "number with a leading zero");
    while (is_digit(s))
        s->p++;
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        if (!is_digit(s))
            return json_scan_fail(s, "expected a digit");
        while (is_digit(s))
            s->p++;
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
            s->p++;
        if (!is_digit(s))
            return json_scan_fail(s, "expected a digit");
        while (is_digit(s))
            s->p++;
    }
    return true;
}

static bool scan_word(struct json_scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return json_scan_fail(s, "expected a value");
    s->p += n;
    return true;
}

bool json_scan_int(struct json_scan *s, int64_t *out)
{
    char c = json_scan_peek(s);
    if (c != '-' && !(c >= '0' && c <= '9'))
        return json_scan_fail(s, "expected a number");
    const char *from = s->p;
    if (!scan_number(s))
        return false;
    char text[24];
    size_t n = (size_t)(s->p - from);
    char *end = NULL;
    errno = 0;
    if (n < sizeof text) {
        memcpy(text, from, n);
        text[n] = '\0';
        *out = strtoll(text, &end, 10);
    }
    if (!end || *end || errno) {
        s->p = from;
        return json_scan_fail(s, "expected an integer of at most 64 bits");
    }
    return true;
}

bool json_scan_null(struct json_scan *s)
{
    return json_scan_peek(s) == 'n' && scan_word(s, "null");
}

/* ---- whole values ---- */

/* A value that is not an object or array. */
static bool scan_scalar(struct json_scan *s, char first)
{
    switch (first) {
    case '"':
        return scan_string(s, NULL);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        return scan_number(s);
    }
}

bool json_scan_skip(struct json_scan *s, struct json_span *span)
{
    char c = json_scan_peek(s);
    const char *from = s->p;
    int outside = s->depth;
    for (;;) {
        if (c == 0)
            return false;
        s->values++;
        bool good = c == '{'   ? json_scan_object(s)
                    : c == '[' ? json_scan_array(s)
                               : scan_scalar(s, c);
        if (!good)
            return false;
        /* Leaves every bracket that closes here, and goes to the next value. */
        while (s->depth > outside) {
            if (s->open[s->depth - 1] == '{' ? json_scan_key(s, NULL) : json_scan_item(s))
                break;
            if (s->error)
                return false;
        }
        if (s->depth == outside)
            break;
        c = json_scan_peek(s);
    }
    if (span)
        *span = (struct json_span){(size_t)(from - s->start), (size_t)(s->p - from)};
    return true;
}

bool json_scan_end(struct json_scan *s)
{
    if (s->error)
        return false;
    skip_space(s);
    return s->p == s->end || json_scan_fail(s, "unexpected data after the end");
}
