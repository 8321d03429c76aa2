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

// The small version runs with the tests: the same experiments with fewer nodes and gangs. In the
// long run, its ratios, which differ from those of the promises, are compared with the stored
// ratios in small.json, and a ratio that is 30 % worse fails. Bounds that depend neither on size
// nor on the machine apply, too. The gate runs each experiment once and even smaller. There, only
// placement and the counts of writes decide, not times.

// smallSize is the size of an experiment in the tests.
type smallSize struct {
	experiment   string
	scale, turns int
	gate         int // scale in the gate
	keys         []string
}

var smallSizes = []smallSize{
	{"placing-5000", 10, 5, 50, []string{"P01", "P04 cpu", "P05 bind", "P13"}},
	{"placing-1000", 5, 3, 10, []string{"P02", "P03 1,000", "P11 unsteered", "P11 steered", "P11 gang"}},
	{"start", 10, 3, 50, []string{"P04 memory-ratio", "P10"}},
	{"backlog", 10, 3, 25, []string{"P07 open"}},
	{"calls", 1, 3, 20, []string{"P05 filter-names", "P05 filter-one-name", "P05 filter-whole-nodes"}},
	{"latency", 4, 3, 20, []string{"P08"}},
	{"thousand", 4, 3, 10, []string{"P12 together", "P12 all"}},
	{"evictions", 1, 3, 10, []string{"Q09 one-gpu", "Q09 eight-gpus", "Q09 mixed", "Q09 node-short", "Q09 nothing", "Q09 passes"}},
	{"queues", 1, 3, 4, []string{"Q09a waiting-list", "Q09a shares-due", "Q09a first-plans"}},
	{"planning", 1, 3, 10, []string{"P06 plan-1000", "P06 ten-times-nodes", "P06 waiting-list"}},
}

//go:embed small.json
var smallKept []byte

// KeptRatios are the ratios in small.json.
func KeptRatios() (kept map[string]float64, err error) {
	err = json.Unmarshal(smallKept, &kept)
	return kept, err
}

// KeepRatios writes small.json.
func KeepRatios(root string, ratios map[string]float64) error {
	text, err := json.MarshalIndent(ratios, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "test/e2e/bench/small.json"), append(text, '\n'), 0o644)
}

// allowedLoss is how much worse than the stored ratio a figure may be.
const allowedLoss = 0.3

// Lost describes how a small figure fails; "" if it holds.
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

// Miscounted describes how a figure fails if only counts decide; "" if it holds.
func Miscounted(v Value) string {
	p, _ := PromiseOf(v.Key)
	if got := v.Median(); p.Unit == writes && !p.Reached(got) {
		return fmt.Sprintf("%s is %s %s, promised is %s", v.Key, number(got), p.Unit, p.bound())
	}
	return ""
}

// InTurn measures a figure three times with the program `base` and three times with the one under
// test, in turns. It returns whether the figure is 30 % worse than with base, and a text with all
// values.
func InTurn(t testbed.TB, key, base string) (lost bool, text string) {
	t.Helper()
	program := testbed.MeasuredPath(t)
	defer testbed.Measure(program)
	p, _ := PromiseOf(key)
	size := sizeOf(t, key)
	size.turns = 1
	values := map[string]*Value{base: {Key: key}, program: {Key: key}}
	for range 3 {
		for _, each := range []string{base, program} {
			testbed.Measure(each)
			values[each].Each = append(values[each].Each, size.run(t).of(t, key).Median())
		}
	}
	before, now := values[base].Median(), values[program].Median()
	lost = now > before/(1-allowedLoss)
	if p.Least {
		lost = now < before*(1-allowedLoss)
	}
	return lost, fmt.Sprintf("in turn, with %s: %v; with %s: %v", base, values[base].Each, program, values[program].Each)
}

var smallRuns struct {
	sync.Mutex
	done map[smallRun]Outcome
}

type smallRun struct {
	experiment string
	round      int
}

func sizeOf(t testbed.TB, key string) smallSize {
	t.Helper()
	at := slices.IndexFunc(smallSizes, func(s smallSize) bool { return slices.Contains(s.keys, key) })
	if at < 0 {
		t.Fatalf("the small version has no figure %q", key)
	}
	return smallSizes[at]
}

// Smallest measures a figure once, as the gate does.
func Smallest(t testbed.TB, key string) Value {
	t.Helper()
	size := sizeOf(t, key)
	size.scale, size.turns = size.gate, 1
	return size.measure(t, key, 0)
}

// Small measures a figure in the small version.
func Small(t testbed.TB, key string, round int) Value {
	t.Helper()
	return sizeOf(t, key).measure(t, key, round)
}

// measure measures the figures of an experiment together, only once in a process for each round.
func (size smallSize) measure(t testbed.TB, key string, round int) Value {
	t.Helper()
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
	return outcome.of(t, key)
}

func (o Outcome) of(t testbed.TB, key string) Value {
	t.Helper()
	for _, v := range o.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("%s was not measured, because its experiment failed", key)
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
	outcome.Print()
	return outcome
}

// SmallKeys are the figures of the small version, in the order of measurement.
func SmallKeys() []string {
	var keys []string
	for _, s := range smallSizes {
		keys = append(keys, s.keys...)
	}
	return keys
}
