/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random clusters, gangs and events. The world here is the truth (an API server and a scheduler
 * that behaves, forgets, dies and comes again); after every step the core's own invariants are
 * checked, and those that only the truth can tell: no node is given more than it has, no gang is
 * part bound but by a refusal or a loss, every call is answered once, Bindings match the ledger.
 *
 * A failing run prints its seed; MUSTER_SEED=N repeats it, MUSTER_RUNS=N makes more runs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "test/lib/world.h"

enum { NODES = 6, GANGS = 4, MEMBERS = 6, ORDINARY = 4, STEPS = 400 };

struct truth {
    bool exists;
    int serial;    /* of the pod object: its UID */
    int asked_for; /* 1 + node of its last Binding: the same again adds nothing */
    int gpus;
    int group;     /* -1: ordinary */
    int node;      /* bound there; -1 */
    bool told;     /* the watch has shown its present state */
    int sent;      /* node of the Binding under way; -1 */
    uint64_t call; /* bind call open; 0 */
    int asked;     /* node of the last filter answer; -1 */
    enum gang_phase phase;
    bool gated, asleep, port, tolerant;
    int prio, call_node;
    char nominated[8];
};

struct run {
    struct gang_core *core;
    uint64_t random;
    usec_t now;
    uint64_t next_id;
    int node_gpus[NODES]; /* 0: does not exist */
    int group_min[GANGS]; /* -1: does not exist */
    bool excused[GANGS];  /* a loss or a refusal: may be part bound */
    struct truth pods[GANGS * MEMBERS + ORDINARY];
    uint64_t open[GANGS * MEMBERS + ORDINARY];
    bool shrunk[NODES];
    uint64_t labels[NODES];
    struct {
        struct gang_event ev;
        int p;
        int offered[NODES];
        const char *names[NODES + 120];
    } * q;
    size_t n_q;
    bool calm; /* no batches, no faults */
    int step;
    bool loud; /* tell every event (a single seed is repeated) */
};

static uint32_t draw(struct run *r, uint32_t below)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return (uint32_t)((r->random >> 16) % below);
}

static const char *node_name(int n)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5"};
    return names[n];
}

static int node_number(const char *name)
{
    return name[1] - '0';
}

static char *uid_of(const struct run *r, int p)
{
    return xasprintf("u%d-%d", p, r->pods[p].serial);
}

static int find_uid(const struct run *r, const char *uid)
{
    for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++) {
        cleanup_free char *u = uid_of(r, (int)p);
        if (r->pods[p].exists && strcmp(u, uid) == 0)
            return (int)p;
    }
    return -1;
}

static struct gang_pod_facts *facts_of(const struct run *r, int p)
{
    const struct truth *t = &r->pods[p];
    cleanup_free char *name = xasprintf("p%d", p);
    cleanup_free char *group = t->group >= 0 ? xasprintf("g%d", t->group) : NULL;
    struct gang_pod_facts *f = world_pod_facts(name, group, t->gpus);
    free(f->uid);
    f->uid = uid_of(r, p);
    f->node = t->node >= 0 ? xstrdup(node_name(t->node)) : NULL;
    f->phase = t->phase;
    f->priority = t->prio;
    if (t->nominated[0])
        f->nominated = xstrdup(t->nominated);
    if (t->gated) {
        f->gates = xcalloc(1, sizeof(char *));
        f->n_gates = 1;
        f->gates[0] = xstrdup("kueue.x-k8s.io/admission");
    }
    if (t->port) {
        f->host_ports = xcalloc(1, sizeof *f->host_ports);
        f->n_host_ports = 1;
        f->host_ports[0] = (struct gang_port){NULL, xstrdup("TCP"), 80};
    }
    if (t->tolerant) {
        f->tolerations = xcalloc(1, sizeof *f->tolerations);
        f->n_tolerations = 1;
        f->tolerations[0] =
            (struct gang_toleration){.key = xstrdup("x"), .exists = true, .any_effect = true};
    }
    return f;
}

#define fail_run(r, ...)                                                                           \
    do {                                                                                           \
        print_error("step %d: ", (r)->step);                                                       \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

/* ---- what the core asks for ---- */

static int used_gpus(const struct run *r, int node)
{
    int sum = 0;
    for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++) {
        const struct truth *t = &r->pods[p];
        if (t->exists && t->phase < PHASE_SUCCEEDED && (t->node == node || t->sent == node))
            sum += t->gpus;
    }
    return sum;
}

