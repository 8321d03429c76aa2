/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/member_order.h"

#include "gang/cluster/lookup.h"

/* Orders the larger need first. of_x, of_y: the resource of each signature; negative: none. */
static int by_need(const struct signature *x, const struct signature *y, int of_x, int of_y)
{
    int64_t a = of_x < 0 ? 0 : signature_need(x, (uint32_t)of_x);
    int64_t b = of_y < 0 ? 0 : signature_need(y, (uint32_t)of_y);
    return a > b ? -1 : a < b;
}

int by_placement(const void *a, const void *b)
{
    const struct pod *p = *(struct pod *const *)a, *q = *(struct pod *const *)b;
    const struct signature *x = p->signature, *y = q->signature;
    if (!p->pinned != !q->pinned)
        return p->pinned ? -1 : 1;
    if (p->missed != q->missed)
        return p->missed < q->missed ? -1 : 1;
    if (x != y) {
        if (x->limited != y->limited)
            return x->limited ? -1 : 1;
        if ((x->device >= 0) != (y->device >= 0))
            return x->device >= 0 ? -1 : 1;
        int larger = by_need(x, y, x->device, y->device);
        larger = larger ? larger : by_need(x, y, RES_CPU, RES_CPU);
        larger = larger ? larger : by_need(x, y, RES_MEMORY, RES_MEMORY);
        if (larger)
            return larger;
        int order = strcmp(x->key, y->key);
        if (order)
            return order;
    }
    if (p->facts->created != q->facts->created)
        return p->facts->created < q->facts->created ? -1 : 1;
    return strcmp(p->facts->name, q->facts->name);
}
