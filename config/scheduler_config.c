/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry that kube-scheduler accepts may still break gangs: it may let kube-scheduler bind
 * without muster (ignorable), lose replies (httpTimeout) or exclude members (managedResources).
 */
#include "config/scheduler_config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/edit_distance.h"
#include "base/map.h"
#include "base/utf8.h"
#include "yaml/yaml_tree.h"

/* kube-scheduler's DefaultExtenderTimeout */
#define DEFAULT_HTTP_TIMEOUT (5 * USEC_PER_SEC)
#define MAX_FILE_MIB         1

#define API_VERSION "kubescheduler.config.k8s.io/v1"

struct judge {
    const char *path;
    const struct config *config;
    struct scheduler_config_report *report;
};

enum severity { IS_ERROR, IS_WARNING };

static void finding(struct judge *j, enum severity severity, const struct yaml_item *at,
                    const char *fmt, ...) PRINTF_LIKE(4, 5);
static void finding(struct judge *j, enum severity severity, const struct yaml_item *at,
                    const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    utf8_clean(text);
    if (severity == IS_ERROR && j->report->errors == 0)
        j->report->error_at = j->report->text.len;
    buf_printf(&j->report->text, "%s:%zu: %s: %s\n", j->path, at ? at->line : 1,
               severity == IS_ERROR ? "error" : "warning", text);
    if (severity == IS_ERROR)
        j->report->errors++;
    else
        j->report->warnings++;
}

/* ---- the YAML document ---- */

static const char *text_of(const struct yaml_item *n)
{
    return n && n->kind == ITEM_SCALAR ? n->text : NULL;
}

/* The number of keys and values of a map. */
static size_t entries(const struct yaml_item *map)
{
    return map && map->kind == ITEM_MAP ? map->n : 0;
}

static const struct yaml_item *get(const struct yaml_item *map, const char *key)
{
    for (size_t i = 0; i < entries(map); i += 2)
        if (str_eq(text_of(yaml_item_real(map->items[i])), key))
            return yaml_item_real(map->items[i + 1]);
    return NULL;
}

static const char *get_text(const struct yaml_item *map, const char *key)
{
    const char *s = text_of(get(map, key));
    return s && *s && !str_eq(s, "null") && !str_eq(s, "~") ? s : NULL;
}

static bool get_bool(const struct yaml_item *map, const char *key)
{
    return str_eq(get_text(map, key), "true");
}

static size_t length(const struct yaml_item *list)
{
    return list && list->kind == ITEM_LIST ? list->n : 0;
}

static const struct yaml_item *item(const struct yaml_item *list, size_t i)
{
    return yaml_item_real(list->items[i]);
}

/* ---- which extender is muster ---- */

/* The URL for a kube-scheduler on the same machine: a wildcard address becomes loopback. */
static char *our_prefix(const struct config *c)
{
    cleanup_free char *host = NULL;
    int port = 0;
    config_address(c->listen, &host, &port, NULL); /* config_load() has checked it */
    bool v6 = strchr(host, ':');
    const char *at = str_eq(host, "0.0.0.0") ? "127.0.0.1" : str_eq(host, "::") ? "::1" : host;
    return xasprintf("http://%s%s%s:%d" SCHEDULER_CONFIG_PATH, v6 ? "[" : "", at, v6 ? "]" : "",
                     port);
}

/* The part of a URL from the port on, "9910/scheduler" of "http://x:9910/scheduler/". */
static char *port_and_path(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    const char *slash = strchr(host, '/');
    size_t host_len = slash ? (size_t)(slash - host) : strlen(host);
    const char *colon = memrchr(host, ':', host_len);
    char *s = xstrdup(colon ? colon + 1 : "");
    for (size_t n = strlen(s); n > 0 && s[n - 1] == '/'; n--)
        s[n - 1] = '\0';
    return s;
}

