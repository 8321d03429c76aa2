/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h - where the API server is and how to prove who we are.
 *
 *   1. kubeconfig_load(path): a kubeconfig file's current context, or with path NULL the service
 *      account of the Pod that this process runs in.
 *   2. kubeconfig_token() before each request: a token from a file is read again when it is older
 *      than a minute, or after kubeconfig_expire_token() (the server said 401).
 *
 * One thread. The struct owns all strings; pointers out of it are valid until the next call.
 */
#ifndef MUSTER_K8S_KUBECONFIG_H
#define MUSTER_K8S_KUBECONFIG_H

#include "base/err.h"
#include "base/usec.h"

/* A certificate or key: a file (read by the TLS library at each connection, so that a renewed one
 * is picked up) or the PEM text itself. */
struct kubeconfig_pem {
    char *path;
    char *data;
    size_t len;
};

struct kubeconfig {
    char *server; /* "https://host:port", no slash at the end */
    char *tls_server_name;
    char *proxy;
    bool insecure;
    struct kubeconfig_pem ca, cert, key;
    char *token;
    char *token_file;
    usec_t token_at; /* when token_file was read */
};

struct kubeconfig *kubeconfig_load(const char *path, struct err *err);
struct kubeconfig *kubeconfig_free(struct kubeconfig *kc);

/* The bearer token to send, or NULL when there is none. A file that cannot be read any more leaves
 * the old token in force. */
const char *kubeconfig_token(struct kubeconfig *kc, usec_t now);
/* Whether another token may be had by asking again. */
bool kubeconfig_expire_token(struct kubeconfig *kc);

static inline void kubeconfig_freep(struct kubeconfig **kc)
{
    *kc = kubeconfig_free(*kc);
}
#define cleanup_kubeconfig __attribute__((cleanup(kubeconfig_freep)))

#endif
