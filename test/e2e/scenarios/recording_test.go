package scenarios

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// The output of `muster replay`, and whether it succeeded.
func replay(t *testing.T, m *testbed.Muster, args ...string) (string, bool) {
	t.Helper()
	out, err := exec.Command(m.Binary, append([]string{"replay"}, args...)...).CombinedOutput()
	return string(out), err == nil
}

// Every test records its muster and replays the recording at its end. This test checks the content
// of a recording, and that a different decision is found.
func TestC15_RecordingOfALiveServerReplays(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Volcano}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Volcano, "ml", "eight")
	c.Add(t, testbed.Volcano.PodGroup("ml", "eight", 8, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "eight", 8, testbed.GPUs(1))...)
	c.Recorder.AllSay(t, gang, 8, "8 members needed, room for 6")

	out, err := exec.Command(m.Binary, "explain", "ml/eight", "--server", m.Ops).CombinedOutput()
	for _, words := range []string{
		"ml/eight is Waiting: 8 members needed, room for 6 (2 short of nvidia.com/gpu)",
		"would help: 2 more nvidia.com/gpu",
		"in order    1 of 1 waiting gangs",
		"nvidia.com/gpu: 1 each, 6 free, 4 on one node",
	} {
		if err != nil || !strings.Contains(string(out), words) {
			t.Fatalf("muster explain does not print %q: %v\n%s", words, err, out)
		}
	}

	c.AddNodes(t, testbed.Node("c", testbed.GPUs(2)))
	c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
	c.Recorder.Together(t, gang)
	m.WaitState(t, "ml", "eight", "Scheduled") // muster may see the bindings after the recorder
	m.Stop(t)

	recording := m.Recordings[0]
	text, good := replay(t, m, "--output", "json", "--check", recording)
	var said struct {
		Same            bool
		Steps, Bindings int
		Scheduled       int
		End             string
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || !good {
		t.Fatalf("muster replay: %v\n%s", err, text)
	}
	if !said.Same || said.Steps < 20 || said.Bindings != 8 || said.Scheduled != 1 || said.End != "stopped" {
		t.Errorf("the recording lacks some of the events: %+v", said)
	}

	other := strings.Replace(read(t, recording), `"do":"bind"`, `"do":"evict"`, 1)
	path := filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, good := replay(t, m, path); good || !strings.Contains(text, "DIFFERENT in step ") {
		t.Errorf("the different decision is not found: %s", text)
	}
}
