package scenarios

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// crossing delays the scheduler's calls for two members until they cross. The bind call of the
// first member waits until the other member is at `stage` of its own cycle, and that call waits
// until the other member is bound, which only the lane can do.
type crossing struct {
	*testbed.Cluster
	stage string
	met   chan struct{} // closed when the other member is at that stage

	mu    sync.Mutex
	first string
}

func (x *crossing) isFirst(call testbed.VerbCall) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.first == "" {
		x.first = call.Pod
	}
	return call.Pod == x.first
}

func (x *crossing) pass(ctx context.Context, call testbed.VerbCall) {
	first := x.isFirst(call)
	switch {
	case first && call.Verb == "bind":
		select {
		case <-x.met:
		case <-ctx.Done():
		}
	case !first && call.Verb == x.stage:
		close(x.met) // a second close would mean a second cycle: the test panics
		x.waitBound(ctx, call.Pod)
	}
}

func (x *crossing) waitBound(ctx context.Context, key string) {
	ns, name, _ := strings.Cut(key, "/")
	for ctx.Err() == nil {
		if pod, err := x.Kube.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{}); err == nil && pod.Spec.NodeName != "" {
			time.Sleep(2 * time.Second) // so that the scheduler has seen it, too
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// P03: the lane binds a member while kube-scheduler is working on it. The member is not lost, and
// kube-scheduler does not remember it as assumed.
func TestP03_BoundByTheLaneDuringItsOwnCycle(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version, Dialects: []testbed.Dialect{testbed.Sigs}})
		m := c.StartMuster(t, testbed.MusterOptions{Express: true})
		proxy := testbed.StartVerbProxy(t, m)
		c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
		c.Namespace(t, "ml")
		c.AddNodes(t, testbed.Node("a", testbed.GPUs(1)), testbed.Node("b", testbed.GPUs(1)))
		for _, stage := range []string{"filter", "bind"} {
			x := &crossing{Cluster: c, stage: stage, met: make(chan struct{})}
			proxy.Set(x.pass)
			x.cross(t, m, proxy)
			proxy.Set(nil)
		}
		// A pod that the scheduler still assumed on a node would keep the next pods off the node.
		c.Add(t, testbed.Sigs.PodGroup("ml", "next", 2, nil))
		c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "next", 2, testbed.GPUs(1))...)
		c.Recorder.WaitBound(t, testbed.InGang(testbed.Sigs, "ml", "next"), 2, 20*time.Second)
		c.DeletePods(t, "ml", "next-0", "next-1")
		m.WaitNoLeaks(t)
	})
}

func (x *crossing) cross(t *testing.T, m *testbed.Muster, proxy *testbed.VerbProxy) {
	t.Helper()
	before := m.Metrics(t).Sum("muster_express_bindings_total")
	names := []string{x.stage + "-0", x.stage + "-1"}
	x.Add(t, testbed.Sigs.PodGroup("ml", x.stage, 2, nil))
	m.WaitState(t, "ml", x.stage, "Assembling") // otherwise a member gets the reason that its PodGroup does not exist
	x.AddPods(t, testbed.Members(testbed.Sigs, "ml", x.stage, 2, testbed.GPUs(1))...)
	x.Recorder.WaitBound(t, testbed.InGang(testbed.Sigs, "ml", x.stage), 2, 20*time.Second)
	if n := m.Metrics(t).Sum("muster_express_bindings_total") - before; n != 1 {
		t.Errorf("%s: the lane bound %v members, want 1", x.stage, n)
	}
	testbed.Within(t, 10*time.Second, "the call that was kept back is answered", func() error {
		for _, call := range proxy.Calls(x.stage) {
			if call.Pod != x.first && strings.HasPrefix(call.Pod, "ml/"+x.stage) {
				return nil
			}
		}
		return fmt.Errorf("the pod is not bound")
	})
	time.Sleep(time.Second) // time for its events and for another try
	for _, name := range names {
		x.wellPlaced(t, name)
	}
	x.DeletePods(t, "ml", names...)
}

// wellPlaced checks that nothing about the pod looks as if it waited for a node. One exception: if
// the scheduler found out in the middle of its cycle, it writes one error. The kubelet's first
// status removes it (it sets PodScheduled; KWOK does not).
func (x *crossing) wellPlaced(t *testing.T, name string) {
	t.Helper()
	found := x.stage == "filter" && "ml/"+name != x.first
	pod, err := x.Kube.CoreV1().Pods("ml").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue && !(found && c.Reason == "SchedulerError") {
			t.Errorf("%s is bound, but its condition is %s %s %s", name, c.Status, c.Reason, c.Message)
		}
	}
	failed := 0
	for _, e := range x.Events(t, "Pod", "ml", name) {
		if e.Reason == "FailedScheduling" {
			failed++
			if !found || !strings.Contains(e.Message, "is in the cache, so can't be assumed") {
				t.Errorf("%s: %s: %s", name, e.Reason, e.Message)
			}
		}
	}
	if failed > 1 {
		t.Errorf("%s: the scheduler has failed %d times", name, failed)
	}
}