/* Compares port and path only: the host may be a service name or another address. */
static bool is_ours(struct judge *j, const struct yaml_item *extender)
{
    const char *prefix = get_text(extender, "urlPrefix");
    cleanup_free char *ours = our_prefix(j->config);
    cleanup_free char *our_end = port_and_path(ours);
    cleanup_free char *end = prefix ? port_and_path(prefix) : NULL;
    return str_eq(end, our_end);
}

/* ---- keys ---- */

/* The keys of kube-scheduler 1.36 (k8s.io/kube-scheduler/config/v1 types.go). kube-scheduler does
 * not start if the file has other keys. */
static const char *const root_keys[] = {"apiVersion",
                                        "kind",
                                        "parallelism",
                                        "leaderElection",
                                        "clientConnection",
                                        "enableProfiling",
                                        "enableContentionProfiling",
                                        "percentageOfNodesToScore",
                                        "podInitialBackoffSeconds",
                                        "podMaxBackoffSeconds",
                                        "profiles",
                                        "extenders",
                                        "delayCacheUntilActive",
                                        NULL};
static const char *const profile_keys[] = {"schedulerName", "percentageOfNodesToScore", "plugins",
                                           "pluginConfig", NULL};
static const char *const extender_keys[] = {
    "urlPrefix",        "filterVerb",  "preemptVerb", "prioritizeVerb", "weight",
    "bindVerb",         "enableHTTPS", "tlsConfig",   "httpTimeout",    "nodeCacheCapable",
    "managedResources", "ignorable",   NULL};
static const char *const tls_keys[] = {"insecure", "serverName", "certFile", "keyFile", "caFile",
                                       "certData", "keyData",    "caData",   NULL};
static const char *const managed_keys[] = {"name", "ignoredByScheduler", NULL};

static const char *nearest_key(const char *const *known, const char *key)
{
    const char *nearest = NULL;
    size_t best = 4; /* names farther apart are unrelated */
    for (; *known; known++) {
        size_t d = edit_distance(*known, key);
        if (d < best) {
            best = d;
            nearest = *known;
        }
    }
    return nearest;
}

static bool is_known(const char *const *known, const char *key)
{
    for (; *known; known++)
        if (str_eq(*known, key))
            return true;
    return false;
}

static void check_keys(struct judge *j, const struct yaml_item *map, const char *const *known,
                       enum severity severity)
{
    for (size_t i = 0; i < entries(map); i += 2) {
        const struct yaml_item *key = yaml_item_real(map->items[i]);
        const char *name = text_of(key);
        if (!name || is_known(known, name))
            continue;
        const char *near = nearest_key(known, name);
        finding(j, severity, key, "kube-scheduler does not know the key \"%.100s\" here: %s%s%s",
                name, near ? "did you mean " : "remove it", near ? near : "", near ? "?" : "");
    }
}

/* ---- the rules ---- */

static void check_verbs(struct judge *j, const struct yaml_item *e)
{
    static const struct {
        const char *key, *verb, *without;
        enum severity severity;
    } verbs[] = {
        {"filterVerb", "filter", "members do not get their planned nodes", IS_ERROR},
        {"prioritizeVerb", "prioritize", "muster cannot pack GPU pods", IS_WARNING},
        {"preemptVerb", "preempt", "preemption for one pod may break a gang", IS_WARNING},
        {"bindVerb", "bind", "members are bound one by one, not as a gang", IS_ERROR},
    };
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
        const char *verb = get_text(e, verbs[i].key);
        if (!verb)
            finding(j, verbs[i].severity, e, "%s is missing, so %s: write \"%s: %s\"", verbs[i].key,
                    verbs[i].without, verbs[i].key, verbs[i].verb);
        else if (!str_eq(verb, verbs[i].verb))
            finding(j, IS_ERROR, get(e, verbs[i].key),
                    "%s: muster has no verb \"%s\": write \"%s: %s\"", verbs[i].key, verb,
                    verbs[i].key, verbs[i].verb);
    }
    if (get_text(e, "prioritizeVerb")) {
        const char *weight = get_text(e, "weight");
        if (!weight || strtol(weight, NULL, 10) <= 0)
            finding(j, IS_ERROR, weight ? get(e, "weight") : e,
                    "prioritizeVerb requires a positive weight, or kube-scheduler does not start: "
                    "write \"weight: 10\"");
    }
}

