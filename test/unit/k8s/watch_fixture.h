/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_fixture.h - a watch of pods with a scripted API server. The fixture logs what the watch
 * reports.
 */
#ifndef MUSTER_TEST_WATCH_FIXTURE_H
#define MUSTER_TEST_WATCH_FIXTURE_H

#include "api_fixture.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/list_watch/watch.h"
#include "log_capture.h"

#define LIST  "GET /api/v1/pods"
#define WATCH "WATCH /api/v1/pods"

#define LIST_OF(version, items)                                                                    \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define PAGE_OF(version, token, items)                                                             \
    "{\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" token                     \
    "\"},\"items\":[" items "]}"
#define POD(name, version, uid)                                                                    \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"resourceVersion\":\"" version     \
    "\",\"uid\":\"" uid "\"}}"
#define BAD(name, version)                                                                         \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"resourceVersion\":\"" version     \
    "\",\"uid\":\"u\"},\"bad\":true}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version)   EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define GONE_410                                                                                   \
    EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old resource version\"}")

struct fixture {
    struct fake_api *api;
    struct api_metrics *metrics;
    struct client *client;
    struct watch *watch;
    struct buf
        heard; /* "+name@version -name synced ", and "?name@version " of an unreadable object */
    bool takes_parts; /* for start() */
    int fd;
};

int set_up(void **state);
int tear_down(void **state);
/* Sets the path, the resource and the callbacks. */
void start(struct fixture *x, struct watch_options o);
bool heard(const struct fixture *x, const char *all);
void run_for(struct fixture *x, usec_t time);

#endif
