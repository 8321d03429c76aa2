/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_picture.h - draws a history of shares as SVG: a line for each queue over the simulated
 * time, readable on light and on dark pages. The queues with the largest shares have a line of
 * their own, and all others share one, so the size of the picture is bounded. Stateless.
 */
#ifndef MUSTER_SIMULATOR_SHARE_PICTURE_H
#define MUSTER_SIMULATOR_SHARE_PICTURE_H

#include "base/buf.h"
#include "simulator/share_history.h"

/* Appends the picture. */
void share_picture(const struct share_history *h, struct buf *out);

#endif
