package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// C13: the members of a gang of a thousand are bound together: from the first to
// the last binding in at most 1.5 times what the API server needs for a thousand
// bindings of equal pods in parallel. That is measured in the same run with a plain client,
// whose best number of parallel calls counts, while nothing else is asked of the
// API server; whoever watches it, watches then too. The median of five such
// rounds counts: one alone varies by half (0.8 to 1.7 times were seen in turn).
func TestC13_ThousandMembersTogether(t *testing.T) {
	const most = 1.5
	alone(t)
	of := medianOfFive(t, func(t *testing.T) (bool, string) {
		base, gang, text := bindThousand(t)
		t.Log(text)
		return gang.Seconds() <= most*base.Seconds(), text
	})
	if !of.held() {
		t.Errorf("above %.1f × what the API server needs:\n%s", most, strings.Join(of.bad, "\n"))
	}
}

const thousand = 1000

// bindThousand is one round on a control plane of its own.
func bindThousand(t *testing.T) (base, gang time.Duration, text string) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	c.Namespace(t, "big")
	var nodes []*corev1.Node
	for i := range thousand {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("n%04d", i), testbed.GPUs(1)))
	}
	c.AddNodes(t, nodes...)
	m := c.StartMuster(t, testbed.MusterOptions{Measured: true})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	var single []string
	for _, parallel := range []int{16, 32, 64} {
		took := bindPlainly(t, c, nodes, parallel)
		single = append(single, fmt.Sprintf("%d at a time %.2f s", parallel, took.Seconds()))
		if base == 0 || took < base {
			base = took
		}
	}

	c.Add(t, testbed.Sigs.PodGroup("big", "huge", thousand, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "big", "huge", thousand, testbed.GPUs(1))...)
	which := testbed.InGang(testbed.Sigs, "big", "huge")
	c.Recorder.WaitBound(t, which, thousand, 2*time.Minute)
	gang = c.Recorder.Together(t, which)
	return base, gang, fmt.Sprintf("%d members in %.2f s = %.2f × the API server's %.2f s (%s)", thousand,
		gang.Seconds(), gang.Seconds()/base.Seconds(), base.Seconds(), strings.Join(single, ", "))
}

// bindPlainly binds a thousand pods with nobody else around, so many calls at a
// time, and returns how long it took from the first binding to the last.
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
