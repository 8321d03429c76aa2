package testbed

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// QueueAPI is an API whose objects are queues.
type QueueAPI struct {
	Group, Version, Kind, Plural string
}

// The queue APIs that muster reads.
var (
	KAIQueues         = QueueAPI{"scheduling.run.ai", "v2", "Queue", "queues"}
	VolcanoQueues     = QueueAPI{"scheduling.volcano.sh", "v1beta1", "Queue", "queues"}
	ElasticQuotas     = QueueAPI{"scheduling.x-k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas"}
	KoordinatorQuotas = QueueAPI{"scheduling.sigs.k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas"}
)

func (q QueueAPI) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: q.Group, Version: q.Version, Resource: q.Plural}
}

// Named builds a queue. Its name is NAME, or NAMESPACE/NAME for a kind in namespaces.
func (q QueueAPI) Named(name string, spec map[string]any) *unstructured.Unstructured {
	namespace, name := splitName(name)
	queue := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": q.Group + "/" + q.Version, "kind": q.Kind, "spec": spec,
	}}
	queue.SetName(name)
	queue.SetNamespace(namespace)
	return queue
}

func splitName(full string) (namespace, name string) {
	if namespace, name, found := strings.Cut(full, "/"); found {
		return namespace, name
	}
	return "", full
}

func (c *Cluster) queues(q QueueAPI, full string) (client dynamic.ResourceInterface, name string) {
	namespace, name := splitName(full)
	if namespace == "" {
		return c.Dynamic.Resource(q.resource()), name
	}
	return c.Dynamic.Resource(q.resource()).Namespace(namespace), name
}

// Queue reads a queue as the API server has it.
func (c *Cluster) Queue(t TB, q QueueAPI, full string) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	client, name := c.queues(q, full)
	queue, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return queue
}

// EditQueue merges fields into a queue, or into a subresource of it.
func (c *Cluster) EditQueue(t TB, q QueueAPI, full string, fields map[string]any, subresources ...string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	client, name := c.queues(q, full)
	_, err := client.Patch(ctx, name, types.MergePatchType, patch(t, fields), metav1.PatchOptions{}, subresources...)
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// DeleteQueue deletes a queue. Its PodGroups and pods stay.
func (c *Cluster) DeleteQueue(t TB, q QueueAPI, full string) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	client, name := c.queues(q, full)
	if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("%v", err)
	}
}

// WaitQueueStatus waits until the status of a queue has these fields, and perhaps others. It must
// not have fields whose value is nil.
func (c *Cluster) WaitQueueStatus(t TB, q QueueAPI, full string, want map[string]any) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s has the status %v", q.Kind, full, want), func() error {
		status := c.Queue(t, q, full).Object["status"]
		if !covers(status, want) {
			return fmt.Errorf("its status is %v", status)
		}
		return nil
	})
}

// covers says whether an object has all fields of another one, with the same values, and none of those that are nil.
func covers(object, fields any) bool {
	want, isMap := fields.(map[string]any)
	if !isMap {
		return reflect.DeepEqual(object, fields)
	}
	have, _ := object.(map[string]any)
	for key, value := range want {
		if found, there := have[key]; there != (value != nil) || !covers(found, value) {
			return false
		}
	}
	return true
}

// WaitQueueCondition waits until a queue has a condition, see WaitCondition.
func (c *Cluster) WaitQueueCondition(t TB, q QueueAPI, full string, want metav1.Condition) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s has condition %s=%s %s %q", q.Kind, full, want.Type, want.Status,
		want.Reason, want.Message), func() error {
		return hasCondition(c.Queue(t, q, full), want)
	})
}
