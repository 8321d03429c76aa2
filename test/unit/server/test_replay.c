/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings as files: a replay makes the same decisions, a different decision is found, and a file
 * that cannot continue ends properly.
 */
#include "server/recording/replay.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "server/recording/recorder.h"
#include "test/lib/test_config.h"
#include "test/unit/config/temp_file.h"

/* ---- a recording of a small world ---- */

static struct gang_event node_set(const char *name, int64_t gpus)
{
    struct gang_node_facts *n = gang_node_facts_new();
    n->name = xstrdup(name);
    gang_amounts_add(&n->allocatable, "pods", 110);
    gang_amounts_add(&n->allocatable, "nvidia.com/gpu", gpus);
    return (struct gang_event){.kind = GANG_EV_NODE_SET, .node = n};
}

static struct gang_pod_facts *pod_facts(int i)
{
    struct gang_pod_facts *p = gang_pod_facts_new();
    p->ns = xstrdup("ml");
    p->name = xasprintf("p%d", i);
    p->uid = xasprintf("u%d", i);
    p->scheduler = xstrdup("default-scheduler");
    p->group = (struct gang_ref){xstrdup("scheduling.x-k8s.io"), xstrdup("ml"), xstrdup("g")};
    gang_amounts_add(&p->requests, "nvidia.com/gpu", 1);
    return p;
}

static struct gang_event group_set(int64_t min)
{
    struct gang_group_facts *g = gang_group_facts_new();
    g->ref = (struct gang_ref){xstrdup("scheduling.x-k8s.io"), xstrdup("ml"), xstrdup("g")};
    g->uid = xstrdup("ug");
    g->min_member = min;
    return (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = g};
}

static void step(struct gang_core *core, struct recorder *r, usec_t now, struct gang_event *events,
                 size_t n)
{
    size_t n_effects;
    recorder_events(r, now, events, n);
    const struct gang_effect *effects = gang_step(core, now, events, n, &n_effects);
    recorder_effects(r, effects, n_effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
}

/* Eight members and a plan for them, requested by filter calls, again and again. */
static void live(struct gang_core *core, struct recorder *r, int steps)
{
    static const char *const names[] = {"a", "b"};
    usec_t now = usec_now();
    struct gang_event first[12] = {node_set("a", 4), node_set("b", 4), group_set(8)};
    for (int i = 0; i < 8; i++)
        first[3 + i] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = pod_facts(i)};
    first[11].kind = GANG_EV_SYNCED;
    step(core, r, now, first, ARRAY_SIZE(first));
    for (int i = 0; i < steps; i++) {
        struct gang_event call = {.kind = GANG_EV_FILTER,
                                  .id = (uint64_t)i + 1,
                                  .pod = pod_facts(i % 8),
                                  .names = names,
                                  .n_names = 2};
        step(core, r, now += 1000, &call, 1);
    }
    struct gang_event stop = {.kind = GANG_EV_STOP};
    step(core, r, now, &stop, 1);
}

static char *record_world(int steps, int64_t limit, size_t backlog)
{
    char *path = file_make("");
    struct err err;
    struct gang_config config = test_config();
    const struct recorder_options options = {path, limit, backlog};
    log_setup(LOG_ERROR, LOG_TEXT);
    struct recorder *r = recorder_open(&options, &config, &err);
    if (!r)
        fail_msg("%s", err.text);
    struct gang_core *core = gang_core_new(&config);
    live(core, r, steps);
    gang_core_free(core);
    assert_null(recorder_close(r));
    return path;
}

static void replay_with(const char *path, bool check, struct replay *r)
{
    const struct replay_options options = {.check = check};
    struct err err;
    if (replay_file(path, &options, r, &err) < 0)
        fail_msg("%s", err.text);
}

static void replay(const char *path, struct replay *r)
{
    replay_with(path, true, r);
}

static char *contents(const char *path)
{
    struct buf b = BUF_INIT;
    char chunk[4096];
    FILE *f = fopen(path, "re");
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_append(&b, chunk, n);
    fclose(f);
    return buf_steal(&b);
}

