package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// harm is a change that happens to a gang on its way.
type harm struct {
	name string
	// do makes the change; it returns the node that the gang has lost, if any.
	do func(w *way) (lost string)
	// undone is the gang's reason if it cannot continue without a repair; it must then hold
	// nothing. Empty: the gang can continue, and moves.
	undone string
	// room is how many pods with four GPUs have room while the gang is undone.
	room int
	// members are bound at the end.
	members int
	// repair lets the gang continue if it was undone or lost members.
	repair func(w *way, missing int)
}

var harms = []harm{
	{
		name: "member-deleted",
		do: func(w *way) string {
			w.c.DeletePods(w, w.ns, w.unbound()[0])
			return ""
		},
		undone: "7 of 8 members exist", room: 3, members: wayMembers,
		repair: addMissing,
	},
	{
		name: "node-deleted",
		do: func(w *way) string {
			lost := w.fullest()
			w.c.DeleteNode(w, lost)
			return lost
		},
		members: wayMembers, repair: addMissing,
	},
	{
		name: "node-cordoned",
		do: func(w *way) string {
			lost := w.fullest()
			w.c.Cordon(w, lost, true)
			return lost
		},
		members: wayMembers,
	},
	{
		name: "node-shrunk",
		do: func(w *way) string {
			lost := w.fullest()
			if w.stage.name == "committing" {
				// Bindings that are sent cannot be taken back.
				w.c.Recorder.ExcuseNode(lost)
			}
			w.c.SetAllocatable(w, lost, testbed.GPU, 0)
			return lost
		},
		members: wayMembers,
	},
	{
		name: "two-nodes-deleted",
		do: func(w *way) string {
			lost := w.fullest()
			w.c.DeleteNode(w, lost)
			for _, other := range []string{"a", "b", "c"} {
				if w.ns+"-"+other != lost {
					w.c.DeleteNode(w, w.ns+"-"+other)
					break
				}
			}
			return lost
		},
		undone: "8 members needed, room for 4", room: 1, members: wayMembers,
		repair: func(w *way, missing int) {
			w.c.AddNodes(w, w.node("d"), w.node("e"))
			addMissing(w, missing)
		},
	},
	{
		name: "minimum-raised",
		do: func(w *way) string {
			w.c.EditPodGroup(w, testbed.Sigs, w.ns, wayGroup, map[string]any{"minMember": wayMembers + 1})
			return ""
		},
		undone: "8 of 9 members exist", room: 3, members: wayMembers + 1,
		repair: addMissing,
	},
	{
		name: "minimum-lowered",
		do: func(w *way) string {
			w.c.EditPodGroup(w, testbed.Sigs, w.ns, wayGroup, map[string]any{"minMember": 3})
			return ""
		},
		members: wayMembers,
	},
	{
		name: "group-deleted",
		do: func(w *way) string {
			w.c.DeletePodGroup(w, testbed.Sigs, w.ns, wayGroup)
			return ""
		},
		undone: "does not exist", room: 3, members: wayMembers,
		repair: func(w *way, missing int) {
			w.c.Add(w, testbed.Sigs.PodGroup(w.ns, wayGroup, wayMembers, nil))
			addMissing(w, missing)
		},
	},
}

func addMissing(w *way, missing int) {
	var names []string
	for i := range missing {
		names = append(names, fmt.Sprintf("%s-new-%d", wayGroup, i))
	}
	w.c.AddPods(w, w.members(names...)...)
}

