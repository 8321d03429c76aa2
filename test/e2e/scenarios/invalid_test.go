package scenarios

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// absurd is an invalid PodGroup, or pods with an invalid link.
type absurd struct {
	name    string
	dialect testbed.Dialect
	spec    map[string]any // replaces the spec with only minMember
	says    string         // a part of the message, usually the name of a field
	// more creates further objects.
	more func(t *testing.T, c *testbed.Cluster, ns string)
	// member changes the pods.
	member func(*corev1.Pod)
	// silent: there is no PodGroup to write to, or the PodGroup is valid.
	silent bool
	// refused: the chart's CRD refuses it; another CRD may accept it.
	refused bool
}

func group(d testbed.Dialect, name string, spec map[string]any) func(*testing.T, *testbed.Cluster, string) {
	return func(t *testing.T, c *testbed.Cluster, ns string) { c.Add(t, d.PodGroup(ns, name, 1, spec)) }
}

var absurdities = []absurd{
	{name: "negative", dialect: testbed.SchedulerPlugins, spec: map[string]any{"minMember": int64(-1)}, says: "spec.minMember"},
	{name: "two-to-the-31", dialect: testbed.SchedulerPlugins, spec: map[string]any{"minMember": int64(1) << 31}, says: "spec.minMember"},
	{name: "negative-for-the-crd", dialect: testbed.Sigs, spec: map[string]any{"minMember": int64(-1)}, says: "spec.minMember", refused: true},
	{name: "two-to-the-31-for-the-crd", dialect: testbed.Sigs, spec: map[string]any{"minMember": int64(1) << 31}, says: "spec.minMember", refused: true},
	{name: "text-for-the-crd", dialect: testbed.Sigs, spec: map[string]any{"minMember": "three"}, says: "spec.minMember", refused: true},
	{name: "more-than-can-be", dialect: testbed.Recipe, spec: map[string]any{"minMember": int64(2147483647)}, says: "spec.minMember"},
	{name: "text-for-a-number", dialect: testbed.SchedulerPlugins, spec: map[string]any{"minMember": "three"}, says: "spec.minMember"},
	{name: "maximum-below", dialect: testbed.Recipe, spec: map[string]any{"minMember": int64(3), "maxMember": int64(2)}, says: "maxMember"},
	{name: "own-parent", dialect: testbed.Recipe, spec: map[string]any{"minMember": int64(2), "parentPodGroup": "ddp"}, says: "spec.parentPodGroup"},
	{name: "parents-in-a-circle", dialect: testbed.Recipe, spec: map[string]any{"minMember": int64(2), "parentPodGroup": "other"},
		more: group(testbed.Recipe, "other", map[string]any{"parentPodGroup": "ddp"}), says: "spec.parentPodGroup"},
	{name: "unknown-parent", dialect: testbed.Recipe, spec: map[string]any{"minMember": int64(2), "parentPodGroup": "nobody"}, says: "nobody"},
	{name: "both-minimums", dialect: testbed.KAI, spec: map[string]any{"minMember": int64(2), "minSubGroup": int64(1),
		"subGroups": []any{map[string]any{"name": "a", "minMember": int64(1)}}}, says: "spec.minSubGroup"},
	{name: "subgroup-circle", dialect: testbed.KAI, spec: map[string]any{"minMember": nil, "subGroups": []any{
		map[string]any{"name": "a", "parent": "b", "minSubGroup": int64(1)},
		map[string]any{"name": "b", "parent": "a", "minSubGroup": int64(1)}}}, says: "parent"},
	{name: "subgroup-twice", dialect: testbed.KAI, spec: map[string]any{"minMember": nil, "subGroups": []any{
		map[string]any{"name": "a", "minMember": int64(1)}, map[string]any{"name": "a", "minMember": int64(1)}}}, says: "subGroups"},
	{name: "subgroup-orphan", dialect: testbed.KAI, spec: map[string]any{"minMember": nil, "subGroups": []any{
		map[string]any{"name": "a", "minMember": int64(1), "parent": "nobody"}}}, says: "nobody"},
	{name: "tasks-above-minimum", dialect: testbed.Volcano, spec: map[string]any{"minMember": int64(2),
		"minTaskMember": map[string]any{"a": int64(2), "b": int64(3)}}, says: "spec.minTaskMember adds up to 5, spec.minMember is 2"},
	{name: "parts-of-none", dialect: testbed.Volcano, spec: map[string]any{"minMember": int64(2), "subGroupPolicy": []any{
		map[string]any{"name": "a", "subGroupSize": int64(0), "minSubGroups": int64(1)}}}, says: "subGroupSize", refused: true},
	{name: "unreadable-annotation", dialect: testbed.Koordinator, says: "total-number", silent: true,
		member: func(pod *corev1.Pod) {
			pod.Annotations["gang.scheduling.koordinator.sh/min-available"] = "2"
			pod.Annotations["gang.scheduling.koordinator.sh/total-number"] = "many"
		}},
	{name: "two-groups", dialect: testbed.Volcano, says: "a pod can be in one PodGroup only", silent: true,
		more: group(testbed.Sigs, "another", nil), member: testbed.Sigs.Join("another")},
	{name: "another-namespace", dialect: testbed.Volcano, says: "elsewhere/ddp", silent: true,
		member: testbed.Volcano.Join("elsewhere/ddp")},
}