static void C15_a_recording_replays_to_the_same_decisions(void **state)
{
    (void)state;
    cleanup_file char *path = record_world(100, RECORDER_LIMIT, RECORDER_BACKLOG);
    struct replay r;
    struct stat st;
    replay(path, &r);
    assert_false(r.differs);
    assert_false(r.cut);
    assert_string_equal(r.end, "stopped");
    assert_string_equal(r.version, MUSTER_VERSION);
    assert_int_equal(r.steps, 102);
    assert_int_equal(r.events, 12 + 100 + 1);
    assert_true(r.effects >= 100);
    assert_int_equal(r.stats.plans_made, 1);
    assert_int_equal(r.stats.pods, 8);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    replay_done(&r);
}

/* ---- a story with most kinds of events ---- */

enum { PODS = 24 };

struct story {
    struct gang_core *core;
    struct recorder *recorder;
    unsigned seed;
    bool queues; /* with queues, and gangs and pods that name them */
    usec_t now;
    uint64_t next_id, open[64]; /* bind calls */
    size_t n_open;
    struct { /* Bindings and reads (node NULL) that wait for their result */
        char *uid, *node;
    } sent[256];
    size_t n_sent;
    int asked;       /* the pod of the last filter call: most bind calls are for it */
    int lives[PODS]; /* how often the pod was recreated */
    char node[PODS]; /* its node; 0: not bound */
};

static int pick(struct story *s, int n)
{
    return rand_r(&s->seed) % n;
}

static char *story_queue_name(int i)
{
    return i == 0 ? xstrdup("default") : xasprintf("q%d", i);
}

/* A queue, or what a namespace says about queues. */
static struct gang_event story_queue(struct story *s)
{
    static const char *const apis[] = {"scheduling.x-k8s.io", "scheduling.sigs.k8s.io"};
    int i = pick(s, 6);
    struct gang_event ev = {.kind = GANG_EV_NAMESPACE_GONE};
    struct gang_ref ref = {xstrdup(apis[i / 4]), xstrdup(""), story_queue_name(i)};
    if (pick(s, 6) == 0) {
        ev.kind = GANG_EV_QUEUE_GONE;
        ev.gone = ref;
    } else if (pick(s, 8) == 0) {
        gang_ref_done(&ref);
        ev.gone.name = xstrdup("ml");
    } else if (pick(s, 6) == 0) {
        struct gang_namespace_facts *f = gang_namespace_facts_new();
        f->name = xstrdup("ml");
        f->api_group = STEAL(ref.api_group);
        f->queue = STEAL(ref.name);
        gang_ref_done(&ref);
        ev = (struct gang_event){.kind = GANG_EV_NAMESPACE_SET, .namespace = f};
    } else {
        struct gang_queue_facts *f = gang_queue_facts_new();
        f->ref = ref;
        f->uid = xstrdup("uq");
        f->parent = pick(s, 3) ? NULL : story_queue_name(pick(s, 6));
        f->parent_field = "spec.parentQueue";
        f->of_namespace = i == 5 ? xstrdup("ml") : NULL;
        f->invalid = pick(s, 20) ? NULL : xstrdup("spec.weight is 0, must be 1 or more");
        f->weight = 1000 * pick(s, 4);
        f->priority = pick(s, 3);
        f->closed = pick(s, 12) == 0;
        f->fifo = pick(s, 6) == 0;
        struct gang_quota *q =
            gang_quota_add(f, pick(s, 3) ? "nvidia.com/gpu" : GANG_ANY_GPU); /* of all kinds */
        q->deserved = pick(s, 10) - 1;
        q->cap = pick(s, 2) ? GANG_UNLIMITED : pick(s, 16);
        q->reserved = pick(s, 4) ? 0 : pick(s, 4);
        ev = (struct gang_event){.kind = GANG_EV_QUEUE_SET, .queue = f};
    }
    return ev;
}

