package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// recipe is the folder with steps 2 and 3 of the KAI recipe, unmodified.
const recipe = "../../../examples/kai"

// The manifests name a queue, which exists here; in TestS06 and TestS07 it does not.
func TestS05_KAIRecipeUnmodified(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Recipe}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml-training")
	// Four pods with two GPUs each: there is room for three of them.
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Recipe, "ml-training", "pytorch-ddp-training")
	c.Recorder.Expect(testbed.Recipe.Key("ml-training", "pytorch-ddp-training"), 4)
	phases := c.WatchPhases(t, testbed.Recipe, "ml-training", "pytorch-ddp-training")

	c.Kubectl(t, recipe, "", "apply -f queue.yaml")
	c.Kubectl(t, recipe, "", "apply -f basic-podgroup.yaml")
	c.Kubectl(t, recipe, "", "apply -f pytorch-distributed-training.yaml")
	c.Recorder.AllSay(t, gang, 4,
		"gang ml-training/pytorch-ddp-training: 4 members needed, room for 3 (2 short of nvidia.com/gpu)")
	eventuallyPhase(t, c, testbed.Recipe, "ml-training", "pytorch-ddp-training", "Pending")
	c.Recorder.NoneBound(t, gang)

	c.AddNodes(t, testbed.Node("c", testbed.GPUs(2)))
	c.Recorder.WaitRunning(t, gang, 4, 30*time.Second)
	c.Recorder.Together(t, gang)
	c.WaitEvent(t, "PodGroup", "ml-training", "pytorch-ddp-training", "PodGroupScheduled", "")

	shown := c.Kubectl(t, recipe, "", "get podgroup pytorch-ddp-training -n ml-training")
	if !strings.Contains(shown, "pytorch-ddp-training") {
		t.Errorf("kubectl get podgroup shows\n%s", shown)
	}
	shown = c.Kubectl(t, recipe, "", "get pods -n ml-training -l job-name=pytorch-ddp")
	if n := strings.Count(shown, "Running"); n != 4 {
		t.Errorf("only %d of 4 pods are Running:\n%s", n, shown)
	}
	shown = c.Kubectl(t, recipe, "", "get events -n ml-training --field-selector reason=PodGroupScheduled")
	if !strings.Contains(shown, "podgroup/pytorch-ddp-training") {
		t.Errorf("there is no event PodGroupScheduled:\n%s", shown)
	}
	eventuallyPhase(t, c, testbed.Recipe, "ml-training", "pytorch-ddp-training", "Running")
	c.WaitQueueStatus(t, testbed.KAIQueues, "training", map[string]any{"allocated": gpus(8), "requested": gpus(8)})
	showsAll(t, "kubectl describe queue training", c.Kubectl(t, recipe, "", "describe queue training"),
		"Allocated:", "nvidia.com/gpu:  8")
	c.Kubectl(t, recipe, "", "annotate pods -n ml-training -l job-name=pytorch-ddp "+testbed.RunFor+"=1s")
	eventuallyPhase(t, c, testbed.Recipe, "ml-training", "pytorch-ddp-training", "Finished")
	c.WaitQueueStatus(t, testbed.KAIQueues, "training", map[string]any{"allocated": gpus(0), "requested": gpus(0)})
	checkOrder(t, phases(), recipePhases...)
}

// recipePhases is the order of phases in the recipe.
var recipePhases = []string{"Pending", "PreScheduling", "Scheduled", "Running", "Finished"}

// after returns nil if a phase is the given one or a later one.
func after(phase, atLeast string) error {
	if slices.Index(recipePhases, phase) < slices.Index(recipePhases, atLeast) {
		return fmt.Errorf("the phase is %q", phase)
	}
	return nil
}

// checkOrder checks that the phases came in the recipe's order and include some of them.
func checkOrder(t *testing.T, phases []string, among ...string) {
	t.Helper()
	last := -1
	for _, phase := range phases {
		index := slices.Index(recipePhases, phase)
		if index <= last {
			t.Errorf("the phase %q came out of order: %v", phase, phases)
		}
		last = index
	}
	for _, phase := range among {
		if !slices.Contains(phases, phase) {
			t.Errorf("the phase %q was never seen: %v", phase, phases)
		}
	}
}

// The names that KAI itself uses: version v2alpha2, and another annotation.
func TestS05_KAIv2alpha2(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.KAI}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml-training")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))

	gang := testbed.InGang(testbed.KAI, "ml-training", "pytorch-ddp-training")
	c.Recorder.Expect(testbed.KAI.Key("ml-training", "pytorch-ddp-training"), 4)
	manifest := strings.NewReplacer(
		"scheduling.run.ai/v2\n", "scheduling.run.ai/v2alpha2\n",
		"scheduling.run.ai/pod-group:", "pod-group-name:",
		"runai/queue:", "kai.scheduler/queue:",
		"  priority: 100\n  scheduleTimeoutSeconds: 600\n", "",
	).Replace(read(t, recipe+"/pytorch-distributed-training.yaml"))
	c.Kubectl(t, recipe, manifest, "apply -f -")
	c.Recorder.AllSay(t, gang, 4,
		"gang ml-training/pytorch-ddp-training: 4 members needed, room for 2 (4 short of nvidia.com/gpu)")
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(4)))
	c.Recorder.WaitRunning(t, gang, 4, 30*time.Second)
	c.Recorder.Together(t, gang)
	c.WaitEvent(t, "PodGroup", "ml-training", "pytorch-ddp-training", "PodGroupScheduled", "")
}