// Invalid input: nothing is bound, a message on the pods and the PodGroup names the field, and
// after the correction the gang starts. Other gangs are not affected.
func TestC11_ContradictionsAreReported(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Recipe, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins)
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(100)))
	var cases sync.WaitGroup
	for _, each := range absurdities {
		cases.Go(func() {
			t.Run(each.name, func(t *testing.T) { each.isReported(t, c) })
		})
	}
	cases.Wait()
	c.Recorder.NoneBound(t, func(*testbed.PodRecord) bool { return true })

	c.Namespace(t, "good")
	c.Add(t, testbed.Sigs.PodGroup("good", "ddp", 3, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "good", "ddp", 3, testbed.GPUs(1))...)
	c.AddPods(t, testbed.Pod("good", "ordinary", testbed.GPUs(1)))
	c.Recorder.WaitBound(t, testbed.InNamespace("good"), 4, 20*time.Second)

	// After the correction, they start.
	for _, each := range absurdities {
		if each.silent || each.refused {
			continue
		}
		t.Run(each.name+"-corrected", func(t *testing.T) {
			c.DeletePodGroup(t, each.dialect, each.name, "ddp")
			if each.more != nil {
				c.DeletePodGroup(t, each.dialect, each.name, "other")
			}
			c.Add(t, each.dialect.PodGroup(each.name, "ddp", 2, nil))
			c.Recorder.WaitBound(t, testbed.InGang(each.dialect, each.name, "ddp"), 2, 30*time.Second)
		})
	}
	if !m.Running() {
		t.Errorf("muster has ended")
	}
}

func (a absurd) isReported(t *testing.T, c *testbed.Cluster) {
	c.Namespace(t, a.name)
	if a.more != nil {
		a.more(t, c, a.name)
	}
	hasObject := len(a.dialect.CRDs) > 0
	if a.refused {
		err := c.TryAdd(a.dialect.PodGroup(a.name, "ddp", 2, a.spec))
		if err == nil || !strings.Contains(err.Error(), a.says) {
			t.Errorf("the API server answers %v", err)
		}
		return
	}
	if hasObject {
		c.Add(t, a.dialect.PodGroup(a.name, "ddp", 2, a.spec))
	}
	change := func(pod *corev1.Pod) {
		if a.member != nil {
			a.member(pod)
		}
	}
	c.AddPods(t, testbed.Members(a.dialect, a.name, "ddp", 2, testbed.GPUs(1), change)...)
	c.Recorder.AllSay(t, testbed.InNamespace(a.name), 2, a.says)
	if a.silent || !hasObject {
		return
	}
	condition := metav1.Condition{Type: "PodGroupScheduled", Status: "False", Message: a.says}
	if a.dialect.Name == testbed.Volcano.Name {
		condition.Type, condition.Status = "Unschedulable", "True"
	}
	c.WaitCondition(t, a.dialect, a.name, "ddp", condition)
	c.WaitEvent(t, "PodGroup", a.name, "ddp", "", a.says)
	shown := c.Kubectl(t, c.Dir, "", "-n "+a.name+" describe podgroups."+a.dialect.Group+" ddp")
	// kubectl does not break lines.
	if !strings.Contains(shown, a.says) {
		t.Errorf("kubectl describe does not show %q:\n%s", a.says, shown)
	}
}

