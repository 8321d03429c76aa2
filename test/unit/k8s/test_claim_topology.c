/* SPDX-License-Identifier: Apache-2.0 */
/* Claims and volumes that come in any order, and the facts that are posted about them. */
#include "k8s/list_watch/claim_topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "k8s/encoding/kube_field.h"

struct fixture {
    struct claim_topology *claims;
    struct buf posted; /* one line each */
};

static void put_facts(struct buf *b, const struct gang_claim_facts *f)
{
    buf_printf(b, "%s/%s", f->ns, f->name);
    if (f->selected)
        buf_printf(b, " on %s", f->selected);
    if (f->bound)
        buf_puts(b, f->limited ? " limited" : " bound");
    for (size_t i = 0; i < f->n_terms; i++)
        for (size_t k = 0; k < f->terms[i].n; k++)
            buf_printf(b, " %s=%s", f->terms[i].items[k].key, f->terms[i].items[k].values[0]);
}

static void post(void *arg, struct gang_event *ev)
{
    struct fixture *f = arg;
    if (ev->kind == GANG_EV_CLAIM_SET)
        put_facts(&f->posted, ev->claim);
    else if (ev->kind == GANG_EV_CLAIM_GONE)
        buf_printf(&f->posted, "%s/%s gone", ev->gone.ns, ev->gone.name);
    else
        fail_msg("%s", gang_event_name(ev->kind));
    buf_putc(&f->posted, ';');
    gang_event_done(ev);
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->claims = claim_topology_new(&(struct cluster_sink){post, f});
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    claim_topology_free(f->claims);
    buf_done(&f->posted);
    free(f);
    return 0;
}

/* Compares with what was posted since the last call. */
static void expect(struct fixture *f, const char *want)
{
    assert_string_equal(buf_str(&f->posted), want);
    buf_clear(&f->posted);
}

/* volume NULL: not bound; node NULL: no selected node. */
static void claim(struct fixture *f, const char *name, const char *volume, const char *node)
{
    cleanup_json json_t *json = json_pack(
        "{s:{s:s, s:s, s:{s:s*}}, s:{s:s*}}", "metadata", "namespace", "ml", "name", name,
        "annotations", "volume.kubernetes.io/selected-node", node, "spec", "volumeName", volume);
    struct err err;
    if (claim_topology_set(f->claims, json, &err) < 0)
        fail_msg("%s", err.text);
}

/* zone NULL: usable on any node. */
static void volume(struct fixture *f, const char *name, const char *zone)
{
    cleanup_json json_t *json = json_pack("{s:{s:s}, s:{}}", "metadata", "name", name, "spec");
    json_t *affinity =
        json_pack("{s:{s:[{s:[{s:s, s:s, s:[s*]}]}]}}", "required", "nodeSelectorTerms",
                  "matchExpressions", "key", "zone", "operator", "In", "values", zone);
    if (zone)
        json_object_set(json_object_get(json, "spec"), "nodeAffinity", affinity);
    json_decref(affinity);
    struct err err;
    if (claim_topology_set_volume(f->claims, json, &err) < 0)
        fail_msg("%s", err.text);
}

static void a_volume_may_come_before_or_after_its_claim(void **state)
{
    struct fixture *f = *state;
    volume(f, "v1", "a");
    expect(f, "");
    claim(f, "c1", "v1", NULL);
    expect(f, "ml/c1 limited zone=a;");

    claim(f, "c2", "v2", NULL);
    expect(f, "ml/c2 bound;");
    volume(f, "v2", "b");
    expect(f, "ml/c2 limited zone=b;");
}

static void claims_without_limits_and_unknown_claims_are_not_posted(void **state)
{
    struct fixture *f = *state;
    claim(f, "unbound", NULL, NULL);
    volume(f, "v", NULL);
    claim_topology_gone(f->claims, "ml", "unbound");
    claim_topology_gone(f->claims, "ml", "never seen");
    claim_topology_volume_gone(f->claims, "v");
    claim_topology_volume_gone(f->claims, "never seen");
    expect(f, "");
    claim(f, "bound", "v", NULL);
    volume(f, "v", NULL);
    claim(f, "bound", "v", NULL);
    expect(f, "ml/bound bound;");
}

/* As with a StorageClass that waits for the first consumer: selected, provisioned, bound. */
static void a_claim_is_prepared_and_then_bound(void **state)
{
    struct fixture *f = *state;
    claim(f, "c", NULL, NULL);
    claim(f, "c", NULL, "n1");
    expect(f, "ml/c on n1;");
    claim(f, "c", NULL, "n1");
    expect(f, "");
    volume(f, "v", "a");
    claim(f, "c", "v", "n1");
    expect(f, "ml/c limited zone=a;");
    claim_topology_gone(f->claims, "ml", "c");
    expect(f, "ml/c gone;");
}

