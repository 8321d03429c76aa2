package testbed

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// WaitEvent waits for an event about an object with the given reason ("" is any)
// whose message contains the text.
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
		return fmt.Errorf("there are %q", seen)
	})
	return found
}

// WaitCondition waits until a group has a condition of that type, status and
// reason ("" is any) whose message contains the text.
func (c *Cluster) WaitCondition(t TB, d Dialect, namespace, name string, want metav1.Condition) {
	t.Helper()
	eventually(t, fmt.Sprintf("PodGroup %s/%s has condition %s=%s %s %q", namespace, name,
		want.Type, want.Status, want.Reason, want.Message), func() error {
		group := c.PodGroup(t, d, namespace, name)
		status, _ := group.Object["status"].(map[string]any)
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
	})
}
