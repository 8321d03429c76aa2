/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"

const struct dialect *const dialects[] = {
    &dialect_kai,         &dialect_volcano,     &dialect_xk8s, &dialect_sigs,
    &dialect_lightweight, &dialect_koordinator, NULL,
};

const struct dialect *dialect_by_group(const char *api_group)
{
    for (const struct dialect *const *d = dialects; *d; d++)
        if (str_eq((*d)->api_group, api_group))
            return *d;
    return NULL;
}

bool dialect_has_objects(const struct dialect *dialect)
{
    return dialect->versions[0] != NULL;
}

const struct dialect *dialect_of_objects(const char *api_group)
{
    const struct dialect *d = dialect_by_group(api_group);
    return d && dialect_has_objects(d) ? d : NULL;
}

/* ---- links ---- */

/* A link of a pod: a key and the PodGroup's name. */
struct link {
    const struct dialect *dialect;
    const struct dialect_key *key;
    const char *name; /* NULL: the pod does not have the key */
};

static const char *kind_of(const struct dialect_key *key)
{
    return key->kind == KEY_LABEL ? "label" : "annotation";
}

static bool contradict(const struct link *a, const struct link *b)
{
    bool ranked = a->dialect->family && str_eq(a->dialect->family, b->dialect->family);
    return !ranked && strcmp(a->name, b->name) != 0;
}

static char *two_links(const struct link *a, const struct link *b)
{
    char q[2][FIELD_QUOTED];
    return xasprintf("%s %s is %s and %s %s is %s: a pod can be in one PodGroup only; remove one "
                     "of the two",
                     kind_of(a->key), a->key->name, field_quote(a->name, q[0]), kind_of(b->key),
                     b->key->name, field_quote(b->name, q[1]));
}

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* The value of an annotation can be any text. Source: apimachinery IsDNS1123Subdomain. */
static bool is_object_name(const char *name)
{
    size_t len = strlen(name);
    return len <= 253 && strspn(name, LOWER DIGITS "-.") == len && !strchr("-.", name[0]) &&
           !strchr("-.", name[len - 1]);
}

/* The name of a declared PodGroup is free, but it must be safe in paths and messages. */
static bool is_declared_name(const char *name)
{
    size_t len = strlen(name);
    return len <= 253 && strspn(name, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-._") == len &&
           !strchr("-._", name[0]);
}

static char *bad_name(const struct link *l)
{
    char q[FIELD_QUOTED];
    const char *why;
    if (strchr(l->name, '/'))
        why = "a PodGroup must be in the namespace of its pods; write only its name";
    else if (dialect_has_objects(l->dialect) && !is_object_name(l->name))
        why = "this is not a valid PodGroup name; use only lower case letters, digits, - and .";
    else if (!is_declared_name(l->name))
        why = "this is not a valid PodGroup name; use only letters, digits, -, _ and .";
    else
        return NULL;
    return xasprintf("%s %s is %s: %s", kind_of(l->key), l->key->name, field_quote(l->name, q),
                     why);
}

/* Finds the pod's next link after *key; false: there is none. */
static bool next_link(const json_t *pod, const struct dialect *const **d,
                      const struct dialect_key **key, struct link *ret)
{
    for (; **d; (*d)++, *key = NULL) {
        *key = *key ? *key + 1 : (**d)->links;
        for (; (*key)->kind != KEY_END; (*key)++) {
            *ret = (struct link){**d, *key, dialect_value(pod, *key)};
            if (ret->name)
                return true;
        }
    }
    return false;
}

const struct dialect *dialect_of_pod(const json_t *pod, const char **ret_name, char **ret_bad)
{
    const struct dialect *const *d = dialects;
    const struct dialect_key *key = NULL;
    struct link first, other;
    char *bad = NULL;
    if (!next_link(pod, &d, &key, &first))
        return NULL;
    while (!bad && next_link(pod, &d, &key, &other))
        if (contradict(&first, &other))
            bad = two_links(&first, &other);
    if (!bad)
        bad = bad_name(&first);
    *ret_name = bad ? NULL : first.name;
    if (bad && ret_bad)
        *ret_bad = bad;
    else
        free(bad);
    return *ret_name ? first.dialect : NULL;
}

const char *dialect_role(const struct dialect *dialect, const json_t *pod)
{
    for (const struct dialect_key *k = dialect->roles; k && k->kind != KEY_END; k++) {
        const char *role = dialect_value(pod, k);
        if (role)
            return role;
    }
    return NULL;
}

/* Source: scheduler-plugins podgroup_controller.go fillOccupiedObj. */
char *dialect_owners(const json_t *pod)
{
    enum { MOST = 8 };
    cleanup_buf struct buf b = BUF_INIT;
    const char *ns = field_peek(pod, "metadata", "namespace", NULL);
    const json_t *owners = json_object_get(json_object_get(pod, "metadata"), "ownerReferences");
    for (size_t i = 0; i < json_array_size(owners) && i < MOST; i++) {
        const char *name = field_peek(json_array_get(owners, i), "name", NULL);
        if (name)
            buf_printf(&b, "%s%s/%.253s", b.len ? "," : "", ns ? ns : "default", name);
    }
    return b.len ? buf_steal(&b) : NULL;
}
