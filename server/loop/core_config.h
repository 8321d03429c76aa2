/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_config.h - converts muster's settings into the core's configuration. Stateless; any thread.
 */
#ifndef MUSTER_SERVER_LOOP_CORE_CONFIG_H
#define MUSTER_SERVER_LOOP_CORE_CONFIG_H

#include "config/config.h"
#include "gang/gang.h"

/* The result borrows strings from config. */
struct gang_config core_config(const struct config *config);

#endif
