package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

func addPriorityClass(t *testing.T, c *testbed.Cluster, name string, value int) {
	t.Helper()
	c.Apply(t, fmt.Appendf(nil, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: %d}", name, value))
}

// ofPriority gives a pod the PriorityClass.
func ofPriority(class string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.PriorityClassName = class }
}

// Q04: kube-scheduler's preemption for an ordinary pod takes no member that a running gang needs. It
// takes a member beyond the minimum. Kubernetes 1.37 runs with its own gangs turned on.
func TestQ04_KeepsGangsWhole(t *testing.T) { onEveryVersion(t, keepsGangsWhole) }

func keepsGangsWhole(t *testing.T, version testbed.Kubernetes) {
	options := testbed.Options{Kubernetes: version}
	if version == testbed.Next {
		options = version.NativeGangs()
	}
	options.Dialects, options.WithoutControllers = []testbed.Dialect{testbed.Sigs}, true
	c := testbed.StartCluster(t, options)
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "urgent", 1000000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 4, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 4, testbed.GPUs(1))...)
	c.Recorder.WaitBound(t, gang, 4, 30*time.Second)

	c.AddPods(t, testbed.Pod("ml", "urgent", testbed.GPUs(1), ofPriority("urgent")))
	urgent := testbed.Named("ml", "urgent")
	c.Recorder.NoneBound(t, urgent)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 4 {
		t.Fatalf("%d members of the gang are left, want 4", n)
	}

	c.EditPodGroup(t, testbed.Sigs, "ml", "ddp", map[string]any{"minMember": 3})
	c.DeletePods(t, "ml", "urgent")
	c.AddPods(t, testbed.Pod("ml", "urgent-2", testbed.GPUs(1), ofPriority("urgent")))
	c.Recorder.WaitBound(t, testbed.Named("ml", "urgent-2"), 1, 60*time.Second)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 3 {
		t.Errorf("%d members of the gang are left, want 3", n)
	}
}

// Q04: kube-scheduler preempts for each of four urgent pods before the watch shows the victim of the one
// before. The gang keeps the three members that it needs.
func TestQ04_ABurstKeepsGangsWhole(t *testing.T) {
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	for i := range 5 {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("node-%d", i), testbed.GPUs(1)))
	}
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 3, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 5, testbed.GPUs(1))...)
	c.Recorder.WaitRunning(t, gang, 5, 30*time.Second)
	m.WaitState(t, "ml", "ddp", "Scheduled")

	var pods []*corev1.Pod
	for i := range 4 {
		pods = append(pods, testbed.Pod("ml", fmt.Sprintf("urgent-%d", i), testbed.GPUs(1), ofPriority("urgent")))
	}
	c.AddPods(t, pods...)
	urgent := testbed.Named("ml", "urgent-0", "urgent-1", "urgent-2", "urgent-3")
	c.Recorder.WaitBound(t, urgent, 2, 60*time.Second)
	c.Recorder.NoMoreBound(t, urgent, 2)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 3 {
		t.Errorf("%d members of the gang are left, want 3", n)
	}
}

// Q04: for an ordinary pod in a queue, kube-scheduler preempts only what a gang in this queue could
// take. Queue guests deserves one GPU and uses three. Queue research deserves two, so its pods take two of
// them, but not the third, although kube-scheduler would preempt that one, too.
func TestQ04_OrdinaryPodsObeyQueues(t *testing.T) {
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.KAI}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "high", 90)
	c.Namespace(t, "ml")
	c.Add(t, kaiQueue("research", "", 2, -1))
	c.Add(t, kaiQueue("guests", "", 1, -1))
	for i := range 3 {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("node-%d", i), testbed.GPUs(1)))
		name := fmt.Sprintf("guest-%d", i)
		c.AddPods(t, testbed.Pod("ml", name, testbed.GPUs(1), labelled("kai.scheduler/queue", "guests")))
	}
	guests := testbed.Named("ml", "guest-0", "guest-1", "guest-2")
	own := testbed.Named("ml", "own-0", "own-1", "own-2")
	c.Recorder.WaitBound(t, guests, 3, 30*time.Second)
	var pods []*corev1.Pod
	for i := range 3 {
		pods = append(pods, testbed.Pod("ml", fmt.Sprintf("own-%d", i), testbed.GPUs(1),
			labelled("kai.scheduler/queue", "research"), ofPriority("high")))
	}
	c.AddPods(t, pods...)
	c.Recorder.WaitBound(t, own, 2, 60*time.Second)
	c.Recorder.NoMoreBound(t, own, 2)
	if left := boundOf(running(c.Recorder.Pods(guests))); left != 1 {
		t.Errorf("%d pods of queue guests are left, want 1", left)
	}
}

