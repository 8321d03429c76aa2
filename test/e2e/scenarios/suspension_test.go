package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// suspendable is a Job that fills two nodes and asks to be suspended instead of evicted. muster creates
// its PodGroup.
const suspendable = `
apiVersion: batch/v1
kind: Job
metadata:
  namespace: ml
  name: train
  annotations: {kai.scheduler/batch-min-member: "2", muster.dev/preemption: suspend}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      schedulerName: kai-scheduler
      restartPolicy: Never
      containers: [{name: train, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 4}}}]
`

func ofTrain(p *testbed.PodRecord) bool {
	return p.Namespace == "ml" && strings.HasPrefix(p.Name, "train-")
}

// startSuspending fills a cluster with the Job ml/train.
func startSuspending(t *testing.T, values map[string]any) (*testbed.Cluster, *testbed.Muster, string) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, values)
	m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
	i.StartScheduler(t)
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)), testbed.Node("b", testbed.GPUs(4)))
	c.Apply(t, []byte(suspendable))
	c.Recorder.WaitRunning(t, ofTrain, 2, 30*time.Second)
	gang := "pg-train-" + trainObject(t, c).UID
	m.WaitState(t, "ml", string(gang), "Scheduled")
	return c, m, string(gang)
}

type trainState struct {
	metav1.ObjectMeta
	suspended bool
}

