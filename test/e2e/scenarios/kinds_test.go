package scenarios

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// example is the path of a file below examples/.
func example(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(testbed.Root(t), "examples", name)
}

// apply runs "kubectl apply -f" for an example.
func apply(t *testing.T, c *testbed.Cluster, name string) {
	t.Helper()
	c.Kubectl(t, filepath.Dir(example(t, name)), "", "apply -f "+filepath.Base(name))
}

// either selects the pods that one of the selectors selects.
func either(all ...testbed.Which) testbed.Which {
	return func(p *testbed.PodRecord) bool {
		for _, which := range all {
			if which(p) {
				return true
			}
		}
		return false
	}
}

// startAll starts a cluster with muster and its scheduler.
func startAll(t *testing.T, config map[string]any, dialects ...testbed.Dialect) (*testbed.Cluster, *testbed.Muster) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: dialects})
	m := c.StartMuster(t, testbed.MusterOptions{Config: config})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	return c, m
}

// S06: step 4 of the recipe as printed. It starts with two of eight workers, grows with the room,
// and never beyond eight.
func TestS06_ElasticAsPrinted(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Recipe)
	c.Namespace(t, "ml-training")
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(1)))
	gang := testbed.InGang(testbed.Recipe, "ml-training", "elastic-training")
	c.Recorder.Expect(testbed.Recipe.Key("ml-training", "elastic-training"), 2)
	apply(t, c, "kai/elastic-podgroup.yaml")
	c.Recorder.AllSay(t, gang, 8,
		"gang ml-training/elastic-training: 2 members needed, room for 1 (1 short of nvidia.com/gpu)")
	c.Recorder.NoneBound(t, gang)

	c.AddNodes(t, testbed.Node("second", testbed.GPUs(4)))
	c.Recorder.WaitRunning(t, gang, 5, 30*time.Second)
	c.AddNodes(t, testbed.Node("third", testbed.GPUs(2)))
	c.Recorder.WaitRunning(t, gang, 7, 30*time.Second)

	// There is room for two more, and a user adds one more than the maximum.
	c.AddNodes(t, testbed.Node("fourth", testbed.GPUs(8)))
	c.Recorder.WaitRunning(t, gang, 8, 30*time.Second)
	ninth := testbed.Pod("ml-training", "ninth", testbed.GPUs(1),
		testbed.Recipe.Join("elastic-training"), testbed.WithScheduler(testbed.Recipe.Scheduler))
	c.AddPods(t, ninth)
	c.Recorder.AllSay(t, testbed.Named("ml-training", "ninth"), 1, "maxMember")
	c.Recorder.NoMoreBound(t, gang, 8)

	// A member that ends makes room: at most eight at a time, not eight in total.
	pods := c.Recorder.Pods(gang)
	gone := pods[slices.IndexFunc(pods, func(p testbed.PodRecord) bool { return !p.Bound.IsZero() })].Name
	others := func(p *testbed.PodRecord) bool { return gang(p) && p.Name != gone }
	c.DeletePods(t, "ml-training", gone)
	c.Recorder.WaitBound(t, others, 8, 30*time.Second)
	testbed.Within(t, 30*time.Second, "eight are bound again", func() error {
		if got := m.Gang(t, "ml-training", "elastic-training"); got.Bound != 8 || got.State != "Scheduled" {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
}

// S07: step 5 of the recipe as printed, with the trainers that its text mentions. Nothing starts
// before both children can.
func TestS07_HierarchyAsPrinted(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Recipe)
	c.Namespace(t, "ml-training")
	c.AddNodes(t, testbed.Node("cpu", nil), testbed.Node("gpu", testbed.GPUs(4)))
	preprocessors := testbed.InGang(testbed.Recipe, "ml-training", "data-preprocessors")
	trainers := testbed.InGang(testbed.Recipe, "ml-training", "model-trainers")
	both := either(preprocessors, trainers)
	c.Recorder.Expect(testbed.Recipe.Key("ml-training", "data-preprocessors"), 2)
	c.Recorder.Expect(testbed.Recipe.Key("ml-training", "model-trainers"), 4)

	// The printed manifests have no trainers, so the preprocessors wait for them.
	apply(t, c, "kai/hierarchical-podgroups.yaml")
	c.Recorder.AllSay(t, preprocessors, 2, "gang ml-training/ml-pipeline")
	c.WaitCondition(t, testbed.Recipe, "ml-training", "data-preprocessors", metav1.Condition{
		Type: "PodGroupScheduled", Status: "False", Reason: "NotEnoughMembers", Message: "model-trainers"})
	c.Recorder.NoneBound(t, both)

	// Then the trainers exist, and half of them fit.
	apply(t, c, "kai/model-trainers.yaml")
	c.WaitCondition(t, testbed.Recipe, "ml-training", "ml-pipeline", metav1.Condition{
		Type: "PodGroupScheduled", Status: "False", Reason: "NotEnoughResources", Message: "short of nvidia.com/gpu"})
	c.Recorder.NoneBound(t, both)

	c.AddNodes(t, testbed.Node("late", testbed.GPUs(4)))
	c.Recorder.WaitRunning(t, both, 6, 30*time.Second)
	t.Logf("six members of two PodGroups were bound within %v", c.Recorder.Together(t, both))
	for _, name := range []string{"ml-pipeline", "data-preprocessors", "model-trainers"} {
		c.WaitCondition(t, testbed.Recipe, "ml-training", name, metav1.Condition{
			Type: "PodGroupScheduled", Status: "True"})
	}
}

// C11: KAI's subgroups. First only one of the parts fits, then both.
func TestC11_KAISubgroupsNeedTheirMinimums(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.KAI)
	c.Namespace(t, "serving")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.KAI, "serving", "inference")
	c.Recorder.Expect(testbed.KAI.Key("serving", "inference"), 5)
	apply(t, c, "subgroups/kai-prefill-decode.yaml")
	c.WaitCondition(t, testbed.KAI, "serving", "inference", metav1.Condition{
		Type: "PodGroupScheduled", Status: "False", Message: "5 members needed, room for"})
	c.Recorder.NoneBound(t, gang)

	c.AddNodes(t, testbed.Node("c", testbed.GPUs(2)))
	pods := c.Recorder.WaitBound(t, gang, 5, 30*time.Second)
	roles := map[string]int{}
	for _, pod := range pods {
		if pod.Node != "" {
			roles[pod.Latest.Labels["kai.scheduler/subgroup-name"]]++
		}
	}
	want := map[string]int{"prefill-leader": 1, "prefill-workers": 2, "decode": 2}
	if fmt.Sprint(roles) != fmt.Sprint(want) {
		t.Errorf("the bound members are %v, want %v", roles, want)
	}
	// The third decoder is above every minimum.
	c.AddNodes(t, testbed.Node("d", testbed.GPUs(1)))
	c.Recorder.WaitBound(t, gang, 6, 30*time.Second)
}