// Q04: from 1.37 on, kube-scheduler proposes all pods of a native gang with the disruptionMode "all" as
// victims on each of the gang's nodes. It fails the whole preemption if muster's answer for a node
// contains a pod of another node. So muster drops the nodes of the gang ml/native, which runs on two
// nodes. It keeps c, where an ordinary pod runs, and d, where all pods of the gang ml/near run.
// kube-scheduler then chooses c, and for a larger pod d.
func TestQ04_DropsNodesWithVictimsElsewhere(t *testing.T) {
	onVersions(t, []testbed.Kubernetes{testbed.Next}, dropsNodesWithVictimsElsewhere)
}

func dropsNodesWithVictimsElsewhere(t *testing.T, version testbed.Kubernetes) {
	options := version.NativeGangs()
	options.WithoutControllers = true
	c := testbed.StartCluster(t, options)
	m := c.StartMuster(t, testbed.MusterOptions{})
	verbs := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: verbs})
	addPriorityClass(t, c, "urgent", 1000000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	native := addNative(t, c, "native", "  disruptionMode: {all: {}}\n")
	c.Recorder.WaitRunning(t, native, 4, 30*time.Second)
	c.AddNodes(t, testbed.Node("d", testbed.GPUs(4)))
	near := addNative(t, c, "near", "  disruptionMode: {all: {}}\n")
	c.Recorder.WaitRunning(t, near, 4, 30*time.Second)
	c.AddNodes(t, testbed.Node("c", testbed.GPUs(1)))
	c.AddPods(t, testbed.Pod("ml", "single", testbed.GPUs(1)))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "single"), 1, 30*time.Second)

	add := func(name string, gpus int) testbed.Which {
		c.AddPods(t, testbed.Pod("ml", name, testbed.GPUs(gpus), ofPriority("urgent")))
		return testbed.Named("ml", name)
	}
	for _, pod := range []struct {
		name string
		gpus int
		node string
	}{{"urgent-0", 1, "c"}, {"urgent-1", 4, "d"}} {
		if on := c.Recorder.WaitBound(t, add(pod.name, pod.gpus), 1, 60*time.Second)[0].Node; on != pod.node {
			t.Errorf("%s is on %s, want %s", pod.name, on, pod.node)
		}
	}
	first, second := verbs.Calls("preempt")[0], verbs.Calls("preempt")[1]
	for node, want := range map[string][3]int{"a": {4, 0, 0}, "b": {4, 0, 0}, "c": {1, 1, 0}, "d": {4, 4, 4}} {
		got := [3]int{len(first.Proposed[node]), len(first.Allowed[node]), len(second.Allowed[node])}
		if got != want {
			t.Errorf("node %s: kube-scheduler proposes %d victims, and muster allows %d and then %d, want %v",
				node, got[0], got[1], got[2], want)
		}
	}
	c.Recorder.NoneBound(t, add("urgent-2", 1))
	if n, left := boundOf(running(c.Recorder.Pods(native))), len(running(c.Recorder.Pods(near))); n != 4 || left != 0 {
		t.Errorf("%d members of ml/native and %d of ml/near are left, want 4 and 0", n, left)
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

// batch is a ReplicaSet of two pods, which use all GPUs and form one gang. A finalizer keeps a pod
// Terminating until the test removes it.
const batch = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: ml, name: batch}
spec:
  replicas: 2
  selector: {matchLabels: {app: batch}}
  template:
    metadata:
      labels: {app: batch, pod-group.scheduling.sigs.k8s.io: batch}
      finalizers: [example.com/slow]
    spec:
      containers:
      - {name: main, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 4}}}