static struct gang_pod_facts *story_pod(struct story *s, int i)
{
    struct gang_pod_facts *p = pod_facts(i);
    free(p->group.name);
    free(p->uid);
    p->group.name = xasprintf("g%d", i % 4);
    p->uid = xasprintf("u%d-%d", i, s->lives[i]);
    p->node = s->node[i] ? xasprintf("%c", s->node[i]) : NULL;
    p->created = i;
    p->requests.items[0].amount = 1 + i % 3;
    gang_kvs_add(&p->labels, "app", i % 2 ? "odd" : "even");
    if (s->queues && i % 3 == 0)
        p->queue = (struct gang_ref){xstrdup("scheduling.sigs.k8s.io"), xstrdup(""),
                                     story_queue_name(4 + i % 2)};
    if (s->queues && i % 6 == 5)
        gang_ref_done(&p->group);
    if (i % 5 == 0) { /* with anti-affinity on its host */
        p->anti_affinity = xcalloc(1, sizeof *p->anti_affinity);
        p->n_anti_affinity = 1;
        p->anti_affinity[0].term.items = xcalloc(1, sizeof *p->anti_affinity[0].term.items);
        p->anti_affinity[0].term.n = 1;
        struct gang_requirement *r = p->anti_affinity[0].term.items;
        *r = (struct gang_requirement){.key = xstrdup("app"), .op = MATCH_IN, .n_values = 1};
        r->values = xcalloc(1, sizeof *r->values);
        r->values[0] = xstrdup("even");
    }
    return p;
}

static struct gang_event story_facts(struct story *s, int kind)
{
    static const char *const nodes[] = {"a", "b", "c", "d", "e", "f"};
    struct gang_event ev = {.kind = GANG_EV_TICK};
    if (kind == 0) {
        ev = node_set(nodes[pick(s, 6)], pick(s, 9));
        gang_kvs_add(&ev.node->labels, "kubernetes.io/hostname", ev.node->name);
        ev.node->unschedulable = pick(s, 5) == 0;
    } else if (kind == 1) {
        ev = group_set(1 + pick(s, 6));
        free(ev.group->ref.name);
        ev.group->ref.name = xasprintf("g%d", pick(s, 4));
        ev.group->schedule_timeout = (1 + pick(s, 5)) * USEC_PER_SEC;
        if (s->queues && pick(s, 3))
            ev.group->queue = story_queue_name(pick(s, 4));
        if (s->queues && pick(s, 4) == 0)
            ev.group->preemptible = PREEMPTIBLE_NO;
    } else if (pick(s, 5)) {
        ev = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = story_pod(s, pick(s, PODS))};
    } else {
        int i = pick(s, PODS);
        ev.kind = GANG_EV_POD_GONE;
        ev.gone = (struct gang_ref){NULL, xstrdup("ml"), xasprintf("p%d", i)};
        s->lives[i]++;
        s->node[i] = 0;
    }
    return ev;
}

static struct gang_event story_call(struct story *s, const char *const *names, size_t n)
{
    struct gang_event ev = {.kind = GANG_EV_FILTER, .id = ++s->next_id};
    if (pick(s, 3)) {
        s->asked = pick(s, PODS);
        ev.pod = story_pod(s, s->asked);
        ev.names = names;
        ev.n_names = n;
    } else {
        int i = pick(s, 4) ? s->asked : pick(s, PODS);
        ev.kind = GANG_EV_BIND;
        ev.bind.ns = xstrdup("ml");
        ev.bind.name = xasprintf("p%d", i);
        ev.bind.uid = xasprintf("u%d-%d", i, s->lives[i]);
        ev.bind.node = xstrdup(names[pick(s, (int)n)]);
        if (s->n_open < ARRAY_SIZE(s->open))
            s->open[s->n_open++] = ev.id;
    }
    return ev;
}

static void story_bound(struct story *s, const char *uid, const char *node)
{
    int i, life;
    assert_int_equal(sscanf(uid, "u%d-%d", &i, &life), 2);
    if (s->lives[i] == life)
        s->node[i] = node[0];
}

