package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"muster.dev/e2e/testbed"
)

// The generated part stands between these two lines. Everything else in docs/benchmarks.md is
// written by hand.
const (
	beginMark = "<!-- measured: written by ./dev bench, do not edit -->"
	endMark   = "<!-- end of what is measured -->"
)

// Report writes docs/benchmarks.md and its charts from the stored outcomes.
func Report(kept, docs string) error {
	outcomes, err := Load(kept)
	if err != nil {
		return err
	}
	page := filepath.Join(docs, "benchmarks.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(beginMark))
	_, after, ended := bytes.Cut(rest, []byte(endMark))
	if !found || !ended {
		return fmt.Errorf("%s: the lines %q and %q are missing", page, beginMark, endMark)
	}
	charts := filepath.Join(docs, "benchmarks")
	if err := os.MkdirAll(charts, 0o755); err != nil {
		return err
	}
	all := append([]Chart{overview(outcomes)}, chartsOf(outcomes)...)
	for _, chart := range all {
		if err := os.WriteFile(filepath.Join(charts, chart.Name+".svg"), []byte(chart.SVG()), 0o644); err != nil {
			return err
		}
	}
	var measured bytes.Buffer
	if err := pageTemplate.Execute(&measured, pageOf(outcomes)); err != nil {
		return err
	}
	return os.WriteFile(page, slices.Concat(before, []byte(beginMark+"\n"), measured.Bytes(), []byte(endMark), after), 0o644)
}

func chartsOf(outcomes []Outcome) []Chart {
	var charts []Chart
	for _, o := range outcomes {
		charts = append(charts, o.Charts...)
	}
	return charts
}

// overview draws how far every figure is from its bound.
func overview(outcomes []Outcome) Chart {
	chart := Chart{Name: "figures", Title: "Each figure and its target (1 × and above: reached)"}
	for _, row := range rowsOf(outcomes) {
		if !row.Measured {
			continue
		}
		distance := row.median / row.Promise.Bound
		if !row.Promise.Least {
			distance = row.Promise.Bound / max(row.median, 1e-9)
		}
		chart.Bars = append(chart.Bars, Bar{Label: shorten(row.Promise.ID()+"  "+row.Promise.What, 47), Value: distance,
			Note: number(distance) + " ×"})
	}
	return chart
}

// row is a line of the table of figures.
type row struct {
	Promise  Promise
	Measured bool
	median   float64
	Value    Value
}

func (r row) Target() string { return r.Promise.bound() + " " + r.Promise.Unit }

func (r row) Result() string {
	if !r.Measured {
		return "not measured"
	}
	return number(r.median) + " " + r.Promise.Unit
}

func (r row) Mark() string {
	switch {
	case !r.Measured:
		return "–"
	case r.Promise.Reached(r.median):
		return "reached"
	}
	return "**not reached**"
}

func (r row) Sides() string {
	if !r.Measured {
		return ""
	}
	return r.Value.sides()
}

func (r row) Each() string {
	var each []string
	for _, ratio := range r.Value.Each {
		each = append(each, number(ratio))
	}
	return strings.Join(each, " ")
}

func rowsOf(outcomes []Outcome) []row {
	var rows []row
	for _, p := range Promises {
		r := row{Promise: p}
		for _, o := range outcomes {
			for _, v := range o.Values {
				if v.Key == p.Key {
					r.Measured, r.median, r.Value = true, v.Median(), v
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// Summary is one line for each promise.
func Summary(outcomes []Outcome) []string {
	var lines []string
	for _, r := range rowsOf(outcomes) {
		if r.Measured {
			lines = append(lines, r.Value.Line())
		} else {
			lines = append(lines, fmt.Sprintf("%-22s not measured  (%s)  %s", r.Promise.Key, r.Target(), r.Promise.What))
		}
	}
	return lines
}

// page is the input of the template.
type page struct {
	Rows              []row
	Outcomes          []Outcome
	Machine, Dates    string
	Kubernetes        string
	Reached, Measured int
}

func pageOf(outcomes []Outcome) page {
	p := page{Rows: rowsOf(outcomes), Outcomes: outcomes, Kubernetes: testbed.Default.Version}
	var dates []string
	for _, o := range outcomes {
		p.Machine = o.Machine
		if date, _, _ := strings.Cut(o.Date, " "); !slices.Contains(dates, date) {
			dates = append(dates, date)
		}
	}
	p.Dates = strings.Join(dates, ", ")
	for _, r := range p.Rows {
		if r.Measured {
			p.Measured++
			if r.Promise.Reached(r.median) {
				p.Reached++
			}
		}
	}
	return p
}

// Keys are the IDs of the experiment, as `./dev bench` accepts them.
func (o Outcome) IDs() string {
	var ids []string
	for _, v := range o.Values {
		if p, known := PromiseOf(v.Key); known && !slices.Contains(ids, p.ID()) {
			ids = append(ids, p.ID())
		}
	}
	if len(ids) == 0 {
		return o.Experiment
	}
	return strings.Join(ids, " ")
}

// How describes how the experiment works.
func (o Outcome) How() string {
	for _, e := range experiments {
		if e.name == o.Experiment {
			return e.how
		}
	}
	return ""
}

// What describes what the experiment is about.
func (o Outcome) What() string {
	for _, e := range experiments {
		if e.name == o.Experiment {
			return e.what
		}
	}
	return o.Experiment
}

// Head and Ruler are the first lines of a table in Markdown.
func (table Table) Head() string { return "| " + strings.Join(table.Columns, " | ") + " |" }

func (table Table) Ruler() string { return "|---|" + strings.Repeat("---:|", len(table.Columns)-1) }

// Lines are its rows.
func (table Table) Lines() []string {
	var lines []string
	for _, each := range table.Rows {
		lines = append(lines, "| "+strings.Join(each, " | ")+" |")
	}
	return lines
}

var pageTemplate = template.Must(template.New("page").Parse(`
{{.Reached}} of {{.Measured}} figures reach their target{{if lt .Measured (len .Rows)}}; {{len .Rows}} figures have a target{{end}}. {{.Dates}}, {{.Machine}}; Kubernetes {{.Kubernetes}}.

| | figure | target | median | | values | each turn |
|---|---|---|---|---|---|---|
{{range .Rows}}| {{.Promise.Key}} | {{.Promise.What}} | {{.Target}} | {{.Result}} | {{.Mark}} | {{.Sides}} | {{.Each}} |
{{end}}
![each figure divided by its target](benchmarks/figures.svg)
{{range .Outcomes}}
### {{.What}}

{{.How}}

` + "`./dev bench {{.IDs}}`" + `, {{.Date}} UTC, commit {{.Commit}}, {{.Turns}} turns, {{.Took}}{{range $key, $value := .Config}}, {{$key}}: {{$value}}{{end}}.
{{range .Charts}}
![{{.Title}}](benchmarks/{{.Name}}.svg)
{{end}}{{range .Tables}}
{{.Title}}

{{.Head}}
{{.Ruler}}
{{range .Lines}}{{.}}
{{end}}{{end}}{{end}}`))
