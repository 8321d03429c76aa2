/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/duration.h"
#include "gang/gang.h"
#include "k8s/dialect/dialect.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"

enum {
    MAX_OBJECTS = 200000, /* at the start, or of one step */
    MAX_STEPS = 10000,
    MAX_FILES = 64, /* manifest files named in one list */
};

/* `place` is where in the file we are: "timetable[2].create[0]". */
struct loader {
    struct scenario *s;
    const char *dir;
    struct err *err;
    int files;
};

static int bad(const struct loader *l, const char *place, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int bad(const struct loader *l, const char *place, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(l->err, ERR_INVALID, "%s: %s%s%s", l->s->name, place, *place ? ": " : "", text);
}

/* Only these keys, NULL at the end. */
static int check_keys(const struct loader *l, const char *place, const json_t *object,
                      const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *const *k = known;
        while (*k && strcmp(*k, key) != 0)
            k++;
        if (*k)
            continue;
        cleanup_buf struct buf list = BUF_INIT;
        for (k = known; *k; k++)
            buf_printf(&list, "%s%s", k == known ? "" : ", ", *k);
        return bad(l, place, "unknown key \"%.80s\": known are %s", key, buf_str(&list));
    }
    return 0;
}

/* A duration, as "30s" or a number of seconds; absent leaves *ret alone. */
static int read_time(const struct loader *l, const char *place, const json_t *object,
                     const char *key, usec_t *ret)
{
    const json_t *v = json_object_get(object, key);
    char number[64];
    const char *text = json_string_value(v);
    if (!v)
        return 0;
    if (json_is_integer(v))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else
        snprintf(number, sizeof number, "%.6f", json_number_value(v));
    if (!text && !json_is_number(v))
        return bad(l, place, "%s must be a time such as 30s", key);
    struct err err;
    if (duration_parse(text ? text : number, ret, &err) < 0)
        return bad(l, place, "%s: %s", key, err.text);
    return 0;
}

static int read_count(const struct loader *l, const char *place, const json_t *object,
                      const char *key, int64_t min, int64_t max, int64_t *ret)
{
    const json_t *v = json_object_get(object, key);
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
        return bad(l, place, "%s must be a whole number from %" PRId64 " to %" PRId64, key, min,
                   max);
    *ret = json_integer_value(v);
    return 0;
}

static int read_text(const struct loader *l, const char *place, const json_t *object,
                     const char *key, const char **ret)
{
    const json_t *v = json_object_get(object, key);
    if (!v)
        return 0;
    *ret = json_string_value(v);
    return *ret ? 0 : bad(l, place, "%s must be a text", key);
}

static int read_list(const struct loader *l, const char *place, const json_t *object,
                     const char *key, const json_t **ret)
{
    *ret = json_object_get(object, key);
    if (*ret && !json_is_array(*ret))
        return bad(l, place, "%s must be a list", key);
    return 0;
}

/* ---- nodes in short form ---- */

static void set_copy(json_t *to, const char *key, const json_t *value)
{
    if (value)
        json_object_set_new(to, key, json_deep_copy(value));
}

static json_t *node_manifest(const json_t *node, const char *name)
{
    json_t *labels = json_object();
    json_object_set_new(labels, "kubernetes.io/hostname", json_string(name));
    json_object_update(labels, json_object_get(node, "labels"));
    json_t *spec = json_object();
    set_copy(spec, "taints", json_object_get(node, "taints"));
    set_copy(spec, "unschedulable", json_object_get(node, "unschedulable"));
    json_t *allocatable = json_object();
    json_object_set_new(allocatable, "pods", json_integer(110));
    json_object_update(allocatable, json_object_get(node, "allocatable"));
    return json_pack("{s:s, s:s, s:{s:s, s:o}, s:o, s:{s:o}}", "apiVersion", "v1", "kind", "Node",
                     "metadata", "name", name, "labels", labels, "spec", spec, "status",
                     "allocatable", allocatable);
}

