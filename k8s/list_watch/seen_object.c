/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/list_watch/seen_object.h"

#include "k8s/encoding/kube_field.h"

/* After this time, the watch has shown the write or a newer version. */
#define WRITTEN_MAX_AGE (5 * USEC_PER_SEC)

static void stored_done(struct stored_object *s)
{
    free(STEAL(s->text));
    free(STEAL(s->version));
}

/* managedFields is long, and no dialect uses it. */
static void store(struct stored_object *s, json_t *object)
{
    stored_done(s);
    json_object_del(json_object_get(object, "metadata"), "managedFields");
    s->text = json_dumps(object, JSON_COMPACT);
    s->version = xstrdup_null(field_peek(object, "metadata", "resourceVersion", NULL));
}

/* The watch has caught up with the reply, or was faster. */
static void drop_shown(struct seen_object *s)
{
    if (str_eq(s->written.version, s->seen.version))
        stored_done(&s->written);
}

void seen_object_set(struct seen_object *s, json_t *object)
{
    store(&s->seen, object);
    drop_shown(s);
}

void seen_object_written(struct seen_object *s, json_t *object, usec_t now)
{
    store(&s->written, object);
    s->written_at = now;
    drop_shown(s);
}

json_t *seen_object_load(struct seen_object *s, usec_t now)
{
    if (s->written.text && now - s->written_at > WRITTEN_MAX_AGE)
        stored_done(&s->written);
    const char *text = s->written.text ? s->written.text : s->seen.text;
    return text ? json_loads(text, 0, NULL) : NULL;
}

void seen_object_done(struct seen_object *s)
{
    stored_done(&s->seen);
    stored_done(&s->written);
}
