/* SPDX-License-Identifier: Apache-2.0 */
/* Fair shares under load, in simulated time: 10,000 arrivals in two queues. */
#include <inttypes.h>
#include <stdio.h>

#include "base/heap.h"
#include "test/lib/cpu_cost.h"
#include "test/lib/world_queues.h"

enum { NODES = 32, GPUS = 4, CAPACITY = NODES * GPUS, LARGEST = 4, BACKLOG = 6, MOST = 256 };

struct job {
    struct heap_node ends;
    char name[32];
    int queue, members;
    bool used;
};

struct load {
    struct world *w;
    struct heap running;
    struct job jobs[MOST];
    size_t arrivals;
    int waiting[2], used[2];
    int64_t gpu_seconds[2], elapsed;
    uint64_t chance;
};

static int up_to(struct load *l, int n)
{
    l->chance = l->chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((l->chance >> 33) % (uint64_t)n);
}

static struct job *free_job(struct load *l)
{
    for (size_t i = 0; i < MOST; i++)
        if (!l->jobs[i].used)
            return &l->jobs[i];
    fail_msg("more jobs than expected");
    return NULL;
}

static const char *const names[] = {"three", "one"};

static void arrive(struct load *l, int queue)
{
    struct job *job = free_job(l);
    *job = (struct job){.queue = queue, .members = 1 + up_to(l, LARGEST), .used = true};
    snprintf(job->name, sizeof job->name, "j%zu", l->arrivals++);
    l->waiting[queue]++;
    world_queued(l->w, job->name, names[queue], job->members, 1);
}

struct slots {
    struct gang_event events[LARGEST];
    size_t n;
    const char *gang;
};

static void see_member(void *arg, const struct gang_member_view *v)
{
    struct slots *s = arg;
    if (v->node || !v->slot)
        return;
    struct gang_pod_facts *f = world_pod_facts(v->facts->name, s->gang, 1);
    f->node = xstrdup(v->slot);
    f->phase = PHASE_RUNNING;
    s->events[s->n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = f};
}

/* Gangs with a plan are bound at once, and run for a random time. */
static void start_planned(struct load *l)
{
    for (size_t i = 0; i < MOST; i++) {
        struct job *job = &l->jobs[i];
        struct slots s = {.gang = job->name};
        struct gang_ref ref = {(char *)(uintptr_t) "test", (char *)(uintptr_t) "default",
                               job->name};
        if (!job->used || job->ends.pos)
            continue;
        gang_core_each_member(l->w->core, &ref, see_member, &s);
        if (!s.n)
            continue;
        assert_int_equal(s.n, job->members);
        world_step(l->w, s.events, s.n);
        l->waiting[job->queue]--;
        l->used[job->queue] += job->members;
        heap_set(&l->running, &job->ends, l->w->now + SECONDS(20 + up_to(l, 100)));
    }
}

static void end_one(struct load *l)
{
    struct job *job = CONTAINER_OF(heap_top(&l->running), struct job, ends);
    usec_t t = job->ends.at - l->w->now;
    for (int q = 0; q < 2; q++)
        l->gpu_seconds[q] += l->used[q] * (t / USEC_PER_SEC);
    l->elapsed += t / USEC_PER_SEC;
    heap_remove(&l->running, &job->ends);
    l->w->now += t;
    world_ends(l->w, job->name, job->members);
    world_group_gone(l->w, job->name);
    l->used[job->queue] -= job->members;
    job->used = false;
}

/* ---- the queues ---- */

/* How a dialect states 3:1, or another proportion of weights. */
typedef void states_fn(struct gang_queue_facts *f, int weight);

static void kai_weight(struct gang_queue_facts *f, int weight)
{
    static const char *const resources[] = {"cpu", "memory", GANG_ANY_GPU};
    f->weight = 1000 * weight;
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
        gang_quota_add(f, resources[i])->deserved = 0;
}

static void volcano_weight(struct gang_queue_facts *f, int weight)
{
    f->weight = 1000 * weight;
}

/* ElasticQuotas have no weight. They deserve parts of the cluster. */
static void elastic_quota_min(struct gang_queue_facts *f, int weight)
{
    gang_quota_add(f, GPU)->deserved = CAPACITY * weight / 4;
}

