/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the comparison of two numbers, as qsort() needs it. Stateless.
 */
#ifndef MUSTER_GANG_CLUSTER_COMPARE_H
#define MUSTER_GANG_CLUSTER_COMPARE_H

#include <stdint.h>

static inline int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
