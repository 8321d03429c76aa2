/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate.c - puts a seeded defect of defects.txt into a source file.
 *
 *   mutate DEFECTS --list              prints the names of all defects
 *   mutate DEFECTS --check SOURCE...   checks that the sources contain the tokens that each defect
 *                                      replaces, exactly once. Prints a line for each defect whose
 *                                      tokens are missing; the exit code is then 1
 *   mutate DEFECTS NAME OUT SOURCE...  writes the source with the defect to OUT, and prints the
 * path of the original
 *
 * A defect names a function and the tokens to replace in it. "..." matches any balanced tokens.
 * File name, white space and comments do not matter, so a defect stays valid when code moves.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"

struct token {
    const char *at;
    size_t len;
};
struct tokens {
    struct token *items;
    size_t n, cap;
};

struct defect {
    char *name, *function;
    struct buf old, new; /* the lines, without "-" and "+" */
};

/* A match of a pattern in the tokens of a source, and the matches of its "...". */
enum { WILDS_MAX = 8 };
struct span {
    size_t from, to;
};
struct match {
    struct span all, wilds[WILDS_MAX];
    size_t n_wilds;
};

struct place {
    const char *path;
    const char *text;
    struct tokens tokens;
    struct match match;
};

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "mutate: %s: %s\n", which, what);
    exit(2);
}

static char *read_file(const char *path)
{
    struct buf b = BUF_INIT;
    char block[4096];
    FILE *f = fopen(path, "r");
    if (!f)
        fail("cannot open the file", path);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        buf_append(&b, block, n);
    fclose(f);
    return buf_steal(&b);
}

/* ---- tokens ---- */

static size_t comment_length(const char *s)
{
    const char *end = NULL;
    if (s[0] == '/' && s[1] == '*')
        end = strstr(s + 2, "*/");
    else if (s[0] == '/' && s[1] == '/')
        return strcspn(s, "\n");
    return end ? (size_t)(end - s) + 2 : 0;
}

static size_t token_length(const char *s)
{
    if (strncmp(s, "...", 3) == 0)
        return 3;
    size_t n = 0;
    if (*s == '"' || *s == '\'') {
        for (n = 1; s[n] && s[n] != *s; n++)
            n += s[n] == '\\' && s[n + 1];
        return s[n] ? n + 1 : n;
    }
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n ? n : 1;
}

static struct tokens tokenize(const char *s)
{
    struct tokens t = {NULL, 0, 0};
    while (*s) {
        size_t n = isspace((unsigned char)*s) ? 1 : comment_length(s);
        if (!n) {
            n = token_length(s);
            GROW(t.items, t.cap, t.n + 1);
            t.items[t.n++] = (struct token){s, n};
        }
        s += n;
    }
    return t;
}

static bool is(const struct token *t, const char *text)
{
    return t->len == strlen(text) && memcmp(t->at, text, t->len) == 0;
}

