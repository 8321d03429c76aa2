/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - Kubernetes resource quantities ("100m", "16Gi", "1e3", "0.5") as int64.
 *
 * Source: k8s.io/apimachinery pkg/api/resource (Quantity.Value and MilliValue): fractions round
 * up, away from zero; a value beyond int64 is capped there, as Quantity does.
 */
#ifndef MUSTER_BASE_QUANTITY_H
#define MUSTER_BASE_QUANTITY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Parses text and returns value * scale in *ret (scale 1: Value(), 1000: MilliValue()). */
int quantity_parse(const char *text, int64_t scale, int64_t *ret, struct err *err);

/* "1500m" cpu is written as "1.5", bytes as "16Gi" where exact, everything else as a number. */
void quantity_format_milli(struct buf *b, int64_t milli);
void quantity_format_bytes(struct buf *b, int64_t bytes);

#endif
