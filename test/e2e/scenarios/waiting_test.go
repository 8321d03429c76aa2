package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// bigGang is a gang of eight that waits on eight GPUs, four of which are in use.
func bigGang(t *testing.T, config map[string]any) (*testbed.Cluster, *testbed.Muster, testbed.Which) {
	t.Helper()
	c, m := startAll(t, config, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.AddPods(t, testbed.Pod("ml", "filler", testbed.GPUs(4)))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "filler"), 1, 20*time.Second)
	gang := testbed.InGang(testbed.Volcano, "ml", "big")
	c.Add(t, testbed.Volcano.PodGroup("ml", "big", 8, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "big", 8, testbed.GPUs(1),
		testbed.RunningFor(2*time.Second))...)
	c.Recorder.AllSay(t, gang, 8, "gang ml/big: 8 members needed, room for 4 (4 short of nvidia.com/gpu)")
	return c, m, gang
}

func smallJobs(n int, work time.Duration) ([]*corev1.Pod, testbed.Which) {
	var pods []*corev1.Pod
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("small-%d", i))
		pods = append(pods, testbed.Pod("ml", names[i], testbed.GPUs(1), testbed.RunningFor(work)))
	}
	return pods, testbed.Named("ml", names...)
}

// S04: a big gang waits; small jobs use the free room meanwhile.
func TestS04_SmallJobsRunWhileABigGangWaits(t *testing.T) {
	beside(t)
	c, _, gang := bigGang(t, nil)
	pods, small := smallJobs(12, time.Second)
	c.AddPods(t, pods...)
	c.Recorder.WaitFinished(t, small, len(pods), 40*time.Second)
	if n := boundOf(c.Recorder.Pods(gang)); n > 0 {
		t.Errorf("%d members of the gang are bound, although there is no room for all", n)
	}
	c.DeletePods(t, "ml", "filler")
	c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
}

// S04: with strict order, nothing passes the gang.
func TestS04_StrictOrderLetsNothingPass(t *testing.T) {
	beside(t)
	c, _, gang := bigGang(t, map[string]any{"strictOrder": true})
	pods, small := smallJobs(3, time.Second)
	c.AddPods(t, pods...)
	other := testbed.InGang(testbed.Volcano, "ml", "other")
	c.Add(t, testbed.Volcano.PodGroup("ml", "other", 2, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "other", 2, testbed.GPUs(1),
		testbed.RunningFor(time.Second))...)
	c.Recorder.AllSay(t, small, len(pods), "gang ml/big")
	c.Recorder.AllSay(t, other, 2, "gang ml/other: waits for the gangs ahead of it (strictOrder)")
	c.Recorder.NoneBound(t, either(small, other, gang))

	c.DeletePods(t, "ml", "filler")
	c.Recorder.WaitFinished(t, gang, 8, 30*time.Second)
	c.Recorder.WaitFinished(t, either(small, other), len(pods)+2, 30*time.Second)
}

// S04: small work that never ends does not starve a gang.
func TestS04_ABigGangIsNeverStarved(t *testing.T) {
	beside(t)
	c, m := startAll(t, map[string]any{"starvationSeconds": 5}, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	// A backlog of more than 20 s of work, which would take every GPU that becomes free. The pods
	// end at different times, so that eight GPUs are never free at once.
	pods, small := smallJobs(64, 0)
	for i, pod := range pods {
		testbed.RunningFor(time.Duration(1500+370*i%1700) * time.Millisecond)(pod)
	}
	c.AddPods(t, pods...)
	c.Recorder.WaitRunning(t, small, 8, 20*time.Second)
	gang := testbed.InGang(testbed.Volcano, "ml", "big")
	c.Add(t, testbed.Volcano.PodGroup("ml", "big", 8, nil))
	begin := time.Now()
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "big", 8, testbed.GPUs(1), testbed.RunningFor(time.Second))...)
	bound := c.Recorder.WaitBound(t, gang, 8, 60*time.Second)
	c.Recorder.Together(t, gang)
	left := len(pods) - boundOf(c.Recorder.Pods(small))
	t.Logf("bound after %.1f s, with %d small jobs still waiting", time.Since(begin).Seconds(), left)
	if left < len(pods)/4 {
		t.Errorf("only %d of %d small jobs still waited, so the gang was bound after them", left, len(pods))
	}
	if waited := bound[0].Bound.Sub(begin); waited < 4*time.Second {
		t.Errorf("the gang was bound after %v, so it was not starved and the test proves nothing", waited)
	}
	// After that, no room is kept from the small jobs.
	c.Recorder.WaitFinished(t, small, len(pods), 60*time.Second)
	m.WaitNoLeaks(t)
}

