package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// crashed is a gang of eight on eight GPUs, and a muster that can be killed.
type crashed struct {
	*testing.T
	cluster *testbed.Cluster
	muster  *testbed.Muster
	proxy   *testbed.FaultProxy
	gang    testbed.Which
}

const crashMembers = 8

func prepareCrash(t *testing.T) *crashed {
	t.Helper()
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	s := &crashed{T: t, cluster: c, proxy: c.StartFaultProxy(t),
		gang: testbed.InGang(testbed.Sigs, "ml", "ddp")}
	s.muster = c.StartMuster(t, testbed.MusterOptions{Through: s.proxy})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: s.muster})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", crashMembers, nil))
	return s
}

// add creates the members, on request with the last one for another scheduler.
func (s *crashed) add(lastIsLate bool) {
	members := testbed.Members(testbed.Sigs, "ml", "ddp", crashMembers, testbed.GPUs(1))
	if lastIsLate {
		members[crashMembers-1].Spec.SchedulerName = lateScheduler
	}
	s.cluster.AddPods(s, members...)
}

// waitHeld waits until this many bind calls are held.
func (s *crashed) waitHeld(n int) {
	s.Helper()
	testbed.Within(s, 30*time.Second, fmt.Sprintf("%d binds are held", n), func() error {
		if held := s.muster.Metrics(s).Sum("muster_held_binds"); int(held) != n {
			return fmt.Errorf("%v are held", held)
		}
		return nil
	})
}

// finish deletes everything and checks for leaks.
func (s *crashed) finish() {
	s.Helper()
	var names []string
	for _, pod := range s.cluster.Recorder.Pods(s.gang) {
		names = append(names, pod.Name)
	}
	s.cluster.DeletePods(s, "ml", names...)
	s.muster.WaitNoLeaks(s)
}

func TestC04_KilledWhileBindsAreHeld(t *testing.T) {
	s := prepareCrash(t)
	s.add(true)
	s.waitHeld(crashMembers - 1)
	s.muster.Kill()
	s.muster.Start(t)
	if n := boundOf(s.cluster.Recorder.Pods(s.gang)); n != 0 {
		t.Fatalf("%d members were bound although muster was killed during their holds", n)
	}
	startLateScheduler(t, s.cluster, s.muster)
	s.cluster.Recorder.WaitBound(t, s.gang, crashMembers, 60*time.Second)
	s.cluster.Recorder.Together(t, s.gang)
	if n := s.proxy.Count("POST pods/binding"); n != crashMembers {
		t.Errorf("%d bindings were sent for %d members", n, crashMembers)
	}
	s.finish()
}

// The gang is deleted while muster is down. Afterwards the gang is absent, and nothing is reserved
// for it.
func TestC04_KilledAndGangDeleted(t *testing.T) {
	s := prepareCrash(t)
	s.add(true)
	s.waitHeld(crashMembers - 1)
	s.muster.Kill()
	var names []string
	for _, pod := range s.cluster.Recorder.Pods(s.gang) {
		names = append(names, pod.Name)
	}
	s.cluster.DeletePods(t, "ml", names...)
	s.muster.Start(t)
	s.muster.WaitNoLeaks(t)
	s.cluster.AddPods(t, testbed.Pod("ml", "next", testbed.GPUs(4)), testbed.Pod("ml", "last", testbed.GPUs(4)))
	s.cluster.Recorder.WaitBound(t, testbed.Named("ml", "next", "last"), 2, 30*time.Second)
}

// cutAfter lets so many of these requests through, and holds the others until muster has been killed.
// The channel receives a value when the first one is held.
func cutAfter(proxy *testbed.FaultProxy, request string, through int) <-chan struct{} {
	var sent atomic.Int32
	cut := make(chan struct{}, 1)
	proxy.Set(func(ctx context.Context, r testbed.Request) testbed.Verdict {
		if !r.Is(request) || int(sent.Add(1)) <= through {
			return testbed.Forward
		}
		select {
		case cut <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return testbed.Sever
	})
	return cut
}

// A commit of eight Bindings is cut short after some of them.
func TestC04_KilledWhileACommitIsWritten(t *testing.T) {
	t.Parallel()
	for _, through := range []int{1, 3, 7} {
		t.Run(fmt.Sprintf("after%d", through), func(t *testing.T) {
			s := prepareCrash(t)
			// The gang is partial on purpose. It must be complete soon after muster is back, which
			// the test checks below.
			s.cluster.Recorder.Excuse(testbed.Sigs.Key("ml", "ddp"))
			cut := cutAfter(s.proxy, "POST pods/binding", through)
			s.add(false)
			<-cut
			s.cluster.Recorder.WaitBound(t, s.gang, through, 20*time.Second)
			s.muster.Kill()
			s.proxy.Set(nil)
			if n := boundOf(s.cluster.Recorder.Pods(s.gang)); n != through {
				t.Fatalf("%d members are bound, want a cut after %d", n, through)
			}
			before := s.proxy.Count("POST pods/binding")
			s.muster.Start(t)
			back := time.Now()
			s.cluster.Recorder.WaitBound(t, s.gang, crashMembers, 60*time.Second)
			t.Logf("complete again %.1f s after muster was back", time.Since(back).Seconds())
			if n := s.proxy.Count("POST pods/binding") - before; n != crashMembers-through {
				t.Errorf("%d bindings were sent for the %d missing members", n, crashMembers-through)
			}
			s.finish()
		})
	}
}

// The reply to a Binding is lost: muster finds out the result and does not guess.
func TestC04_BindingReplyLost(t *testing.T) {
	s := prepareCrash(t)
	var lost atomic.Int32
	s.proxy.Set(func(_ context.Context, r testbed.Request) testbed.Verdict {
		if r.Is("POST pods/binding") && lost.Add(1) <= 3 {
			return testbed.LoseReply
		}
		return testbed.Forward
	})
	s.add(false)
	s.cluster.Recorder.WaitBound(t, s.gang, crashMembers, 60*time.Second)
	s.cluster.Recorder.WaitRunning(t, s.gang, crashMembers, 30*time.Second)
	s.finish()
}

// batchThroughProxy is runningBatch with a proxy between muster and the API server.
func batchThroughProxy(t *testing.T) (*testbed.Cluster, *testbed.Muster, *testbed.FaultProxy, testbed.Which) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	proxy := c.StartFaultProxy(t)
	m := c.StartMuster(t, testbed.MusterOptions{Through: proxy})
	return c, m, proxy, fillWithBatch(t, c, m)
}

