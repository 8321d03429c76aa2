package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"muster.dev/e2e/testbed"
)

// The chart as users install it: with Helm, a real API server, and the programs of its pod with
// exactly the account, the files and the arguments that the chart gives them.
func TestChart_SchedulesGangs(t *testing.T) {
	onEveryVersion(t, func(t *testing.T, version testbed.Kubernetes) {
		c := testbed.StartCluster(t, testbed.Options{Kubernetes: version})
		i := c.InstallChart(t, nil)
		m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
		scheduler := i.StartScheduler(t)
		c.Namespace(t, "ml")
		c.AddNodes(t, testbed.Node("a", testbed.GPUs(4)))
		others := testbed.Pod("ml", "others", testbed.GPUs(1)) // without a schedulerName
		c.AddPods(t, others)

		type started struct {
			dialect testbed.Dialect
			gang    func(*testbed.PodRecord) bool
		}
		var gangs []started
		for _, each := range []struct {
			dialect testbed.Dialect
			profile string
		}{{testbed.Recipe, "kai-scheduler"}, {testbed.Volcano, "volcano"}, {testbed.Sigs, "muster"}} {
			c.Add(t, each.dialect.PodGroup("ml", each.dialect.Name, 5, nil))
			c.AddPods(t, testbed.Members(each.dialect, "ml", each.dialect.Name, 5, testbed.GPUs(1),
				testbed.WithScheduler(each.profile))...)
			gangs = append(gangs, started{each.dialect, testbed.InGang(each.dialect, "ml", each.dialect.Name)})
		}
		for _, each := range gangs {
			c.Recorder.AllSay(t, each.gang, 5, "5 members needed, room for 4 (1 short of nvidia.com/gpu)")
		}
		c.Recorder.NoneBound(t, testbed.InNamespace("ml"))
		c.AddNodes(t, testbed.Node("b", testbed.GPUs(16)))
		for _, each := range gangs {
			c.Recorder.WaitRunning(t, each.gang, 5, 40*time.Second)
			c.Recorder.Together(t, each.gang)
			eventuallyPhase(t, c, each.dialect, "ml", each.dialect.Name, "Running")
		}
		c.WaitEvent(t, "PodGroup", "ml", "recipe", "PodGroupScheduled", "")
		// Pods of the cluster's own scheduler are left to it.
		c.Recorder.NoneBound(t, func(pod *testbed.PodRecord) bool { return pod.Name == "others" })
		lease := c.Kubectl(t, c.Dir, "", "-n muster-system get lease muster-scheduler -o jsonpath={.spec.holderIdentity}")
		if lease == "" {
			t.Errorf("the lease has no holder")
		}
		for _, p := range []*testbed.Process{m.Process, scheduler} {
			if text := read(t, p.LogFile); strings.Contains(strings.ToLower(text), "forbidden") {
				t.Errorf("%s lacks a right:\n%s", p.Name, linesWith(text, "orbidden"))
			}
		}
	})
}

// The table in install.md: the manifests of the source documents, with a cluster scheduler that
// does not know muster. Manifests with a schedulerName run unchanged. ACS's Job has none, so the
// cluster's own scheduler places its pods one by one, and the PodGroup shows that.
func TestChart_ManifestsWithASchedulerNameRunUnchanged(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	i := c.InstallChart(t, nil)
	m := c.StartMuster(t, testbed.MusterOptions{Installed: i})
	i.StartScheduler(t)
	c.StartScheduler(t, testbed.SchedulerOptions{})
	for _, namespace := range []string{"ml-training", "test-gang"} {
		c.Namespace(t, namespace)
	}
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(32)))

	kai := testbed.InGang(testbed.Recipe, "ml-training", "pytorch-ddp-training")
	c.Kubectl(t, "../../../examples/kai", "", "apply -f pytorch-distributed-training.yaml")
	c.Recorder.WaitRunning(t, kai, 4, 30*time.Second)
	c.Recorder.Together(t, kai)

	volcano := testbed.InGang(testbed.Volcano, "default", "training-job-pg")
	c.Kubectl(t, "../../../examples/volcano", "", "apply -f podgroup.yaml -f job.yaml")
	c.Recorder.WaitRunning(t, volcano, 8, 30*time.Second)
	c.Recorder.Together(t, volcano)

	const acs = "../../../examples/acs"
	alone := testbed.InGang(testbed.Sigs, "test-gang", "demo-job-podgroup")
	c.Recorder.Excuse(testbed.Sigs.Key("test-gang", "demo-job-podgroup"))
	c.Kubectl(t, acs, "", "apply -f resourcequota.yaml -f podgroup.yaml -f gang-job.yaml")
	c.Recorder.WaitBound(t, alone, 2, 30*time.Second) // 3 are needed
	c.Kubectl(t, acs, "", "delete -f gang-job.yaml --wait")
	inTime := func(pod *testbed.PodRecord) bool { return alone(pod) && pod.Erased.IsZero() }
	testbed.Within(t, time.Minute, "the pods of the first Job are gone", func() error {
		if left := c.Recorder.Pods(inTime); len(left) > 0 {
			return fmt.Errorf("%d pods are left", len(left))
		}
		return nil
	})
	job := strings.Replace(read(t, acs+"/gang-job.yaml"), "      containers:", "      schedulerName: muster\n      containers:", 1)
	c.Kubectl(t, acs, job, "apply -f -")
	m.WaitState(t, "test-gang", "demo-job-podgroup", "Assembling")
	c.Recorder.NoneBound(t, inTime)
	c.Kubectl(t, acs, "", "delete -f resourcequota.yaml")
	c.Recorder.WaitRunning(t, inTime, 4, 60*time.Second)
	c.Recorder.Together(t, inTime)
}

