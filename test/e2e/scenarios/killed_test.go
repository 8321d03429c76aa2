package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// notHere gives the reason why only the core's own tests reach a cell: on a real control plane, it
// needs a moment that no test can wait for.
func notHere(c cell) string {
	switch {
	case strings.HasPrefix(c.id, "BOUND_") && slices.Contains([]string{"Waiting", "Planned", "BackedOff", "Done"}, c.state):
		return "the result of a Binding must come after its member has ceased to be one, and before the watch shows it"
	case c.state == "BackedOff" && c.id == "EXPECTED_OVER":
		return "an attempt must end in the three seconds in which members are hoped for"
	case c.id == "ROOM_MORE" && slices.Contains([]string{"Planned", "Committing"}, c.state):
		return "a plan under way must lack something that is no need of it"
	case c.state == "Done" && c.id == "AT_BIND":
		return "the member must appear and be at bind in one step, or the gang is not Done any more"
	}
	return ""
}

// lastly are the triggers that come by themselves after some time. They are left to the end of a
// batch.
var lastly = []string{"LOOK_AGAIN", "EXPECTED_OVER", "HOLD_OVER", "ATTEMPT_OVER", "BACKOFF_OVER", "REJECTED_EARLY", "RESTART"}

// batchSettings give the gangs of each state the times that they need. A hold must be longer than
// kube-scheduler's backoff after an error (10 s), or members that come at different times may miss
// each other forever (seen with 6 s).
var batchSettings = map[string]map[string]any{
	"Assembling": {"assembleSeconds": 6},
	"Planned":    {"holdSeconds": 12},
	"Scheduled":  {"holdSeconds": 12},
	"Recovering": {"holdSeconds": 12, "backoffSeconds": 2, "maxBackoffSeconds": 2},
	"BackedOff":  {"backoffSeconds": 20},
}

// C04: muster is killed in every cell of the table of what can happen to a gang
// (gang/state_table.h). For each cell, the test shows that it was reached, while only muster's
// Bindings arrive. Afterwards every gang is completed, nothing is bound twice, and nothing leaks.
// One kill serves all cells of a state.
func TestC04_KilledInEveryCell(t *testing.T) {
	t.Parallel()
	all := cellsOfTable(t)
	here := slices.DeleteFunc(slices.Clone(all), func(c cell) bool { return notHere(c) != "" })
	small := testbed.Small(t, "kill-points")
	if small {
		here = someCells(here)
	}
	t.Logf("%d of %d cells", len(here), len(all))
	for key := range racing {
		if !slices.ContainsFunc(all, func(c cell) bool { return c.key() == key }) {
			t.Errorf("racing: the table has no cell %q", key)
		}
	}
	byState := map[string][]cell{}
	for _, each := range here {
		byState[each.state] = append(byState[each.state], each)
	}
	for state, cells := range byState {
		t.Run(state, func(t *testing.T) {
			if small {
				beside(t)
			} else {
				take(t, 2) // twenty gangs commit at once, so the API server decides their spread
			}
			slices.SortStableFunc(cells, func(a, b cell) int {
				return slices.Index(lastly, a.id) - slices.Index(lastly, b.id)
			})
			killIn(t, batchSettings[state], cells)
		})
	}
}

// someCells has every trigger once, each in another state than the previous one.
func someCells(all []cell) (some []cell) {
	byHappening := map[string][]cell{}
	var order []string
	for _, each := range all {
		if byHappening[each.id] == nil {
			order = append(order, each.id)
		}
		byHappening[each.id] = append(byHappening[each.id], each)
	}
	used := map[string]int{}
	for _, id := range order {
		some = append(some, slices.MinFunc(byHappening[id], func(a, b cell) int { return used[a.state] - used[b.state] }))
		used[some[len(some)-1].state]++
	}
	return some
}

// killIn is one batch: a gang for every cell, one kill for all.
func killIn(t *testing.T, config map[string]any, cells []cell) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	gates := newGates(t, c)
	m := c.StartMuster(t, testbed.MusterOptions{Through: gates.api, Config: config})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: gates.inFrontOf(t, m)})
	var points []*point
	for _, each := range cells {
		ns := strings.ToLower(strings.ReplaceAll(each.id, "_", "-"))
		points = append(points, &point{cell: each, way: way{T: t, c: c, m: m, gates: gates, ns: ns,
			gang: testbed.InGang(testbed.Sigs, ns, wayGroup)}})
	}
	points = eachPoint(t, "built", points, func(p *point) {
		c.Namespace(p, p.ns)
		if strings.ContainsAny(p.leads, "CR") || strings.HasPrefix(p.id, "BOUND_") {
			c.Recorder.Excuse(testbed.Sigs.Key(p.ns, wayGroup)) // a commit that is cut short
		}
		builders[p.state](p)
	})

	gates.freeze()
	gates.refusing(verdictOf(points))
	for _, p := range points {
		p.T = t
		p.happens()
	}
	m.Kill()
	gates.thaw()
	gates.refusing(nil)
	for _, p := range points {
		gates.release(p.ns)
	}
	m.Start(t)
	if slices.ContainsFunc(points, func(p *point) bool { return p.is("RESTART") }) {
		m.Kill() // for the cell of the restart itself
		m.Start(t)
	}
	points = eachPoint(t, "whole", points, (*point).becomesWhole)
	for _, p := range points {
		p.T = t
		p.clear(testbed.InNamespace(p.ns))
	}
	m.WaitNoLeaks(t)
}

