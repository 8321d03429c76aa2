/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario_timetable.h"

#include "base/log.h"
#include "simulator/controllers.h"

static void not_there(const struct scenario_target *t)
{
    log_warning("Object in the scenario's timetable does not exist", "kind",
                manifest_kind_name(t->kind), "namespace", t->ns, "name", t->name, NULL);
}

static void delete_all(struct store *s, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t;
        if (scenario_target(json_array_get(list, i), &t, NULL) < 0)
            continue;
        struct object *o = store_find(s, t.kind, t.api_group, t.ns, t.name);
        if (o)
            run_delete(s, o);
        else
            not_there(&t);
    }
}

static void scale_all(struct store *s, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t;
        if (scenario_target(json_array_get(list, i), &t, NULL) < 0)
            continue;
        struct object *o = store_find(s, t.kind, NULL, t.ns, t.name);
        if (o)
            run_scale(s, o, t.parallelism);
        else
            not_there(&t);
    }
}

static void patch_all(struct store *s, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        struct scenario_target t;
        if (scenario_target(entry, &t, NULL) < 0)
            continue;
        struct object *o = store_find(s, t.kind, t.api_group, t.ns, t.name);
        if (o)
            run_patch(s, o, scenario_patch(entry));
        else
            not_there(&t);
    }
}

static void cordon_all(struct store *s, const json_t *list, bool on)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct scenario_target t = {.kind = KIND_NODE, .ns = ""};
        t.name = json_string_value(json_array_get(list, i));
        struct object *o = store_find(s, KIND_NODE, NULL, "", t.name);
        if (!o) {
            not_there(&t);
            continue;
        }
        store_patch(s, o, json_pack("{s:{s:b}}", "spec", "unschedulable", on));
        store_report(s, SIMULATED_CHANGED, o, NULL, on ? "cordoned" : "uncordoned");
    }
}

/* ---- steps ---- */

static void step_run(void *owner, struct task *t);

/* Schedules repetition n of the step, from 0. */
static void step_at(struct scenario_timetable *table, size_t step, int64_t n)
{
    const struct scenario_step *s = &table->scenario->steps[step];
    struct sim_clock *clock = table->store->clock;
    struct task *t = sim_clock_at(clock, clock->origin + s->at + n * s->every, step_run, table);
    t->id = step;
    t->n = n;
}

static void step_run(void *owner, struct task *t)
{
    struct scenario_timetable *table = owner;
    struct store *s = table->store;
    const struct scenario_step *step = &table->scenario->steps[t->id];
    json_t *todo = scenario_step_todo(step, t->n);
    const json_t *create = json_object_get(todo, "create");
    delete_all(s, json_object_get(todo, "delete"));
    for (size_t i = 0; i < json_array_size(create); i++)
        run_create(s, json_deep_copy(json_array_get(create, i)));
    scale_all(s, json_object_get(todo, "scale"));
    patch_all(s, json_object_get(todo, "patch"));
    cordon_all(s, json_object_get(todo, "cordon"), true);
    cordon_all(s, json_object_get(todo, "uncordon"), false);
    json_decref(todo);
    if (step->every && t->n + 1 < step->times)
        step_at(table, t->id, t->n + 1);
}

void scenario_timetable_start(struct scenario_timetable *table)
{
    for (size_t i = 0; i < table->scenario->n_steps; i++)
        step_at(table, i, 0);
}
