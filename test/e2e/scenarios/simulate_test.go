package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json" // keeps whole numbers
	"sigs.k8s.io/yaml"

	"muster.dev/e2e/testbed"
)

// variant is examples/six-of-eight.yaml with other numbers, or with its objects in another order.
type variant struct {
	namespace       string
	gpusPerNode     int
	minMember       int
	groupAfterwards bool // the Job comes before its PodGroup
}

// outcome is the result of a variant when nothing happens any more.
type outcome struct {
	State, Text string
	Bound       int
}

const exampleGroup = "training-job-pg"

// `muster simulate` predicts what the real scheduler does.
func TestSimulateMatchesTheScheduler(t *testing.T) {
	beside(t)
	var variants []variant
	for _, gpus := range []int{1, 2, 3} {
		for _, minimum := range []int{3, 6, 8} {
			for _, afterwards := range []bool{false, true} {
				variants = append(variants, variant{
					namespace:   fmt.Sprintf("v%02d", len(variants)),
					gpusPerNode: gpus, minMember: minimum, groupAfterwards: afterwards})
			}
		}
	}
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Volcano}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	said := map[string]outcome{}
	for _, v := range variants {
		scenario := v.scenario(t)
		said[v.namespace] = simulate(t, m, scenario).Gangs[0].outcome
		c.Namespace(t, v.namespace)
		create(t, c, scenario)
	}
	for _, v := range variants {
		name := fmt.Sprintf("%dGPUs-min%d-groupAfterwards=%v", v.gpusPerNode, v.minMember, v.groupAfterwards)
		t.Run(name, func(t *testing.T) {
			want := said[v.namespace]
			gang := testbed.InGang(testbed.Volcano, v.namespace, exampleGroup)
			c.Recorder.WaitBound(t, gang, want.Bound, 30*time.Second)
			ends(t, m, v.namespace, exampleGroup, want)
		})
	}
	// Nothing more happens in the real cluster either.
	all := func(*testbed.PodRecord) bool { return true }
	total := 0
	for _, outcome := range said {
		total += outcome.Bound
	}
	c.Recorder.NoMoreBound(t, all, total)
	t.Logf("%d variants: muster simulate predicted that %d of %d pods would be bound, and they were",
		len(variants), total, len(c.Recorder.Pods(all)))
}

// ends waits until a gang in the real cluster is as predicted.
func ends(t *testing.T, m *testbed.Muster, namespace, name string, want outcome) {
	t.Helper()
	testbed.Within(t, 30*time.Second, "the API says what simulate said", func() error {
		got := m.Gang(t, namespace, name)
		if (outcome{got.State, got.Reason.Text, got.Bound}) != want {
			return fmt.Errorf("the cluster has %+v, but muster simulate predicted %+v", got, want)
		}
		return nil
	})
}

// scenario reads the example and changes it. It has its own pool of nodes, so that all variants fit
// into one cluster.
func (v variant) scenario(t *testing.T) map[string]any {
	t.Helper()
	var scenario map[string]any
	example := read(t, filepath.Join(testbed.Root(t), "examples/six-of-eight.yaml"))
	if err := yaml.Unmarshal([]byte(example), &scenario); err != nil {
		t.Fatal(err)
	}
	delete(scenario, "timetable")
	delete(scenario, "expect")
	for _, each := range scenario["nodes"].([]any) {
		node := each.(map[string]any)
		node["name"] = v.namespace + "-" + node["name"].(string)
		node["labels"] = map[string]any{pool: v.namespace}
		node["allocatable"].(map[string]any)[string(testbed.GPU)] = v.gpusPerNode
	}
	objects := scenario["objects"].([]any)
	for _, each := range objects {
		object := &unstructured.Unstructured{Object: each.(map[string]any)}
		object.SetNamespace(v.namespace)
		switch object.GetKind() {
		case "PodGroup":
			object.Object["spec"] = map[string]any{"minMember": int64(v.minMember)}
		case "Job":
			// What happens at the end of a pod is not compared.
			set(t, object, map[string]any{testbed.Volcano.Annotation: exampleGroup}, "spec", "template", "metadata", "annotations")
			set(t, object, map[string]any{pool: v.namespace}, "spec", "template", "spec", "nodeSelector")
		}
	}
	if v.groupAfterwards {
		slices.Reverse(objects)
	}
	return scenario
}

