/* SPDX-License-Identifier: Apache-2.0 */
#include "server/extender/node_stream.h"

#include <strings.h>

#include "base/json_scan.h"

void node_stream_begin(struct node_stream *s, struct buf *out,
                       enum node_keep (*ask)(void *arg, const struct buf *before,
                                             char one[NODE_STREAM_NAME + 1]),
                       void *arg)
{
    *s = (struct node_stream){.ask = ask, .arg = arg, .out = out};
}

/* ---- one node ---- */

/* metadata.name of the node; false when it is no node. */
static bool read_name(const struct buf *node, struct buf *key, struct buf *name)
{
    struct json_scan s = json_scan_new(node->data, node->len);
    bool found = false;
    json_scan_object(&s);
    while (json_scan_key(&s, key)) {
        if (found || strcasecmp(buf_str(key), "metadata") != 0 || json_scan_peek(&s) != '{') {
            json_scan_skip(&s, NULL);
            continue;
        }
        json_scan_object(&s);
        while (json_scan_key(&s, key)) {
            if (!found && strcasecmp(buf_str(key), "name") == 0 && json_scan_peek(&s) == '"')
                found = json_scan_string(&s, name) && name->len > 0;
            else
                json_scan_skip(&s, NULL);
        }
    }
    return json_scan_end(&s) && found;
}

/* A node has arrived. */
static void put_node(struct node_stream *s)
{
    cleanup_buf struct buf key = BUF_INIT, name = BUF_INIT;
    bool known = s->keep == NODE_KEEP_ONE && read_name(&s->node, &key, &name);
    if (!known || strcmp(buf_str(&name), s->one) == 0) {
        buf_append(s->out, s->node.data, s->node.len);
    } else {
        buf_puts(s->out, "{\"metadata\":{\"name\":");
        buf_json(s->out, name.data, name.len);
        buf_puts(s->out, "}}");
        s->small = true;
    }
    buf_clear(&s->node);
}

/* ---- where we are ---- */

/* The bracket that opens here is that of the nodes. */
static bool are_items(const struct node_stream *s)
{
    return s->depth == 2 && s->open[1] == '{' && s->open[2] == '{' &&
           strcasecmp(s->key[1], "Nodes") == 0 && strcasecmp(s->key[2], "items") == 0;
}

static void enter(struct node_stream *s, char bracket)
{
    bool items = bracket == '[' && are_items(s);
    s->through = s->depth == 1 && bracket == '[' && strcasecmp(s->key[1], "NodeNames") == 0;
    s->depth++;
    if (s->depth <= NODE_STREAM_DEPTH) {
        s->open[s->depth] = bracket;
        s->key[s->depth][0] = '\0';
    }
    s->key_next = bracket == '{';
    if (items) {
        s->in_items = true;
        s->keep = s->ask(s->arg, s->out, s->one);
    }
}

static bool is_object(const struct node_stream *s)
{
    return s->depth >= 1 && s->depth <= NODE_STREAM_DEPTH && s->open[s->depth] == '{';
}

/* A byte outside of strings. */
static void see(struct node_stream *s, char c)
{
    switch (c) {
    case '"':
        s->in_string = true;
        s->key_len = 0;
        break;
    case '{':
    case '[':
        enter(s, c);
        break;
    case '}':
    case ']':
        s->depth -= s->depth > 0;
        s->key_next = false;
        break;
    case ',':
        s->key_next = is_object(s);
        break;
    case ':':
        s->key_next = false;
        break;
    }
}

/* A byte of a string. */
static void see_in_string(struct node_stream *s, char c)
{
    if (s->escaped) {
        s->escaped = false;
    } else if (c == '\\') {
        s->escaped = true;
    } else if (c == '"') {
        s->in_string = false;
        if (s->key_next && is_object(s))
            s->key[s->depth][s->key_len < NODE_STREAM_KEY ? s->key_len : NODE_STREAM_KEY] = '\0';
        return;
    }
    if (s->key_next && is_object(s) && s->key_len < NODE_STREAM_KEY)
        s->key[s->depth][s->key_len++] = c;
}

/* How many bytes from here on change nothing but the text of a string. */
static size_t quiet_run(const struct node_stream *s, const char *p, size_t len)
{
    size_t n = 0;
    if (!s->in_string || s->escaped || s->key_next)
        return 0;
    while (n < len && p[n] != '"' && p[n] != '\\')
        n++;
    return n;
}

/* Whether the bytes at hand belong to a node. */
static bool in_node(const struct node_stream *s)
{
    return s->in_items && s->depth > NODE_STREAM_DEPTH;
}

void node_stream_put(struct node_stream *s, const char *data, size_t len)
{
    size_t from = 0, i = 0;
    while (i < len && !s->through) {
        i += quiet_run(s, data + i, len - i);
        if (i == len)
            break;
        bool was_in = in_node(s);
        char c = data[i];
        if (!s->in_string && c == '[' && are_items(s)) { /* it will ask: what stands before it */
            buf_append(s->out, data + from, i - from);
            from = i;
        }
        if (s->in_string)
            see_in_string(s, c);
        else
            see(s, c);
        bool is_in = in_node(s);
        i++;
        if (!was_in && is_in) { /* at its bracket */
            buf_append(s->out, data + from, i - 1 - from);
            from = i - 1;
        } else if (was_in && !is_in) { /* behind its bracket */
            buf_append(&s->node, data + from, i - from);
            from = i;
            put_node(s);
        }
        if (s->in_items && s->depth < NODE_STREAM_DEPTH)
            s->in_items = false;
    }
    buf_append(in_node(s) ? &s->node : s->out, data + from, len - from);
}

void node_stream_end(struct node_stream *s)
{
    buf_append(s->out, buf_str(&s->node), s->node.len);
    buf_done(&s->node);
}

void node_stream_drop(struct node_stream *s)
{
    buf_done(&s->node);
}
