package scenarios

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

const zone = corev1.LabelTopologyZone

// trap is a gang of four with room on a node that the scheduler refuses for some or all of its
// members. The node "wrong" is the fullest node that fits, so a plan uses it first unless muster
// knows the reason.
type trap struct {
	name string
	// member adds to every member what makes the scheduler refuse the node.
	member func(ns string) func(*corev1.Pod)
	// around is created before the gang.
	around func(t *testing.T, c *testbed.Cluster, ns string)
	// most is how many members may be on each node.
	most map[string]int
	// unknown: muster can learn the reason only from the scheduler. Its first plan must have used
	// the node, or the case proves nothing.
	unknown bool
}

func matching(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func near(app, key string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{LabelSelector: matching(app), TopologyKey: key}}
}

func apart(app, key string) func(string) func(*corev1.Pod) {
	return func(string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: near(app, key)}}
		}
	}
}

func together(app, key string) func(string) func(*corev1.Pod) {
	return func(string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: near(app, key)}}
		}
	}
}

func spread(key string) func(string) func(*corev1.Pod) {
	return func(string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: matching("trainer")}}
		}
	}
}

// neighbour is an existing pod on a node.
func neighbour(app, node string, changes ...func(string) func(*corev1.Pod)) func(*testing.T, *testbed.Cluster, string) {
	return func(t *testing.T, c *testbed.Cluster, ns string) {
		pod := testbed.Pod(ns, app, testbed.Amounts{"cpu": "1"}, testbed.OnNode(ns+"-"+node))
		pod.Labels = map[string]string{"app": app}
		for _, change := range changes {
			change(ns)(pod)
		}
		c.AddPods(t, pod)
		c.Recorder.WaitRunning(t, testbed.Named(ns, app), 1, 20*time.Second)
	}
}

var traps = []trap{
	{
		name: "volume-in-a-zone",
		member: func(string) func(*corev1.Pod) {
			return func(pod *corev1.Pod) {
				pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			}
		},
		around: addZonalVolume,
		most:   map[string]int{"wrong": 0, "right": 4},
	},
	{
		name: "affinity-to-a-zone", member: together("store", zone), around: neighbour("store", "right"),
		most: map[string]int{"wrong": 0, "right": 4}, unknown: true,
	},
	{
		name: "anti-affinity-to-a-zone", member: apart("noisy", zone), around: neighbour("noisy", "wrong"),
		most: map[string]int{"wrong": 0, "right": 4}, unknown: true,
	},
	{
		name: "anti-affinity-of-a-neighbour", around: neighbour("hermit", "wrong", apart("trainer", zone)),
		most: map[string]int{"wrong": 0, "right": 4}, unknown: true,
	},
	{
		name: "anti-affinity-among-members", member: apart("trainer", corev1.LabelHostname),
		most: map[string]int{"wrong": 1, "right": 1, "also-right": 1, "fourth": 1},
	},
	{
		name: "spread-over-zones", member: spread(zone),
		most: map[string]int{"wrong": 2, "right": 2}, unknown: true,
	},
	{
		name: "spread-over-hosts", member: spread(corev1.LabelHostname),
		most: map[string]int{"wrong": 2, "right": 2},
	},
}

// addZonalVolume creates a claim that is bound to a volume in the right zone.
func addZonalVolume(t *testing.T, c *testbed.Cluster, ns string) {
	t.Helper()
	c.Apply(t, []byte(strings.ReplaceAll(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: NS-data}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  claimRef: {namespace: NS, name: data}
  csi: {driver: csi.example.com, volumeHandle: data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [NS-right]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: NS
  annotations: {pv.kubernetes.io/bind-completed: "yes"}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: NS-data
  resources: {requests: {storage: 1Gi}}
`, "NS", ns)))
	c.Kubectl(t, c.Dir, "", "-n "+ns+` patch pvc data --subresource=status --type=merge -p {"status":{"phase":"Bound"}}`)
}

// C09: the scheduler refuses the planned node for a reason that muster may or may not know. The
// slots move, and the gang is placed on other nodes.
func TestC09_SchedulerRefusesPlannedNodes(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	m := c.StartMuster(t, testbed.MusterOptions{})
	verbs := testbed.StartVerbProxy(t, m)
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m, Through: verbs})
	var cases sync.WaitGroup
	for _, each := range traps {
		cases.Go(func() {
			t.Run(each.name, func(t *testing.T) { each.spring(t, c, verbs) })
		})
	}
	cases.Wait()
}

func (trap trap) spring(t *testing.T, c *testbed.Cluster, verbs *testbed.VerbProxy) {
	ns := trap.name
	c.Namespace(t, ns)
	for name := range trap.most {
		gpus, in := 8, ns+"-right"
		if name == "wrong" {
			gpus, in = 4, ns+"-wrong"
		}
		c.AddNodes(t, testbed.Node(ns+"-"+name, testbed.GPUs(gpus),
			testbed.Labelled(pool, ns), testbed.Labelled(zone, in)))
	}
	if trap.around != nil {
		trap.around(t, c, ns)
	}
	c.Add(t, testbed.Sigs.PodGroup(ns, "ddp", 4, nil))
	members := testbed.Members(testbed.Sigs, ns, "ddp", 4, testbed.GPUs(1), testbed.Selecting(pool, ns))
	for _, pod := range members {
		pod.Labels["app"] = "trainer"
		if trap.member != nil {
			trap.member(ns)(pod)
		}
	}
	c.AddPods(t, members...)
	gang := testbed.InGang(testbed.Sigs, ns, "ddp")
	pods := c.Recorder.WaitBound(t, gang, 4, 60*time.Second)
	c.Recorder.Together(t, gang)
	count := map[string]int{}
	for _, pod := range pods {
		count[strings.TrimPrefix(pod.Node, ns+"-")]++
	}
	for node, n := range count {
		if most := trap.most[node]; n > most {
			t.Errorf("%d members are on %s, want at most %d: %v", n, node, most, count)
		}
	}
	if trap.unknown && !wasRefused(verbs, ns) {
		t.Errorf("the scheduler always offered the node %q, so the case proves nothing", "wrong")
	}
}

// wasRefused says whether the scheduler's own filters ever refused the node that a plan prefers.
func wasRefused(verbs *testbed.VerbProxy, ns string) bool {
	for _, call := range verbs.Calls("filter") {
		if strings.HasPrefix(call.Pod, ns+"/ddp-") && !strings.Contains(fmt.Sprint(call.Offered), ns+"-wrong") {
			return true
		}
	}
	return false
}
