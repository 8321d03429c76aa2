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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"muster.dev/e2e/testbed"
)

// variant is examples/six-of-eight.yaml with other figures, or its objects in
// another order.
type variant struct {
	namespace       string
	gpusPerNode     int
	minMember       int
	groupAfterwards bool // the Job comes before its PodGroup
}

// outcome is what became of a variant when nothing happens any more.
type outcome struct {
	State, Text string
	Bound       int
}

const exampleGroup = "training-job-pg"

// What `muster simulate` says about a scenario is what the real scheduler does.
func TestSimulateSaysWhatTheSchedulerDoes(t *testing.T) {
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
		said[v.namespace] = simulate(t, m, scenario)
		v.create(t, c, scenario)
	}
	for _, v := range variants {
		name := fmt.Sprintf("%dGPUs-min%d-groupAfterwards=%v", v.gpusPerNode, v.minMember, v.groupAfterwards)
		t.Run(name, func(t *testing.T) {
			want := said[v.namespace]
			gang := testbed.InGang(testbed.Volcano, v.namespace, exampleGroup)
			c.Recorder.WaitBound(t, gang, want.Bound, 30*time.Second)
			testbed.Within(t, 30*time.Second, "the API says what simulate said", func() error {
				got := m.Gang(t, v.namespace, exampleGroup)
				if (outcome{got.State, got.Reason.Text, got.Bound}) != want {
					return fmt.Errorf("it says %+v, simulate said %+v", got, want)
				}
				return nil
			})
		})
	}
	// Nothing more happens in the real cluster either.
	all := func(*testbed.PodRecord) bool { return true }
	total := 0
	for _, outcome := range said {
		total += outcome.Bound
	}
	c.Recorder.NoMoreBound(t, all, total)
	t.Logf("%d variants: simulate said that %d of %d pods would be bound, and they were",
		len(variants), total, len(c.Recorder.Pods(all)))
}

// scenario reads the example and changes it. Its nodes become a pool of their
// own, so that all variants fit into one cluster.
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
			// Its end is another matter.
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

// simulate asks muster what would happen.
func simulate(t *testing.T, m *testbed.Muster, scenario map[string]any) outcome {
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
	var reply struct {
		Gangs []outcome `json:"gangs"`
	}
	if err := json.Unmarshal(out, &reply); err != nil || len(reply.Gangs) != 1 {
		t.Fatalf("muster simulate says %v\n%s", err, out)
	}
	return reply.Gangs[0]
}

// create makes the same objects in the real cluster, in the same order.
func (v variant) create(t *testing.T, c *testbed.Cluster, scenario map[string]any) {
	t.Helper()
	c.Namespace(t, v.namespace)
	for _, each := range scenario["nodes"].([]any) {
		node := each.(map[string]any)
		amounts := testbed.Amounts{}
		for name, amount := range node["allocatable"].(map[string]any) {
			amounts[corev1.ResourceName(name)] = fmt.Sprint(amount)
		}
		for i := range int(node["count"].(float64)) {
			c.AddNodes(t, testbed.Node(fmt.Sprintf("%v-%d", node["name"], i), amounts,
				testbed.Labelled(pool, v.namespace)))
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
	}
}
