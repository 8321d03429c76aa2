/* SPDX-License-Identifier: Apache-2.0 */
#include "json_docs.h"

static uint64_t seed;

void docs_seed(uint64_t from)
{
    seed = from;
}

unsigned docs_pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

static void generate_string(struct buf *b)
{
    static const char *const pieces[] = {
        "a",    "node-1",       "\\n", "\\u00e9", "\xc3\xa9", "\\\"", " ", "\\ud83d\\ude00",
        "\\\\", "\xe2\x82\xac", "{",   "]",       ",",        "\\/"};
    buf_putc(b, '"');
    for (unsigned n = docs_pick(5); n > 0; n--)
        buf_puts(b, pieces[docs_pick(ARRAY_SIZE(pieces))]);
    buf_putc(b, '"');
}

void docs_put(struct buf *b, int depth, const char *const *odd)
{
    static const char *const scalars[] = {"0", "-12", "3.25", "1e3", "true", "false", "null"};
    unsigned kind = docs_pick(depth > 0 ? 6 : 3);
    if (docs_pick(4) == 0)
        buf_putc(b, " \n\t\r"[docs_pick(4)]);
    size_t n_odd = 0;
    while (odd && odd[n_odd])
        n_odd++;
    if (n_odd && docs_pick(4) == 0) {
        buf_puts(b, odd[docs_pick((unsigned)n_odd)]);
    } else if (kind < 2) {
        buf_puts(b, scalars[docs_pick(ARRAY_SIZE(scalars))]);
    } else if (kind == 2) {
        generate_string(b);
    } else {
        bool object = kind < 5;
        unsigned n = docs_pick(4);
        buf_putc(b, object ? '{' : '[');
        for (unsigned i = 0; i < n; i++) {
            if (i)
                buf_putc(b, ',');
            if (object) {
                generate_string(b);
                buf_putc(b, ':');
            }
            docs_put(b, depth - 1, odd);
        }
        buf_putc(b, object ? '}' : ']');
    }
}

void docs_mutate(struct buf *b)
{
    static const char bytes[] = "{}[]\",:\\u0e1.-tfn \xc3\xa9";
    size_t at = b->len ? docs_pick((unsigned)b->len) : 0;
    switch (docs_pick(3)) {
    case 0:
        if (b->len)
            b->data[at] = bytes[docs_pick(sizeof bytes - 1)];
        break;
    case 1:
        if (b->len) {
            memmove(b->data + at, b->data + at + 1, b->len - at);
            b->len--;
        }
        break;
    default:
        buf_putc(b, ' ');
        memmove(b->data + at + 1, b->data + at, b->len - 1 - at);
        b->data[at] = bytes[docs_pick(sizeof bytes - 1)];
    }
}
