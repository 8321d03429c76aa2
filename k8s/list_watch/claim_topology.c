/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/claim_topology.h"

#include "base/list.h"
#include "base/map.h"
#include "k8s/decode/decode_internal.h"

/* kube-scheduler sets it in PreBind. It asks to provision the volume for this node. Source:
 * k8s.io/kubernetes v1.36 component-helpers/storage/volume AnnSelectedNode. */
#define SELECTED_NODE "volume.kubernetes.io/selected-node"

struct volume {
    char *name;
    json_t *required; /* a valid NodeSelector; NULL: any node, or the volume is unknown */
    struct list claims;
};

struct claim {
    char *ns, *name;
    char *selected;        /* node for which it is being prepared; NULL once it is bound */
    struct volume *volume; /* bound to this volume; NULL: not bound */
    struct list in_volume;
    char *posted; /* text form of what was posted last; NULL: nothing */
};

struct claim_topology {
    struct cluster_sink sink;
    struct map claims;  /* "ns/name" -> struct claim */
    struct map volumes; /* name -> struct volume; kept while it has claims or node affinity */
};

struct claim_topology *claim_topology_new(const struct cluster_sink *sink)
{
    struct claim_topology *c = xcalloc(1, sizeof *c);
    c->sink = *sink;
    return c;
}

static void claim_free(struct claim *k)
{
    list_remove(&k->in_volume);
    free(k->ns);
    free(k->name);
    free(k->selected);
    free(k->posted);
    free(k);
}

static void volume_free(struct volume *v)
{
    free(v->name);
    json_decref(v->required);
    free(v);
}

struct claim_topology *claim_topology_free(struct claim_topology *c)
{
    if (!c)
        return NULL;
    map_for_each (e, &c->claims)
        claim_free(e->value);
    map_for_each (e, &c->volumes)
        volume_free(e->value);
    map_done(&c->claims);
    map_done(&c->volumes);
    free(c);
    return NULL;
}

/* ---- volumes by name ---- */

static struct volume *volume_get(struct claim_topology *c, const char *name)
{
    struct volume *v = map_get(&c->volumes, name);
    if (v)
        return v;
    v = xcalloc(1, sizeof *v);
    v->name = xstrdup(name);
    list_init(&v->claims);
    map_set(&c->volumes, name, v);
    return v;
}

static void volume_sweep(struct claim_topology *c, struct volume *v)
{
    if (!v || v->required || !list_empty(&v->claims))
        return;
    map_remove(&c->volumes, v->name);
    volume_free(v);
}

/* ---- posting ---- */

static json_t *limits(const struct claim *k)
{
    return k->volume ? k->volume->required : NULL;
}

static struct gang_claim_facts *facts_of(const struct claim *k)
{
    struct gang_claim_facts *f = gang_claim_facts_new();
    f->ns = xstrdup(k->ns);
    f->name = xstrdup(k->name);
    f->selected = xstrdup_null(k->selected);
    f->bound = k->volume != NULL;
    f->limited = limits(k) != NULL;
    decode_node_terms(limits(k), &f->terms, &f->n_terms, NULL); /* check_terms() has accepted it */
    return f;
}

/* NULL: there is nothing to post. */
static char *in_words(const struct claim *k)
{
    if (k->selected)
        return xasprintf("node %s", k->selected);
    if (limits(k))
        return json_dumps(limits(k), JSON_COMPACT | JSON_SORT_KEYS);
    return k->volume ? xstrdup("bound") : NULL;
}

static void tell(struct claim_topology *c, struct claim *k)
{
    char *words = in_words(k);
    bool news = !str_eq(words, k->posted);
    char *before = k->posted;
    k->posted = words;
    free(before);
    if (!news)
        return;
    struct gang_event ev = {.kind = GANG_EV_CLAIM_SET, .claim = facts_of(k)};
    c->sink.post(c->sink.arg, &ev);
}

/* ---- claims ---- */

static struct claim *claim_get(struct claim_topology *c, const char *ns, const char *name)
{
    cleanup_free char *key = xasprintf("%s/%s", ns, name);
    struct claim *k = map_get(&c->claims, key);
    if (k)
        return k;
    k = xcalloc(1, sizeof *k);
    k->ns = xstrdup(ns);
    k->name = xstrdup(name);
    list_init(&k->in_volume);
    map_set(&c->claims, key, k);
    return k;
}

/* `gone` is false if the claim exists, but does not limit the nodes. */
static void claim_drop(struct claim_topology *c, const char *ns, const char *name, bool gone)
{
    cleanup_free char *key = xasprintf("%s/%s", ns, name);
    struct claim *k = map_remove(&c->claims, key);
    if (!k)
        return;
    struct volume *v = k->volume;
    list_remove(&k->in_volume);
    k->volume = NULL;
    free(STEAL(k->selected));
    if (!gone) {
        tell(c, k);
    } else if (k->posted) {
        struct gang_event ev = {.kind = GANG_EV_CLAIM_GONE};
        ev.gone = (struct gang_ref){.ns = xstrdup(ns), .name = xstrdup(name)};
        c->sink.post(c->sink.arg, &ev);
    }
    claim_free(k);
    volume_sweep(c, v);
}

