/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/facts.h"

static void kvs_done(struct gang_kvs *kvs)
{
    for (size_t i = 0; i < kvs->n; i++) {
        free(kvs->items[i].key);
        free(kvs->items[i].value);
    }
    free(kvs->items);
}

void gang_amounts_done(struct gang_amounts *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->items[i].resource);
    free(a->items);
    *a = (struct gang_amounts){NULL, 0};
}

/* "GROUP/NS/NAME", in buf if that has room for it, else in new memory. Without printf(), because
 * lookups make many keys. */
static char *write_key(const char *api_group, const char *ns, const char *name, char *buf,
                       size_t size)
{
    const size_t a = strlen(api_group), b = strlen(ns), c = strlen(name), all = a + b + c + 3;
    char *key = all <= size ? buf : xmalloc(all);
    memcpy(key, api_group, a);
    key[a] = '/';
    memcpy(&key[a + 1], ns, b);
    key[a + 1 + b] = '/';
    memcpy(&key[a + b + 2], name, c + 1);
    return key;
}

char *gang_key(const char *api_group, const char *ns, const char *name)
{
    return write_key(api_group, ns, name, NULL, 0);
}

void *gang_ref_get(const struct map *m, const struct gang_ref *ref)
{
    char buf[512]; /* enough for all names that the API server allows */
    char *key = write_key(ref->api_group, ref->ns, ref->name, buf, sizeof buf);
    void *value = map_get(m, key);
    if (key != buf)
        free(key);
    return value;
}

char *gang_ref_key(const struct gang_ref *ref)
{
    return gang_key(ref->api_group, ref->ns, ref->name);
}

void gang_ref_done(struct gang_ref *ref)
{
    free(ref->api_group);
    free(ref->ns);
    free(ref->name);
    *ref = (struct gang_ref){NULL, NULL, NULL};
}

static void strings_free(char **items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(items[i]);
    free(items);
}

/* Makes room for one more item. The capacity doubles whenever n is a power of two. */
static void *grown(void *items, size_t n, size_t size)
{
    return n & (n - 1) ? items : xreallocarray(items, n ? 2 * n : 1, size);
}

void gang_amounts_add(struct gang_amounts *a, const char *resource, int64_t amount)
{
    a->items = grown(a->items, a->n, sizeof *a->items);
    a->items[a->n++] = (struct gang_amount){xstrdup(resource), amount};
}

int64_t gang_amounts_get(const struct gang_amounts *a, const char *resource)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].resource, resource) == 0)
            return a->items[i].amount;
    return 0;
}

/* The first position with a key >= `key`; with `after`, > `key`. */
static size_t position_of(const struct gang_kvs *kvs, const char *key, bool after)
{
    size_t low = 0, high = kvs->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(kvs->items[middle].key, key);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gang_kvs_add(struct gang_kvs *kvs, const char *key, const char *value)
{
    kvs->items = grown(kvs->items, kvs->n, sizeof *kvs->items);
    /* The API server sends keys sorted, so the new key is usually the last. */
    bool last = kvs->n == 0 || strcmp(kvs->items[kvs->n - 1].key, key) <= 0;
    size_t at = last ? kvs->n : position_of(kvs, key, /* after= */ true);
    memmove(&kvs->items[at + 1], &kvs->items[at], (kvs->n++ - at) * sizeof *kvs->items);
    kvs->items[at] = (struct gang_kv){xstrdup(key), xstrdup(value)};
}

const char *gang_kvs_get(const struct gang_kvs *kvs, const char *key)
{
    size_t at = position_of(kvs, key, /* after= */ false);
    return at < kvs->n && strcmp(kvs->items[at].key, key) == 0 ? kvs->items[at].value : NULL;
}

bool gang_kvs_equal(const struct gang_kvs *a, const struct gang_kvs *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(gang_kvs_get(b, a->items[i].key), a->items[i].value))
            return false;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Up to this many values stay unsorted, and a search compares one by one. */
#define FEW 8

void gang_texts_sort(char **texts, size_t n)
{
    if (n > FEW)
        qsort(texts, n, sizeof *texts, by_text);
}

bool gang_texts_have(char *const *texts, size_t n, const char *text)
{
    if (n > FEW)
        return bsearch(&text, texts, n, sizeof *texts, by_text) != NULL;
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

const char *gang_port_address(const struct gang_port *port)
{
    return !port->ip || strcmp(port->ip, "0.0.0.0") == 0 ? "" : port->ip;
}

int gang_port_compare(const struct gang_port *a, const struct gang_port *b)
{
    if (a->port != b->port)
        return a->port < b->port ? -1 : 1;
    int order = strcmp(a->protocol, b->protocol);
    return order ? order : strcmp(gang_port_address(a), gang_port_address(b));
}

static int by_port(const void *a, const void *b)
{
    return gang_port_compare(a, b);
}

void gang_ports_sort(struct gang_port *ports, size_t n)
{
    if (n > 1)
        qsort(ports, n, sizeof *ports, by_port);
}

struct gang_node_facts *gang_node_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_node_facts));
}