static bool same(const struct token *a, const struct token *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static int bracket(const struct token *t)
{
    if (t->len != 1)
        return 0;
    return strchr("([{", *t->at) ? 1 : strchr(")]}", *t->at) ? -1 : 0;
}

/* The index after the bracket that closes the bracket at `i`. */
static size_t skip_brackets(const struct tokens *t, size_t i)
{
    int depth = 0;
    do
        depth += bracket(&t->items[i++]);
    while (depth > 0 && i < t->n);
    return i;
}

/* Finds the definition of the function, from its name to its last brace. Returns false if the
 * tokens do not contain it. */
static bool find_function(const struct tokens *t, const char *name, struct span *ret)
{
    size_t i = 0;
    while (i + 1 < t->n) {
        size_t next = bracket(&t->items[i]) > 0 ? skip_brackets(t, i) : i + 1;
        if (is(&t->items[i], name) && is(&t->items[i + 1], "(")) {
            size_t body = skip_brackets(t, i + 1);
            if (body < t->n && is(&t->items[body], "{")) {
                *ret = (struct span){i, skip_brackets(t, body)};
                return true;
            }
        }
        i = next;
    }
    return false;
}

/* ---- matching ---- */

static bool match_from(const struct tokens *pattern, size_t p, const struct tokens *t, size_t at,
                       size_t end, struct match *m);

/* Matches "..." with the shortest run of balanced tokens after which the rest of the pattern
 * matches. */
static bool match_wild(const struct tokens *pattern, size_t p, const struct tokens *t, size_t at,
                       size_t end, struct match *m)
{
    size_t mine = m->n_wilds++, to = at;
    if (mine == WILDS_MAX)
        fail("too many \"...\"", "defects");
    while (!match_from(pattern, p + 1, t, to, end, m)) {
        m->n_wilds = mine + 1;
        if (to >= end || bracket(&t->items[to]) < 0)
            return false;
        to = bracket(&t->items[to]) > 0 ? skip_brackets(t, to) : to + 1;
    }
    m->wilds[mine] = (struct span){at, to};
    return true;
}

static bool match_from(const struct tokens *pattern, size_t p, const struct tokens *t, size_t at,
                       size_t end, struct match *m)
{
    for (; p < pattern->n; p++, at++) {
        if (is(&pattern->items[p], "..."))
            return match_wild(pattern, p, t, at, end, m);
        if (at >= end || !same(&pattern->items[p], &t->items[at]))
            return false;
    }
    m->all.to = at;
    return true;
}

/* The number of matches of the pattern inside the span. Stores the first one in *ret. */
static int count_matches(const struct tokens *pattern, const struct tokens *t, struct span in,
                         struct match *ret)
{
    int n = 0;
    for (size_t i = in.from; i < in.to; i++) {
        struct match m = {.all = {i, i}};
        if (!match_from(pattern, 0, t, i, in.to, &m))
            continue;
        if (!n++)
            *ret = m;
    }
    return n;
}

/* Finds the tokens that the defect replaces. Returns NULL if there is exactly one match, stored in
 * *ret, or the reason. */
static const char *find_place(const struct defect *d, char **paths, int n_paths, struct place *ret)
{
    struct tokens pattern = tokenize(buf_str(&d->old));
    const char *why = "function not found";
    int n = 0;
    for (int i = 0; i < n_paths; i++) {
        struct place place = {.path = paths[i], .text = read_file(paths[i])};
        struct span body;
        place.tokens = tokenize(place.text);
        if (!find_function(&place.tokens, d->function, &body))
            continue;
        int here = count_matches(&pattern, &place.tokens, body, &place.match);
        if (here && !n)
            *ret = place;
        n += here;
        why = n > 1 ? "the function contains the old tokens more than once"
                    : "the function does not contain the old tokens";
    }
    return n == 1 ? NULL : why;
}

/* ---- defects ---- */

/* Parses the defects. With a name: stores this defect in *ret and returns true, or returns false if
 * there is none. Without a name: calls fn for each defect and returns true. */
static bool each_defect(char *text, const char *name, struct defect *ret,
                        void (*fn)(const struct defect *, void *), void *arg)
{
    struct defect d = {NULL, NULL, BUF_INIT, BUF_INIT};
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *colon = strchr(line, ':');
        if (strncmp(line, "== ", 3) == 0 && colon) {
            *colon = '\0';
            d = (struct defect){line + 3, NULL, BUF_INIT, BUF_INIT};
        } else if (strncmp(line, "@ ", 2) == 0) {
            d.function = line + 2;
        } else if (*line == '-') {
            buf_printf(&d.old, "%s\n", line + 1);
        } else if (*line == '+') {
            buf_printf(&d.new, "%s\n", line + 1);
        }
        if ((*line && next) || !d.name)
            continue;
        if (!d.function || !d.old.len) /* a blank line ends a record */
            fail("a record needs a function (@) and old tokens (-)", d.name);
        *ret = d;
        if (name && strcmp(name, d.name) == 0)
            return true;
        if (fn)
            fn(&d, arg);
        d.name = NULL;
    }
    return !name;
}

/* ---- commands ---- */

static void print_name(const struct defect *d, void *arg)
{
    (void)arg;
    puts(d->name);
}

struct sources {
    char **paths;
    int n, stale;
    struct map names; /* of the defects before, to find two of one name */
};

static void check_one(const struct defect *d, void *arg)
{
    struct sources *sources = arg;
    struct place place;
    const char *why = find_place(d, sources->paths, sources->n, &place);
    if (map_set(&sources->names, d->name, sources))
        why = "another defect has this name";
    if (!why)
        return;
    printf("STALE    %s: %s(): %s\n", d->name, d->function, why);
    sources->stale++;
}

static void put_span(FILE *out, const struct place *p, struct span span)
{
    if (span.from == span.to)
        return;
    const struct token *last = &p->tokens.items[span.to - 1];
    const char *from = p->tokens.items[span.from].at;
    fwrite(from, 1, (size_t)(last->at + last->len - from), out);
}

static void write_changed(const struct defect *d, const struct place *p, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        fail("cannot write the file", path);
    const struct token *first = &p->tokens.items[p->match.all.from];
    const struct token *last = &p->tokens.items[p->match.all.to - 1];
    fwrite(p->text, 1, (size_t)(first->at - p->text), out);
    size_t wild = 0;
    const char *s = d->new.len ? buf_str(&d->new) : "";
    for (const char *dots; (dots = strstr(s, "...")) != NULL && wild < p->match.n_wilds;) {
        fwrite(s, 1, (size_t)(dots - s), out);
        put_span(out, p, p->match.wilds[wild++]);
        s = dots + 3;
    }
    fputs(s, out);
    fputs(last->at + last->len, out);
    if (fclose(out) != 0)
        fail("cannot write the file", path);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: mutate DEFECTS --list | --check SOURCE... | NAME OUT SOURCE...", "usage");
    char *text = read_file(argv[1]);
    const char *what = argv[2];
    struct defect d;
    if (strcmp(what, "--list") == 0) {
        each_defect(text, NULL, &d, print_name, NULL);
        return 0;
    }
    if (strcmp(what, "--check") == 0) {
        struct sources sources = {argv + 3, argc - 3, 0, MAP_INIT};
        each_defect(text, NULL, &d, check_one, &sources);
        map_done(&sources.names);
        return sources.stale > 0;
    }
    if (argc < 5 || !each_defect(text, what, &d, NULL, NULL))
        fail("unknown defect", what);
    struct place place;
    const char *why = find_place(&d, argv + 4, argc - 4, &place);
    if (why) {
        printf("STALE    %s: %s(): %s\n", d.name, d.function, why);
        return 1;
    }
    write_changed(&d, &place, argv[3]);
    puts(place.path);
    return 0;
}
