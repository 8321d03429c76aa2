package scenarios

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// fit is a kind of pod, and nodes on which exactly n of them have room.
type fit struct {
	name  string
	nodes []*corev1.Node // the name and the label of the pool are added
	pod   func(*corev1.Pod)
	n     int
}

// pool is the label that separates the nodes of the cases.
const pool = "e2e.muster.dev/pool"

func node(amounts testbed.Amounts, changes ...func(*corev1.Node)) *corev1.Node {
	return testbed.Node("", amounts, changes...)
}

func asking(amounts testbed.Amounts) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: amounts.List()}
}

func container(name string, amounts testbed.Amounts) corev1.Container {
	return corev1.Container{Name: name, Image: "registry.example/work:1", Resources: asking(amounts)}
}

func sidecar(name string, amounts testbed.Amounts) corev1.Container {
	c := container(name, amounts)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

// asks sets the requests of the pod's container.
func asks(amounts testbed.Amounts) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources = asking(amounts) }
}

// limited sets limits and requests, as extended resources need.
func limited(amounts testbed.Amounts) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: amounts.List(), Limits: amounts.List()}
	}
}

func requires(terms ...corev1.NodeSelectorTerm) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		asks(testbed.Amounts{"cpu": "1"})(pod)
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
}

func term(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: expressions}
}

