/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/grouper_internal.h"

#include "base/log.h"
#include "k8s/decode.h"
#include "k8s/field.h"

/* Pods looked at before the network has its turn again. */
#define AT_ONCE 32

#define RETRY    (2 * USEC_PER_SEC)
#define LOOK     (15 * USEC_PER_SEC)
#define PATIENCE (30 * USEC_PER_SEC)
/* Objects that events were sent about. */
#define MAX_TOLD 4096
/* Each pod of an owner may have a sentence of its own: another event only after so many times the
 * patience. */
#define TOLD_AGAIN 20

/* The last event about an object. */
struct told {
    usec_t at;
    char text[];
};

/* ---- searches ---- */

static void on_owner(struct owner_wait *wait)
{
    search_again(CONTAINER_OF(wait, struct search, wait));
}

void search_init(struct search *s, struct grouper *g, const char *ns)
{
    s->g = g;
    s->ns = ns;
    s->wait.ready = on_owner;
    list_init(&s->link);
    list_init(&s->wait.link);
}

void search_again(struct search *s)
{
    list_remove(&s->link);
    list_remove(&s->wait.link);
    list_push(&s->g->queue, &s->link);
    grouper_pump_soon(s->g);
}

void search_start(struct search *s, char *pod)
{
    free(s->pod);
    s->pod = pod;
    search_again(s);
}

void search_park(struct search *s)
{
    grouper_look_later(s->g);
    list_remove(&s->link);
    list_push(&s->g->stuck, &s->link);
}

void search_end(struct search *s)
{
    free(STEAL(s->pod));
    list_remove(&s->link);
    list_remove(&s->wait.link);
}

/* From the pod up. */
struct way {
    const json_t *chain[WORKLOAD_MAX_CHAIN + 1]; /* one more than there may be */
    size_t n;
    json_t *reference; /* the last one, where it is no more than that; owned */
};

enum climbed { WAY_WHOLE, WAY_WAITS, WAY_ALONE };

/* A kind that has no rule but the default one: the reference to it says enough. */
static bool needs_no_object(const struct workload_rules *rules, const struct workload_ref *ref)
{
    return !workload_plural(ref->api_version, ref->kind) &&
           !workload_scales(rules, ref->api_version, ref->kind);
}

static json_t *as_object(const struct workload_ref *ref, const char *ns)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", ref->api_version, "kind",
                     ref->kind, "metadata", "name", ref->name, "namespace", ns, "uid", ref->uid);
}

static enum climbed owner_unknown(struct search *s, struct way *way, enum owner_state state,
                                  const struct workload_ref *ref, const char *why)
{
    const struct workload_rules *rules = s->g->o.rules;
    if (state == OWNER_COMING)
        return WAY_WAITS;
    /* An owner that cannot be read asks for nothing; where the pod itself does, it waits. */
    if (state == OWNER_DENIED && workload_judge(rules, way->chain[0]) == WORKLOAD_OWNER)
        return WAY_ALONE;
    bool can_be = !list_empty(&s->wait.link);
    if (state == OWNER_DENIED && can_be && needs_no_object(rules, ref)) {
        list_remove(&s->wait.link);
        way->reference = as_object(ref, s->ns);
        way->chain[way->n++] = way->reference;
        return WAY_WHOLE;
    }
    api_metrics_count(s->g->o.metrics, "podgroup_failures_total", "step", "owner");
    if (!can_be)
        search_park(s);
    s->stuck(s, why);
    return WAY_WAITS;
}

static enum climbed climb(struct search *s, struct way *way)
{
    const struct workload_rules *rules = s->g->o.rules;
    struct workload_ref ref;
    while (way->n < ARRAY_SIZE(way->chain) && workload_owner(rules, way->chain[way->n - 1], &ref)) {
        const char *why = NULL;
        const json_t *object;
        enum owner_state state = owners_find(s->g->owners, s->ns, &ref, &s->wait, &object, &why);
        enum climbed r = WAY_WHOLE;
        if (state == OWNER_KNOWN)
            way->chain[way->n++] = object;
        else
            r = owner_unknown(s, way, state, &ref, why);
        workload_ref_done(&ref);
        if (r != WAY_WHOLE)
            return r;
    }
    return WAY_WHOLE;
}

