package bench

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"muster.dev/e2e/testbed"
)

// setup is one way to schedule.
type setup struct {
	name string
	// The settings of muster; nil: the stock scheduler without an extender.
	muster map[string]any
	// express opens the express lane.
	express bool
	// percentage is percentageOfNodesToScore; 0: the scheduler's default.
	percentage int
	// initialBackoff and maxBackoff of the scheduler, in seconds; 0: its defaults.
	initialBackoff, maxBackoff int
	// profiles of the scheduler; none: those in muster's documentation.
	profiles []string
}

var (
	stock         = setup{name: "stock"}
	stockAllNodes = setup{name: "stock, all nodes", percentage: 100}
	withMuster    = setup{name: "muster", muster: map[string]any{}}
	steered       = setup{name: "muster, steering: always", muster: map[string]any{"steering": "always"}}
	unsteered     = setup{name: "muster, steering: never", muster: map[string]any{"steering": "never"}}
	withExpress   = setup{name: "muster, express", muster: map[string]any{}, express: true}
)

// bed is the control plane of an experiment. Only etcd, kube-apiserver and the measured programs
// run on it: no controllers, no KWOK.
type bed struct {
	*testbed.Cluster
	t       testbed.TB
	options Options
	spaces  int // namespaces so far
	// attach is called before the scheduler starts; the function that it returns is called after
	// the last binding.
	attach func(*testbed.Muster) (detach func())
}

// newBed starts a control plane with fake nodes of at least 8 GPUs.
func newBed(t testbed.TB, options Options, nodes int, more func(node int) testbed.Amounts) *bed {
	t.Helper()
	b := &bed{t: t, options: options, Cluster: testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true, WithoutRecorder: true,
		Own: !testbed.InGate()})}
	fake := make([]*corev1.Node, nodes)
	for i := range fake {
		amounts := testbed.GPUs(8)
		if more != nil {
			maps.Copy(amounts, more(i))
		}
		fake[i] = testbed.Node(nodeName(i), amounts)
	}
	b.AddNodes(t, fake...)
	return b
}

func nodeName(i int) string { return fmt.Sprintf("n%05d", i) }

// space creates a namespace for one turn.
func (b *bed) space() string {
	b.spaces++
	name := fmt.Sprintf("turn-%d", b.spaces)
	b.Namespace(b.t, name)
	return name
}

// startMuster starts the release build with the settings of the set-up; nil for the stock
// scheduler.
func (b *bed) startMuster(s setup) *testbed.Muster {
	if s.muster == nil {
		return nil
	}
	config := map[string]any{}
	maps.Copy(config, s.muster)
	maps.Copy(config, b.options.Config)
	return b.StartMuster(b.t, testbed.MusterOptions{Config: config, Measured: true, Express: s.express})
}

func (b *bed) startScheduler(s setup, m *testbed.Muster) *testbed.Process {
	return b.StartScheduler(b.t, testbed.SchedulerOptions{Muster: m, Percentage: s.percentage,
		Profiles: s.profiles, InitialBackoff: s.initialBackoff, MaxBackoff: s.maxBackoff})
}

// addGangs creates PodGroups g0, g1, … and their members.
func (b *bed) addGangs(ns string, gangs, members int, each testbed.Amounts, changes ...func(*corev1.Pod)) {
	b.AddPodGroups(b.t, testbed.Sigs, ns, gangs, members)
	var pods []*corev1.Pod
	for i := range gangs {
		pods = append(pods, testbed.Members(testbed.Sigs, ns, fmt.Sprintf("g%d", i), members, each, changes...)...)
	}
	b.AddPods(b.t, pods...)
}

// clear deletes what a turn has left in its namespace.
func (b *bed) clear(ns string) {
	var names []string
	for _, pod := range b.pods(ns) {
		names = append(names, pod.Name)
	}
	b.DeletePods(b.t, ns, names...)
	b.DeletePodGroups(b.t, testbed.Sigs, ns)
}

// pods lists the pods of a namespace.
func (b *bed) pods(ns string) []corev1.Pod {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list, err := b.Kube.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	return list.Items
}

// binding is the time at which the watch showed a pod with a node.
type binding struct {
	pod, gang, node string
	at              time.Time
}

// bindings watches only the pods of a namespace that have a node. Each of them is one event.
type bindings struct {
	t    testbed.TB
	ns   string
	mu   sync.Mutex
	all  []binding
	more chan struct{} // closed and replaced at each binding
	stop context.CancelFunc
}

func (b *bed) watch(ns string) *bindings {
	ctx, cancel := context.WithCancel(context.Background())
	w := &bindings{t: b.t, ns: ns, more: make(chan struct{}), stop: cancel}
	pods := b.Kube.CoreV1().Pods(ns)
	empty, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	from := metav1.ListOptions{FieldSelector: "spec.nodeName!=", ResourceVersion: empty.ResourceVersion}
	go func() {
		seen := map[string]bool{}
		err := testbed.Follow(ctx, from, pods.Watch, func(event watch.Event) {
			pod := event.Object.(*corev1.Pod)
			if event.Type == watch.Added && !seen[pod.Name] {
				seen[pod.Name] = true
				w.note(binding{pod.Name, pod.Labels[testbed.Sigs.Label], pod.Spec.NodeName, time.Now()})
			}
		})
		if err != nil {
			b.t.Errorf("watch of %s: %v", ns, err) // events in between are lost
		}
	}()
	return w
}

func (w *bindings) note(each binding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, each)
	close(w.more)
	w.more = make(chan struct{})
}

// wait returns the bindings when there are n.
func (w *bindings) wait(n int, limit time.Duration) []binding {
	all := w.until(n, limit)
	if len(all) < n {
		w.t.Fatalf("after %v only %d of %d pods of %s are bound", limit, len(all), n, w.ns)
	}
	return all
}

// until returns the bindings when there are n, or those so far when the time is over.
func (w *bindings) until(n int, limit time.Duration) []binding {
	timeout := time.After(limit)
	for {
		w.mu.Lock()
		all, more := w.all, w.more
		w.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-more:
		case <-timeout:
			return all
		}
	}
}