static void see_filter(struct run *r, const struct gang_effect *e, int p, const int *offered)
{
    struct truth *t = &r->pods[p];
    t->asked = -1;
    if (e->filter.error)
        return;
    t->asleep = !e->filter.pass_all && !e->filter.n_passed;
    if (e->filter.pass_all)
        t->asked = offered[0];
    else if (e->filter.n_passed) {
        uint32_t i = e->filter.passed[draw(r, (uint32_t)e->filter.n_passed)];
        t->asked = i < NODES ? offered[i] : -1;
    }
}

static void see_binding(struct run *r, const struct gang_effect *e)
{
    int p = find_uid(r, e->pod.uid), n = node_number(e->pod.node);
    if (p < 0)
        return; /* deleted, and the watch has not said so yet */
    struct truth *t = &r->pods[p];
    if (t->sent >= 0 && t->sent != n)
        fail_run(r, "pod p%d: a second Binding to another node", p);
    if (r->open[p] && t->call_node != n)
        fail_run(r, "p%d: the scheduler asked for n%d, the Binding is to n%d", p, t->call_node, n);
    bool again = t->asked_for == n + 1;
    t->asked_for = n + 1;
    t->sent = n;
    if (!again && t->gpus && r->node_gpus[n] && used_gpus(r, n) > r->node_gpus[n] && t->told &&
        !r->shrunk[n])
        fail_run(r, "node n%d: %d GPUs given of %d", n, used_gpus(r, n), r->node_gpus[n]);
}

static void see_reply(struct run *r, const struct gang_effect *e)
{
    for (size_t p = 0; p < ARRAY_SIZE(r->open); p++)
        if (r->open[p] == e->bind_reply.id) {
            r->open[p] = 0;
            /* "" tells the scheduler that the pod is bound: it must be true. */
            if (!e->bind_reply.error[0] && r->pods[p].exists && r->pods[p].node < 0)
                fail_run(r, "the bind call of p%zu was answered as success, it is not bound", p);
            return;
        }
    fail_run(r, "I3: an answer to a call that is not open");
}

static void narrate(const struct run *r, const struct gang_event *ev)
{
    print_message("%4d %8.3f %s", r->step, (double)r->now / 1e6, gang_event_name(ev->kind));
    if (ev->kind == GANG_EV_POD_SET || ev->kind == GANG_EV_FILTER)
        print_message(" %s/%s node %s group %s", ev->pod->name, ev->pod->uid,
                      ev->pod->node ? ev->pod->node : "-",
                      ev->pod->group.name ? ev->pod->group.name : "-");
    else if (ev->kind == GANG_EV_BIND)
        print_message(" %s@%s", ev->bind.uid, ev->bind.node);
    else if (ev->kind == GANG_EV_BIND_DONE || ev->kind == GANG_EV_POD_READ)
        print_message(" %s@%s outcome %d", ev->result.uid, ev->result.node, ev->result.outcome);
    else if (ev->kind == GANG_EV_GROUP_SET)
        print_message(" %s min %d", ev->group->ref.name, (int)ev->group->min_member);
    else if (ev->kind == GANG_EV_NODE_SET)
        print_message(" %s gpus %d%s", ev->node->name,
                      (int)gang_amounts_get(&ev->node->allocatable, "nvidia.com/gpu"),
                      ev->node->unschedulable ? " cordoned" : "");
    else if (ev->kind == GANG_EV_NODE_GONE || ev->kind == GANG_EV_POD_GONE ||
             ev->kind == GANG_EV_GROUP_GONE)
        print_message(" %s", ev->gone.name);
    print_message("\n");
}

