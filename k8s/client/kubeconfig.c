/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/client/kubeconfig.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "k8s/encoding/kube_field.h"
#include "k8s/encoding/yaml_to_json.h"

#define ACCOUNT       "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_MAX     (64 * 1024)
#define PEM_MAX       (1024 * 1024)
#define FILES_MAX_AGE (60 * USEC_PER_SEC)

struct kubeconfig *kubeconfig_free(struct kubeconfig *kc)
{
    if (!kc)
        return NULL;
    struct kubeconfig_pem *pems[] = {&kc->ca, &kc->cert, &kc->key};
    for (size_t i = 0; i < ARRAY_SIZE(pems); i++) {
        free(pems[i]->path);
        free(pems[i]->data);
    }
    free(kc->server);
    free(kc->tls_server_name);
    free(kc->proxy);
    free(kc->token);
    free(kc->token_file);
    free(kc);
    return NULL;
}

/* ---- tokens ---- */

static char *read_token(const char *path, struct err *err)
{
    FILE *f = fopen(path, "re");
    if (!f) {
        err_errno(err, "token file %s", path);
        return NULL;
    }
    char *text = xmalloc(TOKEN_MAX + 1);
    size_t len = fread(text, 1, TOKEN_MAX, f);
    fclose(f);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    text[len] = '\0';
    if (len > 0 && strcspn(text, "\r\n") == len)
        return text;
    free(text);
    err_set(err, ERR_INVALID, "token file %s %s", path,
            len ? "has more than one line" : "is empty");
    return NULL;
}

static void renew_token(struct kubeconfig *kc)
{
    char *fresh = kc->token_file ? read_token(kc->token_file, /* err= */ NULL) : NULL;
    if (fresh) {
        free(kc->token);
        kc->token = fresh;
    }
}

/* ---- certificates and keys ---- */

/* Reads the file again. True: its content has changed. */
static bool renew_pem(struct kubeconfig_pem *pem)
{
    FILE *f = pem->path ? fopen(pem->path, "re") : NULL;
    if (!f)
        return false;
    cleanup_free char *text = xmalloc(PEM_MAX);
    size_t len = fread(text, 1, PEM_MAX, f);
    fclose(f);
    text = xrealloc(text, len + 1);
    text[len] = '\0';
    if (len == 0 || (len == pem->len && memcmp(text, pem->data, len) == 0))
        return false;
    free(pem->data);
    pem->data = STEAL(text); /* any bytes, because DER contains zeros */
    pem->len = len;
    return true;
}

/* ---- both ---- */

bool kubeconfig_renew(struct kubeconfig *kc, usec_t now)
{
    if (kc->read_at && now - kc->read_at < FILES_MAX_AGE)
        return false;
    kc->read_at = now;
    renew_token(kc);
    struct kubeconfig_pem *pems[] = {&kc->ca, &kc->cert, &kc->key};
    bool other = false;
    for (size_t i = 0; i < ARRAY_SIZE(pems); i++)
        other = renew_pem(pems[i]) || other;
    return other;
}

bool kubeconfig_expire(struct kubeconfig *kc)
{
    kc->read_at = 0;
    return kc->token_file || kc->cert.path;
}

/* ---- the file ---- */

/* A relative path in a kubeconfig is relative to the folder of the file. The caller frees it. */
static char *beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    if (path[0] == '/' || !slash)
        return xstrdup(path);
    return xasprintf("%.*s/%s", (int)(slash - file), file, path);
}

static int decode_base64(const char *text, char **ret, size_t *ret_len)
{
    size_t len = strlen(text);
    if (len > 16 * 1024 * 1024)
        return -1;
    EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
    unsigned char *out = xmalloc(len + 4);
    int n = 0, rest = 0;
    EVP_DecodeInit(ctx);
    bool good = EVP_DecodeUpdate(ctx, out, &n, (const unsigned char *)text, (int)len) >= 0 &&
                EVP_DecodeFinal(ctx, out + n, &rest) > 0 && n + rest > 0;
    EVP_ENCODE_CTX_free(ctx);
    if (!good) {
        free(out);
        return -1;
    }
    *ret = (char *)out;
    *ret_len = (size_t)(n + rest);
    return 0;
}

/* "<key>-data" takes precedence over "<key>", as in kubectl. */
static int read_pem(const char *file, const json_t *object, const char *key,
                    struct kubeconfig_pem *ret, struct err *err)
{
    const char *path = NULL, *data = NULL;
    cleanup_free char *data_key = xasprintf("%s-data", key);
    if (field_string(object, key, &path, err) < 0 || field_string(object, data_key, &data, err) < 0)
        return -1;
    if (data && *data) {
        if (decode_base64(data, &ret->data, &ret->len) < 0)
            return err_set(err, ERR_INVALID, "%s is not base64", data_key);
    } else if (path && *path) {
        ret->path = beside(file, path);
    }
    return 0;
}

/* The entry called `name` of a list such as clusters: [{name, cluster: {}}]. */
static int find_named(const json_t *config, const char *list, const char *kind, const char *name,
                      const json_t **ret, struct err *err)
{
    const json_t *entries = NULL;
    if (field_array(config, list, &entries, err) < 0)
        return -1;
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *e = json_array_get(entries, i);
        if (str_eq(field_peek(e, "name", NULL), name)) {
            *ret = NULL;
            return field_object(e, kind, ret, err);
        }
    }
    return err_set(err, ERR_NOT_FOUND, "%s has no entry \"%s\"", list, name);
}

