package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// Reasons change often in these tests, so pods get them at once. A gang may wait for minutes, and a
// timeout would move it behind others.
var promptReasons = map[string]any{"reasonRefreshSeconds": 1, "scheduleTimeoutSeconds": 600}

// kaiQueue is a queue of KAI below a parent ("": none). It limits only GPUs; -1: not limited.
func kaiQueue(name, parent string, quota, limit int64) *unstructured.Unstructured {
	spec := map[string]any{"resources": map[string]any{
		"gpu":    map[string]any{"quota": quota, "limit": limit, "overQuotaWeight": int64(1)},
		"cpu":    map[string]any{"quota": int64(-1), "limit": int64(-1), "overQuotaWeight": int64(1)},
		"memory": map[string]any{"quota": int64(-1), "limit": int64(-1), "overQuotaWeight": int64(1)},
	}}
	if parent != "" {
		spec["parentQueue"] = parent
	}
	return testbed.KAIQueues.Named(name, spec)
}

// kaiLimits are the fields to merge into a queue of KAI to change what it states about GPUs.
func kaiLimits(fields map[string]any) map[string]any {
	return map[string]any{"spec": map[string]any{"resources": map[string]any{"gpu": fields}}}
}

// gpus is a map of amounts as quotas and statuses have it.
func gpus(n int) map[string]any { return map[string]any{string(testbed.GPU): fmt.Sprint(n)} }

// addQueued adds a gang of n pods of one GPU each whose PodGroup names a queue.
func addQueued(t *testing.T, c *testbed.Cluster, d testbed.Dialect, namespace, name, queue string, n int,
	changes ...func(*corev1.Pod)) testbed.Which {
	t.Helper()
	c.Add(t, d.PodGroup(namespace, name, n, map[string]any{"queue": queue}))
	c.AddPods(t, testbed.Members(d, namespace, name, n, testbed.GPUs(1), changes...)...)
	return testbed.InGang(d, namespace, name)
}

// runs waits until a gang runs, and checks that it started together.
func runs(t *testing.T, c *testbed.Cluster, gang testbed.Which, n int) {
	t.Helper()
	c.Recorder.WaitRunning(t, gang, n, 30*time.Second)
	c.Recorder.Together(t, gang)
}

// waits checks that none of a gang's n pods is bound, and that its pods and an event of its PodGroup
// give the reason.
func waits(t *testing.T, c *testbed.Cluster, m *testbed.Muster, name string, gang testbed.Which, n int, code, reason string) {
	t.Helper()
	namespace, short, _ := strings.Cut(name, "/")
	reason = "gang " + name + ": " + reason
	c.Recorder.AllSay(t, gang, n, reason)
	c.WaitEvent(t, "PodGroup", namespace, short, "Unschedulable", reason)
	if got := m.Gang(t, namespace, short); got.State != "Waiting" || got.Reason.Code != code {
		t.Errorf("muster says of %s: %+v, not %s", name, got, code)
	}
	c.Recorder.NoneBound(t, gang)
}

// unbound selects the pods of a gang that have no node.
func unbound(gang testbed.Which) testbed.Which {
	return func(p *testbed.PodRecord) bool { return gang(p) && p.Bound.IsZero() }
}

// end deletes pods, some of them if n is not 0.
func end(t *testing.T, c *testbed.Cluster, which testbed.Which, n int) {
	t.Helper()
	pods := c.Recorder.Pods(which)
	pods = slices.DeleteFunc(pods, func(p testbed.PodRecord) bool { return !p.Erased.IsZero() })
	if n == 0 {
		n = len(pods)
	}
	for _, pod := range pods[:n] {
		c.DeletePods(t, pod.Namespace, pod.Name)
	}
}

// showsAll checks that an output has all of these texts.
func showsAll(t *testing.T, what, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%s does not show %q:\n%s", what, text, out)
		}
	}
}

