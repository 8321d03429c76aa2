/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declared PodGroups: each pod describes its PodGroup, either with Koordinator's annotations
 * (gang.scheduling.koordinator.sh/…) or with the older labels of scheduler-plugins v0.18
 * (pod-group.scheduling.sigs.k8s.io/name and …/min-available). Koordinator reads both, and also
 * uses the annotations on PodGroups of scheduling.sigs.k8s.io.
 *
 * Koordinator defines the precedence. The link is the label that names a PodGroup object, else the
 * label …/name, else the annotation …/name. The minimum is the label, else the annotation. Source:
 * koordinator apis/extension/coscheduling.go.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"

#define GANG  "gang.scheduling.koordinator.sh/"
#define LABEL "pod-group.scheduling.sigs.k8s.io/"

/* Bounded, because a bundle is planned as one gang. */
#define MAX_BUNDLE      64
#define MAX_BUNDLE_TEXT ((size_t)32 << 10)

/* ---- texts ---- */

/* Parses a count from 0 to INT32_MAX. */
static bool parse_count(const char *text, int64_t *ret)
{
    size_t len = strlen(text);
    if (len == 0 || len > 10 || strspn(text, "0123456789") != len)
        return false;
    *ret = strtoll(text, NULL, 10);
    return *ret <= INT32_MAX;
}

#define A_COUNT "a whole number from 0 to 2147483647"

/* ---- annotations ---- */

static int read_total(const json_t *object, const char *min_name, struct gang_group_facts *facts,
                      struct err *err)
{
    const char *text = dialect_annotation(object, GANG "total-number");
    int64_t total = 0;
    if (!text)
        return 0;
    if (!parse_count(text, &total))
        return dialect_bad_annotation(GANG "total-number", text, A_COUNT, err);
    if (total < facts->min_member)
        return err_set(err, ERR_INVALID,
                       "annotation " GANG "total-number is %" PRId64 ", %s is %" PRId64
                       "; raise the total or lower the minimum",
                       total, min_name, facts->min_member);
    return 0;
}

/* In Koordinator, Strict releases all places if one member cannot be placed, and NonStrict keeps
 * them. In muster both mean the same: a plan reserves all slots or none, and no member is bound
 * before all are at bind. */
static int read_mode(const json_t *object, struct err *err)
{
    const char *text = dialect_annotation(object, GANG "mode");
    if (!text || str_eq(text, "Strict") || str_eq(text, "NonStrict"))
        return 0;
    return dialect_bad_annotation(GANG "mode", text, "Strict or NonStrict", err);
}

static int read_match(const json_t *object, struct gang_group_facts *facts, struct err *err)
{
    static const char *const keys[] = {GANG "match-policy", LABEL "match-policy"};
    static const char *const words[] = {
        [MATCH_ONCE] = "once-satisfied",
        [MATCH_RUNNING] = "waiting-and-running",
        [MATCH_WAITING] = "only-waiting",
    };
    for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
        const char *text = dialect_annotation(object, keys[k]);
        if (!text)
            continue;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
            if (str_eq(text, words[i])) {
                facts->match = (enum gang_match)i;
                return 0;
            }
        return dialect_bad_annotation(keys[k], text,
                                      "once-satisfied, waiting-and-running or only-waiting", err);
    }
    return 0;
}

/* 0 leaves the default. */
static int read_waiting_time(const json_t *object, struct gang_group_facts *facts, struct err *err)
{
    const char *text = dialect_annotation(object, GANG "waiting-time");
    usec_t time = 0;
    if (!text)
        return 0;
    if (duration_parse_units(text, &time) < 0)
        return dialect_bad_annotation(GANG "waiting-time", text,
                                      "a duration with a unit, such as 600s or 10m", err);
    if (time > 0)
        facts->schedule_timeout = time;
    return 0;
}

/* ---- bundles ---- */

static bool same_ref(const struct gang_ref *ref, const char *ns, size_t ns_len, const char *name)
{
    return strlen(ref->ns) == ns_len && strncmp(ref->ns, ns, ns_len) == 0 &&
           strcmp(ref->name, name) == 0;
}

static bool in_bundle(const struct gang_group_facts *facts, const char *ns, size_t ns_len,
                      const char *name)
{
    for (size_t i = 0; i < facts->n_bundle; i++)
        if (same_ref(&facts->bundle[i], ns, ns_len, name))
            return true;
    return same_ref(&facts->ref, ns, ns_len, name);
}

