/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials: from a kubeconfig, and from token files that are renewed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "k8s/client/kubeconfig.h"

static char dir[] = "/tmp/muster-kubeconfig-XXXXXX";

static char *put_bytes(const char *name, const char *data, size_t len)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    fclose(f);
    return path;
}

static char *put(const char *name, const char *text)
{
    return put_bytes(name, text, strlen(text));
}

#define CONFIG(cluster, user)                                                                      \
    "apiVersion: v1\nkind: Config\ncurrent-context: b\n"                                           \
    "clusters:\n- name: other\n  cluster: {server: \"https://wrong\"}\n"                           \
    "- name: c\n  cluster: " cluster "\n"                                                          \
    "users:\n- name: u\n  user: " user "\n"                                                        \
    "contexts:\n- name: a\n  context: {cluster: other, user: none}\n"                              \
    "- name: b\n  context: {cluster: c, user: u}\n"

static struct kubeconfig *load(const char *text, struct err *err)
{
    cleanup_free char *path = put("config", text);
    return kubeconfig_load(path, err);
}

static struct kubeconfig *load_good(const char *text)
{
    struct err err;
    struct kubeconfig *kc = load(text, &err);
    if (!kc)
        fail_msg("%s", err.text);
    return kc;
}

static void the_current_context_is_used(void **state)
{
    (void)state;
    struct kubeconfig *kc =
        load_good(CONFIG("{server: \"https://10.0.0.1:6443/\", tls-server-name: api, "
                         "certificate-authority-data: aGVsbG8=}",
                         "{token: secret}"));
    assert_string_equal(kc->server, "https://10.0.0.1:6443");
    assert_string_equal(kc->tls_server_name, "api");
    assert_int_equal(kc->ca.len, 5);
    assert_memory_equal(kc->ca.data, "hello", 5);
    assert_string_equal(kc->token, "secret");
    assert_false(kubeconfig_expire(kc)); /* there is no other token */
    kubeconfig_free(kc);
}

static void paths_are_relative_to_the_file(void **state)
{
    (void)state;
    struct kubeconfig *kc =
        load_good(CONFIG("{server: \"https://x\", certificate-authority: pki/ca.crt}",
                         "{client-certificate: /abs/c.crt, client-key-data: a2V5}"));
    cleanup_free char *ca = xasprintf("%s/pki/ca.crt", dir);
    assert_string_equal(kc->ca.path, ca);
    assert_string_equal(kc->cert.path, "/abs/c.crt");
    assert_null(kc->cert.data);
    assert_memory_equal(kc->key.data, "key", 3);
    kubeconfig_free(kc);
}

static void a_token_file_is_read_again(void **state)
{
    (void)state;
    free(put("token", "one\n"));
    struct kubeconfig *kc =
        load_good(CONFIG("{server: \"https://x\"}", "{token: old, tokenFile: token}"));
    usec_t now = usec_now();
    kubeconfig_renew(kc, now);
    assert_string_equal(kc->token, "one");
    free(put("token", "two"));
    kubeconfig_renew(kc, now + 59 * USEC_PER_SEC);
    assert_string_equal(kc->token, "one");
    kubeconfig_renew(kc, now + 61 * USEC_PER_SEC);
    assert_string_equal(kc->token, "two");
    free(put("token", "three"));
    assert_true(kubeconfig_expire(kc));
    kubeconfig_renew(kc, now + 62 * USEC_PER_SEC);
    assert_string_equal(kc->token, "three");
    /* While the file is being replaced, the old token stays. */
    free(put("token", ""));
    assert_true(kubeconfig_expire(kc));
    kubeconfig_renew(kc, now + 63 * USEC_PER_SEC);
    assert_string_equal(kc->token, "three");
    kubeconfig_free(kc);
}

