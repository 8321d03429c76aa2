/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

#define EXAMPLE "example.com/v1/TrainSet:spec.workers:spec.minWorkers"

void config_workload_done(struct config_workload *w)
{
    free(w->api_version);
    free(w->kind);
    free(w->replicas);
    free(w->minimum);
    *w = (struct config_workload){.kind = NULL};
}

static bool made_of(const char *text, const char *letters)
{
    return *text && strspn(text, letters) == strlen(text);
}

/* Keys separated by dots: "spec.groups[*].replicas", "spec.tasks.*.replicas". */
static int check_path(const char *text, const char *path, struct err *err)
{
    cleanup_free char *copy = xstrdup(path);
    char *rest = copy, *key;
    while ((key = strsep(&rest, ".")) != NULL) {
        size_t len = strlen(key);
        if (len > 3 && strcmp(key + len - 3, "[*]") == 0)
            key[len - 3] = '\0';
        if (strcmp(key, "*") != 0 && !made_of(key, LETTERS DIGITS "-_"))
            return err_set(err, ERR_INVALID,
                           "\"%s\": \"%s\" is not the path of a field: write a path such as "
                           "spec.workers, spec.groups[*].replicas or spec.tasks.*.replicas",
                           text, path);
    }
    return 0;
}

/* "v1" or "example.com/v1". */
static bool is_api_version(const char *text)
{
    const char *slash = strchr(text, '/');
    return made_of(text, LETTERS DIGITS "-./") && *text != '/' &&
           (!slash || (slash[1] && !strchr(slash + 1, '/')));
}

static int check(const char *text, const struct config_workload *w, struct err *err)
{
    if (!w->api_version || !w->replicas || !is_api_version(w->api_version) ||
        !made_of(w->kind, LETTERS DIGITS))
        return err_set(
            err, ERR_INVALID,
            "\"%s\" is not a kind of workload: write the API version, the kind, the path of "
            "the number of pods and, if there is one, the path of the minimum, such "
            "as " EXAMPLE,
            text);
    if (check_path(text, w->replicas, err) < 0)
        return -1;
    return w->minimum ? check_path(text, w->minimum, err) : 0;
}

int config_workload(const char *text, struct config_workload *ret, struct err *err)
{
    cleanup_free char *copy = xstrdup(text);
    char *rest = copy;
    const char *kind = strsep(&rest, ":"), *replicas = strsep(&rest, ":");
    const char *slash = strrchr(kind, '/');
    *ret = (struct config_workload){
        .api_version = slash ? xstrndup(kind, (size_t)(slash - kind)) : NULL,
        .kind = xstrdup(slash ? slash + 1 : kind),
        .replicas = xstrdup_null(replicas),
        .minimum = xstrdup_null(rest),
    };
    if (check(text, ret, err) == 0)
        return 0;
    config_workload_done(ret);
    return -1;
}
