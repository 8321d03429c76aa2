package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// explained is the explanation in muster's API for a waiting gang of one signature.
type explained struct {
	ExpressLane struct {
		Mismatches    int
		FirstMismatch string
	}
	Signatures []struct {
		WithRoom, InterPod int
		BeyondPredicates   string
	}
}

func explain(t *testing.T, m *testbed.Muster, gang string) (e explained) {
	t.Helper()
	reply, err := http.Get("http://" + m.Ops + "/api/v1/gangs/ml/" + gang)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return e
}

// fate is the state of a placed pod: it runs, was resized, has ended, or is Terminating.
func (r randomWorld) fate(t *testing.T, c *testbed.Cluster, p *corev1.Pod) {
	t.Helper()
	if r.chance(25) {
		c.PatchPod(t, p.Namespace, p.Name, r.inForce(p), "status")
	}
	if r.chance(8) {
		c.SetPodPhase(t, p.Namespace, p.Name, pickOne(r, corev1.PodSucceeded, corev1.PodFailed))
	}
	if r.chance(8) {
		c.DeletePods(t, p.Namespace, p.Name) // its finalizer keeps it
	}
}

// P03: the basis of the express lane. Pods and nodes are drawn at random. Each pod belongs to a
// gang that stays incomplete, so kube-scheduler shows muster the feasible nodes and nothing is
// placed. The predicate parity check compares the lists. If kube-scheduler has no node to offer, it
// makes no call, and muster must have no node either.
func TestP03_TheModelMatchesTheScheduler(t *testing.T) {
	nodes, placed, waiting := 60, 150, 1000
	seed := time.Now().UnixNano() % 1000000
	if testbed.Small(t, "draws") { // always the same seed
		placed, waiting, seed = 50, 250, 4711
		beside(t)
	} else {
		alone(t)
	}
	if text := os.Getenv("MUSTER_MODEL_SEED"); text != "" {
		seed, _ = strconv.ParseInt(text, 10, 64)
	}
	t.Logf("seed %d: MUSTER_MODEL_SEED=%d draws the same objects again", seed, seed)
	r := randomWorld{rand.New(rand.NewSource(seed))}
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs},
		WithoutKWOK: true, WithoutControllers: true,
		// Off by default: tolerations that muster does not model.
		Features: []string{"TaintTolerationComparisonOperators"}})
	m := c.StartMuster(t, testbed.MusterOptions{Express: true})
	c.Namespace(t, "ml")
	c.Namespace(t, "other")
	for _, class := range runtimeClassObjects() {
		c.Add(t, class)
	}
	for i := range nodes {
		n := r.node(i)
		c.Recorder.ExcuseNode(n.Name) // pods are assigned there regardless of room
		c.AddNodes(t, n)
	}
	var there []*corev1.Pod
	for i := range placed {
		p := testbed.Pod(pickOne(r, "ml", "other"), fmt.Sprintf("there-%d", i), testbed.Amounts{})
		r.spec(p)
		if !strings.Contains(fmt.Sprint(p.Spec.Affinity), "zone") {
			p.Spec.Affinity = pickOne(r, nil, nil, p.Spec.Affinity)
		} else {
			p.Spec.Affinity = nil // otherwise one unmodelled pod would exclude all others
		}
		p.Finalizers = []string{"e2e.muster.dev/stays"}
		p.Spec.NodeName = fmt.Sprintf("n%02d", r.Intn(nodes))
		there = append(there, p)
	}
	c.AddPods(t, there...)
	for _, p := range there {
		r.fate(t, c, p)
	}
	var pods []*corev1.Pod
	for i := range waiting {
		name := fmt.Sprintf("p%04d", i)
		c.Recorder.Excuse(testbed.Sigs.Key("ml", name))
		p := testbed.Members(testbed.Sigs, "ml", name, 1, testbed.Amounts{})[0]
		r.spec(p)
		pods = append(pods, p)
	}
	for _, p := range pods {
		c.Add(t, testbed.Sigs.PodGroup("ml", strings.TrimSuffix(p.Name, "-0"), 9, nil))
	}
	c.AddPods(t, pods...)
	time.Sleep(2 * time.Second) // parity is checked only if nothing has changed for a while
	proxy := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})

	asked := map[string]int{}
	quiet := func() int {
		clear(asked)
		for _, call := range proxy.Calls("filter") {
			asked[call.Pod]++
		}
		return len(proxy.Calls("filter"))
	}
	settle := func() {
		for last, still := -1, 0; still < 10; time.Sleep(500 * time.Millisecond) {
			now := quiet()
			if now == last {
				still++
			} else {
				still = 0
			}
			last = now
		}
	}
	settle()
	for _, p := range pods { // the second check
		c.PatchPod(t, "ml", p.Name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"look": "again"}}})
	}
	settle()

	made, err := c.Kube.CoreV1().Pods("ml").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods = nil
	for i := range made.Items { // admission has changed some of them
		if p := &made.Items[i]; p.Spec.NodeName == "" {
			pods = append(pods, p)
		}
	}
	unasked, beyond := 0, 0
	for _, p := range pods {
		e := explain(t, m, strings.TrimSuffix(p.Name, "-0"))
		if len(e.Signatures) != 1 {
			t.Fatalf("%s: %+v", p.Name, e)
		}
		signature, spec := e.Signatures[0], func() []byte { text, _ := json.Marshal(p.Spec); return text }
		if (signature.BeyondPredicates != "") != isBeyond(p) {
			t.Errorf("%s: not modelled: %q\n%s", p.Name, signature.BeyondPredicates, spec())
		}
		if signature.BeyondPredicates != "" {
			beyond++
		}
		if asked["ml/"+p.Name] > 0 {
			continue
		}
		unasked++
		if room := signature.WithRoom - signature.InterPod; signature.BeyondPredicates == "" && room > 0 {
			t.Errorf("%s: kube-scheduler has no node for the pod, but muster has %d\n%s", p.Name, room, spec())
		}
	}
	metrics := m.Metrics(t)
	looks, differ := metrics.Sum("muster_predicate_checks_total"), metrics.Sum("muster_predicate_mismatch_total")
	t.Logf("%d pods with a filter call, %d without; %d are not modelled; %.0f lists compared", len(asked), unasked, beyond, looks)
	if differ > 0 {
		first := explain(t, m, "p0000").ExpressLane.FirstMismatch
		for _, p := range pods {
			if strings.Contains(first, "ml/"+p.Name+",") || strings.Contains(first, "ml/"+p.Name+" ") {
				spec, _ := json.Marshal(p.Spec)
				t.Logf("%s", spec)
			}
		}
		t.Errorf("%.0f differences, the first: %s", differ, first)
	}
	if int(looks) < waiting/2 || len(asked) < waiting/4 || unasked < waiting/50 {
		t.Errorf("too few lists were compared for a result")
	}
}
