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

// C08: in a cluster of 400 nodes, the scheduler offers only some of the feasible nodes. One gang
// has reserved almost all nodes before the scheduler sees it. The other gangs are planned before
// the scheduler starts and share the rest in pairs. The scheduler's offers often lack both nodes.
func TestC08_PlannedNodeNotOffered(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name       string
		wholeNodes bool
	}{
		{"NodeNames", false},
		{"WholeNodes", true}, // nodeCacheCapable: false
	} {
		t.Run(variant.name, func(t *testing.T) {
			alone(t)
			const nodes, withGPUs, gangs, members = 400, 320, 25, 2
			const left = gangs * members
			c := testbed.StartCluster(t, testbed.Options{
				Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
			// A nominated pod is offered only one node.
			m := c.StartMuster(t, testbed.MusterOptions{Config: map[string]any{"steering": "never"}})
			c.Namespace(t, "ml")
			var all []*corev1.Node
			for i := range nodes {
				amounts := testbed.Amounts{}
				if i < withGPUs {
					amounts = testbed.GPUs(1)
				}
				all = append(all, testbed.Node(fmt.Sprintf("n%03d", i), amounts))
			}
			c.AddNodes(t, all...)
			c.Add(t, testbed.Sigs.PodGroup("ml", "unseen", withGPUs-left, nil))
			c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "unseen", withGPUs-left, testbed.GPUs(1),
				testbed.WithScheduler(lateScheduler))...)
			m.WaitState(t, "ml", "unseen", "Planned")

			for i := range gangs {
				name := fmt.Sprintf("seen-%d", i)
				c.Add(t, testbed.Sigs.PodGroup("ml", name, members, nil))
				c.AddPods(t, testbed.Members(testbed.Sigs, "ml", name, members, testbed.GPUs(1))...)
				m.WaitState(t, "ml", name, "Planned")
			}

			proxy := testbed.StartVerbProxy(t, m)
			c.StartScheduler(t, testbed.SchedulerOptions{
				Muster: m, Through: proxy, WholeNodes: variant.wholeNodes})
			seen := func(p *testbed.PodRecord) bool { return strings.HasPrefix(p.Name, "seen-") }
			pods := c.Recorder.WaitBound(t, seen, left, time.Minute)

			var planned []string
			for _, pod := range pods {
				planned = append(planned, pod.Node)
			}
			absent, offers := 0, 0
			for _, call := range proxy.Calls("filter") {
				if !strings.HasPrefix(call.Pod, "ml/seen-") || len(call.Offered) < 100 {
					continue
				}
				offers++
				for _, pod := range pods {
					if call.Pod == "ml/"+pod.Name && !slices.Contains(call.Offered, pod.Node) {
						absent++
					}
				}
				for _, name := range call.Returned {
					if !slices.Contains(planned, name) {
						t.Errorf("filter returned for %s the node %s, which is reserved", call.Pod, name)
					}
				}
			}
			t.Logf("%d sampled offers, %d of them without the node where the member went", offers, absent)
			if absent == 0 {
				t.Errorf("the planned node was always offered, so the test proves nothing")
			}
		})
	}
}
