/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_repair.h - replaces the parts of a JSON text that jansson refuses, in place.
 *
 * kube-apiserver can serve JSON that jansson refuses. jansson refuses the whole document, so one
 * object of any user would hide a complete list. muster does not need the parts that are replaced:
 *
 *   - An integer beyond 64 bits becomes a real number of the same value, with 17 digits. A real
 *     number beyond a double becomes 1e308. If muster reads the field, it refuses both as out of
 *     range, and the error names the field.
 *   - An array or object that is nested deeper than JSON_SCAN_DEPTH becomes 0.
 *   - In strings, an escaped NUL and an unpaired surrogate become U+FFFD. A raw control character
 *     and each byte that is not valid UTF-8 become '?'.
 *
 * Text that jansson accepts does not change, except below that depth. Text that is not JSON does
 * not become JSON. One pass, no recursion, and no allocation for numbers of usual length.
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_JSON_REPAIR_H
#define MUSTER_BASE_JSON_REPAIR_H

#include <stddef.h>

void json_repair(char *json, size_t len);

/* Replaces only escaped NULs, at the speed of memchr(). This is enough for text that a Go program
 * encodes from its own structs, because such text has none of the other parts. */
void json_repair_nul(char *json, size_t len);

#endif
