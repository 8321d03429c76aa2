/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a PodGroup from a chain of owners: the owner whose rule counts, the rules of KAI or
 * Volcano, name, minimum, queue, priority, and inherited labels and annotations. The row of the
 * kind (kinds.c) has the rule.
 */
#include <inttypes.h>

#include "base/duration.h"
#include "workload/kinds.h"

#define KAI     "scheduling.run.ai"
#define VOLCANO "scheduling.volcano.sh"

static const char volcano_key[] = VOLCANO "/group-min-member";

/* ---- whether a PodGroup is needed ---- */

/* Puts the object that is invalid before the error. */
static int about(const json_t *const *chain, size_t i, struct err *err)
{
    struct workload_identity w = object_identity(chain, i);
    return err_wrap(err, "%.63s %.63s/%.253s", w.kind, w.ns, w.name);
}

/* The annotation nearest to the pod counts. 0: the pod needs a PodGroup, and *all is set if it
 * needs all pods. 1: the pod needs no PodGroup. */
static int is_wanted(const struct workload_rules *rules, const json_t *const *chain, size_t n,
                     bool *all, struct err *err)
{
    enum workload_word word = WORD_NONE;
    for (size_t i = 0; i < n && word == WORD_NONE; i++)
        if (asks_for(chain[i], &word, err) < 0)
            return about(chain, i, err);
    *all = word == WORD_ALL;
    if (word == WORD_REFUSED)
        return 1;
    return word != WORD_NONE || read_annotation(chain[0], WORKLOAD_GANG) ||
                   is_our_scheduler(rules, chain[0])
               ? 0
               : 1;
}

/* Checks that each object has an identity and at most one owner, or a controller. Source: KAI
 * podgrouper.go. */
static int check_owners(const json_t *const *chain, size_t n, struct err *err)
{
    if (n == 0 || n > WORKLOAD_MAX_CHAIN)
        return err_set(err, ERR_INVALID,
                       "the pod and its owners are %zu objects, must be between 1 and %d", n,
                       WORKLOAD_MAX_CHAIN);
    for (size_t i = 0; i < n; i++) {
        struct workload_identity w = object_identity(chain, i);
        const json_t *refs =
            json_object_get(json_object_get(chain[i], "metadata"), "ownerReferences");
        if (json_array_size(refs) > 1 && !controller_reference_of(chain[i])) {
            err_set(err, ERR_INVALID,
                    "metadata.ownerReferences has %zu owners and none is the controller; set "
                    "controller: true on one of them",
                    json_array_size(refs));
            return about(chain, i, err);
        }
        if (!*w.name || !w.uid) {
            err_set(err, ERR_INVALID,
                    "metadata.%s is missing; only objects of the API can have PodGroups",
                    *w.name ? "uid" : "name");
            return about(chain, i, err);
        }
    }
    return 0;
}

/* ---- the API group ---- */

static const char *by_key(const json_t *map)
{
    static const struct {
        const char *prefix, *api_group;
    } marks[] = {
        {"scheduling.run.ai/", KAI},         {"kai.scheduler/", KAI},  {"runai/", KAI},
        {"scheduling.volcano.sh/", VOLCANO}, {"volcano.sh/", VOLCANO},
    };
    const char *key;
    json_t *v;
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        json_object_foreach((json_t *)(uintptr_t)map, key, v)
        {
            (void)v;
            if (strncmp(key, marks[i].prefix, strlen(marks[i].prefix)) == 0)
                return marks[i].api_group;
        }
    return NULL;
}

/* The API group by the scheduler's name, else by the keys of the pod's annotations and labels, else
 * by those of its owners, else the default. */
