package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Chart is a drawing of some values of an experiment. It has lines, bars or cells.
type Chart struct {
	Name  string // name of its file, without .svg
	Title string
	X, Y  string // names of the axes
	LogX  bool
	LogY  bool
	Lines []Line `json:",omitempty"`
	Bars  []Bar  `json:",omitempty"`
	Cells []Cell `json:",omitempty"`
}

// Line is a line through points.
type Line struct {
	Label  string
	Points [][2]float64
}

// Bar is a horizontal bar that starts at 1: values above 1 are reached. The axis is logarithmic.
type Bar struct {
	Label, Note string
	Value       float64
}

// Cell is a part of a whole, with its own parts: thread, library, function.
type Cell struct {
	Label string
	Share float64
	Parts []Cell `json:",omitempty"`
}

// The drawings are readable on light and on dark pages. An image cannot know the colours of its
// page, but it knows which ones the reader's system prefers.
const style = `<style>
text{font:12px system-ui,sans-serif;fill:#24292f}
.title{font-size:14px;font-weight:600}
.small{font-size:11px}
.grid{stroke:#d0d7de;stroke-width:1;fill:none}
.line{fill:none;stroke-width:2}
.c0{stroke:#0969da}.c1{stroke:#cf222e}.c2{stroke:#1a7f37}.c3{stroke:#9a6700}.c4{stroke:#8250df}.c5{stroke:#57606a}
.b0{fill:#0969da}.b1{fill:#cf222e}.b2{fill:#1a7f37}.b3{fill:#9a6700}.b4{fill:#8250df}.b5{fill:#57606a}
.cell{stroke:#ffffff}.cell text,.on{fill:#ffffff}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.grid{stroke:#30363d}
.c0{stroke:#58a6ff}.c1{stroke:#ff7b72}.c2{stroke:#3fb950}.c3{stroke:#d29922}.c4{stroke:#bc8cff}.c5{stroke:#8b949e}
.b0{fill:#1f6feb}.b1{fill:#da3633}.b2{fill:#238636}.b3{fill:#9e6a03}.b4{fill:#8957e5}.b5{fill:#6e7681}
.cell{stroke:#0d1117}
}
</style>
`

const colours = 6

// drawing collects the elements of an SVG.
type drawing struct {
	strings.Builder
	width, height float64
}

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, class, anchor,
		html.EscapeString(text))
}

func (d *drawing) rule(x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", x1, y1, x2, y2)
}

func (d *drawing) box(x, y, width, height float64, class string) {
	fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y, width, height, class)
}

// SVG draws the chart.
func (c Chart) SVG() string {
	d := &drawing{width: 760}
	switch {
	case len(c.Bars) > 0:
		c.drawBars(d)
	case len(c.Cells) > 0:
		c.drawCells(d)
	default:
		c.drawLines(d)
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n%s%s</svg>\n",
		d.width, d.height, d.width, d.height, html.EscapeString(c.Title), style, d.String())
}

// axis maps values to pixels.
type axis struct {
	low, high float64 // values
	from, to  float64 // pixels
	log       bool
}

func (a axis) at(value float64) float64 {
	if a.log {
		return a.from + (a.to-a.from)*math.Log(value/a.low)/math.Log(a.high/a.low)
	}
	return a.from + (a.to-a.from)*(value-a.low)/(a.high-a.low)
}

// ticks are round values on the axis.
func (a axis) ticks() []float64 {
	var ticks []float64
	if a.log {
		for decade := math.Pow(10, math.Floor(math.Log10(a.low))); decade <= a.high; decade *= 10 {
			for _, step := range []float64{1, 2, 5} {
				if value := decade * step; value >= a.low*0.999 && value <= a.high*1.001 {
					ticks = append(ticks, value)
				}
			}
		}
		return ticks
	}
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/4)))
	for _, factor := range []float64{5, 2} {
		if (a.high-a.low)/(step*factor) >= 4 {
			step *= factor
			break
		}
	}
	for value := math.Ceil(a.low/step) * step; value <= a.high*1.001; value += step {
		ticks = append(ticks, value)
	}
	return ticks
}

func tick(value float64) string {
	if value >= 1000 {
		return fmt.Sprintf("%g,%03d", math.Floor(value/1000), int(value)%1000)
	}
	return fmt.Sprintf("%.3g", value)
}

