package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// kaiPod is the pod template of workloads that request a PodGroup by the name of their scheduler.
const kaiPod = `{spec: {schedulerName: <scheduler>, containers: [{name: <container>, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}`

func podFor(scheduler, container string) string {
	return fill(kaiPod, "<scheduler>", scheduler, "<container>", container)
}

// jobSet has one leader, and two Jobs with two workers each.
const jobSet = `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {namespace: <namespace>, name: train}
spec:
  startupPolicy: {startupPolicyOrder: <order>}
  replicatedJobs:
  - name: leader
    template: {spec: {parallelism: 1, completions: 1, template: <leader>}}
  - name: workers
    replicas: 2
    <more>
    template: {spec: {parallelism: 2, completions: 2, template: <worker>}}
`

// W01: a JobSet is one gang of all its Jobs. A JobSet that starts them in order starts with the
// first one. Jobs that depend on others are a gang of their own.
func TestW01_JobSetGetsItsPodGroups(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(3)))
	c.StartOperator(t, testbed.JobSet, testbed.OperatorOptions{})
	pod := podFor("kai-scheduler", "main")
	together := submitted{namespace: "together", resource: "jobsets.v1alpha2.jobset.x-k8s.io", owner: "JobSet/train",
		dialect: testbed.KAI, minMember: 5, pods: 5,
		manifest: fill(jobSet, "<order>", "AnyOrder", "<more>", "", "<leader>", pod, "<worker>", pod)}
	running := func(groups map[string][]made) {
		inOrder := submitted{namespace: "in-order", resource: together.resource, owner: together.owner,
			dialect: testbed.KAI, minMember: 1, pods: 1,
			manifest: fill(jobSet, "<order>", "InOrder", "<more>", "", "<leader>", pod, "<worker>", pod)}
		inOrder.submit(t, c)
		group := inOrder.grouped(t, c, m)[0]
		c.Recorder.WaitRunning(t, group.gang(), 5, time.Minute)
		inOrder.cleanedUp(t, c)

		staged := submitted{namespace: "staged", resource: together.resource, owner: together.owner,
			dialect: testbed.KAI,
			manifest: fill(jobSet, "<order>", "AnyOrder", "<more>", "dependsOn: [{name: leader, status: Ready}]",
				"<leader>", pod, "<worker>", pod)}
		staged.submit(t, c)
		c.Recorder.WaitRunning(t, staged.where(), 5, time.Minute)
		keys := c.PodGroups(t, staged.namespace, everyDialect...)
		if len(keys) != 2 {
			t.Errorf("want two PodGroups for two stages, got %v", keys)
		}
		for _, key := range keys {
			name, needed := key[strings.LastIndex(key, "/")+1:], 1
			if strings.HasSuffix(name, "-workers") {
				needed = 4
				c.Recorder.Expect(key, needed)
				c.Recorder.Together(t, testbed.InGang(staged.dialect, staged.namespace, name))
			}
			staged.needs(t, m, made{staged.dialect, staged.namespace, name, needed, needed}, needed)
		}
		staged.cleanedUp(t, c)
	}
	allOrNone(t, c, m, nil, running, together)
}

// W01: each group of a LeaderWorkerSet has its own PodGroup, also groups that are added later. If
// the leader starts first, its workers start together.
func TestW01_LeaderWorkerSetGetsItsPodGroups(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	c.StartOperator(t, testbed.LeaderWorkerSet, testbed.OperatorOptions{})
	served := func(namespace, policy string) submitted {
		return submitted{namespace: namespace, resource: "leaderworkersets.v1.leaderworkerset.x-k8s.io",
			owner: "LeaderWorkerSet/llm", dialect: testbed.KAI, groups: 2, minMember: 3, pods: 6,
			manifest: fill(leaderWorkerSet, "<name>", "llm", "<policy>", policy, "<scheduler>", "kai-scheduler")}
	}
	together, first := served("together", "LeaderCreated"), served("leader-first", "LeaderReady")
	waiting := func(map[string][]made) {
		first.submit(t, c)
		c.Recorder.WaitRunning(t, first.where(), 2, time.Minute) // the leaders
		for _, g := range first.grouped(t, c, m) {               // of three members each, now that they exist
			c.Recorder.Excuse(g.dialect.Key(g.namespace, g.name)) // its leader started alone
		}
		// There is room for one worker, but a group needs two.
		c.AddNodes(t, testbed.Node("single", testbed.GPUs(1)))
		c.Recorder.NoMoreBound(t, first.where(), 2)
	}
	running := func(groups map[string][]made) {
		c.Recorder.WaitRunning(t, first.where(), 6, time.Minute)
		first.cleanedUp(t, c)
		c.Patch(t, together.resource, together.namespace, together.name(),
			`[{"op": "replace", "path": "/spec/replicas", "value": 3}]`)
		c.Recorder.WaitRunning(t, together.where(), 9, time.Minute)
		larger := together
		larger.groups, larger.pods = 3, 9
		groups[together.namespace] = larger.grouped(t, c, m)
	}
	allOrNone(t, c, m, waiting, running, together)
}

