package scenarios

import (
	"fmt"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// A pod with a link to a missing PodGroup waits and gets a reason. It never counts as an ordinary
// pod.
func TestMembersWaitForAMissingPodGroup(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	waitForGroup(t, c, testbed.Sigs, func() {})
}

// A dialect without a CRD is not an error. muster detects a CRD that is installed later.
func TestCRDMayBeInstalledLater(t *testing.T) {
	t.Parallel()
	for _, dialect := range []testbed.Dialect{testbed.Volcano, testbed.KAI} {
		t.Run(dialect.Name, func(t *testing.T) {
			beside(t)
			c := testbed.StartCluster(t, testbed.Options{})
			m := c.StartMuster(t, testbed.MusterOptions{})
			c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
			waitForGroup(t, c, dialect, func() { c.InstallCRDs(t, dialect) })
		})
	}
}

// In a quiet cluster, nothing makes kube-scheduler try a waiting member again, so muster writes the
// newer reason.
func TestReasonsOnPodsAreUpdated(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Sigs)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 3, testbed.GPUs(1))...)
	c.Recorder.AllSay(t, gang, 3, "does not exist")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 4, nil))
	c.Recorder.AllSay(t, gang, 3, "gang ml/ddp: 3 of 4 members exist")
	testbed.Within(t, 10*time.Second, "muster has written to three pods", func() error {
		if told := m.Metrics(t).Sum("muster_api_requests_total", `verb="patch"`, `resource="pods/status"`); told < 3 {
			return fmt.Errorf("muster wrote to %v", told)
		}
		return nil
	})
}

// waitForGroup creates members, checks that they wait, and then creates the PodGroup.
func waitForGroup(t *testing.T, c *testbed.Cluster, dialect testbed.Dialect, before func()) {
	t.Helper()
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	gang := testbed.InGang(dialect, "ml", "ddp")
	c.AddPods(t, testbed.Members(dialect, "ml", "ddp", 3, testbed.GPUs(1))...)
	c.AddPods(t, testbed.Pod("ml", "ordinary", testbed.GPUs(1)))
	c.Recorder.AllSay(t, gang, 3, "PodGroup ml/ddp")
	c.Recorder.AllSay(t, gang, 3, "does not exist")
	c.Recorder.WaitBound(t, testbed.Named("ml", "ordinary"), 1, 20*time.Second)
	c.Recorder.NoneBound(t, gang)

	before()
	begin := time.Now()
	c.Add(t, dialect.PodGroup("ml", "ddp", 3, nil))
	c.Recorder.WaitBound(t, gang, 3, 90*time.Second)
	c.Recorder.Together(t, gang)
	t.Logf("bound %.1f s after the PodGroup was created", time.Since(begin).Seconds())
}
