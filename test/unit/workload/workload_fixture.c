/* SPDX-License-Identifier: Apache-2.0 */
#include "workload_fixture.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/duration.h"
#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"

struct workload_rules fixture_rules(void)
{
    static char kai[] = "kai-scheduler", volcano[] = "volcano", home[] = "scheduling.run.ai";
    static char *schedulers[] = {kai, volcano};
    return (struct workload_rules){
        .on = true, .schedulers = schedulers, .n_schedulers = 2, .home = home};
}

/* ---- a group as text ---- */

static void put_map(struct buf *b, const char *what, const json_t *map)
{
    const char *key;
    json_t *v;
    if (json_object_size(map) > 0)
        buf_printf(b, " %s", what);
    json_object_foreach((json_t *)(uintptr_t)map, key, v)
        buf_printf(b, " %s=%s", key, json_string_value(v));
}

static bool has_children(const struct workload_group *g, const struct workload_role *r)
{
    for (size_t i = 0; i < g->n_roles; i++)
        if (str_eq(g->roles[i].parent, r->name))
            return true;
    return false;
}

static void put_role(struct buf *b, const struct workload_group *g, const struct workload_role *r)
{
    buf_printf(b, " [%s", r->name);
    if (r->parent)
        buf_printf(b, " in %s", r->parent);
    if (has_children(g, r))
        buf_printf(b, " children %d", (int)r->min_children);
    else
        buf_printf(b, " %d", (int)r->min_member);
    buf_putc(b, ']');
}

char *fixture_words(const struct workload_group *g)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s %s min %d", g->api_group, g->name, (int)g->min_member);
    if (g->min_children >= 0)
        buf_printf(&b, " children %d", (int)g->min_children);
    for (size_t i = 0; i < g->n_roles; i++)
        put_role(&b, g, &g->roles[i]);
    if (g->role)
        buf_printf(&b, " as %s", g->role);
    if (g->queue)
        buf_printf(&b, " queue %s", g->queue);
    if (g->priority_class)
        buf_printf(&b, " priority %s", g->priority_class);
    if (g->preemptibility)
        buf_printf(&b, " %s", g->preemptibility);
    if (g->preemption_delay) {
        buf_puts(&b, " delay ");
        duration_format(&b, g->preemption_delay);
    }
    put_map(&b, "resources", g->min_resources);
    assert_non_null(g->labels);
    assert_non_null(g->annotations);
    put_map(&b, "labels", g->labels);
    put_map(&b, "annotations", g->annotations);
    buf_printf(&b, " of %s/%s/%s %s", g->owner.api_version, g->owner.kind, g->owner.name,
               g->owner.uid);
    if (g->shared)
        buf_puts(&b, " shared");
    return buf_steal(&b);
}

char *fixture_ask(const struct workload_rules *rules, const json_t *const *chain, size_t n)
{
    struct workload_group g;
    struct err err;
    int r = workload_group(rules, chain, n, &g, &err);
    if (r < 0)
        return xasprintf("error: %s", err.text);
    if (r > 0)
        return xstrdup("no PodGroup");
    char *words = fixture_words(&g);
    workload_group_done(&g);
    return words;
}

/* ---- files ---- */

#define LEFT_OUT "left out"

/* A merge patch that also reaches into lists: {"0": …}. */
static json_t *merged(json_t *to, const json_t *patch)
{
    const char *key;
    json_t *v;
    if (!json_is_object(patch))
        return json_incref((json_t *)(uintptr_t)patch);
    json_t *out = json_is_array(to) || json_is_object(to) ? json_deep_copy(to) : json_object();
    json_object_foreach((json_t *)(uintptr_t)patch, key, v)
    {
        size_t i = strtoul(key, NULL, 10);
        if (json_is_array(out) && i == json_array_size(out))
            json_array_append_new(out, merged(NULL, v));
        else if (json_is_array(out))
            json_array_set_new(out, i, merged(json_array_get(out, i), v));
        else if (json_is_null(v))
            json_object_del(out, key);
        else
            json_object_set_new(out, key, merged(json_object_get(out, key), v));
    }
    return out;
}

static bool answers(const char *path, const json_t *question, const json_t *docs,
                    fixture_seen *seen, void *arg)
{
    const char *scheduler = json_string_value(json_object_get(question, "scheduler"));
    const char *home = json_string_value(json_object_get(question, "home"));
    const char *gives = json_string_value(json_object_get(question, "gives"));
    const char *name = json_string_value(json_object_get(question, "name"));
    const json_t *count = json_object_get(question, "chain");
    size_t n = count ? (size_t)json_integer_value(count) : json_array_size(docs) - 1;
    assert_non_null(gives);
    assert_non_null(name);
    assert_true(n > 0 && n < json_array_size(docs));
    cleanup_json json_t *chain = json_array();
    cleanup_free const json_t **items = xcalloc(n, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        const json_t *patch = json_array_get(json_object_get(question, "patch"), i);
        json_t *doc = json_array_get(docs, i + 1);
        json_array_append_new(chain, patch ? merged(doc, patch) : json_deep_copy(doc));
        items[i] = json_array_get(chain, i);
    }
    if (!scheduler || *scheduler)
        json_object_set_new(json_object_get(items[0], "spec"), "schedulerName",
                            json_string(scheduler ? scheduler : "kai-scheduler"));
    struct workload_rules rules = fixture_rules();
    cleanup_free char *own_home = xstrdup(home ? home : rules.home);
    rules.home = own_home;
    bool left_out =
        strcmp(gives, LEFT_OUT) == 0 && workload_wants_podgroup(&rules, items[0]) == WORKLOAD_NO;
    cleanup_free char *got = left_out ? xstrdup(LEFT_OUT) : fixture_ask(&rules, items, n);
    if (seen)
        seen(items, n, gives, arg);
    if (strcmp(got, gives) == 0)
        return true;
    fprintf(stderr, "%s: %s\n  got  %s\n  want %s\n", path, name, got, gives);
    return false;
}

int fixture_run(const char *path, fixture_seen *seen, void *arg)
{
    struct err err;
    size_t i;
    json_t *question;
    int wrong = 0;
    cleanup_json json_t *docs = yaml_load(path, &err);
    if (!docs)
        fail_msg("%s", err.text);
    const json_t *cases = json_object_get(json_array_get(docs, 0), "cases");
    assert_true(json_array_size(cases) > 0);
    assert_true(json_array_size(docs) > 1);
    json_array_foreach(cases, i, question) wrong += !answers(path, question, docs, seen, arg);
    return wrong;
}
