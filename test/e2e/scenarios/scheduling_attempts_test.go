package scenarios

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// tries are kube-scheduler's tries of the members of a waiting gang, as muster is asked about them.
type tries struct {
	*testbed.Cluster
	proxy  *testbed.VerbProxy
	prefix string // of the members' names, with the namespace
	seen   int    // calls that were counted before
}

// next counts the calls since it was called last, once kube-scheduler has nothing left to try, and in the
// long run once none has come for so long: all of them, and the most for one member.
func (r *tries) next(t *testing.T, quiet time.Duration) (all, most int) {
	t.Helper()
	r.Recorder.Rest(t)
	if testbed.Small(t, "scenarios-x") {
		quiet = 0
	}
	calls, since, begin := len(r.proxy.Calls("filter")), time.Now(), time.Now()
	for time.Since(since) < quiet {
		time.Sleep(100 * time.Millisecond)
		if now := len(r.proxy.Calls("filter")); now != calls {
			calls, since = now, time.Now()
		}
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("kube-scheduler does not come to rest: %d calls of filter", calls)
		}
	}
	each := map[string]int{}
	for _, call := range r.proxy.Calls("filter")[r.seen:calls] {
		if len(call.Pod) < len(r.prefix) || call.Pod[:len(r.prefix)] != r.prefix {
			continue
		}
		all++
		each[call.Pod]++
		most = max(most, each[call.Pod])
		if len(call.Returned) > 0 {
			t.Fatalf("%s was let through to %v: the gang does not wait", call.Pod, call.Returned)
		}
		// One node, one sentence, however many nodes are offered.
		if call.Bytes > 300 {
			t.Fatalf("the refusal of %s, with %d nodes offered, has %d bytes", call.Pod, len(call.Offered), call.Bytes)
		}
	}
	r.seen = calls
	return all, most
}

// waitingMembers are as many as a large gang has; fewer in the gate.
func waitingMembers() int {
	if testbed.InGate() {
		return 200
	}
	return 1000
}

// waitingGang starts everything with nodes of 8 GPUs, and a gang of 1,000 one-GPU members: each alone
// has a place, so kube-scheduler's own filters let all of them through, and muster refuses them.
func waitingGang(t *testing.T, nodes int, gated bool) (*testbed.Cluster, *tries) {
	t.Helper()
	// No controllers and no kubelets: nothing happens that the test does not do.
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{Config: map[string]any{"gates": map[string]any{"enabled": gated}}})
	proxy := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
	c.Namespace(t, "ml")
	for i := range nodes {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("n%d", i), testbed.GPUs(8)))
	}
	c.Add(t, testbed.Sigs.PodGroup("ml", "large", waitingMembers(), nil))
	pods := testbed.Members(testbed.Sigs, "ml", "large", waitingMembers(), testbed.GPUs(1))
	if gated {
		pods = testbed.Members(testbed.Sigs, "ml", "large", waitingMembers(), testbed.GPUs(1), testbed.Gated(testbed.Gate))
	}
	c.AddPods(t, pods...)
	c.Recorder.AllSay(t, testbed.InGang(testbed.Sigs, "ml", "large"), waitingMembers(),
		fmt.Sprintf("gang ml/large: %d members needed, room for %d", waitingMembers(), 8*nodes))
	return c, &tries{Cluster: c, proxy: proxy, prefix: "ml/large-"}
}

// A real change is an event that kube-scheduler itself takes for one that may help a refused pod: here
// a pod that comes to a node, and a node that comes. Each costs at most one try for each member of a
// waiting gang, and one more where the words of its condition become others ("0/21 nodes are available"
// too): kube-scheduler writes them, and takes its own write for an update of the pod. Nothing that muster does or writes adds one,
// and without a change there is none.
func TestP07_OneTryOfEachMemberForEachChange(t *testing.T) {
	alone(t)
	c, tried := waitingGang(t, 20, false)
	all, most := tried.next(t, 12*time.Second) // longer than the longest backoff
	t.Logf("%d tries while they were created, %d of one member", all, most)
	if all < waitingMembers() {
		t.Fatalf("only %d members were tried: this test is not about what it means to be about", all)
	}
	if again, _ := tried.next(t, 12*time.Second); again != 0 {
		t.Errorf("%d tries without any change", again)
	}
	changes := []struct {
		what string
		most int
		make func()
	}{
		{"a pod is bound", 1, func() {
			c.AddPods(t, testbed.Pod("ml", "notebook", testbed.Amounts{"cpu": "1"}))
			c.Recorder.WaitBound(t, testbed.Named("ml", "notebook"), 1, time.Minute)
		}},
		{"a node comes, and the condition has other figures", 2, func() { c.AddNodes(t, testbed.Node("more", testbed.GPUs(8))) }},
	}
	for _, change := range changes {
		change.make()
		all, most := tried.next(t, 12*time.Second)
		t.Logf("%s: %d tries, %d of one member", change.what, all, most)
		if all == 0 {
			t.Errorf("%s: no member was tried: this is no change to kube-scheduler", change.what)
		}
		if most > change.most {
			t.Errorf("%s: a member was tried %d times (%d tries of %d members)", change.what, most, all, waitingMembers())
		}
	}
}