static const char *choose_api(const struct workload_rules *rules, const json_t *const *chain,
                              size_t n)
{
    static const struct {
        const char *scheduler, *api_group;
    } schedulers[] = {{"kai-scheduler", KAI}, {"volcano", VOLCANO}};
    const char *scheduler = read_text(chain[0], "spec.schedulerName"), *found = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(schedulers); i++)
        if (str_eq(scheduler, schedulers[i].scheduler))
            return schedulers[i].api_group;
    for (size_t i = 0; i < n && !found; i++) {
        const json_t *meta = json_object_get(chain[i], "metadata");
        found = by_key(json_object_get(meta, "annotations"));
        found = found ? found : by_key(json_object_get(meta, "labels"));
    }
    return found ? found : rules->home ? rules->home : KAI;
}

/* ---- the owner whose rule counts ---- */

/* Adds labels or annotations that are missing in `marks`. */
static void inherit(json_t *marks, const char *map, const json_t *from)
{
    json_t *to = json_object_get(json_object_get(marks, "metadata"), map);
    const json_t *more = json_object_get(json_object_get(from, "metadata"), map);
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)more, key,
                        v) if (json_is_string(v) && !json_object_get(to, key) &&
                               json_object_size(to) < JSON_MAX_ITEMS) json_object_set(to, key, v);
}

static void set_owner(struct workload_case *c, size_t at)
{
    struct workload_identity w = object_identity(c->chain, at);
    c->at = at;
    c->kind = workload_kind(w.api_version, w.kind);
    c->custom = custom_kind(c->rules, w.api_version, w.kind);
    inherit(c->marks, "labels", c->chain[at]);
    inherit(c->marks, "annotations", c->chain[at]);
}

/* The nearest object below of the kind that the row names; if there is none, or the kind is "*",
 * the next object below. */
static size_t below(const struct workload_case *c)
{
    for (size_t i = c->at - 1; i > 0; i--)
        if (strcmp(object_identity(c->chain, i).kind, c->kind->instead) == 0)
            return i;
    return c->at - 1;
}

/* Selects the top owner, or the workload that it wraps. The workload inherits labels and
 * annotations from the skipped owners. Source: KAI skiptopowner.go. */
static void find_owner(struct workload_case *c)
{
    cleanup_json json_t *skipped =
        json_pack("{s:{s:{},s:{}}}", "metadata", "labels", "annotations");
    set_owner(c, c->n - 1);
    while (c->kind->instead && !c->custom && c->at > 0) {
        inherit(skipped, "labels", case_owner(c));
        inherit(skipped, "annotations", case_owner(c));
        json_object_clear(json_object_get(json_object_get(c->marks, "metadata"), "labels"));
        json_object_clear(json_object_get(json_object_get(c->marks, "metadata"), "annotations"));
        set_owner(c, below(c));
    }
    inherit(c->marks, "labels", skipped);
    inherit(c->marks, "annotations", skipped);
}

static void refer_to(struct workload_group *g, const char *api_version, const char *kind,
                     const char *name, const char *uid)
{
    g->owner = (struct workload_ref){
        .api_version = xstrdup(api_version),
        .kind = xstrdup(kind),
        .name = xstrdup(name),
        .uid = xstrdup(uid),
    };
}

/* ---- rules of both KAI and Volcano ---- */

/*
 * Checks that n pods, for which annotation `key` asks, can exist at once. Otherwise the gang would
 * wait forever without a reason. Kinds whose rule has no number of pods are not checked. Volcano's
 * own annotation may exceed the number, because there the phase asks for more pods.
 */
static int check_possible(struct workload_case *c, const char *key, int64_t n, struct err *err)
{
    int64_t all;
    if (n <= 1 || c->custom)
        return 0;
    if (c->kind->per_pod) {
        err_set(err, ERR_INVALID,
                "annotation %s asks for several pods at once, but this kind replaces its pods one "
                "by one; remove it, or use a Job, a JobSet or a LeaderWorkerSet",
                key);
        return about(c->chain, c->at, err);
    }
    c->asked_by = key;
    if (!c->kind->all)
        return 0;
    if (c->kind->all(c, &all, err) < 0)
        return about(c->chain, c->at, err);
    if (n <= all || key == volcano_key)
        return 0;
    err_set(err, ERR_INVALID,
            "annotation %s is %" PRId64 ", but only %" PRId64
            " pods exist at once; lower it, or raise the number of pods",
            key, n, all);
    return about(c->chain, c->at, err);
}

