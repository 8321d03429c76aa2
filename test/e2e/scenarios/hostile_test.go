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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/bench"
	"muster.dev/e2e/testbed"
)

// A tenant creates everything that its rights allow, and keeps changing it. Meanwhile the gangs of
// another tenant are placed.
const (
	victimGangs   = 10
	victimMembers = 8
	victimNodes   = 20
	mostBytes     = 1400 << 10 // of JSON: etcd accepts 1.5 MiB in the API server's encoding
	mostMemory    = 2 << 30
	// After this time, the victim's gangs count as never placed.
	forgotten = 3 * time.Minute
)

var podGroupDialects = []testbed.Dialect{testbed.KAI, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins}

// T14: a hostile tenant does not slow down the gangs of another. The gate checks that all gangs are
// placed by a muster that starts when the tenant's objects exist, that no probe fails, and that
// muster keeps running. The objects are small enough for the time of the gate, and above most of
// muster's bounds. The long run compares the time that the gangs take with the time beside as many
// bytes of harmless objects.
func TestT14_AHostileTenantDoesNotDelayOthers(t *testing.T) {
	const most, turns, rounds = 2.0, 3, 10
	if testbed.Small(t, "tenants") {
		alone(t)
		x := startVictim(t, false, mostBytes/24)
		x.tenantMakes(t, map[string]int{})
		x.m.Stop(t)
		x.m.Start(t) // which waits until everything is listed
		stop := x.tenantGoesOn(t)
		x.place(t, "r")
		stop(t)
		x.log(t)
		return
	}
	alone(t)
	var hostile, harmless side
	counts := map[string]int{}
	for n := range turns {
		var made []belonging
		hostile.play(t, fmt.Sprintf("hostile%d", n+1), rounds, func(t *testing.T, x *victim) { x.tenantMakes(t, counts); made = x.made })
		harmless.play(t, fmt.Sprintf("harmless%d", n+1), rounds, func(t *testing.T, x *victim) { x.tenantMakesHarmless(t, made) })
		if t.Failed() {
			return
		}
	}
	ratio := bench.Median(hostile.took).Seconds() / bench.Median(harmless.took).Seconds()
	testbed.Figure(t, ratio <= most, "%d gangs of %d beside the hostile tenant: %v; beside the harmless one: %v; %.2f × (%.1f at most)",
		victimGangs, victimMembers, hostile, harmless, ratio, most)
}

// side is what the victim measured beside one of the tenants.
type side struct{ took, cpu []time.Duration }

func (s side) String() string {
	return fmt.Sprintf("%.2f s (%.2f s of muster's CPU)", bench.Median(s.took).Seconds(), bench.Median(s.cpu).Seconds())
}

// play is one turn, on its own control plane.
func (s *side) play(t *testing.T, name string, rounds int, tenantMakes func(*testing.T, *victim)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		// The API server takes up to half a minute for one of the largest objects, so use a quarter
		// of the size.
		x := startVictim(t, true, mostBytes/4)
		tenantMakes(t, x)
		x.log(t)
		stop := x.tenantGoesOn(t)
		x.place(t, "first")
		for n := range rounds {
			before := x.m.Usage().CPU
			took := x.place(t, fmt.Sprintf("r%d", n))
			used := x.m.Usage().CPU - before
			t.Logf("%.2f s (%.2f s of muster's CPU)", took.Seconds(), used.Seconds())
			s.took, s.cpu = append(s.took, took), append(s.cpu, used)
		}
		stop(t)
		x.log(t)
	})
}

func (x *victim) log(t *testing.T) {
	t.Helper()
	for _, p := range []*testbed.Process{x.m.Process, x.s, x.c.APIServer, x.c.Etcd} {
		u := p.Usage()
		t.Logf("%s: CPU %.1f s, memory %d MiB at most", p.Name, u.CPU.Seconds(), u.PeakRSS>>20)
	}
}

// ---- the victim ----

type victim struct {
	c      *testbed.Cluster
	m      *testbed.Muster
	s      *testbed.Process // kube-scheduler
	tenant *testbed.Tenant
	// If times are compared, no scheduler places the tenant's large pods, because kube-scheduler
	// itself takes up to seconds for each try of one, with and without muster (docs/limits.md).
	// muster reads and plans them.
	measured bool
	size     int // size of the tenant's objects
	made     []belonging
	done     map[string]int // what the tenant did, and what was refused
}

