package testbed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Recorder watches all pods and nodes from the first moment of the cluster to the last, and stores
// when each thing happened. At the end of the test it checks what must hold in every test: no node
// is ever overcommitted and no gang is ever partial.
type Recorder struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every event
	history History
	pods    map[string]*PodRecord // by UID
	order   []*PodRecord          // by first sight
	needed  map[string]int        // gang -> members needed
	excused map[string]bool       // gangs that may be partial
	shrunk  map[string]bool       // nodes that may be overcommitted
	// To find out whether the schedulers still have work to do.
	schedulers []served
	musters    []*Muster
	broken     error // set if the watch lost events
	stopping   bool
}

// PodRecord is the life of one pod. A time is zero until it comes.
type PodRecord struct {
	Namespace, Name, UID, Gang, Node      string
	Created, Bound, Ran, Finished, Erased time.Time
	Latest                                *corev1.Pod
}

func startRecorder(t TB, kube kubernetes.Interface) *Recorder {
	t.Helper()
	r := &Recorder{
		changed: make(chan struct{}),
		pods:    map[string]*PodRecord{},
		needed:  map[string]int{},
		excused: map[string]bool{},
		shrunk:  map[string]bool{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	// This cleanup is registered after those of the processes, so it runs before them, when the
	// control plane still runs.
	t.Cleanup(func() {
		r.settle()
		r.mu.Lock()
		r.stopping = true
		r.mu.Unlock()
		cancel()
		r.check(t)
	})
	pods := kube.CoreV1().Pods("")
	r.follow(ctx, t, "pods", func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return pods.List(ctx, options)
	}, pods.Watch)
	nodes := kube.CoreV1().Nodes()
	r.follow(ctx, t, "nodes", func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return nodes.List(ctx, options)
	}, nodes.Watch)
	return r
}

// follow lists once and then watches until the end. Lost events break the recorder, because a
// history with a gap proves nothing.
func (r *Recorder) follow(ctx context.Context, t TB, what string,
	list func(context.Context, metav1.ListOptions) (runtime.Object, error), start StartWatch) {
	t.Helper()
	// The cluster is new, so the list is empty and has only a version.
	empty, err := list(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list %s: %v", what, err)
	}
	from := metav1.ListOptions{ResourceVersion: empty.(metav1.ListInterface).GetResourceVersion()}
	go func() {
		if err := Follow(ctx, from, start, r.see); err != nil {
			r.breakOff(fmt.Errorf("watch %s: %w", what, err))
		}
	}()
}

func (r *Recorder) breakOff(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopping && r.broken == nil {
		r.broken = err
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

func (r *Recorder) see(event watch.Event) {
	change := Change{At: time.Now(), Deleted: event.Type == watch.Deleted}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch object := event.Object.(type) {
	case *corev1.Pod:
		change.Version, _ = strconv.ParseUint(object.ResourceVersion, 10, 64)
		change.Pod = podState(object)
		r.update(object, change)
	case *corev1.Node:
		change.Version, _ = strconv.ParseUint(object.ResourceVersion, 10, 64)
		change.Node = &NodeState{Name: object.Name, Allocatable: resources(object.Status.Allocatable)}
	}
	r.history = append(r.history, change)
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Recorder) update(pod *corev1.Pod, change Change) {
	record := r.pods[string(pod.UID)]
	if record == nil {
		record = &PodRecord{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
			Gang: change.Pod.Gang, Created: change.At}
		r.pods[record.UID] = record
		r.order = append(r.order, record)
	}
	if record.Gang == "" { // muster links pods later to the PodGroup that it creates
		record.Gang = change.Pod.Gang
	}
	record.Latest = pod
	note := func(moment *time.Time, happened bool) {
		if happened && moment.IsZero() {
			*moment = change.At
		}
	}
	record.Node = pod.Spec.NodeName
	note(&record.Bound, pod.Spec.NodeName != "")
	note(&record.Ran, pod.Status.Phase == corev1.PodRunning)
	note(&record.Finished, change.Pod.finished())
	note(&record.Erased, change.Deleted)
}

// podState counts a pod with kube-scheduler's own code.
func podState(pod *corev1.Pod) *PodState {
	requests := resources(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
	requests[corev1.ResourcePods] = 1
	return &PodState{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Gang: linkOf(pod),
		Node: pod.Spec.NodeName, Phase: pod.Status.Phase, Requests: requests,
	}
}

func resources(list corev1.ResourceList) Resources {
	amounts := Resources{}
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			amounts[name] = quantity.MilliValue()
		} else {
			amounts[name] = quantity.Value()
		}
	}
	return amounts
}

// Expect sets how many members a gang needs. For PodGroups that are created through the test bed,
// this happens automatically.
func (r *Recorder) Expect(gang string, needed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.needed[gang] = needed
}

// Excuse allows a gang to be partial, for tests that break one on purpose.
func (r *Recorder) Excuse(gang string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.excused[gang] = true
}

// ExcuseNode allows a node to be overcommitted, for tests that remove resources in use.
func (r *Recorder) ExcuseNode(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shrunk[name] = true
}

// Which selects pods.
type Which func(*PodRecord) bool

// InGang selects the members of a PodGroup.
func InGang(d Dialect, namespace, name string) Which {
	key := d.Key(namespace, name)
	return func(p *PodRecord) bool { return p.Gang == key }
}

// InNamespace selects the pods of a namespace.
func InNamespace(namespace string) Which {
	return func(p *PodRecord) bool { return p.Namespace == namespace }
}

// Named selects pods by name.
func Named(namespace string, names ...string) Which {
	return func(p *PodRecord) bool {
		for _, name := range names {
			if p.Namespace == namespace && p.Name == name {
				return true
			}
		}
		return false
	}
}

// Pods are copies of the selected records, in the order in which the pods appeared. It leaves out
// deleted pods that had not finished.
func (r *Recorder) Pods(which Which) []PodRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.selected(which)
}

