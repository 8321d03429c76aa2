/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/share_picture.h"

#include <stdio.h>

#include "base/duration.h"

/* Pixels. The legend is to the right of the lines. */
enum { WIDTH = 760, HEIGHT = 350, LEFT = 64, RIGHT = 560, TOP = 44, BOTTOM = 300, LEGEND = 24 };
enum { NAME_SHOWN = 24, MAX_LINES = 6, MAX_TICKS = 8 };

static const char style[] =
    "<style>\n"
    "text{font:12px system-ui,sans-serif;fill:#24292f}\n"
    ".title{font-size:14px;font-weight:600}\n"
    ".small{font-size:11px}\n"
    ".paper{fill:#ffffff}\n"
    ".grid{stroke:#d0d7de;stroke-width:1;fill:none}\n"
    ".line{fill:none;stroke-width:2}\n"
    ".all{stroke:#57606a;stroke-dasharray:2 3;stroke-width:1}\n"
    ".c0{stroke:#0969da}.c1{stroke:#cf222e}.c2{stroke:#1a7f37}.c3{stroke:#9a6700}"
    ".c4{stroke:#8250df}.c5{stroke:#57606a}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6edf3}.paper{fill:#0d1117}.grid{stroke:#30363d}.all{stroke:#8b949e}\n"
    ".c0{stroke:#58a6ff}.c1{stroke:#ff7b72}.c2{stroke:#3fb950}.c3{stroke:#d29922}"
    ".c4{stroke:#bc8cff}.c5{stroke:#8b949e}\n"
    "}\n"
    "</style>\n";

struct picture {
    struct buf *out;
    const struct share_history *h;
    double end;  /* microseconds */
    double most; /* the share at the top */
};

static double x_at(const struct picture *p, double at)
{
    return LEFT + (RIGHT - LEFT) * (p->end > 0 ? at / p->end : 0);
}

static double y_at(const struct picture *p, double share)
{
    return BOTTOM - (BOTTOM - TOP) * share / p->most;
}

/* ---- text ---- */

/* The author of a scenario chooses names: what is not printable ASCII becomes '?'. */
static void put_escaped(struct buf *out, const char *text, size_t most)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (i == most - 1 && len > most) {
            buf_puts(out, "…");
            break;
        }
        if (c == '&')
            buf_puts(out, "&amp;");
        else if (c == '<')
            buf_puts(out, "&lt;");
        else if (c == '>')
            buf_puts(out, "&gt;");
        else
            buf_putc(out, c >= ' ' && c <= '~' ? c : '?');
    }
}

static void put_text(struct picture *p, double x, double y, const char *class, const char *anchor,
                     const char *text)
{
    buf_printf(p->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class,
               anchor);
    put_escaped(p->out, text, NAME_SHOWN * 3);
    buf_puts(p->out, "</text>\n");
}

static void put_rule(struct picture *p, double x1, double y1, double x2, double y2)
{
    buf_printf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
               x1, y1, x2, y2);
}

/* ---- axes ---- */

/* A round time between two ticks. */
static usec_t time_step(usec_t end)
{
    static const int seconds[] = {1,   2,    5,    10,   15,   30,    60,    120,   300,
                                  600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400};
    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++)
        if (end / (seconds[i] * USEC_PER_SEC) < MAX_TICKS)
            return seconds[i] * USEC_PER_SEC;
    usec_t step = 86400 * USEC_PER_SEC;
    while (end / step >= MAX_TICKS)
        step *= 2;
    return step;
}

static void put_axes(struct picture *p)
{
    usec_t end = share_history_end(p->h), step = time_step(end);
    for (int i = 0; i <= 4; i++) {
        double share = p->most * i / 4;
        cleanup_free char *percent = xasprintf("%.0f %%", 100 * share);
        put_rule(p, LEFT, y_at(p, share), RIGHT, y_at(p, share));
        put_text(p, LEFT - 6, y_at(p, share) + 4, "small", "end", percent);
    }
    for (usec_t at = 0; at <= end; at += step) {
        double x = x_at(p, (double)at);
        cleanup_buf struct buf label = BUF_INIT;
        duration_format(&label, at);
        put_rule(p, x, BOTTOM, x, BOTTOM + 4);
        put_text(p, x, BOTTOM + 18, "small", "middle", buf_str(&label));
    }
    put_text(p, (LEFT + RIGHT) / 2.0, BOTTOM + 38, "small", "middle", "simulated time");
    put_text(p, LEFT, TOP - 8, "small", "start",
             "largest part of the cluster's CPU, memory or devices");
}

