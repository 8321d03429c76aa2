// Command bench measures muster's promises about speed on a real control plane:
//
//	bench [FIGURE...]    measures those figures (P01 … P13), or all, and writes the report
//	bench report         writes the report from earlier measurements
//	bench small [FIGURE...]    runs the small version, as the tests do, and compares it with the stored ratios
//
// Results are stored as JSON in build/bench; the report is docs/benchmarks.md and
// docs/benchmarks/*.svg.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster.dev/e2e/bench"
	"muster.dev/e2e/testbed"
)

func main() {
	options := bench.Options{Config: map[string]any{}}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&options.Turns, "turns", 3, "how often each set-up takes its turn; medians are reported")
	flags.IntVar(&options.Scale, "scale", 1, "divide the numbers of nodes and gangs, to see that it works")
	keep := flags.String("keep", "", "folder of the results (default: build/bench)")
	muster := flags.String("muster", "", "the muster program (default: $MUSTER_BIN, else build/release/muster)")
	write := flags.Bool("write", false, "with small: keep its ratios in test/e2e/bench/small.json")
	noReport := flags.Bool("no-report", false, "do not write docs/benchmarks.md and its charts")
	flags.Func("set", "KEY=VALUE for muster's configuration; may be given several times", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("write KEY=VALUE")
		}
		options.Config[key] = setting(value)
		return nil
	})
	var names []string
	// Figures and options may come in any order.
	for rest := os.Args[1:]; len(rest) > 0; {
		_ = flags.Parse(rest)
		if rest = flags.Args(); len(rest) > 0 {
			names, rest = append(names, rest[0]), rest[1:]
		}
	}
	if *muster != "" {
		path, err := filepath.Abs(*muster)
		if err != nil {
			fail(err)
		}
		_ = os.Setenv("MUSTER_BIN", path)
		_ = os.Unsetenv("MUSTER_RELEASE_BIN")
	}
	root := root()
	if *keep == "" {
		*keep = filepath.Join(root, "build/bench")
	}
	if len(names) > 0 && names[0] == "small" {
		os.Exit(small(root, names[1:], *write))
	}
	reportOnly := len(names) == 1 && names[0] == "report"
	status := 0
	if !reportOnly {
		status = measure(names, options, *keep)
	}
	if !reportOnly {
		summary(*keep)
	}
	if !*noReport && options.Scale == 1 {
		if err := bench.Report(*keep, filepath.Join(root, "docs")); err != nil {
			fail(err)
		}
	}
	os.Exit(status)
}

func measure(names []string, options bench.Options, keep string) int {
	keys, err := bench.Select(names)
	if err != nil {
		fail(err)
	}
	options.Keys = keys
	failed := bench.Run(options, func(o bench.Outcome) {
		o.Print()
		if err := o.Save(keep); err != nil {
			fail(err)
		}
	})
	if len(failed) > 0 {
		fmt.Fprintf(os.Stderr, "\nfailed: %s\n", strings.Join(failed, ", "))
		return 1
	}
	return 0
}

// summary prints every figure that has been measured, now or earlier.
func summary(keep string) {
	outcomes, err := bench.Load(keep)
	if err != nil {
		fail(err)
	}
	fmt.Println("\n== all figures")
	for _, line := range bench.Summary(outcomes) {
		fmt.Println(line)
	}
}

// small measures the small version, and compares or stores its ratios. Ratios that are not measured
// do not change.
func small(root string, names []string, write bool) int {
	keys, err := bench.Select(names)
	if err != nil {
		fail(err)
	}
	kept, err := bench.KeptRatios()
	if err != nil {
		fail(err)
	}
	now := map[string]float64{}
	for _, key := range bench.SmallKeys() {
		if ratio, known := kept[key]; known {
			now[key] = ratio
		}
	}
	status := testbed.RunScript("bench small", func(s *testbed.Script) {
		for _, key := range bench.SmallKeys() {
			if !slices.Contains(keys, key) {
				continue
			}
			v := bench.Small(s, key, 0)
			now[key] = v.Median()
			fmt.Printf("%s\n    kept: %.3f %s\n", v.Line(), kept[key], bench.Lost(v, kept[key]))
		}
	})
	if status == 0 && write {
		if err := bench.KeepRatios(root, now); err != nil {
			fail(err)
		}
	}
	return status
}

// setting parses a value as YAML does.
func setting(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	var n int
	if _, err := fmt.Sscanf(text, "%d", &n); err == nil && fmt.Sprint(n) == text {
		return n
	}
	return text
}

func root() (folder string) {
	if status := testbed.RunScript("bench", func(s *testbed.Script) { folder = testbed.Root(s) }); status != 0 {
		os.Exit(status)
	}
	return folder
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "bench: %v\n", err)
	os.Exit(2)
}
