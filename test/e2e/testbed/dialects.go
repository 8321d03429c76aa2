package testbed

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Dialect is one of the PodGroup APIs that manifests use.
type Dialect struct {
	Name    string
	Group   string // API group
	Version string
	// Label or Annotation is the pod's key that names its PodGroup.
	Label, Annotation string
	// Scheduler is the schedulerName in manifests of this dialect.
	Scheduler string
	// CRDs are the files with its CRDs: the chart's, or else those of crds/.
	CRDs []string
	// Queues are served together with the PodGroups.
	Queues *QueueAPI
}

const chartCRDs = "charts/muster/crds/"

// The dialects, by the names that their users use.
var (
	// Recipe is the API of the KAI recipe. KAI itself serves v2alpha2 and reads another annotation.
	Recipe = Dialect{Name: "recipe", Group: "scheduling.run.ai", Version: "v2",
		Annotation: "scheduling.run.ai/pod-group", Scheduler: "kai-scheduler",
		CRDs: []string{chartCRDs + "podgroups.scheduling.run.ai.yaml", chartCRDs + "queues.scheduling.run.ai.yaml"}, Queues: &KAIQueues}
	KAI = Dialect{Name: "kai", Group: "scheduling.run.ai", Version: "v2alpha2",
		Annotation: "pod-group-name", Scheduler: "kai-scheduler",
		CRDs: []string{chartCRDs + "podgroups.scheduling.run.ai.yaml", chartCRDs + "queues.scheduling.run.ai.yaml"}, Queues: &KAIQueues}
	Volcano = Dialect{Name: "volcano", Group: "scheduling.volcano.sh", Version: "v1beta1",
		Annotation: "scheduling.k8s.io/group-name", Scheduler: "volcano",
		CRDs: []string{chartCRDs + "podgroups.scheduling.volcano.sh.yaml", chartCRDs + "queues.scheduling.volcano.sh.yaml"}, Queues: &VolcanoQueues}
	Sigs = Dialect{Name: "sigs", Group: "scheduling.sigs.k8s.io", Version: "v1alpha1",
		Label: "pod-group.scheduling.sigs.k8s.io", Scheduler: corev1.DefaultSchedulerName,
		CRDs: []string{chartCRDs + "podgroups.scheduling.sigs.k8s.io.yaml"}}
	SchedulerPlugins = Dialect{Name: "x-k8s", Group: "scheduling.x-k8s.io", Version: "v1alpha1",
		Label: "scheduling.x-k8s.io/pod-group", Scheduler: corev1.DefaultSchedulerName,
		CRDs: []string{"test/e2e/crds/x-k8s-podgroups.yaml", "test/e2e/crds/x-k8s-elasticquotas.yaml"}, Queues: &ElasticQuotas}
	// SigsWithQuotas are the PodGroups of Sigs, together with Koordinator's ElasticQuotas.
	SigsWithQuotas = Dialect{Name: "sigs-with-quotas", Group: "scheduling.sigs.k8s.io", Version: "v1alpha1",
		Label: "pod-group.scheduling.sigs.k8s.io", Scheduler: corev1.DefaultSchedulerName,
		CRDs: []string{chartCRDs + "podgroups.scheduling.sigs.k8s.io.yaml", "test/e2e/crds/sigs-elasticquotas.yaml"}, Queues: &KoordinatorQuotas}
	// Gangs without an object: their pods declare them.
	Koordinator = Dialect{Name: "koordinator", Group: "gang.scheduling.koordinator.sh",
		Annotation: "gang.scheduling.koordinator.sh/name", Scheduler: corev1.DefaultSchedulerName}
	Lightweight = Dialect{Name: "lightweight", Group: "pod-group.scheduling.sigs.k8s.io",
		Label: "pod-group.scheduling.sigs.k8s.io/name", Scheduler: corev1.DefaultSchedulerName}
)

var dialects = []Dialect{Recipe, KAI, Volcano, Sigs, SchedulerPlugins, Koordinator, Lightweight}

// linkOf is the PodGroup that a pod is linked to, as "API group/namespace/name", or "".
func linkOf(pod *corev1.Pod) string {
	for _, d := range dialects {
		name := pod.Labels[d.Label]
		if d.Label == "" {
			name = pod.Annotations[d.Annotation]
		}
		if name != "" {
			return d.Key(pod.Namespace, name)
		}
	}
	return ""
}

