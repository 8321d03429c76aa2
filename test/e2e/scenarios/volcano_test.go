package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// articleGroup is the PodGroup of the Volcano article: 8 members, and minResources of 16 CPUs, 64Gi
// and one GPU.
const articleGroup = "../../../examples/volcano/podgroup.yaml"

// articleMembers are the eight pods with one GPU in the article.
func articleMembers(t *testing.T) testbed.Which {
	t.Helper()
	return testbed.InGang(testbed.Volcano, "default", "training-job-pg")
}

func addArticleGang(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	c.ApplyFile(t, articleGroup)
	c.AddPods(t, testbed.Members(testbed.Volcano, "default", "training-job-pg", 8,
		testbed.Amounts{"cpu": "2", "memory": "8Gi", testbed.GPU: "1"})...)
}

// With the queue that the PodGroup names; TestS01_VolcanoNoFreeGPU has none.
func TestS01_VolcanoSixOfEight(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		const reason = "gang default/training-job-pg: 8 members needed, room for 6 (2 short of nvidia.com/gpu)"
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version,
			Dialects: []testbed.Dialect{testbed.Volcano}})
		m := c.StartMuster(t, testbed.MusterOptions{})
		c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
		for i := range 3 {
			c.AddNodes(t, testbed.Node(fmt.Sprintf("gpu-%d", i), testbed.GPUs(2)))
		}
		c.ApplyFile(t, example(t, "volcano/queue.yaml"))
		gang := articleMembers(t)
		addArticleGang(t, c)

		c.Recorder.AllSay(t, gang, 8, reason)
		c.WaitQueueStatus(t, testbed.VolcanoQueues, "default", map[string]any{"state": "Open", "pending": int64(1)})
		c.WaitCondition(t, testbed.Volcano, "default", "training-job-pg", metav1.Condition{
			Type: "Unschedulable", Status: "True", Reason: "NotEnoughResources", Message: reason})
		// A waiting gang reserves nothing.
		c.AddPods(t, testbed.Pod("default", "small", testbed.GPUs(2), testbed.RunningFor(2*time.Second)))
		c.Recorder.WaitFinished(t, testbed.Named("default", "small"), 1, 20*time.Second)
		c.Recorder.NoneBound(t, gang)

		// Only capacity is short.
		c.AddNodes(t, testbed.Node("gpu-3", testbed.GPUs(2)))
		c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
		t.Logf("8 members were bound within %v", c.Recorder.Together(t, gang))
		eventuallyPhase(t, c, testbed.Volcano, "default", "training-job-pg", "Running")
		c.WaitQueueStatus(t, testbed.VolcanoQueues, "default", map[string]any{"running": int64(1), "pending": nil, "allocated": gpus(8)})
	})
}

func TestS01_VolcanoNoFreeGPU(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		const reason = "gang default/training-job-pg: 8 members needed, room for 0 (8 short of nvidia.com/gpu)"
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version,
			Dialects: []testbed.Dialect{testbed.Volcano}})
		m := c.StartMuster(t, testbed.MusterOptions{})
		proxy := testbed.StartVerbProxy(t, m)
		c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: proxy})
		for i := range 3 {
			c.AddNodes(t, testbed.Node(fmt.Sprintf("gpu-%d", i), testbed.GPUs(2)))
			c.AddPods(t, testbed.Pod("default", fmt.Sprintf("filler-%d", i), testbed.GPUs(2)))
		}
		c.Recorder.WaitRunning(t, testbed.Named("default", "filler-0", "filler-1", "filler-2"), 3, 20*time.Second)
		gang := articleMembers(t)
		addArticleGang(t, c)

		// The scheduler makes no call, because its own filters refuse every node. The reason must
		// still reach the user.
		c.WaitCondition(t, testbed.Volcano, "default", "training-job-pg", metav1.Condition{
			Type: "Unschedulable", Status: "True", Reason: "NotEnoughResources", Message: reason})
		c.WaitEvent(t, "Pod", "default", "training-job-pg-0", "", reason)
		testbed.Within(t, 10*time.Second, "the API says why", func() error {
			if got := m.Gang(t, "default", "training-job-pg"); got.State != "Waiting" ||
				!strings.Contains(reason, got.Reason.Text) || got.Reason.Text == "" {
				return fmt.Errorf("the gang is %+v", got)
			}
			return nil
		})
		c.Recorder.NoneBound(t, gang)
		for _, call := range proxy.Calls("filter") {
			if strings.HasPrefix(call.Pod, "default/training-job-pg-") {
				t.Errorf("the scheduler called filter for %s, so the test proves nothing", call.Pod)
			}
		}

		c.DeletePods(t, "default", "filler-0", "filler-1", "filler-2")
		c.AddNodes(t, testbed.Node("gpu-3", testbed.GPUs(2)))
		c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
		c.Recorder.Together(t, gang)
	})
}

func TestS02_GangOfTenWaitsForTwo(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Volcano}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.AddNodes(t,
		testbed.Node("a", testbed.GPUs(4)),
		testbed.Node("b", testbed.GPUs(4)),
		testbed.Node("c", testbed.GPUs(2)))
	c.AddPods(t,
		testbed.Pod("ml", "user-0", testbed.GPUs(1)),
		testbed.Pod("ml", "user-1", testbed.GPUs(1)))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "user-0", "user-1"), 2, 20*time.Second)

	eight := testbed.InGang(testbed.Volcano, "ml", "eight")
	c.Add(t, testbed.Volcano.PodGroup("ml", "eight", 8, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "eight", 8, testbed.GPUs(1),
		testbed.RunningFor(time.Second))...)
	c.Recorder.WaitFinished(t, eight, 8, 30*time.Second)
	c.Recorder.Together(t, eight)

	ten := testbed.InGang(testbed.Volcano, "ml", "ten")
	c.Add(t, testbed.Volcano.PodGroup("ml", "ten", 10, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "ten", 10, testbed.GPUs(1))...)
	c.Recorder.AllSay(t, ten, 10, "gang ml/ten: 10 members needed, room for 8 (2 short of nvidia.com/gpu)")
	c.Recorder.NoneBound(t, ten)

	c.DeletePods(t, "ml", "user-0", "user-1")
	c.Recorder.WaitBound(t, ten, 10, 30*time.Second)
	c.Recorder.Together(t, ten)
}

// eventuallyPhase waits until the status.phase of a PodGroup is this one.
func eventuallyPhase(t *testing.T, c *testbed.Cluster, d testbed.Dialect, namespace, name, phase string) {
	t.Helper()
	testbed.Within(t, 30*time.Second, fmt.Sprintf("PodGroup %s/%s is %s", namespace, name, phase), func() error {
		if now := c.Phase(t, d, namespace, name); now != phase {
			return fmt.Errorf("the phase is %q", now)
		}
		return nil
	})
}

// read returns the content of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