func where(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func tainted(key, value string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(node *corev1.Node) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func tolerates(toleration corev1.Toleration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		asks(testbed.Amounts{"cpu": "1"})(pod)
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
	}
}

func cordoned(node *corev1.Node) { node.Spec.Unschedulable = true }

// oneCPU is a node with room for one pod of one CPU.
func oneCPU(changes ...func(*corev1.Node)) *corev1.Node {
	return node(testbed.Amounts{"cpu": "1"}, changes...)
}

// runtimeClass gives pods an overhead of one CPU.
const runtimeClass = "sandboxed"

func fits(version testbed.Kubernetes) []fit {
	cases := []fit{
		{"sum-of-containers", []*corev1.Node{node(testbed.Amounts{"cpu": "8"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "1500m"})(pod)
			pod.Spec.Containers = append(pod.Spec.Containers, container("second", testbed.Amounts{"cpu": "500m"}))
		}, 4},
		{"limits-are-requests", []*corev1.Node{node(testbed.Amounts{"cpu": "4"})}, func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: testbed.Amounts{"cpu": "2"}.List()}
		}, 2},
		{"memory-in-other-units", []*corev1.Node{node(testbed.Amounts{"memory": "3Gi"})},
			asks(testbed.Amounts{"memory": "1073741824"}), 3},
		{"ephemeral-storage", []*corev1.Node{node(testbed.Amounts{"ephemeral-storage": "10Gi"})},
			asks(testbed.Amounts{"ephemeral-storage": "5Gi"}), 2},
		{"large-init-container", []*corev1.Node{node(testbed.Amounts{"cpu": "8"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "1"})(pod)
			pod.Spec.InitContainers = []corev1.Container{container("init", testbed.Amounts{"cpu": "4"})}
		}, 2},
		{"sidecar-adds-up", []*corev1.Node{node(testbed.Amounts{"cpu": "6"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "1"})(pod)
			pod.Spec.InitContainers = []corev1.Container{sidecar("side", testbed.Amounts{"cpu": "1"})}
		}, 3},
		// 1 (sidecar) + 3 (later init container) is more than 1 + 1.
		{"init-after-sidecar", []*corev1.Node{node(testbed.Amounts{"cpu": "8"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "1"})(pod)
			pod.Spec.InitContainers = []corev1.Container{
				sidecar("side", testbed.Amounts{"cpu": "1"}), container("init", testbed.Amounts{"cpu": "3"})}
		}, 2},
		// The init container ends before the sidecar starts: 3, not 4.
		{"init-before-sidecar", []*corev1.Node{node(testbed.Amounts{"cpu": "9"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "1"})(pod)
			pod.Spec.InitContainers = []corev1.Container{
				container("init", testbed.Amounts{"cpu": "3"}), sidecar("side", testbed.Amounts{"cpu": "1"})}
		}, 3},
		{"overhead", []*corev1.Node{node(testbed.Amounts{"cpu": "6"})}, func(pod *corev1.Pod) {
			asks(testbed.Amounts{"cpu": "2"})(pod)
			name := runtimeClass
			pod.Spec.RuntimeClassName = &name
		}, 2},
		{"extended-resource", []*corev1.Node{node(testbed.Amounts{"example.com/fpga": "5"})},
			limited(testbed.Amounts{"example.com/fpga": "2"}), 2},
		{"huge-pages", []*corev1.Node{node(testbed.Amounts{"hugepages-2Mi": "8Mi"})},
			limited(testbed.Amounts{"hugepages-2Mi": "4Mi", "cpu": "1", "memory": "64Mi"}), 2},
		{"pods-per-node", []*corev1.Node{node(testbed.Amounts{"pods": "3"})}, asks(nil), 3},
		{"no-requests", []*corev1.Node{node(testbed.Amounts{"cpu": "1", "memory": "1Mi", "pods": "4"})}, asks(nil), 4},
		{"host-port", []*corev1.Node{node(nil), node(nil)}, func(pod *corev1.Pod) {
			asks(nil)(pod)
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
		}, 2},
		{"node-selector", []*corev1.Node{
			oneCPU(testbed.Labelled("disk", "ssd")), oneCPU(testbed.Labelled("disk", "hdd")), oneCPU()},
			func(pod *corev1.Pod) {
				asks(testbed.Amounts{"cpu": "1"})(pod)
				testbed.Selecting("disk", "ssd")(pod)
			}, 1},
		{"affinity-in", []*corev1.Node{
			oneCPU(testbed.Labelled("zone", "a")), oneCPU(testbed.Labelled("zone", "b")), oneCPU(testbed.Labelled("zone", "c"))},
			requires(term(where("zone", corev1.NodeSelectorOpIn, "a", "b"))), 2},
		{"affinity-not-in", []*corev1.Node{oneCPU(testbed.Labelled("zone", "a")), oneCPU(), oneCPU(testbed.Labelled("zone", "c"))},
			requires(term(where("zone", corev1.NodeSelectorOpNotIn, "a"))), 2},
		{"affinity-exists", []*corev1.Node{oneCPU(testbed.Labelled("zone", "")), oneCPU(), oneCPU()},
			requires(term(where("zone", corev1.NodeSelectorOpExists))), 1},
		{"affinity-does-not-exist", []*corev1.Node{oneCPU(testbed.Labelled("zone", "a")), oneCPU(), oneCPU()},
			requires(term(where("zone", corev1.NodeSelectorOpDoesNotExist))), 2},
		{"affinity-greater", []*corev1.Node{
			oneCPU(testbed.Labelled("gen", "7")), oneCPU(testbed.Labelled("gen", "10")), oneCPU(testbed.Labelled("gen", "x"))},
			requires(term(where("gen", corev1.NodeSelectorOpGt, "8"))), 1},
		{"affinity-terms-are-alternatives", []*corev1.Node{
			oneCPU(testbed.Labelled("zone", "a")), oneCPU(testbed.Labelled("gen", "10")), oneCPU()},
			requires(term(where("zone", corev1.NodeSelectorOpIn, "a")), term(where("gen", corev1.NodeSelectorOpExists))), 2},
		{"taint", []*corev1.Node{oneCPU(tainted("dedicated", "x", corev1.TaintEffectNoSchedule)), oneCPU()},
			asks(testbed.Amounts{"cpu": "1"}), 1},
		{"taint-no-execute", []*corev1.Node{oneCPU(tainted("dedicated", "x", corev1.TaintEffectNoExecute)), oneCPU()},
			asks(testbed.Amounts{"cpu": "1"}), 1},
		{"taint-preference", []*corev1.Node{oneCPU(tainted("dedicated", "x", corev1.TaintEffectPreferNoSchedule)), oneCPU()},
			asks(testbed.Amounts{"cpu": "1"}), 2},
		{"toleration-equal", []*corev1.Node{
			oneCPU(tainted("dedicated", "x", corev1.TaintEffectNoSchedule)),
			oneCPU(tainted("dedicated", "y", corev1.TaintEffectNoSchedule))},
			tolerates(corev1.Toleration{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}), 1},
		{"toleration-exists", []*corev1.Node{
			oneCPU(tainted("dedicated", "x", corev1.TaintEffectNoSchedule)),
			oneCPU(tainted("dedicated", "y", corev1.TaintEffectNoExecute)),
			oneCPU(tainted("other", "y", corev1.TaintEffectNoSchedule))},
			tolerates(corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists}), 2},
		{"unschedulable", []*corev1.Node{oneCPU(cordoned), oneCPU()}, asks(testbed.Amounts{"cpu": "1"}), 1},
		{"unschedulable-tolerated", []*corev1.Node{oneCPU(cordoned), oneCPU()},
			tolerates(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}), 2},
	}
	if version != testbed.Earlier { // alpha and off in this version
		cases = append(cases, fit{"pod-level-resources", []*corev1.Node{node(testbed.Amounts{"cpu": "6"})},
			func(pod *corev1.Pod) {
				asks(testbed.Amounts{"cpu": "1"})(pod)
				resources := asking(testbed.Amounts{"cpu": "3"})
				pod.Spec.Resources = &resources
			}, 2})
	}
	return cases
}

