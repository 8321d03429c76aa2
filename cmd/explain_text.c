/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/explain_text.h"

#include <inttypes.h>

#include "base/quantity.h"
#include "cmd/gang_text.h"
#include "cmd/human_readable.h"
#include "cmd/ops_client.h"
#include "cmd/table.h"

#define MEMBERS_SHOWN 40

/* ---- tables with a title; without rows, nothing is printed ---- */

static void begin(struct table *t, const char *const *heads, size_t n)
{
    *t = (struct table){.columns = n};
    for (size_t i = 0; i < n; i++)
        table_add(t, heads[i]);
}

static void end(struct table *t, struct buf *out, const char *title)
{
    if (t->n > t->columns) {
        buf_printf(out, "\n%s\n", title);
        table_drop_empty(t);
        table_write(t, out);
    }
    table_done(t);
}

static void add_number(struct table *t, const json_t *o, const char *key)
{
    table_addf(t, "%" PRId64, reply_number(o, key));
}

static void add_amount(struct table *t, const char *resource, int64_t amount)
{
    cleanup_buf struct buf b = BUF_INIT;
    quantity_format(&b, resource, amount);
    table_add(t, buf_str(&b));
}

/* ---- what is wrong ---- */

/* "pod ml/a", or "2 pods of gang ml/g (all 8 pods restart)", and between which nodes */
static void put_move(const json_t *m, struct buf *out)
{
    int64_t pods = reply_number(m, "pods"), restarts = reply_number(m, "restarts");
    if (restarts > 1)
        buf_printf(out, "%" PRId64 " pod%s of ", pods, pods == 1 ? "" : "s");
    buf_printf(out, "%s %s/%s", reply_text(m, "kind"), reply_text(m, "namespace"),
               reply_text(m, "name"));
    if (restarts > 1)
        buf_printf(out, " (all %" PRId64 " pods restart)", restarts);
    buf_printf(out, " from %s to %s", reply_text(m, "from"), reply_text(m, "to"));
}

/* Which moves of running pods would make room. muster does not move them. */
#define MOVES_SHOWN 4
static void put_moves(const json_t *gang, struct buf *out)
{
    const json_t *consolidation = json_object_get(gang, "consolidation"),
                 *moves = json_object_get(consolidation, "moves");
    const char *budget = reply_text(consolidation, "protectedBy");
    size_t n = json_array_size(moves);
    for (size_t i = 0; i < n && i < MOVES_SHOWN; i++) {
        buf_puts(out, i == 0 ? "would fit:  after moving " : i + 1 == n ? " and " : ", ");
        put_move(json_array_get(moves, i), out);
    }
    if (n > MOVES_SHOWN)
        buf_printf(out, " and %zu more", n - MOVES_SHOWN);
    if (n && *budget) {
        buf_puts(out, ", which is forbidden by ");
        put_budget(out, budget);
    }
    if (n)
        buf_putc(out, '\n');
}

static void put_head(const json_t *gang, struct buf *out)
{
    const json_t *reason = json_object_get(gang, "reason");
    const char *text = bare_reason(gang, reply_text(reason, "text")),
               *help = reply_text(gang, "hint");
    const char *root = reply_text(gang, "root");
    buf_printf(out, "%s/%s is %s", reply_text(gang, "namespace"), reply_text(gang, "name"),
               reply_text(gang, "state"));
    if (*text)
        buf_printf(out, ": %s", text);
    buf_putc(out, '\n');
    if (*help)
        buf_printf(out, "would help: %s\n", help);
    put_more_nodes(out, "would fit:  ", gang);
    put_evictions(out, "would fit:  ", "evictions:  ", gang);
    put_moves(gang, out);
    if (!str_eq(root, reply_text(gang, "name")))
        buf_printf(out, "planned together with %s/%s\n", reply_text(gang, "namespace"), root);
}

/* ---- figures ---- */

static void put_ago(struct buf *out, const char *before, const json_t *gang, const char *key,
                    const char *after)
{
    const char *moment = reply_text(gang, key);
    if (!*moment)
        return;
    buf_puts(out, before);
    format_age(out, moment);
    buf_puts(out, after);
}