func linesWith(text, word string) string {
	var found []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}

// What Helm does to a cluster: it installs only missing CRDs, an upgrade with other settings
// restarts the pod, and an uninstall removes the release and keeps the objects of users.
func TestChart_InstallUpgradeUninstall(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{})
	foreign := testbed.Objects(t, []byte(read(t, "../crds/x-k8s-podgroups.yaml")))[0]
	foreign.SetName("podgroups.scheduling.volcano.sh")
	for key, value := range map[string]string{"group": "scheduling.volcano.sh"} {
		if err := unstructured.SetNestedField(foreign.Object, value, "spec", key); err != nil {
			t.Fatal(err)
		}
	}
	c.Add(t, foreign)
	i := c.InstallChart(t, nil)
	const crd = "get crd -o name podgroups.scheduling.run.ai queues.scheduling.run.ai " +
		"podgroups.scheduling.volcano.sh queues.scheduling.volcano.sh podgroups.scheduling.sigs.k8s.io"
	c.Kubectl(t, c.Dir, "", crd)
	versions := c.Kubectl(t, c.Dir, "", "get crd podgroups.scheduling.volcano.sh -o jsonpath={.spec.versions[*].name}")
	if versions != "v1alpha1" {
		t.Errorf("the existing CRD was changed: it has %s", versions)
	}

	c.Namespace(t, "ml")
	c.Add(t, testbed.Recipe.PodGroup("ml", "mine", 4, nil))
	before := i.Deployment.Spec.Template
	i.Upgrade(t, nil)
	if before.Annotations["checksum/config"] != i.Deployment.Spec.Template.Annotations["checksum/config"] {
		t.Errorf("an upgrade without changes restarts the pod")
	}
	i.Upgrade(t, map[string]any{"config": map[string]any{"holdSeconds": 10}})
	if before.Annotations["checksum/config"] == i.Deployment.Spec.Template.Annotations["checksum/config"] {
		t.Errorf("an upgrade with other settings does not restart the pod")
	}
	if !strings.Contains(i.MusterConfig, "holdSeconds: 10") {
		t.Errorf("the setting is not in\n%s", i.MusterConfig)
	}

	// Helm never updates CRDs. install.md says how to update them.
	c.Kubectl(t, testbed.Chart(t), "", "apply --server-side --force-conflicts -f crds/podgroups.scheduling.run.ai.yaml")
	c.Kubectl(t, c.Dir, "", "-n ml get podgroups.scheduling.run.ai mine")

	i.Uninstall(t)
	c.Kubectl(t, c.Dir, "", crd)
	c.Kubectl(t, c.Dir, "", "-n ml get podgroups.scheduling.run.ai mine")
	left := c.Kubectl(t, c.Dir, "", "get deployments,configmaps,serviceaccounts,services,roles,rolebindings,clusterroles,clusterrolebindings -A "+
		"-l app.kubernetes.io/instance=muster -o name")
	if left != "" {
		t.Errorf("an uninstall leaves\n%s", left)
	}
}

