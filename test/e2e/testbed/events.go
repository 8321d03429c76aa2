package testbed

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Events are all events about an object.
func (c *Cluster) Events(t TB, kind, namespace, name string) []corev1.Event {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	list, err := c.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fmt.Sprintf("involvedObject.kind=%s,involvedObject.name=%s", kind, name),
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return list.Items
}

// WaitEvent waits for an event about an object with this reason ("": any) and a message that
// contains the text.
func (c *Cluster) WaitEvent(t TB, kind, namespace, name, reason, text string) corev1.Event {
	t.Helper()
	var found corev1.Event
	eventually(t, fmt.Sprintf("an event %s of %s %s/%s with %q", reason, kind, namespace, name, text), func() error {
		var seen []string
		for _, event := range c.Events(t, kind, namespace, name) {
			if (reason == "" || event.Reason == reason) && strings.Contains(event.Message, text) {
				found = event
				return nil
			}
			seen = append(seen, event.Reason+": "+event.Message)
		}
		return fmt.Errorf("the events are %q", seen)
	})
	return found
}

// WaitCondition waits until a PodGroup has a condition of this type, status and reason ("": any)
// with a message that contains the text.
func (c *Cluster) WaitCondition(t TB, d Dialect, namespace, name string, want metav1.Condition) {
	t.Helper()
	eventually(t, fmt.Sprintf("PodGroup %s/%s has condition %s=%s %s %q", namespace, name,
		want.Type, want.Status, want.Reason, want.Message), func() error {
		return hasCondition(c.PodGroup(t, d, namespace, name), want)
	})
}

func hasCondition(object *unstructured.Unstructured, want metav1.Condition) error {
	status, _ := object.Object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		text := func(key string) string { s, _ := condition[key].(string); return s }
		if text("type") == want.Type && text("status") == string(want.Status) &&
			(want.Reason == "" || text("reason") == want.Reason) &&
			strings.Contains(text("message"), want.Message) {
			return nil
		}
	}
	return fmt.Errorf("its status is %v", status)
}
