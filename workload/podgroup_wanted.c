/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/kinds.h"

/*
 * The keys with which a pod can name its PodGroup, in all dialects (k8s/dialect/dialect_*.c; a test
 * compares them). A pod with one of them gets no other PodGroup, even if the link is invalid: the
 * dialect reports that.
 */
static const struct {
    const char *map, *key;
} links[] = {
    {"annotations", "pod-group-name"},
    {"annotations", "scheduling.run.ai/pod-group"},
    {"annotations", "scheduling.k8s.io/group-name"},
    {"annotations", "scheduling.volcano.sh/group-name"},
    {"labels", "scheduling.x-k8s.io/pod-group"},
    {"labels", "pod-group.scheduling.sigs.k8s.io"},
    {"labels", "pod-group.scheduling.sigs.k8s.io/name"},
    {"annotations", "gang.scheduling.koordinator.sh/name"},
};

/* Links to kube-scheduler's native groups, in the first two generations of their API. */
static const char *const native_links[] = {"spec.schedulingGroup", "spec.workloadRef"};

static bool is_linked(const json_t *pod)
{
    const json_t *meta = json_object_get(pod, "metadata");
    for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
        const char *s =
            json_string_value(json_object_get(json_object_get(meta, links[i].map), links[i].key));
        if (s && *s)
            return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(native_links); i++) {
        const json_t *native = NULL;
        if (field_object(pod, native_links[i], &native, NULL) == 0 && native)
            return true;
    }
    return false;
}

/* ---- annotations that ask for a PodGroup ---- */

static int word_of(const json_t *object, const char *key, enum workload_word yes,
                   enum workload_word no, enum workload_word *ret, struct err *err)
{
    const char *text = read_annotation(object, key);
    char q[FIELD_QUOTED];
    if (!text || *ret != WORD_NONE)
        return 0;
    if (strcmp(text, "true") == 0)
        *ret = yes;
    else if (strcmp(text, "false") == 0)
        *ret = no;
    else
        return err_set(err, ERR_INVALID, "annotation %s is %s, must be \"true\" or \"false\"", key,
                       field_quote(text, q));
    return 0;
}

int asks_for(const json_t *object, enum workload_word *ret, struct err *err)
{
    static const struct {
        const char *key;
        enum workload_word yes, no;
    } words[] = {
        {WORKLOAD_ASK, WORD_YES, WORD_REFUSED},
        {WORKLOAD_ASK_RECIPE, WORD_ALL, WORD_REFUSED},
        {"kai.scheduler/skip-podgrouper", WORD_REFUSED, WORD_NONE}, /* KAI's annotation */
    };
    *ret = WORD_NONE;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (word_of(object, words[i].key, words[i].yes, words[i].no, ret, err) < 0)
            return -1;
    return 0;
}

/* ---- the decision ---- */

static bool one_of(char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

bool is_our_scheduler(const struct workload_rules *rules, const json_t *pod)
{
    const char *scheduler = read_text(pod, "spec.schedulerName");
    return one_of(rules->schedulers, rules->n_schedulers,
                  scheduler && *scheduler ? scheduler : "default-scheduler");
}

static bool is_our_namespace(const struct workload_rules *rules, const json_t *pod)
{
    const char *ns = read_text(pod, "metadata.namespace");
    ns = ns && *ns ? ns : "default";
    return (rules->n_namespaces == 0 || one_of(rules->namespaces, rules->n_namespaces, ns)) &&
           !one_of(rules->excluded_namespaces, rules->n_excluded_namespaces, ns);
}

/* Whether the pod belongs to a node, not to a workload: a static pod or a pod of a DaemonSet. */
static bool is_of_a_node(const json_t *pod)
{
    const json_t *owner = owner_reference_of(pod);
    const char *kind = read_text(owner, "kind");
    return read_annotation(pod, "kubernetes.io/config.mirror") || str_eq(kind, "Node") ||
           str_eq(kind, "DaemonSet");
}

/* Whether KubeRay has created the pod to clean up Redis after the RayCluster was deleted. The pod
 * is a copy of the head pod, but it would wait forever for the deleted members of its gang. Source:
 * KubeRay RedisCleanupNode, buildRedisCleanupJob. */
static bool cleans_up_redis(const json_t *pod)
{
    return str_eq(read_label(pod, "ray.io/node-type"), "redis-cleanup");
}

static bool is_over(const json_t *pod)
{
    const char *phase = read_text(pod, "status.phase");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed") ||
           read_text(pod, "metadata.deletionTimestamp");
}

/*
 * Whether an annotation of an owner can ask for a PodGroup, when the pod has no such annotation and
 * its scheduler is not one of ours. Only owners whose pods start together are read. To read the
 * owners of all other pods, such as those of Deployments, would delay each of these pods by one
 * attempt of kube-scheduler. Such owners must have the annotation in their pod template.
 */
static bool may_be_asked_for(const struct workload_rules *rules, const json_t *pod)
{
    /* Labels of pods whose next owner is a Job or StatefulSet, with such an owner above it. */
    static const char *const labels[] = {"jobset.sigs.k8s.io/jobset-name",
                                         "leaderworkerset.sigs.k8s.io/name",
                                         "training.kubeflow.org/job-name"};
    const json_t *owner = owner_reference_of(pod);
    const char *api_version = read_text(owner, "apiVersion"), *kind = read_text(owner, "kind");
    if (!api_version || !kind)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
        if (read_label(pod, labels[i]))
            return true;
    return workload_kind(api_version, kind)->together || custom_kind(rules, api_version, kind);
}

enum workload_wanted workload_wants_podgroup(const struct workload_rules *rules, const json_t *pod)
{
    enum workload_word word = WORD_NONE;
    if (!rules->on || !is_our_namespace(rules, pod) || is_of_a_node(pod) || is_over(pod) ||
        is_linked(pod) || cleans_up_redis(pod))
        return WORKLOAD_NO;
    /* workload_group() reports an annotation with an invalid value. */
    if (asks_for(pod, &word, NULL) < 0 || word == WORD_YES || word == WORD_ALL)
        return WORKLOAD_MAKE;
    if (word == WORD_REFUSED)
        return WORKLOAD_NO;
    if (read_annotation(pod, WORKLOAD_GANG) || is_our_scheduler(rules, pod))
        return WORKLOAD_MAKE;
    return may_be_asked_for(rules, pod) ? WORKLOAD_OWNER : WORKLOAD_NO;
}