static struct load *load_new(states_fn *states, const int weights[2])
{
    struct load *l = xcalloc(1, sizeof *l);
    l->w = world_of_nodes(NODES, GPUS);
    l->chance = 1;
    for (int q = 0; q < 2; q++) {
        struct gang_queue_facts *f = world_queue_facts(names[q], NULL);
        states(f, weights[q]);
        world_queue_set(l->w, f);
    }
    return l;
}

static void load_free(struct load *l)
{
    heap_done(&l->running);
    world_free(l->w);
    free(l);
}

/* ---- the run ---- */

enum who { BOTH = -1, FIRST, SECOND };

/* Runs until that many gangs have arrived, and measures. These queues always have a backlog. */
static void play(struct load *l, size_t arrivals, enum who who)
{
    l->gpu_seconds[0] = l->gpu_seconds[1] = l->elapsed = 0;
    for (size_t end = l->arrivals + arrivals; l->arrivals < end;) {
        l->w->unchecked = l->arrivals % 16 != 0;
        for (int q = 0; q < 2; q++)
            while ((who == BOTH || who == (enum who)q) && l->waiting[q] < BACKLOG)
                arrive(l, q);
        start_planned(l);
        end_one(l);
        start_planned(l);
        world_forget(l->w);
    }
}

static void assert_full(const struct load *l)
{
    assert_true((l->gpu_seconds[0] + l->gpu_seconds[1]) * 100 >= 98 * CAPACITY * l->elapsed);
}

/* Each queue has its share in what was used, within 5 % or one gang. */
static void assert_shares(const struct load *l, const int weights[2])
{
    int64_t all = l->gpu_seconds[0] + l->gpu_seconds[1];
    for (int q = 0; q < 2; q++) {
        int64_t share = INT64_C(1000) * weights[q] / (weights[0] + weights[1]);
        int64_t off = llabs(l->gpu_seconds[q] * 1000 / all - share);
        if (off > share / 20 && off > 1000 * LARGEST / CAPACITY)
            fail_msg("after %zu arrivals queue %s has %" PRId64 " of %" PRId64 " GPU seconds",
                     l->arrivals, names[q], l->gpu_seconds[q], all);
    }
}

/* First only the second queue wants the cluster, which it gets; its room goes back as its gangs
 * end. From then on the shares stay. */
static void check_shares(states_fn *states, int first, int second, size_t arrivals)
{
    const int weights[] = {first, second};
    const int shares[] = {first + second ? first : 1, first + second ? second : 1};
    struct load *l = load_new(states, weights);
    play(l, 200, SECOND);
    play(l, 300, SECOND);
    assert_full(l);
    play(l, 200, BOTH);
    for (size_t window = 100, n = 0; n < arrivals; n += window) {
        play(l, window, BOTH);
        assert_shares(l, shares);
        assert_full(l);
    }
    load_free(l);
}

/* Builds with sanitizers look for errors of memory. The release build plays all arrivals. */
enum { ARRIVALS = IS_FAST_BUILD ? 10000 : 1000, FEW_ARRIVALS = IS_FAST_BUILD ? 2000 : 500 };

static void Q02_kai_weights_of_3_to_1_give_shares_of_3_to_1(void **state)
{
    (void)state;
    check_shares(kai_weight, 3, 1, ARRIVALS);
}

static void Q02_volcano_weights_of_3_to_1_give_shares_of_3_to_1(void **state)
{
    (void)state;
    check_shares(volcano_weight, 3, 1, ARRIVALS);
}

static void Q02_elastic_quotas_of_3_to_1_give_shares_of_3_to_1(void **state)
{
    (void)state;
    check_shares(elastic_quota_min, 3, 1, FEW_ARRIVALS);
}

static void Q02_queues_of_weight_0_have_equal_shares(void **state)
{
    (void)state;
    check_shares(volcano_weight, 0, 0, FEW_ARRIVALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Q02_kai_weights_of_3_to_1_give_shares_of_3_to_1),
        cmocka_unit_test(Q02_volcano_weights_of_3_to_1_give_shares_of_3_to_1),
        cmocka_unit_test(Q02_elastic_quotas_of_3_to_1_give_shares_of_3_to_1),
        cmocka_unit_test(Q02_queues_of_weight_0_have_equal_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
