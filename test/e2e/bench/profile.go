package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster.dev/e2e/testbed"
)

// profile is where muster spends its time in P01, from Linux perf. It is not a promise.
var profile = experiment{
	name: "profile", what: "Where muster's time goes",
	how: "`perf record` of muster in one more run of P01, from the start of kube-scheduler to the last Binding. The " +
		"drawing shows threads, libraries and functions. The tables below it show where most of the CPU time goes.",
	keys: []string{"profile"},
	run:  func(t testbed.TB, options Options) Outcome { return placing5000.profile(t, options) },
}

func (p placing) profile(t testbed.TB, options Options) Outcome {
	p.nodes, p.gangs = p.nodes/options.Scale, p.gangs/options.Scale
	b := newBed(t, options, p.nodes, nil)
	record := filepath.Join(b.Dir, "perf.data")
	b.attach = func(m *testbed.Muster) func() { return startPerf(t, m, record) }
	b.place(withMuster, p)
	samples := readPerf(t, record)
	o := Outcome{Charts: []Chart{{Name: "profile", Title: "muster's CPU time under P01: threads, libraries, functions", Cells: cells(samples)}}}
	o.Tables = []Table{hottest("functions", samples, 25, func(s sample) string { return s.library + "  " + s.function }),
		hottest("libraries", samples, 10, func(s sample) string { return s.library }),
		hottest("threads", samples, 10, func(s sample) string { return s.thread })}
	return o
}

// startPerf samples the processor a thousand times per second.
func startPerf(t testbed.TB, m *testbed.Muster, record string) (stop func()) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Fatalf("the profile needs perf: install linux-perf (Debian) or linux-tools-generic (Ubuntu)")
	}
	var said bytes.Buffer
	command := exec.Command(perf, "record", "-F", "999", "-o", record, "-p", fmt.Sprint(m.PID()))
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatalf("perf: %v", err)
	}
	time.Sleep(300 * time.Millisecond) // time to attach
	return func() {
		_ = command.Process.Signal(syscall.SIGINT)
		_ = command.Wait()
		if _, err := os.Stat(record); err != nil {
			t.Fatalf("perf recorded nothing: %s", said.String())
		}
	}
}

// sample is a share of the time.
type sample struct {
	share                     float64
	thread, library, function string
}

func readPerf(t testbed.TB, record string) []sample {
	out, err := exec.Command("perf", "report", "-i", record, "--stdio", "-F", "overhead,comm,dso,symbol", "-t", ";").Output()
	if err != nil {
		t.Fatalf("perf report: %v", err)
	}
	var samples []sample
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSpace(line), ";", 4)
		if strings.HasPrefix(line, "#") || len(fields) < 4 {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(fields[0]), "%"), 64)
		if err != nil {
			continue
		}
		function := strings.TrimSpace(fields[3])
		if _, name, found := strings.Cut(function, "] "); found { // [.] user, [k] kernel
			function = name
		}
		if strings.HasPrefix(function, "0x") {
			function = "(no name)" // the library is stripped
		}
		samples = append(samples, sample{percent / 100, strings.TrimSpace(fields[1]), libraryName(fields[2]), function})
	}
	if len(samples) == 0 {
		t.Fatalf("perf report is empty:\n%s", out)
	}
	return samples
}

// libraryName removes the version: libc.so.6 is libc.
func libraryName(text string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(text), ".so")
	return strings.Trim(name, "[]")
}

// shares adds up the samples by a name, the largest first.
func shares(samples []sample, name func(sample) string) (names []string, total map[string]float64) {
	total = map[string]float64{}
	for _, s := range samples {
		if _, known := total[name(s)]; !known {
			names = append(names, name(s))
		}
		total[name(s)] += s.share
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case total[a] > total[b]:
			return -1
		case total[a] < total[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	return names, total
}

func hottest(title string, samples []sample, most int, name func(sample) string) Table {
	names, total := shares(samples, name)
	table := Table{Title: "CPU time by " + title + ", %", Columns: []string{"", "%"}}
	for _, each := range names[:min(most, len(names))] {
		table.Rows = append(table.Rows, []string{each, fmt.Sprintf("%.1f", 100*total[each])})
	}
	return table
}

func cells(samples []sample) []Cell {
	levels := []func(sample) string{
		func(s sample) string { return s.thread }, func(s sample) string { return s.library }, func(s sample) string { return s.function },
	}
	var split func(samples []sample, level int) []Cell
	split = func(samples []sample, level int) []Cell {
		if level == len(levels) {
			return nil
		}
		names, total := shares(samples, levels[level])
		var list []Cell
		for _, name := range names {
			if total[name] < 0.002 {
				break // too narrow to see
			}
			part := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return levels[level](s) != name })
			list = append(list, Cell{name, total[name], split(part, level+1)})
		}
		return list
	}
	return split(samples, 0)
}
