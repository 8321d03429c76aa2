package bench

import (
	"fmt"
	"time"

	"muster.dev/e2e/testbed"
)

// latency: one gang of 8 after the other on a warm cluster of 1,000 nodes. The time runs from the
// answer to the creation of the last pod until the watch has shown all of them bound. The eight
// pods are created at once, as controllers do.
var latency = experiment{
	name: "latency", what: "1,000 nodes, one gang of 8 at a time",
	how: "Members are created at once, as a controller does. The time runs from the API server's response to the last create request until " +
		"a watch has shown all eight members bound. After 5 gangs to warm up, 40 gangs are measured, one after the " +
		"other.",
	keys: []string{"P08"}, run: measureLatency,
}

const (
	latencyGangs   = 40
	latencyWarmUp  = 5
	latencyMembers = 8
)

func measureLatency(t testbed.TB, options Options) Outcome {
	b := newBed(t, options, 1000/options.Scale, nil)
	v := Value{Key: "P08"}
	table := Table{Title: fmt.Sprintf("ms from the creation of the last pod until all 8 are bound, %d gangs", latencyGangs),
		Columns: []string{"", "p50", "p95", "longest"}}
	var all []rated
	for turn := range options.Turns {
		p95 := map[string]time.Duration{}
		for i := range 2 {
			s := []setup{stock, withMuster}[(i+turn)%2]
			each := b.latencies(s)
			p95[s.name] = quantile(each, 0.95)
			table.Rows = append(table.Rows, []string{fmt.Sprintf("%s, turn %d", s.name, turn+1),
				milliseconds(quantile(each, 0.5)), milliseconds(p95[s.name]), milliseconds(quantile(each, 1))})
			fmt.Printf("  turn %d  %-8s p50 %s ms, p95 %s ms\n", turn+1, s.name,
				milliseconds(quantile(each, 0.5)), milliseconds(p95[s.name]))
		}
		all = append(all, rated{p95["muster"].Seconds() / p95["stock"].Seconds(),
			milliseconds(p95["muster"]) + " ms", milliseconds(p95["stock"]) + " ms"})
	}
	v.take(all)
	return Outcome{Values: []Value{v}, Tables: []Table{table}}
}

// latencies are the latencies in one turn of a set-up.
func (b *bed) latencies(s setup) []time.Duration {
	m := b.startMuster(s)
	scheduler := b.startScheduler(s, m)
	ns := b.space()
	seen := b.watch(ns)
	b.AddPodGroups(b.t, testbed.Sigs, ns, latencyWarmUp+latencyGangs, latencyMembers)
	var each []time.Duration
	for i := range latencyWarmUp + latencyGangs {
		b.AddPods(b.t, testbed.Members(testbed.Sigs, ns, fmt.Sprintf("g%d", i), latencyMembers, testbed.GPUs(1))...)
		created := time.Now()
		bound := seen.wait((i+1)*latencyMembers, time.Minute)
		if i >= latencyWarmUp {
			// All pods may be bound before the last answer has arrived.
			each = append(each, max(0, bound[len(bound)-1].at.Sub(created)))
		}
	}
	seen.stop()
	scheduler.Kill()
	if m != nil {
		m.Stop(b.t)
	}
	b.clear(ns)
	return each
}
