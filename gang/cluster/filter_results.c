/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/filter_results.h"

#include "gang/cluster/dirty_nodes.h"
#include "gang/cluster/lookup.h"

#define WORD_BITS 64

/* ---- stored results ---- */

static void forget(struct gang_core *core, struct pod *pod)
{
    core->filter_result_words -= pod->filter_result.n_words;
    free(pod->filter_result.bits);
    pod->filter_result = (struct filter_result){.to = FILTERED_NONE};
}

static bool in_time(const struct gang_core *core, const struct pod *pod)
{
    return core->now - pod->filter_result.at < pod_busy_time(pod);
}

/* The list is sorted by age. A pod with volumes keeps its result longer, and the loop stops there,
 * so expired results behind it stay for a while. in_time() ignores them. */
static void forget_old(struct gang_core *core)
{
    list_for_each_safe (pod, &core->filter_results, struct pod, in_filter_results) {
        if (in_time(core, pod) && core->filter_result_words <= FILTER_RESULT_WORDS_MAX)
            return;
        filter_result_end(core, pod);
    }
}

static void begin(struct gang_core *core, struct pod *pod, enum filter_result_kind to)
{
    filter_result_end(core, pod);
    list_push(&core->filter_results, &pod->in_filter_results);
    pod->filter_result =
        (struct filter_result){.at = core->now, .to = to, .as_of = core->marks.clock};
    wide_anti_affinity_begin(core, pod);
}

void filter_result_inherited(struct gang_core *core, struct pod *pod)
{
    begin(core, pod, FILTERED_ANY);
}

void filter_results_synced(struct gang_core *core)
{
    list_for_each (pod, &core->filter_results, struct pod, in_filter_results)
        pod->filter_result.at = core->now;
}

void filter_result_one(struct gang_core *core, struct pod *pod, const struct node *node)
{
    begin(core, pod, FILTERED_ONE);
    pod->filter_result.node = node->id;
}

void filter_result_offered(struct gang_core *core, struct pod *pod, const struct gang_event *ev,
                           const uint32_t *passed, size_t n)
{
    begin(core, pod, FILTERED_SOME);
    struct filter_result *pass = &pod->filter_result;
    pass->n_words = (core->n_ids + WORD_BITS - 1) / WORD_BITS;
    pass->bits = xcalloc(pass->n_words, sizeof *pass->bits);
    core->filter_result_words += pass->n_words;
    for (size_t i = 0; i < n; i++) {
        const struct node *node = node_by_name(core, ev->names[passed ? passed[i] : i]);
        if (node)
            pass->bits[node->id / WORD_BITS] |= UINT64_C(1) << node->id % WORD_BITS;
    }
    forget_old(core);
}

void filter_result_narrow(struct gang_core *core, struct pod *pod, const struct node *node)
{
    filter_result_end(core, pod);
    pod->filter_result = (struct filter_result){
        .at = core->now, .to = FILTERED_ONE, .node = node->id, .as_of = core->marks.clock};
}

void filter_result_end(struct gang_core *core, struct pod *pod)
{
    list_remove(&pod->in_filter_results);
    forget(core, pod);
}

bool filter_result_is_open(const struct gang_core *core, const struct pod *pod)
{
    return !list_empty(&pod->in_filter_results) && in_time(core, pod);
}

bool filter_result_has(const struct gang_core *core, const struct pod *pod, const struct node *node)
{
    const struct filter_result *pass = &pod->filter_result;
    if (pass->to == FILTERED_NONE || !in_time(core, pod))
        return false;
    if (pass->to == FILTERED_ANY)
        return true;
    if (node->born > pass->as_of) /* a new node, which reuses the id of a deleted one */
        return false;
    if (pass->to == FILTERED_ONE)
        return pass->node == node->id;
    size_t word = node->id / WORD_BITS;
    return word < pass->n_words && pass->bits[word] >> node->id % WORD_BITS & 1;
}