static int add_object(const struct loader *l, const char *place, json_t *object, json_t *out)
{
    struct err err;
    if (json_array_size(out) >= MAX_OBJECTS) {
        json_decref(object);
        return bad(l, place, "more than %d objects", MAX_OBJECTS);
    }
    if (manifest_check(object, &err) < 0) {
        json_decref(object);
        return bad(l, place, "%s", err.text);
    }
    manifest_default(object);
    return json_array_append_new(out, object);
}

static int add_nodes(const struct loader *l, const char *place, const json_t *node, json_t *out)
{
    static const char *const keys[] = {"name",   "count",         "allocatable", "labels",
                                       "taints", "unschedulable", NULL};
    const char *name = NULL;
    int64_t count = -1;
    if (check_keys(l, place, node, keys) < 0 || read_text(l, place, node, "name", &name) < 0 ||
        read_count(l, place, node, "count", 0, MAX_OBJECTS, &count) < 0)
        return -1;
    if (!name)
        return bad(l, place, "a node needs a name (with count: its beginning)");
    if (!json_is_object(json_object_get(node, "allocatable")))
        return bad(l, place, "node %.80s: allocatable is missing: write {cpu: 64, memory: 512Gi}",
                   name);
    const json_t *labels = json_object_get(node, "labels");
    if (labels && !json_is_object(labels))
        return bad(l, place, "node %.80s: labels must be key: value", name);
    if (count < 0)
        return add_object(l, place, node_manifest(node, name), out);
    for (int64_t i = 0; i < count; i++) {
        cleanup_free char *numbered = xasprintf("%s-%" PRId64, name, i);
        if (add_object(l, place, node_manifest(node, numbered), out) < 0)
            return -1;
    }
    return 0;
}

/* ---- lists of manifests ---- */

static int add_documents(const struct loader *l, const char *place, const json_t *documents,
                         json_t *out)
{
    for (size_t i = 0; i < json_array_size(documents); i++) {
        cleanup_free char *at = xasprintf("%s%sdocument %zu", place, *place ? ", " : "", i + 1);
        if (add_object(l, at, json_deep_copy(json_array_get(documents, i)), out) < 0)
            return -1;
    }
    return 0;
}

static int add_file(struct loader *l, const char *place, const char *file, json_t *out)
{
    struct err err;
    cleanup_free char *path = file[0] == '/' ? xstrdup(file) : xasprintf("%s/%s", l->dir, file);
    if (++l->files > MAX_FILES)
        return bad(l, place, "more than %d files", MAX_FILES);
    json_t *documents = yaml_load(path, &err);
    if (!documents)
        return bad(l, place, "%s", err.text);
    cleanup_free char *at = xasprintf("%s: %s", place, file);
    int ret = add_documents(l, at, documents, out);
    json_decref(documents);
    return ret;
}

static int add_item(struct loader *l, const char *place, const json_t *item, json_t *out)
{
    if (json_is_string(item))
        return add_file(l, place, json_string_value(item), out);
    if (json_is_object(item) && !json_object_get(item, "kind"))
        return add_nodes(l, place, item, out);
    return add_object(l, place, json_deep_copy(item), out);
}

static int add_list(struct loader *l, const char *place, const json_t *object, const char *key,
                    json_t *out)
{
    const json_t *list;
    if (read_list(l, place, object, key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        cleanup_free char *at = xasprintf("%s%s%s[%zu]", place, *place ? "." : "", key, i);
        if (add_item(l, at, json_array_get(list, i), out) < 0)
            return -1;
    }
    return 0;
}

/* ---- timetable ---- */

static const char *text_at(const json_t *object, const char *key, const char *otherwise)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : otherwise;
}

static enum manifest_kind kind_by_name(const char *name)
{
    for (int k = 0; k < KIND_MAX; k++)
        if (strcmp(manifest_kind_name((enum manifest_kind)k), name) == 0)
            return (enum manifest_kind)k;
    return KIND_MAX;
}

