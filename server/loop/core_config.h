/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_config.h - the core's configuration, from the settings. Pure, any thread.
 */
#ifndef MUSTER_SERVER_LOOP_CORE_CONFIG_H
#define MUSTER_SERVER_LOOP_CORE_CONFIG_H

#include "config/config.h"
#include "gang/gang.h"

/* Borrows from config. */
struct gang_config core_config(const struct config *config);

#endif