// Key is the name of a gang in the recorder.
func (d Dialect) Key(namespace, name string) string {
	return d.Group + "/" + namespace + "/" + name
}

func (d Dialect) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: d.Group, Version: d.Version, Resource: "podgroups"}
}

// resources are those that its CRDs serve.
func (d Dialect) resources() []schema.GroupVersionResource {
	resources := []schema.GroupVersionResource{d.resource()}
	if d.Queues != nil {
		resources = append(resources, d.Queues.resource())
	}
	return resources
}

// PodGroup builds a PodGroup of the dialect; spec is added to minMember.
func (d Dialect) PodGroup(namespace, name string, minMember int, spec map[string]any) *unstructured.Unstructured {
	all := map[string]any{"minMember": int64(minMember)}
	for key, value := range spec {
		all[key] = value
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": d.Group + "/" + d.Version,
		"kind":       "PodGroup",
		"metadata":   map[string]any{"namespace": namespace, "name": name},
		"spec":       all,
	}}
}

// Join links a pod to a PodGroup of the dialect.
func (d Dialect) Join(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if d.Label != "" {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, d.Label, name)
		} else {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, d.Annotation, name)
		}
	}
}

// InstallCRDs installs the dialect's CRDs and waits until the API server serves them.
func (c *Cluster) InstallCRDs(t TB, d Dialect) {
	t.Helper()
	for _, crd := range d.CRDs {
		c.ApplyFile(t, filepath.Join(Root(t), crd))
	}
	for _, resource := range d.resources() {
		eventually(t, fmt.Sprintf("%s is served", resource), func() error {
			ctx, cancel := soon()
			defer cancel()
			_, err := c.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
			return err
		})
	}
}

// PodGroup reads a PodGroup from the API server.
func (c *Cluster) PodGroup(t TB, d Dialect, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	group, err := c.Dynamic.Resource(d.resource()).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return group
}

// Phase is the status.phase of a PodGroup.
func (c *Cluster) Phase(t TB, d Dialect, namespace, name string) string {
	t.Helper()
	phase, _, _ := unstructured.NestedString(c.PodGroup(t, d, namespace, name).Object, "status", "phase")
	return phase
}

// WatchPhases returns the phases that a PodGroup went through, in order, when stop is called. It
// uses a watch, so that it sees even a short phase. stop waits until the watch has shown the latest
// version.
func (c *Cluster) WatchPhases(t TB, d Dialect, namespace, name string) (stop func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	watcher, err := c.Dynamic.Resource(d.resource()).Namespace(namespace).Watch(ctx,
		metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatalf("%v", err)
	}
	var shown atomic.Value
	shown.Store("")
	collected := make(chan []string, 1)
	go func() {
		var phases []string
		for event := range watcher.ResultChan() {
			group, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			phase, _, _ := unstructured.NestedString(group.Object, "status", "phase")
			if phase != "" && (len(phases) == 0 || phases[len(phases)-1] != phase) {
				phases = append(phases, phase)
			}
			shown.Store(group.GetResourceVersion())
		}
		collected <- phases
	}()
	return func() []string {
		t.Helper()
		Within(t, 30*time.Second, "the watch shows the group as it is", func() error {
			if now := c.PodGroup(t, d, namespace, name).GetResourceVersion(); shown.Load() != now {
				return fmt.Errorf("the watch is at version %q, the PodGroup at %q", shown.Load(), now)
			}
			return nil
		})
		watcher.Stop()
		return <-collected
	}
}

// PodGroups are the keys of all PodGroups of these dialects in a namespace.
func (c *Cluster) PodGroups(t TB, namespace string, dialects ...Dialect) []string {
	t.Helper()
	var keys []string
	for _, d := range dialects {
		ctx, cancel := soon()
		list, err := c.Dynamic.Resource(d.resource()).Namespace(namespace).List(ctx, metav1.ListOptions{})
		cancel()
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, group := range list.Items {
			keys = append(keys, d.Key(namespace, group.GetName()))
		}
	}
	return keys
}
