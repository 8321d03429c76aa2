package scenarios

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// gatesOf are the scheduling gates of a pod.
func gatesOf(pod testbed.PodRecord) []string {
	var names []string
	for _, gate := range pod.Latest.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// allHave waits until each of n selected pods has exactly these gates.
func allHave(t *testing.T, c *testbed.Cluster, which testbed.Which, n int, gates ...string) {
	t.Helper()
	testbed.Within(t, 30*time.Second, fmt.Sprintf("%d pods have the gates %v", n, gates), func() error {
		have := 0
		for _, pod := range c.Recorder.Pods(which) {
			if slices.Equal(gatesOf(pod), gates) {
				have++
			}
		}
		if have != n {
			return fmt.Errorf("%d pods have them", have)
		}
		return nil
	})
}

// conditionReasons are the reasons of the pods' condition PodScheduled.
func conditionReasons(c *testbed.Cluster, which testbed.Which) []string {
	var reasons []string
	for _, pod := range c.Recorder.Pods(which) {
		for _, condition := range pod.Latest.Status.Conditions {
			if condition.Type == "PodScheduled" && !slices.Contains(reasons, condition.Reason) {
				reasons = append(reasons, condition.Reason)
			}
		}
	}
	return reasons
}

var gatesOn = map[string]any{"gates": map[string]any{"enabled": true}}

// The chart's policy gates members of gangs when they are created. kube-scheduler does not try them
// before there is a plan. Then each is nominated, ungated and bound, in this order.
func TestP07_GatedFromCreationToBinding(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, gatesOn)
	m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
	i.StartScheduler(t)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
	testbed.Within(t, 30*time.Second, "the API server has read the policy", func() error {
		if n := gatesOfNew(t, c, testbed.Pod("ml", "probe", testbed.GPUs(1), testbed.WithScheduler("muster"), testbed.Sigs.Join("ddp"))); n != 1 {
			return fmt.Errorf("a new member has %d gates", n)
		}
		return nil
	})

	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 5, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 5, testbed.GPUs(1), testbed.WithScheduler("muster"))...)
	allHave(t, c, gang, 5, testbed.Gate)
	c.Recorder.AllSay(t, gang, 5, "gang ml/ddp: 5 members needed, room for 4 (1 short of nvidia.com/gpu)")
	if reasons := conditionReasons(c, gang); !slices.Equal(reasons, []string{"SchedulingGated"}) {
		t.Errorf("the reasons of the conditions are %v", reasons)
	}
	c.WaitEvent(t, "PodGroup", "ml", "ddp", "Unschedulable", "5 members needed, room for 4")
	if calls := m.Metrics(t).Sum("muster_extender_requests_total", `verb="filter"`); calls != 0 {
		t.Errorf("kube-scheduler made %v calls for gated pods", calls)
	}
	if gated := m.Metrics(t).Sum("muster_gated_pods"); gated != 5 {
		t.Errorf("muster_gated_pods is %v", gated)
	}
	// Pods that the policy ignores: those of other schedulers, and ordinary pods.
	muster := testbed.WithScheduler("muster")
	for pod, gates := range map[*corev1.Pod]int{
		testbed.Pod("ml", "member", testbed.GPUs(1), muster, testbed.Sigs.Join("ddp")):                                  1,
		testbed.Pod("ml", "others", testbed.GPUs(1), testbed.Sigs.Join("ddp-of-others")):                                0,
		testbed.Pod("ml", "refuses", testbed.GPUs(1), muster, testbed.Annotated("muster.dev/create-podgroup", "false")): 0,
		testbed.Pod("kube-system", "system", testbed.GPUs(1), muster, testbed.Sigs.Join("ddp")):                         0,
	} {
		if n := gatesOfNew(t, c, pod); n != gates {
			t.Errorf("the new pod %s has %d gates, want %d", pod.Name, n, gates)
		}
	}

	steps := watchSteps(t, c, "ml", "ddp", 5)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(6)))
	c.Recorder.WaitRunning(t, gang, 5, 30*time.Second)
	c.Recorder.Together(t, gang)
	for name, seen := range steps() {
		if want := []string{"gated", "nominated", "ungated", "bound"}; !slices.Equal(seen, want) {
			t.Errorf("%s was %v, want %v", name, seen, want)
		}
	}
	// A PodGroup that muster creates: its pods are gated until they are linked and planned.
	c.AddPods(t, testbed.Pod("ml", "x-0", testbed.GPUs(1), testbed.WithScheduler("muster"),
		testbed.Annotated("muster.dev/gang", "x"), testbed.Annotated("muster.dev/min-member", "2")))
	made := testbed.Named("ml", "x-0", "x-1")
	allHave(t, c, made, 1, testbed.Gate)
	c.Recorder.AllSay(t, made, 1, "gang ml/x: 1 of 2 members exist")
	c.AddPods(t, testbed.Pod("ml", "x-1", testbed.GPUs(1), testbed.WithScheduler("muster"),
		testbed.Annotated("muster.dev/gang", "x"), testbed.Annotated("muster.dev/min-member", "2")))
	c.Recorder.WaitRunning(t, made, 2, 30*time.Second)
	// A later member of a Scheduled gang.
	c.AddPods(t, testbed.Pod("ml", "ddp-later", testbed.GPUs(1), testbed.WithScheduler("muster"), testbed.Sigs.Join("ddp")))
	c.Recorder.WaitRunning(t, testbed.Named("ml", "ddp-later"), 1, 30*time.Second)
}

