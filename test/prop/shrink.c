/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.c - shrinks a failing list of operations. Keeps each change after which the list still
 * fails in the same way:
 *
 *   1. Remove operations that did nothing, and write the chosen subjects into the others.
 *   2. Remove runs of operations, long runs first.
 *   3. Remove attributes, reduce numbers, and split steps.
 *   4. Repeat 2 and 3 until no change is kept.
 */
#include "test/prop/run.h"

struct hunt {
    struct ops best;
    struct failure failure;
    bool twin;
    int tries;
};

/* Whether the two failures have the same tag and the same text, apart from numbers. */
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

/* Plays the list, and keeps it as the best one if it fails in the same way. */
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

/* Halves a number or time as often as possible, then decrements a number. Subjects and sets stay.
 */
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
