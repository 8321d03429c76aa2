package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// S08: step 6 of the recipe as printed, with the real KubeRay: a gang of the head and four workers
// starts together or not at all, and its PodGroup is deleted with the cluster.
func TestS08_RayClusterAsPrinted(t *testing.T) { onEveryVersion(t, rayClusterAsPrinted) }

func rayClusterAsPrinted(t *testing.T, version testbed.Kubernetes) {
	if version == testbed.Default { // for the other versions, the part "minors" runs it
		testbed.Long(t, "operators")
	}
	c, m := startMakingOn(t, version)
	c.StartOperator(t, testbed.KubeRay, testbed.OperatorOptions{})
	c.Namespace(t, "ml-training")
	// The head needs one GPU and each worker two: there is room for the head and three workers.
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(3)))
	apply(t, c, "kai/ray-podgroup.yaml")
	rayAsPrinted(t, c, m)
}

// rayAsPrinted checks the recipe's RayCluster.
func rayAsPrinted(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	ray := submitted{namespace: "ml-training", resource: "rayclusters.v1.ray.io", owner: "RayCluster/ray-cluster",
		dialect: testbed.KAI, minMember: 5, pods: 5}
	group := ray.grouped(t, c, m)[0]
	if minimum := minMember(t, c, group.dialect, group.namespace, group.name); minimum != 5 {
		t.Errorf("the PodGroup has minMember %d, want 5", minimum)
	}
	if queue := groupSpec(t, c, group, "queue"); queue != "training" {
		t.Errorf("the PodGroup has the queue %v, want training", queue)
	}
	c.Recorder.AllSay(t, group.gang(), 5, group.name)
	c.WaitCondition(t, group.dialect, "ml-training", group.name, metav1.Condition{
		Type: "PodGroupScheduled", Status: "False", Message: "5 members needed, room for 4"})
	c.Recorder.NoneBound(t, ray.where())

	c.AddNodes(t, testbed.Node("c", testbed.GPUs(2)))
	pods := c.Recorder.WaitRunning(t, group.gang(), 5, time.Minute)
	c.Recorder.Together(t, group.gang())
	roles := map[string]int{}
	for _, pod := range pods {
		roles[pod.Latest.Labels["kai.scheduler/subgroup-name"]]++
	}
	if want := map[string]int{"headgroup": 1, "gpu-workers": 4}; fmt.Sprint(roles) != fmt.Sprint(want) {
		t.Errorf("the members' subgroups are %v, want %v", roles, want)
	}
	c.WaitEvent(t, "PodGroup", "ml-training", group.name, "PodGroupScheduled", "")
	if shown := c.Kubectl(t, ".", "", "get podgroups.scheduling.run.ai -n ml-training"); !strings.Contains(shown, group.name) {
		t.Errorf("kubectl get podgroups shows\n%s", shown)
	}
	onlyGroups(t, c, group)
	ray.cleanedUp(t, c)
	m.WaitNoLeaks(t)
}

// groupSpec is a field of a PodGroup's spec.
func groupSpec(t *testing.T, c *testbed.Cluster, g made, field string) any {
	t.Helper()
	value, _, _ := unstructured.NestedFieldNoCopy(c.PodGroup(t, g.dialect, g.namespace, g.name).Object, "spec", field)
	return value
}

// scalingCluster scales by itself: its minimum is the head and the minimum of workers.
const scalingCluster = `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {namespace: <namespace>, name: ray}
spec:
  rayVersion: "2.46.0"
  enableInTreeAutoscaling: true
  headGroupSpec: {rayStartParams: {}, template: <pod>}
  workerGroupSpecs:
  - {groupName: gpu, replicas: 3, minReplicas: 2, maxReplicas: 8, rayStartParams: {}, template: <pod>}
`

