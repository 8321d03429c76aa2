/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeaderWorkerSet: a PodGroup for each replica, with the leader and the workers as parts, or in
 * segments. Source: KAI lws_grouper.go.
 */
#include <inttypes.h>

#include "workload/kinds.h"

#define LWS_SIZE    "spec.leaderWorkerTemplate.size"
#define LWS_SEGMENT "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"

/* With LeaderReady the workers are made when the leader is ready: till it is bound it is alone. */
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

/* A group of its own for each replica: which one, the pod's label says. */
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
    int64_t size;   /* workers in each; 0: there are none */
    bool excluded;  /* the leader is in none of them */
    bool divisible; /* the leader is one more than full segments hold */
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
                       LWS_SIZE " is %" PRId64 ", and without the leader that is no multiple of "
                                "the %" PRId64 " pods of a segment; change one of the two",
                       pods, s->size);
    return 0;
}

/* The segment of a worker, 1 or more. */
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
    /* A leader that is alone for now has no segments yet. */
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