`

// runningBatch fills two nodes with the gang ml/batch.
func runningBatch(t *testing.T) (*testbed.Cluster, *testbed.Muster, testbed.Which) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	return c, m, fillWithBatch(t, c, m)
}

func fillWithBatch(t *testing.T, c *testbed.Cluster, m *testbed.Muster) testbed.Which {
	t.Helper()
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Add(t, testbed.Sigs.PodGroup("ml", "batch", 2, nil))
	c.Apply(t, []byte(batch))
	gang := testbed.InGang(testbed.Sigs, "ml", "batch")
	c.Recorder.WaitRunning(t, gang, 2, 30*time.Second)
	m.WaitState(t, "ml", "batch", "Scheduled")
	return gang
}

func urgentGang(t *testing.T, c *testbed.Cluster, members int) testbed.Which {
	t.Helper()
	c.Add(t, testbed.Sigs.PodGroup("ml", "urgent", members, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "urgent", members, testbed.GPUs(4), ofPriority("urgent"))...)
	return testbed.InGang(testbed.Sigs, "ml", "urgent")
}

// waitTerminating waits until so many pods are Terminating, and returns their names.
func waitTerminating(t *testing.T, c *testbed.Cluster, which testbed.Which, n int) (names []string) {
	t.Helper()
	testbed.Within(t, 30*time.Second, "pods are evicted", func() error {
		names = nil
		for _, pod := range c.Recorder.Pods(which) {
			if pod.Erased.IsZero() && pod.Latest.DeletionTimestamp != nil {
				names = append(names, pod.Name)
			}
		}
		if len(names) != n {
			return fmt.Errorf("%d pods are Terminating, want %d", len(names), n)
		}
		return nil
	})
	return names
}

// disruption returns the pod's condition DisruptionTarget, or nil.
func disruption(pod *corev1.Pod) *corev1.PodCondition {
	conditions := pod.Status.Conditions
	i := slices.IndexFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

func unfinalize(t *testing.T, c *testbed.Cluster, name string) {
	t.Helper()
	c.PatchPod(t, "ml", name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
}

// Q03: a gang of a higher priority evicts a whole gang through the Eviction API. The room is its
// own from then on: when one of the two victims has ended, neither an ordinary pod nor a replacement
// gets the free node. The evicted gang starts again as a whole.
func TestQ03_AGangOfAHigherPriorityGetsRoom(t *testing.T) {
	beside(t)
	c, m, gang := runningBatch(t)
	urgent := urgentGang(t, c, 2)
	victims := waitTerminating(t, c, gang, 2)
	for _, pod := range c.Recorder.Pods(gang) {
		condition := disruption(pod.Latest)
		evicted := condition != nil && condition.Reason == "EvictionByEvictionAPI"
		if pod.Latest.DeletionTimestamp != nil && !evicted {
			t.Errorf("pod %s was not evicted through the Eviction API: %+v", pod.Name, pod.Latest.Status.Conditions)
		}
	}
	c.WaitEvent(t, "PodGroup", "ml", "urgent", "Preempting", "gang ml/batch")
	c.WaitEvent(t, "PodGroup", "ml", "batch", "Preempted", "gang ml/urgent, which has a higher priority (1000, this one has 0)")
	c.WaitEvent(t, "Pod", "ml", victims[0], "Preempted", "gang ml/urgent")
	if got := m.Gang(t, "ml", "urgent"); got.State != "Waiting" || got.Reason.Code != "WaitsForEvictedPods" {
		t.Errorf("the gang does not wait for the evicted pods: %+v", got)
	}
	c.Recorder.WaitExist(t, gang, 4, 30*time.Second)
	c.AddPods(t, testbed.Pod("ml", "single", testbed.GPUs(1)))
	unfinalize(t, c, victims[0])
	c.Recorder.NoneBound(t, testbed.Named("ml", "single"))
	c.Recorder.NoneBound(t, urgent)
	unfinalize(t, c, victims[1])
	c.Recorder.WaitBound(t, urgent, 2, 30*time.Second)
	m.WaitState(t, "ml", "urgent", "Scheduled")
	c.Recorder.StillNone(t, testbed.Named("ml", "single"))
	c.DeletePods(t, "ml", "single")
	clearGang(t, c, urgent)
	m.WaitState(t, "ml", "batch", "Scheduled")
}

// copies is a ReplicaSet. Each of its pods uses a whole node.
const copies = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: ml, name: <name>}
spec:
  replicas: <replicas>
  selector: {matchLabels: {app: <name>}}
  template:
    metadata:
      labels: {app: <name>, <gang>}
    spec:
      containers:
      - {name: main, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 4}}}
`

