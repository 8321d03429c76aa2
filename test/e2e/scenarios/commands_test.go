package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// command runs muster's own command line.
func command(t *testing.T, m *testbed.Muster, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	cmd := exec.Command(m.Binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		t.Fatalf("muster %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errors.String())
	}
	return out.String()
}

// C15: a server with many kinds of work is stopped in the middle. Its recording gives the same
// decisions.
func TestC15_RecordingUnderLoadReplays(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs, testbed.Volcano, testbed.Recipe}})
	m := c.StartMuster(t, testbed.MusterOptions{
		Config: map[string]any{"holdSeconds": 3, "backoffSeconds": 1, "scheduleTimeoutSeconds": 5}})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "mix")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)), testbed.Node("c", testbed.GPUs(4)))
	random := rand.New(rand.NewPCG(15, 15))
	const gangs = 30
	total := 0
	for i := range gangs {
		dialect := []testbed.Dialect{testbed.Sigs, testbed.Volcano, testbed.Recipe}[i%3]
		name, members := fmt.Sprintf("gang-%02d", i), 1+random.IntN(8)
		c.Add(t, dialect.PodGroup("mix", name, members, nil))
		pods := testbed.Members(dialect, "mix", name, members, testbed.GPUs(1+random.IntN(2)))
		pods = append(pods, testbed.Pod("mix", "single-"+name, testbed.GPUs(random.IntN(3))))
		for _, pod := range pods {
			testbed.RunningFor(time.Duration(200+random.IntN(1500)) * time.Millisecond)(pod)
		}
		c.AddPods(t, pods...)
		total += len(pods)
	}
	// Some gangs that do not fit, and one whose last member never comes.
	c.Add(t, testbed.Sigs.PodGroup("mix", "absurd", 2000000, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "mix", "absurd", 2, testbed.GPUs(1))...)
	c.Add(t, testbed.Sigs.PodGroup("mix", "held", 3, nil))
	held := testbed.Members(testbed.Sigs, "mix", "held", 3, testbed.Amounts{"cpu": "1"})
	held[2].Spec.SchedulerName = lateScheduler
	c.AddPods(t, held...)
	ending := func(p *testbed.PodRecord) bool { return p.Latest.Annotations[testbed.RunFor] != "" }
	c.Recorder.WaitFinished(t, ending, total*3/4, 90*time.Second)
	c.Cordon(t, "c", true)
	c.DeletePodGroup(t, testbed.Sigs, "mix", "gang-00")
	c.DeleteNode(t, "c")
	m.WaitState(t, "mix", "held", "BackedOff")
	m.Stop(t)

	text, good := replay(t, m, "--output", "json", "--check", m.Recordings[0])
	var said struct {
		Same                bool
		Bindings, Scheduled int
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || !good || !said.Same {
		t.Fatalf("muster replay: %v\n%s", err, text)
	}
	// The recording was not empty.
	if said.Bindings < total*3/4 || said.Scheduled < gangs/2 {
		t.Errorf("there were %d pods and %d gangs, but the recording has %+v", total, gangs, said)
	}
}

// What users see when a gang waits: muster explain, and kubectl describe of the PodGroup and of a
// pod.
func TestCommandsShowWhyAGangWaits(t *testing.T) {
	t.Parallel()
	for _, dialect := range []testbed.Dialect{testbed.Recipe, testbed.KAI, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins} {
		t.Run(dialect.Name, func(t *testing.T) {
			beside(t)
			c, m := startAll(t, nil, dialect)
			c.Namespace(t, "ml")
			c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
			c.AddPods(t, testbed.Pod("ml", "user", testbed.GPUs(2)))
			c.Recorder.WaitRunning(t, testbed.Named("ml", "user"), 1, 20*time.Second)
			gang := testbed.InGang(dialect, "ml", "ddp")
			c.Add(t, dialect.PodGroup("ml", "ddp", 8, nil))
			c.AddPods(t, testbed.Members(dialect, "ml", "ddp", 8, testbed.GPUs(1))...)
			const reason = "8 members needed, room for 6 (2 short of nvidia.com/gpu)"
			c.Recorder.AllSay(t, gang, 8, "gang ml/ddp: "+reason)
			c.WaitEvent(t, "PodGroup", "ml", "ddp", "Unschedulable", reason)

			shown := command(t, m, "explain", "ml/ddp", "--server", m.Ops)
			for _, text := range []string{"ml/ddp is Waiting: " + reason, "would help:", "2 more nvidia.com/gpu",
				"set minMember to 6", "pod ml/user", "ddp-0", "with 1 more node like a", "the gang fits"} {
				if !strings.Contains(shown, text) {
					t.Errorf("muster explain does not print %q:\n%s", text, shown)
				}
			}
			shown = c.Kubectl(t, c.Dir, "", "-n ml describe podgroups."+dialect.Group+" ddp")
			for _, text := range []string{reason, "Unschedulable"} {
				if !strings.Contains(shown, text) {
					t.Errorf("kubectl describe podgroup does not show %q:\n%s", text, shown)
				}
			}
			c.WaitEvent(t, "Pod", "ml", "ddp-0", "", reason)
			shown = c.Kubectl(t, c.Dir, "", "-n ml describe pod ddp-0")
			if !strings.Contains(shown, reason) {
				t.Errorf("kubectl describe pod does not show %q:\n%s", reason, shown)
			}

			c.DeletePods(t, "ml", "user")
			c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
			c.WaitEvent(t, "PodGroup", "ml", "ddp", "PodGroupScheduled", "8 members needed, 8 bound")
			shown = command(t, m, "explain", "ml/ddp", "--server", m.Ops)
			if !strings.Contains(shown, "ml/ddp is Scheduled") {
				t.Errorf("muster explain of a placed gang prints\n%s", shown)
			}
			// The negative condition is gone or positive.
			eventuallyNot(t, c, dialect, reason)
		})
	}
}

// eventuallyNot waits until the PodGroup's status no longer contains the text.
func eventuallyNot(t *testing.T, c *testbed.Cluster, d testbed.Dialect, text string) {
	t.Helper()
	testbed.Within(t, 30*time.Second, "the status has forgotten the reason", func() error {
		if status := fmt.Sprint(c.PodGroup(t, d, "ml", "ddp").Object["status"]); strings.Contains(status, text) {
			return fmt.Errorf("its status is %s", status)
		}
		return nil
	})
}
