/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_internal.h - shared by the files of the writer. A file calls only files further down:
 *
 *   write.c               sends the requests that may be sent now
 *   write_suspend.c       suspends and resumes workloads
 *   write_pod.c           Bindings, reads, nominations, gates, evictions and conditions
 *   write_status.c        statuses of PodGroups
 *   write_queue_status.c  statuses of queues
 *   write_status_patch.c  what both statuses have in common
 *   write_event.c         events
 *   write_in_flight.c     chooses the next request; writes in flight
 *   write_rates.c         urgency and rate limits
 *   write_lanes.c         requests that wait
 *   effect_copy.c         copies of effects
 *
 * A request has one owner at a time: the mail, the queue of its lane, or a write in flight. A write
 * in flight is one call, or the pause before its retry. in_flight_end() frees it, so the sender
 * must not use it afterwards. write.c then sends other requests.
 *
 * Everything here belongs to the API thread.
 */
#ifndef MUSTER_K8S_WRITE_WRITE_INTERNAL_H
#define MUSTER_K8S_WRITE_WRITE_INTERNAL_H

#include <jansson.h>

#include "base/fair_queue.h"
#include "base/list.h"
#include "base/map.h"
#include "k8s/write/write.h"

/* If at least this many statuses wait, muster writes only the newest status of a PodGroup. */
#define STATUS_BACKLOG 16

struct write_request {
    struct mail mail;
    struct fair_queue_item waits; /* in its lane, in the subqueue of its namespace */
    enum gang_effect_kind kind;
    char *ns, *name, *uid;
    char *node;          /* BIND, NOMINATE, UNGATE */
    bool of_podgroup;    /* RESUME: the name is that of the PodGroup that the workload owns */
    bool of_commit;      /* BIND: put GANG_COMMIT_MARK on the pod */
    bool nominates;      /* nominate the pod to `node`; node NULL clears the nomination */
    char *api_group;     /* STATUS, QUEUE_STATUS, SUSPEND, RESUME, EVENT of a PodGroup */
    char *api_version;   /* EVENT of an owner (NULL: v1); RESUME of a workload */
    char *object_kind;   /* EVENT; RESUME of a workload */
    char *reason, *text; /* EVENT; text also STATUS, QUEUE_STATUS, PATCH_CONDITION, SUSPEND */
    int64_t version;     /* PATCH_CONDITION: the pod's version for which the text was made */
    char *help;          /* STATUS */
    bool warning;        /* EVENT */
    bool no_namespace;   /* EVENT: the object has none; ns is that of the event */
    struct gang_ref ref; /* STATUS, QUEUE_STATUS, SUSPEND, RESUME of a PodGroup's workload: borrows
                            from the fields above */
    struct gang_status status;
    struct gang_queue_status
        queue;      /* QUEUE_STATUS: borrows from the fields above; owns its lists */
    char phase[32]; /* STATUS: the phase in its dialect */
    int behind;     /* STATUS: number of older statuses of the same PodGroup that wait */
    usec_t since;   /* when it began to wait in its lane */
};

/* In the order in which they are sent. Events of PodGroups and of pods have separate lanes: the
 * pod events of a large gang must not delay an event about another gang. */
enum lane_id {
    LANE_BIND,
    LANE_READ,
    LANE_NOMINATE,
    LANE_UNGATE,
    LANE_MARK,
    LANE_EVICT,
    LANE_SUSPEND,
    LANE_STATUS,
    LANE_QUEUE_STATUS,
    LANE_PODGROUP_EVENT,
    LANE_POD_CONDITION,
    LANE_POD_EVENT,
    LANE_MAX
};

/* A rate limit: a request takes tokens, and tokens come back with time. */
struct token_bucket {
    double tokens, per_second, burst;
    usec_t at;                 /* when `tokens` was computed */
    struct client_timer timer; /* pumps when there are enough tokens again */
};

struct lane {
    const char *name; /* metric label */
    int most;         /* maximum number of writes in flight */
    int at_once;      /* the same, without those that wait for their retry; 0: no such limit */
    int most_each;    /* the same for one namespace; 0: no such limit */
    size_t room;      /* maximum number of waiting requests */
    int turn;         /* requests in the turn of a namespace, see base/fair_queue.h */
    struct fair_queue queue;
    int n_in_flight;
    int paused; /* writes in flight that wait for their retry */
};

struct in_flight_write {
    struct list link;
    struct writer *writer;
    struct write_request *request;
    enum lane_id lane;
    struct client_call *call;
    client_done_fn *replied; /* callback of the call; it calls done() */
    void (*done)(struct in_flight_write *f, const struct client_reply *reply);
    struct client_timer retry;
    int tries;                        /* retries so far */
    bool nominated;                   /* UNGATE: the nomination is written; only the gate is left */
    bool conflicted;                  /* PATCH_CONDITION: another writer has changed the pod */
    const struct status_kind *status; /* STATUS, QUEUE_STATUS */
    json_t *sent;                     /* STATUS: the fields in the patch */
    char contested[PODGROUPS_FIELD];  /* STATUS: the field that muster leaves to another writer */
    char *event_name;                 /* EVENT: name of the event to create */
    struct workload_ref workload;     /* SUSPEND, RESUME */
    int conflicts;                    /* STATUS, QUEUE_STATUS, SUSPEND, RESUME: refused patches */
    int failures;                     /* STATUS, QUEUE_STATUS: replies with status 500 */
};

