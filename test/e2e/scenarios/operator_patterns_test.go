package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"muster.dev/e2e/testbed"
)

// The test creates what operators create from their objects, as far as a scheduler can tell: pods
// or Jobs with the labels and the owner that the real program sets. So the gate does not need the
// real programs, which run in the part "operators" of the long run.

// foreign is a kind that an operator serves.
type foreign struct{ group, version, kind, plural string }

var (
	rayClusters = foreign{"ray.io", "v1", "RayCluster", "rayclusters"}
	jobSets     = foreign{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"}
	pytorchJobs = foreign{"kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"}
)

// serve makes the API server accept objects of these kinds with any content.
func serve(t *testing.T, c *testbed.Cluster, kinds ...foreign) {
	t.Helper()
	for _, f := range kinds {
		c.Apply(t, fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[4]s, singular: %[5]s}
  versions:
  - name: %[2]s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, f.group, f.version, f.kind, f.plural, strings.ToLower(f.kind)))
		testbed.Within(t, 30*time.Second, f.plural+" are served", func() error {
			_, err := c.Dynamic.Resource(testbed.ResourceOf(t, f.resource())).List(t.Context(), metav1.ListOptions{})
			return err
		})
	}
}

// resource is the complete name of the kind's resource, as kubectl writes it.
func (f foreign) resource() string { return f.plural + "." + f.version + "." + f.group }

// serving starts a cluster that serves kinds without their operators. The controllers start last,
// because they look for new kinds only every half minute.
func serving(t *testing.T, dialects []testbed.Dialect, kinds ...foreign) *testbed.Cluster {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: dialects, WithoutControllers: true})
	serve(t, c, kinds...)
	c.StartControllers(t)
	return c
}

// startPlayed is startMaking with such kinds.
func startPlayed(t *testing.T, kinds ...foreign) (*testbed.Cluster, *testbed.Muster) {
	t.Helper()
	c := serving(t, everyDialect, kinds...)
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m,
		Profiles: []string{"default-scheduler", "kai-scheduler", "volcano", "muster"}})
	return c, m
}

// applyOne creates the one object of a text, and returns it as the API server has it.
func applyOne(t *testing.T, c *testbed.Cluster, text []byte) *unstructured.Unstructured {
	t.Helper()
	objects := testbed.Objects(t, text)
	if len(objects) != 1 {
		t.Fatalf("want one object in\n%s", text)
	}
	return c.Add(t, objects[0])
}

// role is a part of a workload: several pods of one template.
type role struct {
	name   string // the end of the pods' names; after "-" comes a random suffix, otherwise a number
	labels map[string]string
	pods   int
}

// makePods creates the pods of a role; path leads to its template.
func (r role) makePods(t *testing.T, c *testbed.Cluster, owner *unstructured.Unstructured, template any, change func(*corev1.Pod)) {
	t.Helper()
	for i := range r.pods {
		name := owner.GetName() + "-" + r.name
		pod := testbed.Pod(owner.GetNamespace(), fmt.Sprintf("%s-%d", name, i), nil)
		if strings.HasSuffix(name, "-") {
			pod.Name, pod.GenerateName = "", name
		}
		decode(t, template, pod)
		pod.OwnerReferences = ownedBy(owner)
		for key, value := range r.labels {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, key, strings.ReplaceAll(value, "<i>", fmt.Sprint(i)))
		}
		if change != nil {
			change(pod)
		}
		c.AddPods(t, pod)
	}
}

