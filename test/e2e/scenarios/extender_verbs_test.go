package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// askBind calls bind as any client of the port could, and returns the error in the answer.
func askBind(t *testing.T, m *testbed.Muster, pod *corev1.Pod, node string) string {
	t.Helper()
	question, err := json.Marshal(map[string]any{
		"PodName": pod.Name, "PodNamespace": pod.Namespace, "PodUID": pod.UID, "Node": node})
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: 30 * time.Second}
	reply, err := client.Post("http://"+m.Verbs+"/scheduler/bind", "application/json", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var answer struct{ Error string }
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("bind: %d %v", reply.StatusCode, err)
	}
	return answer.Error
}

// A client of the verbs' port cannot bind what kube-scheduler would not bind: a pod without a
// filter call, a pod to a node that filter did not return or that the pod does not tolerate, or a
// pod of another scheduler. After that, kube-scheduler binds the pod itself.
func TestT13_OnlyPodsThatPassedFilterAreBound(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{Config: map[string]any{"schedulerNames": []string{"default-scheduler"}}})
	c.Namespace(t, "ml")
	c.AddNodes(t,
		testbed.Node("a", testbed.GPUs(4)),
		testbed.Node("b", testbed.GPUs(4)),
		testbed.Node("tainted", testbed.GPUs(4), func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "example.com/broken", Effect: corev1.TaintEffectNoSchedule}}
		}))
	c.AddPods(t, testbed.Pod("ml", "p", testbed.GPUs(1)),
		testbed.Pod("ml", "theirs", testbed.GPUs(1), testbed.WithScheduler("another")))
	pod := c.Recorder.WaitExist(t, testbed.Named("ml", "p"), 1, 10*time.Second)[0].Latest
	theirs := c.Recorder.WaitExist(t, testbed.Named("ml", "theirs"), 1, 10*time.Second)[0].Latest
	refused := func(pod *corev1.Pod, node, words string) {
		t.Helper()
		testbed.Within(t, 10*time.Second, fmt.Sprintf("%s is not bound to %s", pod.Name, node), func() error {
			if says := askBind(t, m, pod, node); !strings.Contains(says, words) {
				return fmt.Errorf("bind answers %q, want %q", says, words)
			}
			return nil
		})
	}
	refused(pod, "a", "filter did not return node a for pod ml/p recently")
	askFilter(t, m, pod, "a")
	refused(pod, "b", "filter did not return node b for pod ml/p recently")
	askFilter(t, m, pod, "a", "tainted")
	refused(pod, "tainted", "node tainted does not suit pod ml/p: untolerated taint (TaintToleration")
	askFilter(t, m, theirs, "a")
	refused(theirs, "a", "spec.schedulerName another")
	c.Recorder.NoneBound(t, testbed.InNamespace("ml"))
	metrics := m.Metrics(t)
	for _, why := range []string{"not-passed", "node-rule"} {
		if metrics.Sum("muster_binds_turned_away_total", `why="`+why+`"`) == 0 {
			t.Errorf("no metric counts the refused bind calls: %s", why)
		}
	}
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Recorder.WaitBound(t, testbed.Named("ml", "p"), 1, 20*time.Second)
	if on := c.Recorder.Pods(testbed.Named("ml", "p"))[0].Node; on == "tainted" {
		t.Errorf("kube-scheduler bound it to %s", on)
	}
}
