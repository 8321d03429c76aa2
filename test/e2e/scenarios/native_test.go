package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// nativeGroup is a PodGroup of Kubernetes' own API.
const nativeGroup = `
apiVersion: API
kind: PodGroup
metadata: {namespace: ml, name: NAME}
spec:
  schedulingPolicy: {gang: {minCount: 4}}
`

// addNative creates a native PodGroup of four pods with one GPU each; more is added to its spec, and
// edit changes its pods.
func addNative(t *testing.T, c *testbed.Cluster, name, more string, edit ...func(*corev1.Pod)) testbed.Which {
	t.Helper()
	c.Apply(t, []byte(strings.NewReplacer("API", c.Kubernetes.NativeAPI(), "NAME", name).Replace(nativeGroup)+more))
	var names []string
	for i := range 4 {
		names = append(names, fmt.Sprintf("%s-%d", name, i))
		pod := testbed.Pod("ml", names[i], testbed.GPUs(1))
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
		for _, e := range edit {
			e(pod)
		}
		c.AddPods(t, pod)
	}
	return testbed.Named("ml", names...)
}

// S14: with Kubernetes' own gangs, the scheduler calls muster in scheduling cycles that it may
// revert without notice. muster ignores native PodGroups, keeps nothing from such cycles, and its
// own gangs and ordinary pods work beside them.
func TestS14_MusterIgnoresNativeGangs(t *testing.T) { onNativeVersions(t, musterIgnoresNativeGangs) }

func musterIgnoresNativeGangs(t *testing.T, version testbed.Kubernetes) {
	options := version.NativeGangs()
	options.Dialects = []testbed.Dialect{testbed.Sigs}
	c := testbed.StartCluster(t, options)
	m := c.StartMuster(t, testbed.MusterOptions{})
	verbs := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: verbs})
	c.Namespace(t, "ml")
	c.AddNodes(t,
		testbed.Node("a", testbed.GPUs(2), testbed.Labelled(zone, "east")),
		testbed.Node("b", testbed.GPUs(2), testbed.Labelled(zone, "west")))
	c.AddPods(t, testbed.Pod("ml", "filler", testbed.GPUs(2)))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "filler"), 1, 20*time.Second)

	// Two of the native gang's four members would fit. kube-scheduler tries it and reverts the
	// cycle.
	native := addNative(t, c, "native", "")
	testbed.Within(t, 30*time.Second, "muster is asked in a cycle that is undone", func() error {
		for _, call := range verbs.Calls("filter") {
			if strings.HasPrefix(call.Pod, "ml/native-") && len(call.Returned) > 0 {
				return nil
			}
		}
		return fmt.Errorf("no native member passed in %d filter calls", len(verbs.Calls("filter")))
	})
	// Meanwhile other pods use the free room, again and again. They have a PriorityClass, because
	// kube-scheduler 1.36.3 tries a native gang that does not fit thousands of times per second,
	// even without an extender, and pods of the same or a lower priority may wait behind it
	// forever.
	c.Apply(t, []byte(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: above}, value: 10, preemptionPolicy: Never}`))
	above := ofPriority("above")
	for round := range 3 {
		name, single := fmt.Sprintf("ours-%d", round), fmt.Sprintf("single-%d", round)
		gang := testbed.InGang(testbed.Sigs, "ml", name)
		c.Add(t, testbed.Sigs.PodGroup("ml", name, 2, nil))
		c.AddPods(t, testbed.Members(testbed.Sigs, "ml", name, 2, testbed.GPUs(1), testbed.RunningFor(time.Second), above)...)
		c.Recorder.WaitBound(t, gang, 2, 30*time.Second)
		c.Recorder.Together(t, gang)
		c.AddPods(t, testbed.Pod("ml", single, testbed.GPUs(2), testbed.RunningFor(time.Second), above))
		c.Recorder.WaitFinished(t, either(gang, testbed.Named("ml", single)), 3, 30*time.Second)
	}
	c.Recorder.StillNone(t, native)
	reserved := m.Metrics(t)
	if slots, held := reserved.Sum("muster_reserved_devices"), reserved.Sum("muster_held_binds"); slots != 0 || held != 0 {
		t.Errorf("%v devices are still reserved and %v binds still held", slots, held)
	}
	for _, gang := range m.Gangs(t) {
		if strings.HasPrefix(gang.Name, "native") {
			t.Errorf("muster treats a native PodGroup as its own: %+v", gang)
		}
	}

	c.DeletePods(t, "ml", "filler")
	c.Recorder.WaitRunning(t, native, 4, 30*time.Second)
	// A native gang that needs a single zone: kube-scheduler tries every zone, and one has room.
	c.AddNodes(t,
		testbed.Node("c", testbed.GPUs(2), testbed.Labelled(zone, "east")),
		testbed.Node("d", testbed.GPUs(4), testbed.Labelled(zone, "north")))
	zonal := addNative(t, c, "zonal", "  schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}\n")
	for _, pod := range c.Recorder.WaitRunning(t, zonal, 4, 30*time.Second) {
		if pod.Node != "d" {
			t.Errorf("%s is on %s, want the zone of node d", pod.Name, pod.Node)
		}
	}
	var names []string
	for _, pod := range c.Recorder.Pods(either(native, zonal)) {
		names = append(names, pod.Name)
	}
	c.DeletePods(t, "ml", names...)
	m.WaitNoLeaks(t)
}

// When a native gang preempts, kube-scheduler does not call preempt, and may take only some members of
// muster's gang. With preemptionPolicy: Never it takes none. docs/preemption.md says so.
func TestNative_GangsPreemptWithoutMuster(t *testing.T) { onNativeVersions(t, nativeGangsPreempt) }

func nativeGangsPreempt(t *testing.T, version testbed.Kubernetes) {
	options := version.NativeGangs()
	options.Dialects, options.WithoutControllers = []testbed.Dialect{testbed.Sigs}, true
	c := testbed.StartCluster(t, options)
	m := c.StartMuster(t, testbed.MusterOptions{})
	verbs := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: verbs})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 6, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 6, testbed.GPUs(1))...)
	c.Recorder.WaitRunning(t, gang, 6, 30*time.Second)

	// add creates a native gang of a higher priority, named like its PriorityClass.
	add := func(name, policy string) testbed.Which {
		c.Apply(t, fmt.Appendf(nil, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: 1000, preemptionPolicy: %s}",
			name, policy))
		return addNative(t, c, name, "  priorityClassName: "+name+"\n", ofPriority(name))
	}
	left := func(want int) {
		t.Helper()
		if n := boundOf(running(c.Recorder.Pods(gang))); n != want {
			t.Errorf("%d members of the gang are left, want %d", n, want)
		}
	}
	polite := add("polite", "Never")
	c.Recorder.StillNone(t, polite)
	left(6)
	c.DeletePods(t, "ml", "polite-0", "polite-1", "polite-2", "polite-3")
	c.Recorder.WaitRunning(t, add("urgent", "PreemptLowerPriority"), 4, 60*time.Second)
	left(2)
	if calls := verbs.Calls("preempt"); len(calls) != 0 {
		t.Errorf("kube-scheduler has called preempt: %+v", calls)
	}
}