/* kube-scheduler parses durations as Go does: a unit is required, and days are not one. */
static bool is_go_duration(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && strchr("hms", text[n - 1]) && strspn(text, "0123456789.hmsu") == n;
}

static void check_timeout(struct judge *j, const struct yaml_item *e)
{
    const char *text = get_text(e, "httpTimeout");
    const struct yaml_item *at = text ? get(e, "httpTimeout") : e;
    usec_t timeout = DEFAULT_HTTP_TIMEOUT;
    struct err err;
    if (text && duration_parse(text, &timeout, &err) < 0) {
        finding(j, IS_ERROR, at, "httpTimeout: %s", err.text);
        return;
    }
    if (text && !is_go_duration(text))
        finding(j, IS_ERROR, at,
                "httpTimeout: %.100s is not a duration for kube-scheduler: write \"httpTimeout: "
                "%gs\"",
                text, (double)timeout / 1e6);
    usec_t need = j->config->hold + CONFIG_HOLD_MARGIN;
    if (timeout < need)
        finding(
            j, IS_ERROR, at,
            "httpTimeout is %gs%s, but muster holds bind calls for up to %gs (holdSeconds): write "
            "at least \"httpTimeout: %gs\", or lower holdSeconds",
            (double)timeout / 1e6, text ? "" : " by default", (double)j->config->hold / 1e6,
            (double)need / 1e6);
}

static void check_ours(struct judge *j, const struct yaml_item *e)
{
    check_verbs(j, e);
    check_timeout(j, e);
    if (get_bool(e, "ignorable"))
        finding(j, IS_ERROR, get(e, "ignorable"),
                "ignorable: true lets kube-scheduler bind single members while muster is down: "
                "write \"ignorable: false\"");
    if (!get_bool(e, "nodeCacheCapable"))
        finding(j, IS_WARNING, get(e, "nodeCacheCapable") ? get(e, "nodeCacheCapable") : e,
                "without nodeCacheCapable, calls contain complete nodes instead of names, about "
                "1,000 times as many bytes: write \"nodeCacheCapable: true\"");
    const struct yaml_item *managed = get(e, "managedResources");
    if (length(managed) > 0)
        finding(j, IS_WARNING, managed,
                "kube-scheduler does not call muster for pods that request none of the "
                "managedResources, and binds such members one by one: remove managedResources");
    if (get_bool(e, "enableHTTPS")) {
        const struct yaml_item *tls = get(e, "tlsConfig");
        if (!get_text(tls, "caFile") && !get_text(tls, "caData"))
            finding(j, IS_ERROR, get(e, "enableHTTPS"),
                    "enableHTTPS without a CA lets kube-scheduler trust every server: write "
                    "tlsConfig.caFile or tlsConfig.caData");
    }
}

static void check_duplicates(struct judge *j, const struct yaml_item *map)
{
    struct map seen = MAP_INIT;
    for (size_t i = 0; i < map->n; i += 2) {
        const struct yaml_item *key = yaml_item_real(map->items[i]);
        const struct yaml_item *first = text_of(key) ? map_get(&seen, text_of(key)) : NULL;
        if (first)
            finding(j, IS_ERROR, key, "%s is set twice (first on line %zu): keep one", text_of(key),
                    first->line);
        else if (text_of(key))
            map_set(&seen, text_of(key), (void *)(uintptr_t)key);
    }
    map_done(&seen);
}

