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
    printf("muster knows how many pods of these workloads start together. The setting `workloads` "
           "adds further kinds. For a\nworkload of any other kind, muster creates a PodGroup whose "
           "minimum is 1 pod. [Workloads](../workloads.md)\ndescribes the rules.\n\n"
           "| column | meaning |\n|---|---|\n"
           "| minimum | how many pods start together. An annotation can change this number |\n"
           "| gang | applies if the `schedulerName` of the pods is not in `podGroupSchedulers`. "
           "yes: muster reads the [annotations](../workloads.md#which-pods-get-one) of the pods "
           "and of the workload. Empty: it reads only those of the pods |\n"
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
