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

// tries are kube-scheduler's tries of the members of a waiting gang, counted by muster's filter
// calls.
type tries struct {
	*testbed.Cluster
	proxy  *testbed.VerbProxy
	api    *testbed.FaultProxy // between muster and the API server
	prefix string              // the start of the members' names, with the namespace
	seen   int                 // number of calls counted before
	said   map[string]string   // what the condition of each member says, after its last try
}

// counted are the tries since the last count.
type counted struct {
	all     int
	more    int // the largest number of tries of one member beyond the changes of its condition
	changes int // the largest number of these changes for one member
}

func (n counted) String() string {
	return fmt.Sprintf("%d tries; the condition of a member changed at most %d times, and was followed by %d more tries",
		n.all, n.changes, n.more)
}

// next counts the calls since the last count, once kube-scheduler has nothing left to try (in the
// long run: once no call has come for this long).
func (r *tries) next(t *testing.T, quiet time.Duration) counted {
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
			t.Fatalf("kube-scheduler keeps trying: %d filter calls", calls)
		}
	}
	var n counted
	tries, changes := map[string]int{}, map[string]int{}
	for _, call := range r.proxy.Calls("filter")[r.seen:calls] {
		if !strings.HasPrefix(call.Pod, r.prefix) {
			continue
		}
		n.all++
		tries[call.Pod]++
		if text := fmt.Sprint(len(call.Offered), call.Refusals); text != r.said[call.Pod] {
			changes[call.Pod]++
			r.said[call.Pod] = text
		}
		n.changes = max(n.changes, changes[call.Pod])
		if len(call.Returned) > 0 {
			t.Fatalf("%s passes on %v, so the gang does not wait", call.Pod, call.Returned)
		}
		// The answer has one node and one message, however many nodes are offered.
		if call.Bytes > 300 {
			t.Fatalf("the refusal of %s, with %d nodes offered, has %d bytes", call.Pod, len(call.Offered), call.Bytes)
		}
	}
	for pod := range tries {
		n.more = max(n.more, tries[pod]-changes[pod])
	}
	r.seen = calls
	return n
}

// waitingMembers is the size of a large gang; the gate uses a smaller one.
func waitingMembers() int {
	if testbed.InGate() {
		return 200
	}
	return 1000
}

// waitingGang starts everything with nodes of 8 GPUs, and a gang of 1,000 members with one GPU.
// Each member alone fits, so they pass kube-scheduler's own filters, and muster refuses them.
func waitingGang(t *testing.T, nodes int, gated bool) (*testbed.Cluster, *tries) {
	t.Helper()
	// Without controllers and kubelets, nothing happens but what the test does.
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	api := c.StartFaultProxy(t)
	m := c.StartMuster(t, testbed.MusterOptions{Through: api, Config: map[string]any{"gates": map[string]any{"enabled": gated}}})
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
	return c, &tries{Cluster: c, proxy: proxy, api: api, prefix: "ml/large-", said: map[string]string{}}
}

// For kube-scheduler, some events may help a refused pod: here, a new pod on a node, and a new
// node. Each costs one try for each member of a waiting gang, and one more each time that the text
// of its condition changes ("0/21 nodes are available", for example), because kube-scheduler writes
// the condition and treats its own write as an update of the pod. The text changes twice if muster
// sees the node later than kube-scheduler, as its figures change after the number of nodes. muster
// adds no tries, and without such an event there are none.
func TestP07_OneTryOfEachMemberForEachChange(t *testing.T) {
	alone(t)
	c, tried := waitingGang(t, 20, false)
	created := tried.next(t, 12*time.Second) // longer than the longest backoff
	t.Logf("while they were created: %v", created)
	if created.all < waitingMembers() {
		t.Fatalf("only %d members were tried, so the test proves nothing", created.all)
	}
	if again := tried.next(t, 12*time.Second); again.all != 0 {
		t.Errorf("without any change: %v", again)
	}
	addNode := func(name string) { c.AddNodes(t, testbed.Node(name, testbed.GPUs(8))) }
	changes := []struct {
		what  string
		texts int // how often the text of a condition may change
		make  func()
	}{
		{"a pod is bound", 0, func() {
			c.AddPods(t, testbed.Pod("ml", "notebook", testbed.Amounts{"cpu": "1"}))
			c.Recorder.WaitBound(t, testbed.Named("ml", "notebook"), 1, time.Minute)
		}},
		{"a node comes", 2, func() { addNode("more") }},
		{"a node comes, and muster sees it late", 2, func() {
			tried.api.DelayWatches(200 * time.Millisecond)
			addNode("late")
		}},
	}
	for _, change := range changes {
		change.make()
		n := tried.next(t, 12*time.Second)
		t.Logf("%s: %v", change.what, n)
		if n.all == 0 {
			t.Errorf("%s: no member was tried, so kube-scheduler ignores this event", change.what)
		}
		if n.more > 1 || n.changes > change.texts {
			t.Errorf("%s: want at most 1 try for the event, and %d changes of the condition: %v", change.what, change.texts, n)
		}
	}
}