static void check_extenders(struct judge *j, const struct yaml_item *root,
                            const struct yaml_item *list)
{
    const struct yaml_item *binder = NULL;
    int ours = 0;
    for (size_t i = 0; i < length(list); i++) {
        const struct yaml_item *e = item(list, i);
        if (e->kind != ITEM_MAP) {
            finding(j, IS_ERROR, e,
                    "an entry of extenders is not a mapping: write its keys, such as urlPrefix");
            continue;
        }
        check_duplicates(j, e);
        check_keys(j, e, extender_keys, IS_ERROR);
        check_keys(j, get(e, "tlsConfig"), tls_keys, IS_ERROR);
        const struct yaml_item *managed = get(e, "managedResources");
        for (size_t k = 0; k < length(managed); k++)
            check_keys(j, item(managed, k), managed_keys, IS_ERROR);
        if (get_text(e, "bindVerb")) {
            if (binder)
                finding(j, IS_ERROR, get(e, "bindVerb"),
                        "a second extender has a bindVerb (the first is on line %zu), but "
                        "kube-scheduler allows only one: remove this one",
                        binder->line);
            else
                binder = e;
        }
        if (!is_ours(j, e))
            continue;
        if (ours++)
            finding(j, IS_ERROR, e, "muster is registered twice: keep one entry");
        check_ours(j, e);
    }
    if (!ours) {
        cleanup_free char *prefix = our_prefix(j->config);
        finding(j, IS_ERROR, list ? list : root,
                "no extender has urlPrefix %s: add the entry that \"muster scheduler-config\" "
                "prints",
                prefix);
    }
}

static void check_profiles(struct judge *j, const struct yaml_item *list)
{
    for (size_t i = 0; i < length(list); i++) {
        const struct yaml_item *profile = item(list, i);
        const char *name = get_text(profile, "schedulerName");
        check_keys(j, profile, profile_keys, IS_ERROR);
        if (!name && length(list) > 1)
            finding(j, IS_ERROR, profile,
                    "a profile has no schedulerName, but there are several profiles, so "
                    "kube-scheduler does not start: add a schedulerName");
        for (size_t k = 0; name && k < i; k++) {
            const struct yaml_item *other = get(item(list, k), "schedulerName");
            if (str_eq(text_of(other), name))
                finding(j, IS_ERROR, get(profile, "schedulerName"),
                        "two profiles have schedulerName %s (the first is on line %zu), so "
                        "kube-scheduler does not start: keep one",
                        name, other->line);
        }
    }
}

/* ---- disabled rules ---- */

const char *const scheduler_config_rules[] = {"NodeUnschedulable", "NodeAffinity",
                                              "TaintToleration", NULL};

/* Whether plugins.<point>.<list> contains the plugin, or, with or_all, "*". */
static bool names_plugin(const struct yaml_item *plugins, const char *point, const char *list,
                         const char *name, bool or_all)
{
    const struct yaml_item *items = get(get(plugins, point), list);
    for (size_t i = 0; i < length(items); i++) {
        const char *item_name = get_text(item(items, i), "name");
        if (str_eq(item_name, name) || (or_all && str_eq(item_name, "*")))
            return true;
    }
    return false;
}

/* "enabled" by name overrides "disabled", and an extension point overrides multiPoint. */
static bool filters_without(const struct yaml_item *plugins, const char *name)
{
    if (names_plugin(plugins, "filter", "enabled", name, false))
        return false;
    if (names_plugin(plugins, "filter", "disabled", name, true))
        return true;
    return names_plugin(plugins, "multiPoint", "disabled", name, true) &&
           !names_plugin(plugins, "multiPoint", "enabled", name, false);
}

/* Disabled in any profile: muster does not know which profile schedules a pod. */
static unsigned find_rules_off(const struct yaml_item *profiles)
{
    unsigned off = 0;
    for (size_t i = 0; i < length(profiles); i++) {
        const struct yaml_item *plugins = get(item(profiles, i), "plugins");
        for (unsigned r = 0; scheduler_config_rules[r]; r++)
            off |= (unsigned)filters_without(plugins, scheduler_config_rules[r]) << r;
    }
    return off;
}

/* ---- the express lane ---- */

