package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// Every manifest below examples/ is applied to a real control plane by some test here, or typed
// in a walk through README.md or a document; every scenario is played.
func TestEveryExampleIsUsedByATest(t *testing.T) {
	root := testbed.Root(t)
	tried := read(t, filepath.Join(root, "test/sim/CMakeLists.txt"))
	for _, pattern := range []string{"README.md", "docs/documents/*.md", "docs/queues.md", "docs/preemption.md", "test/e2e/scenarios/*_test.go"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			tried += read(t, path)
		}
	}
	n := 0
	err := fs.WalkDir(os.DirFS(filepath.Join(root, "examples")), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		n++
		folder, name := filepath.Split(path)
		if strings.HasPrefix(folder, "workloads/") { // tested by folder, see below
			return nil
		}
		for _, word := range []string{"examples/" + path, `"` + path + `"`, `"` + name + `"`, " " + name, `/` + name + `"`} {
			if strings.Contains(tried, word) {
				return nil
			}
		}
		t.Errorf("examples/%s: no test uses it", path)
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d manifests: %v", n, err)
	}
}

// workload is what a test expects of a folder below examples/workloads.
type workload struct {
	dialect  testbed.Dialect
	operator *testbed.Operator // that creates its pods; nil: kube-controller-manager
	then     string            // the README's command after the manifests are applied
	owner    string            // kind
	gangs    int
	needed   int      // members that each gang needs
	pods     int      // pods of each gang
	single   bool     // its pods start one by one
	parts    []string // its top subgroups, as its README names them
}

var workloads = map[string]workload{
	"job":             {dialect: testbed.KAI, owner: "Job", gangs: 1, needed: 4, pods: 4},
	"indexed-job":     {dialect: testbed.KAI, owner: "Job", gangs: 1, needed: 3, pods: 3},
	"cronjob":         {dialect: testbed.KAI, owner: "Job", gangs: 1, needed: 3, pods: 3, then: "kubectl create job nightly-now --from=cronjob/nightly"},
	"statefulset":     {dialect: testbed.Volcano, owner: "StatefulSet", gangs: 1, needed: 3, pods: 3},
	"deployment":      {dialect: testbed.Volcano, owner: "ReplicaSet", gangs: 1, needed: 2, pods: 2},
	"plain-pods":      {dialect: testbed.KAI, owner: "Pod", gangs: 1, needed: 3, pods: 3},
	"spark":           {dialect: testbed.KAI, owner: "Pod", gangs: 1, needed: 1, pods: 3, single: true},
	"jobset":          {dialect: testbed.KAI, owner: "JobSet", gangs: 1, needed: 5, pods: 5, operator: &testbed.JobSet, parts: []string{"driver", "workers"}},
	"leaderworkerset": {dialect: testbed.KAI, owner: "LeaderWorkerSet", gangs: 2, needed: 3, pods: 3, operator: &testbed.LeaderWorkerSet},
	"raycluster":      {dialect: testbed.KAI, owner: "RayCluster", gangs: 1, needed: 4, pods: 4, operator: &testbed.KubeRay, parts: []string{"headgroup", "gpu"}},
	"rayjob":          {dialect: testbed.KAI, owner: "RayJob", gangs: 1, needed: 3, pods: 3, operator: &testbed.KubeRay},
	"rayservice":      {dialect: testbed.KAI, owner: "RayService", gangs: 1, needed: 3, pods: 3, operator: &testbed.KubeRay, parts: []string{"headgroup", "gpu"}},
	"pytorchjob":      {dialect: testbed.KAI, owner: "PyTorchJob", gangs: 1, needed: 4, pods: 4, operator: &testbed.TrainingOperator, parts: []string{"master", "worker"}},
	"tfjob":           {dialect: testbed.KAI, owner: "TFJob", gangs: 1, needed: 3, pods: 3, operator: &testbed.TrainingOperator},
	"xgboostjob":      {dialect: testbed.KAI, owner: "XGBoostJob", gangs: 1, needed: 3, pods: 3, operator: &testbed.TrainingOperator, parts: []string{}},
	"mpijob":          {dialect: testbed.KAI, owner: "MPIJob", gangs: 1, needed: 4, pods: 4, operator: &testbed.MPIOperator},
}