// decode converts a part of an object to a typed one.
func decode(t *testing.T, from, into any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func ownedBy(owner *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
}

func at(t *testing.T, object map[string]any, path ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(object, path...)
	if !found || err != nil {
		t.Fatalf("no %v: %v", path, err)
	}
	return value
}

// playRay creates the head and the workers of a RayCluster.
func playRay(change func(*corev1.Pod)) func(*testing.T, *testbed.Cluster, *unstructured.Unstructured) {
	return func(t *testing.T, c *testbed.Cluster, ray *unstructured.Unstructured) {
		t.Helper()
		of := func(kind, name, group string, pods int) role {
			return role{name, map[string]string{"ray.io/cluster": ray.GetName(), "ray.io/node-type": kind, "ray.io/group": group}, pods}
		}
		of("head", "head-", "headgroup", 1).makePods(t, c, ray, at(t, ray.Object, "spec", "headGroupSpec", "template"), change)
		for _, each := range at(t, ray.Object, "spec", "workerGroupSpecs").([]any) {
			group := each.(map[string]any)
			name := group["groupName"].(string)
			of("worker", name+"-worker-", name, int(group["replicas"].(int64))).makePods(t, c, ray, group["template"], change)
		}
	}
}

// playRayClusters creates the pods of every new RayCluster until the test ends.
func playRayClusters(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	watcher, err := c.Dynamic.Resource(testbed.ResourceOf(t, rayClusters.resource())).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			if event.Type == watch.Added {
				playRay(nil)(t, c, event.Object.(*unstructured.Unstructured))
			}
		}
	}()
}

// playPyTorch creates the master and the workers of a PyTorchJob.
func playPyTorch(change func(*corev1.Pod)) func(*testing.T, *testbed.Cluster, *unstructured.Unstructured) {
	return func(t *testing.T, c *testbed.Cluster, job *unstructured.Unstructured) {
		t.Helper()
		for name, each := range at(t, job.Object, "spec", "pytorchReplicaSpecs").(map[string]any) {
			replicas, kind := each.(map[string]any), strings.ToLower(name)
			role{kind, map[string]string{"training.kubeflow.org/job-name": job.GetName(), "training.kubeflow.org/replica-type": kind,
				"training.kubeflow.org/replica-index": "<i>"}, int(replicas["replicas"].(int64))}.
				makePods(t, c, job, replicas["template"], change)
		}
	}
}

// playJobSet creates the Jobs of a JobSet; kube-controller-manager runs them.
func playJobSet(t *testing.T, c *testbed.Cluster, set *unstructured.Unstructured) {
	t.Helper()
	for _, each := range at(t, set.Object, "spec", "replicatedJobs").([]any) {
		replicated := each.(map[string]any)
		replicas, _ := replicated["replicas"].(int64)
		for i := range max(replicas, 1) {
			job := &batchv1.Job{}
			decode(t, replicated["template"], job)
			job.Name = fmt.Sprintf("%s-%s-%d", set.GetName(), replicated["name"], i)
			job.OwnerReferences = ownedBy(set)
			labels := map[string]string{"jobset.sigs.k8s.io/jobset-name": set.GetName(),
				"jobset.sigs.k8s.io/replicatedjob-name": replicated["name"].(string), "jobset.sigs.k8s.io/job-index": fmt.Sprint(i)}
			job.Labels, job.Spec.Template.Labels = labels, labels
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			if _, err := c.Kube.BatchV1().Jobs(set.GetNamespace()).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// S08, small form: step 6 of the recipe as printed, with the pods that KubeRay creates.
func TestS08_RayClusterWithoutOperator(t *testing.T) {
	beside(t)
	c, m := startPlayed(t, rayClusters)
	c.Namespace(t, "ml-training")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(3)))
	playRay(nil)(t, c, applyOne(t, c, []byte(read(t, example(t, "kai/ray-podgroup.yaml")))))
	rayAsPrinted(t, c, m)
}

// W01, small form: a RayCluster, a JobSet and a PyTorchJob get their PodGroups, start together or
// not at all, and leave nothing behind.
func TestW01_WorkloadsWithoutOperators(t *testing.T) {
	beside(t)
	c, m := startPlayed(t, rayClusters, jobSets, pytorchJobs)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	pod := podFor("kai-scheduler", "main")
	allOrNone(t, c, m, nil, nil,
		submitted{namespace: "ray", resource: rayClusters.resource(), owner: "RayCluster/ray", dialect: testbed.KAI, minMember: 3, pods: 4,
			play: playRay(nil), manifest: fill(scalingCluster, "<pod>", pod)},
		submitted{namespace: "jobs", resource: jobSets.resource(), owner: "JobSet/train", dialect: testbed.KAI, minMember: 5, pods: 5,
			play: playJobSet, manifest: fill(jobSet, "<order>", "AnyOrder", "<more>", "", "<leader>", pod, "<worker>", pod)},
		submitted{namespace: "torch", resource: pytorchJobs.resource(), owner: "PyTorchJob/train", dialect: testbed.KAI, minMember: 3, pods: 4,
			play: playPyTorch(nil), manifest: fill(pytorchJob, "<name>", "train",
				"<runpolicy>", "{schedulingPolicy: {minAvailable: 3}}", "<pod>", pod)})
}

// joins is what an operator writes to the pods of a PodGroup that it has created itself.
func joins(d testbed.Dialect, group string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		d.Join(group)(pod)
		pod.Spec.SchedulerName = d.Scheduler
	}
}

