package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// Exit codes of `muster check -f`.
const (
	fitsNow     = 0
	objectWrong = 1
	notNow      = 3
)

// manifests are a gang as addQueued adds it.
func manifests(t *testing.T, d testbed.Dialect, namespace, name, queue string, n int) []byte {
	t.Helper()
	objects := []any{d.PodGroup(namespace, name, n, map[string]any{"queue": queue})}
	for _, pod := range testbed.Members(d, namespace, name, n, testbed.GPUs(1)) {
		pod.APIVersion, pod.Kind = "v1", "Pod"
		objects = append(objects, pod)
	}
	var text bytes.Buffer
	for _, object := range objects {
		if err := json.NewEncoder(&text).Encode(object); err != nil {
			t.Fatal(err)
		}
	}
	return text.Bytes()
}

// check runs `muster check -f -`. It checks the exit code and that the output has all of these texts.
func check(t *testing.T, m *testbed.Muster, text []byte, code int, want ...string) string {
	t.Helper()
	cmd := exec.Command(m.Binary, "check", "-f", "-", "--server", m.Ops)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("muster check: %v, want exit code %d\n%s", err, code, out)
	}
	showsAll(t, "muster check", string(out), want...)
	return string(out)
}

// nodesOf is the line about nodes of `muster check`, for the pods that a gang has.
func nodesOf(pods []testbed.PodRecord) string {
	members := map[string]int{}
	for _, pod := range pods {
		members[pod.Node]++
	}
	var nodes []string
	for _, node := range slices.Sorted(maps.Keys(members)) {
		nodes = append(nodes, fmt.Sprintf("%s (%d)", node, members[node]))
	}
	return "\nnodes       " + strings.Join(nodes, ", ") + "\n"
}

// Q05: before a gang is submitted, muster check says where it fits, or what stops it and with which change it
// fits. What then happens is what it said.
func TestQ05_CheckBeforeSubmit(t *testing.T) {
	beside(t)
	c, m := startAll(t, promptReasons, testbed.KAI)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)), testbed.Node("b", testbed.GPUs(8)))
	c.Add(t, kaiQueue("research", "", 8, 10))
	c.Add(t, kaiQueue("training", "research", 8, -1))
	c.Add(t, kaiQueue("guests", "", 4, -1))
	gang := func(name, queue string, n int) []byte { return manifests(t, testbed.KAI, "ml", name, queue, n) }
	add := func(name, queue string, n int) testbed.Which {
		return addQueued(t, c, testbed.KAI, "ml", name, queue, n)
	}

	said := check(t, m, gang("ddp", "training", 6), fitsNow,
		"gang ml/ddp fits now: 6 of 6 pods get a node, 6 are needed\n", "queue       training\n")
	ddp := add("ddp", "training", 6)
	runs(t, c, ddp, 6)
	showsAll(t, "muster check", said, nodesOf(c.Recorder.Pods(ddp)))

	// A limit above the queue: fewer members fit, or another queue has no such limit.
	const limit = "8 members needed (8 gpu), but queue research (above queue training) uses 6 of its limit of 10 gpu"
	check(t, m, gang("big", "training", 8), notNow, "gang ml/big does not fit now: "+limit+"\n",
		"would fit   with a minimum of 4 members\n", "would fit   in queue guests\n", "would fit   after gang ml/ddp\n")
	big := add("big", "training", 8)
	waits(t, c, m, "ml/big", big, 8, "QueueLimitReached", limit)
	check(t, m, gang("four", "training", 4), fitsNow, "gang ml/four fits now: ")
	said = check(t, m, gang("other", "guests", 8), fitsNow, "gang ml/other fits now: ", "queue       guests\n")
	other := add("other", "guests", 8)
	runs(t, c, other, 8)
	showsAll(t, "muster check", said, nodesOf(c.Recorder.Pods(other)))

	// The room is taken: the gangs ahead of it are named, and those whose end helps.
	const short = "4 members needed, room for 2 (2 short of nvidia.com/gpu)"
	check(t, m, gang("late", "training", 4), notNow, "gang ml/late does not fit now: "+short+"\n",
		"would fit   with a minimum of 2 members\n", "would fit   after gang ml/ddp\n",
		"would fit   after gang ml/other\n", "would fit   with 1 more node like a\n",
		"queue       2nd in queue training, behind ml/big\n")
	late := add("late", "training", 4)
	waits(t, c, m, "ml/late", late, 4, "NotEnoughResources", short)
	end(t, c, other, 0)
	runs(t, c, late, 4)

	// A workload of which muster would make the PodGroup, and objects that are wrong.
	const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"made","namespace":"ml",` +
		`"labels":{"kai.scheduler/queue":"guests"}},"spec":{"parallelism":2,"template":{"spec":` +
		`{"schedulerName":"muster","containers":[{"name":"c","image":"i","resources":%s}]}}}}`
	check(t, m, fmt.Appendf(nil, job, `{"limits":{"nvidia.com/gpu":1}}`), fitsNow, "Job ml/made fits now: 2 of 2 pods")
	check(t, m, fmt.Appendf(nil, job, `{"limits":{"nvidia.com/gpu":"x"}}`), objectWrong,
		"nvidia.com/gpu")
	check(t, m, gang("big", "training", 8), objectWrong, "PodGroup ml/big exists")

	// The questions have left nothing behind.
	end(t, c, ddp, 0)
	end(t, c, late, 0)
	c.Recorder.WaitBound(t, big, 8, 30*time.Second)
	if got := c.PodGroups(t, "ml", testbed.KAI); len(got) != 4 {
		t.Errorf("4 PodGroups were submitted, and there are %v", got)
	}
	if out := command(t, m, "get", "gangs", "--server", m.Ops); strings.Contains(out, "four") || strings.Contains(out, "made") {
		t.Errorf("muster knows gangs that nobody has submitted:\n%s", out)
	}
}
