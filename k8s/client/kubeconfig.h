/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h - the address of the API server, and the credentials for it.
 *
 *   1. kubeconfig_load(path) reads the current context of a kubeconfig file. With path NULL, it
 *      uses the service account of the Pod in which this process runs.
 *   2. Call kubeconfig_renew() before requests. It reads the files of the token, the certificates
 *      and the key again after one minute, or after kubeconfig_expire().
 *   3. Call kubeconfig_expire() after a reply of 401.
 *
 * The struct owns all strings. Pointers to them are valid until the next call. Belongs to one
 * thread.
 */
#ifndef MUSTER_K8S_CLIENT_KUBECONFIG_H
#define MUSTER_K8S_CLIENT_KUBECONFIG_H

#include "base/err.h"
#include "base/usec.h"

/* A certificate or key. */
struct kubeconfig_pem {
    char *path; /* NULL: it is inside the kubeconfig */
    char *data; /* the PEM text; NULL: there is none, or its file could never be read */
    size_t len;
};

struct kubeconfig {
    char *server; /* "https://host:port", no slash at the end */
    char *tls_server_name;
    char *proxy;
    bool insecure;
    struct kubeconfig_pem ca, cert, key;
    char *token; /* NULL: none */
    char *token_file;
    usec_t read_at; /* when the files were last read; 0: read them at the next kubeconfig_renew() */
};

struct kubeconfig *kubeconfig_load(const char *path, struct err *err);
/* Accepts NULL; returns NULL. */
struct kubeconfig *kubeconfig_free(struct kubeconfig *kc);

/* Reads the files again if it is time. True: a certificate or the key has changed, so connections
 * with the old one must not be used for new requests. If a file cannot be read, its last content
 * stays valid. */
bool kubeconfig_renew(struct kubeconfig *kc, usec_t now);
/* Makes the next kubeconfig_renew() read the files. Returns whether this can give a new token or
 * client certificate. */
bool kubeconfig_expire(struct kubeconfig *kc);

static inline void kubeconfig_freep(struct kubeconfig **kc)
{
    *kc = kubeconfig_free(*kc);
}
#define cleanup_kubeconfig __attribute__((cleanup(kubeconfig_freep)))

#endif
