package scenarios

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// C02: gangs and ordinary pods compete for the same nodes. The recorder checks at every moment that
// no node is overcommitted and no gang is partial.
func TestC02_GangsAndOrdinaryPodsCompete(t *testing.T) {
	alone(t)
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs, testbed.Volcano, testbed.SchedulerPlugins}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "mix")
	for i := range 6 {
		c.AddNodes(t, testbed.Node(fmt.Sprintf("n%d", i),
			testbed.Amounts{"cpu": "16", "memory": "64Gi", testbed.GPU: "8"}))
	}
	// A fixed seed: the same objects in the same order in every run.
	random := rand.New(rand.NewPCG(2, 3))
	runs := func() func(*corev1.Pod) {
		return testbed.RunningFor(time.Duration(300+random.IntN(2000)) * time.Millisecond)
	}
	total := 0
	for i := range 24 {
		dialect := []testbed.Dialect{testbed.Sigs, testbed.Volcano, testbed.SchedulerPlugins}[i%3]
		name := fmt.Sprintf("gang-%02d", i)
		members := 2 + random.IntN(9)
		c.Add(t, dialect.PodGroup("mix", name, members, nil))
		pods := testbed.Members(dialect, "mix", name, members,
			testbed.Amounts{"cpu": fmt.Sprint(1 + random.IntN(3)), "memory": "2Gi",
				testbed.GPU: fmt.Sprint(1 + random.IntN(3))})
		for range 5 {
			amounts := testbed.Amounts{"cpu": fmt.Sprint(1 + random.IntN(4)), "memory": "1Gi"}
			if random.IntN(3) > 0 {
				amounts[testbed.GPU] = fmt.Sprint(1 + random.IntN(4))
			}
			pods = append(pods, testbed.Pod("mix", fmt.Sprintf("single-%03d", total+len(pods)), amounts))
		}
		for _, pod := range pods {
			runs()(pod)
		}
		random.Shuffle(len(pods), func(a, b int) { pods[a], pods[b] = pods[b], pods[a] })
		c.AddPods(t, pods...)
		total += len(pods)
	}
	c.Recorder.WaitFinished(t, testbed.InNamespace("mix"), total, 3*time.Minute)
	t.Logf("%d pods came and went", total)
	m.WaitNoLeaks(t)
}

// C02: an ordinary pod does not get what a gang has reserved. When the gang is deleted, its room is
// free.
func TestC02_ReservationsAreKept(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 8, nil))
	members := testbed.Members(testbed.Sigs, "ml", "ddp", 8, testbed.GPUs(1))
	members[7].Spec.SchedulerName = lateScheduler // this scheduler does not run, so the gang stays planned
	c.AddPods(t, members...)
	m.WaitState(t, "ml", "ddp", "Planned")

	thief := testbed.Named("ml", "thief")
	c.AddPods(t, testbed.Pod("ml", "thief", testbed.GPUs(1)))
	c.Recorder.AllSay(t, thief, 1, "reserved for gang ml/ddp")
	c.Recorder.NoneBound(t, testbed.InNamespace("ml"))

	var names []string
	for _, pod := range members {
		names = append(names, pod.Name)
	}
	c.DeletePods(t, "ml", names...)
	c.Recorder.WaitBound(t, thief, 1, 30*time.Second)
	c.DeletePods(t, "ml", "thief")
	m.WaitNoLeaks(t)
}
