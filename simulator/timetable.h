/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timetable.h - a scenario's timetable, carried out: what is created, deleted, cordoned and
 * scaled at which time.
 *
 * timetable_start() once, at the origin of the scenario's clock; each step is a task of the store's
 * clock and sets its next repetition. The store and the scenario are borrowed and outlive it. One
 * thread.
 */
#ifndef MUSTER_SIMULATOR_TIMETABLE_H
#define MUSTER_SIMULATOR_TIMETABLE_H

#include "simulator/object_store.h"
#include "simulator/scenario.h"

struct timetable {
    struct store *store;
    const struct scenario *scenario;
};

void timetable_start(struct timetable *table);

#endif