struct gang_node_facts *gang_node_facts_free(struct gang_node_facts *f)
{
    if (!f)
        return NULL;
    free(f->name);
    kvs_done(&f->labels);
    for (size_t i = 0; i < f->n_taints; i++) {
        free(f->taints[i].key);
        free(f->taints[i].value);
    }
    free(f->taints);
    gang_amounts_done(&f->allocatable);
    free(f->invalid);
    free(f);
    return NULL;
}

struct gang_pod_facts *gang_pod_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_pod_facts));
}

static void term_done(struct gang_term *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->items[i].key);
        strings_free(t->items[i].values, t->items[i].n_values);
    }
    free(t->items);
}

void gang_selector_done(struct gang_selector *s)
{
    term_done(&s->term);
    strings_free(s->namespaces, s->n_namespaces);
    *s = (struct gang_selector){.n_namespaces = 0};
}

struct gang_pod_facts *gang_pod_facts_free(struct gang_pod_facts *f)
{
    if (!f)
        return NULL;
    if (f->packed) {
        gang_group_facts_free(f->declared);
        free(f);
        return NULL;
    }
    kvs_done(&f->labels);
    free(f->role);
    free(f->bad_link);
    free(f->awaits_group);
    free(f->job);
    free(f->short_of);
    gang_group_facts_free(f->declared);
    free(f->uniform.key);
    free(f->uniform.value);
    strings_free(f->claims, f->n_claims);
    for (size_t i = 0; i < f->n_anti_affinity; i++)
        gang_selector_done(&f->anti_affinity[i]);
    free(f->anti_affinity);
    for (size_t i = 0; i < f->n_wide_anti_affinity; i++)
        gang_selector_done(&f->wide_anti_affinity[i]);
    free(f->wide_anti_affinity);
    free(f->inexact);
    free(f->invalid);
    for (size_t i = 0; i < f->n_spreads; i++) {
        gang_selector_done(&f->spreads[i].selector);
        strings_free(f->spreads[i].keys, f->spreads[i].n_keys);
    }
    free(f->spreads);
    free(f->ns);
    free(f->name);
    free(f->uid);
    free(f->node);
    free(f->nominated);
    free(f->scheduler);
    strings_free(f->gates, f->n_gates);
    gang_ref_done(&f->group);
    gang_ref_done(&f->queue);
    gang_amounts_done(&f->requests);
    for (size_t i = 0; i < f->n_host_ports; i++) {
        free(f->host_ports[i].ip);
        free(f->host_ports[i].protocol);
    }
    free(f->host_ports);
    kvs_done(&f->node_selector);
    for (size_t i = 0; i < f->n_affinity; i++)
        term_done(&f->affinity[i]);
    free(f->affinity);
    for (size_t i = 0; i < f->n_tolerations; i++) {
        free(f->tolerations[i].key);
        free(f->tolerations[i].value);
    }
    free(f->tolerations);
    free(f);
    return NULL;
}

