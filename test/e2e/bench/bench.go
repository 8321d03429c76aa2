// Package bench measures what muster promises about speed (P01 to P13), on a real control plane.
//
// An experiment is one control plane on which several set-ups take turns: the stock scheduler, the
// same one with muster, and so on. Every figure is a ratio of two that stood beside each other in
// one turn; the median over the turns is held against the bound in the table of promises.
//
// Outcomes are kept as JSON, one file for each experiment; the report (docs/benchmarks.md and its
// charts) is made from these files, so it can be made again without measuring.
package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster.dev/e2e/testbed"
)

// Options choose what is measured and how often.
type Options struct {
	// Turns are how often each set-up takes its turn.
	Turns int
	// Keys are the promises to measure; what none of them needs is not run.
	Keys []string
	// Config is added to muster's configuration, in every set-up that has muster.
	Config map[string]any
	// Scale divides the number of nodes and gangs; 1 is what the promises are about.
	Scale int
}

func (o Options) wants(key string) bool { return slices.Contains(o.Keys, key) }

// An experiment measures some promises together.
type experiment struct {
	name string
	what string
	how  string // in words, for the report
	keys []string
	run  func(testbed.TB, Options) Outcome
}

// experiments are all there are, in the order in which they run.
var experiments = []experiment{
	placing5000.experiment(),
	placing1000.experiment(),
	start,
	openBacklog.experiment(),
	patientBacklog.experiment(),
	gatedBacklog.experiment(),
	gatedProfiles.experiment(),
	latency,
	contention,
	thousand,
	program("planning", "Planning alone",
		"`bench_plan`, beside one plain pass: one member is checked against every node, and its requests are summed for "+
			"each, with neither classes nor caches.",
		"bench_plan", Chart{Name: "planning", Title: "What a plan costs", X: "number of nodes, classes or members", Y: "ms",
			LogX: true, LogY: true}, "P06 plan-1000", "P06 ten-times-nodes", "P06 waiting-list"),
	program("calls", "The server's part of a call",
		"`bench_server`, beside what jansson alone needs to parse the same bytes, in the same process.",
		"bench_server", Chart{}, "P05 filter-names", "P05 filter-one-name", "P05 filter-whole-nodes"),
	profile,
}

// Select finds the promises that are meant by IDs or keys; nothing means all.
func Select(names []string) (keys []string, err error) {
	for _, key := range allKeys() {
		meant := func(name string) bool { return name == key || strings.HasPrefix(key, name+" ") }
		if len(names) == 0 || slices.ContainsFunc(names, meant) {
			keys = append(keys, key)
		}
	}
	for _, name := range names {
		meant := func(key string) bool { return name == key || strings.HasPrefix(key, name+" ") }
		if !slices.ContainsFunc(keys, meant) {
			return nil, fmt.Errorf("no figure %q; there are %s", name, strings.Join(allKeys(), ", "))
		}
	}
	return keys, nil
}

// allKeys are those of the promises, and that of the profile, which promises nothing.
func allKeys() []string {
	var keys []string
	for _, p := range Promises {
		keys = append(keys, p.Key)
	}
	return append(keys, profile.keys...)
}

// Run measures what the options ask for; done gets each experiment's outcome as it ends. It returns
// the names of the experiments that failed.
func Run(options Options, done func(Outcome)) (failed []string) {
	for _, e := range experiments {
		mine := options
		mine.Keys = slices.DeleteFunc(slices.Clone(e.keys), func(key string) bool { return !options.wants(key) })
		if len(mine.Keys) == 0 {
			continue
		}
		fmt.Printf("\n== %s: %s\n", e.name, e.what)
		begin := time.Now()
		var outcome Outcome
		if status := testbed.RunScript("bench "+e.name, func(s *testbed.Script) { outcome = e.run(s, mine) }); status != 0 {
			failed = append(failed, e.name)
			continue
		}
		outcome.Experiment = e.name
		outcome.stamp(options, time.Since(begin))
		done(outcome)
	}
	return failed
}