/* muster's own annotation. The one nearest to the top counts, so that an owner sets it for all its
 * pods. The PodGroup then has no parts. */
static int own_minimum(struct workload_case *c, struct workload_group *g, struct err *err)
{
    for (size_t i = c->n; i-- > 0;) {
        int64_t n = -1;
        if (read_annotation_count(c->chain[i], WORKLOAD_MIN_MEMBER, 1, &n, err) < 0)
            return about(c->chain, i, err);
        if (n < 0)
            continue;
        parts_done(g);
        g->min_member = n;
        return check_possible(c, WORKLOAD_MIN_MEMBER, n, err);
    }
    return 0;
}

/* The pods of a suspended owner wait: either they are deleted, or the owner was resumed after it
 * was read. In the meantime they must not be scheduled one by one. */
static int check_suspended(const struct workload_case *c, struct err *err)
{
    bool on = false;
    if (!c->kind->suspend || c->custom)
        return 0;
    if (field_bool(case_owner(c), c->kind->suspend, &on, err) < 0)
        return about(c->chain, c->at, err);
    if (!on)
        return 0;
    err_set(err, ERR_INVALID, "%s is true; its pods wait until it is false", c->kind->suspend);
    return about(c->chain, c->at, err);
}

static const char *first_of(const json_t *object, const char *const *keys,
                            const char *(*read)(const json_t *, const char *))
{
    for (; *keys; keys++)
        if (read(object, *keys))
            return read(object, *keys);
    return NULL;
}

/* Whether a key belongs to a tool that manages the owner. With such a key, the tool would also
 * manage the PodGroup. */
static bool is_private(const char *key)
{
    static const char *const prefixes[] = {
        "kubectl.kubernetes.io/", "deployment.kubernetes.io/", "argocd.argoproj.io/",
        "meta.helm.sh/",          "objectset.rio.cattle.io/",  "kustomize.toolkit.fluxcd.io/",
        "helm.toolkit.fluxcd.io/"};
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static json_t *copy_marks(const json_t *object, const char *map, const char *prefix)
{
    const json_t *from = json_object_get(json_object_get(object, "metadata"), map);
    json_t *to = json_object();
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)from, key,
                        v) if (json_is_string(v) && !is_private(key) &&
                               strncmp(key, prefix, strlen(prefix)) == 0)
        json_object_set(to, key, v);
    return to;
}

/* ---- KAI ---- */

/* Before v0.6, the label was runai/queue. Source: KAI default_grouper.go CalcPodGroupQueue. */
static const char *const queue_labels[] = {"kai.scheduler/queue", "runai/queue", NULL};

static int template_queue(const json_t *labels, const char *where, void *arg, struct err *err)
{
    const char **found = arg;
    (void)where;
    (void)err;
    for (const char *const *k = queue_labels; *k && !*found; k++)
        *found = json_string_value(json_object_get(labels, *k));
    return 0;
}

/*
 * The queue by the owner's label, else the pod's, else the label in any pod template of the owner:
 * in a RayCluster, the workers can have the label and the head not, and the order in which muster
 * sees them must not matter. Else the queue of the project.
 */
static char *kai_queue(const struct workload_case *c)
{
    const json_t *pod = case_pod(c);
    const char *found = first_of(c->marks, queue_labels, read_label);
    found = found ? found : first_of(pod, queue_labels, read_label);
    for (const char *const *t = c->kind->templates; t && *t && !found; t++)
        (void)read_each(case_owner(c), *t, template_queue, &found, NULL);
    if (!found)
        found = read_text(case_owner(c), "spec.runPolicy.schedulingPolicy.queue");
    if (found && *found)
        return xstrdup(found);
    const char *project = read_label(c->marks, "project");
    const char *pool = read_label(pod, "kai.scheduler/node-pool");
    project = project ? project : read_label(pod, "project");
    return project ? xasprintf("%s%s%s", project, pool ? "-" : "", pool ? pool : "") : NULL;
}

