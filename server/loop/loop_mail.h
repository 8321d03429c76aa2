/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_mail.h - the header of everything that is posted to the loop: events of the cluster, calls
 * and queries.
 *
 * Posted structs have a struct loop_mail as their first member. After loop_post(), only the loop
 * may use them. Their modules are below the loop, and know nothing of it except this header.
 */
#ifndef MUSTER_SERVER_LOOP_LOOP_MAIL_H
#define MUSTER_SERVER_LOOP_LOOP_MAIL_H

#include "base/mailbox.h"

enum loop_mail_kind {
    LOOP_EVENT, /* from the cluster */
    LOOP_CALL,  /* a call of kube-scheduler; see extender_call.h */
    LOOP_QUERY, /* a request to the ops listener that needs the core; see ops_queries.h */
    LOOP_STOP,
};
struct loop_mail {
    struct mail mail;
    enum loop_mail_kind kind;
};

#endif