static void put_times(const json_t *gang, struct buf *out)
{
    put_ago(out, "in state    for ", gang, "since", "");
    put_ago(out, "; waiting for ", gang, "waitingSince", "");
    put_ago(out, "; last looked for nodes ", gang, "lastPlanned", " ago");
    buf_putc(out, '\n');
    if (reply_number(gang, "attempts")) {
        buf_printf(out, "attempt     %" PRId64, reply_number(gang, "attempts"));
        if (*reply_text(gang, "attemptUntil")) {
            buf_puts(out, ", times out in ");
            format_until(out, reply_text(gang, "attemptUntil"));
        }
        if (*reply_text(gang, "backoffUntil")) {
            buf_puts(out, " has failed; the next one begins in ");
            format_until(out, reply_text(gang, "backoffUntil"));
            buf_puts(out, ", or earlier if capacity is freed");
        }
        buf_putc(out, '\n');
    }
}

static void put_kept(const json_t *gang, struct buf *out)
{
    const json_t *keeper = json_object_get(gang, "earmarkedFor");
    if (json_is_true(json_object_get(gang, "hasEarmark")))
        buf_puts(out, "capacity    is kept for this gang\n");
    else if (json_is_true(json_object_get(gang, "respectsEarmark")))
        buf_printf(out, "capacity    is kept for gang %s/%s\n", reply_text(keeper, "namespace"),
                   reply_text(keeper, "name"));
}

/* How much longer plans leave out the nodes that kube-scheduler has refused. */
static void put_refusals(const json_t *gang, struct buf *out)
{
    if (!*reply_text(gang, "refusedUntil"))
        return;
    buf_puts(out, "refusals    by kube-scheduler: plans leave out the refused nodes for another ");
    format_until(out, reply_text(gang, "refusedUntil"));
    buf_putc(out, '\n');
}

/* Only if the express lane is open, or if the predicate parity check has found differences. */
static void put_express(const json_t *gang, struct buf *out)
{
    const json_t *express = json_object_get(gang, "expressLane");
    int64_t mismatches = json_integer_value(json_object_get(express, "mismatches"));
    const char *doubt = reply_text(express, "reason");
    if (json_is_true(json_object_get(express, "open")))
        buf_printf(out, "express     %s\n", *doubt ? doubt : "one member at bind is enough");
    if (mismatches > 0)
        buf_printf(out, "predicates  %" PRId64 " difference%s%s; the first: %s\n", mismatches,
                   mismatches == 1 ? "" : "s",
                   json_is_true(json_object_get(express, "closed"))
                       ? ", so the express lane is closed"
                       : "",
                   reply_text(express, "firstMismatch"));
}

static void put_order(const json_t *gang, struct buf *out)
{
    int64_t priority = reply_number(gang, "priority"), own = reply_number(gang, "groupPriority");
    if (!reply_number(gang, "position"))
        return;
    buf_printf(out, "in order    %" PRId64 " of %" PRId64 " waiting gangs, priority %" PRId64,
               reply_number(gang, "position"), reply_number(gang, "queueLength"), priority);
    if (own != priority)
        buf_printf(out, ", %" PRId64 " within its namespace", own);
    buf_putc(out, '\n');
}

/* "3rd in queue training, behind ml/a and ml/b" */
static void put_queue(const json_t *gang, struct buf *out)
{
    const json_t *queue = json_object_get(gang, "queue");
    if (!queue)
        return;
    buf_puts(out, "queue       ");
    put_queue_place(out, reply_number(queue, "position"), reply_text(queue, "name"),
                    json_object_get(queue, "ahead"));
    buf_putc(out, '\n');
}

static void put_figures(const json_t *gang, struct buf *out)
{
    buf_printf(out,
               "\nmembers     %" PRId64 " exist, %" PRId64 " needed, %" PRId64 " bound, %" PRId64
               " at bind, %" PRId64 " with a slot\n",
               reply_number(gang, "members"), reply_number(gang, "needed"),
               reply_number(gang, "bound"), reply_number(gang, "held"),
               reply_number(gang, "planned"));
    put_times(gang, out);
    put_order(gang, out);
    put_queue(gang, out);
    put_kept(gang, out);
    put_refusals(gang, out);
    put_express(gang, out);
}

/* ---- minimums ---- */