// W01: jobs of a training-operator without gang scheduling. A minimum in the job is the minimum of
// the PodGroup.
func TestW01_PyTorchJobAndTFJobGetTheirPodGroups(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	c.StartOperator(t, testbed.TrainingOperator, testbed.OperatorOptions{})
	ddp := submitted{namespace: "ddp", resource: "pytorchjobs.v1.kubeflow.org", owner: "PyTorchJob/train",
		dialect: testbed.KAI, minMember: 4, pods: 4,
		manifest: fill(pytorchJob, "<name>", "train", "<runpolicy>", "{}", "<pod>", podFor("kai-scheduler", "pytorch"))}
	elastic := submitted{namespace: "elastic", resource: ddp.resource, owner: ddp.owner,
		dialect: testbed.KAI, minMember: 3, pods: 4,
		manifest: fill(pytorchJob, "<name>", "train", "<runpolicy>", "{schedulingPolicy: {minAvailable: 3}}",
			"<pod>", podFor("kai-scheduler", "pytorch"))}
	mnist := submitted{namespace: "mnist", resource: "tfjobs.v1.kubeflow.org", owner: "TFJob/train",
		dialect: testbed.KAI, minMember: 4, pods: 4,
		manifest: fill(tfJob, "<name>", "train", "<pod>", podFor("kai-scheduler", "tensorflow"))}
	running := func(groups map[string][]made) {
		// Two more workers: the job is still one gang.
		c.Patch(t, ddp.resource, ddp.namespace, ddp.name(),
			`[{"op": "replace", "path": "/spec/pytorchReplicaSpecs/Worker/replicas", "value": 5}]`)
		g := groups[ddp.namespace][0]
		ddp.needs(t, m, g, 6)
		c.Recorder.WaitRunning(t, g.gang(), 6, time.Minute)
		// When the job is suspended, its pods are deleted. When it resumes, they start together
		// again.
		suspend := func(yes bool) {
			c.Patch(t, mnist.resource, mnist.namespace, mnist.name(),
				fmt.Sprintf(`[{"op": "add", "path": "/spec/runPolicy/suspend", "value": %v}]`, yes))
		}
		suspend(true)
		testbed.Within(t, time.Minute, "the suspended job has no pods", func() error {
			if n := len(c.Recorder.Pods(mnist.where())); n > 0 {
				return fmt.Errorf("there are %d pods", n)
			}
			return nil
		})
		suspend(false)
		again := groups[mnist.namespace][0]
		c.Recorder.WaitRunning(t, again.gang(), 4, time.Minute)
		c.Recorder.Together(t, again.gang())
	}
	allOrNone(t, c, m, nil, running, ddp, elastic, mnist)
}

// W01: an MPIJob. If the launcher is created after the workers, the gang does not wait for it.
func TestW01_MPIJobGetsItsPodGroup(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c, m := startMaking(t)
	c.AddNodes(t, testbed.Node("small", testbed.GPUs(2)))
	c.StartOperator(t, testbed.MPIOperator, testbed.OperatorOptions{})
	job := func(namespace, policy string, minMember, pods int) submitted {
		return submitted{namespace: namespace, resource: "mpijobs.v2beta1.kubeflow.org", owner: "MPIJob/pi",
			dialect: testbed.KAI, minMember: minMember, pods: pods,
			manifest: fill(mpiJob, "<name>", "pi", "<policy>", policy, "<runpolicy>", "{}",
				"<pod>", podFor("kai-scheduler", "worker"),
				"{spec: {containers: [{name: launcher", "{spec: {schedulerName: kai-scheduler, containers: [{name: launcher")}
	}
	later := job("later", "WaitForWorkersReady", 3, 3)
	allOrNone(t, c, m, nil, func(groups map[string][]made) {
		// The launcher is now a member, above the minimum.
		g := groups[later.namespace][0]
		c.Recorder.WaitRunning(t, g.gang(), 4, time.Minute)
		later.needs(t, m, g, 3)
	}, job("at-once", "AtStartup", 4, 4), later)
}