// Q08: muster is killed between the evictions of a gang's two members. After its restart, it evicts the
// other one too, because muster has marked both before the first eviction.
func TestQ08_KilledWhileAGangIsEvicted(t *testing.T) {
	beside(t)
	c, m, proxy, gang := batchThroughProxy(t)
	cut := cutAfter(proxy, "POST pods/eviction", 1)
	urgent := urgentGang(t, c, 2)
	<-cut
	victims := waitTerminating(t, c, gang, 1)
	m.Kill()
	proxy.Set(nil)
	marked := 0
	for _, pod := range c.Recorder.Pods(gang) {
		if condition := disruption(pod.Latest); condition != nil && condition.Reason == "EvictionByMuster" {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("%d members are marked beside %q, which is Terminating; want 1", marked, victims)
	}
	m.Start(t)
	victims = waitTerminating(t, c, gang, 2)
	c.WaitEvent(t, "PodGroup", "ml", "batch", "Preempted", "evicted because muster was restarted while it evicted the gang")
	for _, name := range victims {
		unfinalize(t, c, name)
	}
	c.Recorder.WaitBound(t, urgent, 2, 30*time.Second)
	clearGang(t, c, urgent)
	m.WaitState(t, "ml", "batch", "Scheduled")
}

// waitMarked waits until so many members have muster's mark, from `since` or later.
func waitMarked(t *testing.T, c *testbed.Cluster, gang testbed.Which, n int, since time.Time) {
	t.Helper()
	testbed.Within(t, max(0, time.Until(since))+30*time.Second, "members are marked", func() error {
		marked := 0
		for _, pod := range c.Recorder.Pods(gang) {
			latest, err := c.Kube.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			condition := disruption(latest)
			if condition != nil && condition.Status == corev1.ConditionTrue && condition.Reason == "EvictionByMuster" &&
				!condition.LastTransitionTime.Time.Before(since) {
				marked++
			}
		}
		if marked != n {
			return fmt.Errorf("%d members are marked, want %d", marked, n)
		}
		return nil
	})
}

// endMark writes what kube-controller-manager writes when a pod was not deleted two minutes after its
// condition DisruptionTarget (syncStalePodDisruption).
func endMark(t *testing.T, c *testbed.Cluster, name string) {
	t.Helper()
	testbed.Within(t, 10*time.Second, "the mark ends", func() error {
		pod, err := c.Kube.CoreV1().Pods("ml").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		*disruption(pod) = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
		_, err = c.Kube.CoreV1().Pods("ml").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
		return err
	})
}

// Q08: the API server refuses the evictions of a gang for more than two minutes. kube-controller-manager
// ends the marks in this time, and muster repeats them.
func TestQ08_MarksLastUntilTheEvictions(t *testing.T) {
	beside(t)
	c, _, proxy, gang := batchThroughProxy(t)
	proxy.Set(func(_ context.Context, r testbed.Request) testbed.Verdict {
		if r.Is("POST pods/eviction") {
			return testbed.Answer(http.StatusTooManyRequests, "a budget forbids it")
		}
		return testbed.Forward
	})
	urgent := urgentGang(t, c, 2)
	waitMarked(t, c, gang, 2, time.Time{})
	if testbed.Small(t, "scenarios-c") {
		for _, pod := range c.Recorder.Pods(gang) {
			endMark(t, c, pod.Name)
		}
		waitMarked(t, c, gang, 2, time.Time{})
	} else {
		c.StartControllersNamed(t, "disruption-controller")
		waitMarked(t, c, gang, 2, time.Now().Add(100*time.Second))
	}
	proxy.Set(nil)
	for _, name := range waitTerminating(t, c, gang, 2) {
		unfinalize(t, c, name)
	}
	c.Recorder.WaitBound(t, urgent, 2, 30*time.Second)
}
