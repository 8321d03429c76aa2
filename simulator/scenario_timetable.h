/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_timetable.h - runs a scenario's timetable: creates, deletes, cordons, scales and patches
 * objects at their times.
 *
 * Call scenario_timetable_start() once, at the origin of the scenario's clock. Each step is a task
 * of the store's clock and schedules its next repetition. The store and the scenario are borrowed
 * and must outlive the timetable. One thread.
 */
#ifndef MUSTER_SIMULATOR_SCENARIO_TIMETABLE_H
#define MUSTER_SIMULATOR_SCENARIO_TIMETABLE_H

#include "simulator/api_server.h"
#include "simulator/scenario.h"

struct scenario_timetable {
    struct store *store;
    const struct scenario *scenario;
};

void scenario_timetable_start(struct scenario_timetable *table);

#endif
