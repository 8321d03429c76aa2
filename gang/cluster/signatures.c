/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/signatures.h"

#include <inttypes.h>

#include "gang/cluster/anti_affinity_and_spread.h"
#include "gang/cluster/cache_budget.h"
#include "gang/cluster/class_labels.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/pod_labels.h"
#include "gang/cluster/resources.h"
#include "gang/cluster/volume_claims.h"
#include "gang/inter_pod_rules.h"
#include "gang/node_predicates.h"
#include "gang/volume_rules.h"

const char signature_volume_refusal[] = "its volumes cannot be used on this node";

/* Larger requests are cut to this, which no node has. The sum of 65,536 such pods does not
 * overflow. */
#define AMOUNT_MAX (INT64_MAX >> 17)

/* ---- the key: everything in a pod that the planner reads, in a fixed order ---- */

static int by_resource(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    return x->resource < y->resource ? -1 : x->resource > y->resource;
}

/* Appends a text with its length, so that no text of a user can look like another key. */
static void key_text(struct buf *b, const char *s)
{
    buf_printf(b, "%zu:%s", s ? strlen(s) : (size_t)0, s ? s : "");
}

static void key_term(struct buf *b, const struct gang_term *t)
{
    buf_printf(b, "t%zu", t->n);
    for (size_t i = 0; i < t->n; i++) {
        const struct gang_requirement *r = &t->items[i];
        buf_printf(b, "r%d.%d.%zu", r->on_name, (int)r->op, r->n_values);
        key_text(b, r->key);
        for (size_t k = 0; k < r->n_values; k++)
            key_text(b, r->values[k]);
    }
}

static void key_selector(struct buf *b, const struct gang_selector *s)
{
    key_term(b, &s->term);
    buf_printf(b, "%d.%zu", s->all_namespaces, s->n_namespaces);
    for (size_t i = 0; i < s->n_namespaces; i++)
        key_text(b, s->namespaces[i]);
}

/* The labels that rules of other pods may read. */
static void key_labels(struct buf *b, const struct gang_core *core, const struct gang_pod_facts *f)
{
    const struct map *keys = rule_labels_of(core, f->ns);
    if (!core->rule_labels.matter || !f->group.api_group)
        return;
    buf_putc(b, 'l');
    key_text(b, f->ns);
    for (size_t i = 0; i < f->labels.n; i++) {
        if (!keys || !map_get(keys, f->labels.items[i].key))
            continue;
        key_text(b, f->labels.items[i].key);
        key_text(b, f->labels.items[i].value);
    }
}

/* The rules between pods, and whether they select the pod itself. */
static void key_between(struct buf *b, const struct gang_pod_facts *f)
{
    if (!f->n_anti_affinity && !f->n_spreads)
        return;
    buf_printf(b, "b%d", gang_anti_affinity_forbids(f, f));
    key_text(b, f->ns);
    for (size_t i = 0; i < f->n_anti_affinity; i++) {
        buf_putc(b, 'x');
        key_selector(b, &f->anti_affinity[i]);
    }
    for (size_t i = 0; i < f->n_spreads; i++) {
        const struct gang_spread *s = &f->spreads[i];
        buf_printf(b, "y%d.%d.%d.%d.%d.%zu", (int)s->max_skew, (int)s->min_domains, s->any_affinity,
                   s->taints_count, gang_spread_counts(s, f, f), s->n_keys);
        for (size_t k = 0; k < s->n_keys; k++)
            key_text(b, s->keys[k]);
        key_selector(b, &s->selector);
    }
}

/* Where its volumes can be used, without the names of the claims. Returns whether they limit the
 * nodes. */
static bool key_claims(struct buf *b, const struct gang_core *core, const struct gang_pod_facts *f)
{
    bool limited = false;
    for (size_t i = 0; i < claims_in_use(f); i++) {
        const struct gang_claim_facts *claim = claim_limits(core, f->ns, f->claims[i]);
        if (!claim || !(claim->selected || claim->limited))
            continue;
        limited = true;
        buf_printf(b, "v%d.%zu", claim->limited, claim->n_terms);
        key_text(b, claim->selected);
        for (size_t k = 0; k < claim->n_terms; k++)
            key_term(b, &claim->terms[k]);
    }
    return limited;
}

