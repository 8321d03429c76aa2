/* SPDX-License-Identifier: Apache-2.0 */
#include "test/reference/reference.h"
#include "workload/kinds.h"

static void print_api(const struct workload_kind *k)
{
    printf("| %s | %s", k->kind, *k->group ? k->group : "core");
    for (const char *const *v = k->versions; v && *v; v++)
        printf("%s %s", v == k->versions ? "" : ",", *v);
    printf("%s |", k->versions ? "" : ", any version");
}

static void print_minimum(const struct workload_kind *k)
{
    if (str_eq(k->instead, "*"))
        page_cell("that of the object it owns");
    else if (k->instead)
        page_cell("that of its %s", k->instead);
    else if (k->per_pod)
        page_cell("1; each pod has its own PodGroup");
    else if (k->all)
        page_cell("1 by default; [all pods](../workloads.md#all-or-none) on request");
    else if (k->size)
        page_cell("[from the workload](../workloads.md#kais-rules)");
    else
        page_cell("1");
}

void page_workload_kinds(const char *root)
{
    (void)root;
    page_title("Kinds of workloads",
               "This page is for users whose workloads have no PodGroup. It lists the kinds that "
               "muster knows.",
               "the table in `workload/kinds.c`");
    printf(
        "muster creates PodGroups for the pods of these kinds, and of kinds that the setting "
        "`workloads` adds. A\nworkload of any other kind gets a PodGroup with the minimum 1. "
        "[Workloads](../workloads.md) describes the rules.\n\n"
        "| column | meaning |\n|---|---|\n"
        "| minimum | the number of pods that start together under KAI's rules, unless an "
        "annotation "
        "changes it |\n"
        "| gang | yes: its pods start together. If the `schedulerName` of a pod is not in "
        "`podGroupSchedulers`, and the pod has no annotation of its own, muster reads an owner of "
        "the pod only if the kind of the owner has yes in this column or is added by `workloads` "
        "|\n"
        "| suspend | while this field is true, the workload gets no PodGroup |\n\n"
        "| kind | API group, versions | minimum | gang | suspend |\n|---|---|---|---|---|\n");
    const struct workload_kind *k;
    for (size_t i = 0; (k = workload_kind_at(i)); i++) {
        print_api(k);
        print_minimum(k);
        page_cell("%s", k->together ? "yes" : "");
        if (k->suspend)
            page_cell("`%s`", k->suspend);
        else
            page_cell("%s", "");
        putchar('\n');
    }
}
