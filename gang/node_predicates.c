/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/node_predicates.h"

#include <errno.h>

/* Source: component-helpers/scheduling/corev1 TolerationsTolerateTaint, core/v1 ToleratesTaint. */
static bool tolerates(const struct gang_toleration *t, const char *key, const char *value,
                      enum gang_taint_effect effect)
{
    if (!t->any_effect && t->effect != effect)
        return false;
    if (t->key && t->key[0] && strcmp(t->key, key) != 0)
        return false;
    return t->exists || strcmp(t->value ? t->value : "", value) == 0;
}

static bool tolerated(const struct gang_pod_facts *pod, const char *key, const char *value,
                      enum gang_taint_effect effect)
{
    for (size_t i = 0; i < pod->n_tolerations; i++)
        if (tolerates(&pod->tolerations[i], key, value, effect))
            return true;
    return false;
}

static bool parse_integer(const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *ret = v;
    return true;
}

static bool compares(const struct gang_requirement *r, const char *value)
{
    int64_t have, want;
    if (!value || r->n_values != 1 || !parse_integer(value, &have) ||
        !parse_integer(r->values[0], &want))
        return false;
    return r->op == MATCH_GT ? have > want : have < want;
}

/* Source: apimachinery/pkg/labels Requirement.Matches. */
static bool value_matches(const struct gang_requirement *r, const char *value)
{
    switch (r->op) {
    case MATCH_IN:
        return value && gang_texts_have(r->values, r->n_values, value);
    case MATCH_NOT_IN:
        return !value || !gang_texts_have(r->values, r->n_values, value);
    case MATCH_EXISTS:
        return value != NULL;
    case MATCH_NOT_EXISTS:
        return value == NULL;
    case MATCH_GT:
    case MATCH_LT:
        return compares(r, value);
    }
    return false;
}

bool gang_label_matches(const struct gang_requirement *r, const struct gang_kvs *labels)
{
    return value_matches(r, gang_kvs_get(labels, r->key));
}

static bool requirement_matches(const struct gang_requirement *r,
                                const struct gang_node_facts *node)
{
    return r->on_name ? value_matches(r, node->name) : gang_label_matches(r, &node->labels);
}

bool gang_term_matches(const struct gang_term *term, const struct gang_node_facts *node)
{
    for (size_t i = 0; i < term->n; i++)
        if (!requirement_matches(&term->items[i], node))
            return false;
    return term->n > 0;
}

/* Source: component-helpers/scheduling/corev1/nodeaffinity GetRequiredNodeAffinity. */
bool gang_affinity_matches(const struct gang_pod_facts *pod, const struct gang_node_facts *node)
{
    for (size_t i = 0; i < pod->node_selector.n; i++) {
        const struct gang_kv *want = &pod->node_selector.items[i];
        if (!str_eq(gang_kvs_get(&node->labels, want->key), want->value))
            return false;
    }
    if (!pod->has_affinity)
        return true;
    for (size_t i = 0; i < pod->n_affinity; i++)
        if (gang_term_matches(&pod->affinity[i], node))
            return true;
    return false;
}

bool gang_taints_tolerated(const struct gang_pod_facts *pod, const struct gang_node_facts *node)
{
    for (size_t i = 0; i < node->n_taints; i++) {
        const struct gang_taint *t = &node->taints[i];
        if (t->effect != TAINT_PREFER_NO_SCHEDULE && !tolerated(pod, t->key, t->value, t->effect))
            return false;
    }
    return true;
}

const char *gang_predicate_name(enum gang_predicate p)
{
    static const char *const names[] = {
#define X(id, name) name,
        GANG_PREDICATES(X)
#undef X
    };
    return p < PREDICATE_MAX ? names[p] : "?";
}

