package scenarios

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// nested is a value so many objects deep.
func nested(depth int) any {
	var value any = "end"
	for range depth {
		value = map[string]any{"x": value}
	}
	return value
}

// odd makes what a tenant may put beside a PodGroup, and a JSON parser may refuse.
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

// An odd object costs nobody anything, after a restart and while it is watched: its own gang is
// placed as well, for the odd value stands where nobody reads it.
func TestT01_OddObjectsCostNobodyElse(t *testing.T) {
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
	m.Start(t) // which waits until every list was read
	placed("restarted", "-listed")
	add("-watched")
	placed("watched", "-watched")

	metrics := m.Metrics(t)
	for _, name := range []string{"muster_unreadable_objects", "muster_watch_errors_total"} {
		if n := metrics.Sum(name); n != 0 {
			t.Errorf("%s is %v", name, n)
		}
	}
	log, err := os.ReadFile(m.LogFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range []string{"cannot be read", "trying again", "broken off"} {
		if strings.Contains(string(log), complaint) {
			t.Errorf("the log has %q:\n%s", complaint, m.LogTail(20))
		}
	}
}