/* An event that was sent. Sending the same event again increases its count. */
struct series {
    struct fair_queue_item kept;
    char *key, *name;
    int count;
};

struct writer {
    struct writer_options o;
    struct lane lanes[LANE_MAX];
    struct list in_flight;
    bool pump_due;                 /* a write in flight ended or pauses, so others may be sent */
    struct map nominations;        /* UID -> the waiting NOMINATE or UNGATE */
    struct map waiting_conditions; /* UID -> the waiting PATCH_CONDITION */
    struct map statuses;           /* gang_ref_key() -> the newest waiting STATUS */
    struct map queue_statuses;     /* gang_ref_key() -> the newest waiting QUEUE_STATUS */
    struct map in_flight_keys;     /* in_flight_key() -> struct in_flight_write */
    struct map series;             /* series_key() -> struct series */
    struct fair_queue kept;        /* the same series, by namespace */
    struct token_bucket events, conditions, pod_events;
    struct token_bucket words;    /* statuses and PodGroup events while urgent writes wait */
    struct client_timer patience; /* fires when a lane that is not urgent may send again */
    usec_t calm_at;               /* the earliest time at which nothing counts as urgent */
    bool status_forbidden[LANE_MAX], event_forbidden, pod_status_forbidden, ungate_forbidden,
        evict_forbidden, suspend_forbidden; /* this missing right was logged */
};

/* ---- requests that wait (write_lanes.c) ---- */

void lanes_init(struct writer *w);
/* Frees the waiting requests. */
void lanes_done(struct writer *w);
/* Updates the metric of the lane's length. */
void lane_show(struct writer *w, const struct lane *lane);
/* NULL if item is NULL. */
struct write_request *lane_request(struct fair_queue_item *item);
/* Removes a request that leaves its lane from the maps of waiting requests. */
void write_request_unlist(struct writer *w, struct write_request *o);
/* Whether a name can be in a path without leading elsewhere. */
bool write_is_name(const char *s);
/* Posts SUSPEND_REFUSED. */
void writer_post_refused(struct writer *w, const struct gang_ref *ref);
/* Posts BIND_DONE or POD_READ. Copies the strings. */
void writer_post(struct writer *w, enum gang_event_kind kind, const char *uid, const char *node,
                 const char *text, enum gang_outcome outcome);

/* ---- rate limits (write_rates.c) ---- */

/* Calls again() when a request that had to wait for tokens may be sent. */
void rates_init(struct writer *w, void (*again)(void *writer));
void rates_done(struct writer *w);
/* Whether members wait for the writes of this lane. */
bool lane_is_urgent(enum lane_id id);
/* Whether the rate limits allow the request now. If so, takes the tokens. */
bool may_send(struct writer *w, enum lane_id id, const struct write_request *o);

/* ---- writes in flight (write_in_flight.c) ---- */

/* Calls again() when a request that had to wait may be sent. */
void in_flight_init(struct writer *w, void (*again)(void *writer));
/* Cancels all writes in flight. */
void in_flight_done(struct writer *w);
/* Sets w->patience to the time when a lane has waited long enough, or nothing is urgent. */
void lanes_arm_patience(struct writer *w);
/* Takes the lane's next request that may be sent now; NULL: there is none. The caller sets
 * `replied` and `retry`. */
struct in_flight_write *in_flight_next(struct writer *w, enum lane_id id);
/* Sends a request to the API server for this write; done() gets the reply. */
void in_flight_send(struct in_flight_write *f, const struct client_request *request,
                    void (*done)(struct in_flight_write *f, const struct client_reply *reply));
/* Retries after a pause that doubles from `first`. False: it was sent `most` times already. */
bool in_flight_retry(struct in_flight_write *f, int most, usec_t first);
void in_flight_end(struct in_flight_write *f);

/* ---- patches of statuses (write_status_patch.c) ---- */

/* What differs between the statuses of PodGroups and of queues. */
struct status_kind {
    const char *failed;  /* log text for a status that cannot be written */
    const char *log_key; /* of the object in the log */
    /* Writes the path of the object. Returns its resource; NULL: its API is no longer served, or
     * the object is gone. */
    const char *(*put_path)(const struct in_flight_write *f, struct buf *path,
                            bool *ret_subresource);
    /* Keeps the object from a reply. */
    void (*keep)(struct in_flight_write *f, json_t *object);
};
/* Reads the object. False: there is nothing to read. Set f->status before. */
bool status_read(struct in_flight_write *f,
                 void (*done)(struct in_flight_write *f, const struct client_reply *reply));
/* Sends the patch (NULL: ends the write) for this version of the object. After a conflict, it reads
 * the object and sends the request again. */
void status_patch_send(struct in_flight_write *f, json_t *patch, const json_t *object);

/* ---- senders (write_pod.c, write_suspend.c, write_status.c, write_queue_status.c, write_event.c)
 * ---- */

void bind_send(struct in_flight_write *f);
void read_send(struct in_flight_write *f);
void nominate_send(struct in_flight_write *f);
void ungate_send(struct in_flight_write *f);
void mark_send(struct in_flight_write *f);
void evict_send(struct in_flight_write *f);
void suspend_send(struct in_flight_write *f);
void condition_send(struct in_flight_write *f);
void status_send(struct in_flight_write *f);
void queue_status_send(struct in_flight_write *f);
void event_send(struct in_flight_write *f);
void series_free(struct writer *w, struct series *s);

#endif