struct cmp {
    struct run *r;
    int node;
};
static void cmp_amount(void *arg, const char *resource, int64_t all, int64_t used, int64_t reserved)
{
    (void)all;
    (void)reserved;
    struct cmp *c = arg;
    if (strcmp(resource, "nvidia.com/gpu") == 0 && used != used_gpus(c->r, c->node))
        fail_run(c->r, "ledger: n%d used %d, truth %d", c->node, (int)used,
                 used_gpus(c->r, c->node));
}
static void wake_all(struct run *r)
{
    if (r->calm && getenv("NOWAKE"))
        return;
    for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++)
        r->pods[p].asleep = false;
}
static void flush(struct run *r)
{
    if (!r->n_q)
        return;
    r->step++;
    struct gang_event ev[64];
    for (size_t i = 0; i < r->n_q; i++) {
        ev[i] = r->q[i].ev;
        if (ev[i].kind == GANG_EV_FILTER)
            ev[i].names = r->q[i].names;
        if (r->loud)
            narrate(r, &ev[i]);
    }
    size_t n, n_q = r->n_q;
    r->n_q = 0;
    const struct gang_effect *e = gang_step(r->core, r->now, ev, n_q, &n);
    for (size_t i = 0; i < n; i++) {
        if (e[i].kind == GANG_REPLY_FILTER) {
            for (size_t k = 0; k < n_q; k++)
                if (ev[k].kind == GANG_EV_FILTER && ev[k].id == e[i].filter.id)
                    see_filter(r, &e[i], r->q[k].p, r->q[k].offered);
        } else if (e[i].kind == GANG_BIND) {
            if (r->loud)
                print_message("        BIND %s@%s\n", e[i].pod.uid, e[i].pod.node);
            see_binding(r, &e[i]);
        } else if (e[i].kind == GANG_REPLY_BIND) {
            if (r->loud)
                print_message("        REPLY %d '%s'\n", (int)e[i].bind_reply.id,
                              e[i].bind_reply.error);
            for (size_t p = 0; p < ARRAY_SIZE(r->open); p++)
                if (r->open[p] == e[i].bind_reply.id && !e[i].bind_reply.error[0] &&
                    r->pods[p].exists && r->pods[p].node < 0)
                    fail_run(r, "success answered for p%d, which is not bound", (int)p);
            see_reply(r, &e[i]);
        } else if (e[i].kind == GANG_NOMINATE) {
            int p = find_uid(r, e[i].pod.uid);
            if (r->loud)
                print_message("        NOMINATE %s@%s\n", e[i].pod.uid,
                              e[i].pod.node ? e[i].pod.node : "-");
            if (p >= 0) {
                snprintf(r->pods[p].nominated, 8, "%s", e[i].pod.node ? e[i].pod.node : "");
                r->pods[p].asleep = false;
            }
        }
    }
    for (size_t i = 0; i < n_q; i++)
        gang_event_done(&ev[i]);
    struct err err;
    if (gang_core_check(r->core, &err) < 0)
        fail_run(r, "%s", err.text);
    for (int i = 0; i < NODES; i++) {
        struct cmp c = {r, i};
        if (r->node_gpus[i] && gang_core_synced(r->core))
            gang_core_each_amount(r->core, node_name(i), cmp_amount, &c);
    }
}
static void step(struct run *r, struct gang_event ev, int p, const int *offered)
{
    r->q[r->n_q].ev = ev;
    r->q[r->n_q].p = p;
    if (ev.kind == GANG_EV_FILTER)
        for (size_t i = 0; i < ev.n_names; i++) {
            r->q[r->n_q].names[i] = ev.names[i];
            if (i < NODES)
                r->q[r->n_q].offered[i] = offered[i];
        }
    r->n_q++;
    if (ev.kind == GANG_EV_NODE_SET || ev.kind == GANG_EV_POD_GONE || ev.kind == GANG_EV_POD_SET ||
        ev.kind == GANG_EV_NODE_GONE)
        wake_all(r);
    bool call = ev.kind == GANG_EV_FILTER || ev.kind == GANG_EV_BIND ||
                ev.kind == GANG_EV_BIND_DONE || ev.kind == GANG_EV_POD_READ ||
                ev.kind == GANG_EV_TICK || ev.kind == GANG_EV_STOP;
    if (r->calm || call || r->n_q >= 12 || draw(r, 3) == 0)
        flush(r);
}

/* ---- what happens ---- */

static void do_node(struct run *r)
{
    int n = (int)draw(r, NODES);
    int gpus = draw(r, 3) ? 1 + (int)draw(r, 4) : 0;
    r->shrunk[n] = gpus && gpus < used_gpus(r, n);
    if (!gpus) {
        if (!r->node_gpus[n] || used_gpus(r, n) || r->n_q)
            return;
        r->node_gpus[n] = 0;
        step(r,
             (struct gang_event){.kind = GANG_EV_NODE_GONE,
                                 .gone = {NULL, NULL, xstrdup(node_name(n))}},
             -1, NULL);
        return;
    }
    r->node_gpus[n] = gpus;
    struct gang_node_facts *f = world_gpu_node(node_name(n), gpus);
    f->unschedulable = draw(r, 8) == 0;
    step(r, (struct gang_event){.kind = GANG_EV_NODE_SET, .node = f}, -1, NULL);
}

