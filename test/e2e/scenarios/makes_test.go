package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// madeFor waits until there is one PodGroup in the namespace whose owner is of this kind and name,
// and returns the PodGroup's.
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

// A Job says how many of its pods start together; nobody writes a PodGroup.
func TestW01_JobWithoutAPodGroup(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(3)))
	c.Kubectl(t, ".", gangJob, "apply -f -")
	group := madeFor(t, c, testbed.KAI, "ml", "Job", "train")
	gang := testbed.InGang(testbed.KAI, "ml", group)
	c.Recorder.Expect(testbed.KAI.Key("ml", group), 4)
	if is := minMember(t, c, testbed.KAI, "ml", group); is != 4 {
		t.Errorf("minMember is %d, the Job asks for 4", is)
	}
	c.Recorder.AllSay(t, gang, 4, "gang ml/"+group+": 4 members needed, room for 3 (1 short of nvidia.com/gpu)")
	c.Recorder.NoneBound(t, gang)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(1)))
	c.Recorder.WaitBound(t, gang, 4, 30*time.Second)
	c.Recorder.Together(t, gang)

	// What is there is found again: nothing is written twice.
	m.Stop(t)
	before := c.PodGroup(t, testbed.KAI, "ml", group)
	m.Start(t)
	c.Kubectl(t, ".", strings.ReplaceAll(gangJob, "name: train", "name: second"), "apply -f -")
	madeFor(t, c, testbed.KAI, "ml", "Job", "second") // muster is at work again
	after := c.PodGroup(t, testbed.KAI, "ml", group)
	if before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() {
		t.Errorf("the PodGroup was written again: %v, then %v", before.Object, after.Object)
	}
	c.Kubectl(t, ".", "", "delete job train second -n ml --wait=false")
	noGroups(t, c, "ml", testbed.KAI)
}

// noGroups waits until garbage collection has taken the PodGroups.
func noGroups(t *testing.T, c *testbed.Cluster, namespace string, d testbed.Dialect) {
	t.Helper()
	testbed.Within(t, 60*time.Second, "the PodGroups go with their owners", func() error {
		if left := c.PodGroups(t, namespace, d); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}
