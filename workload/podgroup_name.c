/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/buf.h"
#include "base/hash.h"
#include "workload/kinds.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* "-" and 16 digits. A forged collision is harmless: the objects would be in one namespace, where a
 * user can let them share a PodGroup anyway. */
enum { HASH_LEN = 17 };

/* Source: apimachinery IsDNS1123Subdomain and IsDNS1123Label. */
static bool fits(const char *text, const char *inner, const char *edges, size_t most)
{
    size_t len = strlen(text);
    return len > 0 && len <= most && strspn(text, inner) == len && strchr(edges, text[0]) &&
           strchr(edges, text[len - 1]);
}

static char *make_name(const char *text, const char *inner, size_t most)
{
    const char *edges = LOWER DIGITS;
    if (fits(text, inner, edges, most))
        return xstrdup(text);
    cleanup_buf struct buf b = BUF_INIT;
    for (const char *p = text; *p && b.len < most - HASH_LEN; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        if (b.len == 0 && !strchr(edges, c))
            continue;
        buf_putc(&b, strchr(inner, c) ? c : '-');
    }
    if (b.len && b.data[b.len - 1] == '.') /* a name must not contain ".-" */
        b.data[b.len - 1] = '-';
    buf_printf(&b, "%s%016" PRIx64, b.len ? "-" : "x", hash_text(HASH_START, text));
    return buf_steal(&b);
}

/* The API server refuses a name with a dot next to a dot or a hyphen. */
static bool has_empty_label(const char *text)
{
    return strstr(text, "..") || strstr(text, ".-") || strstr(text, "-.");
}

bool is_object_name(const char *text)
{
    return fits(text, LOWER DIGITS "-.", LOWER DIGITS, NAME_OBJECT_MAX) && !has_empty_label(text);
}

char *name_object(const char *text, size_t most)
{
    return make_name(text, has_empty_label(text) ? LOWER DIGITS "-" : LOWER DIGITS "-.", most);
}

char *name_part(const char *text)
{
    return make_name(text, LOWER DIGITS "-", NAME_LABEL_MAX);
}
