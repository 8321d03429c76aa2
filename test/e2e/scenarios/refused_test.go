package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// prepareWay starts a cluster for one gang that is stopped at a stage.
func prepareWay(t *testing.T, stage stage, options testbed.Options, config map[string]any) *way {
	t.Helper()
	options.Dialects = []testbed.Dialect{testbed.Sigs}
	c := testbed.StartCluster(t, options)
	gates := newGates(t, c)
	m := c.StartMuster(t, testbed.MusterOptions{Through: gates.api, Config: config})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: gates.inFrontOf(t, m)})
	return &way{T: t, c: c, m: m, gates: gates, stage: stage, ns: "ml",
		gang: testbed.InGang(testbed.Sigs, "ml", wayGroup)}
}

var committing = stages[2]

// C06: one of eight Bindings is refused for good in the middle of a commit. The gang is completed
// before a rival that has a higher priority, is older and would fit into the free room.
func TestC06_BindingRefusedDuringACommit(t *testing.T) {
	beside(t)
	w := prepareWay(t, committing, testbed.Options{WithoutControllers: true}, nil)
	addPriorityClass(t, w.c, "urgent", 1000000)
	w.c.Recorder.Excuse(testbed.Sigs.Key("ml", wayGroup))
	w.start()

	rival := testbed.InGang(testbed.Sigs, "ml", "rival")
	w.c.Add(t, testbed.Sigs.PodGroup("ml", "rival", 5, nil))
	for i := range 5 {
		pod := w.pod(fmt.Sprintf("rival-%d", i), 1)
		testbed.Sigs.Join("rival")(pod)
		ofPriority("urgent")(pod)
		w.c.AddPods(t, pod)
	}
	w.c.Recorder.AllSay(t, rival, 5, "gang ml/rival: 5 members needed, room for 4 (1 short of nvidia.com/gpu)")

	var refused atomic.Int32
	w.gates.refusing(func(r testbed.Request) testbed.Verdict {
		if refused.CompareAndSwap(0, 1) {
			return testbed.Answer(http.StatusUnprocessableEntity, "no bindings for "+r.Name+" now")
		}
		return testbed.Forward
	})
	w.gates.release("ml")
	w.c.Recorder.WaitBound(t, w.gang, wayMembers, 30*time.Second)
	if n := boundOf(w.c.Recorder.Pods(rival)); n > 0 {
		t.Errorf("%d members of the rival were bound while the gang waited for its last member", n)
	}
	w.c.WaitEvent(t, "PodGroup", "ml", wayGroup, "BindingRefused", "no bindings for ddp-")
	w.m.WaitState(t, "ml", wayGroup, "Scheduled")
	if got := w.m.Gang(t, "ml", "rival"); got.State != "Waiting" {
		t.Errorf("the rival does not wait: %+v", got)
	}
	w.clear(w.gang)
	w.c.Recorder.WaitBound(t, rival, 5, 30*time.Second)
	w.clear(rival)
	w.m.WaitNoLeaks(t)
}

// The API server refuses every Binding to one node because of an admission policy that muster does
// not know. The members go to other nodes.
const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-bindings}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods/binding], operations: [CREATE]}
  validations:
  - {expression: "object.target.name != 'ml-a'", message: "node ml-a is set apart"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-bindings}