// S09: a gang has a plan and never becomes complete. After the timeout its room is free at once,
// its phase is Failed, and it tries again.
func TestS09_TimeoutWhileHeld(t *testing.T) {
	beside(t)
	const timeout = 6 * time.Second
	c, m := startAll(t, map[string]any{"backoffSeconds": 4}, testbed.Recipe)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	phases := c.WatchPhases(t, testbed.Recipe, "ml", "ddp")
	c.Add(t, testbed.Recipe.PodGroup("ml", "ddp", 4, map[string]any{
		"scheduleTimeoutSeconds": int64(timeout.Seconds()), "priority": int64(50), "queue": "training"}))
	members := testbed.Members(testbed.Recipe, "ml", "ddp", 4, testbed.GPUs(1))
	members[3].Spec.SchedulerName = lateScheduler
	gang := testbed.InGang(testbed.Recipe, "ml", "ddp")
	begin := time.Now()
	c.AddPods(t, members...)
	m.WaitState(t, "ml", "ddp", "Planned")
	waiting := testbed.Named("ml", "waiting")
	c.AddPods(t, testbed.Pod("ml", "waiting", testbed.GPUs(4), testbed.RunningFor(time.Second)))

	// As long as the plan stands, its room is reserved. Then it is free at once.
	freed := c.Recorder.WaitBound(t, waiting, 1, 30*time.Second)[0].Bound.Sub(begin)
	if freed < timeout-time.Second {
		t.Errorf("the room was free after %v, but the timeout is %v", freed, timeout)
	}
	testbed.Figure(t, freed <= timeout+3*time.Second, "the room was free after %v, the timeout is %v", freed, timeout)
	c.WaitEvent(t, "PodGroup", "ml", "ddp", "Timeout", "not placed within 6 s")
	c.WaitCondition(t, testbed.Recipe, "ml", "ddp", metav1.Condition{
		Type: "PodGroupScheduled", Status: "False", Message: "not placed within 6 s"})
	if n := boundOf(c.Recorder.Pods(gang)); n > 0 {
		t.Fatalf("%d members are bound", n)
	}
	for _, pod := range c.Recorder.Pods(gang) {
		if pod.Latest.Status.Phase != corev1.PodPending {
			t.Errorf("%s is %s, want Pending", pod.Name, pod.Latest.Status.Phase)
		}
	}

	// muster tries it again by itself.
	m.WaitState(t, "ml", "ddp", "Planned")
	startLateScheduler(t, c, m)
	c.Recorder.WaitBound(t, gang, 4, 60*time.Second)
	c.Recorder.Together(t, gang)
	testbed.Within(t, 30*time.Second, "phase Scheduled or later", func() error {
		return after(c.Phase(t, testbed.Recipe, "ml", "ddp"), "Scheduled")
	})
	// The phase is Failed, and then another one.
	seen := phases()
	failed := slices.Index(seen, "Failed")
	if failed < 0 || !slices.Contains(seen[failed:], "PreScheduling") || !slices.Contains(seen[failed:], "Scheduled") {
		t.Errorf("the phases were %v", seen)
	}
}

// S09: the same for a gang that never had a plan. In scheduling.x-k8s.io the phase Failed is final,
// so muster must not write it there.
func TestS09_TimeoutWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		dialect testbed.Dialect
		failed  bool
	}{{testbed.Recipe, true}, {testbed.Sigs, true}, {testbed.SchedulerPlugins, false}} {
		t.Run(each.dialect.Name, func(t *testing.T) {
			beside(t)
			c, m := startAll(t, map[string]any{"backoffSeconds": 2}, each.dialect)
			c.Namespace(t, "ml")
			c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
			phases := c.WatchPhases(t, each.dialect, "ml", "ddp")
			c.Add(t, each.dialect.PodGroup("ml", "ddp", 8, map[string]any{"scheduleTimeoutSeconds": int64(3)}))
			gang := testbed.InGang(each.dialect, "ml", "ddp")
			c.AddPods(t, testbed.Members(each.dialect, "ml", "ddp", 8, testbed.GPUs(1))...)
			event := c.WaitEvent(t, "PodGroup", "ml", "ddp", "Timeout", "not placed within 3 s")
			if !strings.Contains(event.Message, "8 members needed, room for 4 (4 short of nvidia.com/gpu)") {
				t.Errorf("the event has no reason: %q", event.Message)
			}
			if each.failed {
				eventuallyPhase(t, c, each.dialect, "ml", "ddp", "Failed")
			}
			c.Recorder.NoneBound(t, gang)
			// A change of capacity ends the backoff.
			c.AddNodes(t, testbed.Node("b", testbed.GPUs(4)))
			testbed.Within(t, 15*time.Second, "the gang has a plan", func() error {
				if state := m.Gang(t, "ml", "ddp").State; state == "BackedOff" || state == "Waiting" {
					return fmt.Errorf("its state is %s", state)
				}
				return nil
			})
			// Members that kube-scheduler tries at different times may not be at bind together
			// within 3 s.
			c.EditPodGroup(t, each.dialect, "ml", "ddp", map[string]any{"scheduleTimeoutSeconds": int64(60)})
			c.Recorder.WaitBound(t, gang, 8, 60*time.Second)
			c.Recorder.Together(t, gang)
			if seen := phases(); slices.Contains(seen, "Failed") != each.failed {
				t.Errorf("the phases were %v", seen)
			}
		})
	}
}

// C07: with belowMinimum: requeue, replacements wait until the gang can meet its minimum again.
func TestC07_RequeuedBelowTheMinimum(t *testing.T) {
	beside(t)
	c, m := startAll(t, map[string]any{"belowMinimum": "requeue"}, testbed.Sigs)
	gang := runningGang(t, c, m)
	c.DeletePods(t, "ml", "ddp-0", "ddp-1", "ddp-2")
	late := testbed.Named("ml", "again-0", "again-1", "again-2")
	c.AddPods(t, replacement("again-0"))
	c.Recorder.NoneBound(t, late)
	c.Recorder.AllSay(t, testbed.Named("ml", "again-0"), 1, "gang ml/ddp: 2 of 4 members exist")
	c.AddPods(t, replacement("again-1"), replacement("again-2"))
	c.Recorder.WaitBound(t, late, 3, 30*time.Second)
	c.Recorder.Together(t, late)
	clearGang(t, c, gang)
	m.WaitNoLeaks(t)
}
