/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_mend.h - makes JSON from outside readable for jansson, in place.
 *
 * kube-apiserver serves JSON that jansson refuses, and jansson refuses the whole document: one
 * object of any user would hide everybody's in a list. What is replaced is of no use to a reader
 * here, so the object keeps all that is:
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
#ifndef MUSTER_BASE_JSON_MEND_H
#define MUSTER_BASE_JSON_MEND_H

#include <stddef.h>

void json_mend(char *json, size_t len);

/* Escaped NULs only, at the speed of memchr(): for text from a Go program's own structs, where
 * nothing else of the list above can be. */
void json_mend_nul(char *json, size_t len);

#endif
