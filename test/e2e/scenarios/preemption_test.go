package scenarios

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// kube-scheduler's preemption for an ordinary pod takes no member that a running gang needs. It takes
// a member beyond the minimum.
func TestPreemption_KeepsGangsWhole(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Apply(t, []byte(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 1000000}`))
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 4, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 4, testbed.GPUs(1))...)
	c.Recorder.WaitBound(t, gang, 4, 30*time.Second)

	pod := testbed.Pod("ml", "urgent", testbed.GPUs(1))
	pod.Spec.PriorityClassName = "urgent"
	c.AddPods(t, pod)
	urgent := testbed.Named("ml", "urgent")
	c.Recorder.NoneBound(t, urgent)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 4 {
		t.Fatalf("%d members of the gang are left, want 4", n)
	}

	c.EditPodGroup(t, testbed.Sigs, "ml", "ddp", map[string]any{"minMember": 3})
	c.DeletePods(t, "ml", "urgent")
	pod = testbed.Pod("ml", "urgent-2", testbed.GPUs(1))
	pod.Spec.PriorityClassName = "urgent"
	c.AddPods(t, pod)
	c.Recorder.WaitBound(t, testbed.Named("ml", "urgent-2"), 1, 60*time.Second)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 3 {
		t.Errorf("%d members of the gang are left, want 3", n)
	}
}

// running leaves out pods that end or have ended.
func running(pods []testbed.PodRecord) (left []testbed.PodRecord) {
	for _, p := range pods {
		if p.Erased.IsZero() && p.Latest.DeletionTimestamp == nil && p.Latest.Status.Phase != corev1.PodFailed {
			left = append(left, p)
		}
	}
	return left
}