// Q01: the limits of a KAI queue, and of the queue above it, hold for whole gangs, for members beyond the
// minimum, and for pods without a PodGroup. The status shows the use.
func TestQ01_KAIQueues(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(16)), testbed.Node("b", testbed.GPUs(16)))
	c.Add(t, kaiQueue("research", "", 8, 13))
	c.Add(t, kaiQueue("training", "research", 6, 9))
	c.Add(t, kaiQueue("inference", "research", 2, -1))
	single := func(name string) testbed.Which {
		c.AddPods(t, testbed.Pod("ml", name, testbed.GPUs(1), labelled("kai.scheduler/queue", "training")))
		return testbed.Named("ml", name)
	}

	runs(t, c, single("notebook"), 1)
	ddp := addQueued(t, c, testbed.KAI, "ml", "ddp", "training", 6)
	runs(t, c, ddp, 6)
	big := addQueued(t, c, testbed.KAI, "ml", "big", "training", 8)
	waits(t, c, m, "ml/big", big, 8, "QueueLimitReached",
		"8 members needed (8 gpu), but queue training uses 7 of its limit of 9 gpu")
	serve := addQueued(t, c, testbed.KAI, "ml", "serve", "inference", 7)
	waits(t, c, m, "ml/serve", serve, 7, "QueueLimitReached",
		"7 members needed (7 gpu), but queue research (above queue inference) uses 7 of its limit of 13 gpu")
	end(t, c, serve, 0)
	c.DeletePodGroup(t, testbed.KAI, "ml", "serve")

	// Members beyond the minimum fill what is left, and no more.
	c.Add(t, testbed.KAI.PodGroup("ml", "elastic", 2, map[string]any{"queue": "inference"}))
	c.AddPods(t, testbed.Members(testbed.KAI, "ml", "elastic", 8, testbed.GPUs(1))...)
	elastic := testbed.InGang(testbed.KAI, "ml", "elastic")
	c.Recorder.WaitRunning(t, elastic, 6, 30*time.Second)
	c.Recorder.AllSay(t, unbound(elastic), 2, "queue research (above queue inference) uses 13 of its limit of 13 gpu")
	c.Recorder.NoMoreBound(t, elastic, 6)
	late := single("late")
	c.Recorder.AllSay(t, late, 1,
		"pod ml/late: 1 gpu needed, but queue research (above queue training) uses 13 of its limit of 13 gpu")
	c.Recorder.NoneBound(t, late)
	end(t, c, late, 0)

	checkKAIStatus(t, c, m)
	checkQueueMetrics(t, m)

	// What ends makes room: first the leaf has enough of it, then the queue above.
	end(t, c, unbound(elastic), 0)
	end(t, c, ddp, 0)
	// kube-scheduler may try the pods before muster sees the last end. The node makes it try them again.
	c.WaitQueueStatus(t, testbed.KAIQueues, "training", map[string]any{"allocated": gpus(1)})
	c.AddNodes(t, testbed.Node("c", testbed.GPUs(0)))
	c.Recorder.AllSay(t, big, 8, "queue research (above queue training) uses 7 of its limit of 13 gpu")
	c.Recorder.NoneBound(t, big)
	end(t, c, elastic, 2)
	runs(t, c, big, 8)
	kai := testbed.KAIQueues
	c.WaitQueueStatus(t, kai, "training", map[string]any{"allocated": gpus(9), "requested": gpus(9)})
	c.WaitQueueStatus(t, kai, "research", map[string]any{"allocated": gpus(13), "requested": gpus(13)})
}

// checkQueueMetrics checks the metrics while research uses 13 GPUs and the gang big waits.
func checkQueueMetrics(t *testing.T, m *testbed.Muster) {
	t.Helper()
	metrics := m.Metrics(t)
	for name, want := range map[string]float64{
		"muster_queue_used": 13, "muster_queue_deserved": 8, "muster_queue_limit": 13, "muster_queue_borrowed": 5,
	} {
		if got := metrics.Sum(name, `queue="research"`, `resource="gpu"`); got != want {
			t.Errorf("%s of research: %v, not %v", name, got, want)
		}
	}
	if got := metrics.Sum("muster_queue_waiting_gangs", `queue="training"`); got < 1 {
		t.Errorf("%v gangs wait in queue training, not at least 1", got)
	}
	if got := metrics.Sum("muster_queue_info", `queue="training"`, `parent="research"`, `state="Open"`); got != 1 {
		t.Errorf("muster_queue_info of training: %v, not 1", got)
	}
}