func set(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// prediction is what `muster simulate` says about the end of a scenario.
type prediction struct {
	Gangs []struct {
		Namespace, Name string
		outcome
	}
	Queues []struct {
		Name   string
		Status json.RawMessage
	}
}

// simulate runs `muster simulate`.
func simulate(t *testing.T, m *testbed.Muster, scenario map[string]any) prediction {
	t.Helper()
	text, err := yaml.Marshal(scenario)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(m.Binary, "simulate", file, "--until", "30s", "--output", "json").CombinedOutput()
	if err != nil {
		t.Fatalf("muster simulate: %v\n%s\n%s", err, out, text)
	}
	var reply prediction
	if err := json.Unmarshal(out, &reply); err != nil || len(reply.Gangs) == 0 {
		t.Fatalf("muster simulate prints %v\n%s", err, out)
	}
	return reply
}

// create creates the same objects in the real cluster, in the same order.
func create(t *testing.T, c *testbed.Cluster, scenario map[string]any) {
	t.Helper()
	for _, each := range scenario["nodes"].([]any) {
		node := each.(map[string]any)
		amounts := testbed.Amounts{}
		for name, amount := range node["allocatable"].(map[string]any) {
			amounts[corev1.ResourceName(name)] = fmt.Sprint(amount)
		}
		for i := range int(node["count"].(float64)) {
			labels, _ := node["labels"].(map[string]any)
			c.AddNodes(t, testbed.Node(fmt.Sprintf("%v-%d", node["name"], i), amounts,
				func(n *corev1.Node) {
					for key, value := range labels {
						n.Labels[key] = value.(string)
					}
				}))
		}
	}
	text, err := json.Marshal(map[string]any{"items": scenario["objects"]})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		c.Apply(t, item)
		awaitJobPods(t, c, item)
	}
}

// awaitJobPods waits until the pods of the object exist, if it is a Job. The controller creates the pods of
// several Jobs at once, so a later gang could be complete first.
func awaitJobPods(t *testing.T, c *testbed.Cluster, item []byte) {
	t.Helper()
	var job batchv1.Job
	if err := json.Unmarshal(item, &job); err != nil || job.Kind != "Job" {
		return
	}
	want := int(*job.Spec.Parallelism)
	testbed.Within(t, 30*time.Second, "the pods of the Job exist", func() error {
		pods := c.Recorder.Pods(func(p *testbed.PodRecord) bool {
			return p.Latest.Namespace == job.Namespace && p.Latest.Labels["job-name"] == job.Name
		})
		if len(pods) != want {
			return fmt.Errorf("Job %s/%s has %d pods of %d", job.Namespace, job.Name, len(pods), want)
		}
		return nil
	})
}

// queuedScenario has a queue with a limit, one without, and one whose parent does not exist. The order
// between them decides who gets the last GPUs.
const queuedScenario = `
nodes:
- {name: gpu, count: 4, allocatable: {cpu: 32, memory: 128Gi, nvidia.com/gpu: 2}}
objects:
- {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: small}, spec: {weight: 3, capability: {nvidia.com/gpu: 5}}}
- {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: large}, spec: {weight: 1}}
- {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: orphan}, spec: {weight: 1, parent: gone}}
`

// `muster simulate` predicts what queues do with gangs, and their statuses.
func TestQ01_SimulateMatchesTheSchedulerWithQueues(t *testing.T) {
	beside(t)
	var scenario map[string]any
	if err := yaml.Unmarshal([]byte(queuedScenario), &scenario); err != nil {
		t.Fatal(err)
	}
	for _, gang := range []struct {
		name, queue string
		pods        int
	}{{"a", "small", 4}, {"b", "small", 2}, {"c", "large", 3}, {"d", "large", 2}, {"e", "orphan", 1}, {"f", "missing", 1}} {
		scenario["objects"] = append(scenario["objects"].([]any), queuedGang(gang.name, gang.queue, gang.pods)...)
	}
	c, m := startAll(t, promptReasons, testbed.Volcano)
	c.Namespace(t, "ml")
	said := simulate(t, m, scenario)
	create(t, c, scenario)
	bound := 0
	for _, gang := range said.Gangs {
		bound += gang.Bound
		ends(t, m, gang.Namespace, gang.Name, gang.outcome)
	}
	if bound != 7 || len(said.Gangs) != 6 || len(said.Queues) < 3 {
		t.Errorf("muster simulate predicts %d bound pods of %d gangs in %d queues", bound, len(said.Gangs), len(said.Queues))
	}
	for _, queue := range said.Queues {
		var status map[string]any
		if queue.Status == nil { // it does not exist
			continue
		}
		if err := utiljson.Unmarshal(queue.Status, &status); err != nil {
			t.Fatal(err)
		}
		c.WaitQueueStatus(t, testbed.VolcanoQueues, queue.Name, status)
	}
	c.Recorder.NoMoreBound(t, func(*testbed.PodRecord) bool { return true }, bound)
}

// queuedGang is a PodGroup in a queue and its Job, as manifests.
func queuedGang(name, queue string, pods int) []any {
	container := map[string]any{"name": "worker", "image": "training",
		"resources": map[string]any{"limits": map[string]any{string(testbed.GPU): "1"}}}
	template := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{testbed.Volcano.Annotation: name}},
		"spec":     map[string]any{"restartPolicy": "Never", "containers": []any{container}},
	}
	metadata := map[string]any{"name": name, "namespace": "ml"}
	return []any{
		map[string]any{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata,
			"spec": map[string]any{"minMember": pods, "queue": queue}},
		map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
			"spec": map[string]any{"parallelism": pods, "completions": pods, "template": template}},
	}
}
