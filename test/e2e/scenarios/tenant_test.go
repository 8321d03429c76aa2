package scenarios

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

const (
	aYear      = 365 * 24 * 3600
	commitMark = "muster.dev/commit"
)

// What kube-scheduler refuses before it calls an extender, and in which plugin.
var refusedUnasked = map[string]func(*corev1.Pod){
	"missing-claim": func(pod *corev1.Pod) { // PreFilter of VolumeBinding
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "nowhere"}}})
	},
	"affinity-to-nobody": func(pod *corev1.Pod) { // no node passes
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nobody"}},
				TopologyKey:   "kubernetes.io/hostname"}}}}
	},
	"missing-device-claim": func(pod *corev1.Pod) { // PreEnqueue of DynamicResources
		name := "nowhere"
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	},
}

// T03: a gang has a timeout of a year, and kube-scheduler refuses one of its members early. Another
// gang gets the reserved room after at most a minute.
func TestT03_EarlyRejectedGangReleasesItsRoom(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{Config: map[string]any{"holdSeconds": 8}})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	patient := map[string]any{"scheduleTimeoutSeconds": int64(aYear)}
	for name, flaw := range refusedUnasked {
		c.Namespace(t, name)
		c.AddNodes(t, testbed.Node(name, testbed.GPUs(2), testbed.Labelled(pool, name)))
		here := testbed.Selecting(pool, name)
		c.Add(t, testbed.Sigs.PodGroup(name, "bad", 2, patient))
		bad := testbed.Members(testbed.Sigs, name, "bad", 2, testbed.GPUs(1), here)
		flaw(bad[1])
		c.AddPods(t, bad...)
		m.WaitState(t, name, "bad", "Planned")
		c.Add(t, testbed.Sigs.PodGroup(name, "good", 2, patient))
		c.AddPods(t, testbed.Members(testbed.Sigs, name, "good", 2, testbed.GPUs(1), here)...)
	}
	for name := range refusedUnasked {
		began := time.Now()
		c.Recorder.WaitBound(t, testbed.InGang(testbed.Sigs, name, "good"), 2, 90*time.Second)
		t.Logf("%s: the other gang got the room after %.0f s", name, time.Since(began).Seconds())
		if n := boundOf(c.Recorder.Pods(testbed.InGang(testbed.Sigs, name, "bad"))); n != 0 {
			t.Errorf("%s: %d members of the refused gang are bound", name, n)
		}
	}
	for name := range refusedUnasked {
		c.DeletePods(t, name, "good-0", "good-1", "bad-0", "bad-1")
	}
	m.WaitNoLeaks(t)
}

// tenants is a gang of four on node a, and a node b with room for one of two waiting gangs: the
// rest of the first, or a rival of higher priority.
type tenants struct {
	c     *testbed.Cluster
	m     *testbed.Muster
	proxy *testbed.FaultProxy
	gang  testbed.Which
	rival testbed.Which
}

func startTenants(t *testing.T) *tenants {
	t.Helper()
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	x := &tenants{c: c, proxy: c.StartFaultProxy(t), gang: testbed.InGang(testbed.Sigs, "ml", "g"),
		rival: testbed.InGang(testbed.Sigs, "other", "rival")}
	x.m = c.StartMuster(t, testbed.MusterOptions{Through: x.proxy})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: x.m})
	c.Namespace(t, "ml")
	c.Namespace(t, "other")
	addPriorityClass(t, c, "high", 1000)
	return x
}

func (x *tenants) rivalWaits(t *testing.T) {
	t.Helper()
	x.c.Add(t, testbed.Sigs.PodGroup("other", "rival", 2, nil))
	x.c.AddPods(t, testbed.Members(testbed.Sigs, "other", "rival", 2, testbed.GPUs(1),
		ofPriority("high"))...)
	x.m.WaitState(t, "other", "rival", "Waiting")
}

// T08: kill -9 cuts a commit short. Its Bindings have added the annotation to the pods, so when
// muster is back, the gang goes before a rival of higher priority.
func TestT08_PartialCommitGoesFirst(t *testing.T) {
	x := startTenants(t)
	x.c.Recorder.Excuse(testbed.Sigs.Key("ml", "g"))
	x.c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)), testbed.Node("b", testbed.GPUs(2)))
	var sent atomic.Int32
	cut := make(chan struct{}, 8)
	x.proxy.Set(func(ctx context.Context, r testbed.Request) testbed.Verdict {
		if !r.Is("POST pods/binding") || sent.Add(1) <= 2 {
			return testbed.Forward
		}
		cut <- struct{}{}
		<-ctx.Done() // until muster has been killed
		return testbed.Sever
	})
	x.c.Add(t, testbed.Sigs.PodGroup("ml", "g", 4, nil))
	x.c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "g", 4, testbed.GPUs(1))...)
	<-cut
	for _, pod := range x.c.Recorder.WaitBound(t, x.gang, 2, 20*time.Second) {
		if mark := pod.Latest.Annotations[commitMark]; pod.Node != "" && mark != pod.UID {
			t.Errorf("%s was bound by a commit, but its annotation is %q and its UID %s", pod.Name, mark, pod.UID)
		}
	}
	x.m.Kill()
	x.proxy.Set(nil)
	x.c.Add(t, testbed.Sigs.PodGroup("other", "rival", 2, nil))
	x.c.AddPods(t, testbed.Members(testbed.Sigs, "other", "rival", 2, testbed.GPUs(1),
		ofPriority("high"))...)
	x.m.Start(t)
	x.c.Recorder.WaitBound(t, x.gang, 4, 60*time.Second)
	if n := boundOf(x.c.Recorder.Pods(x.rival)); n != 0 {
		t.Errorf("%d members of the rival are bound", n)
	}
}

// T08: neither a higher minimum nor a member that was created on a node moves a gang to the front.
func TestT08_RaisedMinimumDoesNotMoveAGangAhead(t *testing.T) {
	x := startTenants(t)
	x.c.Recorder.Excuse(testbed.Sigs.Key("ml", "g"))
	x.c.AddNodes(t, testbed.Node("a", testbed.GPUs(3)))
	x.c.Add(t, testbed.Sigs.PodGroup("ml", "g", 2, nil))
	x.c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "g", 2, testbed.GPUs(1))...)
	x.c.Recorder.WaitBound(t, x.gang, 2, 30*time.Second)
	x.c.EditPodGroup(t, testbed.Sigs, "ml", "g", map[string]any{"minMember": 5})
	more := testbed.Members(testbed.Sigs, "ml", "g", 5, testbed.GPUs(1))[2:]
	more[0].Spec.NodeName = "a" // set by its creator, with the annotation
	more[0].Annotations = map[string]string{commitMark: "forged"}
	x.c.AddPods(t, more...)
	x.m.WaitState(t, "ml", "g", "Recovering")
	x.rivalWaits(t)
	x.c.AddNodes(t, testbed.Node("b", testbed.GPUs(2)))
	x.c.Recorder.WaitBound(t, x.rival, 2, 60*time.Second)
	if n := boundOf(x.c.Recorder.Pods(x.gang)); n != 3 {
		t.Errorf("%d members of the gang are bound, want its first two and the one created on a node", n)
	}
	for _, pod := range x.c.Recorder.Pods(x.rival) {
		if pod.Latest.Annotations[commitMark] != pod.UID {
			t.Errorf("%s lacks the annotation", pod.Name)
		}
	}
	if why := x.m.Gang(t, "ml", "g").Reason.Text; !strings.Contains(why, "room") {
		t.Errorf("the gang waits for %q", why)
	}
}
