/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube-scheduler's calls, through their real handlers (server/routes/verb_routes.h), to the core of
 * the fixture. An input is a list of calls, separated by a line "--". The first letter of each is
 * the verb: f(ilter), p(rioritize), (pre)e(mpt), b(ind). Some calls get a turn at once, others are
 * posted.
 *
 * Every request gets one answer, with JSON of that verb. Filter and prioritize name only nodes that
 * were offered, and prioritize names all of them.
 */
#include "server/routes/verb_routes.h"

#include <strings.h>

#include "server/loop/call_table.h"
#include "test/fuzz/core_fixture.h"
#include "test/fuzz/fake_http.h"

#define MOST_CALLS 16

struct loop {
    struct core_fixture *fixture;
    struct call_table *calls;
    struct fuzz_dice dice;
    struct extender_call *posted;
};

static const char between[] = "\n--\n";

/* ---- replaces server/loop/loop.c ---- */

static void serve(struct loop *l, struct extender_call *call)
{
    struct gang_event ev;
    if (!extender_call_prepare(call, l->fixture->core))
        return;
    call_table_enter(l->calls, call, l->fixture->now, &ev);
    core_fixture_step(l->fixture, &ev, 1);
    if (!call->deferred)
        call_table_settle(l->calls, call);
}

bool loop_serve(struct loop *l, struct extender_call *call)
{
    if (fuzz_roll(&l->dice, 4) == 0)
        return false;
    serve(l, call);
    return true;
}

void loop_post(struct loop *l, struct loop_mail *mail)
{
    HOLDS(mail->kind == LOOP_CALL, "another mail");
    l->posted = CONTAINER_OF(mail, struct extender_call, mail);
}

/* ---- replies ---- */

static bool see_effect(void *arg, const struct gang_effect *e)
{
    struct loop *l = arg;
    if (extender_call_reply_id(e) == 0)
        return false;
    struct extender_call *call = call_table_answer(l->calls, e, l->fixture->now);
    HOLDS(call, "an answer without a call");
    extender_call_send(call);
    return true;
}

/* Keys are case-insensitive. */
static const json_t *member(const json_t *object, const char *want)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strcasecmp(key, want) == 0)
            return value;
    }
    return NULL;
}

static const json_t *nodes_of(const json_t *args)
{
    const json_t *names = member(args, "NodeNames");
    return json_is_array(names) ? names : member(member(args, "Nodes"), "items");
}

static const char *name_of(const json_t *node)
{
    const char *name = json_string_value(node);
    return name ? name : json_string_value(member(member(node, "metadata"), "name"));
}

static void check_offered(const json_t *request, const char *name)
{
    const json_t *nodes = nodes_of(request);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (str_eq(name_of(json_array_get(nodes, i)), name))
            return;
    HOLDS(false, "\"%s\" was not offered", name ? name : "a node without a name");
}

static void check_filter(const json_t *reply, const json_t *request)
{
    static const char *const refused[] = {"FailedNodes", "FailedAndUnresolvableNodes"};
    const json_t *nodes = nodes_of(reply);
    HOLDS(json_is_string(member(reply, "Error")), "no Error");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        check_offered(request, name_of(json_array_get(nodes, i)));
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        const char *name;
        json_t *why;
        json_object_foreach((json_t *)(uintptr_t)member(reply, refused[i]), name, why)
        {
            HOLDS(json_string_length(why) > 0, "%s is refused without a word", name);
            check_offered(request, name);
        }
    }
}

/* One score for each name, or none if the call was invalid. */
static void check_prioritize(const json_t *reply, const json_t *request)
{
    size_t n = json_array_size(reply);
    HOLDS(json_is_array(reply) && (n == 0 || n == json_array_size(nodes_of(request))), "%zu scores",
          n);
    for (size_t i = 0; i < n; i++) {
        json_int_t score = json_integer_value(member(json_array_get(reply, i), "Score"));
        HOLDS(score >= 0 && score <= 10, "a score of %d", (int)score);
        check_offered(request, json_string_value(member(json_array_get(reply, i), "Host")));
    }
}

static void check_reply(const struct fake_request *f)
{
    const char *text = buf_str(&f->r.reply);
    cleanup_tree json_t *reply = fuzz_json("the reply", text, f->r.reply.len);
    /* A duplicate key is refused, so the last one is the only one. */
    cleanup_tree json_t *request = json_loadb(buf_str(&f->sent), f->sent.len, 0, NULL);
    switch (f->r.route->tag) {
    case EXTENDER_FILTER:
        HOLDS(f->status == 200, "filter answers %d", f->status);
        check_filter(reply, request);
        break;
    case EXTENDER_PRIORITIZE:
        HOLDS(f->status == 200, "prioritize answers %d", f->status);
        check_prioritize(reply, request);
        break;
    case EXTENDER_PREEMPT:
        HOLDS(f->status == 500 || json_is_object(member(reply, "NodeNameToMetaVictims")),
              "preempt answers %s", text);
        break;
    default:
        HOLDS(f->status == 200 && json_is_string(member(reply, "Error")), "bind answers %s", text);
        break;
    }
}

/* ---- calls ---- */

static const struct http_route *route_of(char letter)
{
    static const char letters[] = "fpeb";
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? &verb_routes[at - letters] : NULL;
}

static struct fake_request *call(struct verb_context *context, const char *data, size_t size)
{
    const struct http_route *route = size ? route_of(*data) : NULL;
    if (!route)
        return NULL;
    struct loop *l = context->loop;
    struct fake_request *f = fake_request_new(route, route->path);
    fake_request_body(f, data + 1, size - 1);
    route->handle(context, &f->r);
    struct extender_call *posted = STEAL(l->posted);
    if (posted)
        serve(l, posted);
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct metrics metrics;
    struct err err;
    fuzz_begin();
    struct loop loop = {.fixture = core_fixture_new(), .calls = call_table_new(&err)};
    loop.dice = fuzz_dice(data, size);
    loop.fixture->effect = see_effect;
    loop.fixture->arg = &loop;
    HOLDS(loop.calls, "%s", err.text);
    struct verb_context context = {.loop = &loop, .metrics = &metrics};
    struct fake_request *requests[MOST_CALLS];
    size_t n = 0;
    const char *p = (const char *)data, *end = p + size;
    while (p < end && n < MOST_CALLS) {
        const char *cut = memmem(p, (size_t)(end - p), between, strlen(between));
        requests[n] = call(&context, p, (size_t)((cut ? cut : end) - p));
        n += requests[n] != NULL;
        p = cut ? cut + strlen(between) : end;
        core_fixture_wait(loop.fixture, USEC_PER_SEC, 8);
    }
    core_fixture_wait(loop.fixture, 30 * USEC_PER_SEC, 30);
    core_fixture_free(loop.fixture);
    HOLDS(call_table_count(loop.calls) == 0, "calls are left in the table");
    for (size_t i = 0; i < n; i++) {
        check_reply(requests[i]);
        fake_request_free(requests[i]);
    }
    call_table_free(loop.calls);
    return 0;
}
