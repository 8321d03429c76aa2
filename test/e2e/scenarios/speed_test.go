package scenarios

import (
	"os"
	"sync"
	"testing"

	"muster.dev/e2e/bench"
	"muster.dev/e2e/testbed"
)

// figures is the lock of tests that share experiments.
var figures sync.Mutex

// The figures of speed, in a small version: none may be 30 % worse than the ratio in
// bench/small.json. A worse figure is measured once more, and two results that agree decide,
// because other programs may use the machine. If $MUSTER_BASE_BIN names the muster of an earlier
// commit, a figure that is worse twice is measured with both in turns, and this decides. `./dev
// bench` measures the figures themselves. In the gate everything runs once, and only the numbers of
// writes decide.
func keeps(t *testing.T, keys ...string) {
	t.Helper()
	if testbed.Small(t, "figures") {
		inTurn(t, &figures)
		for _, key := range keys {
			v := bench.Smallest(t, key)
			t.Log(v.Line())
			if wrong := bench.Miscounted(v); wrong != "" {
				t.Error(wrong)
			}
		}
		return
	}
	alone(t)
	kept, err := bench.KeptRatios()
	if err != nil {
		t.Fatalf("bench/small.json: %v", err)
	}
	for _, key := range keys {
		before, known := kept[key]
		if !known {
			t.Errorf("bench/small.json has no ratio %q: `./dev bench small --write` measures and stores it", key)
			continue
		}
		lost := ""
		for round := range 2 {
			v := bench.Small(t, key, round)
			t.Log(v.Line())
			if lost = bench.Lost(v, before); lost == "" {
				break
			}
		}
		if base := os.Getenv("MUSTER_BASE_BIN"); lost != "" && base != "" {
			inTurn, text := bench.InTurn(t, key, base)
			t.Logf("%s; %s", lost, text)
			if lost = ""; inTurn {
				lost = key + " has lost " + text
			}
		}
		if lost != "" {
			t.Error(lost)
		}
	}
}

func TestP01_SmallLoad(t *testing.T)    { keeps(t, "P01") }
func TestP02_SmallCluster(t *testing.T) { keeps(t, "P02") }
func TestP03_Express(t *testing.T)      { keeps(t, "P03 1,000") }
func TestP04_Cost(t *testing.T)         { keeps(t, "P04 cpu", "P04 memory-ratio") }
func TestP05_Calls(t *testing.T) {
	keeps(t, "P05 filter-names", "P05 filter-one-name", "P05 filter-whole-nodes", "P05 bind")
}
func TestP06_Planning(t *testing.T) {
	keeps(t, "P06 plan-1000", "P06 ten-times-nodes", "P06 waiting-list")
}
func TestQ09_Decisions(t *testing.T) {
	keeps(t, "Q09 one-gpu", "Q09 eight-gpus", "Q09 mixed", "Q09 node-short", "Q09 nothing", "Q09 passes")
}
func TestQ09a_Queues(t *testing.T) {
	keeps(t, "Q09a waiting-list", "Q09a shares-due", "Q09a first-plans")
}
func TestP07_Backlog(t *testing.T)    { keeps(t, "P07 open") }
func TestP08_OneGang(t *testing.T)    { keeps(t, "P08") }
func TestP10_Start(t *testing.T)      { keeps(t, "P10") }
func TestP11_Writes(t *testing.T)     { keeps(t, "P11 unsteered", "P11 steered", "P11 gang") }
func TestP12_ALargeGang(t *testing.T) { keeps(t, "P12 together", "P12 all") }
func TestP13_Spread(t *testing.T)     { keeps(t, "P13") }
