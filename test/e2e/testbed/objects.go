package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// GPU is the extended resource in all examples.
const GPU corev1.ResourceName = "nvidia.com/gpu"

// Amounts is a short form of a ResourceList: Amounts{"cpu": "4", "nvidia.com/gpu": "1"}.
type Amounts map[corev1.ResourceName]string

// List converts the amounts to the API's type.
func (a Amounts) List() corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, amount := range a {
		list[name] = resource.MustParse(amount)
	}
	return list
}

// GPUs is an amount of GPUs only.
func GPUs(n int) Amounts { return Amounts{GPU: fmt.Sprint(n)} }

// Node builds a Ready node. Resources that are not given are ample.
func Node(name string, amounts Amounts, changes ...func(*corev1.Node)) *corev1.Node {
	all := Amounts{"cpu": "64", "memory": "512Gi", "pods": "110", "ephemeral-storage": "1Ti"}
	maps.Copy(all, amounts)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    all.List(),
			Allocatable: all.List(),
			Phase:       corev1.NodeRunning,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}
	if _, gpus := amounts[GPU]; gpus {
		node.Labels["nvidia.com/gpu.present"] = "true"
	}
	for _, change := range changes {
		change(node)
	}
	return node
}

// Pod builds a pod with one container that requests the amounts.
func Pod(namespace, name string, amounts Amounts, changes ...func(*corev1.Pod)) *corev1.Pod {
	list := amounts.List()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			// Deleted pods disappear at once, because no kubelet has to stop them.
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/work:1",
				Resources: corev1.ResourceRequirements{Requests: list},
			}},
		},
	}
	// Extended resources are only valid with limits.
	limits := corev1.ResourceList{}
	for name, amount := range list {
		if strings.Contains(string(name), "/") {
			limits[name] = amount
		}
	}
	pod.Spec.Containers[0].Resources.Limits = limits
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// Members builds n equal pods of a PodGroup, named NAME-0 and so on.
func Members(d Dialect, namespace, group string, n int, amounts Amounts, changes ...func(*corev1.Pod)) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range n {
		changesOfAll := append([]func(*corev1.Pod){d.Join(group), WithScheduler(d.Scheduler)}, changes...)
		pods = append(pods, Pod(namespace, fmt.Sprintf("%s-%d", group, i), amounts, changesOfAll...))
	}
	return pods
}

// WithScheduler sets the name of the scheduler.
func WithScheduler(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.SchedulerName = name }
}

// Annotated gives a pod an annotation.
func Annotated(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value) }
}

// Gate is muster's own scheduling gate.
const Gate = "muster.dev/plan"

// Gated gives a pod scheduling gates.
func Gated(names ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for _, name := range names {
			pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
		}
	}
}

// RunningFor makes a pod succeed this long after it started.
func RunningFor(d time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, RunFor, d.String()) }
}

// OnNode assigns a pod directly, without a scheduler.
func OnNode(node string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = node }
}

// Selecting adds a node selector.
func Selecting(label, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[label] = value
	}
}

// Labelled sets a label of a node.
func Labelled(label, value string) func(*corev1.Node) {
	return func(node *corev1.Node) { node.Labels[label] = value }
}

