package testbed

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Waves is a size of the gangs of C01, of their cluster, and the number of waves in which they fit.
// The members are created in the worst order, in which schedulers that only wait for missing
// members deadlock.
type Waves struct {
	Gangs, Members, GPUs int
	Nodes, GPUsPerNode   int
	Waves                int
	// Work is how long each pod runs; 0: two seconds, as in measurements of other schedulers.
	Work time.Duration
}

// Waves24 is the size that was used to measure other schedulers.
var Waves24 = Waves{Gangs: 24, Members: 8, GPUs: 4, Nodes: 16, GPUsPerNode: 8, Waves: 6}

// WaveMode is the scheduler of the gangs, and its settings.
type WaveMode int

// The modes: muster with its defaults, with gates, and with the express lane; and kube-scheduler's
// native gangs without muster.
const (
	WavesPlain WaveMode = iota
	WavesGated
	WavesExpress
	WavesNative
)

// PlayedWaves is one round: its makespans (the ideal only if it was played), and a text about each
// gang.
type PlayedWaves struct {
	Makespan, Ideal time.Duration
	Text            string
}

// Ratio is the ratio of the makespan to the ideal.
func (p PlayedWaves) Ratio() float64 { return p.Makespan.Seconds() / p.Ideal.Seconds() }

// RunWaves runs one round on its own control plane. The ideal is played first.
func RunWaves(t TB, size Waves, mode WaveMode) PlayedWaves {
	t.Helper()
	c, m := size.start(t, mode, true)
	played := PlayedWaves{Ideal: c.playIdeal(t, size)}
	c.playGangs(t, m, size, mode, &played)
	return played
}

// RunWavesAlone runs a round without a comparison.
func RunWavesAlone(t TB, size Waves, mode WaveMode) {
	t.Helper()
	c, m := size.start(t, mode, false)
	c.playGangs(t, m, size, mode, &PlayedWaves{})
}

func (c *Cluster) playGangs(t TB, m *Muster, size Waves, mode WaveMode, played *PlayedWaves) {
	t.Helper()
	const ns = "ml"
	c.Namespace(t, ns)
	gangs := size.gangs(ns)
	for _, gang := range gangs {
		gang.join(t, c, mode)
	}
	if played.Ideal > 0 {
		c.WaitCalm(t)
	}
	c.AddPodsInOrder(t, interleaved(gangs)...)
	pods := c.Recorder.WaitFinished(t, InNamespace(ns), size.Gangs*size.Members, 2*time.Minute)
	if m != nil {
		m.WaitNoLeaks(t)
	}
	begin, makespan := spanOf(pods)
	played.Makespan = makespan
	summary := fmt.Sprintf("makespan %.2f s", makespan.Seconds())
	if played.Ideal > 0 {
		summary += fmt.Sprintf(" = %.3f × the ideal's %.2f s", played.Ratio(), played.Ideal.Seconds())
	}
	summary += "; " + size.inWaves(pods, makespan)
	t.Logf("%s", summary)
	played.Text = summary + "\n" + gangTimes(pods, begin)
}

// start makes the cluster of a round with its nodes; muster is nil if it does not place the gangs.
func (size Waves) start(t TB, mode WaveMode, own bool) (c *Cluster, m *Muster) {
	t.Helper()
	if mode == WavesNative {
		options := Default.NativeGangs()
		options.Own = own
		c = StartCluster(t, options)
		c.StartScheduler(t, SchedulerOptions{})
	} else {
		c, m = startWaves(t, mode, own)
	}
	for i := range size.Nodes {
		c.AddNodes(t, Node(fmt.Sprintf("gpu-%02d", i), GPUs(size.GPUsPerNode)))
	}
	return c, m
}

func startWaves(t TB, mode WaveMode, own bool) (*Cluster, *Muster) {
	t.Helper()
	options := MusterOptions{Measured: true, Express: mode == WavesExpress}
	if mode == WavesGated {
		options.Config = map[string]any{"gates": map[string]any{"enabled": true}}
	}
	c := StartCluster(t, Options{Dialects: []Dialect{Sigs}, Own: own})
	m := c.StartMuster(t, options)
	c.StartScheduler(t, SchedulerOptions{Muster: m})
	return c, m
}

// join creates the PodGroup of the gang and links the pods to it.
func (g wavingGang) join(t TB, c *Cluster, mode WaveMode) {
	t.Helper()
	ns := g.pods[0].Namespace
	if mode != WavesNative {
		c.Add(t, Sigs.PodGroup(ns, g.name, len(g.pods), nil))
	} else {
		c.Apply(t, fmt.Appendf(nil, `{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup,
			metadata: {namespace: %s, name: %s}, spec: {schedulingPolicy: {gang: {minCount: %d}}}}`, ns, g.name, len(g.pods)))
	}
	for _, pod := range g.pods {
		switch mode {
		case WavesGated: // as the chart's policy does
			Gated(Gate)(pod)
		case WavesNative:
			pod.Labels = nil
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &g.name}
		}
	}
}