static void do_group(struct run *r)
{
    int g = (int)draw(r, GANGS);
    cleanup_free char *name = xasprintf("g%d", g);
    r->excused[g] = true; /* a minimum that moves makes another gang of it */
    if (r->group_min[g] >= 0 && draw(r, 3) == 0) {
        r->group_min[g] = -1;
        step(r,
             (struct gang_event){.kind = GANG_EV_GROUP_GONE,
                                 .gone = {xstrdup("test"), xstrdup("default"), xstrdup(name)}},
             -1, NULL);
        return;
    }
    r->group_min[g] = (int)draw(r, MEMBERS + 2);
    struct gang_group_facts *f = gang_group_facts_new();
    f->ref = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(name)};
    f->uid = xasprintf("uid-%s", name);
    f->min_member = r->group_min[g];
    f->schedule_timeout = SECONDS(10 + draw(r, 60));
    step(r, (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f}, -1, NULL);
}

static void show_pod(struct run *r, int p)
{
    r->pods[p].told = true;
    step(r, (struct gang_event){.kind = GANG_EV_POD_SET, .pod = facts_of(r, p)}, -1, NULL);
}

static void do_create(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (t->exists)
        return;
    *t = (struct truth){.exists = true,
                        .serial = t->serial + 1,
                        .gpus = (int)draw(r, 3),
                        .gated = draw(r, 12) == 0,
                        .port = draw(r, 10) == 0,
                        .prio = (int)draw(r, 3),
                        .group = p < GANGS * MEMBERS ? p / MEMBERS : -1,
                        .node = -1,
                        .sent = -1,
                        .asked = -1};
    if (draw(r, 4))
        show_pod(r, p);
}

static void do_delete(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || !t->told)
        return;
    if (t->group >= 0)
        r->excused[t->group] = true;
    t->exists = false;
    cleanup_free char *name = xasprintf("p%d", p);
    step(r,
         (struct gang_event){.kind = GANG_EV_POD_GONE,
                             .gone = {NULL, xstrdup("default"), xstrdup(name)}},
         -1, NULL);
}

static void do_finish(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || t->node < 0)
        return;
    t->phase = t->phase == PHASE_PENDING ? PHASE_RUNNING
               : draw(r, 4)              ? PHASE_SUCCEEDED
                                         : PHASE_FAILED;
    if (t->phase == PHASE_FAILED && t->group >= 0)
        r->excused[t->group] = true;
    show_pod(r, p);
}

/* The scheduler's own filters: nodes that exist and have room by its own count. */
static void do_filter(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || t->node >= 0 || t->sent >= 0 || r->open[p] || t->gated || t->asleep)
        return;
    const char *names[NODES + 120];
    int offered[NODES] = {-1, -1, -1, -1, -1, -1}; /* strangers are nobody's */
    size_t n = 0;
    for (int i = 0; i < NODES; i++)
        if (r->node_gpus[i] - used_gpus(r, i) >= t->gpus && r->node_gpus[i] &&
            (r->calm || draw(r, 10))) {
            names[n] = node_name(i);
            offered[n++] = i;
        }
    if (!n)
        return;
    struct gang_pod_facts *f = facts_of(r, p);
    if (t->nominated[0]) {
        for (size_t i = 0; i < n; i++)
            if (strcmp(names[i], t->nominated) == 0 &&
                n > 1) { /* the nomination's own call first */
                const char *one[1] = {names[i]};
                int off[1] = {offered[i]};
                step(r,
                     (struct gang_event){.kind = GANG_EV_FILTER,
                                         .id = ++r->next_id,
                                         .pod = facts_of(r, p),
                                         .names = one,
                                         .n_names = 1},
                     p, off);
                if (t->asked >= 0 || !t->exists) {
                    gang_pod_facts_free(f);
                    return;
                }
                break;
            }
        if (t->asleep)
            t->nominated[0] = 0;
    }
    if (!r->calm && draw(r, 6) == 0)
        for (int i = 0; i < 110; i++)
            names[n++] = "stranger";
    step(r,
         (struct gang_event){
             .kind = GANG_EV_FILTER, .id = ++r->next_id, .pod = f, .names = names, .n_names = n},
         p, offered);
}