// Namespace creates a namespace.
func (c *Cluster) Namespace(t TB, name string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	_, err := c.Kube.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// inParallel calls f for every item, several at a time, and returns all errors.
func inParallel[T any](items []T, f func(T) error) error {
	const writers = 16
	var wait sync.WaitGroup
	failures := make([]error, len(items))
	tickets := make(chan struct{}, writers)
	for i, item := range items {
		tickets <- struct{}{}
		wait.Go(func() {
			failures[i] = f(item)
			<-tickets
		})
	}
	wait.Wait()
	return errors.Join(failures...)
}

// AddNodes creates nodes.
func (c *Cluster) AddNodes(t TB, nodes ...*corev1.Node) {
	t.Helper()
	err := inParallel(nodes, func(node *corev1.Node) error {
		ctx, cancel := soon()
		defer cancel()
		_, err := c.Kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// AddPods creates pods in parallel, so the order is not defined.
func (c *Cluster) AddPods(t TB, pods ...*corev1.Pod) {
	t.Helper()
	if err := inParallel(pods, c.addPod); err != nil {
		t.Fatalf("%v", err)
	}
}

// AddPodsInOrder creates pods one after the other.
func (c *Cluster) AddPodsInOrder(t TB, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		if err := c.addPod(pod); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func (c *Cluster) addPod(pod *corev1.Pod) error {
	ctx, cancel := soon()
	defer cancel()
	_, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// DeletePods deletes pods at once.
func (c *Cluster) DeletePods(t TB, namespace string, names ...string) {
	t.Helper()
	err := inParallel(names, func(name string) error {
		ctx, cancel := soon()
		defer cancel()
		return c.Kube.CoreV1().Pods(namespace).Delete(ctx, name, *metav1.NewDeleteOptions(0))
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// clusterScoped are the kinds without a namespace that the tests use.
var clusterScoped = []string{
	"Namespace", "Node", "ClusterRole", "ClusterRoleBinding",
	"CustomResourceDefinition", "MutatingWebhookConfiguration", "PersistentVolume", "PriorityClass",
	"Queue", "RuntimeClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"ValidatingWebhookConfiguration",
}

// Add creates an object of any kind and returns it as the API server has it. It tells the recorder
// about the minimum of a PodGroup. From then on, the recorder checks that the gang is never
// partial.
func (c *Cluster) Add(t TB, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	added, err := c.add(object)
	if err != nil {
		t.Fatalf("create %s %s/%s: %v", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	if object.GetKind() == "PriorityClass" {
		c.waitAdmitted(t, object.GetName())
	}
	return added
}

// waitAdmitted waits until pods may use the PriorityClass. The API server's admission learns of a new
// one from a watch, so it refuses such pods for a moment.
func (c *Cluster) waitAdmitted(t TB, class string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "admitted-"},
		Spec:       corev1.PodSpec{PriorityClassName: class, Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
	eventually(t, "the API server admits pods with PriorityClass "+class, func() error {
		ctx, cancel := soon()
		defer cancel()
		_, err := c.Kube.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// TryAdd is Add for an object that the API server may refuse.
func (c *Cluster) TryAdd(object *unstructured.Unstructured) error {
	_, err := c.add(object)
	return err
}

func (c *Cluster) add(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	// Discovery of the resource for a kind takes a second in a new cluster. The regular plural is
	// right for all kinds used here.
	gvk := object.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	client := c.Dynamic.Resource(resource)
	ctx, cancel := soon()
	defer cancel()
	if slices.Contains(clusterScoped, gvk.Kind) {
		return client.Create(ctx, object, metav1.CreateOptions{})
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	c.expect(gvk.GroupKind(), namespace, object)
	return client.Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
}

// AddPodGroups creates n PodGroups named g0, g1 and so on, several at a time.
func (c *Cluster) AddPodGroups(t TB, d Dialect, namespace string, n, minMember int) {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	client := c.Dynamic.Resource(d.resource()).Namespace(namespace)
	err := inParallel(names, func(name string) error {
		ctx, cancel := soon()
		defer cancel()
		if c.Recorder != nil {
			c.Recorder.Expect(d.Key(namespace, name), minMember)
		}
		_, err := client.Create(ctx, d.PodGroup(namespace, name, minMember, nil), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func (c *Cluster) expect(kind schema.GroupKind, namespace string, object *unstructured.Unstructured) {
	if kind.Kind != "PodGroup" || c.Recorder == nil {
		return
	}
	needed, found, _ := unstructured.NestedInt64(object.Object, "spec", "minMember")
	if found {
		c.Recorder.Expect(kind.Group+"/"+namespace+"/"+object.GetName(), int(needed))
	}
}

// Apply creates all objects in a YAML text.
func (c *Cluster) Apply(t TB, text []byte) {
	t.Helper()
	for _, object := range Objects(t, text) {
		c.Add(t, object)
	}
}

// ApplyFile creates all objects in a YAML file.
func (c *Cluster) ApplyFile(t TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.Apply(t, text)
}

// Objects parses the objects in a YAML text.
func Objects(t TB, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue // only a comment
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw.Raw); err != nil {
			t.Fatalf("%v", err)
		}
		objects = append(objects, object)
	}
}
