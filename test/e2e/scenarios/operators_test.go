package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// everyDialect are the dialects with objects, so that a second PodGroup is found in any of them.
var everyDialect = []testbed.Dialect{testbed.KAI, testbed.Volcano, testbed.SchedulerPlugins, testbed.Sigs}

// made is a PodGroup that an operator creates for its own pods.
type made struct {
	dialect         testbed.Dialect
	namespace, name string
	minMember       int // the operator's minimum
	pods            int // the number of pods that it creates at once
}

func (g made) gang() testbed.Which { return testbed.InGang(g.dialect, g.namespace, g.name) }

// honoured is what W03 promises for PodGroups of operators: with room for only a part, nothing
// starts. With room for all, all members start together. No second PodGroup is created.
func honoured(t *testing.T, c *testbed.Cluster, m *testbed.Muster, room func(), groups ...made) {
	t.Helper()
	var gangs []testbed.Which
	for _, g := range groups {
		c.Recorder.Expect(g.dialect.Key(g.namespace, g.name), g.minMember)
		gangs = append(gangs, g.gang())
		c.Recorder.WaitExist(t, g.gang(), g.pods, time.Minute)
		m.WaitState(t, g.namespace, g.name, "Waiting")
		g.asWritten(t, c, m)
	}
	c.Recorder.NoneBound(t, either(gangs...))
	room()
	for _, g := range groups {
		c.Recorder.WaitRunning(t, g.gang(), g.pods, time.Minute)
		if g.minMember > 1 { // later members are scheduled alone
			c.Recorder.Together(t, g.gang())
		}
		g.asWritten(t, c, m)
	}
	onlyGroups(t, c, groups...)
}

// asWritten checks that the minimum is the operator's, in the object and in muster's API.
func (g made) asWritten(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	if wrote := minMember(t, c, g.dialect, g.namespace, g.name); wrote != g.minMember {
		t.Errorf("PodGroup %s/%s has minMember %d, but its operator writes %d", g.namespace, g.name, wrote, g.minMember)
	}
	if gang := m.Gang(t, g.namespace, g.name); gang.Needed != g.minMember || gang.Group != g.dialect.Group {
		t.Errorf("muster's view of PodGroup %s/%s is %+v", g.namespace, g.name, gang)
	}
}

func minMember(t *testing.T, c *testbed.Cluster, d testbed.Dialect, namespace, name string) int {
	t.Helper()
	spec, _ := c.PodGroup(t, d, namespace, name).Object["spec"].(map[string]any)
	minimum, _ := spec["minMember"].(int64)
	return int(minimum)
}

// onlyGroups checks that the namespaces contain exactly these PodGroups, in all dialects.
func onlyGroups(t *testing.T, c *testbed.Cluster, groups ...made) {
	t.Helper()
	want, namespaces := map[string]bool{}, map[string]bool{}
	for _, g := range groups {
		want[g.dialect.Key(g.namespace, g.name)] = true
		namespaces[g.namespace] = true
	}
	for namespace := range namespaces {
		for _, key := range c.PodGroups(t, namespace, everyDialect...) {
			if !want[key] {
				t.Errorf("there is an additional PodGroup %s", key)
			}
			delete(want, key)
		}
	}
	if len(want) > 0 {
		t.Errorf("PodGroups are missing: %v", want)
	}
}

// startMaking starts a cluster with every dialect, and muster and its scheduler with these names.
// muster creates missing PodGroups.
func startMaking(t *testing.T, profiles ...string) (*testbed.Cluster, *testbed.Muster) {
	t.Helper()
	return startMakingOn(t, testbed.Default, profiles...)
}

func startMakingOn(t *testing.T, version testbed.Kubernetes, profiles ...string) (*testbed.Cluster, *testbed.Muster) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Kubernetes: version, Dialects: everyDialect})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m,
		Profiles: append([]string{"default-scheduler", "kai-scheduler", "volcano", "muster"}, profiles...)})
	return c, m
}

// manifest replaces words in a YAML text, given as pairs of old and new.
func manifest(text string, pairs ...string) []byte {
	return []byte(strings.NewReplacer(pairs...).Replace(text))
}

// gpuPod is the pod template of most workloads here, on one line of YAML.
const gpuPod = `{spec: {containers: [{name: <container>, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}`

func gpuContainer(name string) string { return strings.ReplaceAll(gpuPod, "<container>", name) }