// eachPoint does something for all points at once, as subtests, and returns the points for which it
// succeeded.
func eachPoint(t *testing.T, what string, points []*point, do func(*point)) []*point {
	t.Helper()
	good := make([]bool, len(points))
	var all sync.WaitGroup
	for i, p := range points {
		all.Go(func() {
			good[i] = t.Run(p.ns+"/"+what, func(t *testing.T) {
				p.T = t
				do(p)
			})
		})
	}
	all.Wait()
	var left []*point
	for i, p := range points {
		if good[i] {
			left = append(left, p)
		}
	}
	return left
}

// happens reaches the point's cell, and checks that muster counted it.
func (p *point) happens() {
	if p.is("RESTART") {
		return // the kill itself
	}
	before := p.reached()
	if slices.Contains(lastly, p.id) {
		before = 0 // time passes for all gangs of the batch, so it may have happened already
	}
	defer p.gates.api.DelayWatches(0)
	for range 4 {
		triggers[p.id](p)
		patience, again := racing[p.key()]
		if !again {
			patience = time.Minute // three holds, for a member without a filter call
		}
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if p.reached() > before {
				return
			}
		}
		if !again {
			break
		}
	}
	p.Errorf("the cell %q is not reached (for a new cell, extend killpoints_test.go, or give a reason in notHere); the gang is %+v", p, p.m.GangPods(p, p.ns, wayGroup))
}

// racing are the cells where two things must happen in a certain order, or in one step, by state and
// id of the trigger. They are tried again after some time.
var racing = map[string]time.Duration{
	"Done MEMBER_BOUND":   time.Second,
	"Done MEMBER_ENDED":   time.Second,
	"Assembling BOUND_OK": 12 * time.Second, // a hanging Binding is sent again after ten seconds
	"Committing BOUND_OK": 12 * time.Second,
	"Recovering BOUND_OK": 12 * time.Second,
	// For half a second after a pod has left, a missing node is not evidence.
	"Recovering REFUSED": time.Second,
}

// reached is how often muster has counted the cell.
func (p *point) reached() float64 {
	return p.m.Metrics(p).Sum("muster_gang_triggers_total",
		fmt.Sprintf("state=%q", p.state), fmt.Sprintf("trigger=%q", p.trigger))
}

// becomesWhole gives the gang whatever it may lack, and waits until it is complete.
func (p *point) becomesWhole() {
	p.repairGroup()
	p.c.AddNodes(p, p.node("x"), p.node("y"), p.node("z"))
	there := 0
	for _, pod := range p.c.Recorder.Pods(p.gang) {
		switch {
		case !pod.Erased.IsZero():
		case pod.Latest.DeletionTimestamp != nil:
			p.c.PatchPod(p, p.ns, pod.Name, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		case pod.Bound.IsZero() && pod.Latest.Spec.SchedulerName == lateScheduler && pod.Finished.IsZero():
			p.c.DeletePods(p, p.ns, pod.Name)
		default:
			there++
		}
	}
	var names []string
	for i := there; i < wayMembers; i++ {
		names = append(names, fmt.Sprintf("repair-%d", i))
	}
	p.c.AddPods(p, p.members(names...)...)
	testbed.Within(p, 60*time.Second, "the gang is whole", func() error {
		bound := 0
		for _, pod := range p.c.Recorder.Pods(p.gang) {
			if pod.Erased.IsZero() && (!pod.Bound.IsZero() || pod.Latest.Status.Phase == corev1.PodSucceeded) {
				bound++
			}
		}
		gang := p.m.Gang(p, p.ns, wayGroup)
		if bound < wayMembers || (gang.State != "Scheduled" && gang.State != "Done") {
			return fmt.Errorf("%d members are bound: %+v", bound, gang)
		}
		return nil
	})
}

// repairGroup restores the PodGroup.
func (p *point) repairGroup() {
	switch {
	case p.is("GROUP_GONE"), p.state == "Assembling" && p.is("BOUND_OK", "BOUND_REFUSED", "BOUND_UNCLEAR"):
		p.group(wayMembers, nil)
	case p.is("FAMILY"):
		p.c.AnnotatePodGroup(p, testbed.Sigs, p.ns, wayGroup, gangGroups, nil)
	}
	p.c.EditPodGroup(p, testbed.Sigs, p.ns, wayGroup,
		map[string]any{"minMember": wayMembers, "scheduleTimeoutSeconds": nil})
}