static void claim_bind(struct claim_topology *c, struct claim *k, const char *volume)
{
    struct volume *before = k->volume;
    k->volume = volume ? volume_get(c, volume) : NULL;
    list_remove(&k->in_volume);
    if (k->volume)
        list_push(&k->volume->claims, &k->in_volume);
    if (before != k->volume)
        volume_sweep(c, before);
}

/* The longest name that an object can have. */
#define MAX_NAME 253

/* NULL if the string is absent, null, empty, or too long for a name. */
static int read_name(const json_t *object, const char *key, const char **ret, struct err *err)
{
    if (json_value_string(json_object_get(object, key), key, ret, err) < 0)
        return -1;
    if (*ret && (!**ret || strlen(*ret) > MAX_NAME))
        *ret = NULL;
    return 0;
}

int claim_topology_set(struct claim_topology *c, const json_t *claim, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(claim, "PersistentVolumeClaim", &meta, err) < 0)
        return -1;
    const json_t *annotations = NULL, *spec = NULL;
    const char *selected = NULL, *volume = NULL;
    if (field_object(meta.json, "annotations", &annotations, err) < 0 ||
        read_name(annotations, SELECTED_NODE, &selected, err) < 0 ||
        field_object(claim, "spec", &spec, err) < 0 ||
        read_name(spec, "volumeName", &volume, err) < 0) {
        claim_drop(c, meta.ns, meta.name, /* gone= */ false);
        return err_wrap(err, "PersistentVolumeClaim %s/%s", meta.ns, meta.name);
    }
    if (!volume && !selected) {
        claim_drop(c, meta.ns, meta.name, /* gone= */ false);
        return 0;
    }
    struct claim *k = claim_get(c, meta.ns, meta.name);
    claim_bind(c, k, volume);
    free(k->selected);
    k->selected = volume ? NULL : xstrdup(selected); /* once bound, the volume decides */
    tell(c, k);
    return 0;
}

void claim_topology_gone(struct claim_topology *c, const char *ns, const char *name)
{
    claim_drop(c, ns, name, /* gone= */ true);
}

struct gang_claim_facts *claim_topology_facts(const struct claim_topology *c, const char *ns,
                                              const char *name)
{
    cleanup_free char *key = xasprintf("%s/%s", ns, name);
    const struct claim *k = map_get(&c->claims, key);
    return k && k->posted ? facts_of(k) : NULL;
}

/* ---- volumes ---- */

/* Takes ownership of `required`. */
static void volume_limit(struct claim_topology *c, const char *name, json_t *required)
{
    if (!required && !map_get(&c->volumes, name))
        return;
    struct volume *v = volume_get(c, name);
    json_decref(v->required);
    v->required = required;
    list_for_each (k, &v->claims, struct claim, in_volume)
        tell(c, k);
    volume_sweep(c, v);
}

static int check_terms(const json_t *required, struct err *err)
{
    struct decode_length length = {0};
    decode_node_length(required, &length);
    bool long_rules = length.rules > BOUND_VOLUME_RULES;
    if (long_rules || length.values > BOUND_VOLUME_VALUES) {
        cleanup_free char *text =
            gang_bound_exceeded(long_rules ? OVER_VOLUME_RULES : OVER_VOLUME_VALUES,
                                long_rules ? length.rules : length.values);
        return err_set(err, ERR_INVALID, "%s", text);
    }
    struct gang_claim_facts *f = gang_claim_facts_new();
    int r = decode_node_terms(required, &f->terms, &f->n_terms, err);
    gang_claim_facts_free(f);
    return r;
}

int claim_topology_set_volume(struct claim_topology *c, const json_t *volume, struct err *err)
{
    struct decoded_metadata meta;
    if (decode_metadata(volume, "PersistentVolume", &meta, err) < 0)
        return -1;
    const json_t *spec = NULL, *affinity = NULL, *required = NULL;
    if (field_object(volume, "spec", &spec, err) < 0 ||
        field_object(spec, "nodeAffinity", &affinity, err) < 0 ||
        field_object(affinity, "required", &required, err) < 0 || check_terms(required, err) < 0) {
        volume_limit(c, meta.name, NULL);
        return err_wrap(err, "PersistentVolume %s: spec.nodeAffinity", meta.name);
    }
    volume_limit(c, meta.name, required ? json_deep_copy(required) : NULL);
    return 0;
}

void claim_topology_volume_gone(struct claim_topology *c, const char *name)
{
    volume_limit(c, name, NULL);
}
