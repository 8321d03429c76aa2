/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "test/reference/reference.h"

/* The sections of the page. Pods that declare their gang are one: they share a table. */
static const struct {
    const struct dialect *dialect;
    const char *title, *note;
} sections[] = {
    {&dialect_kai, "KAI (`kai`)",
     "There are two versions of KAI's PodGroup: KAI itself defines v2alpha2, and published "
     "examples use v2. Each has\nfields that the other does not have. The table lists the fields "
     "of both. Whichever\nversion a PodGroup uses, muster reads each field that the installed CRD "
     "defines.\n\n"},
    {&dialect_volcano, "Volcano (`volcano`)", ""},
    {&dialect_xk8s, "scheduler-plugins (`x-k8s`)", ""},
    {&dialect_sigs, "ACS, Koordinator and older scheduler-plugins (`sigs`)",
     "The annotations in this table are those of the PodGroup, not of its pods.\n\n"
     "All members must have the same value of the label `alibabacloud.com/compute-class`. "
     "Otherwise the gang waits with\nthe reason `MembersDiffer`. A member without the label "
     "differs from a member with the label.\n\n"},
    {&dialect_koordinator, "Pods that declare their gang",
     "These labels and annotations are set on the pods; there is no PodGroup object. If pods "
     "differ, muster uses those of\nthe oldest pod. If the annotation "
     "`gang.scheduling.koordinator.sh/name` names the gang, the default time limit of\nan attempt "
     "is 600 s.\n\n"},
};

/* ---- links ---- */

static void print_keys(const struct dialect_key *keys)
{
    for (const struct dialect_key *k = keys; k && k->kind != KEY_END; k++)
        printf("%s %s `%s`", k == keys ? "" : ", or", k->kind == KEY_LABEL ? "label" : "annotation",
               k->name);
    printf(" |");
}

static void print_links(void)
{
    printf(
        "## Links\n\n"
        "Each row is a dialect. A pod names its PodGroup in one of these labels and "
        "annotations. If muster creates the\nPodGroup, it sets the label or annotation that is "
        "named first in the fourth column.\n\n"
        "A pod that names two different PodGroups belongs to neither of them. `sigs`, "
        "`lightweight` and\n`koordinator` are an exception: if a pod names different PodGroups in "
        "several of these dialects, muster uses the\ndialect that comes first in the table.\n\n"
        "| dialect | API group | versions | the pod names its PodGroup in | the pod names its "
        "subgroup or task in |\n|---|---|---|---|---|\n");
    for (const struct dialect *const *d = dialects; *d; d++) {
        printf("| `%s` | %s |", (*d)->name, (*d)->api_group);
        for (const char *const *v = (*d)->versions; *v; v++)
            printf("%s %s", v == (*d)->versions ? "" : ",", *v);
        printf("%s |", dialect_has_objects(*d) ? "" : " no object");
        print_keys((*d)->links);
        print_keys((*d)->roles);
        putchar('\n');
    }
}

/* ---- fields ---- */

static const char *use_of(const struct dialect_field *f)
{
    switch (f->use) {
    case DIALECT_READS:
        return "reads";
    case DIALECT_WRITES:
        return "writes";
    case DIALECT_CREATES:
        return "creates";
    case DIALECT_READS | DIALECT_CREATES:
        return "reads, creates";
    case 0:
        return "ignores";
    default:
        page_fail("%s: this page has no word for the use %u", f->path, f->use);
    }
}

static void print_fields(const struct dialect *d)
{
    printf("| field | muster | meaning |\n|---|---|---|\n");
    for (const struct dialect_field *f = d->fields; f->path; f++) {
        const char *key = strchr(f->path, ' ');
        printf("| %.*s`%s` | %s |", key ? (int)(key + 1 - f->path) : 0, f->path,
               key ? key + 1 : f->path, use_of(f));
        page_cell("%s", f->meaning);
        putchar('\n');
    }
}

/* ---- phases ---- */

static const struct phase_case {
    const char *text;
    enum gang_state state;
    int running, succeeded; /* of eight members, all needed */
    bool timed_out;
} phase_cases[] = {
    {"Assembling", GANG_ASSEMBLING, 0, 0, false},
    {"Waiting", GANG_WAITING, 0, 0, false},
    {"Planned", GANG_PLANNED, 0, 0, false},
    {"Committing", GANG_COMMITTING, 0, 0, false},
    {"Recovering", GANG_RECOVERING, 0, 0, false},
    {"Scheduled", GANG_SCHEDULED, 0, 0, false},
    {"Scheduled, and enough members are running to meet the minimum", GANG_SCHEDULED, 8, 0, false},
    {"BackedOff after a timeout", GANG_BACKED_OFF, 0, 0, true},
    {"BackedOff for another reason", GANG_BACKED_OFF, 0, 0, false},
    {"Done, and enough members have succeeded to meet the minimum", GANG_DONE, 0, 8, false},
    {"Done, and fewer members have succeeded", GANG_DONE, 0, 3, false},
};

static void print_phase(const struct dialect *d, const struct phase_case *c)
{
    static const struct gang_ref ref = {(char *)(uintptr_t) "g", (char *)(uintptr_t) "ml",
                                        (char *)(uintptr_t) "g"};
    const struct gang_status status = {.ref = &ref,
                                       .uid = "",
                                       .state = c->state,
                                       .text = "",
                                       .help = "",
                                       .timed_out = c->timed_out,
                                       .needed = 8,
                                       .members = 8,
                                       .running = c->running,
                                       .succeeded = c->succeeded};
    const struct dialect_view view = {NULL, NULL, 0};
    cleanup_json json_t *patch = d->status(&status, &view);
    page_cell("%s", field_peek(patch, "status", "phase", NULL));
}

static void print_phases(void)
{
    printf("\n## Phases\n\n"
           "muster derives `status.phase` from the [state](states.md) of the gang. In `x-k8s`, "
           "`Failed` is final, so a gang that\nbacks off does not get this phase. In `volcano`, "
           "the phase is `Unknown` while a part of the gang runs and the gang is\nAssembling, "
           "Waiting, Recovering or BackedOff.\n\n| the gang is |");
    for (const struct dialect *const *d = dialects; *d; d++)
        if ((*d)->status)
            printf(" `%s` |", (*d)->name);
    printf("\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < ARRAY_SIZE(phase_cases); i++) {
        printf("|");
        page_cell("%s", phase_cases[i].text);
        for (const struct dialect *const *d = dialects; *d; d++)
            if ((*d)->status)
                print_phase(*d, &phase_cases[i]);
        putchar('\n');
    }
}

void page_podgroup_fields(const char *root)
{
    (void)root;
    page_title("Fields of PodGroups",
               "This page is for users who write PodGroups. It lists every field of each PodGroup "
               "API, and what muster does with it.",
               "the tables in `k8s/dialect/`");
    printf("[PodGroups](../podgroups.md) has examples and the rules.\n\n"
           "| muster | meaning |\n|---|---|\n"
           "| reads | muster uses this field of every PodGroup |\n"
           "| writes | muster writes this field of every PodGroup |\n"
           "| creates | muster sets this field in PodGroups that it creates |\n"
           "| ignores | muster does not use this field |\n\n");
    print_links();
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
        printf("\n## %s\n\n%s", sections[i].title, sections[i].note);
        print_fields(sections[i].dialect);
    }
    print_phases();
}