/* muster does not use KAI's own classes for kinds (train, inference), because they do not exist
 * without KAI. Source: KAI default_grouper.go calcPodGroupPriorityClass, ray_grouper.go. */
static char *kai_priority(const struct workload_case *c)
{
    static const char *const labels[] = {"priorityClassName", NULL};
    static const char *const ray[] = {"ray.io/priority-class-name", "priorityClassName", NULL};
    const char *const *keys = c->kind->size == size_ray ? ray : labels;
    const char *found = first_of(c->marks, keys, read_label);
    for (size_t i = c->n; i-- > 1 && !found;)
        found = read_label(c->chain[i], labels[0]);
    found = found ? found : read_label(case_pod(c), labels[0]);
    found = found ? found : read_text(case_pod(c), "spec.priorityClassName");
    if (!found)
        found = read_text(case_owner(c), "spec.runPolicy.schedulingPolicy.priorityClass");
    return found && *found ? xstrdup(found) : NULL;
}

static const char *preemptibility_of(const json_t *object)
{
    static const char *const words[] = {"preemptible", "semi-preemptible", "non-preemptible"};
    const char *found = read_label(object, "kai.scheduler/preemptibility");
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (found && strcmp(found, words[i]) == 0)
            return words[i];
    return NULL;
}

/* KAI ignores other values. Source: KAI default_grouper.go calcPodGroupPreemptibility. */
static const char *kai_preemptibility(const struct workload_case *c)
{
    const char *found = preemptibility_of(c->marks);
    for (size_t i = c->n; i-- > 0 && !found;) /* the pod last */
        found = preemptibility_of(c->chain[i]);
    return found;
}

static bool reads_delay(const json_t *object, usec_t *ret)
{
    const char *text = read_annotation(object, "kai.scheduler/preemption-delay");
    return text && duration_parse_units(text, ret) == 0;
}

/* KAI ignores a value that is not a duration. Source: KAI default_grouper.go
 * calcPodGroupPreemptionDelay. */
static usec_t kai_preemption_delay(const struct workload_case *c)
{
    usec_t delay = 0;
    bool found = reads_delay(c->marks, &delay);
    for (size_t i = c->n; i-- > 0 && !found;) /* the pod last */
        found = reads_delay(c->chain[i], &delay);
    return delay;
}

static int kai_size(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    g->min_member = 1;
    if (c->custom)
        return size_custom(c, g, err);
    if (c->kind->size && c->kind->size(c, g, err) < 0)
        return -1;
    /* A minimum that the owner sets has precedence over an annotation that asks for all or none. */
    if (c->all_or_none && c->kind->all && g->min_member == 1)
        return c->kind->all(c, &g->min_member, err);
    return 0;
}

/* The PodGroup's name for the driver and the executors of a Spark application; NULL: this is not
 * one. Source: KAI spark.go. */
static const char *spark_name(const struct workload_case *c)
{
    const json_t *pod = case_pod(c);
    bool of_pods = strcmp(object_identity(c->chain, c->at).kind, "Pod") == 0;
    return of_pods && read_label(pod, "spark-app-name") ? read_label(pod, "spark-app-selector")
                                                        : NULL;
}

static int kai_group(struct workload_case *c, struct workload_group *g, struct err *err)
{
    find_owner(c);
    size_t named = c->kind->per_pod && !c->custom ? 0 : c->at;
    struct workload_identity w = object_identity(c->chain, named);
    const char *spark = spark_name(c);
    if (check_suspended(c, err) < 0)
        return -1;
    refer_to(g, w.api_version, w.kind, w.name, w.uid);
    g->name = spark ? xstrdup(spark) : xasprintf("pg-%s-%s", w.name, w.uid);
    /* In client mode, executors need not have a driver pod that owns them. */
    g->shared = spark && c->at == 0 && c->n == 1;
    g->labels = copy_marks(c->marks, "labels", "");
    g->annotations = copy_marks(c->marks, "annotations", "");
    const char *user = read_label(case_pod(c), "user");
    if (user && !json_object_get(g->labels, "user"))
        json_object_set_new(g->labels, "user", json_string(user));
    g->queue = kai_queue(c);
    g->priority_class = kai_priority(c);
    g->preemptibility = kai_preemptibility(c);
    g->preemption_delay = kai_preemption_delay(c);
    return kai_size(c, g, err) < 0 ? about(c->chain, c->at, err) : 0;
}