// gatesOfNew is the number of gates that a new pod has.
func gatesOfNew(t *testing.T, c *testbed.Cluster, pod *corev1.Pod) int {
	t.Helper()
	made, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	return len(made.Spec.SchedulingGates)
}

// watchSteps records the steps of a gang's pods, each step once. The returned function waits until
// n of them are bound.
func watchSteps(t *testing.T, c *testbed.Cluster, namespace, gang string, n int) func() map[string][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	w, err := c.Kube.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{
		LabelSelector: testbed.Sigs.Label + "=" + gang})
	if err != nil {
		t.Fatal(err)
	}
	steps, done := map[string][]string{}, make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for event := range w.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			for _, step := range []struct {
				name string
				is   bool
			}{
				{"gated", len(pod.Spec.SchedulingGates) > 0},
				{"nominated", pod.Status.NominatedNodeName != "" && len(pod.Spec.SchedulingGates) > 0},
				{"ungated", len(pod.Spec.SchedulingGates) == 0},
				{"bound", pod.Spec.NodeName != ""},
			} {
				if step.is && !slices.Contains(steps[pod.Name], step.name) {
					steps[pod.Name] = append(steps[pod.Name], step.name)
					if step.name == "bound" {
						n--
					}
				}
			}
			if n == 0 {
				return
			}
		}
	}()
	return func() map[string][]string {
		t.Helper()
		<-done
		if n > 0 {
			t.Errorf("did not see that %d pods of %s/%s are bound", n, namespace, gang)
		}
		return steps
	}
}

// muster is killed when its members are nominated and still gated. The next muster finds them.
func TestP07_GatedKilledBeforeTheGatesAreLifted(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	proxy := c.StartFaultProxy(t)
	proxy.Set(func(_ context.Context, r testbed.Request) testbed.Verdict {
		if r.Is("PATCH pods") {
			return testbed.Sever
		}
		return testbed.Forward
	})
	m := c.StartMuster(t, testbed.MusterOptions{Config: gatesOn, Through: proxy})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(8)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 8, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 8, testbed.GPUs(1), testbed.Gated(testbed.Gate))...)
	testbed.Within(t, 20*time.Second, "all are nominated", func() error {
		pods := c.Recorder.Pods(gang)
		if len(pods) != 8 {
			return fmt.Errorf("%d pods exist", len(pods))
		}
		for _, pod := range pods {
			if pod.Latest.Status.NominatedNodeName != "a" {
				return fmt.Errorf("%s is not nominated", pod.Name)
			}
		}
		return nil
	})
	allHave(t, c, gang, 8, testbed.Gate)
	m.Kill()
	proxy.Set(func(context.Context, testbed.Request) testbed.Verdict { return testbed.Forward })
	m.Start(t)
	c.Recorder.WaitBound(t, gang, 8, 30*time.Second)
	c.Recorder.Together(t, gang)
}