static void look(struct search *s, struct way *way)
{
    struct workload_group group;
    struct err err;
    enum climbed climbed = climb(s, way);
    if (climbed == WAY_WAITS)
        return;
    int r =
        climbed == WAY_ALONE ? 1 : workload_group(s->g->o.rules, way->chain, way->n, &group, &err);
    if (r > 0) {
        list_remove(&s->wait.link);
        s->none(s);
    } else if (r < 0) {
        api_metrics_count(s->g->o.metrics, "podgroup_failures_total", "step", "rule");
        search_park(s);
        s->stuck(s, err.text);
    } else {
        s->found(s, &group);
        workload_group_done(&group);
    }
}

static void search_step(struct search *s)
{
    cleanup_json json_t *pod = json_loads(s->pod, 0, NULL);
    struct way way = {.chain = {pod}, .n = 1};
    look(s, &way);
    json_decref(way.reference);
}

/* ---- newcomers ---- */

static char *key_of(const char *ns, const char *name)
{
    return xasprintf("%s/%s", ns, name);
}

static struct newcomer *find(const struct grouper *g, const char *ns, const char *name)
{
    cleanup_free char *key = key_of(ns, name);
    return map_get(&g->newcomers, key);
}

static void newcomer_free(struct newcomer *n)
{
    search_end(&n->search);
    errand_drop(&n->link);
    list_remove(&n->in_made);
    list_remove(&n->dead);
    free(n->key);
    free(n->ns);
    free(n->name);
    free(n->uid);
    free(n->text);
    free(n->group.api_group);
    free(n->group.ns);
    free(n->group.name);
    free(n->role);
    free(n);
}

/* It is none of ours any more. */
static void dismiss(struct newcomer *n)
{
    struct grouper *g = n->search.g;
    map_remove(&g->newcomers, n->key);
    search_end(&n->search);
    list_remove(&n->in_made);
    list_push(&g->dead_newcomers, &n->dead);
    grouper_pump_soon(g);
}

/* Shows the pod with what is known of it now. */
static void show(struct newcomer *n, json_t *pod)
{
    struct grouper *g = n->search.g;
    g->showing = n;
    g->o.show(g->o.arg, pod);
    g->showing = NULL;
}

static void show_again(struct newcomer *n)
{
    cleanup_json json_t *pod = json_loads(n->search.pod, 0, NULL);
    show(n, pod);
}

bool grouper_ref(const json_t *reference, struct workload_ref *ret)
{
    static const char *const keys[] = {"apiVersion", "kind", "name", "uid"};
    char *of[ARRAY_SIZE(keys)];
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!(of[i] = (char *)(uintptr_t)field_peek(reference, keys[i], NULL)))
            return false;
    *ret = (struct workload_ref){of[0], of[1], of[2], of[3]};
    return true;
}

const json_t *grouper_first_owner(const json_t *object)
{
    const json_t *owners = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    return json_array_get(owners, 0);
}

/* What owns the pod, or the pod itself; borrowed. */
static bool culprit(const json_t *pod, struct workload_ref *ret)
{
    static char version[] = "v1", kind[] = "Pod";
    const json_t *owner = grouper_first_owner(pod);
    if (owner)
        return grouper_ref(owner, ret);
    *ret = (struct workload_ref){version, kind,
                                 (char *)(uintptr_t)field_peek(pod, "metadata", "name", NULL),
                                 (char *)(uintptr_t)field_peek(pod, "metadata", "uid", NULL)};
    return ret->name && ret->uid;
}

static void newcomer_stuck(struct search *s, const char *why)
{
    struct newcomer *n = CONTAINER_OF(s, struct newcomer, search);
    struct grouper *g = s->g;
    char *text = xasprintf("its PodGroup cannot be made: %s", why);
    bool news = !str_eq(text, n->text);
    free(n->text);
    n->text = text;
    if (news)
        show_again(n);
    if (usec_now() - n->since < g->o.patience)
        return;
    cleanup_json json_t *pod = json_loads(s->pod, 0, NULL);
    struct workload_ref about;
    if (culprit(pod, &about))
        grouper_complain(g, n->ns, &about, why);
}

