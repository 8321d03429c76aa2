/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - Kubernetes resource quantities ("100m", "16Gi", "1e3", "0.5") as int64.
 *
 * Source: k8s.io/apimachinery pkg/api/resource, Quantity.Value and MilliValue. Fractions are
 * rounded away from zero, and a value beyond int64 becomes the largest int64, as in Quantity.
 * Stateless; any thread.
 */
#ifndef MUSTER_BASE_QUANTITY_H
#define MUSTER_BASE_QUANTITY_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Sets *ret to the value times `scale`. Scale 1 is Value(), and scale 1000 is MilliValue(). */
int quantity_parse(const char *text, int64_t scale, int64_t *ret, struct err *err);

/* Appends an amount as users write it. cpu is in thousandths ("2", "1500m"); memory, storage and
 * hugepages are in bytes ("16Gi", "3G"); everything else is a plain number ("8"). */
void quantity_format(struct buf *b, const char *resource, int64_t amount);

#endif
