/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_repair.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "base/utf8.h"

#define LARGEST "1e308"

/* The digits of a double that Go writes. */
#define DIGITS 17

/* ---- numbers ---- */

/* Fills the rest of the room with spaces, which JSON allows after any value. */
static void put_padded(char *to, size_t room, const char *text, size_t len)
{
    memcpy(to, text, len);
    memset(to + len, ' ', room - len);
}

static size_t count_digits(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return (size_t)(p - from);
}

static bool fits_int64(const char *p, size_t len)
{
    char text[24];
    if (len >= sizeof text)
        return false;
    memcpy(text, p, len);
    text[len] = '\0';
    errno = 0;
    (void)strtoll(text, NULL, 10);
    return errno == 0;
}

static bool exceeds_double(const char *p, size_t len)
{
    char small[64], *text = len < sizeof small ? memcpy(small, p, len) : xstrndup(p, len);
    char *end;
    if (text == small)
        text[len] = '\0';
    bool exceeds = isinf(strtod(text, &end)) && end == text + len;
    if (text != small)
        free(text);
    return exceeds;
}

/* Whether the number is so short that it must be below 10^200, and fits in a double. */
static bool is_short(const char *p, size_t len)
{
    enum { LONG = 100, LONG_EXPONENT = 3 };
    const char *end = p + len;
    if (len >= LONG)
        return false;
    while (p < end && *p != 'e' && *p != 'E')
        p++;
    while (p < end && (*p < '0' || *p > '9'))
        p++;
    return end - p < LONG_EXPONENT;
}

static void repair_number(char *p, size_t len)
{
    enum { SAFE = 18 }; /* numbers of this many digits always fit in 64 bits */
    bool negative = *p == '-';
    char *first = p + negative;
    size_t n = len - negative;
    if (n > SAFE && count_digits(first, p + len) == n && !fits_int64(p, len)) {
        char tail[24];
        int t = snprintf(tail, sizeof tail, "e%zu", n - DIGITS);
        put_padded(first + DIGITS, n - DIGITS, tail, (size_t)t);
        len = (size_t)(first - p) + DIGITS + (size_t)t;
    }
    if (!is_short(p, len) && exceeds_double(p, len))
        put_padded(first, len - negative, LARGEST, strlen(LARGEST));
}

static size_t number_length(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && ((*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == '.' ||
                       *p == 'e' || *p == 'E'))
        p++;
    return (size_t)(p - from);
}

/* ---- strings ---- */

static bool is_low(const char *p, const char *end)
{
    int c = json_code_unit(p, end);
    return c >= 0xdc00 && c <= 0xdfff;
}

/* p is at a backslash. Returns the end of the escape sequence. */
static char *repair_escape(char *p, char *end)
{
    int c = json_code_unit(p, end);
    if (c < 0)
        return end - p < 2 ? end : p + 2;
    if (c >= 0xd800 && c <= 0xdbff && is_low(p + 6, end))
        return p + 12;
    if (c == 0 || (c >= 0xd800 && c <= 0xdfff))
        memcpy(p, "\\ufffd", 6);
    return p + 6;
}

/* p is after the opening quote. Returns the place after the closing quote. */
static char *repair_string(char *p, char *end)
{
    while (p < end && *p != '"') {
        size_t n = (unsigned char)*p < 0x80 ? 1 : utf8_len(p, end);
        if (*p == '\\') {
            p = repair_escape(p, end);
            continue;
        }
        if (n == 0 || (unsigned char)*p < 0x20)
            *p = '?';
        p += n ? n : 1;
    }
    return p < end ? p + 1 : end;
}

/* ---- documents ---- */

void json_repair(char *json, size_t len)
{
    char *p = json, *end = json + len, *too_deep = NULL;
    size_t depth = 0;
    while (p < end) {
        char c = *p;
        if (c == '"') {
            p = repair_string(p + 1, end);
            continue;
        }
        if (c == '-' || (c >= '0' && c <= '9')) {
            size_t n = number_length(p, end);
            repair_number(p, n);
            p += n;
            continue;
        }
        if ((c == '[' || c == '{') && ++depth == JSON_SCAN_DEPTH + 1)
            too_deep = p;
        if ((c == ']' || c == '}') && depth > 0 && --depth == JSON_SCAN_DEPTH)
            put_padded(too_deep, (size_t)(p + 1 - too_deep), "0", 1);
        p++;
    }
}

/* Go writes a NUL only as "\u0000". */
void json_repair_nul(char *json, size_t len)
{
    char *end = json + len;
    for (char *p = json; p && (p = memchr(p, '\\', (size_t)(end - p))) && end - p >= 2; p += 2)
        if (end - p >= 6 && memcmp(p, "\\u0000", 6) == 0)
            memcpy(p, "\\ufffd", 6);
}
