package scenarios

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/bench"
	"muster.dev/e2e/testbed"
)

// C13: the members of a gang of a thousand are bound together: from the first to the last binding,
// at most 1.5 times what the API server needs for a thousand bindings of equal pods in parallel. A
// plain client measures that in the same run, with its best number of parallel calls, while nothing
// else uses the API server. A single round varies by half (0.8 to 1.7 times were seen), so there
// are five. The median counts, for the gang and for every number of parallel calls.
func TestC13_AThousandMembersStartTogether(t *testing.T) {
	const most, rounds = 1.5, 5
	alone(t)
	if testbed.Small(t, "contests") {
		c, _ := startThousand(t, thousand/4, false)
		placeThousand(t, c, thousand/4)
		return
	}
	var gang []time.Duration
	plain := map[int][]time.Duration{}
	for n := range rounds {
		if !t.Run(fmt.Sprintf("round%d", n+1), func(t *testing.T) { gang = append(gang, bindThousand(t, plain)) }) {
			return
		}
	}
	base, text := time.Hour, ""
	for _, parallel := range parallels {
		took := bench.Median(plain[parallel])
		base = min(base, took)
		text += fmt.Sprintf(", %d at a time %.2f s", parallel, took.Seconds())
	}
	ratio := bench.Median(gang).Seconds() / base.Seconds()
	t.Logf("medians of %d rounds: %d members %.2f s%s; %.2f ×", rounds, thousand, bench.Median(gang).Seconds(), text, ratio)
	if ratio > most {
		t.Errorf("the ratio is %.2f, above %.1f × the time that the API server needs", ratio, most)
	}
}

const thousand = 1000

// parallels are the numbers of parallel calls that the plain client tries.
var parallels = []int{16, 32, 64}

// bindThousand is one round on its own control plane. It adds the times of the plain client to
// `plain`.
func bindThousand(t *testing.T, plain map[int][]time.Duration) time.Duration {
	t.Helper()
	c, nodes := startThousand(t, thousand, true)
	text := ""
	for _, parallel := range parallels {
		took := bindPlainly(t, c, nodes, parallel)
		plain[parallel] = append(plain[parallel], took)
		text += fmt.Sprintf(", %d at a time %.2f s", parallel, took.Seconds())
	}

	gang := placeThousand(t, c, thousand)
	t.Logf("%d members %.2f s%s", thousand, gang.Seconds(), text)
	return gang
}

// startThousand starts everything, with n nodes of one GPU each.
func startThousand(t *testing.T, n int, own bool) (*testbed.Cluster, []*corev1.Node) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true, Own: own})
	c.Namespace(t, "big")
	var nodes []*corev1.Node
	for i := range n {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("n%04d", i), testbed.GPUs(1)))
	}
	c.AddNodes(t, nodes...)
	m := c.StartMuster(t, testbed.MusterOptions{Measured: true})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	return c, nodes
}

// placeThousand places a gang of n, and returns the time from the first binding to the last.
func placeThousand(t *testing.T, c *testbed.Cluster, n int) time.Duration {
	t.Helper()
	c.Add(t, testbed.Sigs.PodGroup("big", "huge", n, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "big", "huge", n, testbed.GPUs(1))...)
	which := testbed.InGang(testbed.Sigs, "big", "huge")
	c.Recorder.WaitBound(t, which, n, 2*time.Minute)
	return c.Recorder.Together(t, which)
}

// bindPlainly binds a thousand pods without other load, with this many calls at a time, and returns
// the time from the first binding to the last.
func bindPlainly(t *testing.T, c *testbed.Cluster, nodes []*corev1.Node, parallel int) time.Duration {
	t.Helper()
	ns := fmt.Sprintf("plain-%d", parallel)
	c.Namespace(t, ns)
	pods := c.AddUnscheduled(t, ns, thousand)
	c.BindAll(t, ns, pods, parallel, func(i int) string { return nodes[i].Name })
	which := testbed.InNamespace(ns)
	c.Recorder.WaitBound(t, which, thousand, time.Minute)
	took := c.Recorder.Together(t, which)
	c.DeletePods(t, ns, pods...)
	return took
}