/* Whether the URL has a supported scheme and a host. */
static bool has_host(const char *url)
{
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    return scheme && url[scheme] && url[scheme] != '/';
}

static int read_cluster(const char *file, const json_t *cluster, struct kubeconfig *kc,
                        struct err *err)
{
    if (field_copy(cluster, "server", &kc->server, err) < 0 ||
        field_copy(cluster, "tls-server-name", &kc->tls_server_name, err) < 0 ||
        field_copy(cluster, "proxy-url", &kc->proxy, err) < 0 ||
        field_bool(cluster, "insecure-skip-tls-verify", &kc->insecure, err) < 0 ||
        read_pem(file, cluster, "certificate-authority", &kc->ca, err) < 0)
        return -1;
    if (!kc->server || !has_host(kc->server))
        return err_set(err, ERR_INVALID, "server must be an http:// or https:// address");
    size_t len = strlen(kc->server);
    while (kc->server[len - 1] == '/')
        kc->server[--len] = '\0';
    return 0;
}

static int read_user(const char *file, const json_t *user, struct kubeconfig *kc, struct err *err)
{
    static const char *const unsupported[] = {"exec", "auth-provider", "username", "as"};
    for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++)
        if (json_object_get(user, unsupported[i]))
            return err_set(err, ERR_UNSUPPORTED,
                           "%s is not supported: use a token or a client certificate",
                           unsupported[i]);
    const char *token_file = NULL;
    if (field_copy(user, "token", &kc->token, err) < 0 ||
        field_string(user, "tokenFile", &token_file, err) < 0 ||
        read_pem(file, user, "client-certificate", &kc->cert, err) < 0 ||
        read_pem(file, user, "client-key", &kc->key, err) < 0)
        return -1;
    if (token_file && *token_file) {
        kc->token_file = beside(file, token_file);
        free(kc->token);
        kc->token = read_token(kc->token_file, err);
        if (!kc->token)
            return -1;
    }
    bool cert = kc->cert.path || kc->cert.data, key = kc->key.path || kc->key.data;
    if (cert != key)
        return err_set(err, ERR_INVALID, "%s is missing",
                       cert ? "client-key" : "client-certificate");
    return 0;
}

static int read_context(const char *file, const json_t *config, struct kubeconfig *kc,
                        struct err *err)
{
    const char *name = NULL, *cluster = NULL, *user = NULL;
    const json_t *object = NULL;
    if (field_string(config, "current-context", &name, err) < 0)
        return -1;
    if (!name || !*name)
        return err_set(err, ERR_INVALID,
                       "current-context is not set (kubectl config use-context NAME sets it)");
    if (find_named(config, "contexts", "context", name, &object, err) < 0 ||
        field_string(object, "cluster", &cluster, err) < 0 ||
        field_string(object, "user", &user, err) < 0)
        return err_wrap(err, "current-context");
    if (find_named(config, "clusters", "cluster", cluster ? cluster : "", &object, err) < 0 ||
        read_cluster(file, object, kc, err) < 0)
        return err_wrap(err, "cluster %s", cluster ? cluster : "of the context");
    if (!user || !*user)
        return 0;
    if (find_named(config, "users", "user", user, &object, err) < 0 ||
        read_user(file, object, kc, err) < 0)
        return err_wrap(err, "user %s", user);
    return 0;
}

static struct kubeconfig *load_file(const char *path, struct err *err)
{
    cleanup_json json_t *documents = yaml_load(path, err);
    if (!documents)
        return NULL;
    cleanup_kubeconfig struct kubeconfig *kc = xcalloc(1, sizeof *kc);
    const json_t *config = json_array_get(documents, 0);
    if (!json_is_object(config)) {
        err_set(err, ERR_INVALID, "kubeconfig %s: not a kubeconfig", path);
        return NULL;
    }
    if (read_context(path, config, kc, err) < 0) {
        err_wrap(err, "kubeconfig %s", path);
        return NULL;
    }
    return STEAL(kc);
}

/* ---- the Pod's service account ---- */

static struct kubeconfig *load_in_cluster(struct err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    if (!host || !*host || !port || !*port) {
        err_set(err, ERR_NOT_FOUND,
                "no kubeconfig given and not in a Pod (KUBERNETES_SERVICE_HOST and _PORT are not "
                "set): use --kubeconfig FILE");
        return NULL;
    }
    cleanup_kubeconfig struct kubeconfig *kc = xcalloc(1, sizeof *kc);
    kc->server = strchr(host, ':') ? xasprintf("https://[%s]:%s", host, port)
                                   : xasprintf("https://%s:%s", host, port);
    kc->ca.path = xstrdup(ACCOUNT "/ca.crt");
    kc->token_file = xstrdup(ACCOUNT "/token");
    kc->token = read_token(kc->token_file, err);
    if (!kc->token) {
        err_wrap(err, "service account");
        return NULL;
    }
    return STEAL(kc);
}

struct kubeconfig *kubeconfig_load(const char *path, struct err *err)
{
    return path ? load_file(path, err) : load_in_cluster(err);
}
