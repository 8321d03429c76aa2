package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"muster.dev/e2e/testbed"
)

// C01: many gangs that each want a good part of the machine, their members
// created in the worst order. Hope-and-wait schedulers deadlock here.
func TestC01_GangsInWaves(t *testing.T) {
	t.Parallel()
	t.Run(testbed.Waves24.Name, keepsWaves24)
	for _, size := range []testbed.Waves{
		{Name: "20x5x8on128", Gangs: 20, Members: 5, GPUs: 8, Nodes: 16, GPUsPerNode: 8, Waves: 7},
		{Name: "20x6x1on24", Gangs: 20, Members: 6, GPUs: 1, Nodes: 3, GPUsPerNode: 8, Waves: 5},
	} {
		t.Run(size.Name, func(t *testing.T) { holdWaves(t, size) })
	}
}

// P09 is the same promise about the size that other schedulers were measured with.
func TestP09_Contention(t *testing.T) { keepsWaves24(t) }

// keepsWaves24 holds the bound, 1.10 times the ideal, with gates. Without them
// kube-scheduler tries each of 160 waiting pods at each end of a pod, and a gang
// whose room is free waits for its turn among them: how long depends on the
// machine (1.08 to 1.25 times the ideal on one), so that is held, like other
// such figures, against a loss of 30 %. In both no gang is ever partial.
func keepsWaves24(t *testing.T) { keeps(t, "P09 gated", "P09") }

// holdWaves plays rounds, each on a control plane of its own, until three of them
// agree: the median of five.
func holdWaves(t *testing.T, size testbed.Waves) {
	t.Helper()
	alone(t)
	var good int
	var bad []string
	for n := 1; good < 3 && len(bad) < 3 && !t.Failed(); n++ {
		t.Run(fmt.Sprintf("round%d", n), func(t *testing.T) {
			if played := testbed.RunWaves(t, size, testbed.WavesPlain); played.Ratio() <= 1.10 {
				good++
			} else {
				bad = append(bad, played.Text)
			}
		})
	}
	if good < 3 {
		t.Errorf("makespan is above 1.10 × ideal:\n%s", strings.Join(bad, "\n"))
	}
}