/* ---- Volcano ---- */

/* Without replicas there is no PodGroup. Source: pg_controller_handler.go addReplicaSet,
 * addStatefulSet. */
static int check_scaled_to_none(const struct workload_case *c, struct err *err)
{
    const char *kind = object_identity(c->chain, c->at).kind;
    int64_t n = 1;
    bool counts = strcmp(kind, "ReplicaSet") == 0 || strcmp(kind, "StatefulSet") == 0;
    if (!counts || field_count(case_owner(c), "spec.replicas", 0, &n, NULL) < 0 || n > 0)
        return 0;
    err_set(err, ERR_INVALID, "spec.replicas is 0; its pods wait until it is greater");
    return about(c->chain, c->at, err);
}

/*
 * The minimum is in an annotation of the pod's controller; Volcano reads no other owner. If another
 * annotation asks for all pods or none, the minimum is the number of all pods.
 */
static int volcano_size(struct workload_case *c, struct workload_group *g, struct err *err)
{
    g->min_member = 1;
    if (c->custom)
        return size_custom(c, g, err) < 0 ? about(c->chain, c->at, err) : 0;
    if (read_annotation(case_owner(c), volcano_key)) {
        if (read_annotation_count(case_owner(c), volcano_key, 0, &g->min_member, err) < 0)
            return about(c->chain, c->at, err);
        return check_possible(c, volcano_key, g->min_member, err);
    }
    if (!c->all_or_none)
        return 0;
    int r = c->kind->all    ? c->kind->all(c, &g->min_member, err)
            : c->kind->size ? c->kind->size(c, g, err)
                            : 0;
    c->mixed = g->n_roles > 1;
    parts_done(g);
    return r < 0 ? about(c->chain, c->at, err) : 0;
}

static char *volcano_queue(const struct workload_case *c)
{
    static const char *const keys[] = {"scheduling.volcano.sh/queue-name", "volcano.sh/queue-name",
                                       NULL};
    const char *found = NULL;
    for (size_t i = 0; i < c->n && !found; i++) {
        found = first_of(c->chain[i], keys, read_annotation);
        found = found ? found : first_of(c->chain[i], keys, read_label);
    }
    return xstrdup_null(found);
}

/* Source: GeneratePodgroupName, newPGOwnerReferences, buildPodGroupFromPod. */
static int volcano_group(struct workload_case *c, struct workload_group *g, struct err *err)
{
    const json_t *ref = controller_reference_of(case_pod(c));
    set_owner(c, ref && c->n > 1 ? 1 : 0);
    const char *priority = read_text(case_pod(c), "spec.priorityClassName");
    if (check_suspended(c, err) < 0 || check_scaled_to_none(c, err) < 0)
        return -1;
    struct workload_identity w = object_identity(c->chain, c->at);
    if (ref)
        refer_to(g, read_text(ref, "apiVersion"), read_text(ref, "kind"), read_text(ref, "name"),
                 read_text(ref, "uid"));
    else
        refer_to(g, w.api_version, w.kind, w.name, w.uid);
    g->name = xasprintf("podgroup-%s", g->owner.uid);
    g->labels = json_object();
    g->annotations = copy_marks(case_owner(c), "annotations", "volcano.sh/");
    const char *preemption = read_annotation(case_owner(c), WORKLOAD_PREEMPTION);
    if (preemption)
        json_object_set_new(g->annotations, WORKLOAD_PREEMPTION, json_string(preemption));
    g->queue = volcano_queue(c);
    g->priority_class = priority && *priority ? xstrdup(priority) : NULL;
    return volcano_size(c, g, err);
}

/* ---- pods that name their PodGroup ---- */

