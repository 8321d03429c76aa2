/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/plan/candidates.h"

#include "gang/cluster/node_classes.h"
#include "gang/cluster/node_labels.h"
#include "gang/cluster/objects.h"
#include "gang/podgroup/infeasible_nodes.h"

/* Rules of a pod of so many bytes take as long as the rest of a look at a node. */
#define RULES_OF_A_LOOK 256

/* Whether some rule of the shape tells nodes of a class apart. */
static bool looks_singly(struct gang_core *core, struct shape *shape)
{
    return shape->ports || shape->apart || shape->spread || shape->limited || !told_by(core, shape);
}

struct look look_begin(struct gang_core *core, const struct gang *gang, struct shape *shape,
                       const struct node *except)
{
    struct look look = {.core = core, .gang = gang, .except = except};
    look.singly = looks_singly(core, shape) || (gang && evidence_speaks(core, gang, shape));
    classes_settle(core);
    size_t looks = look.singly ? core->nodes.count : core->node_classes.count;
    core->work += (int64_t)(looks * (1 + shape->base / RULES_OF_A_LOOK));
    return look;
}

static bool next_in_class(struct look *look)
{
    while (look->class && look->in < look->class->n) {
        look->node = look->class->nodes[look->in++];
        if (look->node != look->except)
            return true;
    }
    return false;
}

bool look_next(struct look *look)
{
    look->n = 1;
    if (next_in_class(look))
        return true;
    struct map_entry *e;
    while ((e = map_next(&look->core->node_classes, &look->at)) != NULL) {
        look->class = e->value;
        if (!look_is_whole(look)) {
            look->in = 0;
            if (next_in_class(look))
                return true;
            continue;
        }
        look->in = look->class->n;
        look->node = class_first(look->class, look->except);
        if (!look->node)
            continue;
        bool without = look->except && look->except->class == look->class;
        look->n = look->class->n - without;
        return true;
    }
    return false;
}

void work_begin(struct gang_core *core)
{
    core->work = 0;
}