// rayCluster has a head and three workers with one GPU each.
const rayCluster = `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {namespace: <namespace>, name: ray, labels: {ray.io/gang-scheduling-enabled: "true"}}
spec:
  rayVersion: "2.46.0"
  headGroupSpec:
    rayStartParams: {}
    template: <head>
  workerGroupSpecs:
  - {groupName: gpu, replicas: 3, minReplicas: 1, maxReplicas: 5, rayStartParams: {}, template: <worker>}
`

// W03: KubeRay creates a PodGroup for each RayCluster, for Volcano or for scheduler-plugins. The
// one for Volcano follows the size of the cluster.
func TestW03_PodGroupsOfKubeRayAreUsed(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(3)))
	for _, scheduler := range []string{"volcano", "scheduler-plugins"} {
		c.Namespace(t, scheduler)
		c.StartOperator(t, testbed.KubeRay, testbed.OperatorOptions{Namespace: scheduler,
			Arguments: []string{"--batch-scheduler", scheduler}})
		c.Apply(t, manifest(rayCluster, "<namespace>", scheduler,
			"<head>", gpuContainer("ray-head"), "<worker>", gpuContainer("ray-worker")))
	}
	honoured(t, c, m, func() {
		c.AddNodes(t, testbed.Node("second", testbed.GPUs(8)), testbed.Node("third", testbed.GPUs(8)))
	}, made{testbed.Volcano, "volcano", "ray-ray-pg", 4, 4}, made{testbed.SchedulerPlugins, "scheduler-plugins", "ray", 4, 4})

	// Both clusters grow by two, and the new workers run. The PodGroup for Volcano grows with its
	// cluster; the other does not change.
	for _, namespace := range []string{"volcano", "scheduler-plugins"} {
		c.Patch(t, "rayclusters.v1.ray.io", namespace, "ray",
			`[{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 5}]`)
		c.Recorder.WaitRunning(t, testbed.InNamespace(namespace), 6, time.Minute)
	}
	followed := func(want int) {
		t.Helper()
		testbed.Within(t, 30*time.Second, "minMember follows", func() error {
			if now := minMember(t, c, testbed.Volcano, "volcano", "ray-ray-pg"); now != want {
				return fmt.Errorf("it is %d, want %d", now, want)
			}
			return nil
		})
	}
	followed(6)
	made{testbed.SchedulerPlugins, "scheduler-plugins", "ray", 4, 6}.asWritten(t, c, m)
	// A cluster that scales by itself needs only its minimum of workers.
	c.Patch(t, "rayclusters.v1.ray.io", "volcano", "ray",
		`[{"op": "add", "path": "/spec/enableInTreeAutoscaling", "value": true}]`)
	followed(2)
}

// pytorchJob has a master and three workers of one GPU each.
const pytorchJob = `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {namespace: <namespace>, name: <name>}
spec:
  runPolicy: <runpolicy>
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: <pod>}
    Worker: {replicas: 3, restartPolicy: OnFailure, template: <pod>}
`

// tfJob has a chief, a parameter server and two workers.
const tfJob = `
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {namespace: <namespace>, name: <name>}
spec:
  runPolicy: {}
  tfReplicaSpecs:
    Chief: {replicas: 1, restartPolicy: OnFailure, template: <pod>}
    PS: {replicas: 1, restartPolicy: OnFailure, template: <pod>}
    Worker: {replicas: 2, restartPolicy: OnFailure, template: <pod>}
`

// W03: training-operator creates a PodGroup for each job, for Volcano, or for scheduler-plugins
// under any scheduler name. A minimum in the job is the minimum of the PodGroup.
func TestW03_PodGroupsOfTrainingOperatorAreUsed(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t, "scheduler-plugins-scheduler")
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(2)))
	for _, scheduler := range []string{"volcano", "scheduler-plugins-scheduler"} {
		c.Namespace(t, scheduler)
		c.StartOperator(t, testbed.TrainingOperator, testbed.OperatorOptions{Namespace: scheduler,
			Arguments: []string{"--gang-scheduler-name", scheduler}})
		c.Apply(t, manifest(pytorchJob, "<namespace>", scheduler, "<name>", "ddp", "<pod>", gpuContainer("pytorch"), "<runpolicy>", "{}"))
		c.Apply(t, manifest(pytorchJob, "<namespace>", scheduler, "<name>", "elastic", "<pod>", gpuContainer("pytorch"),
			"<runpolicy>", "{schedulingPolicy: {minAvailable: 3}}"))
		c.Apply(t, manifest(tfJob, "<namespace>", scheduler, "<name>", "mnist", "<pod>", gpuContainer("tensorflow")))
	}
	var groups []made
	for namespace, dialect := range map[string]testbed.Dialect{
		"volcano": testbed.Volcano, "scheduler-plugins-scheduler": testbed.SchedulerPlugins} {
		groups = append(groups, made{dialect, namespace, "ddp", 4, 4},
			made{dialect, namespace, "elastic", 3, 4}, made{dialect, namespace, "mnist", 4, 4})
	}
	honoured(t, c, m, func() {
		c.AddNodes(t, testbed.Node("second", testbed.GPUs(16)), testbed.Node("third", testbed.GPUs(16)))
	}, groups...)
}

