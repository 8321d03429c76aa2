/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/cluster/step_work.h"

void step_work_begin(struct gang_core *core)
{
    core->work = 0;
}

void step_work_spend(struct gang_core *core, int64_t work)
{
    core->work += work;
}