static struct gang_event story_answer(struct story *s)
{
    struct gang_event ev = {.kind = GANG_EV_TICK};
    if (s->n_sent > 0) {
        s->n_sent--;
        ev.result.uid = s->sent[s->n_sent].uid;
        ev.result.node = s->sent[s->n_sent].node;
        ev.kind = ev.result.node ? GANG_EV_BIND_DONE : GANG_EV_POD_READ;
        ev.result.outcome = ev.result.node ? (enum gang_outcome)pick(s, 3) : OUTCOME_UNBOUND;
        if (ev.result.outcome == OUTCOME_OK)
            story_bound(s, ev.result.uid, ev.result.node);
    } else if (s->n_open > 0 && pick(s, 2)) {
        ev = (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = s->open[--s->n_open]};
    }
    return ev;
}

static void story_take(struct story *s, const struct gang_effect *effects, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct gang_effect *e = &effects[i];
        if (e->kind == GANG_BIND || e->kind == GANG_READ_POD) {
            assert_true(s->n_sent < ARRAY_SIZE(s->sent));
            s->sent[s->n_sent].uid = xstrdup(e->pod.uid);
            s->sent[s->n_sent++].node = e->kind == GANG_BIND ? xstrdup(e->pod.node) : NULL;
        }
        for (size_t k = 0; e->kind == GANG_REPLY_BIND && k < s->n_open; k++)
            if (s->open[k] == e->bind_reply.id)
                s->open[k--] = s->open[--s->n_open];
    }
}

/* What the API does between steps. It must not change decisions. */
static void look_at_member(void *arg, const struct gang_member_view *v)
{
    (void)v;
    ++*(int *)arg;
}

struct looking {
    struct gang_core *core;
    int members, queues;
};

static void look_at_queue(void *arg, const struct gang_queue_view *v)
{
    struct looking *l = arg;
    l->queues += v->depth >= 0;
}

static void look_at_gang(void *arg, const struct gang_view *v)
{
    struct looking *l = arg;
    struct gang_explained x;
    assert_true(gang_core_explain(l->core, v->status.ref, GANG_EXPLAIN_STATE, &x));
    for (enum gang_explain next = x.next; next != GANG_EXPLAIN_END; next = x.next) {
        gang_explained_done(&x);
        assert_true(gang_core_explain(l->core, v->status.ref, next, &x));
    }
    gang_explained_done(&x);
    gang_core_each_member(l->core, v->status.ref, look_at_member, &l->members);
}

static void story_step(struct story *s, struct gang_event *events, size_t n)
{
    size_t n_effects;
    recorder_events(s->recorder, s->now, events, n);
    const struct gang_effect *effects = gang_step(s->core, s->now, events, n, &n_effects);
    recorder_effects(s->recorder, effects, n_effects);
    story_take(s, effects, n_effects);
    for (size_t i = 0; i < n; i++)
        gang_event_done(&events[i]);
    struct looking l = {s->core, 0, 0};
    if (pick(s, 2)) {
        gang_core_each_gang(s->core, look_at_gang, &l);
        gang_core_queues(s->core, 0, SIZE_MAX, look_at_queue, &l);
    }
}

static void tell_story(struct story *s, int steps)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "unknown"};
    struct gang_event events[8] = {{.kind = GANG_EV_SYNCED}};
    for (int i = 0; i < 12; i++) {
        struct gang_event facts = story_facts(s, i % 3);
        story_step(s, &facts, 1);
    }
    story_step(s, events, 1);
    for (int i = 0; i < steps; i++) {
        size_t n = 1 + (size_t)pick(s, 6), first = (size_t)pick(s, 4);
        for (size_t k = 0; k < n; k++) {
            int what = pick(s, s->queues ? 10 : 9);
            events[k] = what < 3   ? story_facts(s, what)
                        : what > 8 ? story_queue(s)
                        : what < 7 ? story_call(s, names + first, ARRAY_SIZE(names) - first)
                                   : story_answer(s);
        }
        story_step(s, events, n);
        s->now += pick(s, 4) ? pick(s, 1000) : pick(s, 3000000);
    }
    events[0] = (struct gang_event){.kind = GANG_EV_STOP};
    story_step(s, events, 1);
    while (s->n_sent > 0) {
        s->n_sent--;
        free(s->sent[s->n_sent].uid);
        free(s->sent[s->n_sent].node);
    }
}

