/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/grouper/created_podgroup.h"

#include "k8s/encoding/kube_field.h"

/* Computed from a single pod, so it is only written together with minMember. */
#define MIN_RESOURCES "minResources"

/* The fields that depend on the size of the workload. */
static const char *const followed[] = {"minMember", "minSubGroup", "subGroups", "minTaskMember",
                                       MIN_RESOURCES};

static json_t *owner_reference(const struct workload_ref *owner)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", owner->api_version, "kind",
                     owner->kind, "name", owner->name, "uid", owner->uid, "controller", 0,
                     "blockOwnerDeletion", 0);
}

/* The followed fields of a spec, as the text of the annotation. */
static json_t *created_podgroup_text(const json_t *fields)
{
    cleanup_free char *text = json_dumps(fields, JSON_COMPACT | JSON_SORT_KEYS);
    return json_string(text);
}

static json_t *followed_fields(const json_t *spec)
{
    json_t *fields = json_object();
    for (size_t i = 0; i < ARRAY_SIZE(followed); i++) {
        json_t *value = json_object_get(spec, followed[i]);
        if (value)
            json_object_set(fields, followed[i], value);
    }
    return fields;
}

json_t *created_podgroup_object(const struct dialect *dialect, const char *version, const char *ns,
                                const struct workload_group *group)
{
    cleanup_free char *api = xasprintf("%s/%s", dialect->api_group, version);
    json_t *spec = dialect->make(group);
    cleanup_json json_t *fields = followed_fields(spec);
    json_t *annotations = json_copy(group->annotations);
    json_object_set_new(annotations, CREATED_SPEC_ANNOTATION, created_podgroup_text(fields));
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:O, s:o, s:[o]}, s:o}", "apiVersion", api, "kind",
                     "PodGroup", "metadata", "name", group->name, "namespace", ns, "labels",
                     group->labels, "annotations", annotations, "ownerReferences",
                     owner_reference(&group->owner), "spec", spec);
}

/* The fields that muster wrote last; NULL: the annotation is missing or invalid. */
static json_t *last_made(const json_t *object)
{
    const char *text = field_peek(object, "metadata", "annotations", CREATED_SPEC_ANNOTATION, NULL);
    json_t *fields = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(fields))
        return fields;
    json_decref(fields);
    return NULL;
}

bool created_podgroup_is_ours(const json_t *object)
{
    cleanup_json json_t *fields = last_made(object);
    return fields != NULL;
}

static bool same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

/* The merge patch that turns `now` into `want`. In it, null removes a member. */
static json_t *replacement(const json_t *now, json_t *want)
{
    if (!want)
        return json_null();
    if (!json_is_object(now) || !json_is_object(want))
        return json_incref(want);
    json_t *patch = json_copy(want);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)now, key, value)
    {
        (void)value;
        if (!json_object_get(want, key))
            json_object_set_new(patch, key, json_null());
    }
    return patch;
}

/* The fields of the spec to write. Updates `last` to the state after the patch. */
static json_t *spec_patch(const json_t *now, const json_t *want, json_t *last)
{
    json_t *patch = json_object();
    for (size_t i = 0; i < ARRAY_SIZE(followed); i++) {
        const char *field = followed[i];
        const json_t *is = json_object_get(now, field);
        json_t *should = json_object_get(want, field), *was = json_object_get(last, field);
        if (!same(is, was) || same(was, should))
            continue;
        /* Members can request different amounts, which alone must not change the PodGroup. */
        if (strcmp(field, MIN_RESOURCES) == 0 && !json_object_get(patch, "minMember"))
            continue;
        json_object_set_new(patch, field, replacement(is, should));
        if (should)
            json_object_set(last, field, should);
        else
            json_object_del(last, field);
    }
    return patch;
}

/* A copy of the owner references with this owner added. NULL: it is already one of them, or there
 * are CREATED_PODGROUP_MAX_OWNERS. */
