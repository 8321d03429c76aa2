/* SPDX-License-Identifier: Apache-2.0 */
/* The queue finds the same nodes as a scan of all nodes for each pod. */
#include "gang/plan/earmark_queue.h"

#include <stdio.h>

#include "gang/cluster/ledger.h"
#include "gang/cluster/lookup.h"
#include "gang/cluster/resources.h"
#include "gang/plan/node_score.h"
#include "gang/podgroup/earmark.h"
#include "test/lib/world.h"

enum { NODES = 30, CLUSTERS = 300 };

static unsigned draw(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % n;
}

/* What an empty node must offer, and what is missing now, are about GPUs and cpu. */
static bool could_hold(const struct node *node, const struct signature *signature, int64_t *lack)
{
    *lack = 0;
    for (size_t i = 0; i < signature->n_needs; i++) {
        uint32_t r = signature->needs[i].resource;
        int64_t left = amount_of(&node->allocatable, r) - amount_of(&node->earmarked, r);
        int64_t missing =
            signature->needs[i].amount - (node_free(node, r) - amount_of(&node->earmarked, r));
        if (signature->needs[i].amount > left)
            return false;
        if ((int)r == signature->device && missing > *lack)
            *lack = missing;
    }
    return !(signature->alone && node->earmarked_alone);
}

static struct node *scan(const struct gang_core *core, const struct signature *signature)
{
    struct node *best = NULL;
    int64_t least = 0, lack;
    for (size_t i = 0; i < core->n_ids; i++) {
        struct node *node = core->by_id[i];
        if (!could_hold(node, signature, &lack))
            continue;
        if (!best || lack < least || (lack == least && node_better(signature, node, best))) {
            best = node;
            least = lack;
        }
    }
    return best;
}

/* Many nodes are equal, so they are in one class. Some GPUs are in use. */
static struct world *cluster(unsigned *seed)
{
    struct world *w = world_new();
    world_group(w, "g", NODES); /* it waits for more members, so it gets no slots */
    for (int i = 0; i < NODES; i++) {
        cleanup_free char *name = xasprintf("n%02d", i), *pod = xasprintf("old%d", i);
        world_node(w, name, 2 * (int)draw(seed, 5));
        struct gang_pod_facts *f = world_pod_facts(pod, NULL, (int)draw(seed, 3));
        f->node = xstrdup(name);
        world_pod_set(w, f);
    }
    return w;
}

static void the_queue_finds_the_nodes_of_a_scan(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= CLUSTERS; n++) {
        unsigned seed = n;
        int found = 0;
        struct world *w = cluster(&seed);
        for (int i = 0; i < 2; i++) { /* two signatures, one after the other */
            cleanup_free char *name = xasprintf("p%d", i);
            struct gang_pod_facts *f = world_pod_facts(name, "g", 1 + (int)draw(&seed, 4));
            if (draw(&seed, 4) == 0) {
                f->host_ports = xcalloc(1, sizeof *f->host_ports);
                f->n_host_ports = 1;
                f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
            }
            world_pod_set(w, f);
        }
        const struct gang *gang = pod_by_name(w->core, "default", "p0")->gang;
        struct earmark_queue q = {.core = w->core, .gang = gang};
        for (int i = 0; i < 2; i++) {
            struct pod *pod = pod_by_name(w->core, "default", i ? "p1" : "p0");
            for (int left = 10 + (int)draw(&seed, 40); left > 0; left--) {
                struct node *node = earmark_queue_top(&q, pod->signature);
                if (node != scan(w->core, pod->signature))
                    fail_msg("cluster %u, signature %d, after %d nodes", n, i, found);
                if (!node)
                    break;
                earmark_add(w->core, node, pod->signature);
                found++;
            }
        }
        assert_true(found > 0);
        earmark_queue_done(&q);
        earmark_clear(w->core);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_queue_finds_the_nodes_of_a_scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
