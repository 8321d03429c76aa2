/* SPDX-License-Identifier: Apache-2.0 */
#include "grouper_fixture.h"

#include "base/log.h"
#include "k8s/decode/decode.h"
#include "k8s/dialect/dialect_common.h"
#include "test/lib/yaml_object.h"

static char *ours[] = {(char *)(uintptr_t) "kai-scheduler"};

char *json_of(const char *yaml)
{
    cleanup_json json_t *json = yaml_object(yaml);
    return json_dumps(json, JSON_COMPACT);
}

void answers(struct gfixture *x, const char *route, unsigned status, const char *yaml)
{
    cleanup_free char *json = json_of(yaml);
    fake_answer(x->w->api, route, status, json);
}

void answers_link(struct gfixture *x, const char *pod_yaml, const char *name, const char *group)
{
    cleanup_json json_t *pod = yaml_object(pod_yaml);
    json_object_set_new(json_object_get(pod, "metadata"), "annotations",
                        json_pack("{s:s}", "pod-group-name", group));
    cleanup_free char *json = json_dumps(pod, JSON_COMPACT);
    cleanup_free char *route = xasprintf("PATCH " POD("%s"), name);
    fake_answer(x->w->api, route, 200, json);
}

static void on_pod_set(void *arg, json_t *pod)
{
    struct gfixture *x = arg;
    struct err err;
    grouper_overlay(x->grouper, pod);
    struct gang_pod_facts *f = decode_pod(pod, &err);
    if (!f)
        fail_msg("%s", err.text);
    grouper_pod(x->grouper, pod, f);
    char *state = f->awaits_group ? xasprintf("waits: %s", f->awaits_group)
                  : f->group.name ? xasprintf("in %s as %s", f->group.name, f->role ? f->role : "-")
                                  : xstrdup("alone");
    free(map_set(&x->pods, f->name, state));
    gang_pod_facts_free(f);
}

void show_pod(struct gfixture *x, const char *yaml)
{
    cleanup_json json_t *pod = yaml_object(yaml);
    on_pod_set(x, pod);
}

static struct gang_ref ref_of(const char *name)
{
    return (struct gang_ref){letters(KAI_GROUP), letters("ns"), letters(name)};
}

void show_group(struct gfixture *x, const char *yaml)
{
    cleanup_json json_t *group = yaml_object(yaml);
    const char *name = field_peek(group, "metadata", "name", NULL);
    struct gang_ref ref = ref_of(name);
    podgroups_set(x->w->groups, &ref, group);
    grouper_group(x->grouper, &ref, group);
}

void group_gone(struct gfixture *x, const char *name)
{
    struct gang_ref ref = ref_of(name);
    podgroups_gone(x->w->groups, &ref);
    grouper_group_gone(x->grouper, &ref);
}

const char *state_of(struct gfixture *x, const char *pod)
{
    const char *state = map_get(&x->pods, pod);
    return state ? state : "never shown";
}

void idle(struct gfixture *x)
{
    usec_t end = usec_now() + 100 * USEC_PER_MSEC;
    while (usec_now() < end)
        client_run(x->w->client, 10 * USEC_PER_MSEC, x->w->fd);
}

void lists_rays(struct gfixture *x, const char *item)
{
    cleanup_free char *json = json_of(item);
    cleanup_free char *list =
        xasprintf("{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[%s]}", json);
    fake_answer(x->w->api, RAYS, 200, list);
}

void pushes_ray(struct gfixture *x, const char *item)
{
    cleanup_free char *json = json_of(item);
    cleanup_free char *line = xasprintf("{\"type\":\"MODIFIED\",\"object\":%s}\n", json);
    until(x, count(x, W_RAYS) >= 1);
    idle(x);
    fake_push(x->w->api, W_RAYS, line, FAKE_OPEN);
}

char *linked_ray_pod(void)
{
    cleanup_free char *plain = json_of(RAY_POD("p", "up"));
    cleanup_json json_t *pod = json_loads(plain, 0, NULL);
    json_object_set_new(json_object_get(pod, "metadata"), "annotations",
                        json_pack("{s:s}", "pod-group-name", RAY_MADE));
    return json_dumps(pod, JSON_COMPACT);
}

void make_ray(struct gfixture *x)
{
    cleanup_free char *pod = linked_ray_pod();
    answers(x, RAY, 200, RAY_OF("1", "2"));
    lists_rays(x, RAY_OF("1", "2"));
    answers(x, MAKE, 201, "{}");
    fake_answer(x->w->api, LINK("p"), 200, pod);
    fake_answer(x->w->api, "GET " POD("p"), 200, pod);
    show_pod(x, RAY_POD("p", "up"));
    assert_state(x, "p", "in " RAY_MADE " as -");
    cleanup_json json_t *made = body_of(x->w, MAKE, 0);
    json_object_set_new(json_object_get(made, "metadata"), "resourceVersion", json_string("9"));
    cleanup_free char *text = json_dumps(made, JSON_COMPACT);
    show_group(x, text);
    cleanup_json json_t *link = body_of(x->w, LINK("p"), 0);
    assert_string_equal(field_peek(link, "metadata", "labels", "kai.scheduler/subgroup-name", NULL),
                        "w");
}

static int set_up_with(void **state, usec_t look)
{
    void *inner;
    if (set_up(&inner) < 0)
        return -1;
    struct gfixture *x = xcalloc(1, sizeof *x);
    x->w = inner;
    x->rules = (struct workload_rules){
        .on = true, .schedulers = ours, .n_schedulers = 1, .home = letters(KAI_GROUP)};
    podgroups_serve(x->w->groups, &dialect_kai, "v2alpha2", /* status_subresource= */ true);
    x->grouper = grouper_new(&(struct grouper_options){.rules = &x->rules,
                                                       .client = x->w->client,
                                                       .groups = x->w->groups,
                                                       .writer = x->w->writer,
                                                       .metrics = x->w->metrics,
                                                       .show = on_pod_set,
                                                       .arg = x,
                                                       .retry = 20 * USEC_PER_MSEC,
                                                       .look = look,
                                                       .patience = 100 * USEC_PER_MSEC});
    grouper_ready(x->grouper, &dialect_kai, true);
    log_setup(LOG_ERROR, LOG_TEXT);
    *state = x;
    return 0;
}

int grouper_set_up(void **state)
{
    return set_up_with(state, 30 * USEC_PER_MSEC);
}

int grouper_set_up_patient(void **state)
{
    return set_up_with(state, 3600 * USEC_PER_SEC);
}

int grouper_tear_down(void **state)
{
    struct gfixture *x = *state;
    grouper_free(x->grouper);
    map_for_each (e, &x->pods)
        free(e->value);
    map_done(&x->pods);
    void *inner = x->w;
    free(x);
    return tear_down(&inner);
}