// W01: every folder of examples/workloads, as its README describes it. With one GPU, nothing
// starts. With enough GPUs, all members of a gang start together. A deleted workload takes its
// PodGroup along.
func TestW01_ExamplesOfWorkloads(t *testing.T) {
	t.Parallel()
	// Two operators serve MPIJobs in different versions, so they cannot share a cluster.
	kubeflow := func(name string) bool { return workloads[name].operator == &testbed.TrainingOperator }
	others := func(name string) bool { return !kubeflow(name) }
	folders := workloadFolders(t)
	operated := func(name string) bool { return workloads[name].operator != nil }
	for cluster, leftOut := range map[string]func(string) bool{
		"training-operator": others, "others": kubeflow, "without-operators": operated} {
		t.Run(cluster, func(t *testing.T) {
			if cluster != "without-operators" {
				testbed.Long(t, "operators")
			}
			beside(t)
			tryWorkloads(t, slices.DeleteFunc(slices.Clone(folders), leftOut))
		})
	}
}

func tryWorkloads(t *testing.T, folders []string) {
	t.Helper()
	c, m := startAll(t, nil, testbed.KAI, testbed.Volcano)
	startOperators(t, c, folders)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(1)))
	shell := c.Shell(t, m, copyExamples(t)+"/examples/workloads")
	for _, name := range folders {
		c.Namespace(t, name)
		typeIn(t, shell, fmt.Sprintf("kubectl config set-context --current --namespace %s", name))
		typeIn(t, shell, "kubectl apply -f "+name)
		if then := workloads[name].then; then != "" {
			typeIn(t, shell, then)
		}
	}
	made := map[string][]testbed.Gang{}
	var waiting []testbed.Which
	for _, name := range folders {
		t.Run(name+"-made", func(t *testing.T) { made[name] = workloads[name].waitMade(t, c, m, name) })
		if !workloads[name].single {
			waiting = append(waiting, testbed.InNamespace(name))
		}
	}
	c.Recorder.NoneBound(t, either(waiting...))
	for i := range 8 {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("large-%d", i), testbed.GPUs(8)))
	}
	for _, name := range folders {
		t.Run(name+"-placed", func(t *testing.T) { workloads[name].waitPlaced(t, c, name, made[name]) })
		typeIn(t, shell, fmt.Sprintf("kubectl delete -n %s --wait=false -f %s", name, name))
	}
	for _, name := range folders {
		testbed.Within(t, time.Minute, name+": its PodGroups go with their owner", func() error {
			if left := c.PodGroups(t, name, testbed.KAI, testbed.Volcano); len(left) > 0 {
				return fmt.Errorf("these are left: %v", left)
			}
			return nil
		})
	}
}

// workloadFolders are the folders below examples/workloads. Each must have an entry in `workloads`,
// and each entry a folder with a README.
func workloadFolders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(example(t, "workloads"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		names = append(names, name)
		if _, expected := workloads[name]; !expected {
			t.Fatalf("examples/workloads/%s: `workloads` has no entry for it", name)
		}
		text := read(t, example(t, "workloads/"+name+"/README.md"))
		if then := workloads[name].then; !strings.Contains(text, then) {
			t.Errorf("examples/workloads/%s/README.md does not contain: %s", name, then)
		}
	}
	for name := range workloads {
		if !slices.Contains(names, name) {
			t.Errorf("examples/workloads/%s does not exist", name)
		}
	}
	return names
}

// startOperators starts each operator that one of the folders needs.
func startOperators(t *testing.T, c *testbed.Cluster, folders []string) {
	t.Helper()
	var started []*testbed.Operator
	for _, name := range folders {
		if o := workloads[name].operator; o != nil && !slices.Contains(started, o) {
			started = append(started, o)
			c.StartOperator(t, *o, testbed.OperatorOptions{})
		}
	}
}

func typeIn(t *testing.T, shell *testbed.Shell, line string) {
	t.Helper()
	if out, err := shell.Type(line); err != nil {
		t.Fatalf("$ %s\n%v\n%s", line, err, out)
	}
}

