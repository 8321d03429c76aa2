package scenarios

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// broken is a queue with an error: what its gang and its object say, and how it is repaired.
type broken struct {
	queue        string // that the gang names
	code, reason string
	object       string // that has the error; "": there is none
	condition    metav1.Condition
	repair       func()
}

// Q05: a gang whose queue has an error waits and says which one; its object says so too. Gangs of other queues
// start. After the repair, the gang starts without a change to its pods.
func TestQ05_BrokenKAIQueues(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.KAI)
	kai := testbed.KAIQueues
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(16)), testbed.Node("b", testbed.GPUs(16)))
	c.Add(t, kaiQueue("good", "", 4, -1))
	c.Add(t, kaiQueue("orphan", "nobody", 4, -1))
	c.Add(t, kaiQueue("ring-a", "ring-b", 4, -1))
	c.Add(t, kaiQueue("ring-b", "ring-a", 4, -1))
	c.Add(t, kaiQueue("below-ring", "ring-a", 4, -1))
	c.Add(t, kaiQueue("small", "", 2, -1))
	c.Add(t, kaiQueue("greedy", "small", 4, -1))
	c.Add(t, kaiQueue("top", "", 4, -1))
	c.Add(t, kaiQueue("leaf", "top", 4, -1))
	c.Add(t, kai.Named("empty", map[string]any{}))
	parent := func(queue string, parent any) func() {
		return func() {
			c.EditQueue(t, kai, queue, map[string]any{"spec": map[string]any{"parentQueue": parent}})
		}
	}
	invalid := func(text string) metav1.Condition {
		return metav1.Condition{Type: "Invalid", Status: "True", Reason: "InvalidQueue", Message: text}
	}
	cases := map[string]broken{
		"missing": {queue: "nowhere", code: "QueueNotFound",
			reason: "queue nowhere does not exist; create it or name another queue",
			repair: func() { c.Add(t, kaiQueue("nowhere", "", 4, -1)) }},
		"no-parent": {queue: "orphan", code: "InvalidQueue",
			reason: "queue orphan cannot be used: queue orphan: spec.parentQueue is nobody, which does not exist; " +
				"create it or name another parent",
			object: "orphan", condition: metav1.Condition{Type: "Orphan", Status: "True", Reason: "ParentNotFound",
				Message: "spec.parentQueue is nobody, which does not exist; create it or name another parent"},
			repair: func() { c.Add(t, kaiQueue("nobody", "", 4, -1)) }},
		"cycle": {queue: "below-ring", code: "InvalidQueue",
			reason: "queue below-ring cannot be used: queue ring-a: spec.parentQueue is ring-b, which makes it its own " +
				"ancestor; name another parent, or none",
			object: "ring-b", condition: invalid("queue ring-b: spec.parentQueue is ring-a, which makes it its own ancestor; " +
				"name another parent, or none"),
			repair: parent("ring-b", nil)},
		"greedy": {queue: "greedy", code: "InvalidQueue",
			reason: "queue greedy cannot be used: queue greedy: it deserves 4 gpu, and its parent small only 2; " +
				"lower the one or raise the other",
			object: "greedy", condition: invalid("it deserves 4 gpu, and its parent small only 2"),
			repair: func() { c.EditQueue(t, kai, "small", kaiLimits(map[string]any{"quota": 4})) }},
		"not-a-leaf": {queue: "top", code: "InvalidQueue", reason: "queue top has queues below it; name one of these",
			repair: func() { c.DeleteQueue(t, kai, "leaf") }},
		"without-limits": {queue: "empty", code: "QueueLimitReached",
			reason: "2 members needed (2 gpu), but queue empty uses 0 of its limit of 0 gpu, because a limit that is not set " +
				"allows nothing",
			object: "empty", condition: metav1.Condition{Type: "LimitNotSet", Status: "True",
				Message: "a limit that is not set allows nothing: spec.resources.cpu.limit, spec.resources.memory.limit, " +
					"spec.resources.gpu.limit; set each of them, or write -1 for no limit"},
			repair: func() { c.EditQueue(t, kai, "empty", kaiQueue("empty", "", 4, -1).Object) }},
	}
	gangs := map[string]testbed.Which{}
	for name, each := range cases {
		gangs[name] = addQueued(t, c, testbed.KAI, "ml", name, each.queue, 2)
	}
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "good", "good", 2), 2)
	for name, each := range cases {
		waits(t, c, m, "ml/"+name, gangs[name], 2, each.code, each.reason)
		if each.object != "" {
			c.WaitQueueCondition(t, kai, each.object, each.condition)
		}
	}
	for name, each := range cases {
		each.repair()
		runs(t, c, gangs[name], 2)
		if each.object != "" {
			// The condition is False, or gone.
			each.condition.Status, each.condition.Reason, each.condition.Message = "False", "", ""
			c.WaitQueueCondition(t, kai, each.object, each.condition)
		}
	}
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "also-good", "good", 2), 2)

	// The API server refuses what the schema forbids.
	c.KubectlRefuses(t, `{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: negative}, `+
		`spec: {resources: {gpu: {limit: -2}}}}`, "create -f -", "spec.resources.gpu.limit")
}