static void certificates_are_read_again(void **state)
{
    (void)state;
    free(put("crt", "one"));
    free(put("key", "k"));
    struct kubeconfig *kc = load_good(CONFIG("{server: \"https://x\", certificate-authority: ca}",
                                             "{client-certificate: crt, client-key: key}"));
    usec_t now = usec_now();
    kubeconfig_renew(kc, now);
    assert_memory_equal(kc->cert.data, "one", 4);
    assert_memory_equal(kc->key.data, "k", 2);
    assert_null(kc->ca.data); /* the file does not exist yet */
    free(put("crt", "two"));
    assert_false(kubeconfig_renew(kc, now + 59 * USEC_PER_SEC));
    assert_true(kubeconfig_renew(kc, now + 61 * USEC_PER_SEC));
    assert_memory_equal(kc->cert.data, "two", 4);
    free(put("ca", "root"));
    assert_true(kubeconfig_expire(kc));
    assert_true(kubeconfig_renew(kc, now + 62 * USEC_PER_SEC));
    assert_memory_equal(kc->ca.data, "root", 5);
    /* An unchanged file, or one that is being replaced, is not a change. */
    free(put("crt", ""));
    kubeconfig_expire(kc);
    assert_false(kubeconfig_renew(kc, now + 63 * USEC_PER_SEC));
    assert_memory_equal(kc->cert.data, "two", 4);
    kubeconfig_free(kc);
}

static void a_certificate_may_contain_nul_bytes(void **state)
{
    (void)state;
    static const char der[] = {0x30, 0x01, 0x00, 0x05, 0x00, 0x07};
    free(put_bytes("der", der, sizeof der));
    struct kubeconfig *kc =
        load_good(CONFIG("{server: \"https://x\", certificate-authority: der}", "{}"));
    usec_t now = usec_now();
    assert_true(kubeconfig_renew(kc, now));
    assert_int_equal(kc->ca.len, sizeof der);
    assert_memory_equal(kc->ca.data, der, sizeof der);
    assert_false(kubeconfig_renew(kc, now + 61 * USEC_PER_SEC));
    kubeconfig_free(kc);
}

static void errors_name_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {CONFIG("{server: \"https://x\"}", "{exec: {command: aws}}"),
         "user u: exec is not supported: use a token or a client certificate"},
        {CONFIG("{server: \"https://x\"}", "{auth-provider: {name: gcp}}"),
         "auth-provider is not supported"},
        {CONFIG("{server: \"x:6443\"}", "{}"), "cluster c: server must be"},
        {CONFIG("{server: \"https:///\"}", "{}"), "cluster c: server must be"},
        {CONFIG("{server: \"https://x\", certificate-authority-data: \"%%\"}", "{}"),
         "certificate-authority-data is not base64"},
        {CONFIG("{server: \"https://x\"}", "{tokenFile: missing}"), "token file"},
        {CONFIG("{server: \"https://x\"}", "{client-certificate: a}"), "client-key is missing"},
        {CONFIG("{server: \"https://x\"}", "{token: 7}"), "token is a number"},
        {"current-context: b\ncontexts: []\n", "contexts has no entry \"b\""},
        {"contexts: []\n", "current-context is not set"},
        {"[]\n", "not a kubeconfig"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = {.text = ""};
        assert_null(load(cases[i].text, &err));
        if (!strstr(err.text, cases[i].says) || !strstr(err.text, dir))
            fail_msg("case %zu: the error is \"%s\"", i, err.text);
    }
}

static void outside_a_pod_there_is_no_service_account(void **state)
{
    (void)state;
    unsetenv("KUBERNETES_SERVICE_HOST");
    struct err err;
    assert_null(kubeconfig_load(NULL, &err));
    assert_non_null(strstr(err.text, "--kubeconfig"));
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    static const char *const names[] = {"config", "token", "crt", "key", "ca"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_free char *path = xasprintf("%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_current_context_is_used),
        cmocka_unit_test(paths_are_relative_to_the_file),
        cmocka_unit_test(a_token_file_is_read_again),
        cmocka_unit_test(certificates_are_read_again),
        cmocka_unit_test(a_certificate_may_contain_nul_bytes),
        cmocka_unit_test(errors_name_the_field),
        cmocka_unit_test(outside_a_pod_there_is_no_service_account),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
