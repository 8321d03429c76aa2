/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeaderWorkerSet: a PodGroup for each replica. Its parts are the leader and the workers, or
 * segments. Source: KAI lws_grouper.go.
 */
#include <inttypes.h>

#include "workload/kinds.h"

#define LWS_SIZE    "spec.leaderWorkerTemplate.size"
#define LWS_SEGMENT "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"

/* With LeaderReady, the workers are created when the leader is ready. Until the leader is bound, it
 * is the only pod. */
static int lws_minimum(const struct workload_case *c, int64_t size, bool leader, int64_t *ret,
                       struct err *err)
{
    const json_t *pod = case_pod(c);
    const char *policy = NULL, *node = read_text(pod, "spec.nodeName");
    char q[FIELD_QUOTED];
    *ret = size;
    if (field_string(case_owner(c), "spec.startupPolicy", &policy, err) < 0)
        return -1;
    if (!policy || strcmp(policy, "LeaderCreated") == 0)
        return 0;
    if (strcmp(policy, "LeaderReady") != 0)
        return err_set(err, ERR_INVALID,
                       "spec.startupPolicy is %s, must be LeaderCreated or LeaderReady",
                       field_quote(policy, q));
    if (read_annotation_count(pod, "leaderworkerset.sigs.k8s.io/size", 1, ret, err) < 0)
        return in_its_pod(c, err);
    if (leader && !(node && *node))
        *ret = 1;
    return 0;
}

/* Appends the replica's index, from a label of the pod, to the PodGroup's name. */
static int lws_name(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t index = -1;
    if (read_label_count(case_pod(c), "leaderworkerset.sigs.k8s.io/group-index", &index, err) < 0)
        return in_its_pod(c, err);
    if (index >= 0) {
        cleanup_free char *old = STEAL(g->name);
        g->name = xasprintf("%s-group-%" PRId64, old, index);
    }
    return 0;
}

/* ---- parts ---- */

struct segments {
    int64_t size;   /* pods in a segment; 0: there are no segments */
    bool excluded;  /* the leader is in no segment */
    bool divisible; /* the workers alone fill all segments, so the leader is an additional pod */
};

static int read_segments(const struct workload_case *c, int64_t pods, struct segments *s,
                         struct err *err)
{
    const json_t *owner = case_owner(c), *template = NULL;
    const char *type = NULL;
    *s = (struct segments){.size = 0};
    if (field_object(owner, "spec.leaderWorkerTemplate.workerTemplate", &template, err) < 0 ||
        read_annotation_count(template, KAI_SEGMENT_SIZE, 2, &s->size, err) < 0 ||
        read_annotation_count(c->marks, KAI_SEGMENT_SIZE, 2, &s->size, err) < 0 ||
        field_count(owner, LWS_SEGMENT, 2, &s->size, err) < 0 ||
        field_string(owner, "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType", &type,
                     err) < 0)
        return -1;
    if (s->size == 0)
        return 0;
    s->excluded = str_eq(type, "LeaderExcluded");
    s->divisible = (pods - 1) % s->size == 0;
    if (s->size > pods)
        return err_set(err, ERR_INVALID,
                       "segments have %" PRId64 " pods, but " LWS_SIZE " is %" PRId64
                       "; lower " LWS_SEGMENT " (or annotation " KAI_SEGMENT_SIZE ")",
                       s->size, pods);
    if (s->excluded && !s->divisible)
        return err_set(err, ERR_INVALID,
                       LWS_SIZE " is %" PRId64 ", but the number of workers (one less) must be a "
                                "multiple of the %" PRId64 " pods of a segment; change one of "
                                "the two",
                       pods, s->size);
    return 0;
}

/* The segment of a worker (1 or more; the leader is 0). */
static int64_t segment_of(const struct segments *s, int64_t worker)
{
    return (s->divisible ? worker - 1 : worker) / s->size;
}

static void add_segments(const struct segments *s, int64_t pods, struct workload_group *g)
{
    int64_t last = segment_of(s, pods - 1), left = pods;
    if (s->excluded) {
        part_add(g, "leader", NULL, 1);
        left--;
    }
    for (int64_t i = 0; i <= last; i++) {
        cleanup_free char *name = xasprintf("segment-%" PRId64, i);
        bool with_leader = i == 0 && !s->excluded;
        int64_t n = s->size + (with_leader && s->divisible);
        n = n < left ? n : left;
        left -= n;
        if (with_leader) {
            part_of_parts(g, name, -1);
            part_add(g, "leader", name, 1);
            part_add(g, "workers", name, n - 1);
        } else {
            part_add(g, name, NULL, n);
        }
    }
}

