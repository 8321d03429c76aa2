package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// gates stop gangs where a test needs it: before a bind call reaches muster, or before a Binding
// reaches the API server. A gate belongs to a namespace and closes after a number of pods. Without
// a number there is no gate.
type gates struct {
	verbs *testbed.VerbProxy
	api   *testbed.FaultProxy

	mu       sync.Mutex
	asks     map[string]*gate // bind calls of the scheduler
	bindings map[string]*gate // Bindings of muster
	refuse   func(testbed.Request) testbed.Verdict
	frozen   chan struct{} // while it is set, only muster's Bindings arrive
}

// gate lets a limited number of pods pass, and the others when it opens.
type gate struct {
	limit   int
	passed  map[string]bool
	waiting map[string]bool
	changed chan struct{} // closed and replaced when the limit rises
}

func newGate(limit int) *gate {
	return &gate{limit: limit, passed: map[string]bool{}, waiting: map[string]bool{}, changed: make(chan struct{})}
}

const unlimited = 1 << 30

// newGates puts the gates between the scheduler, muster and the API server. The proxy for the verbs
// is added when muster exists.
func newGates(t *testing.T, c *testbed.Cluster) *gates {
	t.Helper()
	g := &gates{api: c.StartFaultProxy(t), asks: map[string]*gate{}, bindings: map[string]*gate{}}
	g.api.Set(g.decide)
	return g
}

func (g *gates) decide(ctx context.Context, r testbed.Request) testbed.Verdict {
	g.mu.Lock()
	frozen := g.frozen
	g.mu.Unlock()
	if !r.Is("POST pods/binding") {
		if frozen != nil && r.Verb != http.MethodGet && r.Verb != "WATCH" {
			select {
			case <-frozen:
			case <-ctx.Done():
				return testbed.Sever
			}
		}
		return testbed.Forward
	}
	if !g.pass(ctx, g.bindings, r.Namespace, r.Name) {
		return testbed.Sever
	}
	g.mu.Lock()
	refuse := g.refuse
	g.mu.Unlock()
	if refuse == nil {
		return testbed.Forward
	}
	return refuse(r)
}

// freeze blocks all of muster's writes except Bindings, until thaw.
func (g *gates) freeze() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.frozen = make(chan struct{})
}

func (g *gates) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.frozen != nil {
		close(g.frozen)
		g.frozen = nil
	}
}

// refusing sets what happens to Bindings that have passed their gate.
func (g *gates) refusing(decide func(testbed.Request) testbed.Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse = decide
}

// refuseOnce refuses only the fourth Binding of a namespace.
func (g *gates) refuseOnce(namespace string) {
	var sent atomic.Int32
	g.refusing(func(r testbed.Request) testbed.Verdict {
		if r.Namespace == namespace && sent.Add(1) == 4 {
			return testbed.Answer(http.StatusUnprocessableEntity, "not this one")
		}
		return testbed.Forward
	})
}

func (g *gates) inFrontOf(t *testing.T, m *testbed.Muster) *testbed.VerbProxy {
	t.Helper()
	g.verbs = testbed.StartVerbProxy(t, m)
	g.verbs.Set(func(ctx context.Context, call testbed.VerbCall) {
		namespace, name, _ := strings.Cut(call.Pod, "/")
		if call.Verb == "bind" {
			g.pass(ctx, g.asks, namespace, name)
		}
	})
	return g.verbs
}

// set closes the gates of a namespace: this many bind calls and this many Bindings may pass.
func (g *gates) set(namespace string, asks, bindings int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asks[namespace] = newGate(asks)
	g.bindings[namespace] = newGate(bindings)
}

// pass returns when the pod may continue; false: its caller has disconnected.
func (g *gates) pass(ctx context.Context, all map[string]*gate, namespace, name string) bool {
	for {
		g.mu.Lock()
		gate := all[namespace]
		if gate == nil {
			g.mu.Unlock()
			return true
		}
		if gate.passed[name] || len(gate.passed) < gate.limit {
			gate.passed[name] = true
			delete(gate.waiting, name)
			g.mu.Unlock()
			return true
		}
		gate.waiting[name] = true
		changed := gate.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			g.mu.Lock()
			delete(gate.waiting, name)
			g.mu.Unlock()
			return false
		}
	}
}

func (g *gates) waiting(all map[string]*gate, namespace string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate := all[namespace]; gate != nil {
		return len(gate.waiting)
	}
	return 0
}

// letOne lets one more Binding pass.
func (g *gates) letOne(namespace string) { g.raise(g.bindings, namespace, 1) }

// release opens both gates of a namespace.
func (g *gates) release(namespace string) {
	g.raise(g.asks, namespace, unlimited)
	g.raise(g.bindings, namespace, unlimited)
}

func (g *gates) raise(all map[string]*gate, namespace string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate := all[namespace]; gate != nil {
		gate.limit += by
		close(gate.changed)
		gate.changed = make(chan struct{})
	}
}