static void add_unit_name(struct table *t, const json_t *u)
{
    const json_t *group = json_object_get(u, "podGroup");
    const char *subgroup = reply_text(u, "subgroup"), *part = reply_text(u, "part");
    int depth = 2 * (int)reply_number(u, "depth");
    if (!group)
        table_addf(t, "%*sall PodGroups", depth, "");
    else if (*part)
        table_addf(t, "%*spart %s of %s", depth, "", part, subgroup);
    else if (*subgroup)
        table_addf(t, "%*s%s", depth, "", subgroup);
    else
        table_addf(t, "%*s%s/%s", depth, "", reply_text(group, "namespace"),
                   reply_text(group, "name"));
}

static void put_minimums(const json_t *gang, struct buf *out)
{
    static const char *const heads[] = {"PART",    "NEEDED", "EXIST",       "PLANNED",
                                        "AT BIND", "BOUND",  "PARTS NEEDED"};
    const json_t *units = json_object_get(gang, "minimums");
    struct table t;
    size_t i;
    json_t *u;
    if (json_array_size(units) < 2)
        return;
    begin(&t, heads, ARRAY_SIZE(heads));
    json_array_foreach(units, i, u)
    {
        add_unit_name(&t, u);
        add_number(&t, u, "needed");
        add_number(&t, u, "members");
        add_number(&t, u, "planned");
        add_number(&t, u, "held");
        add_number(&t, u, "bound");
        if (reply_number(u, "children"))
            table_addf(&t, "%" PRId64 " of %" PRId64, reply_number(u, "childrenNeeded"),
                       reply_number(u, "children"));
        else
            table_add(&t, "");
    }
    end(&t, out, "Minimums");
}

/* ---- nodes for members ---- */

/* "nvidia.com/gpu: 8 each, 24 free, 8 on one node" */
static void add_short(struct table *t, const json_t *shape)
{
    const json_t *s = json_object_get(shape, "shortage");
    const char *resource = reply_text(s, "resource");
    cleanup_buf struct buf b = BUF_INIT;
    if (s) {
        buf_printf(&b, "%s: ", resource);
        quantity_format(&b, resource, reply_number(s, "perMember"));
        buf_puts(&b, " each, ");
        quantity_format(&b, resource, reply_number(s, "free"));
        buf_puts(&b, " free, ");
        quantity_format(&b, resource, reply_number(s, "largest"));
        buf_puts(&b, " on one node");
    }
    table_add(t, buf_str(&b));
}

/* The number of nodes that these members cannot use, by cause. */
static void add_kept_off(struct table *t, const json_t *shape)
{
    static const struct {
        const char *key, *what;
    } causes[] = {
        {"refused", "refused by kube-scheduler"}, {"interPod", "anti-affinity or spread"},
        {"earmarked", "kept for another gang"},   {"ports", "host ports in use"},
        {"volumes", "volume node affinity"},
    };
    cleanup_buf struct buf b = BUF_INIT;
    for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
        if (reply_number(shape, causes[i].key))
            buf_printf(&b, "%s%" PRId64 " %s", b.len ? ", " : "",
                       reply_number(shape, causes[i].key), causes[i].what);
    table_add(t, buf_str(&b));
}

static void put_waiting(const json_t *gang, struct buf *out)
{
    static const char *const heads[] = {"MEMBERS",    "SUCH AS",    "NODES",
                                        "PASS RULES", "BIG ENOUGH", "HAVE ROOM",
                                        "FIT NOW",    "SHORT OF",   "NODES LOST TO"};
    struct table t;
    size_t i;
    json_t *s;
    bool partly = false;
    begin(&t, heads, ARRAY_SIZE(heads));
    json_array_foreach(json_object_get(gang, "signatures"), i, s)
    {
        partly |= json_is_true(json_object_get(s, "partial"));
        int64_t fit = reply_number(s, "fitNow"), pods = reply_number(s, "pods");
        add_number(&t, s, "pods");
        table_add(&t, reply_text(s, "example"));
        add_number(&t, s, "nodes");
        add_number(&t, s, "passRules");
        add_number(&t, s, "largeEnough");
        add_number(&t, s, "withRoom");
        table_addf(&t, "%" PRId64, fit < pods ? fit : pods);
        add_short(&t, s);
        add_kept_off(&t, s);
    }
    end(&t, out, "Members without a slot, and the nodes for them");
    if (partly)
        buf_puts(out, "… counted on some nodes only (NODES), because a check of all nodes would "
                      "take too long\n");
}