static json_t *with_owner(const json_t *object, const struct workload_ref *owner)
{
    const json_t *list = json_object_get(json_object_get(object, "metadata"), "ownerReferences");
    if (json_array_size(list) >= CREATED_PODGROUP_MAX_OWNERS)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_eq(field_peek(json_array_get(list, i), "uid", NULL), owner->uid))
            return NULL;
    json_t *more = list ? json_copy((json_t *)(uintptr_t)list) : json_array();
    json_array_append_new(more, owner_reference(owner));
    return more;
}

char *created_podgroup_dispute(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group)
{
    cleanup_json json_t *last = group->shared ? last_made(object) : NULL;
    cleanup_json json_t *want = dialect->make(group);
    const json_t *was = json_object_get(last, "minMember");
    const json_t *says = json_object_get(want, "minMember");
    if (!was || same(was, says))
        return NULL;
    return xasprintf("annotation " WORKLOAD_MIN_MEMBER " is %" JSON_INTEGER_FORMAT
                     ", but on earlier pods it is %" JSON_INTEGER_FORMAT
                     "; write the same number on each pod of PodGroup %s",
                     json_integer_value(says), json_integer_value(was), group->name);
}

/* How the workload wants to be preempted, if the PodGroup says otherwise; null removes it. NULL:
 * both say the same. */
static json_t *preemption_patch(const json_t *object, const struct workload_group *group)
{
    const char *is = field_peek(object, "metadata", "annotations", WORKLOAD_PREEMPTION, NULL);
    const char *want = json_string_value(json_object_get(group->annotations, WORKLOAD_PREEMPTION));
    if (group->shared || str_eq(is, want))
        return NULL;
    return want ? json_string(want) : json_null();
}

json_t *created_podgroup_patch(const json_t *object, const struct dialect *dialect,
                               const struct workload_group *group)
{
    cleanup_json json_t *last = last_made(object);
    if (!last)
        return NULL;
    cleanup_json json_t *want = dialect->make(group);
    cleanup_json json_t *spec =
        group->shared ? json_object() : spec_patch(json_object_get(object, "spec"), want, last);
    json_t *owners = group->shared ? with_owner(object, &group->owner) : NULL;
    json_t *preemption = preemption_patch(object, group);
    if (!owners && !preemption && json_object_size(spec) == 0)
        return NULL;
    json_t *annotations = json_object();
    const char *version = field_peek(object, "metadata", "resourceVersion", NULL);
    json_t *metadata = json_object();
    if (version)
        json_object_set_new(metadata, "resourceVersion", json_string(version));
    if (owners)
        json_object_set_new(metadata, "ownerReferences", owners);
    if (preemption)
        json_object_set_new(annotations, WORKLOAD_PREEMPTION, preemption);
    if (json_object_size(spec) > 0)
        json_object_set_new(annotations, CREATED_SPEC_ANNOTATION, created_podgroup_text(last));
    if (json_object_size(annotations) > 0)
        json_object_set(metadata, "annotations", annotations);
    json_decref(annotations);
    json_t *patch = json_pack("{s:o}", "metadata", metadata);
    if (json_object_size(spec) > 0)
        json_object_set(patch, "spec", spec);
    return patch;
}

/* Adds a label or an annotation to the metadata of a patch. */
static void put_key(json_t *metadata, const struct dialect_key *key, const char *value)
{
    const char *map = key->kind == KEY_LABEL ? "labels" : "annotations";
    json_t *values = json_object_get(metadata, map);
    if (!values) {
        values = json_object();
        json_object_set_new(metadata, map, values);
    }
    json_object_set_new(values, key->name, json_string(value));
}

json_t *created_podgroup_link(const struct dialect *dialect, const char *uid, const char *group,
                              const char *role)
{
    json_t *metadata = json_pack("{s:s}", "uid", uid);
    put_key(metadata, &dialect->links[0], group);
    if (role && dialect->roles)
        put_key(metadata, &dialect->roles[0], role);
    return json_pack("{s:o}", "metadata", metadata);
}