func startVictim(t *testing.T, measured bool, size int) *victim {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: podGroupDialects, WithoutControllers: true, Own: measured})
	x := &victim{c: c, measured: measured, size: size, done: map[string]int{}}
	x.m = c.StartMuster(t, testbed.MusterOptions{Measured: measured})
	x.s = c.StartScheduler(t, testbed.SchedulerOptions{Muster: x.m})
	c.Namespace(t, "victim")
	x.tenant = c.Tenant(t, "tenant")
	nodes := []*corev1.Node{testbed.Node("small-0", nil), testbed.Node("small-1", nil)}
	for i := range victimNodes {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("gpu-%02d", i), testbed.GPUs(victimMembers), func(node *corev1.Node) {
			node.Spec.Taints = []corev1.Taint{{Key: string(testbed.GPU), Effect: corev1.TaintEffectNoSchedule}}
		}))
	}
	c.AddNodes(t, nodes...)
	return x
}

// place creates the victim's gangs, and returns the time until all are bound. Then it deletes them.
func (x *victim) place(t *testing.T, round string) time.Duration {
	t.Helper()
	var pods []*corev1.Pod
	var names []string
	for i := range victimGangs {
		name := fmt.Sprintf("%s-g%d", round, i)
		x.c.Add(t, testbed.Sigs.PodGroup("victim", name, victimMembers, nil))
		pods = append(pods, testbed.Members(testbed.Sigs, "victim", name, victimMembers, testbed.GPUs(1), func(pod *corev1.Pod) {
			pod.Spec.Tolerations = []corev1.Toleration{{Key: string(testbed.GPU), Operator: corev1.TolerationOpExists}}
		})...)
	}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	began := time.Now()
	x.c.AddPods(t, pods...)
	of := func(p *testbed.PodRecord) bool {
		return p.Namespace == "victim" && strings.HasPrefix(p.Name, round+"-")
	}
	took := time.Duration(0)
	for _, pod := range x.c.Recorder.WaitBound(t, of, len(pods), forgotten) {
		took = max(took, pod.Bound.Sub(began))
	}
	x.c.DeletePods(t, "victim", names...)
	x.c.DeletePodGroups(t, testbed.Sigs, "victim")
	return took
}

// ---- the tenant ----

// belonging is an object of the tenant.
type belonging struct {
	object  *unstructured.Unstructured
	dialect testbed.Dialect // for a pod: the dialect of its PodGroup
	bytes   int             // size in the API server's JSON
}

// tenantMakes creates all objects of the tenant, each as large as the API server allows. counts are
// the numbers of items from an earlier call.
func (x *victim) tenantMakes(t *testing.T, counts map[string]int) {
	t.Helper()
	var mu sync.Mutex
	all := append(slices.Clone(limits), schemaLimits(t, testbed.KAI, testbed.Volcano, testbed.Sigs)...)
	x.make(t, len(all), func(i int) belonging {
		l := all[i]
		mu.Lock()
		if n := counts[l.name]; n > 0 {
			l.most = n
		}
		mu.Unlock()
		b, n := x.makeLimit(t, l, podGroupDialects[i%len(podGroupDialects)])
		mu.Lock()
		defer mu.Unlock()
		counts[l.name] = n
		return b
	})
	pod := x.made[slices.IndexFunc(x.made, func(b belonging) bool { return b.object.GetKind() == "Pod" })].object
	nominated := map[string]any{"status": map[string]any{"nominatedNodeName": "gpu-00"}}
	if err := x.tenant.Change(pod, nominated, "status"); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant may write the status of a pod: %v", err)
	}
}

// tenantMakesHarmless creates harmless objects of the same sizes, in the same order.
func (x *victim) tenantMakesHarmless(t *testing.T, like []belonging) {
	t.Helper()
	x.make(t, len(like), func(i int) belonging {
		b := like[i].twin()
		x.add(t, b)
		return b
	})
}

func (x *victim) make(t *testing.T, n int, one func(i int) belonging) {
	t.Helper()
	began, bytes := time.Now(), 0
	x.made = make([]belonging, n)
	var wait sync.WaitGroup
	next := atomic.Int32{}
	for range 4 {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
				x.made[i] = one(int(i))
			}
		})
	}
	wait.Wait()
	for _, b := range x.made {
		bytes += b.bytes
	}
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("the tenant created %d objects of %d MiB in %.1f s", n, bytes>>20, time.Since(began).Seconds())
}