// labelled sets a label of a pod.
func labelled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value) }
}

// checkKAIStatus checks the statuses while research uses 13 GPUs, and what kubectl and muster show of them.
func checkKAIStatus(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	kai := testbed.KAIQueues
	c.WaitQueueStatus(t, kai, "training", map[string]any{
		"allocated": gpus(7), "requested": gpus(15), "allocatedNonPreemptible": gpus(0)})
	c.WaitQueueStatus(t, kai, "inference", map[string]any{"allocated": gpus(6), "requested": gpus(6)})
	c.WaitQueueStatus(t, kai, "research", map[string]any{"allocated": gpus(13), "requested": gpus(21),
		"childQueues": []any{"inference", "training"}})
	over := metav1.Condition{Type: "OverQuota", Status: "True", Message: "gpu: 6 used, quota is 2"}
	c.WaitQueueCondition(t, kai, "inference", over)

	shown := c.Kubectl(t, c.Dir, "", "get queues")
	for name, row := range map[string][]string{
		"NAME":      {"PARENT", "PRIORITY", "GPU QUOTA", "GPU LIMIT", "GPU ALLOCATED", "AGE"},
		"inference": {"research", "2", "-1", "6"},
		"research":  {"8", "13", "13"},
		"training":  {"research", "6", "9", "7"},
	} {
		line := strings.Join(strings.Fields(lineOf(shown, name)), " ")
		if !strings.HasPrefix(line, name+" "+strings.Join(row, " ")) {
			t.Errorf("kubectl get queues shows %q, not %q:\n%s", line, row, shown)
		}
	}
	shown = c.Kubectl(t, c.Dir, "", "describe queue training")
	showsAll(t, "kubectl describe queue training", shown, "Allocated:", "nvidia.com/gpu:  7", "Requested:", "nvidia.com/gpu:  15", "OverQuota")
	testbed.Within(t, 10*time.Second, "muster get queues shows the tree", func() error {
		shown = command(t, m, "get", "queues", "--server", m.Ops)
		for name, row := range map[string]string{"research": "Open 1 2", "  inference": "Open 0 1", "  training": "Open 1 1"} {
			line := strings.Join(strings.Fields(lineOf(shown, name)), " ")
			if !strings.HasPrefix(line, strings.TrimSpace(name)+" "+row) {
				return fmt.Errorf("%s is not %s in\n%s", name, row, shown)
			}
		}
		return nil
	})
	shown = command(t, m, "explain", "ml/big", "--server", m.Ops)
	showsAll(t, "muster explain", shown, "queue training uses 7 of its limit of 9 gpu", "1st in queue training")
	later := map[string]testbed.Which{}
	for _, name := range []string{"second", "third"} {
		later[name] = addQueued(t, c, testbed.KAI, "ml", name, "training", 8)
		waits(t, c, m, "ml/"+name, later[name], 8, "QueueLimitReached",
			"8 members needed (8 gpu), but queue training uses 7 of its limit of 9 gpu")
	}
	showsAll(t, "muster explain", command(t, m, "explain", "ml/third", "--server", m.Ops),
		"3rd in queue training, behind ml/big and ml/second")
	for name, which := range later {
		end(t, c, which, 0)
		c.DeletePodGroup(t, testbed.KAI, "ml", name)
	}
}