/* ---- lines ---- */

/* The end of a column. */
static double border(const struct picture *p, size_t column)
{
    double at = (double)(column + 1) * (double)share_history_width(p->h);
    return at < p->end ? at : p->end;
}

/* The mean share in the column; -1: the run ends before it. */
static double share_in(const struct picture *p, const struct share_row *row, size_t column)
{
    double from = (double)column * (double)share_history_width(p->h);
    return from < p->end ? row->columns[column] / (border(p, column) - from) : -1;
}

/* A line of steps, and its place in the legend. */
static void put_line(struct picture *p, const struct share_row *row, const char *class,
                     const char *label, size_t place)
{
    char y[32] = "", next[32];
    size_t i = 0;
    buf_puts(p->out, "<path d=\"");
    for (double share; i < SHARE_COLUMNS && (share = share_in(p, row, i)) >= 0; i++) {
        snprintf(next, sizeof next, "%.1f", y_at(p, share));
        if (i == 0)
            buf_printf(p->out, "M%d %s", LEFT, next);
        else if (strcmp(y, next) != 0)
            buf_printf(p->out, "H%.1fV%s", x_at(p, border(p, i - 1)), next);
        memcpy(y, next, sizeof y);
    }
    double at = TOP + LEGEND * (double)place;
    buf_printf(p->out, "%s%d\" class=\"line %s\"/>\n", i ? "H" : "M0 0H", i ? RIGHT : 0, class);
    buf_printf(p->out, "<path d=\"M%d %.1fH%d\" class=\"line %s\"/>\n", RIGHT + 20, at, RIGHT + 36,
               class);
    buf_printf(p->out, "<text x=\"%d\" y=\"%.1f\" class=\"small\">", RIGHT + 42, at + 4);
    put_escaped(p->out, label, NAME_SHOWN);
    buf_puts(p->out, "</text>\n");
}

/* The sum of rows. Heap: a row is large. */
static struct share_row *sum_of(const struct share_row **rows, size_t n)
{
    struct share_row *sum = xcalloc(1, sizeof *sum);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < SHARE_COLUMNS; k++)
            sum->columns[k] += rows[i]->columns[k];
    return sum;
}

static void put_lines(struct picture *p)
{
    size_t n;
    cleanup_free const struct share_row **rows = share_history_rows(p->h, &n);
    size_t own = n <= MAX_LINES ? n : MAX_LINES - 1;
    put_line(p, share_history_all(p->h), "all", "all pods", own + (n > own));
    if (n > own) {
        cleanup_free char *label = xasprintf("%zu other queues", n - own);
        cleanup_free struct share_row *others = sum_of(rows + own, n - own);
        put_line(p, others, "c5", label, own);
    }
    for (size_t i = own; i-- > 0;) {
        char class[8];
        snprintf(class, sizeof class, "c%d", (int)i);
        put_line(p, rows[i], class, rows[i]->name, i);
    }
}

/* Above 1 if nodes went away under running pods. */
static double top(const struct picture *p)
{
    double most = 1;
    for (size_t i = 0; i < SHARE_COLUMNS; i++)
        while (most < share_in(p, share_history_all(p->h), i))
            most *= 2;
    return most;
}

void share_picture(const struct share_history *h, struct buf *out)
{
    struct picture p = {.out = out, .h = h, .end = (double)share_history_end(h)};
    const char *title = "Share of each queue";
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n%s"
               "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
               WIDTH, HEIGHT, WIDTH, HEIGHT, title, style, WIDTH, HEIGHT);
    p.most = top(&p);
    put_text(&p, LEFT, 20, "title", "start", title);
    put_axes(&p);
    put_lines(&p);
    buf_puts(out, "</svg>\n");
}