static void do_bind(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || t->node >= 0 || r->open[p])
        return;
    int n = r->calm || draw(r, 20) ? t->asked
                                   : (int)draw(r, NODES); /* sometimes what nobody answered */
    if (n < 0)
        return;
    t->asked = -1;
    t->nominated[0] = 0;
    t->call_node = n;
    r->open[p] = ++r->next_id;
    step(r,
         (struct gang_event){.kind = GANG_EV_BIND,
                             .id = r->open[p],
                             .bind = {xstrdup("default"), xasprintf("p%d", p), uid_of(r, p),
                                      xstrdup(node_name(n))}},
         p, NULL);
}

static void do_result(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || t->sent < 0)
        return;
    uint32_t how = r->calm ? 0 : draw(r, 10);
    struct gang_event ev = {.kind = draw(r, 4) ? GANG_EV_BIND_DONE : GANG_EV_POD_READ};
    ev.result.uid = uid_of(r, p);
    ev.result.node = xstrdup(node_name(t->sent));
    ev.result.outcome = how < 6 ? OUTCOME_OK : how < 8 ? OUTCOME_UNCLEAR : OUTCOME_REFUSED;
    if (ev.result.outcome == OUTCOME_OK) {
        t->node = t->sent;
        t->sent = -1;
        t->told = true;
        wake_all(r);
    } else if (ev.result.outcome == OUTCOME_REFUSED) {
        if (t->group >= 0)
            r->excused[t->group] = true;
        t->sent = -1;
    }
    step(r, ev, -1, NULL);
}