// C05: whatever happens to a gang on its way, its whole plan moves or is dropped, and nothing stays
// reserved.
func TestC05_ChangesMoveOrDropTheWholePlan(t *testing.T) {
	t.Parallel()
	for _, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			beside(t)
			c := testbed.StartCluster(t, testbed.Options{
				Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
			gates := newGates(t, c)
			m := c.StartMuster(t, testbed.MusterOptions{Through: gates.api})
			c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: gates.inFrontOf(t, m)})
			// Each case has a namespace and nodes of its own.
			var cases sync.WaitGroup
			for _, each := range harms {
				cases.Go(func() {
					t.Run(each.name, func(t *testing.T) {
						w := &way{T: t, c: c, m: m, gates: gates, stage: stage, ns: each.name,
							gang: testbed.InGang(testbed.Sigs, each.name, wayGroup)}
						w.start()
						if stage.name == "committing" {
							w.sufferInCommit(each)
						} else {
							w.suffer(each)
						}
						w.clear(testbed.InNamespace(w.ns))
					})
				})
			}
			cases.Wait()
			m.WaitNoLeaks(t)
		})
	}
}

// suffer makes a change to a gang without bound members.
func (w *way) suffer(h harm) {
	w.Helper()
	lost := h.do(w)
	testbed.Within(w, 30*time.Second, "the gang has moved or is undone", func() error {
		gang := w.m.GangPods(w, w.ns, wayGroup)
		if h.undone != "" {
			if gang.Planned != 0 || gang.Held != 0 || !strings.Contains(gang.Reason.Text, h.undone) {
				return fmt.Errorf("the gang is not undone: %+v", gang)
			}
			return nil
		}
		if slices.ContainsFunc(gang.Pods, func(p testbed.Member) bool { return lost != "" && p.Slot == lost }) {
			return fmt.Errorf("the gang has not left %s: %+v", lost, gang)
		}
		return nil
	})
	w.gates.release(w.ns)
	if h.undone != "" {
		w.roomFor(h.room)
		if n := boundOf(w.c.Recorder.Pods(w.gang)); n > 0 {
			w.Fatalf("%d members of an undone gang are bound", n)
		}
	}
	if h.repair != nil {
		h.repair(w, h.members-len(w.c.Recorder.Pods(w.gang)))
	}
	pods := w.c.Recorder.WaitBound(w, w.gang, h.members, 60*time.Second)
	if h.name != "minimum-lowered" { // there, the last member is an extra
		w.c.Recorder.Together(w, w.gang)
	}
	for _, pod := range pods {
		if lost != "" && pod.Node == lost {
			w.Errorf("%s was bound to %s, which the gang had lost", pod.Name, lost)
		}
	}
	w.m.WaitState(w, w.ns, wayGroup, "Scheduled")
}

// roomFor checks that nothing is reserved: pods that need a complete node find one.
func (w *way) roomFor(n int) {
	w.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("whole-%d", i))
		w.c.AddPods(w, w.pod(names[i], 4))
	}
	whole := testbed.Named(w.ns, names...)
	w.c.Recorder.WaitBound(w, whole, n, 30*time.Second)
	w.clear(whole)
}

// sufferInCommit makes a change when three of eight Bindings are written and the others are on
// their way. Those cannot be taken back, but the gang must become complete.
func (w *way) sufferInCommit(h harm) {
	w.Helper()
	w.c.Recorder.Excuse(testbed.Sigs.Key(w.ns, wayGroup))
	lost := h.do(w)
	left := len(w.c.Recorder.Pods(w.gang))
	if h.name == "member-deleted" {
		left = wayMembers - 1
	}
	w.gates.release(w.ns)
	w.c.Recorder.WaitBound(w, w.gang, left, 60*time.Second)
	if strings.HasSuffix(h.name, "deleted") && lost != "" {
		w.collect()
	}
	if h.repair != nil {
		h.repair(w, h.members-len(w.c.Recorder.Pods(w.gang)))
	}
	w.c.Recorder.WaitBound(w, w.gang, h.members, 60*time.Second)
	w.m.WaitState(w, w.ns, wayGroup, "Scheduled")
}

// collect deletes the pods of deleted nodes, as the garbage collector of Kubernetes does after a
// while.
func (w *way) collect() {
	w.Helper()
	there := map[string]bool{}
	for _, node := range w.m.Nodes(w) {
		there[fmt.Sprint(node["name"])] = true
	}
	w.clear(func(p *testbed.PodRecord) bool { return w.gang(p) && p.Node != "" && !there[p.Node] })
}