static int add_to_bundle(const char *text, struct gang_group_facts *facts, struct err *err)
{
    const char *slash = text ? strchr(text, '/') : NULL;
    char q[FIELD_QUOTED];
    if (!slash || slash == text || !slash[1] || strchr(slash + 1, '/') || strlen(text) > 63 + 254)
        return err_set(err, ERR_INVALID,
                       "annotation " GANG "groups has the entry %s, must be namespace/name",
                       field_quote(text ? text : "(no text)", q));
    size_t ns_len = (size_t)(slash - text);
    if (!in_bundle(facts, text, ns_len, slash + 1))
        facts->bundle[facts->n_bundle++] = (struct gang_ref){
            xstrdup(facts->ref.api_group), xstrndup(text, ns_len), xstrdup(slash + 1)};
    return 0;
}

static int read_groups(const json_t *object, struct gang_group_facts *facts, struct err *err)
{
    const char *text = dialect_annotation(object, GANG "groups");
    if (!text)
        return 0;
    bool fits = strlen(text) <= MAX_BUNDLE_TEXT;
    cleanup_json json_t *list = fits ? json_loads(text, 0, NULL) : NULL;
    if (fits && !json_is_array(list))
        return dialect_bad_annotation(GANG "groups", text,
                                      "a JSON list such as [\"ml/a\",\"ml/b\"]", err);
    size_t n = json_array_size(list);
    if (!fits || n > MAX_BUNDLE)
        return err_set(err, ERR_INVALID, "annotation " GANG "groups names more than %d gangs",
                       MAX_BUNDLE);
    facts->bundle = xcalloc(n, sizeof *facts->bundle);
    for (size_t i = 0; i < n; i++)
        if (add_to_bundle(json_string_value(json_array_get(list, i)), facts, err) < 0)
            return -1;
    return 0;
}

int dialect_koordinator_annotations(const json_t *object, const char *min_name,
                                    struct gang_group_facts *facts, struct err *err)
{
    if (read_total(object, min_name, facts, err) < 0 || read_mode(object, err) < 0 ||
        read_match(object, facts, err) < 0 || read_waiting_time(object, facts, err) < 0)
        return -1;
    return read_groups(object, facts, err);
}

/* ---- declared PodGroups ---- */

static int declared_decode(const json_t *pod, struct gang_group_facts *facts, struct err *err)
{
    const char *label = dialect_label(pod, LABEL "min-available");
    const char *text = label ? label : dialect_annotation(pod, GANG "min-available");
    const char *name = label ? "label " LABEL "min-available" : "annotation " GANG "min-available";
    char q[FIELD_QUOTED];
    facts->min_field = "min-available";
    if (!text)
        return err_set(err, ERR_INVALID,
                       "min-available is missing: set %s to the number of pods that must be placed "
                       "together",
                       dialect_label(pod, LABEL "name") ? "label " LABEL "min-available"
                                                        : "annotation " GANG "min-available");
    if (!parse_count(text, &facts->min_member))
        return err_set(err, ERR_INVALID, "%s is %s, must be " A_COUNT, name, field_quote(text, q));
    return dialect_koordinator_annotations(pod, name, facts, err);
}

static const struct dialect_field declared_fields[] = {
    {"label pod-group.scheduling.sigs.k8s.io/min-available", DIALECT_READS,
     "this many pods start together, or none starts. Takes precedence over the annotation "
     "`gang.scheduling.koordinator.sh/min-available`"},
    {"annotation gang.scheduling.koordinator.sh/min-available", DIALECT_READS,
     "this many pods start together, or none starts"},
    KOORDINATOR_FIELDS,
    {NULL, 0, NULL},
};

const struct dialect dialect_lightweight = {
    .name = "lightweight",
    .api_group = "pod-group.scheduling.sigs.k8s.io",
    .versions = (const char *const[]){NULL},
    .links = (const struct dialect_key[]){{KEY_LABEL, LABEL "name"}, {KEY_END, NULL}},
    .family = "sigs",
    .fields = declared_fields,
    .decode = declared_decode,
};

const struct dialect dialect_koordinator = {
    .name = "koordinator",
    .api_group = "gang.scheduling.koordinator.sh",
    .versions = (const char *const[]){NULL},
    .default_timeout = 600 * USEC_PER_SEC,
    .links = (const struct dialect_key[]){{KEY_ANNOTATION, GANG "name"}, {KEY_END, NULL}},
    .family = "sigs",
    .fields = declared_fields,
    .decode = declared_decode,
};
