/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_config.h - from the settings, those of the core. Pure, any thread.
 *
 * The defaults stand in the table of config/config_keys.c, and in gang_config_default() for whoever
 * has a core without settings. A test compares all of them.
 */
#ifndef MUSTER_SERVER_LOOP_CORE_CONFIG_H
#define MUSTER_SERVER_LOOP_CORE_CONFIG_H

#include "config/config.h"
#include "gang/gang.h"

/* Borrows from config. What no setting sets stays the core's default. */
struct gang_config core_config(const struct config *config);

#endif