// copyInto names the nodes of a case for one of its pools.
func (f fit) copyInto(name string) []*corev1.Node {
	var nodes []*corev1.Node
	for i, node := range f.nodes {
		node = node.DeepCopy()
		node.Name = fmt.Sprintf("%s-%d", name, i)
		node.Labels[corev1.LabelHostname] = node.Name
		node.Labels[pool] = name
		nodes = append(nodes, node)
	}
	return nodes
}

// C10: muster counts as the scheduler does. Every case has three equal pools of nodes. In the
// first, a scheduler without muster places single pods, which shows how many fit. In the second,
// muster gets a gang of the same size, and in the third a gang with one more member.
func TestC10_RequestsCountAsInTheScheduler(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version,
			Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
		m := c.StartMuster(t, testbed.MusterOptions{})
		c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
		c.StartScheduler(t, testbed.SchedulerOptions{Profiles: []string{"stock"}, Log: "stock-kube-scheduler"})
		c.Add(t, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "sandboxed",
			"metadata": map[string]any{"name": runtimeClass},
			"overhead": map[string]any{"podFixed": map[string]any{"cpu": "1"}},
		}})
		cases := fits(version)
		room := 0
		for _, each := range cases {
			each.setUp(t, c)
			room += each.n
		}
		for _, each := range cases {
			each.check(t, c)
		}
		// Check once for all cases that the gangs with one member too many do not start, and that
		// the scheduler itself places no more pods than the cases say.
		labelled := func(kind string) testbed.Which {
			return func(p *testbed.PodRecord) bool { return p.Latest.Labels[pool] == kind }
		}
		c.Recorder.NoneBound(t, labelled("over"))
		c.Recorder.NoMoreBound(t, labelled("stock"), room)
	})
}

func (f fit) setUp(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	c.Namespace(t, f.name)
	for _, kind := range []string{"stock", "exact", "over"} {
		c.AddNodes(t, f.copyInto(f.name+"-"+kind)...)
	}
	in := func(kind string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			f.pod(pod)
			testbed.Selecting(pool, f.name+"-"+kind)(pod)
			metav1.SetMetaDataLabel(&pod.ObjectMeta, pool, kind)
		}
	}
	for i := range f.n + 1 {
		c.AddPods(t, testbed.Pod(f.name, fmt.Sprintf("stock-%d", i), nil, testbed.WithScheduler("stock"), in("stock")))
	}
	for kind, members := range map[string]int{"exact": f.n, "over": f.n + 1} {
		c.Add(t, testbed.Sigs.PodGroup(f.name, kind, members, nil))
		c.AddPods(t, testbed.Members(testbed.Sigs, f.name, kind, members, nil, in(kind))...)
	}
}

func (f fit) check(t *testing.T, c *testbed.Cluster) {
	t.Run(f.name, func(t *testing.T) {
		stock := func(p *testbed.PodRecord) bool {
			return p.Namespace == f.name && p.Latest.Spec.SchedulerName == "stock"
		}
		c.Recorder.WaitBound(t, stock, f.n, 30*time.Second)
		gang := testbed.InGang(testbed.Sigs, f.name, "exact")
		c.Recorder.WaitBound(t, gang, f.n, 30*time.Second)
		c.Recorder.Together(t, gang)
		c.Recorder.WaitExist(t, testbed.InGang(testbed.Sigs, f.name, "over"), f.n+1, 30*time.Second)
	})
}
