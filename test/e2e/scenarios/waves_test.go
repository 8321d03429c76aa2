package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// contest is one size, who places its gangs, and what its makespan may be, in
// times the ideal.
type contest struct {
	name string
	size testbed.Waves
	mode testbed.WaveMode
	most float64
}

// The size that other schedulers were measured with. With gates it holds the
// promise, 1.10. Without them kube-scheduler tries each of 160 waiting pods at
// every end of a pod, and the last member of a gang whose room is free waits for
// its turn among them; how long, the machine says (docs/benchmarks.md has what
// was measured and tried: 1.10 to 1.25 in turns). So the default mode has a
// bound of its own here.
var (
	waves24      = contest{"24x8x4on128", testbed.Waves24, testbed.WavesPlain, 1.30}
	waves24Gated = contest{"24x8x4on128-gated", testbed.Waves24, testbed.WavesGated, 1.10}
)

// C01: many gangs that each want a good part of the machine, their members
// created in the worst order. Hope-and-wait schedulers deadlock here.
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

// P09 is the same about the size that other schedulers were measured with. The gate, which has played
// that in C01, plays it with the express lane.
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

// What was played, by the contest's name: C01 and P09 ask for the same.
var played = map[string]*rounds{}

// rounds of one contest, each on a control plane of its own: how many kept the
// bound, and what became of the gangs in those that did not.
type rounds struct {
	good int
	bad  []string
}

// small is the gate's form of a contest: one round, of pods that work for a short time. The recorder sees
// that no gang is partial, and there is no deadlock; what the makespan is, nobody asks.
func (c contest) small(t *testing.T) {
	beside(t)
	size := c.size
	size.Work = time.Second / 2
	testbed.RunWavesAlone(t, size, c.mode)
}

// hold plays until three rounds agree: the median of five.
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
		t.Errorf("makespan is not within %.2f × the ideal in three rounds of five:\n%s", c.most, strings.Join(of.bad, "\n"))
	}
}