static void newcomer_none(struct search *s)
{
    struct newcomer *n = CONTAINER_OF(s, struct newcomer, search);
    n->state = NEWCOMER_ALONE;
    free(STEAL(n->text));
    show_again(n);
    search_end(s);
}

static void set_group(struct newcomer *n, const struct gang_ref *ref, const char *role)
{
    struct gang_ref *g = &n->group;
    free(g->api_group);
    free(g->ns);
    free(g->name);
    free(n->role);
    *g = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    n->role = xstrdup_null(role);
}

static void newcomer_found(struct search *s, const struct workload_group *group)
{
    struct newcomer *n = CONTAINER_OF(s, struct newcomer, search);
    struct grouper *g = s->g;
    const struct dialect *d = dialect_of_objects(group->api_group);
    if (!d || !grouper_is_ready(g, d)) {
        search_park(s); /* until they are listed */
        return;
    }
    if (!groups_served(g->o.groups, d->api_group)) {
        cleanup_free char *why = xasprintf(
            "PodGroups of %s are not served; install their CRD, or set podGroupDialect to one that "
            "is",
            d->api_group);
        search_park(s);
        newcomer_stuck(s, why);
        return;
    }
    const struct gang_ref ref = {(char *)(uintptr_t)d->api_group, n->ns, group->name};
    const char *why = NULL;
    enum made_answer answer = made_need(n, d, &ref, group, &why);
    if (answer == MADE_FAILING)
        newcomer_stuck(s, why);
    if (answer != MADE_THERE)
        return;
    set_group(n, &ref, group->role);
    n->state = NEWCOMER_LINKS;
    errand_put(&n->link);
}

/* ---- links ---- */

static void link_send(struct errand *e)
{
    const struct newcomer *n = CONTAINER_OF(e, struct newcomer, link);
    const struct dialect *d = dialect_of_objects(n->group.api_group);
    cleanup_json json_t *patch = made_link(d, n->uid, n->group.name, n->role);
    cleanup_free char *text = json_dumps(patch, JSON_COMPACT);
    cleanup_buf struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/namespaces/");
    client_escape(&path, n->ns);
    buf_puts(&path, "/pods/");
    client_escape(&path, n->name);
    buf_puts(&path, "?fieldManager=muster");
    errand_send(e, &(struct client_request){.verb = "patch",
                                            .resource = "pods",
                                            .method = "PATCH",
                                            .path = buf_str(&path),
                                            .content_type = "application/merge-patch+json",
                                            .body = text,
                                            .timeout = GROUPER_TIMEOUT,
                                            .max_body = GROUPER_MAX_BODY});
}

static void link_failed(struct newcomer *n, const struct client_reply *reply)
{
    struct grouper *g = n->search.g;
    struct err err;
    client_reply_error(reply, &err);
    api_metrics_count(g->o.metrics, "podgroup_failures_total", "step", "link");
    bool forbidden = client_reply_unauthorized(reply);
    if (forbidden && !g->link_forbidden)
        log_error("the API server does not let muster link pods to the PodGroups it makes; grant "
                  "the missing rule",
                  "rule", "patch pods", "error", err.text, NULL);
    g->link_forbidden = forbidden;
    cleanup_free char *why = forbidden
                                 ? xstrdup("it may not be linked to it: grant muster patch of pods")
                                 : xasprintf("it cannot be linked to it: %s", err.text);
    newcomer_stuck(&n->search, why);
    errand_again(&n->link, g->o.retry, GROUPER_MOST);
}

static void link_done(struct errand *e, const struct client_reply *reply)
{
    struct newcomer *n = CONTAINER_OF(e, struct newcomer, link);
    if (!list_empty(&n->dead))
        return;
    cleanup_json json_t *pod =
        client_ok(reply) ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
    if (pod) {
        n->state = NEWCOMER_LINKED;
        n->search.g->link_forbidden = false;
        search_end(&n->search);
        show(n, pod);
    } else if (!reply->error && (reply->status == 404 || reply->status == 409)) {
        dismiss(n); /* gone, or another one under its name: the watch will show it */
    } else {
        link_failed(n, reply);
    }
}

/* ---- what the watch shows ---- */