static void see_state(void *arg, const struct gang_view *v)
{
    char *out = arg; /* states by gang number */
    out[v->status.ref->name[1] - '0'] = (char)v->status.state;
}
static void do_change(struct run *r, int p)
{
    struct truth *t = &r->pods[p];
    if (!t->exists || !t->told)
        return;
    if (t->gated) {
        t->gated = false;
        show_pod(r, p);
        return;
    }
    if (getenv("SHAPES") && t->node < 0 && t->sent < 0) {
        t->tolerant = !t->tolerant;
        show_pod(r, p);
        return;
    }
    if (getenv("RELINK") && t->node < 0 && t->sent < 0 && t->group >= 0) {
        r->excused[t->group] = true;
        /* groups own their pods by number here: only out and in again */
    }
    show_pod(r, p); /* a duplicate */
}
/* muster is killed and started again: everything is rebuilt from the API. */
static void do_restart(struct run *r)
{
    flush(r);
    gang_core_free(r->core);
    struct gang_config config = gang_config_default();
    r->core = gang_core_new(&config);
    r->step++;
    if (r->loud)
        print_message("%4d restart\n", r->step);
    struct gang_event ev[64];
    size_t n = 0;
    for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++) {
        struct truth *t = &r->pods[p];
        r->open[p] = 0;
        if (!t->exists)
            continue;
        if (t->sent >= 0) {
            if (draw(r, 2))
                t->node = t->sent;
            t->sent = -1;
            if (t->group >= 0)
                r->excused[t->group] = true;
        }
        t->told = true;
        ev[n++] = (struct gang_event){.kind = GANG_EV_POD_SET, .pod = facts_of(r, (int)p)};
    }
    for (int i = 0; i < NODES; i++)
        if (r->node_gpus[i])
            ev[n++] = (struct gang_event){.kind = GANG_EV_NODE_SET,
                                          .node = world_gpu_node(node_name(i), r->node_gpus[i])};
    for (int g = 0; g < GANGS; g++)
        if (r->group_min[g] >= 0) {
            cleanup_free char *name = xasprintf("g%d", g);
            struct gang_group_facts *f = gang_group_facts_new();
            f->ref = (struct gang_ref){xstrdup("test"), xstrdup("default"), xstrdup(name)};
            f->uid = xasprintf("uid-%s", name);
            f->min_member = r->group_min[g];
            f->schedule_timeout = SECONDS(20);
            ev[n++] = (struct gang_event){.kind = GANG_EV_GROUP_SET, .group = f};
            int bound = 0;
            for (int p = g * MEMBERS; p < (g + 1) * MEMBERS; p++)
                bound += r->pods[p].exists && r->pods[p].node >= 0;
            if (bound && bound < r->group_min[g])
                r->excused[g] = true;
        }
    for (size_t i = n; i > 1; i--) {
        size_t k = draw(r, (uint32_t)i);
        struct gang_event x = ev[i - 1];
        ev[i - 1] = ev[k];
        ev[k] = x;
    }
    for (size_t i = 0; i < n; i++)
        step(r, ev[i], -1, NULL);
    flush(r);
    step(r, (struct gang_event){.kind = GANG_EV_SYNCED}, -1, NULL);
    flush(r);
}
/* Everything works from now on: whatever fits must come to an end. */
static void settle(struct run *r)
{
    flush(r);
    r->calm = true;
    for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++)
        if (r->pods[p].exists && (!r->pods[p].told || r->pods[p].gated)) {
            r->pods[p].gated = false;
            show_pod(r, (int)p);
        }
    for (int i = 0; i < NODES; i++) { /* no cordons, no shrunk nodes */
        int gpus = r->node_gpus[i] > used_gpus(r, i) ? r->node_gpus[i] : used_gpus(r, i);
        r->node_gpus[i] = gpus ? gpus : 1;
        r->shrunk[i] = false;
        step(r,
             (struct gang_event){.kind = GANG_EV_NODE_SET,
                                 .node = world_gpu_node(node_name(i), r->node_gpus[i])},
             -1, NULL);
    }
    for (int round = 0; round < 400; round++) {
        for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++)
            do_filter(r, (int)p);
        for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++)
            if (r->pods[p].asked >= 0)
                do_bind(r, (int)p);
        for (size_t p = 0; p < ARRAY_SIZE(r->pods); p++)
            do_result(r, (int)p);
        usec_t to = r->now + SECONDS(2), next;
        while ((next = gang_core_next(r->core)) <= to) {
            if (next > r->now)
                r->now = next;
            step(r, (struct gang_event){.kind = GANG_EV_TICK}, -1, NULL);
        }
        r->now = to;
        step(r, (struct gang_event){.kind = GANG_EV_TICK}, -1, NULL);
    }
    char states[GANGS];
    memset(states, 0, sizeof states);
    gang_core_each_gang(r->core, see_state, states);
    for (int g = 0; g < GANGS; g++) {
        if (r->group_min[g] < 0)
            continue;
        int have = 0, bound = 0, fit = 0, need = r->group_min[g] ? r->group_min[g] : 1,
            freeg[NODES];
        for (int i = 0; i < NODES; i++)
            freeg[i] = r->node_gpus[i] - used_gpus(r, i);
        for (int want = 2; want >= 0; want--)
            for (int p = g * MEMBERS; p < (g + 1) * MEMBERS; p++) {
                struct truth *t = &r->pods[p];
                if (!t->exists || t->phase == PHASE_FAILED || t->port || t->gpus != want)
                    continue;
                have++;
                if (t->node >= 0 || t->phase == PHASE_SUCCEEDED) {
                    bound++;
                    continue;
                }
                for (int i = 0; i < NODES; i++)
                    if (freeg[i] >= t->gpus) {
                        freeg[i] -= t->gpus;
                        fit++;
                        break;
                    }
            }
        if (have >= need && states[g] != GANG_PLACED && bound < need && bound + fit >= need)
            fail_run(r, "stuck: gang g%d %s: %d members, %d bound, %d fit, %d needed", g,
                     gang_state_name((enum gang_state)states[g]), have, bound, fit, need);
        bool placed = states[g] == GANG_PLACED;
        for (int p = g * MEMBERS; placed && p < (g + 1) * MEMBERS; p++) {
            struct truth *t = &r->pods[p];
            for (int i = 0;
                 i < NODES && t->exists && !t->port && t->node < 0 && t->phase < PHASE_SUCCEEDED;
                 i++)
                if (r->node_gpus[i] - used_gpus(r, i) >= t->gpus && !getenv("NOEXTRA"))
                    fail_run(r, "extra p%d of placed g%d sleeps though n%d has room (asleep %d)", p,
                             g, i, t->asleep);
        }
    }
    for (int p = GANGS * MEMBERS; p < GANGS * MEMBERS + ORDINARY; p++) {
        struct truth *t = &r->pods[p];
        for (int i = 0;
             i < NODES && t->exists && !t->port && t->node < 0 && t->phase < PHASE_SUCCEEDED; i++)
            if (r->node_gpus[i] - used_gpus(r, i) >= t->gpus)
                fail_run(r, "ordinary p%d sleeps though n%d has room (asleep %d)", p, i, t->asleep);
    }
}
static void do_close(struct run *r, int p)
{
    if (r->open[p])
        step(r, (struct gang_event){.kind = GANG_EV_CALL_CLOSED, .id = r->open[p]}, -1, NULL);
}

