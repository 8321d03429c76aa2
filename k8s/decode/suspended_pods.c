/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/decode/suspended_pods.h"

#include <ctype.h>

#include "gang/gang.h"
#include "k8s/decode/decode.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/kube_json.h"

struct standing {
    const struct suspended_pods_options *options;
    struct suspended_pods *ret;
    char *prefix;        /* of the names: "job.train:" */
    const char *uid;     /* of the workload */
    size_t values, work; /* of the workload; so far */
    char *owner;         /* UID of the Job whose pods have this role; NULL: none */
    char *role;
    struct err *err; /* code ERR_NONE: nothing is wrong */
};

static bool spend(struct standing *s)
{
    s->work += s->values;
    if (s->ret->n >= GANG_DRY_PODS)
        err_set(s->err, ERR_INVALID, "it creates more than %d pods", GANG_DRY_PODS);
    else if (s->work > SUSPENDED_WORK || s->ret->bytes > SUSPENDED_BYTES)
        err_set(s->err, ERR_INVALID, "its pods have too many fields for their number");
    return s->err->code == ERR_NONE;
}

/* ---- the PodGroup of a pod ---- */

static bool is_group(const struct standing *s, const char *api_group, const char *name)
{
    const struct gang_ref *ref = s->options->group;
    return str_eq(api_group, ref->api_group) && str_eq(name, ref->name);
}

static void set_role(struct standing *s, const char *owner, const char *role)
{
    free(s->owner);
    free(s->role);
    s->owner = xstrdup_null(owner);
    s->role = xstrdup_null(role);
}

/* The role that muster would give the pod. If muster would create no PodGroup, another program has
 * created it, and its roles are unknown. */
static bool find_role(struct standing *s, const json_t *const *chain, size_t n)
{
    struct workload_group g;
    struct err err;
    const struct workload_rules *rules = s->options->rules;
    const char *owner = field_peek(chain[1], "metadata", "uid", NULL);
    if (s->owner && str_eq(owner, s->owner))
        return true;
    set_role(s, NULL, NULL);
    if (!rules || workload_group(rules, chain, n, &g, &err) != 0)
        return true;
    bool same = is_group(s, g.api_group, g.name);
    /* Only the pods of a Job all have one role. */
    bool job = str_eq(field_peek(chain[1], "kind", NULL), "Job");
    set_role(s, job ? owner : NULL, g.role);
    workload_group_done(&g);
    return same;
}

static bool join(struct standing *s, const json_t *const *chain, size_t n, struct gang_pod_facts *f)
{
    bool linked = f->group.name || f->bad_link;
    if (linked ? !is_group(s, f->group.api_group, f->group.name) : !find_role(s, chain, n)) {
        err_set(s->err, ERR_INVALID, "its pods belong to another PodGroup");
        return false;
    }
    if (linked)
        return true;
    const struct gang_ref *ref = s->options->group;
    f->group = (struct gang_ref){xstrdup(ref->api_group), xstrdup(ref->ns), xstrdup(ref->name)};
    f->role = xstrdup_null(s->role);
    return true;
}

/* ---- pods ---- */

static void replace(char **text, char *with)
{
    free(*text);
    *text = with;
}

/* Removes what only a real pod can have. Its template may contain any metadata. */
static void clean(struct gang_pod_facts *f)
{
    for (size_t i = 0; i < f->n_gates; i++)
        free(f->gates[i]); /* other programs remove theirs when the pod exists */
    f->n_gates = 0;
    f->created = f->gone_by = 0;
    f->version = 0;
    f->deleting = f->committed = false;
}

static bool keep(struct standing *s, struct gang_pod_facts *f)
{
    struct suspended_pods *p = s->ret;
    replace(&f->name, xasprintf("%s%zu", s->prefix, p->n));
    replace(&f->uid, xasprintf("%s:%zu", s->uid, p->n));
    clean(f);
    f->gated = f->suspended = true;
    p->bytes += gang_pod_facts_size(f);
    GROW(p->facts, p->cap, p->n + 1);
    p->facts[p->n++] = gang_pod_facts_pack(f);
    return true;
}

static bool on_pod(void *arg, const json_t *const *chain, size_t n)
{
    struct standing *s = arg;
    if (n < 2 || !spend(s))
        return false;
    struct gang_pod_facts *f = decode_pod(chain[0], s->err);
    if (!f)
        return false;
    s->err->code = ERR_NONE;
    if (f->invalid || f->node)
        err_set(s->err, ERR_INVALID, "%s", f->invalid ? f->invalid : "its pods name their node");
    if (s->err->code == ERR_NONE && join(s, chain, n, f)) {
        priority_classes_admit(s->options->classes, chain[0], f);
        return keep(s, f);
    }
    gang_pod_facts_free(f);
    return false;
}

static char *prefix_of(const struct workload_suspendable *of, const json_t *workload)
{
    char *prefix = xasprintf("%s.%s:", of->kind, field_peek(workload, "metadata", "name", NULL));
    for (char *p = prefix; *p != '.'; p++)
        *p = (char)tolower((unsigned char)*p);
    return prefix;
}

/* Items of a list have no kind. */
static json_t *as_resumed(const struct workload_suspendable *of, const json_t *workload)
{
    json_t *copy = workload_resumed(of, workload);
    if (!field_peek(copy, "kind", NULL) || !field_peek(copy, "apiVersion", NULL)) {
        cleanup_free char *version = xasprintf("%s/%s", of->api_group, of->versions[0]);
        json_object_set_new(copy, "apiVersion", json_string(version));
        json_object_set_new(copy, "kind", json_string(of->kind));
    }
    return copy;
}

int suspended_pods(const struct workload_suspendable *of, const json_t *workload,
                   const struct suspended_pods_options *options, struct suspended_pods *ret,
                   struct err *err)
{
    struct standing s = {.options = options, .ret = ret, .err = err};
    *ret = (struct suspended_pods){NULL, 0, 0, 0};
    err->code = ERR_NONE;
    cleanup_json json_t *resumed = as_resumed(of, workload);
    s.uid = field_peek(workload, "metadata", "uid", NULL);
    if (!s.uid || !field_peek(workload, "metadata", "name", NULL))
        return err_set(err, ERR_INVALID, "it has no name or UID");
    s.prefix = prefix_of(of, workload);
    s.values = kube_json_values(resumed);
    int known = workload_pods(resumed, on_pod, &s, err);
    if (known == WORKLOAD_UNKNOWN)
        err_set(err, ERR_INVALID, "muster does not know which pods it creates");
    else if (err->code == ERR_NONE && ret->n == 0)
        err_set(err, ERR_INVALID, "it creates no pods");
    free(s.prefix);
    set_role(&s, NULL, NULL);
    if (err->code == ERR_NONE)
        return 0;
    suspended_pods_done(ret);
    return -1;
}

void suspended_pods_done(struct suspended_pods *p)
{
    for (size_t i = 0; i < p->n; i++)
        gang_pod_facts_free(p->facts[i]);
    free(p->facts);
    *p = (struct suspended_pods){NULL, 0, 0, 0};
}
