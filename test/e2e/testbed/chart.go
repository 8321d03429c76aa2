package testbed

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Versions of the programs that render and check the chart.
const (
	helmVersion        = "v3.22.0"
	kubeconformVersion = "v0.8.0"
)

// MusterNamespace is the namespace that the chart is rendered for and installed into.
const MusterNamespace = "muster-system"

// Chart is the folder of the chart.
func Chart(t TB) string {
	t.Helper()
	return filepath.Join(Root(t), "charts/muster")
}

// Helm runs helm and returns its output; kubeconfig may be "".
func Helm(t TB, kubeconfig string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	home, err := os.MkdirTemp("", "muster-helm-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer os.RemoveAll(home)
	var out, errors bytes.Buffer
	command := exec.Command(HelmPath(t), args...)
	command.Env = []string{"HOME=" + home, "KUBECONFIG=" + kubeconfig}
	command.Stdout, command.Stderr = &out, &errors
	err = command.Run()
	return out.String(), errors.String(), err
}

// HelmPath is where build-tools puts helm.
func HelmPath(t TB) string { t.Helper(); return tool(t, "helm", helmVersion) }

// KubeconformPath is where build-tools puts kubeconform.
func KubeconformPath(t TB) string { t.Helper(); return tool(t, "kubeconform", kubeconformVersion) }

// Render renders the chart with these values, as release muster in MusterNamespace.
func Render(t TB, values map[string]any, more ...string) string {
	t.Helper()
	args := append([]string{"template", "muster", Chart(t), "--namespace", MusterNamespace,
		"--kube-version", Default.Version, "--values", ValuesFile(t, values)}, more...)
	out, stderr, err := Helm(t, "", args...)
	if err != nil {
		t.Fatalf("helm template: %v\n%s", err, stderr)
	}
	return out
}

// ValuesFile writes a file for helm's --values.
func ValuesFile(t TB, values map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatalf("%v", err)
	}
	folder, err := os.MkdirTemp("", "muster-values-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return file(t, folder, "values.yaml", text)
}

var chartRights struct {
	sync.Once
	text string
}

// Installation is the installed chart, as the API server shows it.
type Installation struct {
	MusterConfig, SchedulerConfig string // the files in the ConfigMap
	Deployment                    *appsv1.Deployment
	Verbs, Ops                    string // addresses of muster

	cluster *Cluster
}

// InstallChart installs the chart with Helm as release muster in MusterNamespace. All clusters
// share this machine's network, so muster gets ports of its own.
func (c *Cluster) InstallChart(t TB, values map[string]any) *Installation {
	t.Helper()
	i := &Installation{cluster: c,
		Verbs: fmt.Sprintf("127.0.0.1:%d", freePort(t)),
		Ops:   fmt.Sprintf("127.0.0.1:%d", freePort(t)),
	}
	i.run(t, "install", append([]string{"--create-namespace"}, i.values(t, values)...)...)
	i.read(t)
	i.waitRights(t)
	return i
}

// waitRights waits until the API server applies the chart's roles; it checks one right of each.
func (i *Installation) waitRights(t TB) {
	t.Helper()
	for _, question := range []string{
		"patch podgroups.scheduling.run.ai --subresource=status", "list csinodes.storage.k8s.io",
		"patch persistentvolumes", "update leases.coordination.k8s.io/muster-scheduler -n " + MusterNamespace,
	} {
		eventually(t, "muster may "+question, func() error {
			line := "auth can-i --as system:serviceaccount:" + MusterNamespace + ":muster " + question
			if answer := strings.TrimSpace(i.cluster.KubectlAnswers(t, line)); answer != "yes" {
				return fmt.Errorf("the answer is %q", answer)
			}
			return nil
		})
	}
}

// Upgrade changes the values of the release.
func (i *Installation) Upgrade(t TB, values map[string]any) {
	t.Helper()
	i.run(t, "upgrade", i.values(t, values)...)
	i.read(t)
}

// Uninstall removes the release from the cluster.
func (i *Installation) Uninstall(t TB) {
	t.Helper()
	i.helm(t, "uninstall", "muster", "--namespace", MusterNamespace)
}

// values are the helm arguments for the values and for the ports of this installation.
func (i *Installation) values(t TB, values map[string]any) []string {
	t.Helper()
	return []string{"--values", ValuesFile(t, values),
		"--set", "config.listen=" + i.Verbs, "--set", "config.opsListen=" + i.Ops}
}

func (i *Installation) run(t TB, verb string, args ...string) {
	t.Helper()
	i.helm(t, append([]string{verb, "muster", Chart(t), "--namespace", MusterNamespace}, args...)...)
}

func (i *Installation) helm(t TB, args ...string) {
	t.Helper()
	out, stderr, err := Helm(t, i.cluster.Kubeconfig(), args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr)
	}
}

func (i *Installation) read(t TB) {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	files, err := i.cluster.Kube.CoreV1().ConfigMaps(MusterNamespace).Get(ctx, "muster", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	i.MusterConfig, i.SchedulerConfig = files.Data["muster.yaml"], files.Data["scheduler.yaml"]
	i.Deployment, err = i.cluster.Kube.AppsV1().Deployments(MusterNamespace).Get(ctx, "muster", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Token is a token of the Deployment's service account.
func (i *Installation) Token(t TB) string {
	t.Helper()
	return i.cluster.AccountToken(t, MusterNamespace, i.Deployment.Spec.Template.Spec.ServiceAccountName)
}

// StartScheduler runs kube-scheduler with the Deployment's arguments and the file from the
// ConfigMap. It adds only what a pod would have: the address of the API server, and a free port.
func (i *Installation) StartScheduler(t TB) *Process {
	t.Helper()
	c, pod := i.cluster, i.Deployment.Spec.Template.Spec
	kubeconfig := writeKubeconfig(t, c.Dir, "chart-scheduler", c.URL, i.Token(t), c.authority.PEM)
	config := i.SchedulerConfig + "\nclientConnection: {kubeconfig: " + kubeconfig + "}\n"
	path := file(t, c.Dir, "chart-scheduler.yaml", []byte(config))
	var args []string
	for _, arg := range pod.Containers[1].Args {
		if arg != "--secure-port=10259" {
			args = append(args, strings.Replace(arg, "/etc/muster/scheduler.yaml", path, 1))
		}
	}
	if !slices.Contains(args, "--config="+path) || len(args) != len(pod.Containers[1].Args)-1 {
		t.Fatalf("unexpected arguments in the chart: %v", pod.Containers[1].Args)
	}
	return c.RunScheduler(t, "chart-scheduler", args...)
}

// musterRights are the service account and the role that the chart gives to muster (without those
// for kube-scheduler), and the namespace, which Helm creates itself.
func musterRights(t TB) []byte {
	t.Helper()
	chartRights.Do(func() {
		chartRights.text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + MusterNamespace + "}\n" + Render(t, nil,
			"--show-only", "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml")
	})
	return []byte(chartRights.text)
}