func (c Chart) drawLines(d *drawing) {
	const left, top, bottom, right = 64, 40, 300, 560
	d.height = 350
	x, y := axis{from: left, to: right, log: c.LogX}, axis{from: bottom, to: top, log: c.LogY}
	x.low, x.high, y.low, y.high = c.extent()
	d.text(left, 20, "title", "start", c.Title)
	for _, value := range y.ticks() {
		d.rule(left, y.at(value), right, y.at(value))
		d.text(left-6, y.at(value)+4, "small", "end", tick(value))
	}
	for _, value := range x.ticks() {
		d.rule(x.at(value), bottom, x.at(value), bottom+4)
		d.text(x.at(value), bottom+18, "small", "middle", tick(value))
	}
	d.text((left+right)/2, bottom+38, "small", "middle", c.X)
	d.text(left, top-6, "small", "start", c.Y)
	for i, line := range c.Lines {
		var path strings.Builder
		for k, p := range line.Points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "LM"[btoi(k == 0)], x.at(p[0]), y.at(p[1]))
		}
		fmt.Fprintf(d, "<path d=\"%s\" class=\"line c%d\"/>\n", path.String(), i%colours)
		d.box(right+20, float64(top+24*i), 14, 4, fmt.Sprintf("b%d", i%colours))
		d.text(right+40, float64(top+24*i)+6, "small", "start", line.Label)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// extent is the range of the axes.
func (c Chart) extent() (xLow, xHigh, yLow, yHigh float64) {
	xLow, yLow = math.Inf(1), math.Inf(1)
	for _, line := range c.Lines {
		for _, p := range line.Points {
			xLow, xHigh = min(xLow, p[0]), max(xHigh, p[0])
			yLow, yHigh = min(yLow, p[1]), max(yHigh, p[1])
		}
	}
	if !c.LogX {
		xLow = 0
	}
	if !c.LogY {
		yLow = 0
	}
	return xLow, max(xHigh, xLow*1.01), yLow, max(yHigh, yLow*1.01)
}

func (c Chart) drawBars(d *drawing) {
	const left, right, top, row = 330, 690, 48, 22
	d.height = top + row*float64(len(c.Bars)) + 30
	low, high := 0.5, 2.0
	for _, bar := range c.Bars {
		low, high = min(low, bar.Value), max(high, bar.Value)
	}
	x := axis{low: max(low*0.9, 0.02), high: min(high*1.1, 50), from: left, to: right, log: true}
	d.text(16, 20, "title", "start", c.Title)
	bottom := d.height - 24
	for _, value := range x.ticks() {
		d.rule(x.at(value), top-8, x.at(value), bottom)
		d.text(x.at(value), bottom+14, "small", "middle", fmt.Sprintf("%g", value))
	}
	for i, bar := range c.Bars {
		y := float64(top + row*i)
		value := min(max(bar.Value, x.low), x.high)
		from, to := min(x.at(1), x.at(value)), max(x.at(1), x.at(value))
		class := "b2"
		if bar.Value < 1 {
			class = "b1"
		}
		d.box(from, y, max(to-from, 1.5), row-8, class)
		d.text(left-10, y+11, "small", "end", bar.Label)
		d.text(right+8, y+11, "small", "start", bar.Note)
	}
}

// drawCells draws three rows. Each cell is below the cell that it is a part of, and as wide as its
// share.
func (c Chart) drawCells(d *drawing) {
	const left, top, row, width = 16, 36, 26, 728
	d.height = top + 3*row + 12
	d.text(left, 20, "title", "start", c.Title)
	var draw func(cells []Cell, x float64, level, colour int)
	draw = func(cells []Cell, x float64, level, colour int) {
		for i, cell := range cells {
			if level == 0 {
				colour = i % colours
			}
			wide := cell.Share * width
			fmt.Fprintf(d, "<g class=\"cell\"><title>%s %.1f %%</title>\n", html.EscapeString(cell.Label), 100*cell.Share)
			d.box(x, float64(top+row*level), wide, row-2, fmt.Sprintf("b%d", colour))
			if room := int((wide - 6) / 6.2); room >= 3 {
				d.text(x+3, float64(top+row*level)+16, "small on", "start", shorten(cell.Label, room))
			}
			d.WriteString("</g>\n")
			draw(cell.Parts, x, level+1, colour)
			x += wide
		}
	}
	draw(c.Cells, left, 0, 0)
}

func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
