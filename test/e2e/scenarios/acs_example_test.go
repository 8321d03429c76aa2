package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// acs is the folder with the manifests of the ACS example, unmodified.
const acs = "../../../examples/acs"

func TestS11_ACSExampleAsPrinted(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		followACS(t, version, testbed.Sigs, strings.NewReplacer())
	})
}

// The same example for users of scheduler-plugins.
func TestS13_ACSExampleWithSchedulerPlugins(t *testing.T) {
	beside(t)
	followACS(t, testbed.Default, testbed.SchedulerPlugins, strings.NewReplacer(
		"scheduling.sigs.k8s.io/v1alpha1", "scheduling.x-k8s.io/v1alpha1",
		"pod-group.scheduling.sigs.k8s.io:", "scheduling.x-k8s.io/pod-group:"))
}

// followACS runs the commands of the example and checks their output.
func followACS(t *testing.T, version testbed.Kubernetes, dialect testbed.Dialect, rename *strings.Replacer) {
	t.Helper()
	c := testbed.StartCluster(t, testbed.Options{Kubernetes: version, Dialects: []testbed.Dialect{dialect}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
	c.AddNodes(t, testbed.Node("hpn-0", testbed.GPUs(2)), testbed.Node("hpn-1", testbed.GPUs(2)))
	gang := testbed.InGang(dialect, "test-gang", "demo-job-podgroup")
	c.Recorder.Expect(dialect.Key("test-gang", "demo-job-podgroup"), 3)
	manifest := func(name string) string { return rename.Replace(read(t, acs+"/"+name)) }

	c.Kubectl(t, acs, "", "create ns test-gang")
	c.Kubectl(t, acs, manifest("resourcequota.yaml"), "apply -f -")
	waitQuota(t, c)
	c.Kubectl(t, acs, manifest("podgroup.yaml"), "apply -f -")
	c.Kubectl(t, acs, manifest("gang-job.yaml"), "apply -f -")
	c.Recorder.AllSay(t, gang, 2, "gang test-gang/demo-job-podgroup: 2 of 3 members exist")
	c.Recorder.NoneBound(t, gang)
	shown := c.Kubectl(t, acs, "", "get pod -n test-gang")
	if strings.Count(shown, "Pending") != 2 || strings.Count(shown, "gang-job-") != 2 {
		t.Errorf("want 2 Pending pods:\n%s", shown)
	}

	c.Kubectl(t, acs, "", "delete resourcequota -n test-gang object-counts")
	// The Job controller retries by itself, after a growing pause.
	c.Recorder.WaitRunning(t, gang, 4, 60*time.Second)
	c.Recorder.Together(t, gang)
	shown = c.Kubectl(t, acs, "", "get pod -n test-gang")
	if strings.Count(shown, "Running") != 4 {
		t.Errorf("want 4 Running pods:\n%s", shown)
	}
}

// waitQuota waits until the quota counts. A reader of the example types more slowly than the
// controller works; this test does not.
func waitQuota(t *testing.T, c *testbed.Cluster) {
	t.Helper()
	testbed.Within(t, 30*time.Second, "the quota is in force", func() error {
		hard := c.Kubectl(t, acs, "", "get resourcequota -n test-gang object-counts -o jsonpath={.status.hard.pods}")
		if hard != "2" {
			return fmt.Errorf("status.hard.pods is %q", hard)
		}
		return nil
	})
}