// lineOf is the line of a table that begins with these words.
func lineOf(table, begin string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, begin+" ") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// Q01: a KAI gang that is not preemptible fits only into what its queue, and each queue above, deserves.
func TestQ01_KAINotPreemptible(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(16)))
	addPriorityClass(t, c, "inference", 100)
	c.Add(t, kaiQueue("top", "", 5, -1))
	c.Add(t, kaiQueue("left", "top", 4, -1))
	c.Add(t, kaiQueue("right", "top", 3, -1))
	add := func(name, queue string, n int, key, value string) testbed.Which {
		c.Add(t, testbed.KAI.PodGroup("ml", name, n, map[string]any{"queue": queue, key: value}))
		c.AddPods(t, testbed.Members(testbed.KAI, "ml", name, n, testbed.GPUs(1))...)
		return testbed.InGang(testbed.KAI, "ml", name)
	}

	runs(t, c, add("four", "left", 4, "preemptibility", "non-preemptible"), 4)
	// A priority of 100 means the same.
	waits(t, c, m, "ml/two", add("two", "right", 2, "priorityClassName", "inference"), 2, "QueueDeservedReached",
		"2 members needed (2 gpu), but non-preemptible gangs and pods, such as this one, may use only the 5 gpu that queue top "+
			"(above queue right) deserves, and 4 of these are in use")
	five := add("five", "right", 5, "preemptibility", "non-preemptible")
	waits(t, c, m, "ml/five", five, 5, "QueueDeservedReached",
		"5 members needed (5 gpu), but non-preemptible gangs and pods, such as this one, may use only the "+
			"3 gpu that queue right deserves, and 0 of these are in use")
	c.EditPodGroup(t, testbed.KAI, "ml", "five", map[string]any{"preemptibility": "preemptible"})
	runs(t, c, five, 5)
	c.WaitQueueStatus(t, testbed.KAIQueues, "top", map[string]any{"allocated": gpus(9),
		"allocatedNonPreemptible": gpus(4), "requested": gpus(11)})

	// The label of a pod without a PodGroup says the same.
	single := func(name, preemptibility string) testbed.Which {
		c.AddPods(t, testbed.Pod("ml", name, testbed.GPUs(2), labelled("kai.scheduler/queue", "right"),
			labelled("kai.scheduler/preemptibility", preemptibility)))
		return testbed.Named("ml", name)
	}
	c.Recorder.AllSay(t, single("stays", "non-preemptible"), 1, "pod ml/stays: 2 gpu needed, but non-preemptible gangs and pods, "+
		"such as this one, may use only the 5 gpu that queue top (above queue right) deserves, and 4 of these are in use")
	runs(t, c, single("yields", "preemptible"), 1)
	minimumRuntimes(t, c, m)
}

// minimumRuntimes: muster shows the runtimes that a queue states, and a wrong one makes the queue invalid.
func minimumRuntimes(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	shows := func(what string, texts ...string) {
		t.Helper()
		testbed.Within(t, 10*time.Second, what, func() error {
			shown := command(t, m, "get", "queues", "-o", "json", "--server", m.Ops)
			for _, text := range texts {
				if !strings.Contains(shown, text) {
					return fmt.Errorf("muster get queues -o json does not show %q:\n%s", text, shown)
				}
			}
			return nil
		})
	}
	runtimes := map[string]any{"preemptMinRuntime": "5m", "reclaimMinRuntime": "1h0m0s"}
	c.EditQueue(t, testbed.KAIQueues, "left", map[string]any{"spec": runtimes})
	shows("the minimum runtimes", `"preemptMinRuntime":"5m"`, `"reclaimMinRuntime":"1h"`)
	runtimes["preemptMinRuntime"] = "5"
	c.EditQueue(t, testbed.KAIQueues, "left", map[string]any{"spec": runtimes})
	const says = `spec.preemptMinRuntime is "5", must be a duration with a unit, such as 5m`
	shows("a wrong minimum runtime", strings.ReplaceAll(says, `"`, `\"`))
	testbed.Within(t, 10*time.Second, "a condition of the queue", func() error {
		if shown := c.Kubectl(t, c.Dir, "", "describe queue left"); !strings.Contains(shown, says) {
			return fmt.Errorf("kubectl describe queue left does not say so:\n%s", shown)
		}
		return nil
	})
}

