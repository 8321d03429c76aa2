package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// C01: many gangs that each want a good part of the machine, their members
// created in the worst order. Hope-and-wait schedulers deadlock here.
func TestC01_GangsInWaves(t *testing.T) {
	t.Parallel()
	sizes := []waves{
		{"24x8x4on128", 24, 8, 4, 16, 8, 6},
		{"20x5x8on128", 20, 5, 8, 16, 8, 7},
		{"20x6x1on24", 20, 6, 1, 3, 8, 5},
	}
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			alone(t)
			// The median of three: two that agree decide.
			var good, bad []string
			for round := 1; len(good) < 2 && len(bad) < 2 && !t.Failed(); round++ {
				t.Run(fmt.Sprintf("round%d", round), func(t *testing.T) {
					if ratio, times := runWaves(t, size); ratio <= 1.10 {
						good = append(good, times)
					} else {
						bad = append(bad, times)
					}
				})
			}
			if len(bad) == 2 {
				t.Errorf("makespan is above 1.10 × ideal:\n%s", strings.Join(bad, "\n"))
			}
		})
	}
}

// waves is a size of cluster and gangs, and in how many waves they fit.
type waves struct {
	name                 string
	gangs, members, gpus int
	nodes, gpusPerNode   int
	waves                int
}

// runWaves is one round on a control plane of its own: the ratio of its makespan
// to the ideal, and when each gang ran.
func runWaves(t *testing.T, size waves) (float64, string) {
	t.Helper()
	const work = 2 * time.Second
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{Measured: true})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	for i := range size.nodes {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("gpu-%02d", i), testbed.GPUs(size.gpusPerNode)))
	}
	var interleaved []*corev1.Pod
	gangs := make([][]*corev1.Pod, size.gangs)
	for i := range gangs {
		name := fmt.Sprintf("g%02d", i)
		c.Add(t, testbed.Sigs.PodGroup("ml", name, size.members, nil))
		gangs[i] = testbed.Members(testbed.Sigs, "ml", name, size.members,
			testbed.GPUs(size.gpus), testbed.RunningFor(work))
	}
	for member := range size.members {
		for _, gang := range gangs {
			interleaved = append(interleaved, gang[member])
		}
	}
	c.AddPodsInOrder(t, interleaved...)

	total := size.gangs * size.members
	pods := c.Recorder.WaitFinished(t, testbed.InNamespace("ml"), total, 2*time.Minute)
	m.WaitNoLeaks(t)
	return rateWaves(t, pods, size.waves, work)
}

// rateWaves compares the makespan with the ideal: full waves, one directly after
// the other. A wave takes as long as a pod's work took here on average, from its
// binding to its end: what the test bed needs to start and end a pod (some
// 50 ms) is not muster's. The ratio to the work as it was asked for is printed
// beside it.
func rateWaves(t *testing.T, pods []testbed.PodRecord, waves int, asked time.Duration) (float64, string) {
	t.Helper()
	var begin, end time.Time
	var work time.Duration
	for _, pod := range pods {
		if pod.Created.After(begin) {
			begin = pod.Created // of the last member
		}
		if pod.Finished.After(end) {
			end = pod.Finished
		}
		work += pod.Finished.Sub(pod.Bound)
	}
	for _, pod := range pods {
		if pod.Bound.Before(begin) {
			begin = pod.Bound
		}
	}
	makespan := end.Sub(begin)
	work /= time.Duration(len(pods))
	ratio := makespan.Seconds() / (work.Seconds() * float64(waves))
	t.Logf("makespan %.2f s = %.3f × %d waves of %.2f s (%.3f × waves of %v)", makespan.Seconds(),
		ratio, waves, work.Seconds(), makespan.Seconds()/(asked.Seconds()*float64(waves)), asked)
	return ratio, gangTimes(pods, begin)
}

// gangTimes shows when each gang was bound and when it ended.
func gangTimes(pods []testbed.PodRecord, begin time.Time) string {
	type span struct{ first, last, end time.Duration }
	spans := map[string]*span{}
	var order []string
	for _, pod := range pods {
		bound, end := pod.Bound.Sub(begin), pod.Finished.Sub(begin)
		at := spans[pod.Gang]
		if at == nil {
			at = &span{first: bound, last: bound}
			spans[pod.Gang] = at
			order = append(order, pod.Gang)
		}
		at.first, at.last, at.end = min(at.first, bound), max(at.last, bound), max(at.end, end)
	}
	slices.SortFunc(order, func(a, b string) int { return int(spans[a].first - spans[b].first) })
	var text strings.Builder
	for _, gang := range order {
		at := spans[gang]
		fmt.Fprintf(&text, "  %s bound at %.2f to %.2f s, ended at %.2f s\n", gang,
			at.first.Seconds(), at.last.Seconds(), at.end.Seconds())
	}
	return text.String()
}