// makeLimit creates an object that is as large as the API server allows.
func (x *victim) makeLimit(t *testing.T, l limit, d testbed.Dialect) (b belonging, count int) {
	n := l.most
	if n == 0 {
		n = x.size
	}
	for {
		var object *unstructured.Unstructured
		object, count = l.make(t, x.tenant.Namespace, x.size, n)
		b = belonging{object: object, dialect: d}
		if _, linked := object.GetAnnotations()[testbed.Koordinator.Annotation]; linked {
			b.dialect = testbed.Koordinator
		} else if _, linked := object.GetLabels()[testbed.Lightweight.Label]; linked {
			b.dialect = testbed.Lightweight
		} else if object.GetKind() == "Pod" {
			join(object, d, l.name)
		}
		if object.GetKind() == "Pod" && x.measured {
			setMissing(object, map[string]any{"schedulerName": "nobody"}, "spec")
		}
		made, err := x.tenant.Add(object)
		if err == nil {
			text, _ := made.MarshalJSON()
			b.bytes = len(text)
			x.company(t, b, made)
			return b, count
		}
		if apierrors.IsForbidden(err) || count <= 1 {
			t.Errorf("%s: the API server refuses it: %.500v", l.name, err)
			return b, count
		}
		n = count * 3 / 4
	}
}

// twin is a harmless object of the same size: a pod with long arguments, a PodGroup with a text in
// a field that muster does not read, or a ConfigMap for all others.
func (b belonging) twin() belonging {
	// etcd accepts no more, whatever the size in the API server's JSON.
	text := strings.Repeat("x", min(b.bytes, mostBytes))
	var fields map[string]any
	switch b.object.GetKind() {
	case "Pod":
		fields = map[string]any{"kind": "Pod", "apiVersion": "v1", "spec": map[string]any{"schedulerName": "nobody",
			"containers": []any{map[string]any{"name": "c", "image": "i", "args": []any{text}}}}}
	case "PodGroup":
		fields = testbed.Volcano.PodGroup("", "", 2, nil).Object
		fields["status"] = map[string]any{"x": text}
	default:
		fields = map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "data": map[string]any{"x": text[:min(len(text), 1<<20-1)]}}
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetNamespace(b.object.GetNamespace())
	object.SetName(b.object.GetName())
	if object.GetKind() == "Pod" {
		setMissing(object, plainPod, "spec")
		join(object, b.dialect, object.GetName())
	}
	return belonging{object, b.dialect, b.bytes}
}

func (x *victim) add(t *testing.T, b belonging) {
	made, err := x.tenant.Add(b.object)
	if err != nil {
		t.Errorf("%s %s: %.500v", b.object.GetKind(), b.object.GetName(), err)
		return
	}
	x.company(t, b, made)
}

// company creates what makes muster work with an object: a PodGroup for a pod, pods for another
// object.
func (x *victim) company(t *testing.T, b belonging, made *unstructured.Unstructured) {
	name := made.GetName()
	if made.GetKind() == "Pod" {
		if b.dialect.Version == "" {
			return // its gang has no PodGroup
		}
		if _, err := x.tenant.Add(b.dialect.PodGroup(x.tenant.Namespace, name, 1, nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	for i := range 2 {
		pod := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{}}}
		pod.SetName(fmt.Sprintf("of-%.200s-%d", name, i))
		setMissing(pod, plainPod, "spec")
		switch made.GetKind() {
		case "PodGroup":
			group, _, _ := strings.Cut(made.GetAPIVersion(), "/")
			for _, each := range podGroupDialects {
				if each.Group == group {
					join(pod, each, made.GetName())
				}
			}
		default:
			yes := true
			pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: made.GetAPIVersion(), Kind: made.GetKind(),
				Name: made.GetName(), UID: made.GetUID(), Controller: &yes}})
		}
		if _, err := x.tenant.Add(pod); err != nil {
			t.Errorf("%s: %v", pod.GetName(), err)
		}
	}
}