/* Pods without an owner can share a PodGroup, which they name in an annotation. */
static int take_name(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    const char *name = read_annotation(case_pod(c), WORKLOAD_GANG);
    char q[FIELD_QUOTED];
    if (!name)
        return 0;
    if (c->n > 1 || owner_reference_of(case_pod(c)))
        err_set(err, ERR_INVALID,
                "annotation " WORKLOAD_GANG " is only for pods without an owner, but this pod has "
                "an owner; remove it, or write " WORKLOAD_MIN_MEMBER
                " with the number of pods that start together");
    else if (!is_object_name(name))
        err_set(err, ERR_INVALID,
                "annotation " WORKLOAD_GANG " is %s, which is not a valid PodGroup name; use at "
                "most 253 lower case letters, digits, - and .",
                field_quote(name, q));
    else {
        free(g->name);
        g->name = xstrdup(name);
        g->shared = true;
        json_object_clear(g->labels); /* the pods can have different labels */
        json_object_clear(g->annotations);
        return 0;
    }
    return about(c->chain, 0, err);
}

/* ---- how to preempt ---- */

static int check_preemption(const struct workload_case *c, const struct workload_group *g,
                            struct err *err)
{
    char q[FIELD_QUOTED];
    const char *how = json_string_value(json_object_get(g->annotations, WORKLOAD_PREEMPTION));
    if (!how || !*how || strcmp(how, "suspend") == 0 || strcmp(how, "evict") == 0)
        return 0;
    err_set(err, ERR_INVALID, "annotation " WORKLOAD_PREEMPTION " is %s, must be suspend or evict",
            field_quote(how, q));
    return about(c->chain, c->at, err);
}

/* ---- the PodGroup ---- */

/* If a label links the pods, the PodGroup's name must be a valid label value. */
static size_t longest_name(const char *api_group)
{
    bool label =
        str_eq(api_group, "scheduling.x-k8s.io") || str_eq(api_group, "scheduling.sigs.k8s.io");
    return label ? NAME_LABEL_MAX : NAME_OBJECT_MAX;
}

static int fill(struct workload_case *c, struct workload_group *g, struct err *err)
{
    bool volcano = strcmp(g->api_group, VOLCANO) == 0;
    int r = volcano ? volcano_group(c, g, err) : kai_group(c, g, err);
    if (r != 0)
        return r;
    if (own_minimum(c, g, err) < 0 || take_name(c, g, err) < 0 || check_preemption(c, g, err) < 0)
        return -1;
    char *raw = g->name;
    g->name = name_object(raw, longest_name(g->api_group));
    free(raw);
    if (volcano && g->min_member > 0 && !c->mixed &&
        requests_times(case_pod(c), g->min_member, &g->min_resources, err) < 0)
        return about(c->chain, 0, err);
    return 0;
}

int workload_group(const struct workload_rules *rules, const json_t *const *chain, size_t n,
                   struct workload_group *ret, struct err *err)
{
    struct workload_case c = {
        .rules = rules, .chain = chain, .n = n, .asked_by = WORKLOAD_ASK_RECIPE};
    struct workload_group g = {.min_children = -1};
    int r = check_owners(chain, n, err);
    if (r == 0)
        r = is_wanted(rules, chain, n, &c.all_or_none, err);
    if (r != 0)
        return r;
    c.marks = json_pack("{s:{s:{},s:{}}}", "metadata", "labels", "annotations");
    g.api_group = xstrdup(choose_api(rules, chain, n));
    r = fill(&c, &g, err);
    json_decref(c.marks);
    if (r == 0)
        *ret = g;
    else
        workload_group_done(&g);
    return r;
}

void workload_group_done(struct workload_group *g)
{
    parts_done(g);
    workload_ref_done(&g->owner);
    free(g->api_group);
    free(g->name);
    free(g->queue);
    free(g->priority_class);
    json_decref(g->min_resources);
    json_decref(g->labels);
    json_decref(g->annotations);
    *g = (struct workload_group){.api_group = NULL};
}