static struct newcomer *newcomer_new(struct grouper *g, const struct gang_pod_facts *f)
{
    struct newcomer *n = xcalloc(1, sizeof *n);
    n->ns = xstrdup(f->ns);
    n->name = xstrdup(f->name);
    n->uid = xstrdup(f->uid);
    n->key = key_of(f->ns, f->name);
    n->since = usec_now();
    n->text = xstrdup(f->awaits_group);
    list_init(&n->dead);
    list_init(&n->in_made);
    search_init(&n->search, g, n->ns);
    n->search.found = newcomer_found;
    n->search.none = newcomer_none;
    n->search.stuck = newcomer_stuck;
    errand_init(&n->link, g->errands, ERRAND_LINK, n->ns, link_send, link_done);
    map_set(&g->newcomers, n->key, n);
    return n;
}

/* About 3 kB: as text, for the tree takes ten times that. */
static char *pod_text(const json_t *pod)
{
    cleanup_json json_t *copy = json_copy((json_t *)(uintptr_t)pod);
    json_t *metadata = json_copy(json_object_get(pod, "metadata"));
    json_object_del(metadata, "managedFields");
    json_object_set_new(copy, "metadata", metadata);
    return json_dumps(copy, JSON_COMPACT);
}

void grouper_overlay(struct grouper *g, json_t *pod)
{
    const char *ns = field_peek(pod, "metadata", "namespace", NULL);
    const char *name = field_peek(pod, "metadata", "name", NULL), *linked;
    struct newcomer *n = g && ns && name ? find(g, ns, name) : NULL;
    if (g && g->showing != n)
        g->showing = NULL;
    if (!n || n->state != NEWCOMER_LINKED || g->showing == n ||
        !str_eq(n->uid, field_peek(pod, "metadata", "uid", NULL)) ||
        dialect_of_pod(pod, &linked, NULL))
        return;
    const struct dialect *d = dialect_of_objects(n->group.api_group);
    cleanup_json json_t *link = made_link(d, n->uid, n->group.name, n->role);
    json_object_update_recursive(pod, link);
    g->showing = n; /* what follows is our own word */
}

/* A pod that is linked, or needs no PodGroup. */
static void take_settled(struct grouper *g, struct newcomer *n, const struct gang_pod_facts *f)
{
    if (n && n != g->showing)
        dismiss(n);
    if (f->group.name && !f->declared)
        made_member(g, &f->group, f->name);
}

static void take_newcomer(struct grouper *g, struct newcomer *n, const json_t *pod,
                          struct gang_pod_facts *f)
{
    if (!n)
        n = newcomer_new(g, f);
    free(STEAL(f->awaits_group));
    f->awaits_group = xstrdup_null(n->text);
    if (n == g->showing || n->state > NEWCOMER_LINKS)
        return;
    if (!n->search.pod) {
        search_start(&n->search, pod_text(pod));
    } else {
        free(n->search.pod);
        n->search.pod = pod_text(pod);
    }
}

void grouper_pod(struct grouper *g, const json_t *pod, struct gang_pod_facts *f)
{
    if (!g)
        return;
    struct newcomer *n = find(g, f->ns, f->name);
    if (n && !str_eq(n->uid, f->uid)) {
        dismiss(n);
        n = NULL;
    }
    if (decode_awaits(g->o.rules, pod, f))
        take_newcomer(g, n, pod, f);
    else
        take_settled(g, n, f);
    g->showing = NULL;
}

void grouper_pod_gone(struct grouper *g, const char *ns, const char *name)
{
    struct newcomer *n = g ? find(g, ns, name) : NULL;
    if (n)
        dismiss(n);
}

static size_t index_of(const struct dialect *dialect)
{
    size_t i = 0;
    while (dialects[i] && dialects[i] != dialect)
        i++;
    return i;
}

bool grouper_is_ready(const struct grouper *g, const struct dialect *dialect)
{
    return g->ready[index_of(dialect)];
}

static void look_again(struct grouper *g)
{
    while (!list_empty(&g->stuck))
        search_again(CONTAINER_OF(g->stuck.next, struct search, link));
}

void grouper_ready(struct grouper *g, const struct dialect *dialect, bool ready)
{
    if (!g)
        return;
    g->ready[index_of(dialect)] = ready;
    if (!ready)
        return;
    made_listed(g, dialect);
    look_again(g);
}