static void C15_a_long_story_replays_and_api_views_change_no_decision(void **state)
{
    (void)state;
    struct gang_config config = test_config();
    config.starvation = 20 * USEC_PER_SEC;
    config.queue_half_life = 60 * USEC_PER_SEC;
    static const char *const grants[] = {"q1:elsewhere", "q2:ml"};
    uint64_t bindings = 0, of_queues = 0;
    for (unsigned seed = 1; seed <= 60; seed++) {
        cleanup_file char *path = file_make("");
        const struct recorder_options options = {path, RECORDER_LIMIT, RECORDER_BACKLOG};
        struct story s = {.seed = seed, .queues = seed > 40};
        struct replay r;
        struct err err;
        config.strict_order = seed % 4 == 0;
        config.evict_on_failed_commit = seed % 3 == 0;
        config.queue_time_factor = seed % 4 == 1 ? 1000 : 0;
        config.queue_grants = grants;
        config.n_queue_grants = seed % 5 == 1 ? ARRAY_SIZE(grants) : 0;
        s.recorder = recorder_open(&options, &config, &err);
        assert_non_null(s.recorder);
        s.now = usec_now();
        s.core = gang_core_new(&config);
        tell_story(&s, 400);
        gang_core_free(s.core);
        recorder_close(s.recorder);
        replay_with(path, false, &r); /* test/prop checks the invariants */
        if (r.differs)
            fail_msg("seed %u, step %d:\n%s\n%s", seed, (int)r.steps, r.recorded, r.decided);
        assert_string_equal(r.end, "stopped");
        bindings += r.bindings;
        of_queues += s.queues ? r.bindings : 0;
        replay_done(&r);
    }
    assert_true(bindings > 40);
    assert_true(of_queues > 20);
}

/* The text with the first `from` of the n-th line replaced by `to`. */
static char *changed(const char *text, int line, const char *from, const char *to)
{
    const char *at = text;
    for (int i = 1; i < line; i++)
        at = strchr(at, '\n') + 1;
    at = strstr(at, from);
    assert_non_null(at);
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void C15_a_different_decision_is_found_and_shown(void **state)
{
    (void)state;
    cleanup_file char *path = record_world(20, RECORDER_LIMIT, RECORDER_BACKLOG);
    cleanup_free char *text = contents(path);
    static const struct {
        int line;
        const char *from, *to;
    } changes[] = {
        {5, "\"effects\":[{\"do\":\"reply filter\",\"id\":3",
         "\"effects\":[{\"do\":\"reply "
         "filter\",\"id\":4"},
        {5, "\"effects\":[", "\"effects\":[{\"do\":\"bind\"},"},
        {5, "\"effects\":[{\"do\":\"reply filter\"",
         "\"effects\":[],\"was\":[{\"do\":\"reply "
         "filter\""},
        {2, "\"nvidia.com/gpu\",4", "\"nvidia.com/gpu\",3"}, /* other facts, another answer */
    };
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        cleanup_free char *other = changed(text, changes[i].line, changes[i].from, changes[i].to);
        cleanup_file char *file = file_make(other);
        struct replay r;
        replay(file, &r);
        assert_true(r.differs);
        assert_int_equal(r.steps, changes[i].line - 1);
        assert_true(*r.recorded || *r.decided);
        assert_string_not_equal(r.recorded, r.decided);
        replay_done(&r);
    }
}

