/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_mail.h - what is posted to the loop (loop_post()): events of the cluster, calls, queries.
 *
 * Each embeds a struct loop_mail as its first member, and is the loop's from the post on. What is
 * posted stands below the loop and knows no more of it than this.
 */
#ifndef MUSTER_SERVER_LOOP_LOOP_MAIL_H
#define MUSTER_SERVER_LOOP_LOOP_MAIL_H

#include "base/mailbox.h"

enum loop_mail_kind {
    LOOP_EVENT, /* from the cluster */
    LOOP_CALL,  /* a verb; see extender_call.h */
    LOOP_QUERY, /* a request to the ops listener that needs the core; see ops_queries.h */
    LOOP_STOP,
};
struct loop_mail {
    struct mail mail;
    enum loop_mail_kind kind;
};

#endif
