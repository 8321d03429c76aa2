/* SPDX-License-Identifier: Apache-2.0 */
#include "podgroup_text.h"

#include "base/buf.h"
#include "test/lib/yaml_object.h"

/* ---- facts as text ---- */

static void put_ref(struct buf *b, const struct gang_ref *ref)
{
    buf_printf(b, " %s/%s", ref->ns, ref->name);
}

static void put_term(struct buf *b, const struct gang_term *term)
{
    static const char *const ops[] = {"in", "notin", "exists", "absent", "gt", "lt"};
    for (size_t i = 0; i < term->n; i++) {
        buf_printf(b, " %s-%s", term->items[i].key, ops[term->items[i].op]);
        for (size_t v = 0; v < term->items[i].n_values; v++)
            buf_printf(b, "-%s", term->items[i].values[v]);
    }
}

static void put_subgroup(struct buf *b, const struct gang_subgroup *s)
{
    buf_printf(b, " [%s", s->name);
    if (s->parent)
        buf_printf(b, " in %s", s->parent);
    if (s->by_labels) {
        buf_puts(b, " by-labels");
        put_term(b, &s->selector);
        for (size_t i = 0; i < s->n_split_by; i++)
            buf_printf(b, " split-%s", s->split_by[i]);
        buf_printf(b, " size %d", (int)s->part_size);
    }
    if (s->min_member)
        buf_printf(b, " min %d", (int)s->min_member);
    if (s->min_children != -1)
        buf_printf(b, " children %d", (int)s->min_children);
    buf_putc(b, ']');
}

/* Everything that differs from an empty PodGroup: "min 4 max 8 …". */
static char *words(const struct gang_group_facts *f)
{
    static const char *const matches[] = {"once", "running", "waiting", ""};
    struct buf b = BUF_INIT;
    if (f->invalid) {
        buf_puts(&b, f->invalid);
        return buf_steal(&b);
    }
    buf_printf(&b, "min %d", (int)f->min_member);
    if (f->max_member)
        buf_printf(&b, " max %d", (int)f->max_member);
    if (f->min_children != -1)
        buf_printf(&b, " children %d", (int)f->min_children);
    for (size_t i = 0; i < f->n_subgroups; i++)
        put_subgroup(&b, &f->subgroups[i]);
    if (f->parent)
        buf_printf(&b, " parent %s", f->parent);
    for (size_t i = 0; i < f->n_bundle; i++) {
        assert_string_equal(f->bundle[i].api_group, f->ref.api_group);
        buf_puts(&b, i ? "" : " with");
        put_ref(&b, &f->bundle[i]);
    }
    for (size_t i = 0; i < f->min_resources.n; i++)
        buf_printf(&b, " %s=%ld", f->min_resources.items[i].resource,
                   (long)f->min_resources.items[i].amount);
    if (f->has_priority)
        buf_printf(&b, " priority %d", f->priority);
    if (f->priority_class)
        buf_printf(&b, " class %s", f->priority_class);
    if (f->match != MATCH_DEFAULT)
        buf_printf(&b, " match %s", matches[f->match]);
    if (f->schedule_timeout)
        buf_printf(&b, " timeout %ldms", (long)(f->schedule_timeout / USEC_PER_MSEC));
    return buf_steal(&b);
}

struct gang_group_facts *read_group(const char *api_group, const char *annotations,
                                    const char *spec)
{
    cleanup_free char *text =
        xasprintf("{metadata: {name: g, namespace: ml, uid: u, annotations: %s, "
                  "creationTimestamp: '2024-02-29T12:00:00Z'}, spec: %s}",
                  annotations, spec);
    cleanup_json json_t *json = yaml_object(text);
    struct err err;
    struct gang_group_facts *f = decode_group(dialect_by_group(api_group), json, &err);
    if (!f)
        fail_msg("%s", err.text);
    assert_string_equal(f->ref.api_group, api_group);
    assert_string_equal(f->ref.ns, "ml");
    assert_string_equal(f->ref.name, "g");
    assert_string_equal(f->uid, "u");
    assert_int_equal(f->created, WALL);
    return f;
}

void assert_words(const struct gang_group_facts *f, const char *what, const char *want)
{
    cleanup_free char *got = words(f);
    if (!str_eq(got, want))
        fail_msg("%s\n got:  %s\n want: %s", what, got, want);
}

struct gang_pod_facts *read_pod(const char *metadata)
{
    cleanup_free char *text = xasprintf("{metadata: {name: p, namespace: ml, uid: u, "
                                        "creationTimestamp: '2024-02-29T12:00:00Z', %s}}",
                                        metadata);
    cleanup_json json_t *json = yaml_object(text);
    struct err err;
    struct gang_pod_facts *f = decode_pod(json, &err);
    if (!f)
        fail_msg("%s", err.text);
    return f;
}
