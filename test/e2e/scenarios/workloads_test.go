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

// submitted is a workload without a PodGroup, alone in its namespace.
type submitted struct {
	namespace string
	manifest  string
	resource  string // the resource of its top owner: "jobs.v1.batch"
	owner     string // "Job/train"
	dialect   testbed.Dialect
	groups    int // how many PodGroups it gets; 0 means one
	minMember int // the minimum of each, by the rule of the kind
	pods      int // pods that it creates before any runs
	// play creates the objects that its operator would create; nil: the operator runs.
	play func(*testing.T, *testbed.Cluster, *unstructured.Unstructured)
}

func (w submitted) where() testbed.Which { return testbed.InNamespace(w.namespace) }

func (w submitted) name() string { return w.owner[strings.Index(w.owner, "/")+1:] }

func (w submitted) submit(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	c.Namespace(t, w.namespace)
	text := manifest(w.manifest, "<namespace>", w.namespace)
	if w.play == nil {
		c.Apply(t, text)
		return
	}
	w.play(t, c, applyOne(t, c, text))
}

// grouped waits until muster has created its PodGroups, and checks their owners and minimums.
func (w submitted) grouped(t *testing.T, c *testbed.Cluster, m *testbed.Muster) []made {
	t.Helper()
	var groups []made
	want := max(w.groups, 1)
	testbed.Within(t, time.Minute, fmt.Sprintf("%s has %d PodGroups", w.owner, want), func() error {
		groups = nil
		keys := c.PodGroups(t, w.namespace, everyDialect...)
		for _, key := range keys {
			name := key[strings.LastIndex(key, "/")+1:]
			groups = append(groups, made{w.dialect, w.namespace, name, w.minMember, w.pods / want})
		}
		if len(keys) != want {
			return fmt.Errorf("the PodGroups are %v", keys)
		}
		return nil
	})
	for _, g := range groups {
		owners := c.PodGroup(t, w.dialect, g.namespace, g.name).GetOwnerReferences()
		if len(owners) != 1 || owners[0].Kind+"/"+owners[0].Name != w.owner {
			t.Errorf("the owners of PodGroup %s/%s are %v, want %s", g.namespace, g.name, owners, w.owner)
		}
		c.Recorder.WaitExist(t, g.gang(), g.pods, time.Minute)
		w.needs(t, m, g, w.minMember)
		c.Recorder.Expect(w.dialect.Key(g.namespace, g.name), w.minMember)
	}
	return groups
}

// needs waits until a gang needs this many members.
func (w submitted) needs(t *testing.T, m *testbed.Muster, g made, minMember int) {
	t.Helper()
	testbed.Within(t, 30*time.Second, fmt.Sprintf("%s needs %d members", w.owner, minMember), func() error {
		if gang := m.Gang(t, g.namespace, g.name); gang.Needed != minMember || gang.Group != g.dialect.Group {
			return fmt.Errorf("the gang is %+v", gang)
		}
		return nil
	})
}

// cleanedUp deletes the workload. Nothing of it may be left.
func (w submitted) cleanedUp(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	c.Delete(t, w.resource, w.namespace, w.name())
	testbed.Within(t, time.Minute, w.owner+" and its PodGroup are gone", func() error {
		groups, pods := c.PodGroups(t, w.namespace, everyDialect...), 0
		for _, pod := range c.Recorder.Pods(w.where()) {
			if pod.Erased.IsZero() {
				pods++
			}
		}
		if len(groups) > 0 || pods > 0 {
			return fmt.Errorf("there are %d pods and %v", pods, groups)
		}
		return nil
	})
}

// allOrNone is what W01 promises for workloads. Each gets its PodGroups. With room for only a part,
// nothing starts. With room for all, the members of a gang start together. A deleted workload
// leaves nothing behind. Between waiting and room, and before the end, the scenario may do other
// things.
func allOrNone(t *testing.T, c *testbed.Cluster, m *testbed.Muster, waiting, running func(map[string][]made), work ...submitted) {
	t.Helper()
	var all []testbed.Which
	groups := map[string][]made{}
	for _, w := range work {
		w.submit(t, c)
		all = append(all, w.where())
	}
	for _, w := range work {
		groups[w.namespace] = w.grouped(t, c, m)
	}
	c.Recorder.NoneBound(t, either(all...))
	if waiting != nil {
		waiting(groups)
	}
	c.AddNodes(t, testbed.Node("large", testbed.GPUs(32)), testbed.Node("larger", testbed.GPUs(32)))
	for _, w := range work {
		for _, g := range groups[w.namespace] {
			c.Recorder.WaitRunning(t, g.gang(), g.pods, time.Minute)
			c.Recorder.Together(t, g.gang())
		}
	}
	if running != nil {
		running(groups)
	}
	for _, w := range work {
		onlyGroups(t, c, groups[w.namespace]...)
		w.cleanedUp(t, c)
	}
}

