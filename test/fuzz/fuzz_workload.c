/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod and its owners as a JSON list, the pod first (Job, JobSet, LeaderWorkerSet, RayCluster,
 * Kubeflow's jobs …), and the PodGroup that they give.
 *
 * The dialect of the created PodGroup decodes it without an error. A PodGroup that was just created
 * needs no patch. The pod's link names it.
 *
 * If the top owner can be suspended, the pods that stand for its pods have names that no pod can
 * have.
 */
#include "base/json_repair.h"
#include "k8s/decode/decode.h"
#include "k8s/decode/suspended_pods.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/grouper/created_podgroup.h"
#include "test/fuzz/fuzz.h"
#include "workload/workload.h"

static char kai[] = "kai-scheduler", volcano[] = "volcano", home[] = "scheduling.run.ai";
static char *schedulers[] = {kai, volcano};
static char custom_api[] = "example.com/v1", custom_kind[] = "TrainSet";
static char custom_replicas[] = "spec.groups[*].replicas", custom_minimum[] = "spec.minimum";
static struct workload_custom customs[] = {
    {custom_api, custom_kind, custom_replicas, custom_minimum}};
static const struct workload_rules rules = {.on = true,
                                            .schedulers = schedulers,
                                            .n_schedulers = ARRAY_SIZE(schedulers),
                                            .home = home,
                                            .customs = customs,
                                            .n_customs = ARRAY_SIZE(customs)};

static void check_ref(const struct workload_ref *r)
{
    HOLDS(r->api_version && r->kind && r->name && r->uid, "half a reference");
}

static void check_made(const struct dialect *dialect, const struct workload_group *g)
{
    struct err err;
    cleanup_tree json_t *object = created_podgroup_object(dialect, dialect->versions[0], "ns", g);
    cleanup_free char *text = json_dumps(object, JSON_COMPACT);
    HOLDS(text && created_podgroup_is_ours(object), "no PodGroup of ours: %s",
          text ? text : "no JSON");
    struct gang_group_facts *f = decode_group(dialect, object, &err);
    HOLDS(f, "%s: %s in %s", dialect->name, err.text, text);
    HOLDS(!f->invalid, "%s: %s in %s", dialect->name, f->invalid, text);
    gang_group_facts_free(f);
    cleanup_tree json_t *patch = created_podgroup_patch(object, dialect, g);
    cleanup_free char *more = patch ? json_dumps(patch, JSON_COMPACT) : NULL;
    HOLDS(!patch, "%s: made %s, and then %s", dialect->name, text, more);
    cleanup_tree json_t *link = created_podgroup_link(dialect, "u", g->name, g->role);
    cleanup_free char *linked = json_dumps(link, JSON_COMPACT);
    HOLDS(linked, "a link that is no JSON");
    const char *name = NULL;
    HOLDS(dialect_of_pod(link, &name, NULL) && str_eq(name, g->name), "linked by %s to %s", linked,
          name ? name : "nothing");
}

static void check_group(const json_t *const *chain, size_t n)
{
    struct workload_group g = {0};
    struct err err = {.code = ERR_NONE};
    int r = workload_group(&rules, chain, n, &g, &err);
    if (r < 0)
        fuzz_check_error(&err);
    if (r == 0) {
        HOLDS(g.name && *g.name && strlen(g.name) <= 253, "no name of an object");
        HOLDS(g.labels && g.annotations, "no labels or annotations");
        check_ref(&g.owner);
        for (size_t i = 0; dialects[i]; i++)
            if (dialect_has_objects(dialects[i]) && dialects[i]->make)
                check_made(dialects[i], &g);
    }
    workload_group_done(&g);
}

static void check_suspended(const json_t *owner)
{
    struct workload_suspendable of;
    struct suspended_pods pods;
    struct err err;
    const struct gang_ref ref = {home, home, home};
    const char *api_version = field_peek(owner, "apiVersion", NULL);
    const char *kind = field_peek(owner, "kind", NULL);
    if (!api_version || !kind || !workload_suspendable(api_version, kind, &of))
        return;
    struct priority_classes *classes = priority_classes_new();
    const struct suspended_pods_options options = {NULL, classes, &ref};
    if (suspended_pods(&of, owner, &options, &pods, &err) < 0) {
        fuzz_check_error(&err);
        priority_classes_free(classes);
        return;
    }
    HOLDS(pods.n > 0, "a suspended workload without pods");
    for (size_t i = 0; i < pods.n; i++)
        HOLDS(strchr(pods.facts[i]->name, ':') && pods.facts[i]->suspended, "pod %s",
              pods.facts[i]->name);
    suspended_pods_done(&pods);
    priority_classes_free(classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = fuzz_text(data, size);
    json_repair(text, size);
    cleanup_tree json_t *tree = json_loadb(text, size, 0, NULL);
    const json_t *chain[WORKLOAD_MAX_CHAIN];
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(tree) && n < ARRAY_SIZE(chain); i++)
        if (json_is_object(json_array_get(tree, i)))
            chain[n++] = json_array_get(tree, i);
    if (n == 0)
        return 0;
    workload_wants_podgroup(&rules, chain[0]);
    for (size_t i = 0; i < n; i++) {
        struct workload_ref ref = {0};
        if (workload_owner(&rules, chain[i], &ref))
            check_ref(&ref);
        workload_ref_done(&ref);
    }
    check_group(chain, n);
    check_suspended(chain[n - 1]);
    return 0;
}