// Gated members cost no tries.
func TestP07_GatedMembersAreNeverTried(t *testing.T) {
	alone(t)
	c, tried := waitingGang(t, 20, true)
	c.AddPods(t, testbed.Pod("ml", "notebook", testbed.Amounts{"cpu": "1"}))
	c.Recorder.WaitBound(t, testbed.Named("ml", "notebook"), 1, time.Minute)
	c.AddNodes(t, testbed.Node("more", testbed.GPUs(8)))
	if n := tried.next(t, 3*time.Second); n.all != 0 {
		t.Errorf("members that have the gate are tried: %v", n)
	}
}

// waitReason waits until this many pods have had a reason that contains the text for some time, and
// returns their versions by name.
func waitReason(t *testing.T, c *testbed.Cluster, which testbed.Which, n int, reason string) map[string]string {
	t.Helper()
	versions := func() map[string]string {
		now := map[string]string{}
		for _, pod := range c.Recorder.Pods(which) {
			now[pod.Name] = pod.Latest.ResourceVersion
			if !strings.Contains(testbed.Why(pod), reason) {
				return nil
			}
		}
		return now
	}
	var before map[string]string
	since := time.Now()
	testbed.Within(t, time.Minute, "the pods have the reason, and it stays", func() error {
		if now := versions(); now == nil || !maps.Equal(now, before) {
			before, since = now, time.Now()
		}
		if len(before) != n || time.Since(since) < 4*time.Second {
			return fmt.Errorf("%d pods have it", len(before))
		}
		return nil
	})
	return before
}

// When one gang releases room and the next one takes it, all other waiting gangs see the room for a
// moment. kube-scheduler must not write the same reason to their pods again: it would wait for each
// write and send an event each time.
func TestP07_UnchangedReasonsAreNotWritten(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) {
		unchangedReasons(t, 0, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", testbed.MusterOptions{})
	})
	// kube-scheduler offers the free node, and muster refuses it with the reason of the gang.
	// The reason must not get new figures during the test.
	t.Run("one-node-free", func(t *testing.T) {
		unchangedReasons(t, 1, ": 4 members needed, room for 1 (12 short of nvidia.com/gpu), 4 Insufficient nvidia.com/gpu.",
			testbed.MusterOptions{Config: map[string]any{"reasonRefreshSeconds": 600}})
	})
}

// unchangedReasons runs 12 gangs of 4 on nodes for one of them and on `more` nodes. Their pods must
// keep the reason.
func unchangedReasons(t *testing.T, more int, reason string, options testbed.MusterOptions) {
	const gangs, members = 12, 4
	alone(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, options)
	proxy := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
	c.Namespace(t, "ml")
	for i := range members + more {
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
	if more == 0 { // The pods show only that the cluster is full. An event shows why their gang waits.
		for i := range gangs {
			c.WaitEvent(t, "Pod", "ml", fmt.Sprintf("next-%02d-0", i), "Unschedulable", fmt.Sprintf(": %d members needed, room for 0", members))
		}
	}
	before := waitReason(t, c, waiting, gangs*members, reason)
	asked := len(proxy.Calls("filter"))
	for _, pod := range c.Recorder.Pods(first) { // the room becomes free step by step
		c.SetPodPhase(t, "ml", pod.Name, corev1.PodSucceeded)
		time.Sleep(50 * time.Millisecond)
	}
	c.Recorder.WaitBound(t, next, members, time.Minute)
	time.Sleep(5 * time.Second) // muster reports a reason after two seconds
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
		// kube-scheduler refuses a pod without muster while slots are on all nodes that are free.
		noneOffered := more > 0 && strings.Contains(testbed.Why(pod), "0/5 nodes are available: 5 Insufficient nvidia.com/gpu.")
		if pod.Latest.ResourceVersion != before[pod.Name] && !noneOffered {
			written++
			t.Logf("%s: %s", pod.Name, testbed.Why(pod))
		}
	}
	t.Logf("of %d waiting pods, %d were written; muster refused %d of them meanwhile", len(after), written, refused)
	if len(after) != (gangs-1)*members || refused < members {
		t.Fatalf("%d pods wait, but muster refused only %d of them, so the test proves nothing", len(after), refused)
	}
	if written > 0 {
		t.Errorf("%d waiting pods were written", written)
	}
}
