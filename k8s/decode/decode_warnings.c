/* SPDX-License-Identifier: Apache-2.0 */
/* Marks in a pod's facts: constraints that are missing, and fields that cannot be read. */
#include "base/utf8.h"
#include "k8s/decode/decode_internal.h"

void decode_mark_inexact(struct gang_pod_facts *f, const char *what)
{
    if (!f->inexact)
        f->inexact = xstrdup(what);
}

static void set_invalid(struct gang_pod_facts *f, const char *text)
{
    decode_mark_inexact(f, "a field that muster cannot read completely");
    if (f->invalid)
        return;
    f->invalid = xasprintf("pod %s/%s: %s", f->ns, f->name, text);
    utf8_clean(f->invalid);
}

void decode_invalid(struct gang_pod_facts *f, const struct err *err)
{
    set_invalid(f, err->text);
}

bool decode_within(struct gang_pod_facts *f, enum gang_bound bound, size_t n)
{
    if (n <= gang_bounds[bound].most)
        return true;
    cleanup_free char *text = gang_bound_exceeded(bound, n);
    set_invalid(f, text);
    return false;
}
