package scenarios

import (
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// The test bed itself, with the stock scheduler and without muster: it runs pods and Jobs, and its
// checks see the partial gang that muster prevents.
func TestTestbedSeesThePartialGangOfAStockScheduler(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version,
			Dialects: []testbed.Dialect{testbed.Volcano}})
		c.Namespace(t, "ml")
		c.AddNodes(t,
			testbed.Node("a", testbed.GPUs(4)),
			testbed.Node("b", testbed.GPUs(2)))
		c.Add(t, testbed.Volcano.PodGroup("ml", "ddp", 8, nil))
		gang := testbed.InGang(testbed.Volcano, "ml", "ddp")
		c.Recorder.Excuse(testbed.Volcano.Key("ml", "ddp"))
		c.StartScheduler(t, testbed.SchedulerOptions{Profiles: []string{"volcano"}})
		c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "ddp", 8, testbed.GPUs(1),
			testbed.RunningFor(2*time.Second))...)

		c.Recorder.WaitRunning(t, gang, 6, 20*time.Second)
		partials := c.Recorder.History().Partials(
			map[string]int{testbed.Volcano.Key("ml", "ddp"): 8}, time.Now())
		if len(partials) != 1 || !partials[0].Open || partials[0].Most != 6 {
			t.Errorf("6 of 8 run, but the recorder found %v", partials)
		}
		// The first six finish and make room for the others.
		pods := c.Recorder.WaitFinished(t, gang, 8, 20*time.Second)
		for _, pod := range pods {
			if work := pod.Finished.Sub(pod.Ran); work < 1900*time.Millisecond || work > 5*time.Second {
				t.Errorf("%s ran for %v, want 2s", pod.Name, work)
			}
		}
	})
}