// The strictest checks of the API server: unknown and duplicate fields are errors, and a namespace
// with the restricted Pod Security Standard accepts the pod.
func TestChart_IsAcceptedByTheAPIServer(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	c.Apply(t, []byte(`
apiVersion: v1
kind: Namespace
metadata:
  name: muster-system
  labels: {pod-security.kubernetes.io/enforce: restricted}
`))
	for name, values := range chartValues(t) {
		t.Run(name, func(t *testing.T) {
			rendered := testbed.Render(t, values, "--include-crds")
			c.Kubectl(t, c.Dir, rendered, "apply --dry-run=server --validate=strict -f -")
			c.Kubectl(t, c.Dir, podOf(t, rendered), "create --dry-run=server --validate=strict -f -")
		})
	}
	// Both checks can fail.
	rendered := testbed.Render(t, nil)
	c.KubectlRefuses(t, strings.Replace(rendered, "replicas: 1", "replicaz: 1", 1),
		"apply --dry-run=server --validate=strict -f -", "replicaz")
	c.KubectlRefuses(t, strings.Replace(podOf(t, rendered), "runAsNonRoot: true", "runAsNonRoot: false", 1),
		"create --dry-run=server -f -", "restricted")
}

// podOf is the pod that the Deployment creates.
func podOf(t *testing.T, rendered string) string {
	t.Helper()
	for _, object := range testbed.Objects(t, []byte(rendered)) {
		if object.GetKind() != "Deployment" {
			continue
		}
		template, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
		template["apiVersion"], template["kind"] = "v1", "Pod"
		pod := &unstructured.Unstructured{Object: template}
		pod.SetName("muster-0")
		pod.SetNamespace(object.GetNamespace())
		text, err := yaml.Marshal(pod.Object)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Fatalf("no Deployment in\n%s", rendered)
	return ""
}

// chartValues are the values with which every check of the chart runs.
func chartValues(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]any{}
	if err := yaml.Unmarshal([]byte(read(t, "../../../charts/muster/ci/all-values.yaml")), &all); err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]any{"defaults": nil, "all": all}
}