struct gang_group_facts *gang_group_facts_new(void)
{
    struct gang_group_facts *f = xcalloc(1, sizeof *f);
    f->min_children = -1;
    f->match = MATCH_DEFAULT;
    return f;
}

static void subgroup_done(struct gang_subgroup *s)
{
    free(s->name);
    free(s->parent);
    term_done(&s->selector);
    strings_free(s->split_by, s->n_split_by);
}

struct gang_group_facts *gang_group_facts_free(struct gang_group_facts *f)
{
    if (!f)
        return NULL;
    gang_ref_done(&f->ref);
    free(f->uid);
    free(f->invalid);
    free(f->parent);
    free(f->priority_class);
    free(f->queue);
    for (size_t i = 0; i < f->n_subgroups; i++)
        subgroup_done(&f->subgroups[i]);
    free(f->subgroups);
    for (size_t i = 0; i < f->n_bundle; i++)
        gang_ref_done(&f->bundle[i]);
    free(f->bundle);
    gang_amounts_done(&f->min_resources);
    free(f);
    return NULL;
}

/* ---- copies ---- */

static char **strings_copy(char **items, size_t n)
{
    char **copy = xcalloc(n, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(items[i]);
    return copy;
}

static struct gang_ref ref_copy(const struct gang_ref *r)
{
    return (struct gang_ref){xstrdup_null(r->api_group), xstrdup_null(r->ns),
                             xstrdup_null(r->name)};
}

static struct gang_term term_copy(const struct gang_term *t)
{
    struct gang_term copy = {xcalloc(t->n, sizeof *copy.items), t->n};
    for (size_t i = 0; i < t->n; i++) {
        copy.items[i] = t->items[i];
        copy.items[i].key = xstrdup_null(t->items[i].key);
        copy.items[i].values = strings_copy(t->items[i].values, t->items[i].n_values);
    }
    return copy;
}

static struct gang_subgroup subgroup_copy(const struct gang_subgroup *s)
{
    struct gang_subgroup copy = *s;
    copy.name = xstrdup_null(s->name);
    copy.parent = xstrdup_null(s->parent);
    copy.selector = term_copy(&s->selector);
    copy.split_by = strings_copy(s->split_by, s->n_split_by);
    return copy;
}

struct gang_group_facts *gang_group_facts_copy(const struct gang_group_facts *f)
{
    struct gang_group_facts *copy = gang_group_facts_new();
    *copy = *f;
    copy->ref = ref_copy(&f->ref);
    copy->uid = xstrdup_null(f->uid);
    copy->invalid = xstrdup_null(f->invalid);
    copy->parent = xstrdup_null(f->parent);
    copy->priority_class = xstrdup_null(f->priority_class);
    copy->queue = xstrdup_null(f->queue);
    copy->subgroups = xcalloc(f->n_subgroups, sizeof *copy->subgroups);
    for (size_t i = 0; i < f->n_subgroups; i++)
        copy->subgroups[i] = subgroup_copy(&f->subgroups[i]);
    copy->bundle = xcalloc(f->n_bundle, sizeof *copy->bundle);
    for (size_t i = 0; i < f->n_bundle; i++)
        copy->bundle[i] = ref_copy(&f->bundle[i]);
    copy->min_resources = (struct gang_amounts){NULL, 0};
    for (size_t i = 0; i < f->min_resources.n; i++)
        gang_amounts_add(&copy->min_resources, f->min_resources.items[i].resource,
                         f->min_resources.items[i].amount);
    return copy;
}

/* ---- equality ---- */

bool gang_ref_equal(const struct gang_ref *a, const struct gang_ref *b)
{
    return str_eq(a->api_group, b->api_group) && str_eq(a->ns, b->ns) && str_eq(a->name, b->name);
}

static bool strings_equal(char **a, size_t n, char **b, size_t m)
{
    for (size_t i = 0; n == m && i < n; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return n == m;
}

static bool terms_equal(const struct gang_term *a, const struct gang_term *b)
{
    for (size_t i = 0; a->n == b->n && i < a->n; i++) {
        const struct gang_requirement *x = &a->items[i], *y = &b->items[i];
        if (x->on_name != y->on_name || x->op != y->op || !str_eq(x->key, y->key) ||
            !strings_equal(x->values, x->n_values, y->values, y->n_values))
            return false;
    }
    return a->n == b->n;
}

static bool subgroups_equal(const struct gang_subgroup *a, const struct gang_subgroup *b)
{
    return str_eq(a->name, b->name) && str_eq(a->parent, b->parent) &&
           a->min_member == b->min_member && a->min_children == b->min_children &&
           a->by_labels == b->by_labels && a->part_size == b->part_size &&
           terms_equal(&a->selector, &b->selector) &&
           strings_equal(a->split_by, a->n_split_by, b->split_by, b->n_split_by);
}

static bool amounts_equal(const struct gang_amounts *a, const struct gang_amounts *b)
{
    for (size_t i = 0; a->n == b->n && i < a->n; i++)
        if (a->items[i].amount != b->items[i].amount ||
            strcmp(a->items[i].resource, b->items[i].resource) != 0)
            return false;
    return a->n == b->n;
}

static bool lists_equal(const struct gang_group_facts *a, const struct gang_group_facts *b)
{
    if (a->n_subgroups != b->n_subgroups || a->n_bundle != b->n_bundle)
        return false;
    for (size_t i = 0; i < a->n_subgroups; i++)
        if (!subgroups_equal(&a->subgroups[i], &b->subgroups[i]))
            return false;
    for (size_t i = 0; i < a->n_bundle; i++)
        if (!gang_ref_equal(&a->bundle[i], &b->bundle[i]))
            return false;
    return amounts_equal(&a->min_resources, &b->min_resources);
}

bool gang_group_facts_equal(const struct gang_group_facts *a, const struct gang_group_facts *b)
{
    return gang_ref_equal(&a->ref, &b->ref) && str_eq(a->uid, b->uid) &&
           str_eq(a->invalid, b->invalid) && str_eq(a->min_field, b->min_field) &&
           a->min_member == b->min_member && a->max_member == b->max_member &&
           a->min_children == b->min_children && str_eq(a->parent, b->parent) &&
           a->has_priority == b->has_priority && a->priority == b->priority &&
           str_eq(a->priority_class, b->priority_class) && str_eq(a->queue, b->queue) &&
           a->preemptible == b->preemptible && a->match == b->match && a->suspends == b->suspends &&
           a->schedule_timeout == b->schedule_timeout &&
           a->preemption_delay == b->preemption_delay && a->created == b->created &&
           lists_equal(a, b);
}

struct gang_priority_class_facts *gang_priority_class_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_priority_class_facts));
}