static void join(const struct segments *s, int64_t worker, struct workload_group *g)
{
    int64_t segment = s->size && worker > 0 ? segment_of(s, worker) : 0;
    cleanup_free char *name = xasprintf("segment-%" PRId64, segment);
    if (worker == 0)
        part_join(g, "leader");
    else if (s->size && (segment > 0 || s->excluded))
        part_join(g, name);
    else
        part_join(g, "workers");
}

int size_lws(const struct workload_case *c, struct workload_group *g, struct err *err)
{
    int64_t size = 0, worker = -1;
    struct segments s = {.size = 0};
    if (read_label_count(case_pod(c), "leaderworkerset.sigs.k8s.io/worker-index", &worker, err) < 0)
        return in_its_pod(c, err);
    if (field_count(case_owner(c), LWS_SIZE, 1, &size, err) < 0)
        return -1;
    if (size == 0)
        return err_set(err, ERR_INVALID, LWS_SIZE " is missing; write it");
    if (lws_minimum(c, size, worker == 0, &g->min_member, err) < 0 || lws_name(c, g, err) < 0)
        return -1;
    /* While the leader is the only pod, there are no segments. */
    if (g->min_member > 1 && read_segments(c, g->min_member, &s, err) < 0)
        return -1;
    if (s.size && g->min_member / s.size >= WORKLOAD_MAX_ROLES)
        s.size = 0;
    if (s.size)
        add_segments(&s, g->min_member, g);
    else
        part_add(g, "leader", NULL, 1);
    if (!s.size && g->min_member > 1)
        part_add(g, "workers", NULL, g->min_member - 1);
    join(&s, worker, g);
    return 0;
}

/* ---- its pods ---- */

#define LWS_WORKER "spec.leaderWorkerTemplate.workerTemplate"
#define LWS_LEADER "spec.leaderWorkerTemplate.leaderTemplate"

struct replica {
    const char *set; /* the name of the LeaderWorkerSet */
    const json_t *leader, *worker;
    int64_t index, size;
};

static json_t *make_member(const struct created_chain *c, const struct replica *r, int64_t member)
{
    static const char name_key[] = "leaderworkerset.sigs.k8s.io/name";
    cleanup_free char *leader = xasprintf("%s-%" PRId64, r->set, r->index);
    cleanup_free char *worker = xasprintf("%s-%" PRId64, leader, member);
    json_t *pod =
        created_pod(created_owner(c), member ? r->worker : r->leader, member ? worker : leader);
    created_label(pod, name_key, r->set);
    created_label_number(pod, "leaderworkerset.sigs.k8s.io/group-index", r->index);
    created_label_number(pod, "leaderworkerset.sigs.k8s.io/worker-index", member);
    created_annotation_number(pod, "leaderworkerset.sigs.k8s.io/size", r->size);
    return pod;
}

/* The StatefulSet of the workers belongs to the leader. Source: lws pod_controller.go. */
static int pods_of_workers(struct created_chain *c, const struct replica *r)
{
    int ret = 0;
    cleanup_free char *name = xasprintf("%s-%" PRId64, r->set, r->index);
    created_enter(c, make_member(c, r, 0));
    created_enter(c, created_object(created_owner(c), "apps/v1", "StatefulSet", NULL, name));
    for (int64_t i = 1; i < r->size && ret == 0; i++)
        ret = created_tell(c, make_member(c, r, i));
    created_leave(c);
    created_leave(c);
    return ret;
}

static int pods_of_replicas(struct created_chain *c, struct replica *r, int64_t n)
{
    int ret = 0;
    created_enter(c, created_object(created_owner(c), "apps/v1", "StatefulSet", NULL, r->set));
    for (; r->index < n && ret == 0; r->index++) {
        ret = created_tell(c, make_member(c, r, 0));
        ret = ret ? ret : pods_of_workers(c, r);
    }
    created_leave(c);
    return ret;
}

int pods_lws(struct created_chain *c, const struct workload_kind *kind, struct err *err)
{
    const json_t *owner = created_owner(c), *given = NULL;
    struct replica r = {.set = object_identity(&owner, 0).name, .size = 1};
    int64_t n = 1;
    (void)kind;
    if (field_count(owner, "spec.replicas", 0, &n, err) < 0 ||
        field_count(owner, LWS_SIZE, 1, &r.size, err) < 0 ||
        field_object(owner, LWS_LEADER, &given, err) < 0 ||
        created_template(owner, LWS_WORKER, &r.worker, err) < 0 ||
        created_template(owner, given ? LWS_LEADER : LWS_WORKER, &r.leader, err) < 0)
        return -1;
    return pods_of_replicas(c, &r, n);
}
