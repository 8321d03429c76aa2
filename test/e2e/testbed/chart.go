package testbed

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"sigs.k8s.io/yaml"
)

// Versions of the programs that render and check the chart.
const (
	helmVersion        = "v3.22.0"
	kubeconformVersion = "v0.8.0"
)

// MusterNamespace is where the chart is rendered and installed to.
const MusterNamespace = "muster-system"

// Chart is the folder of the chart.
func Chart(t TB) string {
	t.Helper()
	return filepath.Join(Root(t), "charts/muster")
}

// Helm runs helm and returns what it prints; kubeconfig may be "".
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

// HelmPath and KubeconformPath are where build-tools puts these programs.
func HelmPath(t TB) string { t.Helper(); return tool(t, "helm", helmVersion) }

// KubeconformPath: see HelmPath.
func KubeconformPath(t TB) string { t.Helper(); return tool(t, "kubeconform", kubeconformVersion) }

// Render is the chart with these values, as release muster in MusterNamespace.
func Render(t TB, values map[string]any, more ...string) string {
	t.Helper()
	args := append([]string{"template", "muster", Chart(t), "--namespace", MusterNamespace,
		"--kube-version", Newest.Version, "--values", ValuesFile(t, values)}, more...)
	out, stderr, err := Helm(t, "", args...)
	if err != nil {
		t.Fatalf("helm template: %v\n%s", err, stderr)
	}
	return out
}

// ValuesFile writes values for helm's --values.
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

// musterRights are the account and the role that the chart gives to muster, without those of the
// kube-scheduler in its pod; and the namespace, which Helm makes itself.
func musterRights(t TB) []byte {
	t.Helper()
	chartRights.Do(func() {
		chartRights.text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + MusterNamespace + "}\n" + Render(t, nil,
			"--show-only", "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml")
	})
	return []byte(chartRights.text)
}
