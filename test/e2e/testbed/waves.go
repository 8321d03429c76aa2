package testbed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Waves is a size of cluster and gangs, and in how many waves they fit: the gangs of C01, whose
// members are created in the worst order. Hope-and-wait schedulers deadlock there.
type Waves struct {
	Name                 string
	Gangs, Members, GPUs int
	Nodes, GPUsPerNode   int
	Waves                int
}

// Waves24 is the size that other schedulers were measured with.
var Waves24 = Waves{Name: "24x8x4on128", Gangs: 24, Members: 8, GPUs: 4, Nodes: 16, GPUsPerNode: 8, Waves: 6}

// RunWaves is one round on a control plane of its own: the ratio of its makespan
// to the ideal, and when each gang ran.
func RunWaves(t TB, size Waves) (ratio float64, times string) {
	t.Helper()
	const work = 2 * time.Second
	c := StartCluster(t, Options{Dialects: []Dialect{Sigs}})
	m := c.StartMuster(t, MusterOptions{Measured: true})
	c.StartScheduler(t, SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	for i := range size.Nodes {
		c.AddNodes(t, Node(fmt.Sprintf("gpu-%02d", i), GPUs(size.GPUsPerNode)))
	}
	var interleaved []*corev1.Pod
	gangs := make([][]*corev1.Pod, size.Gangs)
	for i := range gangs {
		name := fmt.Sprintf("g%02d", i)
		c.Add(t, Sigs.PodGroup("ml", name, size.Members, nil))
		gangs[i] = Members(Sigs, "ml", name, size.Members,
			GPUs(size.GPUs), RunningFor(work))
	}
	for member := range size.Members {
		for _, gang := range gangs {
			interleaved = append(interleaved, gang[member])
		}
	}
	c.WaitCalm(t)
	c.AddPodsInOrder(t, interleaved...)

	total := size.Gangs * size.Members
	pods := c.Recorder.WaitFinished(t, InNamespace("ml"), total, 2*time.Minute)
	m.WaitNoLeaks(t)
	return rateWaves(t, pods, size.Waves, work)
}

// rateWaves compares the makespan with the ideal: full waves, one directly after
// the other. A wave takes as long as a pod's work took here on average, from its
// binding to its end: what the test bed needs to start and end a pod (some
// 50 ms) is not muster's. The ratio to the work as it was asked for is printed
// beside it.
func rateWaves(t TB, pods []PodRecord, waves int, asked time.Duration) (float64, string) {
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
func gangTimes(pods []PodRecord, begin time.Time) string {
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
