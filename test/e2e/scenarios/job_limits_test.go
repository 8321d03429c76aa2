package scenarios

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// limitedJob is a Job of two pods that may lose <limit> of them. muster creates its PodGroup.
const limitedJob = `
apiVersion: batch/v1
kind: Job
metadata: {namespace: ml, name: <name>, annotations: {kai.scheduler/batch-min-member: "2"}}
spec:
  parallelism: 2
  completions: 2
  backoffLimit: <limit>
  template:
    spec:
      schedulerName: kai-scheduler
      priorityClassName: <class>
      restartPolicy: Never
      containers: [{name: train, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 4}}}]
`

func ofJob(name string) testbed.Which {
	return func(p *testbed.PodRecord) bool {
		return p.Namespace == "ml" && strings.HasPrefix(p.Name, name+"-")
	}
}

// Q03: if an eviction would make a Job fail (backoffLimit), muster prefers other victims, even if these
// have a higher priority. It evicts the pods of the Job when nothing else makes room.
// kube-controller-manager counts the evicted pods as failed.
func TestQ03_AJobThatWouldFailComesLast(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, nil)
	c.StartMuster(t, testbed.MusterOptions{Installed: i})
	i.StartScheduler(t)
	for name, value := range map[string]int{"low": 100, "middle": 500, "urgent": 1000} {
		addPriorityClass(t, c, name, value)
	}
	c.Namespace(t, "ml")
	for _, node := range []string{"a", "b", "c", "d"} {
		c.AddNodes(t, testbed.Node(node, testbed.GPUs(4)))
	}
	c.Apply(t, []byte(fill(limitedJob, "<name>", "fragile", "<limit>", "1", "<class>", "low")))
	c.Apply(t, []byte(fill(limitedJob, "<name>", "robust", "<limit>", "2", "<class>", "middle")))
	c.Recorder.WaitRunning(t, ofJob("fragile"), 2, 30*time.Second)
	c.Recorder.WaitRunning(t, ofJob("robust"), 2, 30*time.Second)

	c.Recorder.WaitRunning(t, urgentKAI(t, c, "urgent"), 2, 60*time.Second)
	for _, pod := range c.Recorder.Pods(ofJob("fragile")) {
		if !pod.Erased.IsZero() || pod.Latest.DeletionTimestamp != nil {
			t.Errorf("pod %s of the Job that would fail was evicted", pod.Name)
		}
	}

	c.Recorder.WaitRunning(t, urgentKAI(t, c, "second"), 2, 60*time.Second)
	c.WaitEvent(t, "PodGroup", "ml", "second", "Preempting", "a Job fails, because it loses more pods than its backoffLimit allows")
	testbed.Within(t, 30*time.Second, "the Job fails", func() error {
		job, err := c.Kube.BatchV1().Jobs("ml").Get(t.Context(), "fragile", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range job.Status.Conditions {
			if condition.Type == batchv1.JobFailed && condition.Status == corev1.ConditionTrue && condition.Reason == "BackoffLimitExceeded" {
				return nil
			}
		}
		return errors.New("it has not failed")
	})
}