// Large objects: a megabyte of unknown fields in a PodGroup, and as many annotations as the API
// server accepts, on a PodGroup and on pods. (The chart's CRDs refuse the unknown fields.)
func TestLargeObjectsDoNoHarm(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.SchedulerPlugins)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(10)))
	gang := testbed.InGang(testbed.SchedulerPlugins, "ml", "ddp")
	large := testbed.SchedulerPlugins.PodGroup("ml", "ddp", 3, map[string]any{"junk": strings.Repeat("x", 1<<20)})
	annotations := map[string]string{}
	for i := range 200 {
		annotations[fmt.Sprintf("e2e.muster.dev/junk-%d", i)] = strings.Repeat("\\\"é", 200)
	}
	large.SetAnnotations(annotations)
	c.Add(t, large)
	c.AddPods(t, testbed.Members(testbed.SchedulerPlugins, "ml", "ddp", 3, testbed.GPUs(1), annotated(annotations))...)
	c.Recorder.WaitBound(t, gang, 3, 30*time.Second)
	eventuallyPhase(t, c, testbed.SchedulerPlugins, "ml", "ddp", "Running")
	if peak := m.Usage().PeakRSS; peak > 512<<20 {
		t.Errorf("muster used %d MiB", peak>>20)
	}
}

func annotated(annotations map[string]string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		maps.Copy(pod.Annotations, annotations)
	}
}

// Any user can write a NUL into an annotation, and the API server accepts it. Such pods are
// scheduled like all others.
func TestNulInAnAnnotationDoesNoHarm(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(10)))
	odd := annotated(map[string]string{"e2e.muster.dev/odd": "a\x00b"})
	c.Add(t, testbed.Volcano.PodGroup("ml", "ddp", 3, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "ddp", 3, testbed.GPUs(1), odd)...)
	c.AddPods(t, testbed.Pod("ml", "single", testbed.GPUs(1), odd))
	c.Recorder.WaitBound(t, testbed.InNamespace("ml"), 4, 30*time.Second)
}

// Ten thousand PodGroups with one pod each: muster's work for each does not grow with their number,
// and another gang is served at once.
func TestTenThousandPodGroups(t *testing.T) {
	groups := 10000
	if testbed.Small(t, "large") {
		groups = 1000
		beside(t)
	} else {
		alone(t)
	}
	early := groups / 5
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{Measured: true})
	c.Namespace(t, "many")
	c.Namespace(t, "ml")
	var nodes []*corev1.Node
	for i := range 100 {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("n%03d", i), testbed.Amounts{"pods": "110", "cpu": "128"}))
	}
	c.AddNodes(t, nodes...)
	begin := time.Now()
	c.AddPodGroups(t, testbed.Sigs, "many", groups, 1)
	var pods []*corev1.Pod
	for i := range groups {
		pods = append(pods, testbed.Pod("many", fmt.Sprintf("p%d", i), testbed.Amounts{"cpu": "1"},
			testbed.Sigs.Join(fmt.Sprintf("g%d", i))))
	}
	c.AddPods(t, pods...)
	t.Logf("%d PodGroups and pods were created in %.1f s", groups, time.Since(begin).Seconds())

	begin = time.Now()
	cpuBefore := m.Usage().CPU
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	all := testbed.InNamespace("many")
	c.Recorder.WaitBound(t, all, early, 3*time.Minute)
	cpuEarly := m.Usage().CPU
	slowest := time.Duration(0)
	for range 20 {
		stranger := testbed.Pod("many", "stranger", testbed.Amounts{"cpu": "1"})
		stranger.UID = "a-pod-that-was-never-created"
		slowest = max(slowest, askFilter(t, m, stranger, "n000"))
	}
	c.Recorder.WaitBound(t, all, groups, 5*time.Minute)
	cpuAll := m.Usage().CPU
	took := time.Since(begin)
	first, rest := (cpuEarly-cpuBefore)/time.Duration(early), (cpuAll-cpuEarly)/time.Duration(groups-early)
	t.Logf("all bound %.1f s after the scheduler's start (%.0f/s); muster's CPU: %v for each of the first %d, %v for each of the others; %d MiB; slowest of 20 filter calls %v",
		took.Seconds(), float64(groups)/took.Seconds(), first, early, rest, m.Usage().PeakRSS>>20, slowest)
	testbed.Figure(t, rest <= 3*first+100*time.Microsecond, "the work for each group with their number: %v, then %v", first, rest)
	testbed.Figure(t, slowest <= time.Second, "a filter call took %v meanwhile", slowest)
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 4, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 4, testbed.Amounts{"cpu": "1"})...)
	c.Recorder.WaitBound(t, testbed.InGang(testbed.Sigs, "ml", "ddp"), 4, 15*time.Second)
	if peak := m.Usage().PeakRSS; peak > 1<<30 {
		t.Errorf("muster used %d MiB", peak>>20)
	}
}
