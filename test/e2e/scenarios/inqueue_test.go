package scenarios

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// W02: training-operator creates no pods before Volcano's PodGroup is Inqueue. Without muster it
// waits forever. With muster the job runs, also if there is no room at first, if a pod is lost
// while it waits, and if it is suspended.
func TestW02_TrainingOperatorGetsInqueue(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: everyDialect})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(6)))
	operator := c.StartOperator(t, testbed.TrainingOperator, testbed.OperatorOptions{
		Arguments: []string{"--gang-scheduler-name", "volcano"}})
	job := func(name string) made {
		c.Apply(t, manifest(pytorchJob, "<namespace>", "ml", "<name>", name, "<pod>", gpuContainer("pytorch"), "<runpolicy>", "{}"))
		g := made{testbed.Volcano, "ml", name, 4, 4}
		c.Recorder.Expect(testbed.Volcano.Key("ml", name), 4)
		return g
	}
	fits := job("fits")
	operator.WaitLog(t, "PodGroup ml/fits unschedulable")
	if pods := c.Recorder.Pods(testbed.InNamespace("ml")); len(pods) > 0 {
		t.Fatalf("there are %d pods although the PodGroup was not Inqueue", len(pods))
	}
	phases := c.WatchPhases(t, testbed.Volcano, "ml", "fits")
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Recorder.WaitRunning(t, fits.gang(), 4, time.Minute)
	c.Recorder.Together(t, fits.gang())
	eventuallyPhase(t, c, testbed.Volcano, "ml", "fits", "Running")
	if seen := phases(); !slices.Contains(seen, "Inqueue") {
		t.Errorf("the phase Inqueue was never seen: %v", seen)
	}

	// Without room, the pods are created anyway and get a reason.
	waits := job("waits")
	c.Recorder.AllSay(t, waits.gang(), 4, "gang ml/waits")
	c.WaitCondition(t, testbed.Volcano, "ml", "waits", metav1.Condition{Type: "Unschedulable", Status: "True",
		Reason: "NotEnoughResources", Message: "4 members needed, room for 2 (2 short of nvidia.com/gpu)"})
	eventuallyPhase(t, c, testbed.Volcano, "ml", "waits", "Pending")
	// A pod that is lost now is replaced: the PodGroup stays Inqueue while members are missing.
	lost := c.Recorder.Pods(waits.gang())[0]
	c.DeletePods(t, "ml", lost.Name)
	testbed.Within(t, time.Minute, "the lost pod is replaced", func() error {
		for _, pod := range c.Recorder.Pods(waits.gang()) {
			if pod.Name == lost.Name && pod.UID != lost.UID {
				return nil
			}
		}
		return fmt.Errorf("there are %d pods", len(c.Recorder.Pods(waits.gang())))
	})
	c.Recorder.NoneBound(t, waits.gang())
	c.AddNodes(t, testbed.Node("second", testbed.GPUs(4)))
	c.Recorder.WaitRunning(t, waits.gang(), 4, time.Minute)
	c.Recorder.Together(t, waits.gang())

	// A suspended job has neither pods nor a PodGroup. When it resumes, it is placed again.
	suspend := func(yes bool) {
		c.Patch(t, "pytorchjobs.v1.kubeflow.org", "ml", "waits",
			fmt.Sprintf(`[{"op": "add", "path": "/spec/runPolicy/suspend", "value": %v}]`, yes))
	}
	suspend(true)
	testbed.Within(t, time.Minute, "the suspended job is gone", func() error {
		pods, groups := c.Recorder.Pods(waits.gang()), c.PodGroups(t, "ml", everyDialect...)
		if len(pods) > 0 || len(groups) != 1 {
			return fmt.Errorf("there are %d pods, and %v", len(pods), groups)
		}
		return nil
	})
	suspend(false)
	c.Recorder.WaitRunning(t, waits.gang(), 4, time.Minute)
	onlyGroups(t, c, fits, waits)
}

// W02: mpi-operator counts the launcher in the PodGroup's minimum, even if it is configured to
// create the launcher after the workers. Other schedulers deadlock silently. With muster, the
// reason says what is missing, and the job continues when its minimum is corrected.
func TestW02_MPILauncherInTheMinimumIsReported(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.Namespace(t, "hpc")
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(8)))
	c.StartOperator(t, testbed.MPIOperator, testbed.OperatorOptions{
		Arguments: []string{"--gang-scheduling", "volcano"}})
	c.Apply(t, manifest(mpiJob, "<namespace>", "hpc", "<name>", "pi", "<pod>", gpuContainer("worker"),
		"<policy>", "WaitForWorkersReady", "<runpolicy>", "{}"))
	gang := testbed.InGang(testbed.Volcano, "hpc", "pi")
	c.Recorder.WaitExist(t, gang, 3, time.Minute)
	c.Recorder.AllSay(t, gang, 3, "gang hpc/pi: 3 of 4 members exist")
	c.WaitCondition(t, testbed.Volcano, "hpc", "pi", metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: "3 of 4 members exist"})
	c.Recorder.NoneBound(t, gang)

	// The remedy that the reason names, in the field that mpi-operator reads.
	c.Recorder.Expect(testbed.Volcano.Key("hpc", "pi"), 3)
	c.Patch(t, "mpijobs.v2beta1.kubeflow.org", "hpc", "pi",
		`[{"op": "add", "path": "/spec/runPolicy/schedulingPolicy", "value": {"minAvailable": 3}}]`)
	c.Recorder.WaitRunning(t, gang, 4, time.Minute)
	testbed.Within(t, 10*time.Second, "muster says that 3 are needed and 4 bound", func() error {
		if g := m.Gang(t, "hpc", "pi"); g.Needed != 3 || g.Bound != 4 {
			return fmt.Errorf("the gang is %+v", g)
		}
		return nil
	})
	onlyGroups(t, c, made{testbed.Volcano, "hpc", "pi", 3, 4})
}