// makeGroup creates a workload and the PodGroup that its operator creates for it.
func makeGroup(t *testing.T, c *testbed.Cluster, text []byte, g made) *unstructured.Unstructured {
	t.Helper()
	owner := applyOne(t, c, text)
	group := g.dialect.PodGroup(g.namespace, g.name, g.minMember, nil)
	group.SetOwnerReferences(ownedBy(owner))
	c.Add(t, group)
	return owner
}

// W02, small form: an operator that creates no pods before Volcano's PodGroup is Inqueue gets this
// phase, also without room.
func TestW02_InqueueWithoutOperators(t *testing.T) {
	beside(t)
	c, m := startPlayed(t, pytorchJobs)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(6)))
	job := func(name string) made {
		g := made{testbed.Volcano, name, name, 4, 4}
		c.Namespace(t, name)
		phases := c.WatchPhases(t, testbed.Volcano, name, name)
		owner := makeGroup(t, c, manifest(pytorchJob, "<namespace>", name, "<name>", name, "<pod>", gpuContainer("pytorch"),
			"<runpolicy>", "{}"), g)
		eventuallyPhase(t, c, testbed.Volcano, name, name, "Inqueue")
		if seen := phases(); slices.Contains(seen, "Running") {
			t.Errorf("without pods, the phases of %s were %v", name, seen)
		}
		playPyTorch(joins(testbed.Volcano, name))(t, c, owner)
		return g
	}
	fits := job("fits")
	c.Recorder.WaitRunning(t, fits.gang(), 4, time.Minute)
	c.Recorder.Together(t, fits.gang())
	eventuallyPhase(t, c, testbed.Volcano, "fits", "fits", "Running")
	waits := job("waits")
	honoured(t, c, m, func() { c.AddNodes(t, testbed.Node("second", testbed.GPUs(4))) }, waits)
}

// W03, small form: PodGroups of KubeRay and training-operator are used, and muster does not create
// further ones.
func TestW03_PodGroupsWithoutOperators(t *testing.T) {
	beside(t)
	c, m := startPlayed(t, rayClusters, pytorchJobs)
	c.AddNodes(t, testbed.Node("first", testbed.GPUs(2)))
	var groups []made
	for namespace, d := range map[string]testbed.Dialect{"volcano": testbed.Volcano, "scheduler-plugins": testbed.SchedulerPlugins} {
		c.Namespace(t, namespace)
		ray, ddp := made{d, namespace, "ray-ray-pg", 4, 4}, made{d, namespace, "ddp", 3, 4}
		playRay(joins(d, ray.name))(t, c, makeGroup(t, c, manifest(rayCluster, "<namespace>", namespace,
			"<head>", gpuContainer("ray-head"), "<worker>", gpuContainer("ray-worker")), ray))
		playPyTorch(joins(d, ddp.name))(t, c, makeGroup(t, c, manifest(pytorchJob, "<namespace>", namespace, "<name>", "ddp",
			"<pod>", gpuContainer("pytorch"), "<runpolicy>", "{schedulingPolicy: {minAvailable: 3}}"), ddp))
		groups = append(groups, ray, ddp)
	}
	honoured(t, c, m, func() {
		c.AddNodes(t, testbed.Node("second", testbed.GPUs(16)), testbed.Node("third", testbed.GPUs(16)))
	}, groups...)
}