// C11: minTaskMember. Four workers meet minMember, but nothing starts without a launcher.
func TestC11_VolcanoTasksNeedTheirMinimums(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "hpc")
	c.AddNodes(t, testbed.Node("gpu", testbed.GPUs(4)))
	gang := testbed.InGang(testbed.Volcano, "hpc", "mpi")
	c.Recorder.Expect(testbed.Volcano.Key("hpc", "mpi"), 4)
	apply(t, c, "subgroups/volcano-tasks.yaml")
	c.WaitCondition(t, testbed.Volcano, "hpc", "mpi", metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: "launcher"})
	c.Recorder.NoneBound(t, gang)
	c.AddNodes(t, testbed.Node("cpu", nil, testbed.Labelled("role", "launcher")))
	c.Recorder.WaitBound(t, gang, 5, 30*time.Second)
	c.Recorder.Together(t, gang)
}

// C11: subGroupPolicy. There is room for one complete replica and half of another. Two replicas are
// needed, so nothing starts, although four members would fit.
func TestC11_VolcanoPartitionsCountWhenComplete(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "serving")
	c.AddNodes(t,
		testbed.Node("a", testbed.GPUs(4), testbed.Labelled("pool", "a")),
		testbed.Node("b", testbed.GPUs(1), testbed.Labelled("pool", "b")))
	gang := testbed.InGang(testbed.Volcano, "serving", "replicas")
	c.Recorder.Expect(testbed.Volcano.Key("serving", "replicas"), 4)
	apply(t, c, "subgroups/volcano-partitions.yaml")
	// One more member of replica a: four members fit now, but only one replica is complete.
	extra := testbed.Pod("serving", "extra", testbed.GPUs(1), testbed.Volcano.Join("replicas"),
		testbed.WithScheduler("volcano"))
	extra.Labels = map[string]string{"app": "replicas", "replica": "a"}
	c.AddPods(t, extra)
	c.WaitCondition(t, testbed.Volcano, "serving", "replicas", metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: "replica"})
	c.Recorder.NoneBound(t, gang)
	c.AddNodes(t, testbed.Node("b2", testbed.GPUs(1), testbed.Labelled("pool", "b")))
	c.Recorder.WaitBound(t, gang, 4, 30*time.Second)
}

// S12: the members of an ACS gang must have one compute class.
func TestS12_MembersMustHaveOneComputeClass(t *testing.T) {
	const class = "alibabacloud.com/compute-class"
	beside(t)
	c, _ := startAll(t, nil, testbed.Sigs)
	c.Namespace(t, "test-gang")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	gang := testbed.InGang(testbed.Sigs, "test-gang", "demo")
	c.Add(t, testbed.Sigs.PodGroup("test-gang", "demo", 3, nil))
	members := testbed.Members(testbed.Sigs, "test-gang", "demo", 3, testbed.GPUs(1))
	for _, pod := range members {
		pod.Labels[class] = "gpu-hpn"
	}
	members[2].Labels[class] = "general-purpose"
	c.AddPods(t, members...)
	for _, text := range []string{class, "gpu-hpn", "general-purpose"} {
		c.Recorder.AllSay(t, gang, 3, text)
	}
	c.WaitEvent(t, "PodGroup", "test-gang", "demo", "", "general-purpose")
	c.Recorder.NoneBound(t, gang)

	c.DeletePods(t, "test-gang", "demo-2")
	again := members[2].DeepCopy()
	again.Name, again.Labels[class] = "demo-again", "gpu-hpn"
	c.AddPods(t, again)
	c.Recorder.WaitBound(t, gang, 3, 30*time.Second)
	c.Recorder.Together(t, gang)
}