static void C15_a_truncated_recording_is_replayed_up_to_its_end(void **state)
{
    (void)state;
    cleanup_file char *path = record_world(20, RECORDER_LIMIT, RECORDER_BACKLOG);
    cleanup_free char *text = contents(path);
    size_t head = strcspn(text, "\n") + 1;
    for (size_t n = head; n < strlen(text); n += 37) {
        cleanup_free char *part = xstrndup(text, n);
        cleanup_file char *file = file_make(part);
        uint64_t lines = 0;
        for (const char *p = part; (p = strchr(p, '\n')) != NULL; p++)
            lines++;
        struct replay r;
        replay(file, &r);
        assert_false(r.differs);
        assert_null(r.end);
        assert_int_equal(r.cut, part[n - 1] != '\n');
        assert_int_equal(r.steps, lines - 1);
        replay_done(&r);
    }
}

static void a_file_that_is_not_a_recording_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "is empty"},
        {"{\"recording\":1", "is empty"},
        {"kind: Pod\n", "line 1 is not JSON"},
        {"{\"kind\":\"Pod\"}\n", "is not a recording"},
        {"{\"recording\":2,\"muster\":\"9.9\"}\n", "has format 2, but this muster reads format 1"},
        {"{\"recording\":1}\n", "line 1: config: is not an object"},
        {"{\"recording\":1,\"config\":{\"hold\":\"x\"}}\n", "config: hold: is not a whole number"},
        {"{\"recording\":1,\"config\":{}}\n{}\n", "line 2 is not a step"},
        {"{\"recording\":1,\"config\":{}}\n{\"now\":-1,\"events\":[],\"effects\":[]}\n",
         "line 2: now is earlier than in the line before"},
        {"{\"recording\":1,\"config\":{}}\n{\"now\":1,\"events\":[3],\"effects\":[]}\n",
         "line 2: kind: this version does not know the event"},
        {"{\"recording\":1,\"config\":{}}\n{\"now\":1,\nx", "line 2 is not JSON"},
    };
    static const struct replay_options options = {.check = false};
    struct replay r;
    struct err err;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_file char *file = file_make(cases[i].text);
        assert_true(replay_file(file, &options, &r, &err) < 0);
        if (!strstr(err.text, cases[i].error))
            fail_msg("the error \"%s\" does not contain \"%s\"", err.text, cases[i].error);
        replay_done(&r);
    }
    assert_true(replay_file("/nowhere/rec", &options, &r, &err) < 0);
    assert_string_equal(err.text, "cannot be opened: No such file or directory");
    replay_done(&r);
}

/* ---- the file ---- */

static void the_recording_ends_at_its_limit(void **state)
{
    (void)state;
    cleanup_file char *path = record_world(2000, 20000, RECORDER_BACKLOG);
    struct replay r;
    struct stat st;
    replay(path, &r);
    assert_false(r.differs);
    assert_string_equal(r.end, "the file has reached its size limit (--record-limit)");
    assert_true(r.steps > 10 && r.steps < 2000);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 10000 && st.st_size < 20200);
    replay_done(&r);
}

static void the_recording_ends_when_the_disk_is_too_slow(void **state)
{
    (void)state;
    cleanup_file char *path =
        record_world(10, RECORDER_LIMIT, 1000); /* the first step already exceeds the backlog */
    struct replay r;
    replay(path, &r);
    assert_string_equal(r.end, "the disk is too slow for the recording");
    assert_int_equal(r.steps, 0);
    replay_done(&r);
}

/* The linker calls this instead of write(). The n-th write to a file waits until n are allowed. */
static atomic_int begun, allowed = INT_MAX;
ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);

ssize_t __wrap_write(int fd, const void *data, size_t n)
{
    if (fd > STDERR_FILENO) {
        int number = atomic_fetch_add(&begun, 1) + 1;
        while (atomic_load(&allowed) < number)
            usleep(1000);
    }
    return __real_write(fd, data, n);
}

static void wait_for_write(int number)
{
    for (int i = 0; i < 3000 && atomic_load(&begun) < number; i++)
        usleep(10000);
    assert_int_equal(atomic_load(&begun), number);
}