static void do_time(struct run *r)
{
    usec_t next = gang_core_next(r->core);
    usec_t pause = draw(r, 3) ? (usec_t)draw(r, 2000000) : SECONDS(draw(r, 30));
    usec_t to = r->now + pause;
    while (next <= to) { /* the loop never lets a deadline pass */
        r->now = next > r->now ? next : r->now;
        step(r, (struct gang_event){.kind = GANG_EV_TICK}, -1, NULL);
        usec_t again = gang_core_next(r->core);
        if (again == next)
            fail_run(r, "the core asks for the same moment again");
        next = again;
    }
    r->now = to;
    step(r, (struct gang_event){.kind = GANG_EV_TICK}, -1, NULL);
}

/* I1, by the truth: nothing in flight, part bound, and nobody to blame. */
static void check_whole(struct run *r)
{
    for (int g = 0; g < GANGS; g++) {
        int bound = 0, sent = 0;
        for (int p = g * MEMBERS; p < (g + 1) * MEMBERS; p++) {
            bound += r->pods[p].exists && r->pods[p].node >= 0;
            sent += r->pods[p].exists && r->pods[p].sent >= 0;
        }
        if (bound == 0 && sent == 0)
            r->excused[g] = false;
        if (!r->excused[g] && r->group_min[g] >= 0 && bound + sent > 0 &&
            bound + sent < r->group_min[g])
            fail_run(r, "I1: gang g%d has %d of %d bound", g, bound + sent, r->group_min[g]);
    }
}

static void one_event(struct run *r)
{
    if (r->n_q && draw(r, 2))
        flush(r);
    int p = (int)draw(r, ARRAY_SIZE(r->pods));
    uint32_t what = draw(r, 100);
    if (what < 3)
        do_node(r);
    else if (what < 5)
        do_group(r);
    else if (what < 17)
        do_create(r, p);
    else if (what < 20)
        do_delete(r, p);
    else if (what < 23)
        do_finish(r, p);
    else if (what < 60)
        do_filter(r, p);
    else if (what < 80)
        do_bind(r, p);
    else if (what < 90)
        do_result(r, p);
    else if (what < 92)
        do_close(r, p);
    else if (what < 95 && r->pods[p].exists && !r->pods[p].told)
        show_pod(r, p);
    else if (what < 98)
        do_time(r);
    else if (what < 99)
        do_change(r, p);
    else if (draw(r, 3) == 0 && !getenv("NORESTART"))
        do_restart(r);
    if (!r->n_q)
        check_whole(r);
}

static void run_seed(uint64_t seed)
{
    struct gang_config config = gang_config_default();
    if (seed % 2)
        config.assemble = 0;
    struct run r = {.core = gang_core_new(&config),
                    .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                    .now = SECONDS(1),
                    .q = xcalloc(64, sizeof *r.q),
                    .loud = getenv("MUSTER_SEED") != NULL};
    for (int g = 0; g < GANGS; g++)
        r.group_min[g] = -1;
    for (int i = 0; i < 4; i++)
        do_node(&r);
    for (int i = 0; i < 4; i++)
        do_group(&r);
    step(&r, (struct gang_event){.kind = GANG_EV_SYNCED}, -1, NULL);
    flush(&r);
    for (int i = 0; i < STEPS; i++)
        one_event(&r);
    settle(&r);
    step(&r, (struct gang_event){.kind = GANG_EV_STOP}, -1, NULL);
    for (size_t p = 0; p < ARRAY_SIZE(r.open); p++)
        if (r.open[p])
            fail_run(&r, "I3: the call of p%zu was never answered", p);
    gang_core_free(r.core);
    free(r.q);
}

static uint64_t from_env(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t running;

static int show_seed(void **state)
{
    (void)state;
    print_message("last seed: MUSTER_SEED=%" PRIu64 "\n", running);
    return 0;
}

static void invariants_hold_over_random_events(void **state)
{
    (void)state;
    uint64_t first = from_env("MUSTER_SEED", 1), runs = from_env("MUSTER_RUNS", 500);
    if (getenv("MUSTER_SEED") && !getenv("MUSTER_RUNS"))
        runs = 1;
    for (running = first; running < first + runs; running++)
        run_seed(running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(invariants_hold_over_random_events, show_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
