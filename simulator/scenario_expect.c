/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expectations of a scenario file.
 */
#include "k8s/encoding/kube_field.h"
#include "simulator/scenario_load.h"

static int read_state(const struct scenario_loader *l, const char *place, const json_t *json,
                      enum gang_state *ret)
{
    const char *text = NULL;
    *ret = GANG_STATE_MAX;
    if (load_text(l, place, json, "state", &text) < 0 || !text)
        return text ? -1 : 0;
    static const char *const names[] = {
#define X(id, name, help) name,
        GANG_STATES(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], text) == 0) {
            *ret = (enum gang_state)i;
            return 0;
        }
    return load_error(l, place,
                      "unknown state \"%.40s\": write Assembling, Waiting, Planned, "
                      "Committing, Scheduled, Recovering, BackedOff or Done",
                      text);
}

static int read_reason(const struct scenario_loader *l, const char *place, const json_t *json,
                       enum gang_reason_code *ret)
{
    const char *text = NULL;
    *ret = REASON_MAX;
    if (load_text(l, place, json, "reason", &text) < 0 || !text)
        return text ? -1 : 0;
    static const char *const names[] = {
#define X(id, name, of, meaning) name,
        GANG_REASONS(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], text) == 0) {
            *ret = (enum gang_reason_code)i;
            return 0;
        }
    return load_error(l, place,
                      "unknown reason \"%.40s\": write a reason such as NotEnoughResources", text);
}

/* Splits "namespace/name". Without a slash, the namespace is `otherwise`. */
static void split_name(const char *text, const char *otherwise, struct scenario_expect *e)
{
    const char *slash = strchr(text, '/');
    e->ns = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup(otherwise);
    e->name = xstrdup(slash ? slash + 1 : text);
}

/* The amounts that a queue uses. */
static int read_used(const struct scenario_loader *l, const char *place, const json_t *json,
                     struct scenario_expect *e)
{
    const char *resource;
    json_t *amount;
    e->used = json_object_get(json, "used");
    if (e->used && !json_is_object(e->used))
        return load_error(l, place, "used must be a mapping such as {nvidia.com/gpu: 6}");
    json_object_foreach((json_t *)(uintptr_t)e->used, resource, amount)
    {
        struct err err;
        int64_t n;
        if (json_value_amount(amount, resource, &n, &err) < 0)
            return load_error(l, place, "used: %s", err.text);
    }
    return 0;
}

/* What an expectation is about: the key that names it, and the keys that it may have. */
static const struct subject {
    const char *key;
    const char *keys[8]; /* closed by NULL */
    const char *ns;      /* if the name has none */
} subjects[] = {
    [EXPECT_GANG] = {"gang", {"at", "gang", "state", "reason", "bound", "says"}, "default"},
    [EXPECT_POD] = {"pod", {"at", "pod", "phase", "node", "says"}, "default"},
    [EXPECT_QUEUE] = {"queue", {"at", "queue", "used", "waiting", "running", "says"}, ""},
};

/* NULL: none, or several. */
static const struct subject *subject_of(const json_t *json)
{
    const struct subject *found = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
        if (json_is_string(json_object_get(json, subjects[i].key))) {
            if (found)
                return NULL;
            found = &subjects[i];
        }
    return found;
}

static int read_expect(const struct scenario_loader *l, const char *place, const json_t *json,
                       struct scenario_expect *e)
{
    const struct subject *subject = subject_of(json);
    *e = (struct scenario_expect){.at = -1, .bound = -1, .waiting = -1, .running = -1};
    if (!subject)
        return load_error(l, place,
                          "must be a mapping such as {at: 10s, gang: ns/name, …}, {at: 10s, pod: "
                          "ns/name, …} or {at: 10s, queue: name, …}");
    e->of = (enum scenario_subject)(subject - subjects);
    if (load_keys(l, place, json, subject->keys) < 0 ||
        load_time(l, place, json, "at", &e->at) < 0 || read_state(l, place, json, &e->state) < 0 ||
        read_reason(l, place, json, &e->reason) < 0 ||
        load_count(l, place, json, "bound", 0, INT32_MAX, &e->bound) < 0 ||
        load_count(l, place, json, "waiting", 0, INT32_MAX, &e->waiting) < 0 ||
        load_count(l, place, json, "running", 0, INT32_MAX, &e->running) < 0 ||
        read_used(l, place, json, e) < 0 || load_text(l, place, json, "phase", &e->phase) < 0 ||
        load_text(l, place, json, "node", &e->node) < 0 ||
        load_text(l, place, json, "says", &e->says) < 0)
        return -1;
    if (e->at < 0)
        return load_error(l, place, "at is missing: write the time, such as 10s");
    split_name(load_text_at(json, subject->key, ""), subject->ns, e);
    e->where = xstrdup(place);
    return 0;
}

static int compare_expects(const void *a, const void *b)
{
    const struct scenario_expect *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

int load_expects(const struct scenario_loader *l, const json_t *document)
{
    const json_t *list;
    if (load_list(l, "", document, "expect", &list) < 0)
        return -1;
    size_t n = json_array_size(list);
    l->s->expects = xcalloc(n, sizeof *l->s->expects);
    l->s->n_expects = n;
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *place = xasprintf("expect[%zu]", i);
        if (read_expect(l, place, json_array_get(list, i), &l->s->expects[i]) < 0)
            return -1;
    }
    qsort(l->s->expects, n, sizeof *l->s->expects, compare_expects);
    return 0;
}