// waitMade waits until the PodGroups of a folder exist and all its pods are linked. It tells the
// recorder how many members they need.
func (w workload) waitMade(t *testing.T, c *testbed.Cluster, m *testbed.Muster, namespace string) []testbed.Gang {
	t.Helper()
	var gangs []testbed.Gang
	testbed.Within(t, time.Minute, fmt.Sprintf("%d gangs of %d, %d needed", w.gangs, w.pods, w.needed), func() error {
		gangs = slices.DeleteFunc(m.Gangs(t), func(g testbed.Gang) bool { return g.Namespace != namespace })
		wrong := slices.ContainsFunc(gangs, func(g testbed.Gang) bool {
			return g.Needed != w.needed || g.Members != w.pods || g.Group != w.dialect.Group
		})
		if wrong || len(gangs) != w.gangs {
			return fmt.Errorf("the gangs are %+v", gangs)
		}
		return nil
	})
	keys := c.PodGroups(t, namespace, testbed.KAI, testbed.Volcano)
	if len(keys) != w.gangs {
		t.Errorf("the PodGroups are %v", keys)
	}
	for _, g := range gangs {
		c.Recorder.Expect(w.dialect.Key(namespace, g.Name), g.Needed)
		w.checkGroup(t, c.PodGroup(t, w.dialect, namespace, g.Name))
	}
	w.checkReadme(t, namespace, gangs)
	return gangs
}

// What a README shows about a PodGroup, after the command:
// "# pg-serving-…-group-0 and …-group-1, minimum 3 each".
var saidOfGroup = regexp.MustCompile(`(?m)^ {4}kubectl (?:get|describe) podgroup.*# ([^,]+), (minimum (\d+))?`)

func (w workload) checkReadme(t *testing.T, name string, gangs []testbed.Gang) {
	t.Helper()
	said := saidOfGroup.FindStringSubmatch(read(t, example(t, "workloads/"+name+"/README.md")))
	if said == nil {
		t.Fatalf("examples/workloads/%s/README.md does not show its PodGroup", name)
	}
	if said[3] != "" && said[3] != fmt.Sprint(w.needed) {
		t.Errorf("README.md shows the minimum %s, but the gang needs %d", said[2], w.needed)
	}
	names := strings.Split(said[1], " and ")
	for _, g := range gangs {
		if !slices.ContainsFunc(names, func(pattern string) bool {
			matches, _ := filepath.Match(strings.ReplaceAll(pattern, "…", "*"), g.Name)
			return matches
		}) {
			t.Errorf("README.md shows the PodGroup %s, but its name is %s", said[1], g.Name)
		}
	}
}

func (w workload) checkGroup(t *testing.T, group *unstructured.Unstructured) {
	t.Helper()
	var parts []string
	all, _, _ := unstructured.NestedSlice(group.Object, "spec", "subGroups")
	for _, each := range all {
		if part, _ := each.(map[string]any); part["parent"] == nil {
			parts = append(parts, fmt.Sprint(part["name"]))
		}
	}
	if w.parts != nil && !slices.Equal(parts, w.parts) {
		t.Errorf("the subgroups of PodGroup %s are %v", group.GetName(), parts)
	}
	owns := func(ref metav1.OwnerReference) bool { return ref.Kind == w.owner }
	if !slices.ContainsFunc(group.GetOwnerReferences(), owns) {
		t.Errorf("the owner of PodGroup %s must be a %s: %v", group.GetName(), w.owner, group.GetOwnerReferences())
	}
}

// waitPlaced waits until all pods of all gangs run.
func (w workload) waitPlaced(t *testing.T, c *testbed.Cluster, namespace string, gangs []testbed.Gang) {
	t.Helper()
	for _, g := range gangs {
		gang := testbed.InGang(w.dialect, namespace, g.Name)
		c.Recorder.WaitRunning(t, gang, w.pods, time.Minute)
		if !w.single {
			c.Recorder.Together(t, gang)
		}
		testbed.Within(t, 30*time.Second, "the PodGroup is Running", func() error {
			if phase := c.Phase(t, w.dialect, namespace, g.Name); phase != "Running" {
				return fmt.Errorf("the phase is %q", phase)
			}
			return nil
		})
	}
}