// tenantGoesOn changes the tenant's objects one after the other, deletes and recreates them, and
// creates many PodGroups at once. Meanwhile it calls the probes, as a kubelet does. stop ends this
// and logs what was done.
func (x *victim) tenantGoesOn(t *testing.T) (stop func(*testing.T)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wait.Wait()
	})
	wait.Go(func() { x.changes(ctx) })
	slowest, failed := time.Duration(0), []string{}
	wait.Go(func() {
		client := http.Client{Timeout: 5 * time.Second} // as in the chart
		for ctx.Err() == nil {
			for _, path := range []string{"/livez", "/readyz"} {
				began := time.Now()
				reply, err := client.Get("http://" + x.m.Ops + path)
				if err != nil {
					failed = append(failed, err.Error())
				} else if reply.Body.Close(); reply.StatusCode != http.StatusOK {
					failed = append(failed, path+" "+reply.Status)
				}
				slowest = max(slowest, time.Since(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return func(t *testing.T) {
		t.Helper()
		cancel()
		wait.Wait()
		t.Logf("the tenant did %v; the slowest probe took %v", x.done, slowest)
		if undone := x.undone(); len(undone) > 0 {
			t.Errorf("these steps of the tenant never succeeded: %q", undone)
		}
		if len(failed) > 0 {
			t.Errorf("%d probes failed: %.1000v", len(failed), failed)
		}
		if memory := x.m.Usage().PeakRSS; memory > mostMemory {
			t.Errorf("muster took %d MiB of memory", memory>>20)
		}
	}
}

// step is a change that the tenant makes to one of its objects.
type step struct {
	name string
	do   func(object *unstructured.Unstructured, n int) error
}

func (x *victim) steps() []step {
	return []step{
		{"label", func(o *unstructured.Unstructured, n int) error {
			return x.tenant.Change(o, map[string]any{"metadata": map[string]any{"labels": map[string]any{"flaps": fmt.Sprint(n)}}})
		}},
		{"delete and add", func(o *unstructured.Unstructured, _ int) error {
			err := x.tenant.Delete(o)
			if err == nil {
				_, err = x.tenant.Add(o)
			}
			return err
		}},
		{"change", func(o *unstructured.Unstructured, n int) error {
			if o.GetKind() == "PodGroup" {
				return x.tenant.Change(o, map[string]any{"spec": map[string]any{"minMember": n % 3}})
			}
			return x.tenant.Change(o, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"flaps": fmt.Sprint(n)}}})
		}},
		{"family", func(_ *unstructured.Unstructured, n int) error { return x.family(n) }},
	}
}

// changes does the steps in turn, at the same rate for all objects. On a slow machine it continues
// after the end until each step has been done once. For example, an object with a finalizer cannot
// be recreated.
func (x *victim) changes(ctx context.Context) {
	const most = 40 // number of tries before a step counts as always refused
	pace := 150 * time.Millisecond
	if x.measured {
		pace = time.Second // otherwise the test would measure the API server
	}
	every := time.NewTicker(pace)
	defer every.Stop()
	steps := x.steps()
	for n := 0; ctx.Err() == nil || (n < most && len(x.undone()) > 0); n++ {
		<-every.C
		step := steps[n%len(steps)]
		what := step.name
		if err := step.do(x.made[n*7%len(x.made)].object, n); err != nil {
			what = fmt.Sprintf("%s: %s", what, apierrors.ReasonForError(err))
		}
		x.done[what]++
	}
}

// undone names the steps of the tenant that have never succeeded.
func (x *victim) undone() (names []string) {
	for _, step := range x.steps() {
		if x.done[step.name] == 0 {
			names = append(names, step.name)
		}
	}
	return names
}

// family creates many PodGroups with subgroups below one parent, or deletes them.
func (x *victim) family(n int) error {
	const children, subgroups = 16, 256
	like := testbed.KAI.PodGroup(x.tenant.Namespace, "", 1, nil)
	if n/4%2 == 1 {
		return x.tenant.DeleteAll(like, "child")
	}
	for i := range children {
		var parts []any
		for k := range subgroups {
			parts = append(parts, map[string]any{"name": fmt.Sprintf("s%d", k), "minMember": int64(1)})
		}
		child := testbed.KAI.PodGroup(x.tenant.Namespace, fmt.Sprintf("child-%d", i), 1, map[string]any{
			"parentPodGroup": "parent", "subGroups": parts})
		child.SetLabels(map[string]string{"child": "yes"})
		if _, err := x.tenant.Add(child); err != nil {
			return err
		}
	}
	return nil
}
