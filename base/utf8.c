/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

void utf8_clean(char *text)
{
    const char *end = text + strlen(text);
    for (char *p = text; *p;) {
        size_t n = utf8_len(p, end);
        if (n == 0 || (unsigned char)*p < ' ' || *p == 0x7f) {
            *p = '?';
            n = 1;
        }
        p += n;
    }
}