/* The plugins that muster knows, and those of their arguments that change a filter. */
static const struct plugin_rule {
    const char *name;
    const char *fields[3];
} plugin_rules[] = {
    {"NodeAffinity", {"addedAffinity"}},
    {"NodeResourcesFit", {"ignoredResources", "ignoredResourceGroups"}},
    {"PodTopologySpread", {"defaultConstraints"}},
    {"InterPodAffinity", {NULL}}, /* these arguments change only scores */
    {"NodeResourcesBalancedAllocation", {NULL}},
    {"DefaultPreemption", {NULL}},
    {"VolumeBinding", {NULL}}, /* pods with volumes do not take the express lane */
    {"DynamicResources", {NULL}},
};

static void check_plugin_config(struct judge *j, const struct yaml_item *list)
{
    for (size_t i = 0; i < length(list); i++) {
        const struct yaml_item *entry = item(list, i);
        const char *name = get_text(entry, "name");
        const struct plugin_rule *rule = NULL;
        for (size_t k = 0; k < ARRAY_SIZE(plugin_rules); k++)
            if (str_eq(name, plugin_rules[k].name))
                rule = &plugin_rules[k];
        if (!rule)
            finding(j, IS_ERROR, entry,
                    "expressLane: muster does not know the arguments of %.100s: remove them, "
                    "or set expressLane to false",
                    name ? name : "a plugin without a name");
        for (size_t k = 0; rule && k < ARRAY_SIZE(rule->fields) && rule->fields[k]; k++) {
            const struct yaml_item *at = get(get(entry, "args"), rule->fields[k]);
            if (at)
                finding(j, IS_ERROR, at,
                        "expressLane: %s of %s is a rule that muster does not know: remove it, or "
                        "set expressLane to false",
                        rule->fields[k], name);
        }
    }
}

/* Plugins at any extension point except scores may refuse nodes. */
static void check_plugins(struct judge *j, const struct yaml_item *plugins)
{
    static const char *const harmless[] = {"score", "preScore", NULL};
    for (size_t i = 0; i < entries(plugins); i += 2) {
        const struct yaml_item *key = yaml_item_real(plugins->items[i]);
        if (!is_known(harmless, text_of(key) ? text_of(key) : ""))
            finding(j, IS_ERROR, key,
                    "expressLane: plugins.%.100s may add or remove rules, and muster does not know "
                    "them: remove it, or set expressLane to false",
                    text_of(key) ? text_of(key) : "?");
    }
}

/* All pods must bind through muster, and kube-scheduler may use only its default rules. */
static void check_express(struct judge *j, const struct yaml_item *root)
{
    const struct yaml_item *list = get(root, "extenders"), *profiles = get(root, "profiles");
    for (size_t i = 0; i < length(list); i++) {
        const struct yaml_item *e = item(list, i);
        if (!is_ours(j, e) && get_text(e, "filterVerb"))
            finding(
                j, IS_ERROR, e,
                "expressLane: another extender filters nodes by rules that muster does not know: "
                "remove it, or set expressLane to false");
        if (is_ours(j, e) && length(get(e, "managedResources")) > 0)
            finding(
                j, IS_ERROR, e,
                "expressLane: with managedResources, not every pod binds through muster: remove "
                "managedResources, or set expressLane to false");
    }
    for (size_t i = 0; i < length(profiles); i++) {
        const struct yaml_item *profile = item(profiles, i);
        check_plugins(j, get(profile, "plugins"));
        check_plugin_config(j, get(profile, "pluginConfig"));
    }
}

static bool is_hundred(const struct yaml_item *map, bool otherwise)
{
    const char *text = get_text(map, "percentageOfNodesToScore");
    return text ? str_eq(text, "100") : otherwise;
}

/* The value of a profile overrides the value at the top level. */
static bool has_whole_lists(const struct yaml_item *root)
{
    const struct yaml_item *profiles = get(root, "profiles");
    bool all = is_hundred(root, false), each = true;
    for (size_t i = 0; i < length(profiles); i++)
        each &= is_hundred(item(profiles, i), all);
    return length(profiles) > 0 ? each : all;
}

