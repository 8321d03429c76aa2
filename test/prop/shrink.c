/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.c - from a failing list to one that a person can read.
 *
 *   1. What did nothing is left out, and names that were chosen are written in.
 *   2. Pieces are left out, large ones first, as long as the list fails in the same way.
 *   3. Attributes are left out, numbers made smaller, lines taken apart.
 *   4. 2 and 3 again until nothing more goes.
 */
#include "test/prop/run.h"

struct hunt {
    struct ops best;
    struct failure failure;
    bool twin;
    int tries;
};

/* The same complaint, whatever the numbers in it. */
static bool alike(const struct failure *a, const struct failure *b)
{
    if (strcmp(a->tag, b->tag) != 0)
        return false;
    const char *p = a->text, *q = b->text;
    for (;; p++, q++) {
        p += strspn(p, "0123456789");
        q += strspn(q, "0123456789");
        if (*p != *q)
            return false;
        if (!*p)
            return true;
    }
}

/* Keeps the list when it fails as the first one did. */
static bool attempt(struct hunt *h, const struct ops *ops)
{
    if (h->tries <= 0)
        return false;
    h->tries--;
    struct failure f = run_list(ops, h->twin, NULL);
    if (!f.failed || !alike(&f, &h->failure))
        return false;
    h->failure = f;
    if (ops != &h->best)
        ops_copy(&h->best, ops);
    if (f.line > 0 && (size_t)f.line < h->best.n)
        h->best.n = (size_t)f.line;
    return true;
}

static bool without(struct hunt *h, size_t from, size_t n)
{
    struct ops ops = {NULL, 0, 0};
    for (size_t i = 0; i < h->best.n; i++)
        if (i < from || i >= from + n)
            ops_add(&ops, &h->best.items[i]);
    bool done = attempt(h, &ops);
    ops_done(&ops);
    return done;
}

static bool leave_out(struct hunt *h)
{
    bool any = false;
    for (size_t size = h->best.n / 2 + 1; size > 0; size /= 2)
        for (size_t end = h->best.n; end > 0 && h->tries > 0;) {
            size_t from = end > size ? end - size : 0;
            if (without(h, from, end - from))
                any = true;
            end = from < h->best.n ? from : h->best.n;
        }
    return any;
}

static bool with_line(struct hunt *h, size_t i, const struct op *op)
{
    struct ops ops = {NULL, 0, 0};
    ops_copy(&ops, &h->best);
    ops.items[i] = *op;
    bool done = attempt(h, &ops);
    ops_done(&ops);
    return done;
}

/* Smaller numbers: half, then one less; names and sets stay what they are. */
static bool smaller_value(struct hunt *h, size_t i, enum attr a)
{
    bool any = false;
    while (i < h->best.n && op_has(&h->best.items[i], a)) {
        struct op op = h->best.items[i];
        int32_t v = op.value[a], half = v / 2;
        if (attr_type(a) == T_TIME)
            half = half / 1000 * 1000;
        else if (attr_type(a) != T_NUMBER)
            break;
        op.value[a] = half;
        if (half < v && v > 1 && with_line(h, i, &op)) {
            any = true;
            continue;
        }
        op.value[a] = v - 1;
        if (attr_type(a) != T_NUMBER || v <= 0 || !with_line(h, i, &op))
            break;
        any = true;
    }
    return any;
}

static bool simplify_line(struct hunt *h, size_t i)
{
    bool any = false;
    struct op op = h->best.items[i];
    if (op.joined) {
        op.joined = false;
        any |= with_line(h, i, &op);
    }
    for (int a = 0; a < ATTR_COUNT && i < h->best.n; a++) {
        op = h->best.items[i];
        if (!op_has(&op, (enum attr)a) || (op.kind == OP_WAIT && a == A_TIME)) {
            if (op.kind == OP_WAIT)
                any |= smaller_value(h, i, (enum attr)a);
            continue;
        }
        op_unset(&op, (enum attr)a);
        if (with_line(h, i, &op))
            any = true;
        else
            any |= smaller_value(h, i, (enum attr)a);
    }
    return any;
}

struct failure shrink(struct ops *ops, bool twin, struct failure failure, int tries)
{
    struct hunt h = {.failure = failure, .twin = twin, .tries = tries};
    struct ops trace = {NULL, 0, 0};
    ops_copy(&h.best, ops);
    run_list(ops, twin, &trace);
    if (trace.n)
        attempt(&h, &trace);
    ops_done(&trace);
    for (bool more = true; more && h.tries > 0;) {
        more = leave_out(&h);
        for (size_t i = h.best.n; i-- > 0 && h.tries > 0;)
            if (i < h.best.n)
                more |= simplify_line(&h, i);
    }
    ops_done(ops);
    *ops = h.best;
    return h.failure;
}
