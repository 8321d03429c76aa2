/* SPDX-License-Identifier: Apache-2.0 */
#include "test/prop/op.h"

#include <errno.h>
#include <inttypes.h>

#include "base/duration.h"

static const struct verb {
    const char *text, *subjects, *help;
} verbs[] = {
#define X(id, verb, subjects, help) {verb, subjects, help},
    OPS(X)
#undef X
};

static const struct attr_def {
    const char *key;
    enum attr_type type;
    const char *help;
} attrs[] = {
#define X(id, key, type, help) {key, type, help},
    ATTRS(X)
#undef X
};

/* For each enum attr_type that names objects: their letter, their number, and whether it is a set.
 */
static const struct type_def {
    char class;
    int count;
    bool set;
} types[] = {
    [T_NODE] = {'n', NODES, false},    [T_GROUP] = {'g', GROUPS, false},
    [T_CLASS] = {'k', CLASSES, false}, [T_CLAIM] = {'c', CLAIMS, false},
    [T_QUEUE] = {'q', QUEUES, false},  [T_NODES] = {'n', NODES, true},
    [T_GROUPS] = {'g', GROUPS, true},  [T_QUEUES] = {'q', QUEUES, true},
};

enum attr_type attr_type(enum attr a)
{
    return attrs[a].type;
}

struct op op_make(enum op_kind kind, char class, int subject)
{
    return (struct op){.kind = kind, .class = class, .subject = subject};
}

void ops_add(struct ops *ops, const struct op *op)
{
    GROW(ops->items, ops->cap, ops->n + 1);
    ops->items[ops->n++] = *op;
}

void ops_copy(struct ops *to, const struct ops *from)
{
    to->n = 0;
    for (size_t i = 0; i < from->n; i++)
        ops_add(to, &from->items[i]);
}

void ops_done(struct ops *ops)
{
    free(ops->items);
    *ops = (struct ops){NULL, 0, 0};
}

/* ---- printing ---- */

static void print_value(struct buf *b, enum attr_type type, int32_t value)
{
    const struct type_def *t = type >= T_NODE ? &types[type] : NULL;
    if (type == T_TIME)
        duration_format(b, value * USEC_PER_MSEC);
    else if (!t)
        buf_printf(b, "%" PRId32, value);
    else if (!t->set)
        buf_printf(b, "%c%" PRId32, t->class, value);
    for (int i = 0, first = 1; t && t->set && i < t->count; i++)
        if (value >> i & 1) {
            buf_printf(b, "%s%c%d", first ? "" : ",", t->class, i);
            first = 0;
        }
}

void op_print(struct buf *b, const struct op *op)
{
    buf_printf(b, "%s%s", op->joined ? "+ " : "", verbs[op->kind].text);
    if (op->class)
        buf_printf(b, " %c%d", op->class, op->subject);
    for (int a = 0; a < ATTR_COUNT; a++) {
        if (!op_has(op, (enum attr)a))
            continue;
        buf_putc(b, ' ');
        buf_puts(b, attrs[a].key);
        if (attrs[a].type == T_FLAG)
            continue;
        if (attrs[a].key[0])
            buf_putc(b, '=');
        print_value(b, attrs[a].type, op->value[a]);
    }
}

void ops_print(struct buf *b, const struct ops *ops)
{
    for (size_t i = 0; i < ops->n; i++) {
        op_print(b, &ops->items[i]);
        buf_putc(b, '\n');
    }
}

void op_help(struct buf *b)
{
    static const char *const signature[] = {
        [T_FLAG] = "",
        [T_NUMBER] = "=N",
        [T_TIME] = "=TIME",
        [T_NODE] = "=nN",
        [T_GROUP] = "=gN",
        [T_CLASS] = "=kN",
        [T_CLAIM] = "=cN",
        [T_QUEUE] = "=qN",
        [T_NODES] = "=nN,nM,...",
        [T_GROUPS] = "=gN,gM,...",
        [T_QUEUES] = "=qN,qM,...",
    };
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        buf_printf(b, "  %-11s %-7s %s\n", verbs[i].text, verbs[i].subjects, verbs[i].help);
    buf_puts(b, "\n");
    for (size_t i = 0; i < ARRAY_SIZE(attrs); i++)
        if (attrs[i].key[0])
            buf_printf(b, "  %s%-*s %s\n", attrs[i].key, 19 - (int)strlen(attrs[i].key),
                       signature[attrs[i].type], attrs[i].help);
}

/* ---- reading ---- */

