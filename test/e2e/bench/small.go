package bench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"muster.dev/e2e/testbed"
)

// The small version runs with the tests: the same experiments with fewer nodes and gangs. Its ratios
// are not those of the promises; they are compared with the ratios that are kept in small.json, and
// one that has lost 30 % fails. Bounds that do not depend on size or on the machine hold here too.

// smallSize is an experiment as the tests run it.
type smallSize struct {
	experiment   string
	scale, turns int
	keys         []string
}

var smallSizes = []smallSize{
	{"placing-5000", 10, 5, []string{"P01", "P04 cpu", "P05 bind", "P13"}},
	{"placing-1000", 5, 3, []string{"P02", "P03 1,000", "P11 unsteered", "P11 steered", "P11 gang"}},
	{"start", 10, 3, []string{"P04 memory-ratio", "P10"}},
	{"backlog", 10, 3, []string{"P07 open"}},
	{"calls", 1, 3, []string{"P05 filter-names", "P05 filter-one-name", "P05 filter-whole-nodes"}},
	{"latency", 4, 3, []string{"P08"}},
	{"thousand", 4, 3, []string{"P12 together", "P12 all"}},
	{"planning", 10, 3, []string{"P06 plan-1000", "P06 ten-times-nodes", "P06 waiting-list"}},
}

//go:embed small.json
var smallKept []byte

// KeptRatios are those of small.json.
func KeptRatios() (kept map[string]float64, err error) {
	err = json.Unmarshal(smallKept, &kept)
	return kept, err
}

// KeepRatios writes them.
func KeepRatios(root string, ratios map[string]float64) error {
	text, err := json.MarshalIndent(ratios, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "test/e2e/bench/small.json"), append(text, '\n'), 0o644)
}

// allowedLoss is how much worse than the kept ratio a figure may be.
const allowedLoss = 0.3

// Lost says how a small figure fails: a text, or "" when it holds.
func Lost(v Value, kept float64) string {
	p, _ := PromiseOf(v.Key)
	got := v.Median()
	if p.Anywhere && !p.Reached(got) {
		return fmt.Sprintf("%s is %s %s, promised is %s", v.Key, number(got), p.Unit, p.bound())
	}
	limit := kept / (1 - allowedLoss)
	lost := got > limit
	if p.Least {
		limit = kept * (1 - allowedLoss)
		lost = got < limit
	}
	if lost {
		return fmt.Sprintf("%s has lost more than %.0f %%: %s, kept is %s; each turn: %v", v.Key, 100*allowedLoss,
			number(got), number(kept), v.Each)
	}
	return ""
}

var smallRuns struct {
	sync.Mutex
	done map[smallRun]Outcome
}

type smallRun struct {
	experiment string
	round      int
}

// Small measures a figure in the small version. Figures of one experiment are measured together, once
// in a process for each round.
func Small(t testbed.TB, key string, round int) Value {
	t.Helper()
	at := slices.IndexFunc(smallSizes, func(s smallSize) bool { return slices.Contains(s.keys, key) })
	if at < 0 {
		t.Fatalf("the small version has no figure %q", key)
	}
	size := smallSizes[at]
	smallRuns.Lock()
	defer smallRuns.Unlock()
	id := smallRun{size.experiment, round}
	outcome, known := smallRuns.done[id]
	if !known {
		outcome = size.run(t)
		if smallRuns.done == nil {
			smallRuns.done = map[smallRun]Outcome{}
		}
		smallRuns.done[id] = outcome
	}
	for _, v := range outcome.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("%s was not measured: %s failed before", key, size.experiment)
	return Value{}
}

func (s smallSize) run(t testbed.TB) (outcome Outcome) {
	t.Helper()
	e := experiments[slices.IndexFunc(experiments, func(e experiment) bool { return e.name == s.experiment })]
	options := Options{Scale: s.scale, Turns: s.turns, Keys: s.keys}
	status := testbed.RunScript("small "+s.experiment, func(script *testbed.Script) { outcome = e.run(script, options) })
	if status != 0 {
		t.Errorf("%s failed", s.experiment)
		return Outcome{}
	}
	return outcome
}

// SmallKeys are the figures of the small version, in the order in which they are measured.
func SmallKeys() []string {
	var keys []string
	for _, s := range smallSizes {
		keys = append(keys, s.keys...)
	}
	return keys
}
