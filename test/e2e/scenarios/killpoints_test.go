package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// cell is a cell of gang/state_table.h: something that can happen to a gang in a state.
type cell struct {
	state, trigger string
	id             string // the id of the trigger in the table
	leads          string // the states that it leads to, one letter each
}

func (c cell) String() string { return c.state + ": " + c.trigger }
func (c cell) key() string    { return c.state + " " + c.id }

var rowOfTable = regexp.MustCompile(`(?m)^    X\((\w+), "([^"]+)"((?:, "[A-Z]*"){8}), "`)

// cellsOfTable reads all cells of gang/state_table.h that are not empty.
func cellsOfTable(t *testing.T) []cell {
	t.Helper()
	states := []string{"Assembling", "Waiting", "Planned", "Committing", "Scheduled", "Recovering", "BackedOff", "Done"}
	rows := rowOfTable.FindAllStringSubmatch(read(t, filepath.Join(testbed.Root(t), "gang/state_table.h")), -1)
	var cells []cell
	for _, row := range rows {
		for i, letters := range strings.Split(row[3], ", ")[1:] {
			if letters = strings.Trim(letters, `"`); letters != "" {
				cells = append(cells, cell{states[i], row[2], row[1], letters})
			}
		}
	}
	if len(rows) < 20 || len(cells) < 100 {
		t.Fatalf("found only %d rows and %d cells in gang/state_table.h; its form may have changed", len(rows), len(cells))
	}
	return cells
}

// point is a gang of eight that is brought to a state. Then something happens to it, and muster is
// killed.
type point struct {
	way
	cell
	tries int
}

// Names of further members.
const (
	extra  = "extra"
	second = "extra-2"
)

// is says whether the point has one of these triggers.
func (p *point) is(ids ...string) bool { return slices.Contains(ids, p.id) }

// group creates the PodGroup.
func (p *point) group(minMember int, spec map[string]any) {
	p.c.Add(p, testbed.Sigs.PodGroup(p.ns, wayGroup, minMember, spec))
}

// late adds a member of a scheduler that does not run.
func (p *point) late(name string) {
	pod := p.members(name)[0]
	pod.Spec.SchedulerName = lateScheduler
	p.c.AddPods(p, pod)
}

// known waits until muster has seen the member.
func (p *point) known(name string) {
	p.Helper()
	testbed.Within(p, 30*time.Second, "muster knows "+name, func() error {
		for _, member := range p.m.GangPods(p, p.ns, wayGroup).Pods {
			if member.Name == name {
				return nil
			}
		}
		return fmt.Errorf("muster does not know the member")
	})
}

// atOnce adds a member to a Done gang and does something with it, which must reach muster in one
// step. After the first half, the gang is no longer Done.
func (p *point) atOnce(do func(name string)) {
	p.Helper()
	p.waitState("Done", anyhow) // the gang may have left this state
	p.tries++
	pod := p.members(fmt.Sprintf("%s-try-%d", extra, p.tries))[0]
	pod.Spec.SchedulerName = lateScheduler
	testbed.RunningFor(100 * time.Millisecond)(pod)
	p.m.Pause()
	defer p.m.Resume()
	p.c.AddPods(p, pod)
	do(pod.Name)
}

// going adds a pod and deletes it. A finalizer keeps it Terminating.
func (p *point) going(name string) {
	pod := p.members(name)[0]
	pod.Spec.SchedulerName = lateScheduler
	pod.Finalizers = []string{"e2e.muster.dev/stays"}
	p.c.AddPods(p, pod)
	p.c.DeletePods(p, p.ns, name)
	p.waitState(p.state, func(g testbed.Gang) bool { return g.Members == wayMembers && len(g.Pods) > wayMembers })
}

func (p *point) waitState(state string, and func(testbed.Gang) bool) {
	p.Helper()
	testbed.Within(p, 60*time.Second, p.ns+" is "+state, func() error {
		gang := p.m.GangPods(p, p.ns, wayGroup)
		if gang.State != state || !and(gang) {
			return fmt.Errorf("the gang is %+v", gang)
		}
		return nil
	})
}

