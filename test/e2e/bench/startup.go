package bench

import (
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// start: muster and the stock scheduler start together in a large cluster: which is ready first,
// and how much memory they take.
var start = experiment{
	name: "start", what: startWhat,
	how: "50,000 pods run on 5,000 nodes, and 8 pods wait. muster and a stock scheduler without an extender are " +
		"started one directly after the other. Which of the two is started first alternates from turn to turn. Both read the complete cluster. Peak memory covers the " +
		"complete start, including the Bindings.",
	keys: []string{"P04 memory", "P04 memory-ratio", "P10"}, run: measureStart,
}

const startWhat = "5,000 nodes, 50,000 pods: muster and kube-scheduler start together"

func measureStart(t testbed.TB, options Options) Outcome {
	nodes := 5000 / options.Scale
	pods := 10 * nodes
	b := newBed(t, options, nodes, nil)
	b.fill(pods)
	table := Table{Title: startWhat,
		Columns: []string{"", "muster ready, s", "first binding, s", "muster MiB", "scheduler MiB", "muster CPU, s", "scheduler CPU, s"}}
	var memory, memoryRatio, ready []rated
	for turn := range options.Turns {
		r := b.startTogether(turn%2 == 0)
		table.Rows = append(table.Rows, []string{fmt.Sprintf("turn %d", turn+1), seconds(r.ready), seconds(r.first),
			inMiB(r.muster), inMiB(r.scheduler), seconds(r.muster.CPU), seconds(r.scheduler.CPU)})
		fmt.Printf("  turn %d  muster ready after %s s, first binding after %s s; %s and %s MiB\n", turn+1,
			seconds(r.ready), seconds(r.first), inMiB(r.muster), inMiB(r.scheduler))
		memory = append(memory, rated{ratio: float64(r.muster.PeakRSS) / (1 << 20), ours: inMiB(r.muster) + " MiB"})
		memoryRatio = append(memoryRatio, rated{float64(r.muster.PeakRSS) / float64(r.scheduler.PeakRSS),
			inMiB(r.muster) + " MiB", inMiB(r.scheduler) + " MiB"})
		ready = append(ready, rated{r.ready.Seconds() / r.first.Seconds(), seconds(r.ready) + " s", seconds(r.first) + " s"})
	}
	values := []Value{{Key: "P04 memory"}, {Key: "P04 memory-ratio"}, {Key: "P10"}}
	for i, all := range [][]rated{memory, memoryRatio, ready} {
		values[i].take(all)
	}
	return Outcome{Values: values, Tables: []Table{table}}
}

func inMiB(u testbed.Usage) string { return fmt.Sprint(u.PeakRSS >> 20) }

// fill creates pods that already have nodes, ten on each.
func (b *bed) fill(n int) {
	ns := b.space()
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = testbed.Pod(ns, fmt.Sprintf("old-%d", i), testbed.Amounts{"cpu": "1", "memory": "4Gi"},
			testbed.OnNode(nodeName(i/10)))
	}
	begin := time.Now()
	b.AddPods(b.t, pods...)
	fmt.Printf("  %d pods created in %.1f s\n", n, time.Since(begin).Seconds())
}

// started is the result of one start.
type started struct {
	ready, first      time.Duration // muster is ready; the scheduler's first binding
	muster, scheduler testbed.Usage
}

// startTogether starts both at the same time; some pods wait for the scheduler.
func (b *bed) startTogether(musterFirst bool) started {
	ns := b.space()
	b.AddPods(b.t, testbed.Members(testbed.Sigs, ns, "g0", 8, testbed.GPUs(1))...)
	seen := b.watch(ns)
	var m *testbed.Muster
	var scheduler *testbed.Process
	startMuster := func() {
		m = b.StartMuster(b.t, testbed.MusterOptions{Config: b.options.Config, Measured: true, NoWait: true})
	}
	startScheduler := func() {
		scheduler = b.StartScheduler(b.t, testbed.SchedulerOptions{NoWait: true})
	}
	if musterFirst {
		startMuster()
		startScheduler()
	} else {
		startScheduler()
		startMuster()
	}
	ready := b.whenReady(m).Sub(m.Started)
	first := seen.wait(1, time.Minute)[0].at.Sub(scheduler.Started)
	seen.wait(8, time.Minute)
	seen.stop()
	time.Sleep(2 * time.Second) // work after the first list counts, too
	r := started{ready, first, m.Usage(), scheduler.Usage()}
	scheduler.Kill()
	m.Stop(b.t)
	b.clear(ns)
	return r
}

// whenReady polls every few milliseconds.
func (b *bed) whenReady(m *testbed.Muster) time.Time {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		reply, err := http.Get("http://" + m.Ops + "/readyz")
		if err != nil {
			continue
		}
		reply.Body.Close()
		if reply.StatusCode == http.StatusOK {
			return time.Now()
		}
	}
	b.t.Fatalf("muster is not ready after a minute")
	return time.Time{}
}
