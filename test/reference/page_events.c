/* SPDX-License-Identifier: Apache-2.0 */
#include "gang/effect.h"
#include "k8s/write/write.h"
#include "test/reference/reference.h"

static const struct {
    const char *reason, *kind, *when;
    bool warning;
} events[] = {
#define X(id, reason, warning, kind, when) {reason, kind, when, warning},
    GANG_KUBE_EVENTS(X)
#undef X
#define X(id, reason, object, when) {reason, object, when, true},
        WRITER_EVENTS(X)
#undef X
};

/* The code of the reason at the start of a row, or in a title. */
static void check_explained(const char *page, const char *reason)
{
    cleanup_free char *row = xasprintf("\n| `%s` |", reason);
    cleanup_free char *title = xasprintf("\n### `%s`", reason);
    if (!strstr(page, row) && !strstr(page, title))
        page_fail("docs/pending.md has no section and no row for the event %s", reason);
}

static void print_event(const char *reason, bool warning, const char *object, const char *when)
{
    printf("| `%s` | %s | %s |", reason, warning ? "Warning" : "Normal", object);
    page_cell("%s", when);
    putchar('\n');
}

void page_events(const char *root)
{
    cleanup_free char *pending = page_file(root, "docs/pending.md");
    page_title("Events", "This page is for users and operators who see an event that muster wrote.",
               "`GANG_KUBE_EVENTS` in `gang/effect.h`, and `WRITER_EVENTS` in `k8s/write/write.h`");
    printf("muster writes these Kubernetes events. [My gang is "
           "Pending](../pending.md#codes-messages-and-events) describes what\nto do. muster limits "
           "its events to an average of 50 per second for PodGroups and 10 per second for pods.\n\n"
           "| reason | type | object | when |\n|---|---|---|---|\n");
    for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
        check_explained(pending, events[i].reason);
        print_event(events[i].reason, events[i].warning, events[i].kind, events[i].when);
    }
}
