// Package bench measures muster's promises about speed (P01 to P13, Q09, Q09a) on a real control plane.
//
// An experiment is one control plane on which several set-ups take turns: the stock scheduler, the
// same scheduler with muster, and so on. Every figure is a ratio of two set-ups in the same turn.
// The median over the turns is compared with the bound in the table of promises.
//
// The outcomes are stored as JSON, one file for each experiment. The report (docs/benchmarks.md and
// its charts) is generated from these files, also without a new measurement.
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
	// Turns is the number of turns of each set-up.
	Turns int
	// Keys are the promises to measure. Experiments without one of them do not run.
	Keys []string
	// Config is added to muster's configuration, in every set-up that has muster.
	Config map[string]any
	// Scale divides the numbers of nodes and gangs; the promises are about scale 1.
	Scale int
}

func (o Options) wants(key string) bool { return slices.Contains(o.Keys, key) }

// An experiment measures several promises together.
type experiment struct {
	name string
	what string
	how  string // a description for the report
	keys []string
	run  func(testbed.TB, Options) Outcome
}

// experiments are all experiments, in the order in which they run.
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
		"`bench_plan` compares a plan with one plain pass. The plain pass checks one member against every node, "+
			"without classes or caches. It adds up the requests of the member's containers anew for each node.",
		"bench_plan", Chart{Name: "planning", Title: "What a plan costs", X: "number of nodes, classes or members", Y: "ms",
			LogX: true, LogY: true}, "P06 plan-1000", "P06 ten-times-nodes", "P06 waiting-list"),
	program("queues", "Planning with queues",
		"`bench_plan queues` compares planning steps with 1,000 queues in four levels to those of the same gangs on the "+
			"same nodes without queues.",
		"bench_plan queues", Chart{}, "Q09a waiting-list", "Q09a shares-due", "Q09a first-plans"),
	program("evictions", "Decisions to evict",
		"`bench_plan evictions` compares a decision to evict with a plan of the same gang, and with one plain pass. 5,000 "+
			"nodes are full of 2,000 gangs, and a gang of 1,000 of a higher priority arrives. The CPU time of all steps "+
			"counts, from the last pod of this gang until muster has decided. The plan is that of the same gang if each node "+
			"has 8 more GPUs.",
		"bench_plan evictions", Chart{}, "Q09 one-gpu", "Q09 eight-gpus", "Q09 mixed", "Q09 node-short", "Q09 nothing", "Q09 passes"),
	program("calls", "The server's part of a call",
		"`bench_server` compares the server's part of a call with the time that jansson needs to parse the same bytes, in "+
			"the same process.",
		"bench_server", Chart{}, "P05 filter-names", "P05 filter-one-name", "P05 filter-whole-nodes"),
	profile,
}

// Select finds promises by IDs or keys; no names mean all.
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
			return nil, fmt.Errorf("no figure %q; the figures are %s", name, strings.Join(allKeys(), ", "))
		}
	}
	return keys, nil
}

// allKeys are the keys of all promises, and that of the profile, which is not a promise.
func allKeys() []string {
	var keys []string
	for _, p := range Promises {
		keys = append(keys, p.Key)
	}
	return append(keys, profile.keys...)
}

// Run measures the promises in the options, and calls done with the outcome of each experiment. It
// returns the names of the experiments that failed.
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