// Q01: gangs that wait for their queue keep muster's gate, even if gangs that lack nodes are shown to
// autoscalers: new nodes would not help.
func TestQ01_QuotaKeepsTheGate(t *testing.T) {
	beside(t)
	c, m := startAll(t, map[string]any{"reasonRefreshSeconds": 1,
		"gates": map[string]any{"enabled": true, "showToAutoscaler": true}}, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	c.Add(t, kaiQueue("limited", "", 2, 2))
	c.Add(t, kaiQueue("open", "", 2, -1))
	gated := testbed.Gated(testbed.Gate)
	quota := addQueued(t, c, testbed.KAI, "ml", "quota", "limited", 3, gated)
	nodes := addQueued(t, c, testbed.KAI, "ml", "nodes", "open", 3, gated)
	allHave(t, c, nodes, 3) // shown after some seconds
	const reason = "gang ml/quota: 3 members needed (3 gpu), but queue limited uses 0 of its limit of 2 gpu"
	c.Recorder.AllSay(t, quota, 3, reason)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(8)))
	runs(t, c, nodes, 3)
	allHave(t, c, quota, 3, testbed.Gate)
	if reasons := conditionReasons(c, quota); !slices.Equal(reasons, []string{"SchedulingGated"}) {
		t.Errorf("the reasons of the conditions are %v", reasons)
	}
	if got := m.Gang(t, "ml", "quota"); got.Reason.Code != "QueueLimitReached" {
		t.Errorf("muster reports %+v", got)
	}
	c.EditQueue(t, testbed.KAIQueues, "limited", kaiLimits(map[string]any{"limit": 3}))
	runs(t, c, quota, 3)
}

// Q01: capability and guarantee of Volcano's queues, the queue that a namespace names, fifo, and the status.
func TestQ01_VolcanoQueues(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.Volcano)
	volcano := testbed.VolcanoQueues
	for _, namespace := range []string{"ml", "vision"} {
		c.Namespace(t, namespace)
	}
	c.Kubectl(t, c.Dir, "", "annotate namespace vision scheduling.volcano.sh/queue-name=right")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)))
	c.Add(t, volcano.Named("team", map[string]any{"capability": gpus(8)}))
	c.Add(t, volcano.Named("left", map[string]any{"parent": "team", "capability": gpus(6)}))
	c.Add(t, volcano.Named("right", map[string]any{"parent": "team", "guarantee": map[string]any{"resource": gpus(3)}}))

	six := addQueued(t, c, testbed.Volcano, "ml", "six", "left", 6)
	const reserved = "6 members needed (6 nvidia.com/gpu), but queue left may use only 5 nvidia.com/gpu, " +
		"because the rest of the cluster is reserved for other queues; 5 of these are free"
	waits(t, c, m, "ml/six", six, 6, "RoomReservedForQueue", reserved)
	three := addQueued(t, c, testbed.Volcano, "ml", "three", "right", 3)
	runs(t, c, three, 3) // what is reserved for it
	const above = "6 members needed (6 nvidia.com/gpu), but queue team (above queue left) uses 3 of its limit of 8 nvidia.com/gpu"
	waits(t, c, m, "ml/six", six, 6, "QueueLimitReached", above)
	c.WaitQueueStatus(t, volcano, "team", map[string]any{"state": "Open", "allocated": gpus(3),
		"running": int64(1), "pending": int64(1)})
	end(t, c, three, 0)
	c.DeletePodGroup(t, testbed.Volcano, "ml", "three")
	waits(t, c, m, "ml/six", six, 6, "RoomReservedForQueue", reserved)
	c.EditQueue(t, volcano, "right", map[string]any{"spec": map[string]any{"guarantee": nil}})
	runs(t, c, six, 6)
	waits(t, c, m, "ml/one", addQueued(t, c, testbed.Volcano, "ml", "one", "left", 1), 1, "QueueLimitReached",
		"1 member needed (1 nvidia.com/gpu), but queue left uses 6 of its limit of 6 nvidia.com/gpu")

	// PodGroups of this namespace that name no queue, or "default".
	few := addQueued(t, c, testbed.Volcano, "vision", "few", "default", 2)
	runs(t, c, few, 2)
	c.Add(t, testbed.Volcano.PodGroup("vision", "more", 1, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "vision", "more", 1, testbed.GPUs(1))...)
	waits(t, c, m, "vision/more", testbed.InGang(testbed.Volcano, "vision", "more"), 1, "QueueLimitReached",
		"1 member needed (1 nvidia.com/gpu), but queue team (above queue right) uses 8 of its limit of 8 nvidia.com/gpu")
	c.WaitQueueStatus(t, volcano, "right", map[string]any{"state": "Open", "allocated": gpus(2),
		"running": int64(1), "pending": int64(1)})
	shown := c.Kubectl(t, c.Dir, "", "get queues")
	for name, row := range map[string]string{
		"NAME":  "STATE PARENT WEIGHT RUNNING PENDING GPU ALLOCATED AGE",
		"left":  "Open team 1 1 1 6",
		"right": "Open team 1 1 1 2",
		"team":  "Open 1 2 2 8",
	} {
		if line := strings.Join(strings.Fields(lineOf(shown, name)), " "); !strings.HasPrefix(line, name+" "+row) {
			t.Errorf("kubectl get queues shows %q, not %q:\n%s", line, row, shown)
		}
	}
	showsAll(t, "kubectl describe queue left", c.Kubectl(t, c.Dir, "", "describe queue left"),
		"Allocated:", "nvidia.com/gpu:  6", "Running:", "State:", "Open")

	nothingPasses(t, c, m)
}

