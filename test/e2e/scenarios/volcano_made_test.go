package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// volcanoJob is a Job for Volcano without a PodGroup.
const volcanoJob = `
apiVersion: batch/v1
kind: Job
metadata: {namespace: ml, name: NAME, annotations: {ANNOTATIONS}}
spec:
  parallelism: PODS
  completions: PODS
  template:
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/work:1", resources: {limits: {nvidia.com/gpu: GPUS}}}]
`

func addVolcanoJob(t *testing.T, c *testbed.Cluster, name, annotations string, pods, gpus int) {
	t.Helper()
	c.Apply(t, manifest(volcanoJob, "NAME", name, "ANNOTATIONS", annotations,
		"PODS", fmt.Sprint(pods), "GPUS", fmt.Sprint(gpus)))
}

// madeByVolcano waits for the PodGroup that is created for the pods of a Job, or for one pod, and
// returns its name. Volcano derives the name from their controller.
func madeByVolcano(t *testing.T, c *testbed.Cluster, which testbed.Which, pods int, kind string) string {
	t.Helper()
	var name string
	testbed.Within(t, 30*time.Second, "all pods name a PodGroup", func() error {
		all := c.Recorder.Pods(which)
		if len(all) != pods {
			return fmt.Errorf("there are %d pods", len(all))
		}
		for _, pod := range all {
			owner := pod.UID
			if controller := metav1.GetControllerOf(pod.Latest); controller != nil {
				owner = string(controller.UID)
			}
			name = "podgroup-" + owner
			if link := pod.Latest.Annotations[testbed.Volcano.Annotation]; link != name {
				return fmt.Errorf("pod %s names PodGroup %q, want %q", pod.Name, link, name)
			}
		}
		return nil
	})
	group := c.PodGroup(t, testbed.Volcano, "ml", name)
	owners := group.GetOwnerReferences()
	if len(owners) != 1 || owners[0].Kind != kind || "podgroup-"+string(owners[0].UID) != name {
		t.Errorf("the owner of PodGroup %s must be the %s: %v", name, kind, owners)
	}
	return name
}

func byJob(name string) testbed.Which {
	return func(p *testbed.PodRecord) bool { return p.Latest.Labels["job-name"] == name }
}

// S03: pods for Volcano without a PodGroup get one, as from Volcano's controller.
func TestS03_VolcanoPodsWithoutPodGroupGetOne(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(3)))

	// Without an annotation the minimum is 1: three of four run, and the last one when there is
	// room.
	addVolcanoJob(t, c, "single", "", 4, 1)
	single := madeByVolcano(t, c, byJob("single"), 4, "Job")
	if n := minMember(t, c, testbed.Volcano, "ml", single); n != 1 {
		t.Errorf("minMember of %s is %d", single, n)
	}
	c.Recorder.WaitRunning(t, byJob("single"), 3, 30*time.Second)
	eventuallyPhase(t, c, testbed.Volcano, "ml", single, "Running")

	// The owner's annotation sets the minimum 4: all start together or none.
	addVolcanoJob(t, c, "gang", `scheduling.volcano.sh/group-min-member: "4"`, 4, 1)
	gang := madeByVolcano(t, c, byJob("gang"), 4, "Job")
	c.Recorder.Expect(testbed.Volcano.Key("ml", gang), 4)
	c.WaitCondition(t, testbed.Volcano, "ml", gang, metav1.Condition{Type: "Unschedulable", Status: "True",
		Reason: "NotEnoughResources", Message: "4 members needed, room for 0 (4 short of nvidia.com/gpu)"})
	eventuallyPhase(t, c, testbed.Volcano, "ml", gang, "Pending")
	resources, _, _ := unstructured.NestedStringMap(c.PodGroup(t, testbed.Volcano, "ml", gang).Object, "spec", "minResources")
	if resources[string(testbed.GPU)] != "4" {
		t.Errorf("minResources of four one-GPU pods are %v", resources)
	}

	// Pods that do not exist yet depend on the phase: their creator waits for it.
	addVolcanoJob(t, c, "few", `scheduling.volcano.sh/group-min-member: "3"`, 2, 1)
	few := madeByVolcano(t, c, byJob("few"), 2, "Job")
	eventuallyPhase(t, c, testbed.Volcano, "ml", few, "Inqueue")

	// A pod without an owner has its own PodGroup.
	c.AddPods(t, testbed.Pod("ml", "alone", testbed.Amounts{"cpu": "1"}, testbed.WithScheduler("volcano")))
	alone := madeByVolcano(t, c, testbed.Named("ml", "alone"), 1, "Pod")
	c.Recorder.WaitRunning(t, testbed.Named("ml", "alone"), 1, 30*time.Second)

	c.Recorder.NoneBound(t, either(byJob("gang"), byJob("few")))
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(5)))
	c.Recorder.WaitRunning(t, byJob("gang"), 4, 30*time.Second)
	c.Recorder.Together(t, byJob("gang"))
	c.Recorder.WaitRunning(t, byJob("single"), 4, 30*time.Second)
	eventuallyPhase(t, c, testbed.Volcano, "ml", gang, "Running")

	// One PodGroup each, and they are deleted with their owners.
	keys := c.PodGroups(t, "ml", testbed.Volcano)
	if len(keys) != 4 {
		t.Errorf("want four PodGroups (%s, %s, %s, %s), got %v", single, gang, few, alone, keys)
	}
	c.Kubectl(t, ".", "", "delete job -n ml gang --wait=false")
	testbed.Within(t, 30*time.Second, gang+" goes with its Job", func() error {
		if left := c.PodGroups(t, "ml", testbed.Volcano); len(left) != 3 {
			return fmt.Errorf("these are left: %v", left)
		}
		return nil
	})
}

