package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// contest is one size, the scheduler of its gangs, and the bound for its makespan, in multiples of
// the ideal.
type contest struct {
	name string
	size testbed.Waves
	mode testbed.WaveMode
	most float64
}

// The size that was used to measure other schedulers. With gates the makespan keeps the promise,
// 1.10. Without gates, the API server needs about a core whenever one wave ends and the next begins:
// kube-scheduler tries all waiting pods again, and writes a condition and an event for each pod that
// it refuses for the first time (docs/decisions/107). How long this takes depends on the machine
// (docs/benchmarks.md has 1.08 to 1.25). So the default mode has its own bound here.
var (
	waves24      = contest{"24x8x4on128", testbed.Waves24, testbed.WavesPlain, 1.30}
	waves24Gated = contest{"24x8x4on128-gated", testbed.Waves24, testbed.WavesGated, 1.10}
)

// C01: many gangs that each need a large part of the machine, with their members created in the
// worst order. Schedulers that only wait for missing members deadlock here.
func TestC01_GangsInWaves(t *testing.T) {
	t.Parallel()
	for _, c := range []contest{
		waves24,
		waves24Gated,
		{"20x5x8on128", testbed.Waves{Gangs: 20, Members: 5, GPUs: 8, Nodes: 16, GPUsPerNode: 8, Waves: 7}, testbed.WavesPlain, 1.10},
		{"20x6x1on24", testbed.Waves{Gangs: 20, Members: 6, GPUs: 1, Nodes: 3, GPUsPerNode: 8, Waves: 5}, testbed.WavesPlain, 1.10},
	} {
		t.Run(c.name, c.hold)
	}
}

// P09 is the same for the size that was used to measure other schedulers. The gate runs this size
// in C01, and here with the express lane.
func TestP09_Contention(t *testing.T) {
	if testbed.Small(t, "contests") {
		contest{size: testbed.Waves24, mode: testbed.WavesExpress}.small(t)
		return
	}
	t.Parallel()
	for _, c := range []contest{waves24, waves24Gated} {
		t.Run(c.name, c.hold)
	}
}

// The results by the name of the contest, because C01 and P09 use the same ones.
var played = map[string]*rounds{}

// rounds of one contest, each on its own control plane: how many kept the bound, and texts about
// the gangs in the others.
type rounds struct {
	good int
	bad  []string
}

// small is the gate's form of a contest: one round with pods that work for a short time. The
// recorder checks that no gang is partial, and there must be no deadlock. The makespan does not
// matter.
func (c contest) small(t *testing.T) {
	beside(t)
	size := c.size
	size.Work = time.Second / 2
	testbed.RunWavesAlone(t, size, c.mode)
}

// hold runs rounds until three agree, which is the median of five.
func (c contest) hold(t *testing.T) {
	if testbed.Small(t, "contests") {
		c.small(t)
		return
	}
	alone(t)
	of := played[c.name]
	if of == nil {
		of = &rounds{}
		played[c.name] = of
		for n := 1; of.good < 3 && len(of.bad) < 3 && !t.Failed(); n++ {
			t.Run(fmt.Sprintf("round%d", n), func(t *testing.T) {
				if p := testbed.RunWaves(t, c.size, c.mode); p.Ratio() <= c.most {
					of.good++
				} else {
					of.bad = append(of.bad, p.Text)
				}
			})
		}
	}
	if of.good < 3 {
		t.Errorf("the makespan is above %.2f × the ideal in three of five rounds:\n%s", c.most, strings.Join(of.bad, "\n"))
	}
}