func anyhow(testbed.Gang) bool { return true }

// builders bring a gang into a state, as far as the trigger allows.
var builders = map[string]func(*point){
	"Assembling": (*point).buildAssembling,
	"Waiting":    (*point).buildWaiting,
	"Planned":    (*point).buildPlanned,
	"Committing": (*point).buildCommitting,
	"Scheduled":  (*point).buildScheduled,
	"Recovering": (*point).buildRecovering,
	"BackedOff":  (*point).buildBackedOff,
	"Done":       (*point).buildDone,
}

func (p *point) nodes(names ...string) {
	for _, name := range names {
		p.c.AddNodes(p, p.node(name))
	}
	// A node without room, for the scheduler to offer.
	p.c.AddNodes(p, testbed.Node(p.ns+"-tiny", nil, testbed.Labelled(pool, p.ns)))
}

func (p *point) buildAssembling() {
	switch {
	case p.is("EXPECTED_OVER", "ROOM_MORE"):
		// Members are expected only for a short time, so the gang is created when the trigger
		// happens.
		p.nodes()
		p.group(wayMembers, nil)
	case p.is("ATTEMPT_OVER"):
		p.nodes("a")
		p.group(wayMembers, map[string]any{"scheduleTimeoutSeconds": int64(6)})
	case p.is("BOUND_OK", "BOUND_REFUSED", "BOUND_UNCLEAR"):
		p.nodes("a", "b", "c")
		p.gates.set(p.ns, wayMembers, 0)
		p.group(wayMembers, nil)
		p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
		testbed.Within(p, 30*time.Second, "all Bindings are under way", func() error {
			if n := p.gates.waiting(p.gates.bindings, p.ns); n != wayMembers {
				return fmt.Errorf("%d are there", n)
			}
			return nil
		})
		p.c.DeletePodGroup(p, testbed.Sigs, p.ns, wayGroup)
		p.waitState("Assembling", anyhow)
	default:
		p.nodes("a", "b", "c")
		p.group(wayMembers, nil)
		p.c.AddPods(p, p.members(memberNames(wayMembers-1)...)...)
		p.waitState("Assembling", func(g testbed.Gang) bool { return g.Members == wayMembers-1 && g.Planned == 0 })
	}
}

func (p *point) buildWaiting() {
	p.nodes("a")
	spec := map[string]any{}
	if p.is("ATTEMPT_OVER") {
		spec["scheduleTimeoutSeconds"] = int64(8)
	}
	p.group(wayMembers, spec)
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	p.waitState("Waiting", func(g testbed.Gang) bool { return g.Members == wayMembers })
}

func (p *point) buildPlanned() {
	p.nodes("a", "b", "c")
	spec := map[string]any{}
	asks := wayMembers - 1
	switch {
	case p.is("EXPECTED_OVER"):
		return // as above
	case p.is("CALL_LOST"):
		asks = 0
	}
	p.gates.set(p.ns, asks, 3)
	if p.is("ATTEMPT_OVER") {
		spec["scheduleTimeoutSeconds"] = int64(8)
	}
	p.group(wayMembers, spec)
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	// A later filter call would end the bind call of the test itself.
	p.waitState("Planned", func(g testbed.Gang) bool {
		return g.Planned == wayMembers && p.gates.waiting(p.gates.asks, p.ns) == wayMembers-asks
	})
	if p.is("REJECTED_EARLY") {
		p.late(extra) // it has a slot, but no filter call
	}
}

func (p *point) buildCommitting() {
	p.nodes("a", "b", "c")
	p.gates.set(p.ns, wayMembers, 3)
	p.group(wayMembers, nil)
	if p.is("ROOM_LESS", "FILTERED", "REFUSED", "AT_BIND") {
		p.late(extra) // it has a slot, but does not come to bind
	}
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	p.waitState("Committing", func(g testbed.Gang) bool { return g.Bound == 3 })
}