static void put_holders(const json_t *gang, struct buf *out)
{
    static const char *const heads[] = {"AMOUNT", "PODS", "WHO", "RESERVED", "IF IT ENDED"};
    const json_t *holders = json_object_get(gang, "holders");
    const char *resource = reply_text(holders, "resource");
    cleanup_free char *title =
        xasprintf("Largest users of %s on nodes that pass the rules", resource);
    struct table t;
    size_t i;
    json_t *h;
    begin(&t, heads, ARRAY_SIZE(heads));
    json_array_foreach(json_object_get(holders, "largest"), i, h)
    {
        add_amount(&t, resource, reply_number(h, "amount"));
        add_number(&t, h, "pods");
        table_addf(&t, "%s %s/%s", reply_text(h, "kind"), reply_text(h, "namespace"),
                   reply_text(h, "name"));
        if (reply_number(h, "reserved"))
            add_amount(&t, resource, reply_number(h, "reserved"));
        else
            table_add(&t, "");
        table_add(&t, json_is_true(json_object_get(h, "gangFitsWithout")) ? "the gang fits" : "");
    }
    if (reply_number(holders, "others")) {
        add_amount(&t, resource, reply_number(holders, "othersAmount"));
        add_number(&t, holders, "others");
        table_add(&t, "others");
        table_add(&t, "");
        table_add(&t, "");
    }
    end(&t, out, title);
    if (json_is_true(json_object_get(holders, "partial")))
        buf_puts(out, "… counted on some of these nodes only, because they have too many pods\n");
}

/* ---- members, events ---- */

static bool has_node(const json_t *pod)
{
    return *reply_text(pod, "node") != '\0';
}

static void add_member(struct table *t, const json_t *pod)
{
    const char *node = reply_text(pod, "node"), *slot = reply_text(pod, "slot");
    bool deleting = json_is_true(json_object_get(pod, "deleting"));
    table_add(t, reply_text(pod, "name"));
    table_add(t, reply_text(pod, "state"));
    table_add(t, reply_text(pod, "phase"));
    table_add(t, *node ? node : slot);
    table_add(t, deleting ? "is being deleted" : !*node && *slot ? "reserved" : "");
}

/* Members without a node come first, because they are the problem. */
static void put_members(const json_t *gang, struct buf *out)
{
    static const char *const heads[] = {"NAME", "STATE", "PHASE", "NODE", "NOTE"};
    const json_t *pods = json_object_get(gang, "pods");
    size_t shown = 0, i;
    struct table t;
    json_t *p;
    begin(&t, heads, ARRAY_SIZE(heads));
    for (int bound = 0; bound < 2; bound++)
        json_array_foreach(pods, i, p) if (has_node(p) == bound && shown < MEMBERS_SHOWN)
        {
            add_member(&t, p);
            shown++;
        }
    end(&t, out, "Members");
    if (shown < json_array_size(pods))
        buf_printf(out, "… %zu in total (-o json shows all of them)\n", json_array_size(pods));
}

static void put_events(const json_t *gang, struct buf *out)
{
    static const char *const heads[] = {"AGE", "WHAT", "REASON", "TEXT"};
    struct table t;
    size_t i;
    json_t *e;
    begin(&t, heads, ARRAY_SIZE(heads));
    json_array_foreach(json_object_get(gang, "events"), i, e)
    {
        const char *to = reply_text(e, "to");
        cleanup_buf struct buf age = BUF_INIT;
        format_age(&age, reply_text(e, "time"));
        table_add(&t, buf_str(&age));
        table_add(&t, *to ? to : reply_text(e, "kind"));
        table_add(&t, reply_text(e, "reason"));
        table_add(&t, bare_reason(gang, reply_text(e, "text")));
    }
    end(&t, out, "Last events");
}

void explain_text(const json_t *gang, struct buf *out)
{
    put_head(gang, out);
    put_figures(gang, out);
    put_minimums(gang, out);
    put_waiting(gang, out);
    put_holders(gang, out);
    put_members(gang, out);
    put_events(gang, out);
}
