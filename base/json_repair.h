/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_repair.h - replaces in place what jansson refuses in JSON from outside.
 *
 * kube-apiserver serves JSON that jansson refuses, and jansson refuses the whole document: one
 * object of any user would hide a whole list. muster has no use for what is replaced, so the object
 * keeps every field that muster reads:
 *
 *   - an integer beyond 64 bits becomes a real of the same value (17 digits), a real beyond a
 *     double becomes 1e308; as a field that muster reads, both are refused by name like any number
 *     that is out of range
 *   - an array or object at a depth above JSON_SCAN_DEPTH becomes 0
 *   - in strings, an escaped NUL and half of a surrogate pair become U+FFFD, a raw control
 *     character and what is no UTF-8 become '?'
 *
 * Text that jansson takes stays as it is, except below that depth. Text that is no JSON stays no
 * JSON. One pass, no allocation for numbers of sane length, no recursion. Pure, any thread.
 */
#ifndef MUSTER_BASE_JSON_REPAIR_H
#define MUSTER_BASE_JSON_REPAIR_H

#include <stddef.h>

void json_repair(char *json, size_t len);

/* Escaped NULs only, at the speed of memchr(): for text from a Go program's own structs, where
 * nothing else of the list above can be. */
void json_repair_nul(char *json, size_t len);

#endif