// leaderWorkerSet has two groups of a leader and two workers.
const leaderWorkerSet = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {namespace: <namespace>, name: <name>}
spec:
  replicas: 2
  startupPolicy: <policy>
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec:
        schedulerName: <scheduler>
        containers:
        - name: serve
          image: registry.example/serve:1
          resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}
`

// W03: LeaderWorkerSet creates a PodGroup for each of its groups, for Volcano. A set that starts
// its leader first has the minimum one and the resources of all members (it counts only requests,
// not limits), so the leader does not start where its workers would not fit.
func TestW03_PodGroupsOfLeaderWorkerSetAreUsed(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(2)))
	c.StartOperator(t, testbed.LeaderWorkerSet, testbed.OperatorOptions{
		Config: map[string]any{"gangSchedulingManagement": map[string]any{"schedulerProvider": "volcano"}}})
	c.Namespace(t, "serving")
	for name, policy := range map[string]string{"together": "LeaderCreated", "leader-first": "LeaderReady"} {
		c.Apply(t, manifest(leaderWorkerSet, "<namespace>", "serving", "<name>", name, "<policy>", policy, "<scheduler>", "volcano"))
	}
	// Their names contain a hash of the template.
	var together, leaders []made
	testbed.Within(t, time.Minute, "four PodGroups", func() error {
		together, leaders = nil, nil
		keys := c.PodGroups(t, "serving", testbed.Volcano)
		for _, key := range keys {
			name := key[strings.LastIndex(key, "/")+1:]
			if strings.HasPrefix(name, "together-") {
				together = append(together, made{testbed.Volcano, "serving", name, 3, 3})
			} else {
				leaders = append(leaders, made{testbed.Volcano, "serving", name, 1, 1})
			}
		}
		if len(together) != 2 || len(leaders) != 2 {
			return fmt.Errorf("the PodGroups are %v", keys)
		}
		return nil
	})
	honoured(t, c, m, func() {
		c.AddNodes(t, testbed.Node("second", testbed.GPUs(6)), testbed.Node("third", testbed.GPUs(6)))
	}, append(together, leaders...)...)
	for _, g := range leaders {
		c.Recorder.WaitRunning(t, g.gang(), 3, time.Minute)
	}
}

// mpiJob has a launcher without GPU and three workers.
const mpiJob = `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {namespace: <namespace>, name: <name>}
spec:
  launcherCreationPolicy: <policy>
  runPolicy: <runpolicy>
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template: {spec: {containers: [{name: launcher, image: "registry.example/mpi:1"}]}}
    Worker:
      replicas: 3
      template: <pod>
`

// W03: mpi-operator creates a PodGroup for each MPIJob, for Volcano, or for scheduler-plugins in a
// scheduler of another name.
func TestW03_PodGroupsOfMPIOperatorAreUsed(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(2)))
	for _, scheduler := range []string{"volcano", "default-scheduler"} {
		c.Namespace(t, scheduler)
		c.StartOperator(t, testbed.MPIOperator, testbed.OperatorOptions{Namespace: scheduler,
			Arguments: []string{"--gang-scheduling", scheduler}})
		c.Apply(t, manifest(mpiJob, "<namespace>", scheduler, "<name>", "pi", "<pod>", gpuContainer("worker"),
			"<policy>", "AtStartup", "<runpolicy>", "{}"))
	}
	honoured(t, c, m, func() { c.AddNodes(t, testbed.Node("second", testbed.GPUs(8))) },
		made{testbed.Volcano, "volcano", "pi", 4, 4}, made{testbed.SchedulerPlugins, "default-scheduler", "pi", 4, 4})
}