// A gate of another program: nothing is planned before it is gone, and muster never lifts it.
func TestP07_GatedByAnotherProgramToo(t *testing.T) {
	beside(t)
	c, _ := startAll(t, gatesOn, testbed.Sigs)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	const kueue = "kueue.x-k8s.io/admission"
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 2, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 2, testbed.GPUs(1), testbed.Gated(testbed.Gate, kueue))...)
	c.Recorder.AllSay(t, gang, 2, "gang ml/ddp: 2 of 2 members are gated by "+kueue)
	allHave(t, c, gang, 2, testbed.Gate, kueue)
	for _, pod := range c.Recorder.Pods(gang) {
		c.Kubectl(t, c.Dir, "", "-n ml patch pod "+pod.Name+
			` --type strategic -p {"spec":{"schedulingGates":[{"name":"`+kueue+`","$patch":"delete"}]}}`)
	}
	c.Recorder.WaitRunning(t, gang, 2, 30*time.Second)
}

// gatedAndWaiting is a gang of three gated members without room; one of them has a gate of another
// program.
func gatedAndWaiting(t *testing.T, c *testbed.Cluster) testbed.Which {
	t.Helper()
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(1)))
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 3, nil))
	pods := testbed.Members(testbed.Sigs, "ml", "ddp", 3, testbed.GPUs(1), testbed.Gated(testbed.Gate),
		testbed.WithScheduler("muster"))
	testbed.Gated("example.com/other")(pods[2])
	c.AddPods(t, pods...)
	return testbed.InGang(testbed.Sigs, "ml", "ddp")
}

// If the option is turned off, every pod is ungated, and the policy is removed.
func TestP07_GatesOffUngatesEveryPod(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, gatesOn)
	policies := func() string {
		return c.Kubectl(t, c.Dir, "", "get mutatingadmissionpolicies,mutatingadmissionpolicybindings -o name")
	}
	if !strings.Contains(policies(), "muster-gates") {
		t.Errorf("the chart has not installed a policy: %s", policies())
	}
	m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
	gang := gatedAndWaiting(t, c)
	allHave(t, c, gang, 2, testbed.Gate)
	m.Stop(t)
	i.Upgrade(t, nil)
	if left := policies(); left != "" {
		t.Errorf("the chart leaves %s", left)
	}
	c.StartMuster(t, testbed.MusterOptions{Installed: i})
	allHave(t, c, gang, 2)
	allHave(t, c, gang, 1, "example.com/other")
}

// muster ungate, and the command in docs/gates.md, while muster is not running.
func TestP07_UngateLiftsMustersGate(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}, WithoutControllers: true})
	gang := gatedAndWaiting(t, c)
	c.Namespace(t, "other")
	elsewhere := testbed.InNamespace("other")
	c.AddPods(t, testbed.Pod("other", "p", testbed.GPUs(1), testbed.Gated(testbed.Gate)))
	allHave(t, c, gang, 2, testbed.Gate)
	ungate := func(args ...string) string {
		return musterSays(t, append([]string{"ungate", "--kubeconfig", c.Kubeconfig()}, args...)...)
	}
	if said := ungate("--all", "--dry-run"); strings.Count(said, "would be ungated") != 4 {
		t.Errorf("--dry-run prints\n%s", said)
	}
	if said := ungate("-n", "other"); said != "pod other/p ungated\n" {
		t.Errorf("-n other prints\n%s", said)
	}
	allHave(t, c, elsewhere, 1)
	allHave(t, c, gang, 2, testbed.Gate)
	if said := ungate("--all"); strings.Count(said, " ungated\n") != 3 {
		t.Errorf("--all prints\n%s", said)
	}
	allHave(t, c, gang, 2)
	allHave(t, c, gang, 1, "example.com/other")
	if said := ungate("--all"); said != "no pod has the scheduling gate muster.dev/plan\n" {
		t.Errorf("a second run prints\n%s", said)
	}

	c.AddPods(t, testbed.Pod("other", "q", testbed.GPUs(1), testbed.Gated(testbed.Gate, "example.com/other")))
	programs := t.TempDir()
	if err := os.Symlink(testbed.KubectlPath(testbed.Root(t)), filepath.Join(programs, "kubectl")); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(read(t, "../../../docs/gates.md"), "```sh\n")
	text, _, _ = strings.Cut(text, "```")
	shell := exec.Command("sh", "-eu", "-c", text)
	shell.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "KUBECONFIG=" + c.Kubeconfig(), "HOME=" + programs}
	if out, err := shell.CombinedOutput(); err != nil || string(out) != "pod/q patched\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	allHave(t, c, testbed.Named("other", "q"), 1, "example.com/other")
}

