package scenarios

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// madeFor waits until the namespace has one PodGroup with an owner of this kind and name, and
// returns it.
func madeFor(t *testing.T, c *testbed.Cluster, d testbed.Dialect, namespace, kind, owner string) string {
	t.Helper()
	var found []string
	testbed.Within(t, 30*time.Second, "a PodGroup of "+owner, func() error {
		found = nil
		for _, key := range c.PodGroups(t, namespace, d) {
			name := key[strings.LastIndex(key, "/")+1:]
			owners := c.PodGroup(t, d, namespace, name).GetOwnerReferences()
			if len(owners) > 0 && owners[0].Kind == kind && owners[0].Name == owner {
				found = append(found, name)
			}
		}
		if len(found) != 1 {
			return fmt.Errorf("PodGroups of %s: %v", owner, found)
		}
		return nil
	})
	return found[0]
}

const gangJob = `
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: ml
  annotations: {kai.scheduler/batch-min-member: "4"}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      schedulerName: kai-scheduler
      restartPolicy: Never
      containers:
      - {name: c, image: train, resources: {limits: {nvidia.com/gpu: 1}}}
`

// A Job decides how many of its pods start together; no user writes a PodGroup.
func TestW01_JobWithoutAPodGroupGetsOne(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(3)))
	c.Kubectl(t, ".", gangJob, "apply -f -")
	group := madeFor(t, c, testbed.KAI, "ml", "Job", "train")
	gang := testbed.InGang(testbed.KAI, "ml", group)
	c.Recorder.Expect(testbed.KAI.Key("ml", group), 4)
	if is := minMember(t, c, testbed.KAI, "ml", group); is != 4 {
		t.Errorf("minMember is %d, want 4", is)
	}
	c.Recorder.AllSay(t, gang, 4, "gang ml/"+group+": 4 members needed, room for 3 (1 short of nvidia.com/gpu)")
	c.Recorder.NoneBound(t, gang)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(1)))
	c.Recorder.WaitBound(t, gang, 4, 30*time.Second)
	c.Recorder.Together(t, gang)

	// Existing PodGroups are found after a restart, and not written again.
	m.Stop(t)
	before := c.PodGroup(t, testbed.KAI, "ml", group)
	m.Start(t)
	c.Kubectl(t, ".", strings.ReplaceAll(gangJob, "name: train", "name: second"), "apply -f -")
	madeFor(t, c, testbed.KAI, "ml", "Job", "second") // muster works again
	after := c.PodGroup(t, testbed.KAI, "ml", group)
	if before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() {
		t.Errorf("the PodGroup was written again: %v, then %v", before.Object, after.Object)
	}
	c.Kubectl(t, ".", "", "delete job train second -n ml --wait=false")
	noGroups(t, c, "ml", testbed.KAI)
}

// noGroups waits until garbage collection has deleted the PodGroups.
func noGroups(t *testing.T, c *testbed.Cluster, namespace string, d testbed.Dialect) {
	t.Helper()
	testbed.Within(t, 60*time.Second, "the PodGroups go with their owners", func() error {
		if left := c.PodGroups(t, namespace, d); len(left) > 0 {
			return fmt.Errorf("these are left: %v", left)
		}
		return nil
	})
}

// muster is killed after any of its writes. In the end there is one PodGroup, every pod is linked
// to it, and no pod has started before that.
func TestW01_KilledWhilePodGroupsAreCreated(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.KAI}})
	proxy := c.StartFaultProxy(t)
	m := c.StartMuster(t, testbed.MusterOptions{Through: proxy})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	for i, point := range []struct {
		at      string
		verdict testbed.Verdict
		nth     int32
	}{
		{"GET jobs", testbed.LoseReply, 1},
		{"POST podgroups", testbed.Sever, 1},
		{"POST podgroups", testbed.LoseReply, 1},
		{"PATCH pods", testbed.LoseReply, 1},
		{"PATCH pods", testbed.LoseReply, 3},
	} {
		name := fmt.Sprintf("train%d", i)
		killAt(t, m, proxy, point.at, point.nth, point.verdict, func() {
			c.Kubectl(t, ".", strings.ReplaceAll(gangJob, "name: train", "name: "+name), "apply -f -")
		})
		group := madeFor(t, c, testbed.KAI, "ml", "Job", name)
		c.Recorder.Expect(testbed.KAI.Key("ml", group), 4)
		gang := testbed.InGang(testbed.KAI, "ml", group)
		c.Recorder.WaitBound(t, gang, 4, 60*time.Second)
		c.Recorder.Together(t, gang)
		c.Kubectl(t, ".", "", "delete job "+name+" -n ml")
		noGroups(t, c, "ml", testbed.KAI)
	}
}

