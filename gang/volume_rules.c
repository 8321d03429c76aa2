/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/volume_rules.h"

#include "gang/node_predicates.h"

bool gang_claim_allows(const struct gang_claim_facts *claim, const struct gang_node_facts *node)
{
    if (claim->selected && strcmp(claim->selected, node->name) != 0)
        return false;
    if (!claim->limited)
        return true;
    for (size_t i = 0; i < claim->n_terms; i++)
        if (gang_term_matches(&claim->terms[i], node))
            return true;
    return false;
}
