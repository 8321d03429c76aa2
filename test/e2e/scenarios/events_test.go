package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// S10: `kubectl get events --field-selector reason=…` and `kubectl describe podgroup` show what
// happened to a gang, in every dialect with objects. Repeated events are counted, not written
// again.
func TestS10_EventsShowWhatHappenedToAGang(t *testing.T) {
	beside(t)
	c, _ := startAll(t, map[string]any{
		"scheduleTimeoutSeconds": 3, "backoffSeconds": 0.5, "maxBackoffSeconds": 1,
	}, testbed.KAI, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins)
	dialects := []testbed.Dialect{testbed.Recipe, testbed.KAI, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins}
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(1)))
	for _, d := range dialects {
		c.Namespace(t, d.Name)
		c.Add(t, d.PodGroup(d.Name, "train", 2, nil))
		c.AddPods(t, testbed.Members(d, d.Name, "train", 2, testbed.GPUs(1))...)
	}
	for _, d := range dialects {
		waitCounted(t, c, d, "Unschedulable", corev1.EventTypeWarning, "2 members needed, room for 1", 2)
		waitCounted(t, c, d, "Timeout", corev1.EventTypeWarning, "", 3)
	}
	c.AddNodes(t, testbed.Node("large", testbed.GPUs(2*len(dialects))))
	shell := c.Shell(t, nil, c.Dir)
	for _, d := range dialects {
		c.Recorder.WaitRunning(t, testbed.InGang(d, d.Name, "train"), 2, 90*time.Second)
		waitCounted(t, c, d, "PodGroupScheduled", corev1.EventTypeNormal, "2 members needed, 2 bound", 1)
		described, err := shell.Type(fmt.Sprintf("kubectl describe podgroups.%s train -n %s", d.Group, d.Name))
		if err != nil {
			t.Error(err)
		}
		for _, reason := range []string{"Unschedulable", "Timeout", "PodGroupScheduled"} {
			shown, err := shell.Type(fmt.Sprintf("kubectl get events -n %s --field-selector reason=%s", d.Name, reason))
			if err != nil || strings.Count(shown, "podgroup/train") != 1 {
				t.Errorf("%s: want one event %s (%v):\n%s", d.Name, reason, err, shown)
			}
			if !strings.Contains(described, " "+reason+" ") {
				t.Errorf("%s: kubectl describe does not show the event %s:\n%s", d.Name, reason, described)
			}
		}
	}
}

// waitCounted waits until the PodGroup "train" in the dialect's namespace has one event with this
// reason, with this count.
func waitCounted(t *testing.T, c *testbed.Cluster, d testbed.Dialect, reason, kind, text string, times int32) {
	t.Helper()
	what := fmt.Sprintf("PodGroup %s/train has event %s %d times", d.Name, reason, times)
	testbed.Within(t, 30*time.Second, what, func() error {
		var found []corev1.Event
		for _, event := range c.Events(t, "PodGroup", d.Name, "train") {
			if event.Reason == reason {
				found = append(found, event)
			}
		}
		if len(found) != 1 {
			return fmt.Errorf("it has %d such events: %v", len(found), found)
		}
		e := found[0]
		if e.Count < times || e.Type != kind || !strings.Contains(e.Message, text) {
			return fmt.Errorf("the event is %s %s ×%d: %s", e.Type, e.Reason, e.Count, e.Message)
		}
		if e.Count > 1 && !e.LastTimestamp.After(e.FirstTimestamp.Time) {
			return fmt.Errorf("its first and last time are equal: %v", e.LastTimestamp)
		}
		return nil
	})
}