// A gang that lacks only room is shown to autoscalers. A gang that lacks members is not.
func TestP07_GatedAndShownToAutoscalers(t *testing.T) {
	beside(t)
	c, _ := startAll(t, map[string]any{"gates": map[string]any{"enabled": true, "showToAutoscaler": true}}, testbed.Sigs)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(1)))
	gated := testbed.Gated(testbed.Gate)
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 2, nil))
	c.Add(t, testbed.Sigs.PodGroup("ml", "half", 2, nil))
	begin := time.Now()
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 2, testbed.GPUs(1), gated)...)
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "half", 1, testbed.GPUs(1), gated)...)
	gang, half := testbed.InGang(testbed.Sigs, "ml", "ddp"), testbed.InGang(testbed.Sigs, "ml", "half")
	allHave(t, c, gang, 2, testbed.Gate)
	allHave(t, c, gang, 2)
	if took := time.Since(begin); took < 7*time.Second {
		t.Errorf("the pods were shown after %v", took)
	}
	testbed.Within(t, 20*time.Second, "they are Unschedulable", func() error {
		if reasons := conditionReasons(c, gang); !slices.Equal(reasons, []string{"Unschedulable"}) {
			return fmt.Errorf("the reasons are %v", reasons)
		}
		return nil
	})
	c.Recorder.AllSay(t, gang, 2, "gang ml/ddp: 2 members needed, room for 1 (1 short of nvidia.com/gpu)")
	allHave(t, c, half, 1, testbed.Gate)
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(1))) // as an autoscaler would
	c.Recorder.WaitRunning(t, gang, 2, 30*time.Second)
}

// Before Kubernetes 1.36 the chart refuses the option with a clear message, muster reports what is
// missing, and pods whose manifests have the gate are ungated with their plan.
func TestP07_GatesBeforeKubernetes136(t *testing.T) {
	testbed.Long(t, "minors")
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Kubernetes: testbed.Earlier, Dialects: []testbed.Dialect{testbed.Sigs}})
	_, said, err := testbed.Helm(t, c.Kubeconfig(), "install", "muster", testbed.Chart(t), "--namespace",
		testbed.MusterNamespace, "--create-namespace", "--set", "gates.enabled=true")
	if err == nil || !strings.Contains(said, "gates.enabled needs Kubernetes 1.36 or newer") ||
		!strings.Contains(said, "this one is "+testbed.Earlier.Version) {
		t.Errorf("helm install: %v %s", err, said)
	}
	m := c.StartMuster(t, testbed.MusterOptions{Config: gatesOn})
	testbed.Within(t, 10*time.Second, "muster says what is missing", func() error {
		if log := read(t, m.LogFile); !strings.Contains(log, "this API server has no MutatingAdmissionPolicy") {
			return fmt.Errorf("its log is\n%s", log)
		}
		return nil
	})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.Namespace(t, "ml")
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 2, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 2, testbed.GPUs(1), testbed.Gated(testbed.Gate))...)
	c.Recorder.AllSay(t, gang, 2, "gang ml/ddp: 2 members needed, room for 0")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	c.Recorder.WaitRunning(t, gang, 2, 30*time.Second)
}
