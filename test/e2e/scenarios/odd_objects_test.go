package scenarios

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// nested is a value of this many nested objects.
func nested(depth int) any {
	var value any = "end"
	for range depth {
		value = map[string]any{"x": value}
	}
	return value
}

// odd are values that a tenant may add to a PodGroup and that a JSON parser may refuse.
var odd = map[string]func(group *unstructured.Unstructured){
	"number": func(group *unstructured.Unstructured) {
		group.Object["status"] = map[string]any{"x": float64(1 << 64)}
	},
	"small-number": func(group *unstructured.Unstructured) {
		group.Object["status"] = map[string]any{"x": math.SmallestNonzeroFloat64, "y": -math.MaxFloat64}
	},
	"deep": func(group *unstructured.Unstructured) {
		group.Object["status"] = map[string]any{"x": nested(3000)}
	},
	"nul": func(group *unstructured.Unstructured) {
		group.SetAnnotations(map[string]string{"x": "a\x00b\u2028<\ufffd"})
	},
}

// An odd object affects nothing, after a restart and while it is watched. Its own gang is also
// placed, because muster does not read the field with the odd value.
func TestT01_OddObjectsDoNoHarm(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Volcano)
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(100)))
	c.Namespace(t, "tenant")
	add := func(suffix string) {
		for name, change := range odd {
			group := testbed.Volcano.PodGroup("tenant", name+suffix, 2, nil)
			change(group)
			c.Add(t, group)
		}
	}
	placed := func(namespace, suffix string) {
		c.Namespace(t, namespace)
		c.Add(t, testbed.Volcano.PodGroup(namespace, "ddp", 3, nil))
		c.AddPods(t, testbed.Members(testbed.Volcano, namespace, "ddp", 3, testbed.GPUs(1))...)
		c.Recorder.WaitBound(t, testbed.InGang(testbed.Volcano, namespace, "ddp"), 3, 30*time.Second)
		for name := range odd {
			c.AddPods(t, testbed.Members(testbed.Volcano, "tenant", name+suffix, 2, testbed.GPUs(1))...)
			c.Recorder.WaitBound(t, testbed.InGang(testbed.Volcano, "tenant", name+suffix), 2, 30*time.Second)
		}
	}

	add("-listed")
	m.Stop(t)
	m.Start(t) // which waits until all lists are read
	placed("restarted", "-listed")
	add("-watched")
	placed("watched", "-watched")
	waitUnreadable(t, m, 0)
	log := logOf(t, m)
	for _, complaint := range []string{"Could not read", "Could read only", "could not be read", "retrying", "listing again"} {
		if strings.Contains(log, complaint) {
			t.Errorf("the log has %q:\n%s", complaint, m.LogTail(20))
		}
	}
}

func logOf(t *testing.T, m *testbed.Muster) string {
	t.Helper()
	log, err := os.ReadFile(m.LogFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// waitUnreadable waits until this many objects are unreadable.
func waitUnreadable(t *testing.T, m *testbed.Muster, n int) {
	t.Helper()
	testbed.Within(t, 10*time.Second, fmt.Sprintf("%d objects cannot be read", n), func() error {
		if now := m.Metrics(t).Sum("muster_unreadable_objects"); int(now) != n {
			return fmt.Errorf("%v are", now)
		}
		return nil
	})
}

// A PodGroup with a megabyte of empty objects is not read. Its pods get a reason, and nothing else
// is affected.
func TestT01_AnUnreadableObjectAffectsOnlyItself(t *testing.T) {
	beside(t)
	c, m := startAll(t, nil, testbed.Volcano)
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(100)))
	c.Namespace(t, "tenant")
	values := make([]any, 400_000)
	for i := range values {
		values[i] = map[string]any{}
	}
	rich := testbed.Volcano.PodGroup("tenant", "rich", 2, nil)
	rich.Object["status"] = map[string]any{"x": values}
	c.Add(t, rich)
	c.AddPods(t, testbed.Members(testbed.Volcano, "tenant", "rich", 2, testbed.GPUs(1))...)
	gang := testbed.InGang(testbed.Volcano, "tenant", "rich")
	c.Recorder.AllSay(t, gang, 2, "it cannot be read: it has 400")
	waitUnreadable(t, m, 1)
	if n := strings.Count(logOf(t, m), `object="tenant/rich"`); n != 1 {
		t.Errorf("the log names the PodGroup %d times:\n%s", n, m.LogTail(20))
	}

	m.Stop(t)
	m.Start(t)
	waitUnreadable(t, m, 1)
	c.Namespace(t, "ml")
	c.Add(t, testbed.Volcano.PodGroup("ml", "ddp", 3, nil))
	c.AddPods(t, testbed.Members(testbed.Volcano, "ml", "ddp", 3, testbed.GPUs(1))...)
	c.Recorder.WaitBound(t, testbed.InGang(testbed.Volcano, "ml", "ddp"), 3, 30*time.Second)
	c.Recorder.NoneBound(t, gang)

	c.DeletePodGroup(t, testbed.Volcano, "tenant", "rich")
	waitUnreadable(t, m, 0)
	c.Add(t, testbed.Volcano.PodGroup("tenant", "rich", 2, nil))
	c.Recorder.WaitBound(t, gang, 2, 30*time.Second)
}