/* ---- complaints ---- */

void grouper_complain(struct grouper *g, const char *ns, const struct workload_ref *about,
                      const char *text)
{
    const struct told *old = map_get(&g->told, about->uid);
    usec_t now = usec_now();
    if (old && (strcmp(old->text, text) == 0 || now - old->at < TOLD_AGAIN * g->o.patience))
        return;
    if (map_count(&g->told) >= MAX_TOLD) {
        size_t first = 0;
        struct map_entry *oldest = map_next(&g->told, &first);
        free(map_remove(&g->told, oldest->key));
    }
    struct told *told = xcalloc(1, sizeof *told + strlen(text) + 1);
    told->at = now;
    strcpy(told->text, text);
    free(map_set(&g->told, about->uid, told));
    log_warning("a PodGroup cannot be made", "namespace", ns, "kind", about->kind, "name",
                about->name, "error", text, NULL);
    writer_take(g->o.writer, order_event(&(struct order_about){.api_version = about->api_version,
                                                               .kind = about->kind,
                                                               .ns = ns,
                                                               .name = about->name,
                                                               .uid = about->uid},
                                         "PodGroupNotMade", text));
    writer_pump(g->o.writer);
}

/* ---- life ---- */

static void bury(struct grouper *g)
{
    list_for_each_safe (n, &g->dead_newcomers, struct newcomer, dead)
        newcomer_free(n);
    list_for_each_safe (m, &g->dead_made, struct made, dead)
        made_free(m);
}

static void on_pump(void *arg)
{
    struct grouper *g = arg;
    bury(g);
    made_learn(g);
    for (int i = 0; i < AT_ONCE && !list_empty(&g->queue); i++) {
        struct search *s = CONTAINER_OF(g->queue.next, struct search, link);
        list_remove(&s->link);
        search_step(s);
    }
    if (!list_empty(&g->queue))
        grouper_pump_soon(g);
}

void grouper_pump_soon(struct grouper *g)
{
    client_timer_set(g->o.client, &g->pump, usec_now());
}

void grouper_look_later(struct grouper *g)
{
    if (g->look.node.pos == 0)
        client_timer_set(g->o.client, &g->look, usec_now() + g->o.look);
}

static void on_look(void *arg)
{
    struct grouper *g = arg;
    look_again(g);
    if (made_sweep(g))
        grouper_look_later(g);
}

static bool is_urgent(void *arg)
{
    return writer_urgent(((struct grouper *)arg)->o.writer);
}

struct grouper *grouper_new(const struct grouper_options *options)
{
    struct grouper *g = xcalloc(1, sizeof *g);
    g->o = *options;
    g->o.retry = g->o.retry ? g->o.retry : RETRY;
    g->o.look = g->o.look ? g->o.look : LOOK;
    g->o.patience = g->o.patience ? g->o.patience : PATIENCE;
    struct list *lists[] = {&g->queue, &g->stuck, &g->dead_newcomers, &g->dead_made, &g->learnt};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        list_init(lists[i]);
    g->pump = (struct client_timer){.fire = on_pump, .arg = g};
    g->look = (struct client_timer){.fire = on_look, .arg = g};
    g->errands = errands_new(g->o.client, g->o.metrics, is_urgent, g);
    g->owners = owners_new(&(struct owners_options){.client = g->o.client,
                                                    .metrics = g->o.metrics,
                                                    .errands = g->errands,
                                                    .changed = made_owner_changed,
                                                    .arg = g,
                                                    .retry = g->o.retry});
    return g;
}

static void free_texts(struct map *map)
{
    map_for_each (e, map)
        free(e->value);
    map_done(map);
}

struct grouper *grouper_free(struct grouper *g)
{
    if (!g)
        return NULL;
    bury(g);
    map_for_each (e, &g->newcomers)
        newcomer_free(e->value);
    map_for_each (e, &g->made)
        made_free(e->value);
    map_done(&g->newcomers);
    map_done(&g->made);
    free_texts(&g->samples);
    free_texts(&g->told);
    owners_free(g->owners);
    errands_free(g->errands);
    client_timer_clear(g->o.client, &g->pump);
    client_timer_clear(g->o.client, &g->look);
    free(g);
    return NULL;
}
