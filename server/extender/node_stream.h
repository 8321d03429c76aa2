/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_stream.h - ExtenderArgs with whole nodes (nodeCacheCapable: false), made small while they
 * arrive.
 *
 * Five thousand nodes are 60 MB, and of all but those that may be echoed only the name is wanted.
 * Pieces go in as they come; what comes out is the same request, in which every node that is not to
 * be kept is no more than {"metadata":{"name":"…"}}. One node at a time is in memory. Whoever owns
 * the stream is asked once, when the first node is about to come, which nodes to keep; what stands
 * before them (the pod, as kube-scheduler writes it) is in `out` then. Requests without whole nodes
 * go through as they are.
 *
 * Nothing is judged here: what is no JSON, or no node, goes through as it is, and extender_parse()
 * says what is wrong with it. Pure, any thread.
 */
#ifndef MUSTER_SERVER_EXTENDER_NODE_STREAM_H
#define MUSTER_SERVER_EXTENDER_NODE_STREAM_H

#include "base/buf.h"

enum node_keep {
    NODE_KEEP_ALL,
    NODE_KEEP_ONE, /* that of ONE name; "": none */
};

#define NODE_STREAM_DEPTH 3   /* of the nodes: request, Nodes, items */
#define NODE_STREAM_KEY   15  /* longest key that is looked for, and more */
#define NODE_STREAM_NAME  255 /* of a node */

struct node_stream {
    /* Which nodes to keep, for NODE_KEEP_ONE with the name in one[]. */
    enum node_keep (*ask)(void *arg, const struct buf *before, char one[NODE_STREAM_NAME + 1]);
    void *arg;
    struct buf *out;
    bool small; /* some node was made small */

    /* its own */
    bool in_string, escaped, key_next, in_items;
    bool through; /* it has names: whole nodes beside them are refused anyhow */
    int depth;
    char open[NODE_STREAM_DEPTH + 1]; /* '{' or '[' per level, as far as it matters */
    char key[NODE_STREAM_DEPTH + 1][NODE_STREAM_KEY + 1]; /* the last key of each level */
    size_t key_len;
    enum node_keep keep;
    char one[NODE_STREAM_NAME + 1];
    struct buf node; /* the one that is arriving */
};

void node_stream_begin(struct node_stream *s, struct buf *out,
                       enum node_keep (*ask)(void *arg, const struct buf *before,
                                             char one[NODE_STREAM_NAME + 1]),
                       void *arg);
void node_stream_put(struct node_stream *s, const char *data, size_t len);
/* Puts out what is left of a node that did not end. Frees what the stream has. */
void node_stream_end(struct node_stream *s);
/* Frees only; also after the end, and where it was not begun. */
void node_stream_drop(struct node_stream *s);

#endif