func (p *point) buildScheduled() {
	p.nodes("a", "b", "c")
	p.gates.set(p.ns, unlimited, wayMembers)
	p.group(wayMembers, nil)
	if p.is("ROOM_LESS", "LOOK_AGAIN") {
		p.late(extra)
	}
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	p.waitState("Scheduled", func(g testbed.Gang) bool { return g.Bound == wayMembers })
	p.c.Recorder.WaitBound(p, p.gang, wayMembers, 30*time.Second)
	if p.is("BOUND_OK", "BOUND_REFUSED", "BOUND_UNCLEAR") {
		p.c.AddPods(p, p.members(extra)...)
		testbed.Within(p, 30*time.Second, "its Binding is under way", func() error {
			if n := p.gates.waiting(p.gates.bindings, p.ns); n != 1 {
				return fmt.Errorf("%d are there", n)
			}
			return nil
		})
	}
}

// buildRecovering breaks a commit: six members are bound, and two are gone.
func (p *point) buildRecovering() {
	p.nodes("a", "b", "c")
	p.gates.set(p.ns, unlimited, 3)
	p.group(wayMembers, nil)
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	p.waitState("Committing", func(g testbed.Gang) bool { return g.Bound == 3 })
	p.c.Recorder.WaitBound(p, p.gang, 3, 30*time.Second)
	if p.is("BOUND_OK", "BOUND_REFUSED", "BOUND_UNCLEAR") {
		// The commit loses its PodGroup and gets another one while Bindings are under way.
		p.c.DeletePodGroup(p, testbed.Sigs, p.ns, wayGroup)
		p.waitState("Assembling", anyhow)
		p.group(wayMembers, nil)
		p.waitState("Recovering", anyhow)
		return
	}
	p.c.DeletePods(p, p.ns, p.unbound()[:2]...)
	p.gates.release(p.ns)
	p.waitState("Recovering", func(g testbed.Gang) bool { return g.Bound == wayMembers-2 })
	if p.is("ROOM_MORE") {
		for _, node := range []string{"a", "b", "c"} {
			p.c.Cordon(p, p.ns+"-"+node, true)
		}
	}
	if p.is("ATTEMPT_OVER", "BACKOFF_OVER") {
		p.c.EditPodGroup(p, testbed.Sigs, p.ns, wayGroup, map[string]any{"scheduleTimeoutSeconds": 4})
	}
	p.late(extra)
	p.late(second)
	if !p.is("ROOM_MORE") {
		p.waitState("Recovering", func(g testbed.Gang) bool { return g.Planned == 2 })
	}
}

func (p *point) buildBackedOff() {
	p.nodes("a")
	p.group(wayMembers, map[string]any{"scheduleTimeoutSeconds": int64(1)})
	p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
	p.waitState("BackedOff", func(g testbed.Gang) bool { return g.Members == wayMembers })
}

func (p *point) buildDone() {
	p.nodes("a", "b", "c")
	p.group(wayMembers, nil)
	pods := p.members(memberNames(wayMembers)...)
	for _, pod := range pods {
		testbed.RunningFor(100 * time.Millisecond)(pod)
	}
	p.c.AddPods(p, pods...)
	p.waitState("Done", anyhow)
}

// one is a member that is not bound, or any member if all are bound.
func (p *point) one() string {
	if names := p.unbound(); len(names) > 0 {
		return names[0]
	}
	return p.c.Recorder.WaitExist(p, p.gang, 1, 10*time.Second)[0].Name
}

func (p *point) record(name string) testbed.PodRecord {
	p.Helper()
	return p.c.Recorder.WaitExist(p, testbed.Named(p.ns, name), 1, 10*time.Second)[0]
}

// slot is the node of a member's slot.
func (p *point) slot(name string) string {
	for _, pod := range p.m.GangPods(p, p.ns, wayGroup).Pods {
		if pod.Name == name && pod.Slot != "" {
			return pod.Slot
		}
	}
	return p.ns + "-a"
}

// ask calls a verb as the scheduler would. It does not wait for a bind call, which may be held.
func (p *point) ask(ctx context.Context, verb string, question map[string]any) {
	p.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		p.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.m.Verbs+"/scheduler/"+verb, bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	go func() {
		if reply, err := http.DefaultClient.Do(request); err == nil {
			reply.Body.Close()
		}
	}()
}

