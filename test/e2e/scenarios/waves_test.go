package scenarios

import (
	"strings"
	"testing"

	"muster.dev/e2e/testbed"
)

// C01: many gangs that each want a good part of the machine, their members
// created in the worst order. Hope-and-wait schedulers deadlock here.
func TestC01_GangsInWaves(t *testing.T) {
	t.Parallel()
	sizes := []testbed.Waves{
		testbed.Waves24,
		{Name: "20x5x8on128", Gangs: 20, Members: 5, GPUs: 8, Nodes: 16, GPUsPerNode: 8, Waves: 7},
		{Name: "20x6x1on24", Gangs: 20, Members: 6, GPUs: 1, Nodes: 3, GPUsPerNode: 8, Waves: 5},
	}
	for _, size := range sizes {
		t.Run(size.Name, func(t *testing.T) { holdWaves(t, size) })
	}
}

// P09 is the same promise about the size that other schedulers were measured with.
func TestP09_Contention(t *testing.T) { holdWaves(t, testbed.Waves24) }

// What was played, by the size's name: C01 and P09 ask for the same.
var played = map[string]*rounds{}

func holdWaves(t *testing.T, size testbed.Waves) {
	t.Helper()
	alone(t)
	of := played[size.Name]
	if of == nil {
		of = medianOfFive(t, func(t *testing.T) (bool, string) {
			ratio, times := testbed.RunWaves(t, size)
			return ratio <= 1.10, times
		})
		played[size.Name] = of
	}
	if !of.held() {
		t.Errorf("makespan is above 1.10 × ideal:\n%s", strings.Join(of.bad, "\n"))
	}
}
