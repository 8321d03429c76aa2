/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.h - where the API server is and how to prove who we are.
 *
 *   1. kubeconfig_load(path): a kubeconfig file's current context, or with path NULL the service
 *      account of the Pod that this process runs in.
 *   2. kubeconfig_renew() before requests: what is in files of their own (token, certificates, key)
 *      is read again when it is older than a minute, or after kubeconfig_expire() (the server said
 *      401).
 *
 * One thread. The struct owns all strings; pointers out of it are valid until the next call.
 */
#ifndef MUSTER_K8S_CLIENT_KUBECONFIG_H
#define MUSTER_K8S_CLIENT_KUBECONFIG_H

#include "base/err.h"
#include "base/usec.h"

/* A certificate or key. */
struct kubeconfig_pem {
    char *path; /* NULL: it is in the kubeconfig */
    char *data; /* the PEM text; NULL: there is none, or the file could not be read so far */
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
    usec_t read_at; /* when the files were read; 0: never, or they are to be read again */
};

struct kubeconfig *kubeconfig_load(const char *path, struct err *err);
struct kubeconfig *kubeconfig_free(struct kubeconfig *kc);

/* Reads the files again where it is time. True: a certificate or the key is another, so connections
 * made with the former are to be left. A file that cannot be read any more leaves what it said
 * before in force. */
bool kubeconfig_renew(struct kubeconfig *kc, usec_t now);
/* Whether another token or client certificate may be had by reading again. */
bool kubeconfig_expire(struct kubeconfig *kc);

static inline void kubeconfig_freep(struct kubeconfig **kc)
{
    *kc = kubeconfig_free(*kc);
}
#define cleanup_kubeconfig __attribute__((cleanup(kubeconfig_freep)))

#endif