func (p *point) filter(name string, nodes ...string) {
	p.Helper()
	p.ask(context.Background(), "filter", map[string]any{"Pod": p.record(name).Latest, "Nodes": nil, "NodeNames": nodes})
}

// bind first calls filter for the node, because muster refuses the bind call otherwise.
func (p *point) bind(ctx context.Context, name, node string) {
	p.Helper()
	askFilter(p.T, p.m, p.record(name).Latest, node)
	p.ask(ctx, "bind", map[string]any{
		"PodName": name, "PodNamespace": p.ns, "PodUID": p.record(name).UID, "Node": node})
}

// byHand binds a pod without muster and without a scheduler.
func (p *point) byHand(name, node string) {
	p.Helper()
	if err := p.c.Bind(p.ns, name, node, false); err != nil {
		p.Fatal(err)
	}
}

const gangGroups = "gang.scheduling.koordinator.sh/groups"

// triggers make each row of the table happen.
var triggers = map[string]func(*point){
	"MEMBER_NEW": func(p *point) { p.late("newcomer") },
	"MEMBER_LOST": func(p *point) {
		p.c.DeletePods(p, p.ns, p.one())
	},
	"MEMBER_ENDED": func(p *point) {
		if p.state == "Done" {
			p.atOnce(func(name string) { p.c.SetPodPhase(p, p.ns, name, corev1.PodSucceeded) })
			return
		}
		p.c.SetPodPhase(p, p.ns, p.one(), corev1.PodSucceeded)
	},
	"MEMBER_BOUND": func(p *point) {
		switch p.state {
		case "Scheduled":
			p.late(extra)
			p.byHand(extra, p.ns+"-c")
			return
		case "Done":
			p.atOnce(func(name string) { p.byHand(name, p.ns+"-c") })
			return
		}
		name := p.one()
		node := p.slot(name)
		for _, pod := range p.m.GangPods(p, p.ns, wayGroup).Pods {
			if pod.Name == name && pod.Node != "" {
				node = pod.Node // the node of its Binding under way
			}
		}
		p.byHand(name, node)
	},
	"MEMBER_CHANGED": func(p *point) { p.c.LabelPod(p, p.ns, p.one(), "e2e.muster.dev/changed", "yes") },
	"GROUP_SET": func(p *point) {
		p.c.EditPodGroup(p, testbed.Sigs, p.ns, wayGroup, map[string]any{"scheduleTimeoutSeconds": 999})
	},
	"GROUP_GONE": func(p *point) { p.c.DeletePodGroup(p, testbed.Sigs, p.ns, wayGroup) },
	"FAMILY": func(p *point) {
		kin := testbed.Sigs.PodGroup(p.ns, "kin", 1, nil)
		kin.SetAnnotations(map[string]string{gangGroups: fmt.Sprintf(`["%s/%s"]`, p.ns, wayGroup)})
		p.c.Add(p, kin)
		p.c.AnnotatePodGroup(p, testbed.Sigs, p.ns, wayGroup, gangGroups, fmt.Sprintf(`["%s/kin"]`, p.ns))
	},
	"ROOM_MORE": func(p *point) {
		switch p.state {
		case "Assembling":
			p.c.AddPods(p, p.members(memberNames(wayMembers-1)...)...)
			p.waitState("Assembling", func(g testbed.Gang) bool { return g.Members > 0 })
			p.c.AddNodes(p, p.node("a"), p.node("b"), p.node("c"))
		case "Recovering":
			p.c.Cordon(p, p.ns+"-c", false)
		default:
			p.c.AddNodes(p, p.node("d"))
		}
	},
	"ROOM_LESS": func(p *point) {
		node := p.slot(extra)
		if p.state == "Planned" {
			node = p.fullest()
		}
		p.c.Cordon(p, node, true)
	},
	"FILTERED": func(p *point) {
		name := p.one()
		switch p.state {
		case "Committing":
			name = extra
		case "Scheduled":
			name = extra
			p.late(extra)
		case "Done": // a Terminating pod is no longer a member, but filter may be called for it
			name = extra
			p.going(extra)
		}
		p.filter(name, p.ns+"-a")
	},
	"REFUSED": func(p *point) {
		name := extra
		if p.state == "Planned" {
			name = p.notAsked()
		}
		p.filter(name, p.ns+"-tiny")
	},
	"AT_BIND": func(p *point) {
		name := extra
		switch p.state {
		case "Scheduled", "Done":
			p.late(extra)
			p.known(extra) // a bind call for a pod that the watch has not shown is refused
			p.bind(context.Background(), extra, p.ns+"-c")
			return
		case "Planned":
			name = p.notAsked()
		case "Assembling", "Waiting", "BackedOff":
			name = p.one()
		}
		p.bind(context.Background(), name, p.slot(name))
	},
	"CALL_LOST": func(p *point) {
		name := extra
		if p.state == "Planned" {
			name = p.one()
		}
		ctx, hangUp := context.WithCancel(context.Background())
		p.bind(ctx, name, p.slot(name))
		p.waitState(p.state, func(g testbed.Gang) bool { return g.Held == 1 })
		hangUp()
	},
	"BOUND_OK": func(p *point) {
		// The result arrives before the watch shows it.
		p.gates.api.DelayWatches(time.Second)
		p.gates.letOne(p.ns)
	},
	"BOUND_REFUSED": func(p *point) { p.gates.letOne(p.ns) }, // see also verdictOf
	"BOUND_UNCLEAR": func(p *point) { p.gates.letOne(p.ns) },
	"EXPECTED_OVER": func(p *point) {
		if p.state == "Planned" {
			p.group(wayMembers, nil)
		}
		p.c.AddPods(p, p.members(memberNames(wayMembers-1)...)...)
	},
	"HOLD_OVER": func(p *point) {
		if p.state == "Recovering" {
			p.bind(context.Background(), extra, p.slot(extra))
		}
	},
	"ATTEMPT_OVER": func(p *point) {
		if p.state == "Assembling" { // an attempt begins, and one member is deleted; another may still come
			p.c.AddPods(p, p.members(memberNames(wayMembers)...)...)
			p.waitState("Waiting", anyhow)
			p.c.DeletePods(p, p.ns, p.one())
		} // otherwise time passes
	},
	"BACKOFF_OVER": func(*point) {},
	"REJECTED_EARLY": func(p *point) { // filter is called for another pod, and time passes
		p.c.AddPods(p, p.pod("passer-by", 0))
	},
	"LOOK_AGAIN": func(p *point) {
		switch p.state {
		case "Planned":
			p.filter(p.notAsked(), p.ns+"-tiny") // evidence for two seconds
		case "Committing":
			p.gates.letOne(p.ns)
			p.gates.letOne(p.ns)
			p.late(extra)
		case "Done":
			for _, name := range memberNames(3) {
				p.c.DeletePods(p, p.ns, name)
			}
		case "Recovering":
			for _, name := range []string{"again-1", "again-2", "again-3"} {
				p.late(name)
			}
		}
	},
	"RESTART": func(*point) {},
}

// verdictOf refuses the Binding that passes the gate, or gives it an unclear result.
func verdictOf(points []*point) func(testbed.Request) testbed.Verdict {
	return func(r testbed.Request) testbed.Verdict {
		for _, p := range points {
			switch {
			case p.ns == r.Namespace && p.is("BOUND_REFUSED"):
				return testbed.Answer(http.StatusUnprocessableEntity, "no")
			case p.ns == r.Namespace && p.is("BOUND_UNCLEAR"):
				return testbed.Answer(http.StatusInternalServerError, "perhaps")
			}
		}
		return testbed.Forward
	}
}

// notAsked is the member whose bind call has not reached muster.
func (p *point) notAsked() string {
	p.Helper()
	for _, pod := range p.m.GangPods(p, p.ns, wayGroup).Pods {
		if pod.State != "Held" && pod.Slot != "" {
			return pod.Name
		}
	}
	return p.one()
}