static bool breaks(enum gang_predicate rule, const struct gang_pod_facts *pod,
                   const struct gang_node_facts *node)
{
    switch (rule) {
    case PREDICATE_UNSCHEDULABLE:
        return node->unschedulable &&
               !tolerated(pod, "node.kubernetes.io/unschedulable", "", TAINT_NO_SCHEDULE);
    case PREDICATE_AFFINITY:
        return !gang_affinity_matches(pod, node);
    default:
        return !gang_taints_tolerated(pod, node);
    }
}

const char *gang_node_refusal_but(const struct gang_pod_facts *pod,
                                  const struct gang_node_facts *node, int32_t rules_off,
                                  enum gang_predicate *ret)
{
    static const struct {
        enum gang_predicate rule;
        const char *words;
    } rules[] = {
        {PREDICATE_UNSCHEDULABLE, "unschedulable (cordoned)"},
        {PREDICATE_AFFINITY, "node selector or affinity does not match"},
        {PREDICATE_TAINTS, "untolerated taint"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        *ret = rules[i].rule;
        if (!(rules_off >> *ret & 1) && breaks(*ret, pod, node))
            return rules[i].words;
    }
    *ret = PREDICATE_NONE;
    return NULL;
}

enum gang_predicate gang_node_predicate(const struct gang_pod_facts *pod,
                                        const struct gang_node_facts *node)
{
    enum gang_predicate rule;
    gang_node_refusal_but(pod, node, 0, &rule);
    return rule;
}

const char *gang_node_refusal(const struct gang_pod_facts *pod, const struct gang_node_facts *node)
{
    enum gang_predicate rule;
    return gang_node_refusal_but(pod, node, 0, &rule);
}

/* Source: kube-scheduler framework HostPortInfo.CheckConflict. */
bool gang_ports_conflict(const struct gang_port *a, const struct gang_port *b)
{
    if (a->port != b->port || strcmp(a->protocol, b->protocol) != 0)
        return false;
    const char *x = gang_port_address(a), *y = gang_port_address(b);
    return !*x || !*y || strcmp(x, y) == 0;
}

/* The first port that is not less than `port`; NULL: none. The ports are sorted. */
static const struct gang_port *first_port(const struct gang_pod_facts *f,
                                          const struct gang_port *port)
{
    size_t low = 0, n = f->n_host_ports;
    while (low < n) {
        size_t middle = (low + n) / 2;
        if (gang_port_compare(&f->host_ports[middle], port) < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return low < f->n_host_ports ? &f->host_ports[low] : NULL;
}

/* Of the ports with its number and protocol, those on every address come first. So two searches
 * are enough, however many of these the pod has, and one if `port` is on every address. */
static bool conflicts(const struct gang_pod_facts *f, const struct gang_port *port)
{
    const struct gang_port any = {NULL, port->protocol, port->port};
    const struct gang_port *found = first_port(f, &any);
    if (found && gang_ports_conflict(found, port))
        return true;
    found = *gang_port_address(port) ? first_port(f, port) : NULL;
    return found && gang_ports_conflict(found, port);
}

bool gang_pods_conflict(const struct gang_pod_facts *a, const struct gang_pod_facts *b)
{
    const struct gang_pod_facts *few = a->n_host_ports < b->n_host_ports ? a : b;
    const struct gang_pod_facts *many = few == a ? b : a;
    for (size_t i = 0; i < few->n_host_ports; i++)
        if (conflicts(many, &few->host_ports[i]))
            return true;
    return false;
}

/* Source: pkg/apis/core/v1/helper IsExtendedResourceName. Its check for quota prefixes is left out,
 * because requests cannot have them. */
bool gang_is_device(const char *resource)
{
    const char *slash = strchr(resource, '/');
    if (!slash)
        return false;
    static const char native[] = "kubernetes.io";
    size_t n = (size_t)(slash - resource), m = sizeof native - 1;
    if (n < m || strncmp(slash - m, native, m) != 0)
        return true;
    return n > m && resource[n - m - 1] != '.';
}