static void key_nodes(struct buf *b, const struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->node_selector.n; i++) {
        buf_putc(b, 's');
        key_text(b, f->node_selector.items[i].key);
        key_text(b, f->node_selector.items[i].value);
    }
    if (f->has_affinity)
        buf_putc(b, 'a');
    for (size_t i = 0; i < f->n_affinity; i++)
        key_term(b, &f->affinity[i]);
    for (size_t i = 0; i < f->n_tolerations; i++) {
        const struct gang_toleration *t = &f->tolerations[i];
        buf_printf(b, "o%d.%d.%d", t->exists, t->any_effect, (int)t->effect);
        key_text(b, t->key);
        key_text(b, t->value);
    }
}

static void key_ports(struct buf *b, const struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->n_host_ports; i++) {
        const struct gang_port *p = &f->host_ports[i];
        buf_printf(b, "p%d", (int)p->port);
        key_text(b, p->protocol);
        key_text(b, p->ip);
    }
}

static int by_resource_name(const void *a, const void *b)
{
    const struct gang_amount *x = a, *y = b;
    return strcmp(x->resource, y->resource);
}

/* The needs by name, because plans depend on the order of keys. The numbers of resources depend on
 * the order in which muster saw them. */
static void key_needs(struct buf *b, const struct gang_core *core, const struct need *needs,
                      size_t n)
{
    cleanup_free struct gang_amount *named = xcalloc(n, sizeof *named);
    for (size_t i = 0; i < n; i++)
        named[i] = (struct gang_amount){core->resources.names[needs[i].resource], needs[i].amount};
    qsort(named, n, sizeof *named, by_resource_name);
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, "n%" PRId64 "=", named[i].amount);
        key_text(b, named[i].resource);
    }
}

static void signature_needs(struct gang_core *core, const struct gang_pod_facts *facts,
                            struct need **ret, size_t *ret_n)
{
    const struct gang_amounts *total = &facts->requests;
    struct need *needs = xcalloc(total->n + 1, sizeof *needs);
    size_t n = 0;
    needs[n++] = (struct need){resource_ref(core, "pods"), 1};
    for (size_t i = 0; i < total->n; i++) {
        int64_t amount = total->items[i].amount;
        bool none =
            signature_is_partial(facts) && !map_get(&core->offered, total->items[i].resource);
        if (amount <= 0 || none)
            continue;
        needs[n++] = (struct need){resource_ref(core, total->items[i].resource),
                                   amount < AMOUNT_MAX ? amount : AMOUNT_MAX};
    }
    qsort(needs, n, sizeof *needs, by_resource);
    *ret = needs;
    *ret_n = n;
}

static void needs_free(struct gang_core *core, struct need *needs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        resource_unref(core, needs[i].resource);
    free(needs);
}

/* The first device by name, which does not depend on the order in which muster saw resources. */
static int first_device(const struct gang_core *core, const struct need *needs, size_t n)
{
    int first = -1;
    for (size_t i = 0; i < n; i++) {
        const char *name = core->resources.names[needs[i].resource];
        if (gang_is_device(name) && (first < 0 || strcmp(name, core->resources.names[first]) < 0))
            first = (int)needs[i].resource;
    }
    return first;
}

static struct rule_results *rule_results_ref(struct gang_core *core, const char *key)
{
    struct rule_results *v = map_get(&core->rule_results, key);
    if (!v) {
        v = xcalloc(1, sizeof *v);
        cached_begin(&v->by_id, core->caches);
        v->key = xstrdup(key);
        map_set(&core->rule_results, key, v);
    }
    v->users++;
    return v;
}

static void rule_results_unref(struct gang_core *core, struct rule_results *v)
{
    if (--v->users > 0)
        return;
    map_remove(&core->rule_results, v->key);
    cached_end(&v->by_id);
    free(v->key);
    free(v);
}

