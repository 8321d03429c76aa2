/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_fixture.h - what the fixtures have in common that run a client against a scripted API server.
 * Each of them has a struct fixture (with `client`, `fd` and the log `heard`), set_up() and
 * tear_down().
 */
#ifndef MUSTER_TEST_API_FIXTURE_H
#define MUSTER_TEST_API_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "fake_api.h"

#define run_until(x, condition)                                                                    \
    do {                                                                                           \
        usec_t limit_ = usec_now() + 60 * USEC_PER_SEC;                                            \
        while (!(condition)) {                                                                     \
            if (usec_now() > limit_)                                                               \
                fail_msg("timed out: %s; heard: %s", #condition, buf_str(&(x)->heard));            \
            client_run((x)->client, 10 * USEC_PER_MSEC, (x)->fd);                                  \
        }                                                                                          \
    } while (0)

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