// S13: Koordinator's annotations and the older labels, without any CRD.
func TestS13_GangsWithoutPodGroups(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	koordinator := testbed.InGang(testbed.Koordinator, "ml", "train")
	lightweight := testbed.InGang(testbed.Lightweight, "ml", "light")
	c.Recorder.Expect(testbed.Koordinator.Key("ml", "train"), 4)
	c.Recorder.Expect(testbed.Lightweight.Key("ml", "light"), 3)
	apply(t, c, "koordinator/annotations.yaml")
	c.AddPods(t, testbed.Members(testbed.Lightweight, "ml", "light", 3, testbed.GPUs(1), func(pod *corev1.Pod) {
		pod.Labels["pod-group.scheduling.sigs.k8s.io/min-available"] = "3"
	})...)
	c.Recorder.AllSay(t, koordinator, 4, "gang ml/train: 4 members needed, room for 2 (2 short of nvidia.com/gpu)")
	c.Recorder.AllSay(t, lightweight, 3, "gang ml/light: 3 members needed, room for 2 (1 short of nvidia.com/gpu)")
	if got := m.Gang(t, "ml", "train"); got.State != "Waiting" || got.Needed != 4 {
		t.Errorf("muster's API shows %+v", got)
	}
	c.Recorder.NoneBound(t, either(koordinator, lightweight))

	c.AddNodes(t, testbed.Node("b", testbed.GPUs(5)))
	c.Recorder.WaitRunning(t, koordinator, 4, 30*time.Second)
	c.Recorder.WaitRunning(t, lightweight, 3, 30*time.Second)
	c.Recorder.Together(t, koordinator)
	c.Recorder.Together(t, lightweight)
}

// S13: gangs that name each other start together or not at all.
func TestS13_KoordinatorGangGroupsStartTogether(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	servers := testbed.InGang(testbed.Koordinator, "ml", "servers")
	workers := testbed.InGang(testbed.Koordinator, "ml", "workers")
	both := either(servers, workers)
	c.Recorder.Expect(testbed.Koordinator.Key("ml", "servers"), 2)
	c.Recorder.Expect(testbed.Koordinator.Key("ml", "workers"), 3)
	apply(t, c, "koordinator/two-gangs.yaml")
	c.Recorder.AllSay(t, both, 5, "short of nvidia.com/gpu")
	c.Recorder.NoneBound(t, both)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(1)))
	c.Recorder.WaitRunning(t, both, 5, 30*time.Second)
	c.Recorder.Together(t, both)
}

// A PodGroup with minResources is not planned with less room than that, even if its members would
// fit. Its reason says so.
func TestMinResourcesDelayAGang(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	gang := testbed.InGang(testbed.Volcano, "ml", "careful")
	c.Add(t, testbed.Volcano.PodGroup("ml", "careful", 2, map[string]any{
		"minResources": map[string]any{"nvidia.com/gpu": "6"}}))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "careful", 2, testbed.GPUs(1))...)
	c.Recorder.AllSay(t, gang, 2, "spec.minResources asks for 6 nvidia.com/gpu")
	c.WaitCondition(t, testbed.Volcano, "ml", "careful", metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: "spec.minResources asks for 6 nvidia.com/gpu"})
	c.Recorder.NoneBound(t, gang)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(2)))
	c.Recorder.WaitBound(t, gang, 2, 30*time.Second)
}

// The PriorityClass of a PodGroup decides which of two waiting gangs comes first, not their age.
func TestPriorityClassesOfPodGroupsDecide(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "ml")
	c.Apply(t, []byte(strings.Join([]string{
		`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: low}, value: 10}`,
		`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}`,
	}, "\n---\n")))
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	gangs := map[string]testbed.Which{}
	for _, class := range []string{"low", "high"} {
		gangs[class] = testbed.InGang(testbed.Volcano, "ml", class)
		c.Add(t, testbed.Volcano.PodGroup("ml", class, 4, map[string]any{"priorityClassName": class}))
		c.AddPods(t, testbed.Members(testbed.Volcano, "ml", class, 4, testbed.GPUs(1),
			testbed.RunningFor(2*time.Second))...)
		c.Recorder.AllSay(t, gangs[class], 4, "4 members needed, room for 2")
	}
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(2)))
	high := c.Recorder.WaitBound(t, gangs["high"], 4, 30*time.Second)
	low := c.Recorder.WaitBound(t, gangs["low"], 4, 30*time.Second)
	if !high[0].Bound.Before(low[0].Bound) {
		t.Errorf("the low class was bound at %v, the high one at %v", low[0].Bound, high[0].Bound)
	}
}