struct signature *signature_of(struct gang_core *core, const struct gang_pod_facts *facts)
{
    struct need *needs;
    size_t n;
    signature_needs(core, facts, &needs, &n);
    cleanup_buf struct buf key = BUF_INIT;
    key_needs(&key, core, needs, n);
    size_t nodes = key.len;
    key_nodes(&key, facts);
    size_t nodes_end = key.len;
    key_ports(&key, facts);
    key_between(&key, facts);
    key_labels(&key, core, facts);
    size_t base = key.len;
    bool limited = key_claims(&key, core, facts);

    struct signature *signature = map_get(&core->signatures, buf_str(&key));
    if (signature) {
        needs_free(core, needs, n);
        return signature_ref(signature);
    }
    signature = xcalloc(1, sizeof *signature);
    signature->key = xstrdup(buf_str(&key));
    signature->base = base;
    signature->needs = needs;
    signature->n_needs = n;
    signature->device = first_device(core, needs, n);
    signature->ports = facts->n_host_ports > 0;
    signature->anti_affinity = facts->n_anti_affinity > 0;
    signature->spread = facts->n_spreads > 0;
    signature->alone = signature->ports || gang_anti_affinity_forbids(facts, facts);
    signature->limited = limited;
    cleanup_free char *rules = xasprintf("%.*s|%s", (int)(nodes_end - nodes),
                                         signature->key + nodes, signature->key + base);
    signature->rule_results = rule_results_ref(core, rules);
    list_init(&signature->pods);
    list_init(&signature->ended);
    map_set(&core->signatures, signature->key, signature);
    return signature_ref(signature);
}

struct signature *signature_ref(struct signature *signature)
{
    signature->users++;
    return signature;
}

void signature_unref(struct gang_core *core, struct signature *signature)
{
    if (!signature || --signature->users > 0)
        return;
    map_remove(&core->signatures, signature->key);
    class_labels_release(core, signature);
    free(signature->key);
    needs_free(core, signature->needs, signature->n_needs);
    rule_results_unref(core, signature->rule_results);
    pod_counts_drop(signature);
    free(signature);
}

bool signature_alike(const struct signature *a, const struct signature *b)
{
    return a->base == b->base && memcmp(a->key, b->key, a->base) == 0;
}

bool signature_needs_equal(const struct signature *a, const struct signature *b)
{
    if (a->n_needs != b->n_needs)
        return false;
    for (size_t i = 0; i < a->n_needs; i++)
        if (a->needs[i].resource != b->needs[i].resource ||
            a->needs[i].amount != b->needs[i].amount)
            return false;
    return true;
}

static const char *refusal(const struct pod *pod, const struct node *node)
{
    const char *no = gang_node_refusal(pod->facts, node->facts);
    for (size_t i = 0; !no && i < pod->n_uses; i++) {
        const struct gang_claim_facts *claim = pod->uses[i].claim->facts;
        if (claim && !gang_claim_allows(claim, node->facts))
            no = signature_volume_refusal;
    }
    return no;
}

static struct rule_result *rule_result_at(struct rule_results *v, const struct node *node)
{
    struct rule_result *by_id = v->by_id.memory;
    if (node->id < v->by_id.bytes / sizeof *by_id)
        cached_use(&v->by_id);
    else
        by_id = cached_grow(&v->by_id, ((size_t)node->id + 64) * sizeof *by_id);
    return &by_id[node->id];
}

void signature_sort(struct pod *pod)
{
    bool counts = pod_counts(pod);
    if (!list_empty(&pod->in_signature) && counts == pod->counts)
        return;
    list_remove(&pod->in_signature);
    list_push(counts ? &pod->signature->pods : &pod->signature->ended, &pod->in_signature);
    pod->counts = counts;
}

void signature_unlist(struct pod *pod)
{
    list_remove(&pod->in_signature);
}

const char *signature_refusal(struct signature *signature, const struct node *node)
{
    if (!node->facts)
        return "the node is unknown";
    struct rule_result *v = rule_result_at(signature->rule_results, node);
    const struct pod *sample = v->gen != node->gen ? signature_pod(signature) : NULL;
    if (v->gen != node->gen && !sample)
        return "no pod of this signature is left";
    if (sample)
        *v = (struct rule_result){node->gen, refusal(sample, node)};
    return v->no;
}