// addCopies creates a ReplicaSet, and waits until its pods run. With a minimum, they form a gang.
func addCopies(t *testing.T, c *testbed.Cluster, name string, replicas, minimum int) testbed.Which {
	t.Helper()
	label := "gang: none"
	if minimum > 0 {
		label = testbed.Sigs.Label + ": " + name
		c.Add(t, testbed.Sigs.PodGroup("ml", name, minimum, nil))
	}
	c.Apply(t, []byte(fill(copies, "<name>", name, "<replicas>", fmt.Sprint(replicas), "<gang>", label)))
	c.Recorder.WaitRunning(t, ofJob(name), replicas, 60*time.Second)
	return ofJob(name)
}

// namesOf returns the names of pods that neither end nor have ended.
func namesOf(c *testbed.Cluster, which testbed.Which) (names []string) {
	for _, p := range running(c.Recorder.Pods(which)) {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// Q03: a gang needs two of nine nodes, which are full. The cheapest room is that of the two members that
// ml/elastic does not need. ml/rigid would lose three pods, and the ordinary pods would be two victims
// instead of one gang. The minimum of ml/elastic runs on, and the gang grows again when there is room.
func TestQ03_TheSurplusOfAGangIsTheCheapestRoom(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	for i := range 9 {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("n%d", i), testbed.GPUs(4)))
	}
	rigid := addCopies(t, c, "rigid", 3, 3)
	elastic := addCopies(t, c, "elastic", 4, 2)
	single := addCopies(t, c, "single", 2, 0)
	m.WaitState(t, "ml", "elastic", "Scheduled")
	others := func(p *testbed.PodRecord) bool { return rigid(p) || single(p) }
	before, same := namesOf(c, elastic), namesOf(c, others)

	urgent := urgentGang(t, c, 2)
	c.Recorder.WaitRunning(t, urgent, 2, 60*time.Second)
	c.Recorder.NoMoreBound(t, elastic, 2) // its replacements wait
	if got := namesOf(c, others); !slices.Equal(got, same) {
		t.Errorf("of the other victims, %q run; before: %q", got, same)
	}
	left := namesOf(c, elastic)
	evicted := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return slices.Contains(left, name) })
	if len(evicted) != 2 {
		t.Fatalf("%q were evicted, want two of %q", evicted, before)
	}
	why := "to make room for gang ml/urgent, which has a higher priority (1000, this one has 0)"
	event := c.WaitEvent(t, "PodGroup", "ml", "urgent", "Preempting", "muster evicts pod ml/elastic-")
	for _, name := range evicted {
		c.WaitEvent(t, "Pod", "ml", name, "Preempted", "evicted "+why)
		if !strings.Contains(event.Message, "pod ml/"+name) {
			t.Errorf("the event does not name %s: %s", name, event.Message)
		}
	}
	c.WaitEvent(t, "PodGroup", "ml", "elastic", "Preempted", "2 members that the gang does not need are evicted "+why)
	waitPlaced(t, c, "elastic", 2)
	waitPlaced(t, c, "rigid", 3)
	if got := m.Gang(t, "ml", "elastic"); got.State != "Scheduled" {
		t.Errorf("the gang that has lost members is %+v", got)
	}
	clearGang(t, c, urgent)
	c.Recorder.WaitRunning(t, elastic, 4, 60*time.Second)
	waitPlaced(t, c, "elastic", 4)
}

// Q03: the node has room for both pods, but a rule forbids them to share it. The replacement of the evicted pod
// must not return to the node.
func TestQ03_AReplacementStaysAwayFromAMemberThatItWouldKeepOut(t *testing.T) {
	beside(t)
	copies := &metav1.LabelSelector{MatchLabels: map[string]string{"gang": "none"}}
	rules := map[string]func(*corev1.Pod){
		"anti-affinity": func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
					{LabelSelector: copies, TopologyKey: corev1.LabelHostname}}}}
		},
		"spread": func(pod *corev1.Pod) {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1,
				TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: copies}}
		},
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { staysAway(t, rule) })
	}
}