static void a_selected_node_may_be_removed(void **state)
{
    struct fixture *f = *state;
    claim(f, "c", NULL, "n1");
    claim(f, "c", NULL, "n2");
    claim(f, "c", NULL, NULL);
    expect(f, "ml/c on n1;ml/c on n2;ml/c;");
    claim_topology_gone(f->claims, "ml", "c");
    expect(f, ""); /* nothing to post: it had no limits */
}

static void a_changed_or_deleted_volume_updates_its_claim(void **state)
{
    struct fixture *f = *state;
    volume(f, "v", "a");
    claim(f, "c", "v", NULL);
    volume(f, "v", "a");
    expect(f, "ml/c limited zone=a;");
    volume(f, "v", "b");
    expect(f, "ml/c limited zone=b;");
    claim_topology_volume_gone(f->claims, "v");
    expect(f, "ml/c bound;");
    volume(f, "v", "c");
    expect(f, "ml/c limited zone=c;");
    volume(f, "v", NULL);
    expect(f, "ml/c bound;");
}

static void a_claim_may_change_to_another_volume(void **state)
{
    struct fixture *f = *state;
    volume(f, "v1", "a");
    volume(f, "v2", "b");
    claim(f, "c", "v1", NULL);
    claim(f, "c", "v2", NULL);
    expect(f, "ml/c limited zone=a;ml/c limited zone=b;");
    volume(f, "v1", "z");
    expect(f, "");
}

static void two_claims_may_name_the_same_volume(void **state)
{
    struct fixture *f = *state;
    claim(f, "c1", "v", NULL);
    claim(f, "c2", "v", NULL);
    expect(f, "ml/c1 bound;ml/c2 bound;");
    volume(f, "v", "a");
    expect(f, "ml/c1 limited zone=a;ml/c2 limited zone=a;");
    claim_topology_gone(f->claims, "ml", "c1");
    expect(f, "ml/c1 gone;");
    volume(f, "v", "b");
    expect(f, "ml/c2 limited zone=b;");
}

static void posted_facts_can_be_read_again(void **state)
{
    struct fixture *f = *state;
    volume(f, "v", "a");
    claim(f, "c", "v", NULL);
    struct gang_claim_facts *facts = claim_topology_facts(f->claims, "ml", "c");
    assert_non_null(facts);
    cleanup_buf struct buf b = BUF_INIT;
    put_facts(&b, facts);
    assert_string_equal(buf_str(&b), "ml/c limited zone=a");
    gang_claim_facts_free(facts);
    claim(f, "c", NULL, NULL);
    assert_null(claim_topology_facts(f->claims, "ml", "c"));
    assert_null(claim_topology_facts(f->claims, "ml", "other"));
}

static void assert_unreadable(struct fixture *f,
                              int (*set)(struct claim_topology *, const json_t *, struct err *),
                              const char *text, const char *says)
{
    json_error_t at;
    cleanup_json json_t *json = json_loads(text, 0, &at);
    struct err err;
    assert_non_null(json);
    assert_int_equal(set(f->claims, json, &err), -1);
    if (!strstr(err.text, says))
        fail_msg("the error \"%s\" does not contain \"%s\"", err.text, says);
}

/* An unreadable object limits nothing: kube-scheduler decides. */
static void unreadable_objects_limit_nothing(void **state)
{
    struct fixture *f = *state;
    volume(f, "v", "a");
    claim(f, "c", "v", NULL);
    expect(f, "ml/c limited zone=a;");
    assert_unreadable(
        f, claim_topology_set_volume,
        "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"nodeAffinity\":{\"required\":{"
        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\"}]}]}}}}",
        "PersistentVolume v: spec.nodeAffinity: nodeSelectorTerms[0]: matchExpressions[0]: "
        "operator");
    expect(f, "ml/c bound;");
    volume(f, "v", "a");
    expect(f, "ml/c limited zone=a;");
    assert_unreadable(
        f, claim_topology_set,
        "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ml\"},\"spec\":{\"volumeName\":7}}",
        "PersistentVolumeClaim ml/c: volumeName is a number");
    expect(f, "ml/c;");
    assert_unreadable(f, claim_topology_set, "{}",
                      "PersistentVolumeClaim: metadata.name is missing");
    assert_unreadable(f, claim_topology_set_volume, "{}",
                      "PersistentVolume: metadata.name is missing");
    expect(f, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_volume_may_come_before_or_after_its_claim, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(claims_without_limits_and_unknown_claims_are_not_posted,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_claim_is_prepared_and_then_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(a_selected_node_may_be_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_or_deleted_volume_updates_its_claim, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_claim_may_change_to_another_volume, setup, teardown),
        cmocka_unit_test_setup_teardown(two_claims_may_name_the_same_volume, setup, teardown),
        cmocka_unit_test_setup_teardown(posted_facts_can_be_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(unreadable_objects_limit_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
