/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next owner up is the controller, else the first owner. Source: KAI podgrouper.go
 * getResourceOwners, which uses the first owner and refuses objects with several. muster prefers
 * the controller, because the list can contain other owners (a data set, an object of the user).
 */
#include "workload/kinds.h"

static const json_t *references(const json_t *object)
{
    const json_t *refs = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    return json_is_array(refs) ? refs : NULL;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s && *s ? s : NULL;
}

static bool is_whole(const json_t *ref)
{
    return text_of(ref, "apiVersion") && text_of(ref, "kind") && text_of(ref, "name") &&
           text_of(ref, "uid");
}

const json_t *controller_reference_of(const json_t *object)
{
    const json_t *refs = references(object);
    for (size_t i = 0; i < json_array_size(refs) && i < JSON_MAX_ITEMS; i++) {
        const json_t *ref = json_array_get(refs, i);
        if (json_is_true(json_object_get(ref, "controller")) && is_whole(ref))
            return ref;
    }
    return NULL;
}

const json_t *owner_reference_of(const json_t *object)
{
    const json_t *ref = controller_reference_of(object);
    if (ref)
        return ref;
    ref = json_array_get(references(object), 0);
    return ref && is_whole(ref) ? ref : NULL;
}

struct workload_identity object_identity(const json_t *const *chain, size_t i)
{
    /* Items of a list have no apiVersion and kind. */
    const json_t *ref = i > 0 ? owner_reference_of(chain[i - 1]) : NULL;
    const json_t *meta = json_object_get(chain[i], "metadata");
    const char *api_version = text_of(chain[i], "apiVersion"), *kind = text_of(chain[i], "kind");
    const char *ns = text_of(meta, "namespace"), *name = text_of(meta, "name");
    if (!api_version || !kind) {
        api_version = ref ? text_of(ref, "apiVersion") : "v1";
        kind = ref ? text_of(ref, "kind") : "Pod";
    }
    return (struct workload_identity){
        .api_version = api_version,
        .kind = kind,
        .ns = ns ? ns : "default",
        .name = name ? name : "",
        .uid = text_of(meta, "uid"),
    };
}

int in_its_pod(const struct workload_case *c, struct err *err)
{
    return err_wrap(err, "its pod %.253s", object_identity(c->chain, 0).name);
}

const struct workload_custom *custom_kind(const struct workload_rules *rules,
                                          const char *api_version, const char *kind)
{
    for (size_t i = 0; i < rules->n_customs; i++)
        if (str_eq(rules->customs[i].api_version, api_version) &&
            str_eq(rules->customs[i].kind, kind))
            return &rules->customs[i];
    return NULL;
}

bool workload_owner(const struct workload_rules *rules, const json_t *object,
                    struct workload_ref *ret)
{
    const char *api_version = text_of(object, "apiVersion"), *kind = text_of(object, "kind");
    const json_t *ref = owner_reference_of(object);
    /* The rule of a kind that the configuration adds counts, so the chain ends there. */
    if (!ref || (api_version && kind && custom_kind(rules, api_version, kind)))
        return false;
    *ret = (struct workload_ref){
        .api_version = xstrdup(text_of(ref, "apiVersion")),
        .kind = xstrdup(text_of(ref, "kind")),
        .name = xstrdup(text_of(ref, "name")),
        .uid = xstrdup(text_of(ref, "uid")),
    };
    return true;
}

void workload_ref_done(struct workload_ref *r)
{
    free(r->api_version);
    free(r->kind);
    free(r->name);
    free(r->uid);
    *r = (struct workload_ref){NULL, NULL, NULL, NULL};
}