// The CRDs refuse fields of the wrong type and unknown fields, and leave contradictions to muster.
// Both versions of KAI's PodGroup are the same object, and kubectl shows the columns.
func TestChart_CRDsCheckTypesOnly(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true,
		Dialects: []testbed.Dialect{testbed.Recipe, testbed.Volcano, testbed.Sigs}})
	c.Namespace(t, "ml")
	full := map[string]any{"minMember": int64(4), "maxMember": int64(8), "queue": "training", "priority": int64(50),
		"parentPodGroup": "pipeline", "scheduleTimeoutSeconds": int64(300), "priorityClassName": "train",
		"preemptibility": "preemptible", "markUnschedulable": true, "schedulingBackoff": int64(-1),
		"subGroups": []any{map[string]any{"name": "a", "minMember": int64(2), "parent": "b"},
			map[string]any{"name": "b", "minSubGroup": int64(1)}}}
	for _, dialect := range []testbed.Dialect{testbed.Recipe, testbed.KAI} {
		name := "by-" + dialect.Version
		c.Add(t, dialect.PodGroup("ml", name, 4, full))
		for _, version := range []testbed.Dialect{testbed.Recipe, testbed.KAI} {
			spec, _, _ := unstructured.NestedMap(c.PodGroup(t, version, "ml", name).Object, "spec")
			if fmt.Sprint(spec) != fmt.Sprint(full) {
				t.Errorf("written as %s and read as %s, the spec is\n%v", dialect.Version, version.Version, spec)
			}
		}
	}
	for _, wrong := range []struct{ group, spec, says string }{
		{"scheduling.run.ai/v2", "{minMember: four}", "spec.minMember"},
		{"scheduling.run.ai/v2", "{minMembers: 4}", "spec.minMembers"},
		{"scheduling.run.ai/v2alpha2", "{subGroups: [{name: [a]}]}", "spec.subGroups[0].name"},
		{"scheduling.volcano.sh/v1beta1", "{minResources: [cpu]}", "spec.minResources"},
		{"scheduling.volcano.sh/v1beta1", "{minMember: 4, maxMember: 8}", "spec.maxMember"},
		{"scheduling.sigs.k8s.io/v1alpha1", "{minMember: -3}", "spec.minMember"},
	} {
		c.KubectlRefuses(t, podGroupText(wrong.group, "wrong", wrong.spec), "create -f -", wrong.says)
	}
	for n, contradiction := range []struct{ group, spec string }{
		{"scheduling.run.ai/v2", "{minMember: 4, maxMember: 2}"},
		{"scheduling.run.ai/v2alpha2", "{minMember: 4, minSubGroup: 2}"},
		{"scheduling.volcano.sh/v1beta1", "{minMember: 2, minTaskMember: {a: 3}}"},
	} {
		c.Kubectl(t, c.Dir, podGroupText(contradiction.group, fmt.Sprintf("odd-%d", n), contradiction.spec), "create -f -")
	}
	for _, resource := range []string{"podgroups.scheduling.run.ai", "podgroups.v2.scheduling.run.ai",
		"podgroups.scheduling.volcano.sh", "podgroups.scheduling.sigs.k8s.io"} {
		c.Kubectl(t, c.Dir, podGroupText("scheduling.sigs.k8s.io/v1alpha1", "shown", "{minMember: 3}"), "apply -f -")
		shown := c.Kubectl(t, c.Dir, "", "-n ml get "+resource)
		for _, column := range []string{"PHASE", "MINIMUM", "RUNNING", "AGE"} {
			if !strings.Contains(strings.Split(shown, "\n")[0], column) {
				t.Errorf("kubectl get %s shows no column %s:\n%s", resource, column, shown)
			}
		}
	}
	c.Kubectl(t, c.Dir, queueTexts, "create -f -")
	// If all are installed, the short names mean KAI's kinds, as install.md says.
	if shown := c.Kubectl(t, c.Dir, "", "describe queue training"); !strings.Contains(shown, "scheduling.run.ai") {
		t.Errorf("kubectl describe queue shows\n%s", shown)
	}
	for _, word := range []string{"podgroup", "pg"} {
		if shown := c.Kubectl(t, c.Dir, "", "-n ml get "+word); !strings.Contains(shown, "by-v2alpha2") {
			t.Errorf("kubectl get %s shows\n%s", word, shown)
		}
	}
	// The status of Volcano is written with the object; the other dialects have a subresource.
	for crd, subresource := range map[string]string{"podgroups.scheduling.volcano.sh": "",
		"podgroups.scheduling.run.ai": "{}", "podgroups.scheduling.sigs.k8s.io": "{}"} {
		is := c.Kubectl(t, c.Dir, "", "get crd "+crd+" -o jsonpath={.spec.versions[0].subresources.status}")
		if is != subresource {
			t.Errorf("%s: the subresource status is %q", crd, is)
		}
	}
}

func podGroupText(version, name, spec string) string {
	return fmt.Sprintf("{apiVersion: %s, kind: PodGroup, metadata: {name: %s, namespace: ml}, spec: %s}", version, name, spec)
}

const queueTexts = `
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: training}
spec:
  displayName: Training
  parentQueue: research
  priority: 100
  resources:
    gpu: {quota: 8, overQuotaWeight: 1.5, limit: -1}
    cpu: {quota: -1, overQuotaWeight: 1, limit: -1}
    memory: {quota: -1, overQuotaWeight: 1, limit: -1}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: training}
spec:
  weight: 3
  reclaimable: true
  capability: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}
  guarantee: {resource: {cpu: "8"}}
  dequeueStrategy: fifo
`

// The pod's account has the rights that muster and kube-scheduler need, and no others.
func TestChart_RightsAreMinimal(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	c.InstallChart(t, nil)
	for question, want := range map[string]string{
		"create pods --subresource=binding": "yes", "patch podgroups.scheduling.run.ai --subresource=status": "yes",
		"update leases.coordination.k8s.io/muster-scheduler -n muster-system": "yes",
		"update leases.coordination.k8s.io/kube-scheduler -n muster-system":   "yes", // a right of system:kube-scheduler
		"get secrets": "no", "create pods": "no", "update nodes": "no", "delete nodes": "no",
		"create clusterroles.rbac.authorization.k8s.io": "no", "update leases.coordination.k8s.io/other -n muster-system": "no",
		"delete podgroups.scheduling.run.ai": "no", "* *": "no",
	} {
		answer := strings.TrimSpace(c.KubectlAnswers(t,
			"auth can-i --as system:serviceaccount:muster-system:muster "+question))
		if answer != want {
			t.Errorf("right to %s: %s", question, answer)
		}
	}
}
