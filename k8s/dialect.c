/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/dialect_common.h"

const struct dialect *const dialects[] = {&dialect_kai, &dialect_volcano, &dialect_xk8s,
                                          &dialect_sigs, NULL};

const struct dialect *dialect_by_group(const char *api_group)
{
    for (const struct dialect *const *d = dialects; *d; d++)
        if (str_eq((*d)->api_group, api_group))
            return *d;
    return NULL;
}
