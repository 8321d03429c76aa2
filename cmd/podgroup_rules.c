/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/podgroup_rules.h"

#include "k8s/dialect/dialect.h"

/* The setting has the dialect's name. A test compares the two lists of names. */
static char *home_of(const struct config *c)
{
    const char *name = config_dialects[c->pod_group_dialect];
    for (const struct dialect *const *d = dialects; *d; d++)
        if (str_eq((*d)->name, name))
            return (char *)(uintptr_t)(*d)->api_group;
    return NULL;
}

static struct workload_custom custom_of(const char *text)
{
    struct config_workload w = {NULL, NULL, NULL, NULL};
    config_workload(text, &w, NULL); /* config_load() has checked it */
    return (struct workload_custom){w.api_version, w.kind, w.replicas, w.minimum};
}

struct workload_rules *podgroup_rules_new(const struct config *c)
{
    struct workload_rules *rules = xcalloc(1, sizeof *rules);
    *rules = (struct workload_rules){
        .on = c->create_pod_groups,
        .schedulers = c->pod_group_schedulers.items,
        .n_schedulers = c->pod_group_schedulers.n,
        .namespaces = c->pod_group_namespaces.items,
        .n_namespaces = c->pod_group_namespaces.n,
        .excluded_namespaces = c->pod_group_excluded_namespaces.items,
        .n_excluded_namespaces = c->pod_group_excluded_namespaces.n,
        .home = home_of(c),
        .customs = xcalloc(c->workloads.n, sizeof *rules->customs),
        .n_customs = c->workloads.n,
    };
    for (size_t i = 0; i < c->workloads.n; i++)
        rules->customs[i] = custom_of(c->workloads.items[i]);
    return rules;
}

struct workload_rules *podgroup_rules_free(struct workload_rules *rules)
{
    for (size_t i = 0; rules && i < rules->n_customs; i++) {
        struct workload_custom *w = &rules->customs[i];
        free(w->api_version);
        free(w->kind);
        free(w->replicas);
        free(w->minimum);
    }
    if (rules)
        free(rules->customs);
    free(rules);
    return NULL;
}