// Behind the gate they cost none.
func TestP07_GatedMembersAreNeverTried(t *testing.T) {
	alone(t)
	c, tried := waitingGang(t, 20, true)
	c.AddPods(t, testbed.Pod("ml", "notebook", testbed.Amounts{"cpu": "1"}))
	c.Recorder.WaitBound(t, testbed.Named("ml", "notebook"), 1, time.Minute)
	c.AddNodes(t, testbed.Node("more", testbed.GPUs(8)))
	if all, _ := tried.next(t, 3*time.Second); all != 0 {
		t.Errorf("%d tries of members that have the gate", all)
	}
}

// waitFull waits until so many pods read for some time that the four nodes are full, and returns their
// versions, by name.
func waitFull(t *testing.T, c *testbed.Cluster, which testbed.Which, n int) map[string]string {
	t.Helper()
	versions := func() map[string]string {
		now := map[string]string{}
		for _, pod := range c.Recorder.Pods(which) {
			now[pod.Name] = pod.Latest.ResourceVersion
			if text := testbed.Why(pod); !strings.HasPrefix(text, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.") {
				return nil
			}
		}
		return now
	}
	var before map[string]string
	since := time.Now()
	testbed.Within(t, time.Minute, "the pods read that the cluster is full, and that stays", func() error {
		if now := versions(); now == nil || !maps.Equal(now, before) {
			before, since = now, time.Now()
		}
		if len(before) != n || time.Since(since) < 4*time.Second {
			return fmt.Errorf("%d pods do", len(before))
		}
		return nil
	})
	return before
}

// Room that goes from one gang to the next is seen for a moment by all others that wait. What their
// pods read of a full cluster, kube-scheduler does not write anew for that: it would wait for each
// write, and send an event each time.
func TestP07_NothingNewIsNotWritten(t *testing.T) {
	const gangs, members = 12, 4
	alone(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	proxy := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
	c.Namespace(t, "ml")
	for i := range members {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("n%d", i), testbed.GPUs(4)))
	}
	add := func(name string) {
		c.Add(t, testbed.Sigs.PodGroup("ml", name, members, nil))
		c.AddPods(t, testbed.Members(testbed.Sigs, "ml", name, members, testbed.GPUs(4))...)
	}
	add("first")
	first := testbed.InGang(testbed.Sigs, "ml", "first")
	c.Recorder.WaitBound(t, first, members, time.Minute)
	for i := range gangs {
		add(fmt.Sprintf("next-%02d", i))
	}
	next := func(p *testbed.PodRecord) bool { return strings.HasPrefix(p.Name, "next-") }
	waiting := func(p *testbed.PodRecord) bool { return next(p) && p.Bound.IsZero() }
	// They read that the cluster is full; why their gang waits, an event says.
	for i := range gangs {
		c.WaitEvent(t, "Pod", "ml", fmt.Sprintf("next-%02d-0", i), "Unschedulable", fmt.Sprintf(": %d members needed, room for 0", members))
	}
	before := waitFull(t, c, waiting, gangs*members)
	asked := len(proxy.Calls("filter"))
	for _, pod := range c.Recorder.Pods(first) { // room comes piece by piece
		c.SetPodPhase(t, "ml", pod.Name, corev1.PodSucceeded)
		time.Sleep(50 * time.Millisecond)
	}
	c.Recorder.WaitBound(t, next, members, time.Minute)
	time.Sleep(5 * time.Second) // what has changed for two seconds is told
	answered := map[string]bool{}
	for _, call := range proxy.Calls("filter")[asked:] {
		answered[call.Pod] = true
	}
	written, refused := 0, 0
	after := c.Recorder.Pods(waiting)
	for _, pod := range after {
		if answered["ml/"+pod.Name] {
			refused++
		}
		if pod.Latest.ResourceVersion != before[pod.Name] {
			written++
			t.Logf("%s: %s", pod.Name, testbed.Why(pod))
		}
	}
	t.Logf("of %d pods that wait on, %d were written; muster refused %d of them meanwhile", len(after), written, refused)
	if len(after) != (gangs-1)*members || refused < members {
		t.Fatalf("%d pods wait on, and muster refused %d of them: this test is not about what it means to be about", len(after), refused)
	}
	if written > 0 {
		t.Errorf("%d pods that wait on were written", written)
	}
}