// Pods of other schedulers are left alone, and so are pods that refuse a PodGroup.
func TestS03_PodsThatGetNoPodGroup(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(3)))
	refusing := func(pod *corev1.Pod) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "muster.dev/create-podgroup", "false")
	}
	c.AddPods(t,
		testbed.Pod("ml", "ordinary", testbed.Amounts{"cpu": "1"}),
		testbed.Pod("ml", "refusing", testbed.Amounts{"cpu": "1"}, testbed.WithScheduler("volcano"), refusing),
		testbed.Pod("ml", "foreign", testbed.Amounts{"cpu": "1"}, testbed.WithScheduler("somebody-elses")))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "ordinary", "refusing"), 2, 30*time.Second)
	c.Recorder.NoneBound(t, testbed.Named("ml", "foreign"))
	if keys := c.PodGroups(t, "ml", testbed.Volcano, testbed.KAI); len(keys) > 0 {
		t.Errorf("PodGroups were created for pods that need none: %v", keys)
	}
}

// S03: a PodGroup that needs more than the cluster has shows this in its condition, in an event,
// and in `kubectl describe`.
func TestS03_MinResourcesLargerThanTheClusterAreReported(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	const reason = "spec.minResources asks for 100 nvidia.com/gpu"
	c.Add(t, testbed.Volcano.PodGroup("ml", "large", 2, map[string]any{
		"minResources": map[string]any{"nvidia.com/gpu": "100"}}))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "large", 2, testbed.GPUs(1))...)
	c.WaitCondition(t, testbed.Volcano, "ml", "large", metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: reason})
	c.WaitEvent(t, "PodGroup", "ml", "large", "Unschedulable", reason)
	eventuallyPhase(t, c, testbed.Volcano, "ml", "large", "Pending")
	described := c.Kubectl(t, ".", "", "describe podgroup -n ml large")
	for _, text := range []string{reason, "Unschedulable", "Phase:  "} {
		if !strings.Contains(described, text) {
			t.Errorf("kubectl describe does not show %q:\n%s", text, described)
		}
	}

	// A created PodGroup: four pods with ten GPUs each, together or not at all.
	addVolcanoJob(t, c, "huge", `scheduling.volcano.sh/group-min-member: "4"`, 4, 10)
	huge := madeByVolcano(t, c, byJob("huge"), 4, "Job")
	c.WaitCondition(t, testbed.Volcano, "ml", huge, metav1.Condition{
		Type: "Unschedulable", Status: "True", Message: "nvidia.com/gpu"})
	c.Recorder.NoneBound(t, either(testbed.InGang(testbed.Volcano, "ml", "large"), byJob("huge")))
}
