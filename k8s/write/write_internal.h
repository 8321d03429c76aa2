/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_internal.h - what the files of the writer share: write.c (sends what may go) over
 * write_pod.c (bindings, reads, nominations, gates, evictions, conditions), write_status.c and
 * write_event.c (the calls of each kind of order) over write_flight.c (what goes) over
 * write_lanes.c (what waits) over write_order.c.
 *
 * An order is owned by one thing at a time: the mail, the queue of its lane, or a flight. A flight
 * is an order under way: one call, or a pause before the next try. It ends with flight_end(), after
 * which the sender touches it no more; write.c then lets others go.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_INTERNAL_H
#define MUSTER_K8S_WRITE_WRITE_INTERNAL_H

#include <jansson.h>

#include "base/fair.h"
#include "base/list.h"
#include "base/map.h"
#include "k8s/write/write.h"

/* Where so many wait, steps that a group has left behind are not written any more. */
#define STATUS_CROWD 16

struct order {
    struct mail mail;
    struct fair_item waits; /* in its lane, in the line of its namespace */
    enum gang_effect_kind kind;
    char *ns, *name, *uid;
    char *node;          /* BIND, NOMINATE, UNGATE */
    bool of_commit;      /* BIND: the pod is marked */
    bool nominates;      /* node is the nomination to be written; NULL clears it */
    char *api_group;     /* STATUS, EVENT of a PodGroup */
    char *api_version;   /* EVENT of what is neither that nor of the core group */
    char *object_kind;   /* EVENT */
    char *reason, *text; /* EVENT; text also STATUS, TELL */
    int64_t version;     /* TELL: of the pod when the words were found */
    char *help;          /* STATUS */
    bool warning;        /* EVENT */
    struct gang_ref ref; /* STATUS: borrows from the above */
    struct gang_status status;
    char phase[32]; /* STATUS: what it comes to in its dialect */
    int behind;     /* STATUS: others of the same group that wait before it */
    usec_t since;   /* it waits in its lane */
};

/* Events of PodGroups have a lane before those of pods: a large gang's notices do not keep a word
 * about another gang waiting. */
enum lane_id {
    LANE_BIND,
    LANE_READ,
    LANE_NOMINATE,
    LANE_UNGATE,
    LANE_EVICT,
    LANE_STATUS,
    LANE_EVENT,
    LANE_TELL,
    LANE_NOTICE,
    LANE_MAX
};

/* So many orders of a lane may be sent; filled with time. */
struct bucket {
    double tokens, per_second, burst;
    usec_t at;
    struct client_timer timer; /* pumps when there is a token again */
};

struct lane {
    const char *name; /* metric label */
    int most;         /* under way at once */
    int most_each;    /* of one namespace; 0: all */
    size_t room;      /* orders that may wait */
    int turn;         /* orders of a namespace before those of the next; see base/fair.h */
    struct fair queue;
    int flying;
    int paused; /* of these: between two tries */
};

struct flight {
    struct list link;
    struct writer *writer;
    struct order *order;
    enum lane_id lane;
    struct client_call *call;
    client_done_fn *replied; /* of the call: calls done() */
    void (*done)(struct flight *f, const struct client_reply *reply);
    struct client_timer retry;
    int tries;
    bool nominated;                  /* UNGATE: what is left is the gate */
    bool conflicted;                 /* TELL: somebody else wrote to the pod meanwhile */
    json_t *sent;                    /* STATUS: the fields that are written */
    char contested[PODGROUPS_FIELD]; /* STATUS: the field that is left to another writer */
    char *event_name;                /* EVENT: of the object that is patched or made */
};

/* Events that were sent before: the same again counts up. */
struct series {
    struct fair_item kept;
    char *key, *name;
    int count;
};

struct writer {
    struct writer_options o;
    struct lane lanes[LANE_MAX];
    struct list flights;
    bool pump_due;          /* a flight has ended, or pauses: others may go */
    struct map nominations; /* uid -> struct order, NOMINATE or UNGATE, waiting */
    struct map untold;      /* uid -> struct order, TELL, waiting */
    struct map statuses;    /* key of group -> struct order, the newest waiting */
    struct map flying;      /* keys of groups and pods that have a flight -> struct flight */
    struct map series;      /* "uid reason text" -> struct series */
    struct fair kept;       /* the same, by namespace */
    struct bucket events, tells, notices, words;
    struct client_timer patience; /* what people read has waited long enough */
    usec_t calm_at;               /* nothing urgent is left by then, if nothing comes */
    bool status_forbidden, event_forbidden, pod_status_forbidden, ungate_forbidden,
        evict_forbidden; /* logged */
};

/* ---- what waits (write_lanes.c) ---- */

void lanes_init(struct writer *w);
/* Frees the orders that wait. */
void lanes_done(struct writer *w);
/* Its length, as a metric. */
void lane_show(struct writer *w, const struct lane *lane);
/* NULL where item is. */
struct order *lane_order(struct fair_item *item);
/* It is to leave its lane, and does not count as waiting any more. */
void order_unlist(struct writer *w, struct order *o);
/* Posts BIND_DONE or POD_READ; strings are copied. */
void writer_post(struct writer *w, enum gang_event_kind kind, const char *uid, const char *node,
                 const char *text, enum gang_outcome outcome);

/* ---- what goes (write_flight.c) ---- */

/* again() fires when something that had to wait may go. */
void flights_init(struct writer *w, void (*again)(void *writer));
/* Cancels what is under way. */
void flights_done(struct writer *w);
/* Fires w->patience when a lane has waited long enough, or nothing urgent may be left. */
void lanes_arm_patience(struct writer *w);
/* Takes the next order of the lane that may be sent now; NULL: there is none. `replied` and `retry`
 * are the caller's to set. */
struct flight *flight_next(struct writer *w, enum lane_id id);
/* Starts a call of the flight. */
void flight_send(struct flight *f, const struct client_request *request,
                 void (*done)(struct flight *f, const struct client_reply *reply));
/* Sends the order again after a pause; false: it was tried often enough. */
bool flight_retry(struct flight *f, int most, usec_t first);
void flight_end(struct flight *f);

/* ---- senders (write_pod.c, write_status.c, write_event.c) ---- */

void bind_send(struct flight *f);
void read_send(struct flight *f);
void nominate_send(struct flight *f);
void ungate_send(struct flight *f);
void evict_send(struct flight *f);
void tell_send(struct flight *f);
void status_send(struct flight *f);
void event_send(struct flight *f);
void series_free(struct writer *w, struct series *s);

#endif
