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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// world draws nodes and pods from a seed.
type randomWorld struct{ *rand.Rand }

func (r randomWorld) chance(percent int) bool { return r.Intn(100) < percent }

func pickOne[T any](r randomWorld, from ...T) T { return from[r.Intn(len(from))] }

func (r randomWorld) some(from ...string) (chosen []string) {
	for _, each := range from {
		if r.chance(40) {
			chosen = append(chosen, each)
		}
	}
	if len(chosen) == 0 {
		chosen = from[:1]
	}
	return chosen
}

var taintEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
	corev1.TaintEffectNoExecute}

func (r randomWorld) node(i int) *corev1.Node {
	amounts := testbed.Amounts{
		"cpu":               fmt.Sprintf("%dm", 500+r.Intn(16)*500),
		"memory":            fmt.Sprintf("%dMi", 512+r.Intn(16)*512),
		"ephemeral-storage": fmt.Sprintf("%dGi", 1+r.Intn(8)),
		"pods":              fmt.Sprint(3 + r.Intn(20)),
	}
	if r.chance(60) {
		amounts[testbed.GPU] = fmt.Sprint(1 + r.Intn(8))
	}
	n := testbed.Node(fmt.Sprintf("n%02d", i), amounts)
	n.Labels["zone"] = pickOne(r, "a", "b", "c")
	n.Labels["rank"] = pickOne(r, "0", "7", "12", "3x", "many", "0012")
	if r.chance(50) {
		n.Labels["pool"] = pickOne(r, "x", "y", "")
	}
	if r.chance(8) {
		delete(n.Labels, "kubernetes.io/hostname")
	}
	n.Spec.Unschedulable = r.chance(8)
	for r.chance(30) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: fmt.Sprintf("t%d-%d", len(n.Spec.Taints), r.Intn(2)), Value: pickOne(r, "", "v", "w"),
			Effect: pickOne(r, taintEffects...)})
	}
	return n
}

func (r randomWorld) requests() corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	set := func(name corev1.ResourceName, text string, percent int) {
		if r.chance(percent) {
			list[name] = resource.MustParse(text)
		}
	}
	set("cpu", fmt.Sprintf("%dm", r.Intn(40)*100), 70)
	set("memory", fmt.Sprintf("%dMi", r.Intn(24)*128), 60)
	set("ephemeral-storage", fmt.Sprintf("%dMi", r.Intn(30)*128), 20)
	set(testbed.GPU, fmt.Sprint(r.Intn(4)), 30)
	limits := corev1.ResourceList{}
	for name, amount := range list {
		if name == testbed.GPU || r.chance(20) {
			limits[name] = amount
		}
	}
	if r.chance(10) { // the API server fills in the request
		limits["cpu"] = list["cpu"]
		delete(list, "cpu")
	}
	return corev1.ResourceRequirements{Requests: list, Limits: limits}
}

func (r randomWorld) requirement() corev1.NodeSelectorRequirement {
	key := pickOne(r, "zone", "pool", "rank", "absent")
	op := pickOne(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	q := corev1.NodeSelectorRequirement{Key: key, Operator: op}
	switch op {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		q.Values = r.some("a", "b", "x", "", "7", "12")
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		q.Values = []string{pickOne(r, "0", "7", "4", "11", "012")}
	}
	return q
}

func (r randomWorld) nodeTerms() *corev1.NodeSelector {
	selector := &corev1.NodeSelector{}
	for range 1 + r.Intn(2) {
		term := corev1.NodeSelectorTerm{}
		for range 1 + r.Intn(2) {
			term.MatchExpressions = append(term.MatchExpressions, r.requirement())
		}
		if r.chance(15) {
			term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name",
				Operator: pickOne(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
				Values:   []string{fmt.Sprintf("n%02d", r.Intn(60))}}}
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (r randomWorld) labelSelector() *metav1.LabelSelector {
	if r.chance(10) {
		return &metav1.LabelSelector{}
	}
	if r.chance(60) {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pickOne(r, "a", "b", "c")}}
	}
	op := pickOne(r, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists,
		metav1.LabelSelectorOpDoesNotExist)
	q := metav1.LabelSelectorRequirement{Key: pickOne(r, "app", "tier"), Operator: op}
	if op == metav1.LabelSelectorOpIn || op == metav1.LabelSelectorOpNotIn {
		q.Values = r.some("a", "b", "c")
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{q}}
}

func (r randomWorld) antiAffinity() *corev1.Affinity {
	term := corev1.PodAffinityTerm{LabelSelector: r.labelSelector(), TopologyKey: "kubernetes.io/hostname"}
	if r.chance(20) {
		term.NamespaceSelector = &metav1.LabelSelector{}
	} else if r.chance(20) {
		term.Namespaces = []string{pickOne(r, "ml", "other")}
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}

func (r randomWorld) tolerations() (list []corev1.Toleration) {
	for r.chance(50) && len(list) < 5 {
		t := corev1.Toleration{Key: fmt.Sprintf("t%d-%d", r.Intn(3), r.Intn(2))}
		if r.chance(40) {
			t.Operator = corev1.TolerationOpExists
			if r.chance(20) {
				t.Key = ""
			}
		} else {
			t.Value = pickOne(r, "", "v", "w")
		}
		if r.chance(60) {
			t.Effect = pickOne(r, taintEffects...)
		}
		list = append(list, t)
	}
	if r.chance(10) {
		list = append(list, corev1.Toleration{Key: "node.kubernetes.io/unschedulable",
			Operator: corev1.TolerationOpExists})
	}
	return list
}

// spec changes a pod into a random one whose constraints muster says it knows.
func (r randomWorld) spec(p *corev1.Pod) {
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels["app"] = pickOne(r, "a", "b", "c")
	if r.chance(30) {
		p.Labels["tier"] = pickOne(r, "a", "b")
	}
	main := &p.Spec.Containers[0]
	main.Resources = r.requests()
	if r.chance(12) {
		main.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(8080 + r.Intn(3)),
			HostIP:   pickOne(r, "", "0.0.0.0", "127.0.0.1", "10.0.0.9"),
			Protocol: pickOne(r, corev1.ProtocolTCP, corev1.ProtocolUDP)}}
	}
	if r.chance(15) {
		second := *main.DeepCopy()
		second.Name, second.Ports, second.Resources = "second", nil, r.requests()
		p.Spec.Containers = append(p.Spec.Containers, second)
	}
	for i := 0; r.chance(25) && i < 3; i++ {
		init := *main.DeepCopy()
		init.Name, init.Ports, init.Resources = fmt.Sprintf("init-%d", i), nil, r.requests()
		if r.chance(40) {
			always := corev1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, init)
	}
	if r.chance(25) {
		p.Spec.NodeSelector = map[string]string{pickOne(r, "zone", "pool"): pickOne(r, "a", "b", "x", "")}
	}
	if r.chance(15) {
		p.Spec.Affinity = r.antiAffinity()
	}
	if r.chance(30) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: r.nodeTerms()}
	}
	if r.chance(12) {
		spread := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.Intn(3)), TopologyKey: "kubernetes.io/hostname",
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: r.labelSelector()}
		if r.chance(30) {
			honor := pickOne(r, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
			spread.NodeTaintsPolicy = &honor
		}
		if r.chance(30) {
			honor := pickOne(r, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
			spread.NodeAffinityPolicy = &honor
		}
		if r.chance(30) {
			domains := int32(1 + r.Intn(70))
			spread.MinDomains = &domains
		}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread}
	}
	p.Spec.Tolerations = r.tolerations()
	if r.chance(4) { // not modelled: must be left out of the comparison
		zone := r.antiAffinity().PodAntiAffinity
		zone.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "zone"
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: zone}
	}
}

