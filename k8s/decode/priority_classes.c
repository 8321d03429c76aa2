/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/decode/priority_classes.h"

#include "base/map.h"
#include "k8s/encoding/kube_field.h"

struct class
{
    int32_t value;
    bool is_default, never;
};

struct priority_classes {
    struct map classes; /* name -> struct class */
};

struct priority_classes *priority_classes_new(void)
{
    return xcalloc(1, sizeof(struct priority_classes));
}

struct priority_classes *priority_classes_free(struct priority_classes *c)
{
    if (!c)
        return NULL;
    map_for_each (e, &c->classes)
        free(e->value);
    map_done(&c->classes);
    free(c);
    return NULL;
}

void priority_classes_set(struct priority_classes *c, const json_t *object)
{
    struct class *class = xcalloc(1, sizeof *class);
    class->value = (int32_t)json_integer_value(json_object_get(object, "value"));
    class->is_default = json_is_true(json_object_get(object, "globalDefault"));
    class->never = str_eq(field_peek(object, "preemptionPolicy", NULL), "Never");
    free(map_set(&c->classes, field_peek(object, "metadata", "name", NULL), class));
}

void priority_classes_gone(struct priority_classes *c, const char *name)
{
    free(map_remove(&c->classes, name));
}

/* If several are the default, the lowest counts. Source: priority/admission.go getDefaultPriority.
 */
static const struct class *find_default(const struct priority_classes *c)
{
    const struct class *found = NULL;
    map_for_each (e, &c->classes) {
        const struct class *class = e->value;
        if (class->is_default && (!found || class->value < found->value))
            found = class;
    }
    return found;
}

void priority_classes_admit(const struct priority_classes *c, const json_t *pod,
                            struct gang_pod_facts *facts)
{
    const char *name = field_peek(pod, "spec", "priorityClassName", NULL);
    const struct class *class = name && *name ? map_get(&c->classes, name) : find_default(c);
    facts->priority = class ? class->value : 0;
    if (class && !field_peek(pod, "spec", "preemptionPolicy", NULL))
        facts->never_preempts = class->never;
}