// killAt kills muster at the nth request of this kind, and starts it again.
func killAt(t *testing.T, m *testbed.Muster, proxy *testbed.FaultProxy, at string, nth int32,
	verdict testbed.Verdict, begin func()) {
	t.Helper()
	var seen atomic.Int32
	reached := make(chan struct{})
	proxy.Set(func(_ context.Context, r testbed.Request) testbed.Verdict {
		if !r.Is(at) || r.Namespace != "ml" {
			return testbed.Forward
		}
		n := seen.Add(1)
		if n == nth {
			close(reached)
		}
		if n >= nth {
			return verdict
		}
		return testbed.Forward
	})
	begin()
	select {
	case <-reached:
	case <-time.After(30 * time.Second):
		t.Fatalf("no request %s came", at)
	}
	m.Kill()
	proxy.Set(nil)
	m.Start(t)
}

// muster does not overwrite what a user edits. A deleted PodGroup is created again with the next
// pod.
func TestW01_EditedAndDeletedPodGroups(t *testing.T) {
	beside(t)
	c, _ := startAll(t, nil, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	job := strings.NewReplacer("completions: 4", "completions: 40", `batch-min-member: "4"`, `batch-min-member: "2"`).Replace(gangJob)
	c.Kubectl(t, ".", job, "apply -f -")
	group := madeFor(t, c, testbed.KAI, "ml", "Job", "train")
	c.Recorder.WaitBound(t, testbed.InGang(testbed.KAI, "ml", group), 4, 30*time.Second)

	// The minimum follows the owner, and so does another field.
	c.Kubectl(t, ".", "", "annotate job train -n ml --overwrite kai.scheduler/batch-min-member=3")
	testbed.Within(t, 20*time.Second, "minMember 3", func() error {
		if is := minMember(t, c, testbed.KAI, "ml", group); is != 3 {
			return fmt.Errorf("the minimum is %d", is)
		}
		return nil
	})
	// The edited field stays, even if the owner changes again.
	c.EditPodGroup(t, testbed.KAI, "ml", group, map[string]any{"minMember": 1, "queue": "mine"})
	c.Kubectl(t, ".", "", "annotate job train -n ml --overwrite kai.scheduler/batch-min-member=4")
	c.Kubectl(t, ".", "", "patch job train -n ml --type merge -p {\"spec\":{\"parallelism\":5}}")
	gang := testbed.InGang(testbed.KAI, "ml", group)
	c.Recorder.WaitBound(t, gang, 5, 30*time.Second)
	spec := c.PodGroup(t, testbed.KAI, "ml", group).Object["spec"].(map[string]any)
	if spec["minMember"] != int64(1) || spec["queue"] != "mine" {
		t.Errorf("the edited field is %v", spec)
	}

	// A deleted PodGroup is created again only when a pod needs it.
	c.Recorder.Excuse(testbed.KAI.Key("ml", group))
	c.DeletePodGroup(t, testbed.KAI, "ml", group)
	c.Recorder.NoMoreBound(t, gang, 5)
	if left := c.PodGroups(t, "ml", testbed.KAI); len(left) > 0 {
		t.Errorf("it was created again although no pod needs it: %v", left)
	}
	c.Kubectl(t, ".", "", "patch job train -n ml --type merge -p {\"spec\":{\"parallelism\":6}}")
	madeFor(t, c, testbed.KAI, "ml", "Job", "train")
	c.Recorder.WaitBound(t, gang, 6, 30*time.Second)
}

// A burst of pods that need PodGroups: each is written once, and a gang with its own PodGroup does
// not wait for them.
func TestW01_BurstOfPodsWithoutPodGroups(t *testing.T) {
	const pods = 400
	alone(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.KAI}})
	proxy := c.StartFaultProxy(t)
	m := c.StartMuster(t, testbed.MusterOptions{Through: proxy})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.Namespace(t, "burst")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	var burst []*corev1.Pod
	for i := range pods {
		burst = append(burst, testbed.Pod("burst", fmt.Sprintf("p%03d", i), testbed.GPUs(16), testbed.WithScheduler("kai-scheduler")))
	}
	started := time.Now()
	created := make(chan struct{})
	go func() {
		defer close(created)
		c.AddPods(t, burst...)
	}()
	t.Cleanup(func() { <-created })
	c.Recorder.WaitExist(t, testbed.InNamespace("burst"), pods/4, 60*time.Second)
	c.Add(t, testbed.KAI.PodGroup("ml", "ddp", 8, nil))
	c.AddPods(t, testbed.Members(testbed.KAI, "ml", "ddp", 8, testbed.GPUs(1))...)
	gang := testbed.InGang(testbed.KAI, "ml", "ddp")
	began := time.Now()
	c.Recorder.WaitBound(t, gang, 8, 20*time.Second)
	t.Logf("the gang was bound after %v", time.Since(began))
	linked := func(p *testbed.PodRecord) bool { return p.Namespace == "burst" && p.Gang != "" }
	c.Recorder.WaitExist(t, linked, pods, 120*time.Second)
	t.Logf("%d pods were created and linked in %v", pods, time.Since(started))
	if made, links := proxy.Count("POST podgroups"), proxy.Count("PATCH pods"); made != pods || links != pods {
		t.Errorf("%d PodGroups were created and %d links written for %d pods", made, links, pods)
	}
}