// trainJob is a Job of four pods.
const trainJob = `
apiVersion: batch/v1
kind: Job
metadata: {namespace: <namespace>, name: train, annotations: {<annotation>}}
spec:
  parallelism: 4
  completions: 4
  <more>
  template:
    spec:
      schedulerName: <scheduler>
      restartPolicy: Never
      containers: [{name: train, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`

// statefulSet has three pods, which are created in parallel.
const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: <namespace>, name: ring, annotations: {<annotation>}}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: ring}}
  template:
    metadata: {labels: {app: ring}}
    spec:
      schedulerName: <scheduler>
      containers: [{name: serve, image: "registry.example/serve:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`

// fill replaces words in a manifest.
func fill(text string, pairs ...string) string { return string(manifest(text, pairs...)) }

// W01: Jobs and StatefulSets, by the rules of KAI and of Volcano.
func TestW01_JobsAndStatefulSets(t *testing.T) {
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	kaiJob := submitted{namespace: "kai-job", resource: "jobs.v1.batch", owner: "Job/train",
		dialect: testbed.KAI, minMember: 3, pods: 4,
		manifest: fill(trainJob, "<scheduler>", "kai-scheduler", "<more>", "completionMode: Indexed",
			"<annotation>", `kai.scheduler/batch-min-member: "3"`)}
	wholeJob := submitted{namespace: "whole-job", resource: "jobs.v1.batch", owner: "Job/train",
		dialect: testbed.KAI, minMember: 4, pods: 4,
		manifest: fill(trainJob, "<scheduler>", "kai-scheduler", "<more>", "",
			"<annotation>", `scheduling.run.ai/gang-scheduling: "true"`)}
	volcanoJob := submitted{namespace: "volcano-job", resource: "jobs.v1.batch", owner: "Job/train",
		dialect: testbed.Volcano, minMember: 4, pods: 4,
		manifest: fill(trainJob, "<scheduler>", "volcano", "<more>", "",
			"<annotation>", `scheduling.volcano.sh/group-min-member: "4"`)}
	kaiSet := submitted{namespace: "kai-set", resource: "statefulsets.v1.apps", owner: "StatefulSet/ring",
		dialect: testbed.KAI, minMember: 3, pods: 3,
		manifest: fill(statefulSet, "<scheduler>", "kai-scheduler",
			"<annotation>", `scheduling.run.ai/gang-scheduling: "true"`)}
	volcanoSet := submitted{namespace: "volcano-set", resource: "statefulsets.v1.apps", owner: "StatefulSet/ring",
		dialect: testbed.Volcano, minMember: 3, pods: 3,
		manifest: fill(statefulSet, "<scheduler>", "volcano",
			"<annotation>", `scheduling.volcano.sh/group-min-member: "3"`)}

	waiting := func(groups map[string][]made) {
		// A waiting Job becomes smaller, and fits.
		c.Patch(t, wholeJob.resource, wholeJob.namespace, wholeJob.name(),
			`[{"op": "replace", "path": "/spec/parallelism", "value": 2}]`)
		g := &groups[wholeJob.namespace][0]
		wholeJob.needs(t, m, *g, 2)
		c.Recorder.Expect(wholeJob.dialect.Key(g.namespace, g.name), 2)
		c.Recorder.WaitRunning(t, g.gang(), 2, time.Minute)
		g.minMember, g.pods = 2, 2
	}
	running := func(groups map[string][]made) {
		// A running StatefulSet becomes larger, and so does its gang.
		g := groups[kaiSet.namespace][0]
		c.Patch(t, kaiSet.resource, kaiSet.namespace, kaiSet.name(),
			`[{"op": "replace", "path": "/spec/replicas", "value": 5}]`)
		kaiSet.needs(t, m, g, 5)
		c.Recorder.WaitRunning(t, g.gang(), 5, time.Minute)
		// muster does not overwrite the minimum that a user edited.
		other := groups[volcanoSet.namespace][0]
		c.EditPodGroup(t, other.dialect, other.namespace, other.name, map[string]any{"minMember": 2})
		volcanoSet.needs(t, m, other, 2)
		c.Patch(t, volcanoSet.resource, volcanoSet.namespace, volcanoSet.name(),
			`[{"op": "replace", "path": "/spec/replicas", "value": 4}]`)
		c.Recorder.WaitRunning(t, other.gang(), 4, time.Minute)
		if now := minMember(t, c, other.dialect, other.namespace, other.name); now != 2 {
			t.Errorf("the user's minMember 2 was changed to %d", now)
		}
	}
	allOrNone(t, c, m, waiting, running, kaiJob, wholeJob, volcanoJob, kaiSet, volcanoSet)
}

// W01: the pods of a Deployment start independently, as in KAI. Each Job of a CronJob is a gang of
// its own.
func TestW01_DeploymentsAndCronJobs(t *testing.T) {
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	c.Namespace(t, "web")
	c.Apply(t, []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: web, name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: kai-scheduler
      containers: [{name: web, image: "registry.example/web:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`))
	c.Recorder.WaitRunning(t, testbed.InNamespace("web"), 2, time.Minute)
	testbed.Within(t, 30*time.Second, "each pod has a PodGroup", func() error {
		if keys := c.PodGroups(t, "web", everyDialect...); len(keys) != 3 {
			return fmt.Errorf("the PodGroups are %v", keys)
		}
		return nil
	})
	c.Delete(t, "deployments.v1.apps", "web", "web")
	testbed.Within(t, time.Minute, "PodGroups go with their pods", func() error {
		if keys := c.PodGroups(t, "web", everyDialect...); len(keys) != 0 {
			return fmt.Errorf("the PodGroups are %v", keys)
		}
		return nil
	})

	c.Namespace(t, "nightly")
	c.Apply(t, []byte(`
apiVersion: batch/v1
kind: CronJob
metadata: {namespace: nightly, name: retrain}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    metadata: {annotations: {kai.scheduler/batch-min-member: "3"}}
    spec:
      parallelism: 3
      completions: 3
      template:
        spec:
          schedulerName: kai-scheduler
          restartPolicy: Never
          containers: [{name: train, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`))
	c.Kubectl(t, c.Dir, "", "create job -n nightly --from=cronjob/retrain tonight")
	tonight := submitted{namespace: "nightly", resource: "jobs.v1.batch", owner: "Job/tonight",
		dialect: testbed.KAI, minMember: 3, pods: 3}
	group := tonight.grouped(t, c, m)[0]
	c.Recorder.NoneBound(t, tonight.where())
	c.AddNodes(t, testbed.Node("large", testbed.GPUs(8)))
	c.Recorder.WaitRunning(t, group.gang(), 3, time.Minute)
	c.Recorder.Together(t, group.gang())
	tonight.cleanedUp(t, c)
}

// sparkPod is a pod of a Spark application, as spark-submit creates it.
func sparkPod(role, name string, change func(*corev1.Pod)) *corev1.Pod {
	pod := testbed.Pod("spark", name, testbed.GPUs(1), testbed.WithScheduler("kai-scheduler"),
		testbed.Selecting("pool", "spark"), change)
	pod.Labels = map[string]string{"spark-role": role, "spark-app-name": "etl", "spark-app-selector": "spark-4711"}
	return pod
}

// W01: the driver of a Spark application starts first and creates the executors. All are one gang,
// which ends with the driver. Plain pods that name the same gang are one gang.
func TestW01_SparkAndPlainPods(t *testing.T) {
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(4), testbed.Labelled("pool", "spark")),
		testbed.Node("second", testbed.GPUs(5), testbed.Labelled("pool", "ring")))
	c.Namespace(t, "spark")
	c.AddPods(t, sparkPod("driver", "etl-driver", func(*corev1.Pod) {}))
	c.Recorder.WaitRunning(t, testbed.Named("spark", "etl-driver"), 1, time.Minute)
	driver := c.Recorder.Pods(testbed.Named("spark", "etl-driver"))[0]
	yes := true
	for i := range 3 {
		c.AddPods(t, sparkPod("executor", fmt.Sprintf("etl-exec-%d", i+1), func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod",
				Name: driver.Name, UID: driver.Latest.UID, Controller: &yes}}
		}))
	}
	etl := made{testbed.KAI, "spark", "spark-4711", 1, 4}
	c.Recorder.WaitRunning(t, etl.gang(), 4, time.Minute)
	etl.asWritten(t, c, m)
	onlyGroups(t, c, etl)

	// Three pods of one gang, two of which would fit.
	c.Namespace(t, "ring")
	c.AddPods(t, testbed.Pod("ring", "other", testbed.GPUs(3), testbed.Selecting("pool", "ring")))
	c.Recorder.WaitRunning(t, testbed.Named("ring", "other"), 1, time.Minute)
	ring := made{testbed.KAI, "ring", "ring", 3, 3}
	for i := range 3 {
		c.AddPods(t, testbed.Pod("ring", fmt.Sprintf("ring-%d", i), testbed.GPUs(1),
			testbed.Selecting("pool", "ring"), func(pod *corev1.Pod) {
				pod.Annotations = map[string]string{"muster.dev/gang": "ring", "muster.dev/min-member": "3"}
			}))
	}
	c.Recorder.WaitExist(t, ring.gang(), 3, time.Minute)
	m.WaitState(t, "ring", "ring", "Waiting")
	ring.asWritten(t, c, m)
	c.Recorder.Expect(ring.dialect.Key("ring", "ring"), 3)
	c.Recorder.NoneBound(t, ring.gang())
	c.DeletePods(t, "ring", "other")
	c.Recorder.WaitRunning(t, ring.gang(), 3, time.Minute)
	c.Recorder.Together(t, ring.gang())

	// The driver ends, and with it everything that it owns.
	c.DeletePods(t, "spark", "etl-driver")
	testbed.Within(t, time.Minute, "the application is gone", func() error {
		if keys := c.PodGroups(t, "spark", everyDialect...); len(keys) > 0 {
			return fmt.Errorf("there are %v", keys)
		}
		return nil
	})
}
