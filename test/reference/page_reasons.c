/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each code is linked to the place of docs/pending.md that explains it: its own section, or the
 * section of the table that has it. That page and the table must agree on which codes a user only
 * sees as a message.
 */
#include <ctype.h>

#include "base/buf.h"
#include "gang/effect.h"
#include "k8s/dialect/dialect_common.h"
#include "k8s/encoding/kube_field.h"
#include "test/reference/reference.h"

enum scope { GANG, CALL };

static const struct reason {
    const char *code;
    enum scope of;
    const char *meaning;
} reasons[] = {
#define X(id, name, of, meaning) {name, of, meaning},
    GANG_REASONS(X)
#undef X
};

/* A section of docs/pending.md. */
struct place {
    char *title, *anchor;
    bool message_only;
};

/* As GitHub makes it of a heading. */
static char *anchor_of(const char *title)
{
    struct buf b = BUF_INIT;
    for (const char *c = title; *c; c++)
        if (isalnum((unsigned char)*c) || *c == '-' || *c == '_')
            buf_putc(&b, (char)tolower((unsigned char)*c));
        else if (*c == ' ')
            buf_putc(&b, '-');
    return buf_steal(&b);
}

/* The section with the heading `CODE`, or with a row that begins with `CODE`. */
static struct place find_place(const char *page, const char *code)
{
    cleanup_free char *copy = xstrdup(page), *heading = xasprintf("### `%s`", code),
                      *row = xasprintf("| `%s` |", code);
    struct place place = {NULL, NULL, false};
    bool found = false;
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line == '#') {
            if (found)
                break;
            free(place.title);
            place = (struct place){xstrdup(line + strspn(line, "# ")), NULL, false};
        }
        found = found || str_eq(line, heading) || strncmp(line, row, strlen(row)) == 0;
        place.message_only = place.message_only || strcasestr(line, "*message only*");
    }
    if (!found)
        page_fail("docs/pending.md has no section and no row for the code %s", code);
    place.anchor = anchor_of(place.title);
    return place;
}

/* The reason of the condition Unschedulable in Volcano. The caller frees it. */
static char *in_volcano(enum gang_reason_code code, int members)
{
    static const struct gang_ref ref = {(char *)(uintptr_t) "g", (char *)(uintptr_t) "ml",
                                        (char *)(uintptr_t) "g"};
    const struct gang_status status = {.ref = &ref,
                                       .uid = "",
                                       .state = GANG_WAITING,
                                       .reason = code,
                                       .text = "",
                                       .help = "",
                                       .needed = 8,
                                       .members = members};
    const struct dialect_view view = {NULL, NULL, 0};
    cleanup_json json_t *patch = dialect_volcano.status(&status, &view);
    json_t *conditions = json_object_get(json_object_get(patch, "status"), "conditions");
    return xstrdup(field_peek(find_condition(conditions, "Unschedulable"), "reason", NULL));
}

static void print_volcano(enum gang_reason_code code)
{
    cleanup_free char *few = in_volcano(code, 0), *enough = in_volcano(code, 8);
    if (str_eq(few, reasons[code].code))
        page_cell("%s", "");
    else if (str_eq(few, enough))
        page_cell("`%s`", few);
    else
        page_cell("`%s`; `%s` if there are enough members, but not of each task", few, enough);
}

static void print_reason(const char *page, enum gang_reason_code code)
{
    const struct reason *r = &reasons[code];
    if (!*r->meaning)
        page_fail("the code %s has no meaning in GANG_REASONS", r->code);
    struct place place = find_place(page, r->code);
    if (place.message_only != (r->of == CALL))
        page_fail("docs/pending.md and GANG_REASONS differ on whether %s is only a message",
                  r->code);
    printf("| [`%s`](../pending.md#%s) |", r->code, place.anchor);
    page_cell("%s", r->meaning);
    if (r->of == GANG)
        print_volcano(code);
    putchar('\n');
    free(place.title);
    free(place.anchor);
}

static void print_reasons(const char *page, enum scope of)
{
    for (int code = 0; code < REASON_MAX; code++)
        if (reasons[code].of == of && *reasons[code].code)
            print_reason(page, (enum gang_reason_code)code);
}

void page_reasons(const char *root)
{
    cleanup_free char *page = page_file(root, "docs/pending.md");
    page_title("Reasons",
               "This page is for users and operators who see the code of a reason, and for tools "
               "that read it.",
               "`GANG_REASONS` in `gang/effect.h`");
    printf(
        "A reason is why a gang waits, or why muster refuses a call. It has a stable code and a "
        "message for people. Each\ncode links to the section of [My gang is "
        "Pending](../pending.md) that shows its messages and what to do.\n\n"
        "## Codes of gangs\n\n"
        "The code is the `reason` of the condition of the PodGroup. `muster get` and the "
        "[API](api.md) print it too. If muster\nhas no reason to report yet, the `reason` of the "
        "condition is the [state](states.md) of the gang.\n\n"
        "Volcano has reasons of its own for the condition `Unschedulable`. An empty cell means "
        "that the condition has\nmuster's code, with one exception: if the gang is Recovering, "
        "the reason is `PodFailed` if some of its pods are\nFailed, and otherwise "
        "`PodDeleted`.\n\n"
        "| code | meaning | reason in Volcano |\n|---|---|---|\n");
    print_reasons(page, GANG);
    printf("\n## Codes of pods and calls\n\n"
           "These codes are about one pod or one call of kube-scheduler. Users see only the "
           "message.\n\n"
           "| code | meaning |\n|---|---|\n");
    print_reasons(page, CALL);
}