// Q05: a closed queue of Volcano starts nothing new and leaves running gangs alone. Closing becomes Closed when
// none of its PodGroups is left. A queue with an error gets an event.
func TestQ05_ClosedVolcanoQueue(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.Volcano)
	volcano := testbed.VolcanoQueues
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(16)))
	for _, name := range []string{"closing", "open"} {
		c.Add(t, volcano.Named(name, map[string]any{"weight": int64(1)}))
	}
	c.Add(t, volcano.Named("negative", map[string]any{"capability": map[string]any{"nvidia.com/gpu": "-1"}}))
	setState := func(state string) {
		c.EditQueue(t, volcano, "closing", map[string]any{"status": map[string]any{"state": state}}, "status")
	}
	running := addQueued(t, c, testbed.Volcano, "ml", "running", "closing", 2)
	runs(t, c, running, 2)
	setState("Closing")
	waiting := addQueued(t, c, testbed.Volcano, "ml", "waiting", "closing", 2)
	waits(t, c, m, "ml/waiting", waiting, 2, "QueueClosed", "queue closing is closed; open it or name another queue")
	negative := addQueued(t, c, testbed.Volcano, "ml", "negative", "negative", 2)
	const problem = "queue negative: spec.capability: nvidia.com/gpu is -1, must not be negative"
	waits(t, c, m, "ml/negative", negative, 2, "InvalidQueue", "queue negative cannot be used: "+problem)
	c.WaitEvent(t, "Queue", metav1.NamespaceDefault, "negative", "InvalidQueue", problem)
	runs(t, c, addQueued(t, c, testbed.Volcano, "ml", "other", "open", 2), 2)
	c.WaitQueueStatus(t, volcano, "closing", map[string]any{"state": "Closing", "running": int64(1), "pending": int64(1)})

	if left := c.Recorder.Pods(running); len(left) != 2 {
		t.Errorf("%d of the 2 pods that ran in the queue are left", len(left))
	}
	end(t, c, running, 0)
	c.WaitQueueStatus(t, volcano, "closing", map[string]any{"state": "Closing", "running": nil, "pending": int64(2)})
	setState("Open")
	runs(t, c, waiting, 2)
	c.EditQueue(t, volcano, "negative", map[string]any{"spec": map[string]any{"capability": map[string]any{"nvidia.com/gpu": "2"}}})
	runs(t, c, negative, 2)
	setState("Closing")
	end(t, c, waiting, 0)
	c.DeletePodGroups(t, testbed.Volcano, "ml")
	c.WaitQueueStatus(t, volcano, "closing", map[string]any{"state": "Closed"})
}