// Q01: "Multiple queues can be defined with different priorities. A default queue might allow smaller jobs to
// run while waiting for the gang", says the Volcano article.
func TestQ01_QueuesOfTheVolcanoArticle(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.Volcano)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	c.Kubectl(t, example(t, "volcano"), "", "apply -f queue.yaml") // "default"
	c.Add(t, testbed.VolcanoQueues.Named("training", map[string]any{"priority": int64(100)}))

	gang := addQueued(t, c, testbed.Volcano, "ml", "gang", "training", 10)
	waits(t, c, m, "ml/gang", gang, 10, "NotEnoughResources",
		"10 members needed, room for 8 (2 short of nvidia.com/gpu)")
	runs(t, c, addQueued(t, c, testbed.Volcano, "ml", "small", "default", 2), 2)
	c.WaitQueueStatus(t, testbed.VolcanoQueues, "training", map[string]any{"state": "Open", "pending": int64(1)})
	c.WaitQueueStatus(t, testbed.VolcanoQueues, "default", map[string]any{"state": "Open", "running": int64(1)})

	// A gang of the default queue that came first waits for the queue of higher priority.
	eight := addQueued(t, c, testbed.Volcano, "ml", "eight", "default", 8)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(4)))
	runs(t, c, gang, 10)
	c.Recorder.NoneBound(t, eight)
}

// nothingPasses: in a queue that is first in, first out, a small gang waits behind one that does not fit. Eight
// GPUs are free.
func nothingPasses(t *testing.T, c *testbed.Cluster, m *testbed.Muster) {
	t.Helper()
	c.Add(t, testbed.VolcanoQueues.Named("line", map[string]any{"dequeueStrategy": "fifo"}))
	nine := addQueued(t, c, testbed.Volcano, "ml", "nine", "line", 9)
	waits(t, c, m, "ml/nine", nine, 9, "NotEnoughResources", "9 members needed, room for 8 (1 short of nvidia.com/gpu)")
	behind := addQueued(t, c, testbed.Volcano, "ml", "behind", "line", 1)
	waits(t, c, m, "ml/behind", behind, 1, "BehindInQueue",
		"waits for the gangs ahead of it in queue line, which is first in, first out")
	end(t, c, nine, 0)
	runs(t, c, behind, 1)
}

// Q01: an ElasticQuota of scheduler-plugins holds for all pods of its namespace.
func TestQ01_ElasticQuotas(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.SchedulerPlugins)
	d, quotas := testbed.SchedulerPlugins, testbed.ElasticQuotas
	for _, namespace := range []string{"ml", "free"} {
		c.Namespace(t, namespace)
	}
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)))
	c.Add(t, quotas.Named("ml/team", map[string]any{"min": gpus(4), "max": gpus(6)}))
	single := func(name string) testbed.Which {
		c.AddPods(t, testbed.Pod("ml", name, testbed.GPUs(1)))
		return testbed.Named("ml", name)
	}

	four := addGroup(t, c, d, "ml", "four", 4)
	runs(t, c, four, 4)
	runs(t, c, single("notebook"), 1)
	two := addGroup(t, c, d, "ml", "two", 2)
	waits(t, c, m, "ml/two", two, 2, "QueueLimitReached",
		"2 members needed (2 nvidia.com/gpu), but queue team uses 5 of its limit of 6 nvidia.com/gpu")
	runs(t, c, single("other"), 1)
	third := single("third")
	c.Recorder.AllSay(t, third, 1, "pod ml/third: 1 nvidia.com/gpu needed, but queue team uses 6 of its limit of 6 nvidia.com/gpu")
	runs(t, c, addGroup(t, c, d, "free", "eight", 8), 8) // no quota there
	c.WaitQueueStatus(t, quotas, "ml/team", map[string]any{"used": gpus(6)})
	showsAll(t, "kubectl describe elasticquota", c.Kubectl(t, c.Dir, "", "-n ml describe elasticquota team"),
		"Used:", "nvidia.com/gpu:  6")

	end(t, c, four, 0)
	runs(t, c, two, 2)
	runs(t, c, third, 1)
	c.WaitQueueStatus(t, quotas, "ml/team", map[string]any{"used": gpus(5)})
}