func (r *Recorder) selected(which Which) []PodRecord {
	var chosen []PodRecord
	for _, record := range r.order {
		if which(record) && (record.Erased.IsZero() || !record.Finished.IsZero()) {
			chosen = append(chosen, *record)
		}
	}
	return chosen
}

// History is a copy of the history so far.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(History(nil), r.history...)
}

// await waits until the condition holds for the selected pods, or the time is over. It returns the
// pods at that moment.
func (r *Recorder) await(which Which, limit time.Duration, holds func([]PodRecord) bool) (pods []PodRecord, ok bool) {
	// One check for a burst of events, because checks cost the machine time that the cluster needs.
	return r.look(which, limit, 10*time.Millisecond, holds)
}

// look is await() with a pause between two checks.
func (r *Recorder) look(which Which, limit, pause time.Duration, holds func([]PodRecord) bool) (pods []PodRecord, ok bool) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		r.mu.Lock()
		pods, changed, broken := r.selected(which), r.changed, r.broken
		r.mu.Unlock()
		if holds(pods) {
			return pods, true
		}
		if broken != nil {
			return pods, false
		}
		select {
		case <-changed:
			time.Sleep(pause)
		case <-timeout.C:
			return pods, false
		}
	}
}

// partials are the partial times of all gangs so far, without the excused gangs.
func (r *Recorder) partials() []Partial {
	r.mu.Lock()
	defer r.mu.Unlock()
	needed := maps.Clone(r.needed)
	for gang := range r.excused {
		delete(needed, gang)
	}
	return r.history.Partials(needed, time.Now())
}

// settle waits until a commit under way at the end of the test has ended. A gang that is partial
// after that stays partial.
func (r *Recorder) settle() {
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if !slices.ContainsFunc(r.partials(), func(p Partial) bool { return p.Open }) {
			return
		}
	}
}

// check is what must hold in every test.
func (r *Recorder) check(t TB) {
	t.Helper()
	history := r.History()
	r.mu.Lock()
	broken, shrunk := r.broken, maps.Clone(r.shrunk)
	r.mu.Unlock()
	if broken != nil {
		t.Errorf("the recorder lost events: %v", broken)
	}
	report := func(title string, lines []string) {
		if len(lines) > 10 {
			lines = append(lines[:10:10], fmt.Sprintf("… and %d more", len(lines)-10))
		}
		if len(lines) > 0 {
			t.Errorf("%s:\n  %s", title, strings.Join(lines, "\n  "))
		}
	}
	report("nodes were overcommitted", history.Overcommits(shrunk))
	report("pods changed their node", history.Rebound())
	var partial []string
	for _, each := range r.partials() {
		if each.Open || each.Until.Sub(each.From) > allowedSpread(each.Needed) {
			partial = append(partial, each.String())
		}
	}
	report("gangs were partial", partial)
}
