package testbed

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Resources are amounts in whole units, for CPU in thousandths.
type Resources map[corev1.ResourceName]int64

// PodState is the state of a pod at one moment, as far as the checks need it.
type PodState struct {
	Namespace, Name, UID string
	Gang                 string // "API group/namespace/name", or ""
	Node                 string
	Phase                corev1.PodPhase
	Requests             Resources // as kube-scheduler counts them, including one "pods"
}

// Finished pods use nothing, and count as members that have been placed.
func (p *PodState) finished() bool {
	return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed
}

// NodeState is the state of a node at one moment, as far as the checks need it.
type NodeState struct {
	Name        string
	Allocatable Resources
}

// Change is one watch event of a pod or of a node.
type Change struct {
	At time.Time
	// Version is the resource version. The whole cluster has one counter for it, so it orders the
	// events of different watches.
	Version uint64
	Pod     *PodState
	Node    *NodeState
	Deleted bool
}

// History is everything that the watches have shown, in that order.
type History []Change

// ordered is the history, sorted by resource version.
func (h History) ordered() History {
	sorted := slices.Clone(h)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Version < sorted[j].Version })
	return sorted
}

// Overcommits replays the history and describes every moment at which the pods on a node requested
// more than the node has. It skips the excused nodes.
func (h History) Overcommits(excused map[string]bool) []string {
	nodes := map[string]Resources{}
	used := map[string]Resources{}
	charged := map[string]*PodState{}
	var found []string

	charge := func(pod *PodState, sign int64) {
		sum := used[pod.Node]
		if sum == nil {
			sum = Resources{}
			used[pod.Node] = sum
		}
		for name, amount := range pod.Requests {
			sum[name] += sign * amount
		}
	}
	for _, change := range h.ordered() {
		touched := ""
		if node := change.Node; node != nil {
			delete(nodes, node.Name)
			if !change.Deleted {
				nodes[node.Name] = node.Allocatable
				touched = node.Name
			}
		}
		if pod := change.Pod; pod != nil {
			if before := charged[pod.UID]; before != nil {
				charge(before, -1)
				delete(charged, pod.UID)
			}
			if !change.Deleted && !pod.finished() && pod.Node != "" {
				charge(pod, 1)
				charged[pod.UID] = pod
				touched = pod.Node
			}
		}
		allocatable, known := nodes[touched]
		if !known || excused[touched] {
			continue
		}
		for name, amount := range used[touched] {
			if amount > allocatable[name] {
				found = append(found, fmt.Sprintf("%s node %s: %s %d of %d assigned",
					change.At.Format("15:04:05.000"), touched, name, amount, allocatable[name]))
			}
		}
	}
	return found
}

// Partial is a time during which a gang was bound only in part.
type Partial struct {
	Gang        string
	From, Until time.Time
	Most        int // the maximum number of bound members
	Needed      int
	Open        bool // it had not ended when the history ended
}

func (p Partial) String() string {
	end := "then complete or gone"
	if p.Open {
		end = "and still so at the end"
	}
	return fmt.Sprintf("gang %s: at most %d of %d needed members bound for %v from %s, %s",
		p.Gang, p.Most, p.Needed, p.Until.Sub(p.From).Round(time.Millisecond),
		p.From.Format("15:04:05.000"), end)
}

// Partials finds every time with 0 < bound < needed of a gang that had not been complete before. A
// gang that was complete once may lose members, which is not a partial time. The history ends at
// `end`.
func (h History) Partials(needed map[string]int, end time.Time) []Partial {
	bound := map[string]map[string]bool{} // gang -> UIDs of its placed members
	complete := map[string]bool{}
	open := map[string]*Partial{}
	var found []Partial

	for _, change := range h {
		pod := change.Pod
		if pod == nil || pod.Gang == "" || needed[pod.Gang] == 0 || complete[pod.Gang] {
			continue
		}
		members := bound[pod.Gang]
		if members == nil {
			members = map[string]bool{}
			bound[pod.Gang] = members
		}
		switch {
		case pod.Node == "" || pod.Phase == corev1.PodFailed:
			delete(members, pod.UID)
		case change.Deleted && pod.Phase != corev1.PodSucceeded:
			delete(members, pod.UID)
		default:
			members[pod.UID] = true
		}
		n := len(members)
		complete[pod.Gang] = n >= needed[pod.Gang]
		partial := open[pod.Gang]
		if n > 0 && !complete[pod.Gang] {
			if partial == nil {
				partial = &Partial{Gang: pod.Gang, From: change.At, Needed: needed[pod.Gang]}
				open[pod.Gang] = partial
			}
			partial.Most = max(partial.Most, n)
		} else if partial != nil {
			partial.Until = change.At
			found = append(found, *partial)
			delete(open, pod.Gang)
		}
	}
	for _, partial := range open {
		partial.Until, partial.Open = end, true
		found = append(found, *partial)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].From.Before(found[j].From) })
	return found
}

// allowedSpread is how long the bindings of a gang may take in this run.
func allowedSpread(members int) time.Duration {
	if InGate() {
		return gateFactor * promisedSpread(members)
	}
	return promisedSpread(members)
}

// promisedSpread is one second per hundred members.
func promisedSpread(members int) time.Duration {
	return time.Duration((members+99)/100) * time.Second
}

// Rebound lists every pod whose node changed after it was set.
func (h History) Rebound() []string {
	first := map[string]string{}
	var found []string
	for _, change := range h {
		pod := change.Pod
		if pod == nil || pod.Node == "" {
			continue
		}
		if before, known := first[pod.UID]; known && before != pod.Node {
			found = append(found, strings.Join([]string{pod.Namespace, pod.Name, before, pod.Node}, " "))
		}
		first[pod.UID] = pod.Node
	}
	return found
}