spec: {policyName: no-bindings, validationActions: [Deny]}
`

func TestC06_NodeRefusedByAnAdmissionPolicy(t *testing.T) {
	beside(t)
	w := prepareWay(t, committing, testbed.Options{WithoutControllers: true}, nil)
	w.c.Recorder.Excuse(testbed.Sigs.Key("ml", wayGroup))
	w.c.Namespace(t, "ml")
	w.c.AddNodes(t, w.node("a"), w.node("b"), w.node("c"))
	w.c.Apply(t, []byte(policy))
	w.waitPolicy()
	w.c.Add(t, testbed.Sigs.PodGroup("ml", wayGroup, wayMembers, nil))
	w.c.AddPods(t, w.members(memberNames(wayMembers)...)...)
	pods := w.c.Recorder.WaitBound(t, w.gang, wayMembers, 60*time.Second)
	for _, pod := range pods {
		if pod.Node == "ml-a" {
			t.Fatalf("%s is bound to the node that the policy forbids", pod.Name)
		}
	}
	if w.m.Metrics(t).Sum("muster_bindings_total", `outcome="refused"`) == 0 {
		t.Errorf("no Binding was refused, so the test proves nothing")
	}
	w.clear(w.gang)
	w.m.WaitNoLeaks(t)
}

// waitPolicy waits until the API server applies the policy, which takes a moment.
func (w *way) waitPolicy() {
	w.Helper()
	probe := testbed.Pod("ml", "probe", nil, testbed.WithScheduler("nobody"))
	w.c.AddPods(w, probe)
	testbed.Within(w, 60*time.Second, "the policy is in force", func() error {
		err := w.c.Bind("ml", "probe", "ml-a", true)
		if err == nil || !strings.Contains(err.Error(), "set apart") {
			return fmt.Errorf("a Binding to the node is answered %v", err)
		}
		return nil
	})
	w.clear(testbed.Named("ml", "probe"))
}

// Every Binding of a commit is refused: nothing is bound or reserved, and the gang tries again.
func TestC06_WholeCommitRefused(t *testing.T) {
	beside(t)
	w := prepareWay(t, committing, testbed.Options{WithoutControllers: true}, map[string]any{"backoffSeconds": 20})
	var refused atomic.Int32
	w.gates.refusing(func(r testbed.Request) testbed.Verdict {
		if refused.Add(1) <= wayMembers {
			return testbed.Answer(http.StatusForbidden, "not today")
		}
		return testbed.Forward
	})
	w.c.Namespace(t, "ml")
	w.c.AddNodes(t, w.node("a"), w.node("b"))
	w.c.Add(t, testbed.Sigs.PodGroup("ml", wayGroup, wayMembers, nil))
	w.c.AddPods(t, w.members(memberNames(wayMembers)...)...)
	w.c.WaitEvent(t, "PodGroup", "ml", wayGroup, "BindingRefused", "not today")
	w.m.WaitState(t, "ml", wayGroup, "BackedOff")
	w.roomFor(2)
	w.c.Recorder.WaitBound(t, w.gang, wayMembers, 60*time.Second)
	w.c.Recorder.Together(t, w.gang)
	w.clear(w.gang)
	w.m.WaitNoLeaks(t)
}

// C07: a running gang loses members. Their replacements are scheduled one by one and at once,
// without a new quorum, even far below the minimum.
func TestC07_ReplacementsAreScheduledOneByOne(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	verbs := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: verbs})
	gang := runningGang(t, c, m)

	// One member is deleted, one fails, then all but one are deleted at once.
	c.DeletePods(t, "ml", "ddp-0")
	replace(t, c, "again-0")
	c.FailPod(t, "ml", "ddp-1")
	replace(t, c, "again-1")
	c.DeletePods(t, "ml", "ddp-2", "again-0", "again-1")
	for _, name := range []string{"again-2", "again-3", "again-4"} {
		replace(t, c, name)
	}
	for _, call := range verbs.Calls("bind") {
		if !strings.Contains(call.Pod, "again") {
			continue
		}
		const waits = "the bind call of %s was held %v: a replacement waits for nobody"
		took := call.End.Sub(call.Begin)
		testbed.Figure(t, took <= 2*time.Second, waits, call.Pod, took)
		if took > 10*time.Second { // half a hold
			t.Errorf(waits, call.Pod, took)
		}
	}
	clearGang(t, c, gang)
	m.WaitNoLeaks(t)
}

// runningGang runs a gang of four on two nodes of two GPUs.
func runningGang(t *testing.T, c *testbed.Cluster, m *testbed.Muster) testbed.Which {
	t.Helper()
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 4, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 4, testbed.GPUs(1))...)
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Recorder.WaitRunning(t, gang, 4, 30*time.Second)
	m.WaitState(t, "ml", "ddp", "Scheduled")
	return gang
}

func replacement(name string) *corev1.Pod {
	return testbed.Pod("ml", name, testbed.GPUs(1), testbed.Sigs.Join("ddp"))
}

// replace adds a member and waits until it is bound, without others.
func replace(t *testing.T, c *testbed.Cluster, name string) {
	t.Helper()
	c.AddPods(t, replacement(name))
	c.Recorder.WaitBound(t, testbed.Named("ml", name), 1, 30*time.Second)
}

func clearGang(t *testing.T, c *testbed.Cluster, gang testbed.Which) {
	t.Helper()
	var names []string
	for _, pod := range c.Recorder.Pods(gang) {
		if pod.Erased.IsZero() {
			names = append(names, pod.Name)
		}
	}
	c.DeletePods(t, "ml", names...)
}

// C06: with onFailedCommit: evict, the members that a failed commit has bound are evicted, and the
// gang starts again. Pods without a controller are never evicted.
func TestC06_FailedCommitEvictsPodsWithAController(t *testing.T) {
	t.Parallel()
	for _, controlled := range []bool{true, false} {
		t.Run(fmt.Sprintf("controlled=%v", controlled), func(t *testing.T) {
			beside(t)
			w := prepareWay(t, committing, testbed.Options{}, map[string]any{"onFailedCommit": "evict"})
			w.c.Recorder.Excuse(testbed.Sigs.Key("ml", wayGroup))
			w.c.Namespace(t, "ml")
			w.c.AddNodes(t, w.node("a"), w.node("b"), w.node("c"))
			w.gates.refuseOnce("ml")
			w.c.Add(t, testbed.Sigs.PodGroup("ml", wayGroup, wayMembers, nil))
			if controlled {
				w.c.Apply(t, []byte(controlledMembers))
			} else {
				w.c.AddPods(t, w.members(memberNames(wayMembers)...)...)
			}
			first := w.c.Recorder.WaitExist(t, w.gang, wayMembers, 30*time.Second)
			w.c.WaitEvent(t, "PodGroup", "ml", wayGroup, "BindingRefused", "not this one")
			if controlled {
				w.c.WaitEvent(t, "PodGroup", "ml", wayGroup, "Evicted", "")
			}
			testbed.Within(t, 60*time.Second, "the gang is whole", func() error {
				bound := 0
				for _, pod := range w.c.Recorder.Pods(w.gang) {
					if !pod.Bound.IsZero() && pod.Erased.IsZero() && pod.Latest.DeletionTimestamp == nil {
						bound++
					}
				}
				if bound != wayMembers {
					return fmt.Errorf("%d pods are bound", bound)
				}
				return nil
			})
			kept := 0
			now := w.c.Recorder.Pods(w.gang)
			for _, pod := range first {
				for _, other := range now {
					if other.UID == pod.UID && other.Erased.IsZero() {
						kept++
					}
				}
			}
			if controlled && kept == wayMembers {
				t.Errorf("none of the members was evicted")
			}
			if !controlled && kept != wayMembers {
				t.Errorf("%d of %d pods without a controller are left", kept, wayMembers)
			}
		})
	}
}

// controlledMembers recreates evicted pods at once. (A Job counts evictions as failures and waits
// for minutes after a few.)
var controlledMembers = fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: ml, name: ddp}
spec:
  replicas: %[1]d
  selector: {matchLabels: {app: ddp}}
  template:
    metadata:
      labels: {app: ddp, pod-group.scheduling.sigs.k8s.io: ddp}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {%[2]s: ml}
      containers:
      - {name: main, image: "registry.example/work:1", resources: {limits: {nvidia.com/gpu: 1}}}
`, wayMembers, pool)