// Q05: a queue is deleted under a running gang, and a limit is lowered below the use: running pods stay, and
// only the gangs of this queue wait.
func TestQ05_DeletedAndLowered(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.KAI)
	kai := testbed.KAIQueues
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(16)))
	c.Add(t, kaiQueue("team", "", 4, 6))
	c.Add(t, kaiQueue("other", "", 4, -1))
	running := addQueued(t, c, testbed.KAI, "ml", "running", "team", 4)
	runs(t, c, running, 4)
	untouched := func() {
		t.Helper()
		if left := c.Recorder.Pods(running); len(left) != 4 || left[0].Latest.DeletionTimestamp != nil {
			t.Errorf("%d of the 4 running pods are left", len(left))
		}
	}

	c.EditQueue(t, kai, "team", kaiLimits(map[string]any{"limit": 3}))
	waiting := addQueued(t, c, testbed.KAI, "ml", "waiting", "team", 2)
	waits(t, c, m, "ml/waiting", waiting, 2, "QueueLimitReached",
		"2 members needed (2 gpu), but queue team uses 4 of its limit of 3 gpu")
	c.WaitQueueCondition(t, kai, "team",
		metav1.Condition{Type: "OverLimit", Status: "True", Reason: "OverLimit", Message: "gpu: 4 used, limit is 3"})
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "first", "other", 2), 2)
	untouched()

	c.DeleteQueue(t, kai, "team")
	waits(t, c, m, "ml/waiting", waiting, 2, "QueueNotFound",
		"queue team does not exist; create it or name another queue")
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "second", "other", 2), 2)
	untouched()

	// The running gang counts in the new queue too.
	c.Add(t, kaiQueue("team", "", 4, 5))
	waits(t, c, m, "ml/waiting", waiting, 2, "QueueLimitReached",
		"2 members needed (2 gpu), but queue team uses 4 of its limit of 5 gpu")
	c.EditQueue(t, kai, "team", kaiLimits(map[string]any{"limit": 6}))
	runs(t, c, waiting, 2)
	c.WaitQueueStatus(t, kai, "team", map[string]any{"allocated": gpus(6)})
	untouched()

	// Without queue objects, names have no effect.
	late := addQueued(t, c, testbed.KAI, "ml", "late", "team", 2)
	waits(t, c, m, "ml/late", late, 2, "QueueLimitReached",
		"2 members needed (2 gpu), but queue team uses 6 of its limit of 6 gpu")
	c.DeleteQueue(t, kai, "team")
	c.DeleteQueue(t, kai, "other")
	runs(t, c, late, 2)
}

// Q05: an ElasticQuota with an error stops the gangs of its namespace only. Its events say what is wrong, and that
// it is used beyond a limit that was lowered.
func TestQ05_InvalidElasticQuota(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.SchedulerPlugins)
	d, quotas := testbed.SchedulerPlugins, testbed.ElasticQuotas
	for _, namespace := range []string{"ml", "free"} {
		c.Namespace(t, namespace)
	}
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)))
	c.Add(t, quotas.Named("ml/team", map[string]any{"min": map[string]any{"nvidia.com/gpu": "1e30"}}))
	waiting := addGroup(t, c, d, "ml", "waiting", 4)
	const problem = "queue team: spec.min: nvidia.com/gpu is too large; lower it"
	waits(t, c, m, "ml/waiting", waiting, 4, "InvalidQueue", "queue team cannot be used: "+problem)
	c.WaitEvent(t, "ElasticQuota", "ml", "team", "InvalidQueue", problem)
	runs(t, c, addGroup(t, c, d, "free", "other", 2), 2)

	c.EditQueue(t, quotas, "ml/team", map[string]any{"spec": map[string]any{"min": gpus(2)}})
	runs(t, c, waiting, 4)
	c.EditQueue(t, quotas, "ml/team", map[string]any{"spec": map[string]any{"max": gpus(3)}})
	c.WaitEvent(t, "ElasticQuota", "ml", "team", "OverLimit",
		"queue team: it uses more nvidia.com/gpu than its limit of 3; its pods stay, and new ones wait")
	if left := c.Recorder.Pods(waiting); len(left) != 4 || left[0].Latest.DeletionTimestamp != nil {
		t.Errorf("%d of the 4 running pods are left", len(left))
	}
}

// Q05: the setting queueNamespaces restricts which namespaces may use a queue.
func TestQ05_NamespaceOfAQueue(t *testing.T) {
	beside(t)
	c, m := startAll(t, map[string]any{"reasonRefreshSeconds": 1,
		"queueNamespaces": []string{"training:ml", "shared:*"}}, testbed.KAI)
	for _, namespace := range []string{"ml", "web"} {
		c.Namespace(t, namespace)
	}
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	for _, name := range []string{"training", "shared"} {
		c.Add(t, kaiQueue(name, "", 4, -1))
	}
	foreign := addQueued(t, c, testbed.KAI, "web", "foreign", "training", 2)
	runs(t, c, addQueued(t, c, testbed.KAI, "ml", "own", "training", 2), 2)
	runs(t, c, addQueued(t, c, testbed.KAI, "web", "shared", "shared", 2), 2)
	waits(t, c, m, "web/foreign", foreign, 2, "QueueNotAllowed",
		"namespace web may not use queue training; add training:web to queueNamespaces or name another queue")
	c.EditPodGroup(t, testbed.KAI, "web", "foreign", map[string]any{"queue": "shared"})
	c.Recorder.WaitBound(t, foreign, 2, 30*time.Second)
}