struct gang_priority_class_facts *
gang_priority_class_facts_free(struct gang_priority_class_facts *f)
{
    if (f)
        free(f->name);
    free(f);
    return NULL;
}

struct gang_claim_facts *gang_claim_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_claim_facts));
}

struct gang_claim_facts *gang_claim_facts_free(struct gang_claim_facts *f)
{
    if (!f)
        return NULL;
    free(f->ns);
    free(f->name);
    free(f->selected);
    for (size_t i = 0; i < f->n_terms; i++)
        term_done(&f->terms[i]);
    free(f->terms);
    free(f);
    return NULL;
}

struct gang_budget_facts *gang_budget_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_budget_facts));
}

struct gang_budget_facts *gang_budget_facts_free(struct gang_budget_facts *f)
{
    if (!f)
        return NULL;
    free(f->ns);
    free(f->name);
    term_done(&f->selector);
    free(f);
    return NULL;
}

bool gang_budget_selector_equal(const struct gang_budget_facts *a,
                                const struct gang_budget_facts *b)
{
    return a->selects_none == b->selects_none && terms_equal(&a->selector, &b->selector);
}

struct gang_job_facts *gang_job_facts_new(void)
{
    return xcalloc(1, sizeof(struct gang_job_facts));
}

struct gang_job_facts *gang_job_facts_free(struct gang_job_facts *f)
{
    if (!f)
        return NULL;
    free(f->ns);
    free(f->name);
    free(f);
    return NULL;
}