// stage is a moment in a gang's life at which a test stops the gang.
type stage struct {
	name  string
	state string // the state in muster's API
	// How many members may come to bind, and how many are bound.
	asks, bindings int
}

const wayMembers = 8

var stages = []stage{
	{"planned", "Planned", 0, wayMembers},
	{"held", "Planned", wayMembers - 1, wayMembers},
	{"committing", "Committing", wayMembers, 3},
}

// way is a gang of eight members with one GPU each, on its way to two of the three nodes with four
// GPUs in its namespace's pool. It is stopped at a stage.
type way struct {
	*testing.T
	c     *testbed.Cluster
	m     *testbed.Muster
	gates *gates
	stage stage
	ns    string
	gang  testbed.Which
}

const wayGroup = "ddp"

func (w *way) pod(name string, gpus int) *corev1.Pod {
	return testbed.Pod(w.ns, name, testbed.GPUs(gpus), testbed.Selecting(pool, w.ns))
}

func (w *way) members(names ...string) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, name := range names {
		pod := w.pod(name, 1)
		testbed.Sigs.Join(wayGroup)(pod)
		pods = append(pods, pod)
	}
	return pods
}

func memberNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%d", wayGroup, i))
	}
	return names
}

func (w *way) node(name string) *corev1.Node {
	return testbed.Node(w.ns+"-"+name, testbed.GPUs(4), testbed.Labelled(pool, w.ns))
}

// start brings the gang to its stage.
func (w *way) start() {
	w.Helper()
	w.gates.set(w.ns, w.stage.asks, w.stage.bindings)
	w.Cleanup(func() { w.gates.release(w.ns) })
	w.c.Namespace(w, w.ns)
	w.c.AddNodes(w, w.node("a"), w.node("b"), w.node("c"))
	w.c.Add(w, testbed.Sigs.PodGroup(w.ns, wayGroup, wayMembers, nil))
	w.c.AddPods(w, w.members(memberNames(wayMembers)...)...)
	w.c.Recorder.WaitExist(w, w.gang, wayMembers, 30*time.Second) // muster may see them before the recorder
	testbed.Within(w, 60*time.Second, "the gang is "+w.stage.name, func() error {
		gang := w.m.Gang(w, w.ns, wayGroup)
		asking := w.gates.waiting(w.gates.asks, w.ns)
		binding := w.gates.waiting(w.gates.bindings, w.ns)
		bound := boundOf(w.c.Recorder.Pods(w.gang))
		if gang.State != w.stage.state ||
			asking != wayMembers-w.stage.asks || binding != wayMembers-w.stage.bindings ||
			(asking > 0 && gang.Held != w.stage.asks) || (binding > 0 && bound != w.stage.bindings) {
			return fmt.Errorf("%d bind calls wait, %d Bindings wait, %d are bound: %+v", asking, binding, bound, gang)
		}
		return nil
	})
}

// unbound are the names of the members without a node.
func (w *way) unbound() []string {
	var names []string
	for _, pod := range w.c.Recorder.Pods(w.gang) {
		if pod.Bound.IsZero() {
			names = append(names, pod.Name)
		}
	}
	return names
}

// fullest is the node of most of the gang's slots. In a commit, it is the node of most Bindings
// that are still on their way.
func (w *way) fullest() string {
	w.Helper()
	count := map[string]int{}
	best := ""
	bound := map[string]bool{}
	for _, pod := range w.c.Recorder.Pods(w.gang) {
		bound[pod.Name] = !pod.Bound.IsZero()
	}
	for _, pod := range w.m.GangPods(w, w.ns, wayGroup).Pods {
		node := pod.Slot
		if node == "" && !bound[pod.Name] {
			node = pod.Node
		}
		if node == "" {
			continue
		}
		count[node]++
		if best == "" || count[node] > count[best] || (count[node] == count[best] && node < best) {
			best = node
		}
	}
	if best == "" {
		w.Fatalf("no member has a slot: %+v", w.m.GangPods(w, w.ns, wayGroup))
	}
	return best
}

// clear deletes the pods of the namespace and waits until they are gone.
func (w *way) clear(which testbed.Which) {
	w.Helper()
	var names []string
	for _, pod := range w.there(which) {
		names = append(names, pod.Name)
	}
	w.c.DeletePods(w, w.ns, names...)
	testbed.Within(w, 30*time.Second, "the pods are gone", func() error {
		if left := len(w.there(which)); left > 0 {
			return fmt.Errorf("%d pods are left", left)
		}
		return nil
	})
}

// there are the selected pods that exist.
func (w *way) there(which testbed.Which) []testbed.PodRecord {
	return slices.DeleteFunc(w.c.Recorder.Pods(which), func(p testbed.PodRecord) bool { return !p.Erased.IsZero() })
}