func (size Waves) work() time.Duration {
	if size.Work > 0 {
		return size.Work
	}
	return 2 * time.Second
}

type wavingGang struct {
	name string
	pods []*corev1.Pod
}

func (size Waves) gangs(namespace string, changes ...func(*corev1.Pod)) (gangs []wavingGang) {
	for i := range size.Gangs {
		name := fmt.Sprintf("g%02d", i)
		gangs = append(gangs, wavingGang{name, Members(Sigs, namespace, name, size.Members,
			GPUs(size.GPUs), append(changes, RunningFor(size.work()))...)})
	}
	return gangs
}

// interleaved is the worst order: the first members of all gangs, then the second members, and so
// on.
func interleaved(gangs []wavingGang) (pods []*corev1.Pod) {
	for member := range gangs[0].pods {
		for _, gang := range gangs {
			pods = append(pods, gang.pods[member])
		}
	}
	return pods
}

// playIdeal runs the gangs without a scheduler and returns the makespan. As soon as the test bed
// sees room for the next gang, it binds all its members at once. So the ideal includes the time
// that the API server and KWOK need to bind, start and end pods. At the end, the pods are deleted.
func (c *Cluster) playIdeal(t TB, size Waves) time.Duration {
	t.Helper()
	const ns = "ideal"
	c.Namespace(t, ns)
	// The pods belong to no gang, so muster ignores them.
	gangs := size.gangs(ns, WithScheduler("nobody"), func(pod *corev1.Pod) { pod.Labels = nil })
	c.WaitCalm(t)
	all := interleaved(gangs)
	c.AddPodsInOrder(t, all...)

	var free []string // for each pod with room on a node, the name of the node
	for i := range size.Nodes {
		for range size.GPUsPerNode / size.GPUs {
			free = append(free, fmt.Sprintf("gpu-%02d", i))
		}
	}
	ended := map[string]bool{}
	var binds sync.WaitGroup
	for _, gang := range gangs {
		_, room := c.Recorder.look(InNamespace(ns), time.Minute, 0, func(pods []PodRecord) bool {
			for _, pod := range pods {
				if !pod.Finished.IsZero() && !ended[pod.Name] {
					ended[pod.Name] = true
					free = append(free, pod.Node)
				}
			}
			return len(free) >= size.Members
		})
		if !room {
			binds.Wait()
			t.Fatalf("no room was seen for %s/%s", ns, gang.name)
		}
		names, nodes := namesOf(gang.pods), free[:size.Members]
		free = free[size.Members:]
		binds.Go(func() { c.BindAll(t, ns, names, size.Members, func(i int) string { return nodes[i] }) })
	}
	binds.Wait()
	pods := c.Recorder.WaitFinished(t, InNamespace(ns), len(all), time.Minute)
	_, makespan := spanOf(pods)
	t.Logf("the ideal: makespan %.2f s; %s", makespan.Seconds(), size.inWaves(pods, makespan))
	c.DeletePods(t, ns, namesOf(all)...)
	return makespan
}

// spanOf is the time from the creation of the last pod, or from the first binding if that is
// earlier, to the last end.
func spanOf(pods []PodRecord) (begin time.Time, makespan time.Duration) {
	var end time.Time
	for _, pod := range pods {
		if pod.Created.After(begin) {
			begin = pod.Created
		}
		if pod.Finished.After(end) {
			end = pod.Finished
		}
	}
	for _, pod := range pods {
		if pod.Bound.Before(begin) {
			begin = pod.Bound
		}
	}
	return begin, end.Sub(begin)
}

// inWaves is the makespan in full waves, both by the measured average work of a pod and by the
// configured one.
func (size Waves) inWaves(pods []PodRecord, makespan time.Duration) string {
	var work time.Duration
	for _, pod := range pods {
		work += pod.Finished.Sub(pod.Bound)
	}
	work /= time.Duration(len(pods))
	waves := time.Duration(size.Waves)
	return fmt.Sprintf("%.3f × %d waves of %.2f s, %.3f × waves of %v", makespan.Seconds()/(waves*work).Seconds(),
		size.Waves, work.Seconds(), makespan.Seconds()/(waves*size.work()).Seconds(), size.work())
}

// gangTimes lists when each gang was bound and when it ended.
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
