package testbed

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// patch is a JSON merge patch.
func patch(t TB, fields map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text
}

// Cordon makes a node unschedulable, or schedulable again.
func (c *Cluster) Cordon(t TB, name string, cordoned bool) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	body := patch(t, map[string]any{"spec": map[string]any{"unschedulable": cordoned}})
	if _, err := c.Kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatalf("%v", err)
	}
}

// SetAllocatable changes the amount of a resource that a node offers.
func (c *Cluster) SetAllocatable(t TB, name string, resource corev1.ResourceName, amount int) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	amounts := map[string]any{string(resource): fmt.Sprint(amount)}
	body := patch(t, map[string]any{"status": map[string]any{"allocatable": amounts, "capacity": amounts}})
	_, err := c.Kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// DeleteNode deletes a node. Its pods stay, as they do until a controller deletes them.
func (c *Cluster) DeleteNode(t TB, name string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	if err := c.Kube.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("%v", err)
	}
}

// EditPodGroup merges fields into a PodGroup's spec. It tells the recorder about a new minimum.
func (c *Cluster) EditPodGroup(t TB, d Dialect, namespace, name string, spec map[string]any) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	group, err := c.Dynamic.Resource(d.resource()).Namespace(namespace).Patch(ctx, name,
		types.MergePatchType, patch(t, map[string]any{"spec": spec}), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.expect(group.GroupVersionKind().GroupKind(), namespace, group)
}

// DeletePodGroup deletes a PodGroup. Its pods stay.
func (c *Cluster) DeletePodGroup(t TB, d Dialect, namespace, name string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	err := c.Dynamic.Resource(d.resource()).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Bind binds a pod; with dryRun it only checks whether the API server would bind it.
func (c *Cluster) Bind(namespace, pod, node string, dryRun bool) error {
	ctx, cancel := soon()
	defer cancel()
	options := metav1.CreateOptions{}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return c.Kube.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, options)
}

// SetPodPhase writes a pod's phase, as a kubelet does.
func (c *Cluster) SetPodPhase(t TB, namespace, name string, phase corev1.PodPhase) {
	t.Helper()
	c.PatchPod(t, namespace, name, map[string]any{"status": map[string]any{"phase": phase}}, "status")
}

// LabelPod sets a label of a pod.
func (c *Cluster) LabelPod(t TB, namespace, name, label, value string) {
	t.Helper()
	c.PatchPod(t, namespace, name, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{label: value}}})
}

// PatchPod merges fields into a pod, or into a subresource of it.
func (c *Cluster) PatchPod(t TB, namespace, name string, fields map[string]any, subresources ...string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	_, err := c.Kube.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch(t, fields),
		metav1.PatchOptions{}, subresources...)
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// FailPod makes a pod Failed, as a kubelet does when a container crashes.
func (c *Cluster) FailPod(t TB, namespace, name string) {
	t.Helper()
	c.SetPodPhase(t, namespace, name, corev1.PodFailed)
}

// DeletePodGroups deletes all PodGroups of a namespace.
func (c *Cluster) DeletePodGroups(t TB, d Dialect, namespace string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	err := c.Dynamic.Resource(d.resource()).Namespace(namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// AnnotatePodGroup sets an annotation of a PodGroup; nil removes it.
func (c *Cluster) AnnotatePodGroup(t TB, d Dialect, namespace, name, key string, value any) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	body := patch(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	_, err := c.Dynamic.Resource(d.resource()).Namespace(namespace).Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// ResourceOf parses the full name of a resource in kubectl's form: "rayclusters.v1.ray.io".
func ResourceOf(t TB, name string) schema.GroupVersionResource {
	t.Helper()
	resource, _ := schema.ParseResourceArg(name)
	if resource == nil {
		t.Fatalf("%s is not RESOURCE.VERSION.GROUP", name)
	}
	return *resource
}

// Patch changes any object by a JSON patch. The name of the resource is complete:
// "rayclusters.v1.ray.io".
func (c *Cluster) Patch(t TB, resource, namespace, name, jsonPatch string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	_, err := c.Dynamic.Resource(ResourceOf(t, resource)).Namespace(namespace).Patch(ctx, name,
		types.JSONPatchType, []byte(jsonPatch), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Delete deletes any object. The garbage collector deletes what it owns in the background.
func (c *Cluster) Delete(t TB, resource, namespace, name string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	policy := metav1.DeletePropagationBackground
	err := c.Dynamic.Resource(ResourceOf(t, resource)).Namespace(namespace).Delete(ctx, name,
		metav1.DeleteOptions{PropagationPolicy: &policy})
	if err != nil {
		t.Fatalf("%v", err)
	}
}
