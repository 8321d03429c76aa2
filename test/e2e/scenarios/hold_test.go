package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// lateScheduler is the name of a scheduler that does not run until a test starts a second
// kube-scheduler. Its pods keep a gang below its quorum for as long as the test wants.
const lateScheduler = "late-scheduler"

// startLateScheduler starts the scheduler for these pods.
func startLateScheduler(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	c.StartScheduler(t, testbed.SchedulerOptions{
		Muster: m, Profiles: []string{lateScheduler}, Log: "late-kube-scheduler"})
}

// C03: muster never holds a bind call until the scheduler gives up.
func TestC03_HoldsEndBeforeTheSchedulerGivesUp(t *testing.T) {
	beside(t)
	const hold = 4 * time.Second
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{Config: map[string]any{"holdSeconds": int(hold.Seconds())}})
	proxy := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 8, nil))
	members := testbed.Members(testbed.Sigs, "ml", "ddp", 8, testbed.GPUs(1))
	members[7].Spec.SchedulerName = lateScheduler
	c.AddPods(t, members...)

	// Two rounds of holds pass, and the plan stays.
	m.WaitState(t, "ml", "ddp", "Planned")
	var answered []testbed.VerbCall
	testbed.Within(t, time.Minute, "held calls are answered twice", func() error {
		if gang := m.Gang(t, "ml", "ddp"); gang.State != "Planned" && gang.Members == 8 {
			t.Fatalf("the gang lost its plan: %+v", gang)
		}
		if answered = proxy.Calls("bind"); len(answered) < 14 {
			return fmt.Errorf("%d bind calls have been answered", len(answered))
		}
		return nil
	})
	for _, call := range answered {
		held := call.End.Sub(call.Begin)
		if !strings.Contains(call.Error, "gang ml/ddp") {
			t.Errorf("the answer for %s is %q, which names no gang", call.Pod, call.Error)
		}
		testbed.Figure(t, held <= hold+time.Second, "%s was held %v, configured are %v", call.Pod, held, hold)
		if held >= testbed.ExtenderTimeout {
			t.Errorf("%s was held %v, longer than the scheduler waits", call.Pod, held)
		}
	}
	c.WaitEvent(t, "Pod", "ml", "ddp-0", "FailedScheduling", "gang ml/ddp")
	if pods := c.Recorder.Pods(gang); boundOf(pods) > 0 {
		t.Errorf("%d members are bound before the gang is complete", boundOf(pods))
	}

	startLateScheduler(t, c, m)
	c.Recorder.WaitBound(t, gang, 8, 40*time.Second)
	c.Recorder.Together(t, gang)
}

func boundOf(pods []testbed.PodRecord) int {
	n := 0
	for _, pod := range pods {
		if !pod.Bound.IsZero() {
			n++
		}
	}
	return n
}

// A thousand held calls are a thousand connections without a thread each. All other calls get their
// answers as usual.
func TestC03_ThousandHeldBinds(t *testing.T) {
	members := 1001
	if testbed.Small(t, "large") {
		members = 201
		beside(t)
	} else {
		alone(t)
	}
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "big")
	var nodes []*corev1.Node
	for i := range members {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("n%04d", i), testbed.GPUs(1)))
	}
	c.AddNodes(t, nodes...)
	gang := testbed.InGang(testbed.Sigs, "big", "huge")
	c.Add(t, testbed.Sigs.PodGroup("big", "huge", members, nil))
	pods := testbed.Members(testbed.Sigs, "big", "huge", members, testbed.GPUs(1))
	pods[members-1].Spec.SchedulerName = lateScheduler
	c.AddPods(t, pods...)

	testbed.Within(t, time.Minute, "all binds but one are held", func() error {
		if held := m.Metrics(t).Sum("muster_held_binds"); held < float64(members-1) {
			return fmt.Errorf("%v are held", held)
		}
		return nil
	})
	ordinary := testbed.Pod("big", "ordinary", testbed.Amounts{"cpu": "1"})
	ordinary.UID = "a-pod-that-was-never-created"
	took := askFilter(t, m, ordinary, nodes[0].Name)
	testbed.Figure(t, took <= time.Second, "with %d binds held, filter answered in %v", members-1, took)
	begin := time.Now()
	c.AddPods(t, testbed.Pod("big", "passer-by", testbed.Amounts{"cpu": "1"}))
	c.Recorder.WaitBound(t, testbed.Named("big", "passer-by"), 1, 10*time.Second)
	t.Logf("an ordinary pod was bound after %v", time.Since(begin))
	if n := boundOf(c.Recorder.Pods(gang)); n > 0 {
		t.Errorf("%d members are bound before the gang is complete", n)
	}

	startLateScheduler(t, c, m)
	c.Recorder.WaitBound(t, gang, members, 90*time.Second)
	t.Logf("%d members were bound within %v", members, c.Recorder.Together(t, gang))
}

// askFilter calls filter as the scheduler would, and returns how long the answer took. The content
// of the answer does not matter.
func askFilter(t *testing.T, m *testbed.Muster, pod *corev1.Pod, nodes ...string) time.Duration {
	t.Helper()
	question, err := json.Marshal(map[string]any{"Pod": pod, "Nodes": nil, "NodeNames": nodes})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	client := http.Client{Timeout: 20 * time.Second}
	reply, err := client.Post("http://"+m.Verbs+"/scheduler/filter", "application/json", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	answer, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("filter: %d %v %s", reply.StatusCode, err, answer)
	}
	return time.Since(begin)
}
