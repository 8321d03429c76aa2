package bench

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// backlog is the experiment in which some gangs cannot be placed and wait while others come and are
// placed at once. A waiting member alone would fit, so it passes kube-scheduler's own filters, and
// muster's filter is called for it whenever anything happens in the cluster. This is the worst kind
// of backlog.
type backlog struct {
	name, what, how, key string
	setup                setup
	gate                 string // the scheduling gate of new members; ""
}

const (
	backlogGangs  = 1250
	streamGangs   = 125
	streamMembers = 8
	// scarce is the resource of the waiting gangs: seven nodes have one each, and a gang needs
	// eight.
	scarce = "example.com/scarce"
	// streamLimit limits the time of a stream. Pods that are not bound by then do not count.
	streamLimit = time.Minute
)

const howOpen = "1,000 nodes. 10,000 pods wait in 1,250 gangs of 8. Each of these pods alone would fit on any of seven nodes. " +
	"Some nodes therefore pass kube-scheduler's own filters, and kube-scheduler calls muster for the pod at each " +
	"event in the cluster. Meanwhile, 125 gangs of 8 are created at once. The time runs from the first creation to the last " +
	"Binding, but for at most one minute."

var openBacklog = backlog{
	name: "backlog", what: "A stream of 125 gangs of 8, with 1,250 waiting gangs", how: howOpen,
	key: "P07 open", setup: setup{name: "open", muster: map[string]any{}},
}

var patientBacklog = backlog{
	name: "backlog-patient", what: "The same backlog without gates, with longer backoffs",
	how: "kube-scheduler has podInitialBackoffSeconds: 10 and podMaxBackoffSeconds: 60, with and without the backlog. " +
		"docs/gates.md recommends this if you cannot use gates.",
	key: "P07 patient", setup: setup{name: "patient", muster: map[string]any{}, initialBackoff: 10, maxBackoff: 60},
}

var gatedBacklog = backlog{
	name: "backlog-gated", what: "The same backlog, gated",
	how: "All pods are created with muster's scheduling gate, with and without the backlog. muster removes the gate " +
		"when a gang has a plan. kube-scheduler's configuration contains only the profile that the pods use, " +
		"because kube-scheduler compares each event with each gated pod once for each profile.",
	key: "P07 gated", gate: "muster.dev/plan",
	setup: setup{name: "gates", muster: gatesOn, profiles: []string{"default-scheduler"}},
}

var gatedProfiles = backlog{
	name: "backlog-gated-profiles", what: "The same backlog, gated, with four profiles",
	how: "As before, with the four profiles that `muster scheduler-config` prints. Only one of them is used.",
	key: "P07 gated profiles", gate: "muster.dev/plan", setup: setup{name: "gates", muster: gatesOn},
}

var gatesOn = map[string]any{"gates": map[string]any{"enabled": true}}

func (l backlog) experiment() experiment {
	return experiment{l.name, l.what, l.how, []string{l.key}, l.measure}
}

func (l backlog) measure(t testbed.TB, options Options) Outcome {
	gangs, waiting := streamGangs/options.Scale, backlogGangs/options.Scale
	b := newBed(t, options, 1000/options.Scale, func(node int) testbed.Amounts {
		if node < streamMembers-1 {
			return testbed.Amounts{scarce: "1"}
		}
		return nil
	})
	m := b.startMuster(l.setup)
	scheduler := b.startScheduler(l.setup, m)
	l.stream(b, m, scheduler, (gangs+4)/5) // warm-up
	var without, with []streamed
	run := func(name string, n int, to *[]streamed) {
		for range n {
			r := l.stream(b, m, scheduler, gangs)
			*to = append(*to, r)
			fmt.Printf("  %-16s %5.0f pods/s, %d filter calls, scheduler CPU %s s, muster CPU %s s\n", name, r.rate, r.calls,
				seconds(r.scheduler), seconds(r.muster))
		}
	}
	// The backlog is created once, in the middle: a machine that slows down slows both sides.
	before := (options.Turns + 1) / 2
	run("no backlog", before, &without)
	ns := b.space()
	begin := time.Now()
	b.addGangs(ns, waiting, streamMembers, testbed.Amounts{scarce: "1"}, l.change())
	b.settle(m)
	fmt.Printf("  %d gangs wait, after %.0f s\n", waiting, time.Since(begin).Seconds())
	run("with a backlog", options.Turns, &with)
	b.clear(ns)
	b.settle(m)
	run("no backlog", options.Turns-before, &without)

	v := Value{Key: l.key}
	var all []rated
	table := Table{Title: l.what, Columns: []string{"", "pods/s", "filter calls", "scheduler CPU, s", "muster CPU, s"}}
	for turn := range options.Turns {
		x, y := with[turn], without[turn]
		all = append(all, rated{x.rate / y.rate, number(x.rate) + " pods/s", number(y.rate) + " pods/s"})
		table.Rows = append(table.Rows, y.row(fmt.Sprintf("no backlog, turn %d", turn+1)),
			x.row(fmt.Sprintf("with a backlog, turn %d", turn+1)))
	}
	v.take(all)
	return Outcome{Values: []Value{v}, Tables: []Table{table}}
}

// change is a change to all pods.
func (l backlog) change() func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if l.gate != "" {
			pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: l.gate}}
		}
	}
}

// streamed is the result of a stream of gangs.
type streamed struct {
	rate              float64 // pods per second, from the first creation to the last binding
	calls             int     // number of filter calls
	scheduler, muster time.Duration
}

func (s streamed) row(name string) []string {
	return []string{name, number(s.rate), fmt.Sprint(s.calls), seconds(s.scheduler), seconds(s.muster)}
}

func (l backlog) stream(b *bed, m *testbed.Muster, scheduler *testbed.Process, gangs int) streamed {
	ns := b.space()
	seen := b.watch(ns)
	n := gangs * streamMembers
	calls, used, own := filterCalls(b.t, m), scheduler.Usage().CPU, m.Usage().CPU
	begin := time.Now()
	b.addGangs(ns, gangs, streamMembers, testbed.GPUs(1), l.change())
	bound := seen.until(n, streamLimit)
	took := time.Since(begin)
	if len(bound) == n {
		took = bound[n-1].at.Sub(begin)
	}
	r := streamed{
		rate:      float64(len(bound)) / took.Seconds(),
		calls:     filterCalls(b.t, m) - calls,
		scheduler: scheduler.Usage().CPU - used,
		muster:    m.Usage().CPU - own,
	}
	if len(bound) < n {
		fmt.Printf("  only %d of %d pods are bound after %v\n", len(bound), n, streamLimit)
	}
	seen.stop()
	b.clear(ns)
	b.settle(m)
	return r
}

func filterCalls(t testbed.TB, m *testbed.Muster) int {
	return int(m.Metrics(t).Sum("muster_extender_requests_total", `verb="filter"`))
}

// settle waits until the scheduler has made no filter call for two seconds, but only for a limited
// time, because it may never stop.
func (b *bed) settle(m *testbed.Muster) {
	// 10,000 tries take up to 12 ms each on a slow machine.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	calls, since := -1, time.Now()
	for ctx.Err() == nil && time.Since(since) < 2*time.Second {
		time.Sleep(200 * time.Millisecond)
		if now := filterCalls(b.t, m); now != calls {
			calls, since = now, time.Now()
		}
	}
}