/* Parses "n3" as 3 if the class is 'n'. */
static bool parse_object(const char *text, char class, int count, int *ret)
{
    char *end;
    if (text[0] != class || text[1] < '0' || text[1] > '9')
        return false;
    errno = 0;
    long v = strtol(text + 1, &end, 10);
    if (errno || *end || v >= count)
        return false;
    *ret = (int)v;
    return true;
}

static int count_of(char class)
{
    static const int counts[] = {NODES, GROUPS, PODS, CLASSES, CLAIMS, QUEUES, NAMESPACES, BUDGETS};
    return counts[strchr(SUBJECTS, class) - SUBJECTS];
}

static bool parse_set(char *text, const struct type_def *t, int32_t *ret)
{
    *ret = 0;
    int i;
    for (char *save, *p = strtok_r(text, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        if (!parse_object(p, t->class, t->count, &i))
            return false;
        *ret |= INT32_C(1) << i;
    }
    return true;
}

static bool parse_value(char *text, enum attr_type type, int32_t *ret)
{
    char *end;
    usec_t time;
    switch (type) {
    case T_FLAG:
        return false;
    case T_NUMBER:
        errno = 0;
        long v = strtol(text, &end, 10);
        *ret = (int32_t)v;
        return !errno && end != text && !*end && v >= INT32_MIN && v <= INT32_MAX;
    case T_TIME:
        if (duration_parse(text, &time, NULL) < 0 || time / USEC_PER_MSEC > INT32_MAX)
            return false;
        *ret = (int32_t)(time / USEC_PER_MSEC);
        return true;
    default:
        return types[type].set ? parse_set(text, &types[type], ret)
                               : parse_object(text, types[type].class, types[type].count, ret);
    }
}

static bool parse_attr(struct op *op, char *word)
{
    char *value = strchr(word, '=');
    if (!value && op->kind == OP_WAIT) {
        op_set(op, A_TIME, 0);
        return parse_value(word, T_TIME, &op->value[A_TIME]);
    }
    if (value)
        *value++ = '\0';
    for (int a = 0; a < ATTR_COUNT; a++) {
        if (strcmp(attrs[a].key, word) != 0 || !attrs[a].key[0])
            continue;
        op_set(op, (enum attr)a, 1);
        if (attrs[a].type == T_FLAG)
            return value == NULL;
        return value && parse_value(value, attrs[a].type, &op->value[a]);
    }
    return false;
}

static bool parse_subject(struct op *op, const char *word)
{
    const char *may = verbs[op->kind].subjects;
    if (op->class || !word[0] || !strchr(may, word[0]) || word[0] == '?')
        return false;
    if (!parse_object(word, word[0], count_of(word[0]), &op->subject))
        return false;
    op->class = word[0];
    return true;
}

static int parse_verb(const char *word)
{
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(verbs[i].text, word) == 0)
            return (int)i;
    return -1;
}

static int parse_line(struct op *op, char *line, struct err *err)
{
    char *save, *word = strtok_r(line, " \t\r", &save);
    bool joined = word && strcmp(word, "+") == 0;
    if (joined)
        word = strtok_r(NULL, " \t\r", &save);
    if (!word)
        return joined ? err_set(err, ERR_INVALID, "no verb after \"+\"") : 0;
    int kind = parse_verb(word);
    if (kind < 0)
        return err_set(err, ERR_INVALID, "unknown verb \"%s\": see test_prop --help", word);
    *op = op_make((enum op_kind)kind, 0, 0);
    op->joined = joined;
    while ((word = strtok_r(NULL, " \t\r", &save)) != NULL) {
        cleanup_free char *kept = xstrdup(word);
        if (!parse_subject(op, word) && !parse_attr(op, word))
            return err_set(err, ERR_INVALID, "%s: invalid word \"%s\": see test_prop --help",
                           verbs[kind].text, kept);
    }
    const char *may = verbs[kind].subjects;
    if (may[0] && may[0] != '?' && !op->class)
        return err_set(err, ERR_INVALID, "%s: subject is missing: add one, such as %c0",
                       verbs[kind].text, may[0]);
    return 1;
}

int ops_parse(struct ops *ops, const char *text, struct err *err)
{
    cleanup_free char *copy = xstrdup(text);
    int number = 0;
    for (char *line = copy, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        line[strcspn(line, "#")] = '\0';
        struct op op;
        int n = parse_line(&op, line, err);
        if (n < 0)
            return err_wrap(err, "line %d", number);
        if (n > 0)
            ops_add(ops, &op);
    }
    return 0;
}