// S08: the PodGroup of a cluster that scales by itself: more workers start when there is room, a
// suspended cluster has no members, and a resumed cluster starts together.
func TestS08_ClusterThatScales(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.StartOperator(t, testbed.KubeRay, testbed.OperatorOptions{})
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	ray := submitted{namespace: "scaling", resource: "rayclusters.v1.ray.io", owner: "RayCluster/ray",
		dialect: testbed.KAI, minMember: 3, pods: 4,
		manifest: fill(scalingCluster, "<pod>", podFor("kai-scheduler", "ray"))}
	change := func(path string, value any) {
		c.Patch(t, ray.resource, ray.namespace, ray.name(),
			fmt.Sprintf(`[{"op": "add", "path": %q, "value": %v}]`, path, value))
	}
	allOrNone(t, c, m, nil, func(groups map[string][]made) {
		g := groups[ray.namespace][0]
		// The autoscaler requests more workers, by the number of replicas.
		change("/spec/workerGroupSpecs/0/replicas", 6)
		c.Recorder.WaitRunning(t, g.gang(), 7, time.Minute)
		ray.needs(t, m, g, 3)
		// A higher minimum becomes the PodGroup's.
		change("/spec/workerGroupSpecs/0/minReplicas", 4)
		ray.needs(t, m, g, 5)

		change("/spec/suspend", true)
		testbed.Within(t, time.Minute, "the suspended cluster has no pods", func() error {
			if n := len(c.Recorder.Pods(ray.where())); n > 0 {
				return fmt.Errorf("there are %d pods", n)
			}
			return nil
		})
		change("/spec/suspend", false)
		c.Recorder.WaitRunning(t, g.gang(), 7, time.Minute)
	}, ray)
}

// rayJob describes its own cluster. Its annotation requests gang scheduling for pods of any
// scheduler.
const rayJob = `
apiVersion: ray.io/v1
kind: RayJob
metadata: {namespace: <namespace>, name: batch, annotations: {scheduling.run.ai/gang-scheduling: "true"}}
spec:
  entrypoint: python train.py
  rayClusterSpec:
    rayVersion: "2.46.0"
    headGroupSpec: {rayStartParams: {}, template: <pod>}
    workerGroupSpecs:
    - {groupName: gpu, replicas: 3, minReplicas: 3, maxReplicas: 3, rayStartParams: {}, template: <pod>}
`

// W01: the cluster of a RayJob is a gang of the job. The pod that submits the job comes later and
// is not needed.
func TestW01_RayJobGetsItsPodGroup(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.StartOperator(t, testbed.KubeRay, testbed.OperatorOptions{})
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	job := submitted{namespace: "batch", resource: "rayjobs.v1.ray.io", owner: "RayJob/batch",
		dialect: testbed.KAI, minMember: 4, pods: 4,
		manifest: fill(rayJob, "<pod>", podFor("default-scheduler", "ray"))}
	allOrNone(t, c, m, nil, func(groups map[string][]made) {
		c.Recorder.WaitRunning(t, job.where(), 5, time.Minute) // the submitter
		job.needs(t, m, groups[job.namespace][0], 4)
	}, job)
}

// A contradictory cluster: the pods show the error and the remedy.
func TestW01_WorkloadThatContradictsItself(t *testing.T) {
	beside(t)
	c, _ := startMaking(t)
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	c.Namespace(t, "wrong")
	c.Apply(t, manifest(trainJob, "<namespace>", "wrong", "<scheduler>", "kai-scheduler", "<more>", "",
		"<annotation>", `kai.scheduler/batch-min-member: "9"`))
	c.Recorder.AllSay(t, testbed.InNamespace("wrong"), 4, "kai.scheduler/batch-min-member")
	c.Recorder.NoneBound(t, testbed.InNamespace("wrong"))
	c.Patch(t, "jobs.v1.batch", "wrong", "train",
		`[{"op": "replace", "path": "/metadata/annotations/kai.scheduler~1batch-min-member", "value": "4"}]`)
	c.Recorder.WaitRunning(t, testbed.InNamespace("wrong"), 4, 2*time.Minute)
	c.Recorder.Together(t, testbed.InNamespace("wrong"))
}