func staysAway(t *testing.T, rule func(*corev1.Pod)) {
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("both", testbed.GPUs(12)), testbed.Node("none", testbed.GPUs(0)))
	copies := addCopies(t, c, "copies", 1, 0)
	victim := namesOf(c, copies)[0]
	c.PatchPod(t, "ml", victim, map[string]any{"metadata": map[string]any{"finalizers": []string{"example.com/slow"}}})
	c.Add(t, testbed.Sigs.PodGroup("ml", "urgent", 1, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "urgent", 1, testbed.GPUs(1), ofPriority("urgent"),
		labelled("gang", "none"), rule)...)
	waitTerminating(t, c, copies, 1)
	replacement := func(p *testbed.PodRecord) bool { return copies(p) && p.Name != victim }
	c.Recorder.WaitExist(t, replacement, 1, 30*time.Second)
	c.Recorder.NoneBound(t, replacement)
	unfinalize(t, c, victim)
	c.Recorder.WaitRunning(t, testbed.InGang(testbed.Sigs, "ml", "urgent"), 1, 30*time.Second)
	m.WaitState(t, "ml", "urgent", "Scheduled")
}

// waitPlaced waits until the PodGroup shows that its gang runs with so many members.
func waitPlaced(t *testing.T, c *testbed.Cluster, name string, members int) {
	t.Helper()
	testbed.Within(t, 30*time.Second, "the status of PodGroup "+name, func() error {
		status, _ := c.PodGroup(t, testbed.Sigs, "ml", name).Object["status"].(map[string]any)
		if status["phase"] != "Running" || status["running"] != int64(members) {
			return fmt.Errorf("it is %v, want %d running members", status, members)
		}
		return nil
	})
}