// addGroup adds a gang of n pods of one GPU each.
func addGroup(t *testing.T, c *testbed.Cluster, d testbed.Dialect, namespace, name string, n int,
	changes ...func(*corev1.Pod)) testbed.Which {
	t.Helper()
	c.Add(t, d.PodGroup(namespace, name, n, nil))
	c.AddPods(t, testbed.Members(d, namespace, name, n, testbed.GPUs(1), changes...)...)
	return testbed.InGang(d, namespace, name)
}

// Q01: Koordinator's ElasticQuotas form a tree by labels, and pods name theirs in a label. The kind has no
// status subresource.
func TestQ01_KoordinatorQuotas(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.SigsWithQuotas)
	d, quotas := testbed.SigsWithQuotas, testbed.KoordinatorQuotas
	const key = "quota.scheduling.koordinator.sh/"
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)))
	for name, labels := range map[string]map[string]string{
		"company": {key + "is-parent": "true"}, "left": {key + "parent": "company"}, "right": {key + "parent": "company"},
	} {
		most := map[string]int{"company": 8, "left": 6, "right": 8}[name]
		quota := quotas.Named("kube-system/"+name, map[string]any{"max": gpus(most)})
		quota.SetLabels(labels)
		c.Add(t, quota)
	}
	in := func(quota string) func(*corev1.Pod) { return labelled(key+"name", quota) }

	four := addGroup(t, c, d, "ml", "four", 4, in("left"))
	runs(t, c, four, 4)
	three := addGroup(t, c, d, "ml", "three", 3, in("left"))
	waits(t, c, m, "ml/three", three, 3, "QueueLimitReached",
		"3 members needed (3 nvidia.com/gpu), but queue left uses 4 of its limit of 6 nvidia.com/gpu")
	waits(t, c, m, "ml/five", addGroup(t, c, d, "ml", "five", 5, in("right")), 5, "QueueLimitReached",
		"5 members needed (5 nvidia.com/gpu), but queue company (above queue right) uses 4 of its limit of 8 nvidia.com/gpu")
	runs(t, c, addGroup(t, c, d, "ml", "more", 4, in("right")), 4)
	for name, used := range map[string]int{"company": 8, "left": 4, "right": 4} {
		c.WaitQueueStatus(t, quotas, "kube-system/"+name, map[string]any{"used": gpus(used)})
	}
	end(t, c, four, 0)
	runs(t, c, three, 3)

	// Pods without the label are in the quota that lists their namespace, or in the default quota.
	listed := quotas.Named("kube-system/listed", map[string]any{"max": gpus(1)})
	listed.SetAnnotations(map[string]string{key + "namespaces": `["vision", "speech"]`})
	c.Add(t, listed)
	c.Add(t, quotas.Named("kube-system/koordinator-default-quota", map[string]any{"max": gpus(1)}))
	for namespace, quota := range map[string]string{"speech": "listed", "other": "koordinator-default-quota"} {
		c.Namespace(t, namespace)
		waits(t, c, m, namespace+"/two", addGroup(t, c, d, namespace, "two", 2), 2, "QueueLimitReached",
			"2 members needed (2 nvidia.com/gpu), but queue "+quota+" uses 0 of its limit of 1 nvidia.com/gpu")
	}
}

// The section "Two teams on one cluster" of docs/queues.md shows what is seen.
func TestQueuesWalk_TwoTeams(t *testing.T) {
	beside(t)
	walkDevCluster(t, "../../../docs/queues.md")
}