/* Records a step whose line has somewhat more than n bytes. */
static void put_line(struct recorder *r, size_t n)
{
    cleanup_free char *name = xmalloc(n + 1);
    memset(name, 'x', n);
    name[n] = '\0';
    struct gang_event ev = node_set(name, 1);
    recorder_events(r, usec_now(), &ev, 1);
    recorder_effects(r, NULL, 0);
    gang_event_done(&ev);
}

/* The recorder's thread holds the lines of a write until the write is complete. */
static void lines_being_written_count_as_waiting(void **state)
{
    (void)state;
    enum { BACKLOG = 100000, LINE = 60000 };
    static const char *const ends[] = {"the disk is too slow for the recording", "\"stopped\""};
    for (int written = 0; written < 2; written++) {
        cleanup_file char *path = file_make("");
        const struct recorder_options options = {path, RECORDER_LIMIT, BACKLOG};
        struct gang_config config = test_config();
        struct err err;
        atomic_store(&begun, 0);
        atomic_store(&allowed, 0);
        struct recorder *r = recorder_open(&options, &config, &err);
        assert_non_null(r);
        wait_for_write(1); /* the head */
        put_line(r, LINE);
        atomic_store(&allowed, 1);
        wait_for_write(2); /* the line */
        if (written) {
            put_line(r, 1);
            atomic_store(&allowed, 2);
            wait_for_write(3);
        }
        put_line(r, LINE);
        atomic_store(&allowed, INT_MAX);
        recorder_close(r);
        cleanup_free char *text = contents(path);
        assert_int_equal(strlen(text) > 2 * LINE, written);
        if (!strstr(text, ends[written]))
            fail_msg("the end is %s", text + strlen(text) - 80);
    }
}

static void a_full_disk_ends_only_the_recording(void **state)
{
    (void)state;
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 30000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    cleanup_file char *path = record_world(20000, RECORDER_LIMIT, RECORDER_BACKLOG);
    setrlimit(RLIMIT_FSIZE, &limit);
    struct replay r;
    replay(path, &r);
    assert_false(r.differs);
    assert_null(r.end);
    assert_true(r.cut);
    assert_true(r.steps > 10);
    replay_done(&r);
}

static void an_old_recording_is_renamed_and_odd_files_are_refused(void **state)
{
    (void)state;
    cleanup_file char *path = file_make("old\n");
    cleanup_file char *old = xasprintf("%s.old", path);
    struct gang_config config = test_config();
    struct err err;
    struct recorder_options options = {path, RECORDER_LIMIT, RECORDER_BACKLOG};
    struct recorder *r = recorder_open(&options, &config, &err);
    assert_non_null(r);
    recorder_close(r);
    cleanup_free char *kept = contents(old);
    assert_string_equal(kept, "old\n");
    options.path = "/dev/null";
    assert_null(recorder_open(&options, &config, &err));
    assert_string_equal(err.text, "/dev/null is not a regular file: name a file to write to");
    options.path = "/nowhere/rec";
    assert_null(recorder_open(&options, &config, &err));
    assert_non_null(strstr(err.text, "/nowhere/rec cannot be written: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(C15_a_recording_replays_to_the_same_decisions),
        cmocka_unit_test(C15_a_long_story_replays_and_api_views_change_no_decision),
        cmocka_unit_test(C15_a_different_decision_is_found_and_shown),
        cmocka_unit_test(C15_a_truncated_recording_is_replayed_up_to_its_end),
        cmocka_unit_test(a_file_that_is_not_a_recording_is_refused),
        cmocka_unit_test(the_recording_ends_at_its_limit),
        cmocka_unit_test(the_recording_ends_when_the_disk_is_too_slow),
        cmocka_unit_test(lines_being_written_count_as_waiting),
        cmocka_unit_test(a_full_disk_ends_only_the_recording),
        cmocka_unit_test(an_old_recording_is_renamed_and_odd_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