// explained is what muster's API says of a waiting gang of one shape.
type explained struct {
	Express struct {
		Mismatches    int
		FirstMismatch string
	}
	Waiting []struct {
		Room, Between int
		BeyondModel   string
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

// P03: what the express lane rests on. Pods and nodes are drawn at random; each pod is of a gang that
// never comes together, so that kube-scheduler tells muster which nodes will do and nothing is placed.
// The model check compares them; where kube-scheduler has no node to offer it does not ask, and muster
// must know none either.
func TestP03_TheModelIsTheSchedulers(t *testing.T) {
	alone(t)
	seed := time.Now().UnixNano() % 1000000
	if text := os.Getenv("MUSTER_MODEL_SEED"); text != "" {
		seed, _ = strconv.ParseInt(text, 10, 64)
	}
	t.Logf("seed %d: MUSTER_MODEL_SEED=%d draws the same again", seed, seed)
	r := randomWorld{rand.New(rand.NewSource(seed))}
	const nodes, placed, waiting = 60, 150, 1000
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{Express: true})
	c.Namespace(t, "ml")
	c.Namespace(t, "other")
	for i := range nodes {
		n := r.node(i)
		c.Recorder.ExcuseNode(n.Name) // pods are put there whatever it has
		c.AddNodes(t, n)
	}
	var there []*corev1.Pod
	for i := range placed {
		p := testbed.Pod(pickOne(r, "ml", "other"), fmt.Sprintf("there-%d", i), testbed.Amounts{})
		r.spec(p)
		if !strings.Contains(fmt.Sprint(p.Spec.Affinity), "zone") {
			p.Spec.Affinity = pickOne(r, nil, nil, p.Spec.Affinity)
		} else {
			p.Spec.Affinity = nil // one pod that is not modelled would keep all others out of it
		}
		p.Spec.NodeName = fmt.Sprintf("n%02d", r.Intn(nodes))
		there = append(there, p)
	}
	c.AddPods(t, there...)
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
	time.Sleep(2 * time.Second) // nothing has changed for that long when the scheduler looks
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
		for last, still := -1, 0; still < 4; time.Sleep(500 * time.Millisecond) {
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
	for _, p := range pods { // the second look
		c.PatchPod(t, "ml", p.Name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"look": "again"}}})
	}
	settle()

	unasked, beyond := 0, 0
	for _, p := range pods {
		if asked["ml/"+p.Name] > 0 {
			continue
		}
		e := explain(t, m, strings.TrimSuffix(p.Name, "-0"))
		for _, shape := range e.Waiting {
			if shape.BeyondModel != "" {
				beyond++
			} else if shape.Room-shape.Between > 0 {
				spec, _ := json.Marshal(p.Spec)
				t.Errorf("%s: kube-scheduler has no node for it, muster has %d\n%s", p.Name, shape.Room-shape.Between, spec)
			}
			unasked++
		}
	}
	metrics := m.Metrics(t)
	looks, differ := metrics.Sum("muster_model_checks_total"), metrics.Sum("muster_model_mismatch_total")
	t.Logf("%d pods asked about, %d not (%d of them not modelled), %.0f lists compared", len(asked), unasked, beyond, looks)
	if differ > 0 {
		first := explain(t, m, "p0000").Express.FirstMismatch
		for _, p := range pods {
			if strings.Contains(first, "ml/"+p.Name+",") || strings.Contains(first, "ml/"+p.Name+" ") {
				spec, _ := json.Marshal(p.Spec)
				t.Logf("%s", spec)
			}
		}
		t.Errorf("%.0f differences, the first: %s", differ, first)
	}
	if looks < waiting/2 || len(asked) < waiting/4 || unasked < waiting/50 {
		t.Errorf("too little was compared: this test shows nothing")
	}
}