static void check_document(struct judge *j, const struct yaml_item *root)
{
    if (!root || root->kind != ITEM_MAP) {
        finding(
            j, IS_ERROR, root,
            "the file is not a KubeSchedulerConfiguration: \"muster scheduler-config\" prints one");
        return;
    }
    check_duplicates(j, root);
    check_keys(j, root, root_keys, IS_WARNING); /* a newer kube-scheduler may have more */
    const char *kind = get_text(root, "kind");
    if (!str_eq(kind, "KubeSchedulerConfiguration"))
        finding(j, IS_ERROR, kind ? get(root, "kind") : root,
                "kind is %s: write \"kind: KubeSchedulerConfiguration\"", kind ? kind : "missing");
    const char *version = get_text(root, "apiVersion");
    if (!str_eq(version, API_VERSION))
        finding(j, IS_ERROR, version ? get(root, "apiVersion") : root,
                "apiVersion is %s: write \"apiVersion: " API_VERSION "\"",
                version ? version : "missing");
    check_extenders(j, root, get(root, "extenders"));
    check_profiles(j, get(root, "profiles"));
    if (j->config->express_lane)
        check_express(j, root);
    j->report->rules_off = find_rules_off(get(root, "profiles"));
    j->report->whole_lists = has_whole_lists(root);
}

void scheduler_config_check(const char *path, const struct config *config,
                            struct scheduler_config_report *report)
{
    *report = (struct scheduler_config_report){.text = BUF_INIT};
    struct judge j = {.path = path, .config = config, .report = report};
    size_t line;
    struct err err;
    cleanup_yaml struct yaml_tree *t = yaml_tree_load(path, MAX_FILE_MIB, &line, &err);
    if (t) {
        check_document(&j, t->n ? yaml_item_real(t->documents[0].root) : NULL);
        return;
    }
    if (line)
        buf_printf(&report->text, "%s:%zu: error: the file is not valid YAML: %s\n", path, line,
                   err.text);
    else
        buf_printf(&report->text, "%s: error: %s\n", path, err.text);
    report->errors++;
}

/* ---- printing ---- */

/* A schedulerName has the characters of an object name, so it is safe in YAML. */
static bool is_scheduler_name(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= 253 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n &&
           s[0] != '-' && s[0] != '.' && s[n - 1] != '-' && s[n - 1] != '.';
}

int scheduler_config_print(const struct config *config, const char *const *profiles, size_t n,
                           struct buf *out, struct err *err)
{
    /* With these, manifests for KAI, for Volcano and for the chart run unchanged. */
    static const char *const usual[] = {"default-scheduler", "kai-scheduler", "volcano", "muster"};
    if (n == 0) {
        profiles = usual;
        n = ARRAY_SIZE(usual);
    }
    for (size_t i = 0; i < n; i++)
        if (!is_scheduler_name(profiles[i]))
            return err_set(err, ERR_INVALID,
                           "profile \"%s\" is not a valid schedulerName: write lower-case letters, "
                           "digits, '-' and '.'",
                           profiles[i]);
    cleanup_free char *prefix = our_prefix(config);
    buf_printf(out,
               "apiVersion: " API_VERSION "\n"
               "kind: KubeSchedulerConfiguration\n"
               "extenders:\n"
               "- urlPrefix: %s\n"
               "  filterVerb: filter\n"
               "  prioritizeVerb: prioritize\n"
               "  preemptVerb: preempt\n"
               "  bindVerb: bind\n"
               "  weight: 10\n"
               "  nodeCacheCapable: true\n"
               "  ignorable: false\n"
               "  httpTimeout: %gs\n"
               "profiles:\n",
               prefix, (double)config->http_timeout / 1e6);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "- schedulerName: \"%s\"\n", profiles[i]);
    return 0;
}