// Q04: a system-critical pod may take a member of a gang, because no other node has room. The other
// member could not work, so muster evicts it. The replacements wait until both can be placed.
func TestQ04_ACriticalPodEndsAWholeGang(t *testing.T) {
	beside(t)
	c, m, gang := runningBatch(t)
	c.AddPods(t, testbed.Pod("kube-system", "critical", testbed.GPUs(4), ofPriority("system-cluster-critical")))
	waitTerminating(t, c, gang, 2)
	byScheduler := map[bool]int{}
	for _, pod := range c.Recorder.Pods(gang) {
		if condition := disruption(pod.Latest); condition != nil {
			byScheduler[condition.Reason == "PreemptionByScheduler"]++
		}
	}
	if byScheduler[true] != 1 || byScheduler[false] != 1 {
		t.Errorf("kube-scheduler preempted %d members, and %d were evicted, want 1 and 1", byScheduler[true], byScheduler[false])
	}
	c.WaitEvent(t, "PodGroup", "ml", "batch", "Preempted", "evicted because kube-scheduler preempted member batch-")
	c.Recorder.WaitExist(t, gang, 4, 30*time.Second)
	// If kube-scheduler is faster than muster's watch, muster refuses the Binding, the gang starts again,
	// and the pod preempts once more. So further members can become Terminating, even after the pod is
	// bound.
	endAll := func() {
		for _, pod := range c.Recorder.Pods(gang) {
			if pod.Erased.IsZero() && pod.Latest.DeletionTimestamp != nil && len(pod.Latest.Finalizers) > 0 {
				unfinalize(t, c, pod.Name)
			}
		}
	}
	testbed.Within(t, 60*time.Second, "the critical pod is bound", func() error {
		endAll()
		if boundOf(c.Recorder.Pods(testbed.Named("kube-system", "critical"))) != 1 {
			return errors.New("it is not")
		}
		return nil
	})
	m.WaitState(t, "ml", "batch", "Waiting")
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 0 {
		t.Errorf("%d members of the broken gang run, want none", n)
	}
	c.DeletePods(t, "kube-system", "critical")
	testbed.Within(t, 30*time.Second, "the gang is Scheduled", func() error {
		endAll()
		if state := m.Gang(t, "ml", "batch").State; state != "Scheduled" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
}

// training is the PodGroup of step 8 of the recipe as printed, with 8 workers.
const training = `
apiVersion: scheduling.run.ai/v2
kind: PodGroup
metadata:
  name: training-with-timeout
  namespace: ml-training
spec:
  minMember: 8
  queue: training
  priority: 50
  scheduleTimeoutSeconds: 1800  # 30 minutes timeout
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: ml-training, name: training-with-timeout}
spec:
  replicas: 8
  selector: {matchLabels: {app: training}}
  template:
    metadata:
      labels: {app: training}
      annotations: {scheduling.run.ai/pod-group: training-with-timeout}
    spec:
      schedulerName: kai-scheduler
      containers:
      - {name: worker, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}
`

// S09: step 8 of the recipe says that jobs of a higher priority may preempt the gang. A PodGroup of the
// same priority waits. One of a higher priority evicts the whole gang and starts. When its job has ended,
// the gang starts again, although all of its pods are new.
func TestS09_AHigherPriorityPreempts(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Recipe)
	c.Namespace(t, "ml-training")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Apply(t, []byte(training))
	gang := testbed.InGang(testbed.Recipe, "ml-training", "training-with-timeout")
	c.Recorder.WaitRunning(t, gang, 8, 60*time.Second)
	m.WaitState(t, "ml-training", "training-with-timeout", "Scheduled")
	arrive := func(name string, priority int64) testbed.Which {
		c.Add(t, testbed.Recipe.PodGroup("ml-training", name, 4, map[string]any{"queue": "training", "priority": priority}))
		c.AddPods(t, testbed.Members(testbed.Recipe, "ml-training", name, 4, testbed.GPUs(1))...)
		return testbed.InGang(testbed.Recipe, "ml-training", name)
	}

	equal := arrive("equal", 50)
	c.Recorder.NoneBound(t, equal)
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 8 {
		t.Fatalf("%d members of the gang run, want 8", n)
	}
	c.DeletePods(t, "ml-training", "equal-0", "equal-1", "equal-2", "equal-3")

	higher := arrive("higher", 60)
	c.WaitEvent(t, "PodGroup", "ml-training", "training-with-timeout", "Preempted",
		"gang ml-training/higher, which has a higher priority (60, this one has 50)")
	c.Recorder.WaitBound(t, higher, 4, 60*time.Second)
	c.Recorder.Together(t, higher)
	m.WaitState(t, "ml-training", "training-with-timeout", "Waiting")
	if n := boundOf(running(c.Recorder.Pods(gang))); n != 0 {
		t.Errorf("%d members of the evicted gang run, want none", n)
	}
	c.DeletePods(t, "ml-training", "higher-0", "higher-1", "higher-2", "higher-3")
	m.WaitState(t, "ml-training", "training-with-timeout", "Scheduled")
}

// A budget that does not allow to evict the whole gang protects it, as long as the budget exists.
func TestQ03_ADisruptionBudgetProtectsAGang(t *testing.T) {
	beside(t)
	c, m, gang := runningBatch(t)
	c.Apply(t, []byte(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: ml, name: batch},
		spec: {minAvailable: 2, selector: {matchLabels: {app: batch}}}}`))
	time.Sleep(2 * time.Second) // the controller fills in its status
	urgent := urgentGang(t, c, 1)
	m.WaitState(t, "ml", "urgent", "Waiting")
	time.Sleep(5 * time.Second)
	waitTerminating(t, c, gang, 0)
	showsAll(t, "muster explain", command(t, m, "explain", "ml/urgent", "--server", m.Ops),
		"some pods are protected by PodDisruptionBudget ml/batch")
	c.Delete(t, "poddisruptionbudgets.v1.policy", "ml", "batch")
	for _, name := range waitTerminating(t, c, gang, 2) {
		unfinalize(t, c, name)
	}
	c.Recorder.WaitBound(t, urgent, 1, 60*time.Second)
	m.WaitState(t, "ml", "urgent", "Scheduled")
}

// The section "An urgent gang on a full cluster" of docs/preemption.md shows what is seen.
func TestPreemptionWalk_UrgentGang(t *testing.T) {
	beside(t)
	walkDevCluster(t, "../../../docs/preemption.md")
}

// lent is a gang of two pods in queue training, which a ReplicaSet creates.
const lent = `
apiVersion: scheduling.run.ai/v2
kind: PodGroup
metadata: {namespace: ml, name: NAME}
spec: {minMember: 2, queue: training}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: ml, name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata:
      labels: {app: NAME}
      annotations: {pod-group-name: NAME}
    spec:
      schedulerName: kai-scheduler
      containers:
      - {name: main, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}
`

// borrowAll starts four such gangs in queue training, on all eight GPUs, and returns their pods. Four of
// the GPUs belong to queue research.
func borrowAll(t *testing.T, c *testbed.Cluster, manifest string) testbed.Which {
	t.Helper()
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Add(t, kaiQueue("research", "", 4, -1))
	c.Add(t, kaiQueue("training", "", 4, -1))
	var gangs []testbed.Which
	for i := range 4 {
		name := fmt.Sprintf("lent-%d", i)
		c.Apply(t, []byte(strings.ReplaceAll(manifest, "NAME", name)))
		gangs = append(gangs, testbed.InGang(testbed.KAI, "ml", name))
	}
	for _, gang := range gangs {
		c.Recorder.WaitRunning(t, gang, 2, 60*time.Second)
	}
	return func(p *testbed.PodRecord) bool {
		return slices.ContainsFunc(gangs, func(gang testbed.Which) bool { return gang(p) })
	}
}

// Q10: queue research takes back all that it has lent, from two gangs, with one decision. Its gang is
// bound soon after the grace of the victims, which lasts until their finalizer is removed.
func TestQ10_WithinOneDecisionAndTheGrace(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.KAI)
	borrowed := borrowAll(t, c, strings.ReplaceAll(lent, "annotations: {pod-group-name: NAME}",
		"annotations: {pod-group-name: NAME}\n      finalizers: [example.com/slow]"))
	arrives := time.Now()
	own := addQueued(t, c, testbed.KAI, "ml", "own", "research", 4)
	victims := waitTerminating(t, c, borrowed, 4)
	t.Logf("the evictions were requested within %v", time.Since(arrives))
	c.Recorder.NoneBound(t, own)
	for _, name := range victims {
		unfinalize(t, c, name)
	}
	ended := time.Now()
	runs(t, c, own, 4)
	for _, pod := range c.Recorder.Pods(own) {
		if late := pod.Bound.Sub(ended); late > 5*time.Second {
			t.Errorf("%s was bound %v after the end of the victims", pod.Name, late)
		}
	}
	if n := m.Metrics(t).Sum("muster_preemptions_total"); n != 1 {
		t.Errorf("%v decisions to evict, want 1", n)
	}
	if left := boundOf(running(c.Recorder.Pods(borrowed))); left != 4 {
		t.Errorf("%d pods of queue training run, want 4", left)
	}
}

// Q10: queue research takes back what it has lent to queue training, a whole gang, whatever priority this
// gang has. The queue loses a quarter, so a limit of 20 percent protects it for 12.5 minutes.
func TestQ10_LentQuotaComesBack(t *testing.T) {
	beside(t)
	c, m := startAll(t, map[string]any{"reclaimLimitPercent": 20}, testbed.KAI)
	borrowed := borrowAll(t, c, lent)
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "own-0", "research", 2), 2)
	c.WaitEvent(t, "PodGroup", "ml", "own-0", "Preempting", "muster evicts gang ml/lent-")
	left := func() int { return boundOf(running(c.Recorder.Pods(borrowed))) }
	if n := left(); n != 6 {
		t.Errorf("%d pods of queue training run, want 6", n)
	}
	waiting := addQueued(t, c, testbed.KAI, "ml", "own-1", "research", 2)
	c.Recorder.NoneBound(t, waiting)
	time.Sleep(5 * time.Second)
	out := command(t, m, "explain", "ml/own-1", "--server", m.Ops)
	if !regexp.MustCompile(`the limit on reclaim protects queue training for another 1[12]m`).MatchString(out) {
		t.Errorf("muster explain does not name the limit:\n%s", out)
	}
	if n := left(); n != 6 {
		t.Errorf("%d pods of queue training run, want 6", n)
	}
}