func trainObject(t *testing.T, c *testbed.Cluster) trainState {
	t.Helper()
	job, err := c.Kube.BatchV1().Jobs("ml").Get(t.Context(), "train", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return trainState{job.ObjectMeta, job.Spec.Suspend != nil && *job.Spec.Suspend}
}

func waitSuspended(t *testing.T, c *testbed.Cluster, want bool) {
	t.Helper()
	testbed.Within(t, 30*time.Second, fmt.Sprintf("suspended: %v", want), func() error {
		job := trainObject(t, c)
		label, reason := job.Labels["muster.dev/suspended"], job.Annotations["muster.dev/suspended-reason"]
		if job.suspended != want || (label == "true") != want || strings.Contains(reason, "to make room for gang ml/urgent") != want {
			return fmt.Errorf("suspend is %v, the label %q, the reason %q", job.suspended, label, reason)
		}
		return nil
	})
}

func noneEvicted(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	for _, pod := range c.Recorder.Pods(ofTrain) {
		if condition := disruption(pod.Latest); condition != nil {
			t.Errorf("pod %s was evicted: %+v", pod.Name, *condition)
		}
	}
}

func urgentKAI(t *testing.T, c *testbed.Cluster, name string) testbed.Which {
	t.Helper()
	c.Add(t, testbed.Recipe.PodGroup("ml", name, 2, nil))
	c.AddPods(t, testbed.Members(testbed.Recipe, "ml", name, 2, testbed.GPUs(4), testbed.WithScheduler("muster"), ofPriority("urgent"))...)
	return testbed.InGang(testbed.Recipe, "ml", name)
}

func freshAndRunning(c *testbed.Cluster) (n int) {
	for _, pod := range c.Recorder.Pods(ofTrain) {
		if pod.Erased.IsZero() && pod.Latest.DeletionTimestamp == nil && pod.Latest.Status.Phase == corev1.PodRunning {
			n++
		}
	}
	return n
}

func waitRunsAgain(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	testbed.Within(t, 60*time.Second, "the Job runs again", func() error {
		if n := freshAndRunning(c); n != 2 {
			return fmt.Errorf("%d pods run", n)
		}
		return nil
	})
}

// Q03: muster suspends a Job that asks for it instead of evicting its pods. The gang keeps its place in
// the order, also after a restart of muster: when there is room, muster resumes the Job, and a younger
// gang waits.
func TestQ03_AJobIsSuspendedInsteadOfEvicted(t *testing.T) {
	beside(t)
	c, m, gang := startSuspending(t, map[string]any{"suspend": map[string]any{"enabled": true}})
	urgent := urgentKAI(t, c, "urgent")
	waitSuspended(t, c, true)
	c.Recorder.WaitRunning(t, urgent, 2, 30*time.Second)
	noneEvicted(t, c)
	c.WaitEvent(t, "PodGroup", "ml", gang, "Preempted", "suspended to make room for gang ml/urgent")
	if n := freshAndRunning(c); n != 0 {
		t.Errorf("%d pods of the suspended Job run", n)
	}
	m.WaitState(t, "ml", gang, "Waiting") // the watches of pods and of Jobs go at their own speed
	if got := m.Gang(t, "ml", gang); got.Members != 2 {
		t.Errorf("the suspended gang does not wait for room: %+v", got)
	}

	c.Add(t, testbed.Recipe.PodGroup("ml", "younger", 2, nil))
	c.AddPods(t, testbed.Members(testbed.Recipe, "ml", "younger", 2, testbed.GPUs(4), testbed.WithScheduler("muster"))...)
	younger := testbed.InGang(testbed.Recipe, "ml", "younger")
	m.WaitState(t, "ml", "younger", "Waiting")
	m.Stop(t)
	m.Start(t)
	if got := m.WaitState(t, "ml", gang, "Waiting"); got.Members != 2 {
		t.Errorf("after a restart, the suspended gang is %+v", got)
	}
	clearGang(t, c, urgent)
	waitSuspended(t, c, false)
	waitRunsAgain(t, c)
	m.WaitState(t, "ml", gang, "Scheduled")
	c.Recorder.StillNone(t, younger)
	noneEvicted(t, c)
}

// `muster resume` is the emergency exit: it works without a running muster.
func TestQ03_ResumeWorksWithoutMuster(t *testing.T) {
	beside(t)
	c, m, gang := startSuspending(t, map[string]any{"suspend": map[string]any{"enabled": true}})
	urgent := urgentKAI(t, c, "urgent")
	waitSuspended(t, c, true)
	c.Recorder.WaitRunning(t, urgent, 2, 30*time.Second)
	m.Stop(t)
	clearGang(t, c, urgent)
	time.Sleep(time.Second)
	waitSuspended(t, c, true)
	if said := command(t, m, "resume", "--all", "--dry-run", "--kubeconfig", c.Kubeconfig()); said != "Job ml/train would be resumed\n" {
		t.Errorf("muster resume --dry-run says %q", said)
	}
	waitSuspended(t, c, true)
	if said := command(t, m, "resume", "--all", "--kubeconfig", c.Kubeconfig()); said != "Job ml/train resumed\n" {
		t.Errorf("muster resume says %q", said)
	}
	waitSuspended(t, c, false)
	if said := command(t, m, "resume", "job", "ml/train", "--kubeconfig", c.Kubeconfig()); !strings.Contains(said, "no such workload") {
		t.Errorf("muster resume says %q", said)
	}
	m.Start(t)
	waitRunsAgain(t, c)
	m.WaitState(t, "ml", gang, "Scheduled")
}

// Without the right to patch Jobs, muster evicts the pods and says why.
func TestQ03_AJobThatCannotBeSuspendedIsEvicted(t *testing.T) {
	beside(t)
	c, m, _ := startSuspending(t, nil)
	urgent := urgentKAI(t, c, "urgent")
	c.Recorder.WaitRunning(t, urgent, 2, 60*time.Second)
	c.WaitEvent(t, "Job", "ml", "train", "NotSuspended", "muster is not allowed to patch jobs in API group batch")
	m.WaitLog(t, "grant the missing rule")
	if trainObject(t, c).suspended {
		t.Error("the Job is suspended")
	}
}

// S08: the controllers of other kinds delete the pods of a suspended workload, and create new ones when
// it is resumed.
func TestS08_WorkloadsOfOperatorsAreSuspended(t *testing.T) {
	testbed.Long(t, "operators")
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, map[string]any{"suspend": map[string]any{"enabled": true}})
	m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
	i.StartScheduler(t)
	for _, operator := range []testbed.Operator{testbed.JobSet, testbed.KubeRay, testbed.TrainingOperator} {
		c.StartOperator(t, operator, testbed.OperatorOptions{})
	}
	addPriorityClass(t, c, "urgent", 1000)
	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(5)))
	pod := podFor("kai-scheduler", "main")
	for _, w := range []struct {
		namespace, resource, name, manifest string
		suspend                             []string
		pods                                int
	}{
		{"jobset", "jobsets.v1alpha2.jobset.x-k8s.io", "train",
			fill(jobSet, "<order>", "AnyOrder", "<more>", "", "<leader>", pod, "<worker>", pod), []string{"spec", "suspend"}, 5},
		{"raycluster", "rayclusters.v1.ray.io", "ray",
			fill(rayCluster, "minReplicas: 1", "minReplicas: 3", "<head>", podFor("kai-scheduler", "ray-head"), "<worker>", podFor("kai-scheduler", "ray-worker")),
			[]string{"spec", "suspend"}, 4},
		{"pytorch", "pytorchjobs.v1.kubeflow.org", "train",
			fill(pytorchJob, "<name>", "train", "<runpolicy>", "{}", "<pod>", podFor("kai-scheduler", "pytorch")),
			[]string{"spec", "runPolicy", "suspend"}, 4},
	} {
		c.Namespace(t, w.namespace)
		for _, object := range testbed.Objects(t, manifest(w.manifest, "<namespace>", w.namespace)) {
			annotations := object.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["muster.dev/preemption"] = "suspend"
			object.SetAnnotations(annotations)
			c.Add(t, object)
		}
		own := testbed.InNamespace(w.namespace)
		c.Recorder.WaitRunning(t, own, w.pods, time.Minute)
		suspended := func(want bool) {
			t.Helper()
			testbed.Within(t, time.Minute, fmt.Sprintf("%s is suspended: %v", w.namespace, want), func() error {
				object, err := c.Dynamic.Resource(testbed.ResourceOf(t, w.resource)).Namespace(w.namespace).Get(t.Context(), w.name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				is, _, _ := unstructured.NestedBool(object.Object, w.suspend...)
				if is != want || (object.GetLabels()["muster.dev/suspended"] == "true") != want {
					return fmt.Errorf("suspend is %v, the labels are %v", is, object.GetLabels())
				}
				return nil
			})
		}
		name := "urgent-" + w.namespace
		c.Add(t, testbed.Recipe.PodGroup("ml", name, 5, nil))
		c.AddPods(t, testbed.Members(testbed.Recipe, "ml", name, 5, testbed.GPUs(1), testbed.WithScheduler("muster"), ofPriority("urgent"))...)
		urgent := testbed.InGang(testbed.Recipe, "ml", name)
		suspended(true)
		c.Recorder.WaitRunning(t, urgent, 5, time.Minute)
		for _, pod := range c.Recorder.Pods(own) {
			if condition := disruption(pod.Latest); condition != nil {
				t.Errorf("pod %s was evicted: %+v", pod.Name, *condition)
			}
		}
		clearGang(t, c, urgent)
		suspended(false)
		c.Recorder.WaitRunning(t, own, w.pods, time.Minute)
		c.Delete(t, w.resource, w.namespace, w.name)
		testbed.Within(t, time.Minute, "its pods are gone", func() error {
			if n := boundOf(running(c.Recorder.Pods(own))); n > 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
	}
	m.WaitNoLeaks(t)
}
