package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"
)

// Outcome is the result of an experiment, as it is stored.
type Outcome struct {
	Experiment string
	Values     []Value
	Tables     []Table
	Charts     []Chart

	Date    string
	Commit  string
	Machine string
	Turns   int
	Scale   int
	Took    string
	Config  map[string]any `json:",omitempty"`
}

// Value is a figure: the median of the turns, and the values on both sides.
type Value struct {
	Key  string
	Each []float64
	Ours string
	Base string `json:",omitempty"`
}

// Median is the figure itself.
func (v Value) Median() float64 { return Median(v.Each) }

// take computes a figure from the values of the turns.
func (v *Value) take(all []rated) {
	for _, each := range all {
		v.Each = append(v.Each, each.ratio)
	}
	v.Ours, v.Base = middle(all)
}

// Table has the absolute values behind the figures.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
}

// Median is the middle value, or 0 without values.
func Median[T int | int64 | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// quantile is the value that is at least as large as this part of all values, such as 0.95.
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	at := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// stamp stores when, where and with what the outcome was measured.
func (o *Outcome) stamp(options Options, took time.Duration) {
	o.Date = time.Now().UTC().Format("2006-01-02 15:04")
	o.Turns, o.Scale, o.Config = options.Turns, options.Scale, options.Config
	o.Took = took.Round(time.Second).String()
	o.Machine = machine()
	if commit, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output(); err == nil {
		o.Commit = strings.TrimSpace(string(commit))
	}
}

// machine describes this machine in one line.
func machine() string {
	model, memory := "", 0.0
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, _ = fmt.Sscanf(string(text), "MemTotal: %f kB", &memory)
	}
	return fmt.Sprintf("%d cores (%s), %.0f GiB", runtime.NumCPU(), model, memory/(1<<20))
}

// Save writes an outcome into a folder. It replaces an earlier one of the same experiment.
func (o Outcome) Save(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(folder, o.Experiment+".json")
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Load reads the outcomes in a folder, in the order of the experiments.
func Load(folder string) ([]Outcome, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var o Outcome
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		outcomes = append(outcomes, o)
	}
	place := func(o Outcome) int {
		return slices.IndexFunc(experiments, func(e experiment) bool { return e.name == o.Experiment })
	}
	sort.Slice(outcomes, func(i, j int) bool { return place(outcomes[i]) < place(outcomes[j]) })
	return outcomes, nil
}

// Print prints the figures of an outcome with their bounds, and its tables.
func (o Outcome) Print() {
	for _, table := range o.Tables {
		table.print()
	}
	fmt.Println()
	for _, v := range o.Values {
		fmt.Println(v.Line())
	}
}

// Line is a figure with its bound and its mark.
func (v Value) Line() string {
	p, _ := PromiseOf(v.Key)
	mark := "reached    "
	if !p.Reached(v.Median()) {
		mark = "NOT REACHED"
	}
	var each []string
	for _, ratio := range v.Each {
		each = append(each, number(ratio))
	}
	return fmt.Sprintf("%-22s %s  %8s %-6s  (%s; each: %s)  %s; %s", v.Key, mark, number(v.Median()), p.Unit,
		p.bound(), strings.Join(each, " "), p.What, v.sides())
}

func (v Value) sides() string {
	if v.Base == "" {
		return v.Ours
	}
	return v.Ours + " against " + v.Base
}

func (p Promise) bound() string {
	if p.Least {
		return "≥ " + number(p.Bound)
	}
	return "≤ " + number(p.Bound)
}

// number prints three significant digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1 || x == 0:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func (table Table) print() {
	widths := make([]int, len(table.Columns))
	for _, row := range append([][]string{table.Columns}, table.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	fmt.Printf("\n%s\n", table.Title)
	for _, row := range append([][]string{table.Columns}, table.Rows...) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Print("  ", cell, pad)
			} else {
				fmt.Print("  ", pad, cell)
			}
		}
		fmt.Println()
	}
}