int scenario_target(const json_t *entry, struct scenario_target *ret, struct err *err)
{
    const char *kind = text_at(entry, "kind", ""), *group = text_at(entry, "apiGroup", NULL);
    *ret = (struct scenario_target){
        .kind = kind_by_name(kind),
        .api_group = group,
        .name = text_at(entry, "name", ""),
        .parallelism = -1,
    };
    if (ret->kind == KIND_MAX)
        return err_set(err, ERR_INVALID, "kind \"%.80s\" is not known: write Pod, Job, Node, …",
                       kind);
    if (!ret->name[0])
        return err_set(err, ERR_INVALID, "name is missing");
    if (group && !dialect_by_group(group))
        return err_set(err, ERR_INVALID, "apiGroup %.80s is not that of a PodGroup", group);
    ret->ns = manifest_kind_namespaced(ret->kind) ? text_at(entry, "namespace", "default") : "";
    const json_t *n = json_object_get(entry, "parallelism");
    if (json_is_integer(n) && json_integer_value(n) >= 0)
        ret->parallelism = json_integer_value(n);
    return 0;
}

static int check_targets(const struct loader *l, const char *place, const json_t *step,
                         const char *key, bool scale)
{
    static const char *const keys[] = {"kind", "apiGroup", "namespace", "name", NULL};
    static const char *const scale_keys[] = {"kind", "namespace", "name", "parallelism", NULL};
    const json_t *list;
    if (read_list(l, place, step, key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        cleanup_free char *at = xasprintf("%s.%s[%zu]", place, key, i);
        struct scenario_target t;
        struct err err;
        if (!json_is_object(entry))
            return bad(l, at, "write {kind: Pod, namespace: ml, name: a-0}");
        if (check_keys(l, at, entry, scale ? scale_keys : keys) < 0)
            return -1;
        if (scenario_target(entry, &t, &err) < 0)
            return bad(l, at, "%s", err.text);
        if (scale && (t.kind != KIND_JOB || t.parallelism < 0))
            return bad(l, at, "only a Job is scaled: write {kind: Job, name: x, parallelism: 4}");
    }
    return 0;
}

static int check_names(const struct loader *l, const char *place, const json_t *step,
                       const char *key)
{
    const json_t *list;
    if (read_list(l, place, step, key, &list) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return bad(l, place, "%s[%zu] must be the name of a node", key, i);
    return 0;
}

static int read_step(struct loader *l, const char *place, json_t *json, struct scenario_step *ret)
{
    static const char *const keys[] = {"at",     "every",    "times", "create", "delete",
                                       "cordon", "uncordon", "scale", NULL};
    *ret = (struct scenario_step){.at = -1, .times = 1};
    if (!json_is_object(json))
        return bad(l, place, "write {at: 10s, create: […]}");
    if (check_keys(l, place, json, keys) < 0 || read_time(l, place, json, "at", &ret->at) < 0 ||
        read_time(l, place, json, "every", &ret->every) < 0)
        return -1;
    if (ret->at < 0)
        return bad(l, place, "at is missing: the time, such as 10s");
    if (json_object_get(json, "every")) {
        ret->times = INT64_MAX;
        if (ret->every < USEC_PER_MSEC)
            return bad(l, place, "every must be at least 1ms");
    } else if (json_object_get(json, "times")) {
        return bad(l, place, "times needs every");
    }
    if (read_count(l, place, json, "times", 1, INT32_MAX, &ret->times) < 0 ||
        check_targets(l, place, json, "delete", false) < 0 ||
        check_targets(l, place, json, "scale", true) < 0 ||
        check_names(l, place, json, "cordon") < 0 || check_names(l, place, json, "uncordon") < 0)
        return -1;
    ret->todo = json_copy(json);
    json_t *create = json_array();
    json_object_set_new(ret->todo, "create", create);
    return add_list(l, place, json, "create", create);
}

static int read_timetable(struct loader *l, const json_t *document)
{
    const json_t *list;
    if (read_list(l, "", document, "timetable", &list) < 0)
        return -1;
    size_t n = json_array_size(list);
    if (n > MAX_STEPS)
        return bad(l, "timetable", "more than %d entries", MAX_STEPS);
    l->s->steps = xcalloc(n, sizeof *l->s->steps);
    for (size_t i = 0; i < n; i++) {
        cleanup_free char *place = xasprintf("timetable[%zu]", i);
        l->s->n_steps = i + 1;
        if (read_step(l, place, json_array_get(list, i), &l->s->steps[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- expectations ---- */

static int read_state(const struct loader *l, const char *place, const json_t *json,
                      enum gang_state *ret)
{
    const char *text = NULL;
    *ret = GANG_STATE_MAX;
    if (read_text(l, place, json, "state", &text) < 0 || !text)
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
    return bad(l, place,
               "state \"%.40s\" is not known: write Assembling, Waiting, Planned, "
               "Committing, Scheduled, Recovering, BackedOff or Done",
               text);
}

static int read_reason(const struct loader *l, const char *place, const json_t *json,
                       enum gang_reason_code *ret)
{
    const char *text = NULL;
    *ret = REASON_MAX;
    if (read_text(l, place, json, "reason", &text) < 0 || !text)
        return text ? -1 : 0;
    static const char *const names[] = {
#define X(id, name) name,
        GANG_REASONS(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], text) == 0) {
            *ret = (enum gang_reason_code)i;
            return 0;
        }
    return bad(l, place, "reason \"%.40s\" is not known: write one such as NotEnoughResources",
               text);
}

/* "ns/name", or "name" in namespace default. */
static void split_name(const char *text, struct scenario_expect *e)
{
    const char *slash = strchr(text, '/');
    e->ns = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup("default");
    e->name = xstrdup(slash ? slash + 1 : text);
}

static int read_expect(const struct loader *l, const char *place, const json_t *json,
                       struct scenario_expect *e)
{
    static const char *const gang_keys[] = {"at", "gang", "state", "reason", "bound", "says", NULL};
    static const char *const pod_keys[] = {"at", "pod", "phase", "node", "says", NULL};
    *e = (struct scenario_expect){.at = -1, .bound = -1};
    if (!json_is_object(json) || !json_is_string(json_object_get(json, "gang")) ==
                                     !json_is_string(json_object_get(json, "pod")))
        return bad(l, place, "write {at: 10s, gang: ns/name, …} or {at: 10s, pod: ns/name, …}");
    e->gang = json_object_get(json, "gang") != NULL;
    if (check_keys(l, place, json, e->gang ? gang_keys : pod_keys) < 0 ||
        read_time(l, place, json, "at", &e->at) < 0 || read_state(l, place, json, &e->state) < 0 ||
        read_reason(l, place, json, &e->reason) < 0 ||
        read_count(l, place, json, "bound", 0, INT32_MAX, &e->bound) < 0 ||
        read_text(l, place, json, "phase", &e->phase) < 0 ||
        read_text(l, place, json, "node", &e->node) < 0 ||
        read_text(l, place, json, "says", &e->says) < 0)
        return -1;
    if (e->at < 0)
        return bad(l, place, "at is missing: the time, such as 10s");
    split_name(text_at(json, e->gang ? "gang" : "pod", ""), e);
    e->where = xstrdup(place);
    return 0;
}

static int compare_expects(const void *a, const void *b)
{
    const struct scenario_expect *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int read_expects(const struct loader *l, const json_t *document)
{
    const json_t *list;
    if (read_list(l, "", document, "expect", &list) < 0)
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

/* ---- config ---- */

static const struct config_time {
    const char *key;
    size_t offset; /* in struct gang_config */
} config_times[] = {
    {"holdSeconds", offsetof(struct gang_config, hold)},
    {"assembleSeconds", offsetof(struct gang_config, assemble)},
    {"scheduleTimeoutSeconds", offsetof(struct gang_config, schedule_timeout)},
    {"maxScheduleTimeoutSeconds", offsetof(struct gang_config, schedule_timeout_max)},
    {"backoffSeconds", offsetof(struct gang_config, backoff_initial)},
    {"maxBackoffSeconds", offsetof(struct gang_config, backoff_max)},
    {"reasonRefreshSeconds", offsetof(struct gang_config, reason_refresh)},
    {"starvationSeconds", offsetof(struct gang_config, starvation)},
};

static const struct config_count {
    const char *key;
    int64_t least;
    size_t offset;
} config_counts[] = {
    {"maxHolds", 1, offsetof(struct gang_config, max_holds)},
    {"commitBatchThreshold", 0, offsetof(struct gang_config, commit_batch_threshold)},
};

/* One of two words; without words true or false. */
static const struct config_switch {
    const char *key, *off, *on;
    size_t offset;
} config_switches[] = {
    {"strictOrder", NULL, NULL, offsetof(struct gang_config, strict_order)},
    {"trustPodGroupPriority", NULL, NULL, offsetof(struct gang_config, trust_group_priority)},
    {"onFailedCommit", "complete", "evict", offsetof(struct gang_config, evict_on_failed_commit)},
    {"belowMinimum", "leave", "requeue", offsetof(struct gang_config, requeue_below_minimum)},
    {"expressLane", NULL, NULL, offsetof(struct gang_config, express_lane)},
    {"gates.enabled", NULL, NULL, offsetof(struct gang_config, gates)},
    {"gates.showToAutoscaler", NULL, NULL, offsetof(struct gang_config, show_gated)},
};

static int read_switch(const struct loader *l, const struct config_switch *s, bool *ret)
{
    const json_t *v = json_object_get(l->s->config, s->key);
    const char *word = json_string_value(v);
    if (!v)
        return 0;
    bool on = s->on ? str_eq(word, s->on) : json_is_true(v);
    bool off = s->on ? str_eq(word, s->off) : json_is_false(v);
    if (!on && !off)
        return bad(l, "config", "%s must be %s or %s", s->key, s->on ? s->off : "false",
                   s->on ? s->on : "true");
    *ret = on;
    return 0;
}

static int apply_config(const struct loader *l, struct gang_config *config)
{
    const json_t *json = l->s->config;
    enum { N_TIMES = ARRAY_SIZE(config_times), N_SWITCHES = ARRAY_SIZE(config_switches) };
    enum { N_COUNTS = ARRAY_SIZE(config_counts) };
    const char *keys[N_TIMES + N_SWITCHES + N_COUNTS + 1] = {NULL};
    for (size_t i = 0; i < N_TIMES; i++)
        keys[i] = config_times[i].key;
    for (size_t i = 0; i < N_SWITCHES; i++)
        keys[N_TIMES + i] = config_switches[i].key;
    for (size_t i = 0; i < N_COUNTS; i++)
        keys[N_TIMES + N_SWITCHES + i] = config_counts[i].key;
    if (check_keys(l, "config", json, keys) < 0)
        return -1;
    for (size_t i = 0; i < N_TIMES; i++) {
        usec_t *field = (usec_t *)(void *)((char *)config + config_times[i].offset);
        if (read_time(l, "config", json, config_times[i].key, field) < 0)
            return -1;
    }
    for (size_t i = 0; i < N_SWITCHES; i++) {
        bool *field = (bool *)(void *)((char *)config + config_switches[i].offset);
        if (read_switch(l, &config_switches[i], field) < 0)
            return -1;
    }
    for (size_t i = 0; i < N_COUNTS; i++) {
        size_t *field = (size_t *)(void *)((char *)config + config_counts[i].offset);
        int64_t count = (int64_t)*field;
        if (read_count(l, "config", json, config_counts[i].key, config_counts[i].least, 500000,
                       &count) < 0)
            return -1;
        *field = (size_t)count;
    }
    return 0;
}

void scenario_config(const struct scenario *s, struct gang_config *config)
{
    /* Checked when it was loaded. */
    struct loader l = {.s = (struct scenario *)(uintptr_t)s};
    if (s->config)
        apply_config(&l, config);
}

static int read_config(const struct loader *l, json_t *document)
{
    json_t *json = json_object_get(document, "config");
    struct gang_config scratch = {.hold = 0};
    if (!json)
        return 0;
    if (!json_is_object(json))
        return bad(l, "config", "write {holdSeconds: 20}");
    l->s->config = json_incref(json);
    return apply_config(l, &scratch);
}

/* ---- the file ---- */

static int read_scenario(struct loader *l, json_t *document)
{
    static const char *const keys[] = {"nodes", "objects", "timetable", "config", "expect", NULL};
    if (check_keys(l, "", document, keys) < 0 ||
        add_list(l, "", document, "nodes", l->s->objects) < 0 ||
        add_list(l, "", document, "objects", l->s->objects) < 0)
        return -1;
    if (read_timetable(l, document) < 0 || read_expects(l, document) < 0)
        return -1;
    return read_config(l, document);
}

static int read_documents(struct loader *l, json_t *documents)
{
    json_t *first = json_array_get(documents, 0);
    if (!first)
        return bad(l, "", "is empty: write nodes, objects and a timetable");
    if (json_object_get(first, "kind"))
        return add_documents(l, "", documents, l->s->objects);
    if (!json_is_object(first))
        return bad(l, "", "must be a mapping with nodes, objects, timetable, config or expect");
    if (json_array_size(documents) > 1)
        return bad(l, "", "a scenario is one document: put the manifests below objects");
    return read_scenario(l, first);
}

static struct scenario *load(const char *name, const char *dir, json_t *documents, struct err *err)
{
    if (!documents)
        return NULL;
    struct scenario *s = xcalloc(1, sizeof *s);
    s->name = xstrdup(name);
    s->objects = json_array();
    s->raw = documents;
    struct loader l = {.s = s, .dir = dir, .err = err};
    return read_documents(&l, documents) < 0 ? scenario_free(s) : s;
}

struct scenario *scenario_parse(const char *name, const char *dir, const char *text, size_t len,
                                struct err *err)
{
    return load(name, dir, yaml_parse(name, text, len, err), err);
}

struct scenario *scenario_load(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    return load(path, dir, yaml_load(path, err), err);
}

struct scenario *scenario_free(struct scenario *s)
{
    if (!s)
        return NULL;
    free(s->name);
    json_decref(s->objects);
    for (size_t i = 0; i < s->n_steps; i++)
        json_decref(s->steps[i].todo);
    free(s->steps);
    for (size_t i = 0; i < s->n_expects; i++) {
        free(s->expects[i].ns);
        free(s->expects[i].name);
        free(s->expects[i].where);
    }
    free(s->expects);
    json_decref(s->config);
    json_decref(s->raw);
    free(s);
    return NULL;
}

/* ---- repetitions ---- */

static json_t *fill_in(const json_t *value, const char *number);

static json_t *fill_in_string(const json_t *value, const char *number)
{
    const char *rest = json_string_value(value);
    cleanup_buf struct buf b = BUF_INIT;
    for (const char *at; (at = strstr(rest, "$(n)")) != NULL; rest = at + strlen("$(n)")) {
        buf_append(&b, rest, (size_t)(at - rest));
        buf_puts(&b, number);
    }
    buf_puts(&b, rest);
    return json_string(buf_str(&b));
}

static json_t *fill_in_object(const json_t *value, const char *number)
{
    json_t *copy = json_object();
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)value, key, v)
        json_object_set_new(copy, key, fill_in(v, number));
    return copy;
}

static json_t *fill_in(const json_t *value, const char *number)
{
    if (json_is_string(value))
        return fill_in_string(value, number);
    if (json_is_object(value))
        return fill_in_object(value, number);
    if (!json_is_array(value))
        return json_copy((json_t *)(uintptr_t)value);
    json_t *copy = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(copy, fill_in(json_array_get(value, i), number));
    return copy;
}

json_t *scenario_step_todo(const struct scenario_step *step, int64_t n)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, n);
    return fill_in(step->todo, number);
}
