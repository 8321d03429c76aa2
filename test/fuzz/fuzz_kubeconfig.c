/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeconfig files. An accepted file names a server; an invalid file gets an error message. Bytes
 * after a NUL are the file of a certificate.
 */
#include "k8s/client/kubeconfig.h"

#include "test/fuzz/fuzz.h"

/* Checks that no byte is lost. */
static void check_pem(const struct kubeconfig_pem *pem)
{
    cleanup_free char *copy = xmalloc(pem->len + 1);
    HOLDS(!pem->data == !pem->len, "a certificate of no bytes, or bytes of none");
    if (pem->data)
        memcpy(copy, pem->data, pem->len);
}

static void check_files(struct kubeconfig *kc, const char *pem, size_t size)
{
    free(kc->ca.path);
    kc->ca.path = xstrdup(fuzz_file(1, pem, size));
    kubeconfig_renew(kc, fuzz_time);
    HOLDS(!size || (kc->ca.len == size && memcmp(kc->ca.data, pem, size) == 0),
          "the file says something else");
    kubeconfig_expire(kc);
    HOLDS(!kubeconfig_renew(kc, fuzz_time), "a file that is the same counts as another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {.code = ERR_NONE};
    cleanup_free char *text = fuzz_text(data, size);
    size_t len = strlen(text); /* the bytes after a NUL are a certificate file */
    /* An input must not make the target read files of the machine. */
    for (char *p = text; p < text + len; p++)
        if (*p == '/' && (p == text || p[-1] != '/') && p[1] != '/')
            *p = '_';
    fuzz_begin();
    cleanup_kubeconfig struct kubeconfig *kc = kubeconfig_load(fuzz_file(0, text, len), &err);
    if (!kc) {
        fuzz_check_error(&err);
        return 0;
    }
    const char *host = kc->server ? strstr(kc->server, "://") : NULL;
    HOLDS(host && host[3], "no server");
    if (len < size)
        check_files(kc, text + len + 1, size - len - 1);
    check_pem(&kc->ca);
    check_pem(&kc->cert);
    check_pem(&kc->key);
    return 0;
}
