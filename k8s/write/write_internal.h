/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_internal.h - shared by the files of the writer: write.c (sends what is allowed now) over
 * write_pod.c (bindings, reads, nominations, gates, evictions, conditions), write_status.c and
 * write_event.c (the calls of each kind of request) over write_in_flight.c (what is sent) over
 * write_rates.c (how fast) over write_lanes.c (what waits) over write_request.c.
 *
 * A request is owned by one thing at a time: the mail, the queue of its lane, or a write in
 * flight. A write in flight is one call, or a pause before its retry. in_flight_end() ends it, and
 * the sender must not touch it afterwards; write.c then starts others.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_INTERNAL_H
#define MUSTER_K8S_WRITE_WRITE_INTERNAL_H

#include <jansson.h>

#include "base/fair_queue.h"
#include "base/list.h"
#include "base/map.h"
#include "k8s/write/write.h"

/* From this many waiting statuses on, only the newest status of a PodGroup is written. */
#define STATUS_BACKLOG 16

struct write_request {
    struct mail mail;
    struct fair_queue_item waits; /* in its lane, in the subqueue of its namespace */
    enum gang_effect_kind kind;
    char *ns, *name, *uid;
    char *node;          /* BIND, NOMINATE, UNGATE */
    bool of_commit;      /* BIND: the pod is marked */
    bool nominates;      /* node is the nomination to be written; NULL clears it */
    char *api_group;     /* STATUS, EVENT of a PodGroup */
    char *api_version;   /* EVENT of what is neither that nor of the core group */
    char *object_kind;   /* EVENT */
    char *reason, *text; /* EVENT; text also STATUS, PATCH_CONDITION */
    int64_t version;     /* PATCH_CONDITION: of the pod when the words were found */
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
    LANE_PODGROUP_EVENT,
    LANE_POD_CONDITION,
    LANE_POD_EVENT,
    LANE_MAX
};

/* So many requests of a lane may be sent; filled with time. */
struct token_bucket {
    double tokens, per_second, burst;
    usec_t at;
    struct client_timer timer; /* pumps when there is a token again */
};

struct lane {
    const char *name; /* metric label */
    int most;         /* under way at once */
    int most_each;    /* of one namespace; 0: all */
    size_t room;      /* requests that may wait */
    int turn;         /* requests of a namespace before those of the next; see base/fair_queue.h */
    struct fair_queue queue;
    int n_in_flight;
    int paused; /* of these: between two tries */
};

struct in_flight_write {
    struct list link;
    struct writer *writer;
    struct write_request *request;
    enum lane_id lane;
    struct client_call *call;
    client_done_fn *replied; /* of the call: calls done() */
    void (*done)(struct in_flight_write *f, const struct client_reply *reply);
    struct client_timer retry;
    int tries;
    bool nominated;                  /* UNGATE: what is left is the gate */
    bool conflicted;                 /* PATCH_CONDITION: somebody else wrote to the pod meanwhile */
    json_t *sent;                    /* STATUS: the fields that are written */
    char contested[PODGROUPS_FIELD]; /* STATUS: the field that is left to another writer */
    char *event_name;                /* EVENT: of the object that is patched or created */
};

/* Events that were sent before: the same again counts up. */
struct series {
    struct fair_queue_item kept;
    char *key, *name;
    int count;
};

struct writer {
    struct writer_options o;
    struct lane lanes[LANE_MAX];
    struct list in_flight;
    bool pump_due;                 /* a write in flight has ended, or pauses: others may go */
    struct map nominations;        /* uid -> struct write_request, NOMINATE or UNGATE, waiting */
    struct map waiting_conditions; /* uid -> struct write_request, PATCH_CONDITION, waiting */
    struct map statuses;           /* key of group -> struct write_request, the newest waiting */
    struct map in_flight_keys;     /* keys of groups and pods that have a write in flight -> struct
                                      in_flight_write */
    struct map series;             /* "uid reason text" -> struct series */
    struct fair_queue kept;        /* the same, by namespace */
    struct token_bucket events, conditions, pod_events, words;
    struct client_timer patience; /* what people read has waited long enough */
    usec_t calm_at;               /* nothing urgent is left by then, if nothing comes */
    bool status_forbidden, event_forbidden, pod_status_forbidden, ungate_forbidden,
        evict_forbidden; /* logged */
};

/* ---- what waits (write_lanes.c) ---- */

void lanes_init(struct writer *w);
/* Frees the requests that wait. */
void lanes_done(struct writer *w);
/* Its length, as a metric. */
void lane_show(struct writer *w, const struct lane *lane);
/* NULL where item is. */
struct write_request *lane_request(struct fair_queue_item *item);
/* It is to leave its lane, and does not count as waiting any more. */
void write_request_unlist(struct writer *w, struct write_request *o);
/* Posts BIND_DONE or POD_READ; strings are copied. */
void writer_post(struct writer *w, enum gang_event_kind kind, const char *uid, const char *node,
                 const char *text, enum gang_outcome outcome);

/* ---- how fast (write_rates.c) ---- */

/* `again` is called when a rate lets something through that had to wait. */
void rates_init(struct writer *w, void (*again)(void *writer));
void rates_done(struct writer *w);
/* Members wait for the writes of this lane. */
bool lane_is_urgent(enum lane_id id);
/* The rate of the request's kind lets it through now; takes its tokens. */
bool may_send(struct writer *w, enum lane_id id, const struct write_request *o);

/* ---- what goes (write_in_flight.c) ---- */

/* again() fires when something that had to wait may go. */
void in_flight_init(struct writer *w, void (*again)(void *writer));
/* Cancels what is under way. */
void in_flight_done(struct writer *w);
/* Fires w->patience when a lane has waited long enough, or nothing urgent may be left. */
void lanes_arm_patience(struct writer *w);
/* Takes the next request of the lane that may be sent now; NULL: there is none. `replied` and
 * `retry` are the caller's to set. */
struct in_flight_write *in_flight_next(struct writer *w, enum lane_id id);
/* Starts a call of the write in flight. */
void in_flight_send(struct in_flight_write *f, const struct client_request *request,
                    void (*done)(struct in_flight_write *f, const struct client_reply *reply));
/* Sends the request again after a pause; false: it was tried often enough. */
bool in_flight_retry(struct in_flight_write *f, int most, usec_t first);
void in_flight_end(struct in_flight_write *f);

/* ---- senders (write_pod.c, write_status.c, write_event.c) ---- */

void bind_send(struct in_flight_write *f);
void read_send(struct in_flight_write *f);
void nominate_send(struct in_flight_write *f);
void ungate_send(struct in_flight_write *f);
void evict_send(struct in_flight_write *f);
void condition_send(struct in_flight_write *f);
void status_send(struct in_flight_write *f);
void event_send(struct in_flight_write *f);
void series_free(struct writer *w, struct series *s);

#endif
