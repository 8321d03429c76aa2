package testbed

import (
	"os"
	"path/filepath"
)

// Kubernetes is a version of the whole control plane.
type Kubernetes struct{ Minor, Version string }

// The versions of the tests. The gate and the benchmarks run only Default.
var (
	Default = Kubernetes{"1.36", "v1.36.3"}
	Next    = Kubernetes{"1.37", "v1.37.2"}
	Earlier = Kubernetes{"1.33", "v1.33.13"}
)

// Versions are all of them.
var Versions = []Kubernetes{Default, Next, Earlier}

// NativeAPI is the version of the API group scheduling.k8s.io that has PodGroups.
func (k Kubernetes) NativeAPI() string {
	if k == Next {
		return "scheduling.k8s.io/v1beta1"
	}
	return "scheduling.k8s.io/v1alpha2"
}

// NativeGangs are the options of a cluster with Kubernetes' own gangs. Version 1.33 has none.
func (k Kubernetes) NativeGangs() Options {
	features := []string{"GenericWorkload", "TopologyAwareWorkloadScheduling"}
	if k != Next { // Next has merged them into GenericWorkload
		features = append(features, "GangScheduling", "WorkloadAwarePreemption")
	}
	return Options{Kubernetes: k, Features: features, APIs: []string{k.NativeAPI()}}
}

// Versions of the tools that do not depend on the Kubernetes version; the modules below tools/ pin
// the same.
const (
	etcdVersion = "v3.6.8"
	kwokVersion = "v0.8.0"
)

// Tools are the programs that a cluster needs, by the names that build-tools knows. Helm renders muster's
// role from the chart.
func Tools(version Kubernetes, operators ...Operator) []string {
	names := []string{"etcd-" + etcdVersion, "kwok-" + kwokVersion, "kubectl-" + kubectlVersion, "helm-" + helmVersion}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		names = append(names, name+"-"+version.Version)
	}
	for _, o := range operators {
		names = append(names, o.name+"-"+o.version)
	}
	return names
}

// Root is the root of the repository: the folder above test/e2e.
func Root(t TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "test/e2e/build-tools")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			t.Fatalf("run this inside muster's repository")
		}
		folder = parent
	}
}

func toolsFolder(root string) string {
	if folder := os.Getenv("MUSTER_TOOLS"); folder != "" {
		return folder
	}
	return filepath.Join(root, "build/tools")
}

// KubectlPath is where build-tools puts kubectl.
func KubectlPath(root string) string {
	return filepath.Join(toolsFolder(root), "kubectl-"+Default.Version)
}

// tool is the path of a program that build-tools made.
func tool(t TB, name, version string) string { t.Helper(); return ToolPath(t, name+"-"+version) }

// ToolPath is the path of a program that build-tools made, by its name and version.
func ToolPath(t TB, name string) string {
	t.Helper()
	path := filepath.Join(toolsFolder(Root(t)), name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not built: run test/e2e/build-tools", path)
	}
	return path
}

// MusterPath is the program under test.
func MusterPath(t TB) string { t.Helper(); return musterBinary(t, false) }

// MeasuredPath is the program that is measured: the release build.
func MeasuredPath(t TB) string { t.Helper(); return musterBinary(t, true) }

// Measure selects another program to measure.
func Measure(path string) { _ = os.Setenv("MUSTER_RELEASE_BIN", path) }

// musterBinary is the program under test. Scenarios that measure use the release build if
// MUSTER_BIN has sanitizers, because the cost of these is not muster's.
func musterBinary(t TB, measured bool) string {
	t.Helper()
	path := os.Getenv("MUSTER_BIN")
	if release := os.Getenv("MUSTER_RELEASE_BIN"); measured && release != "" {
		path = release
	}
	if path == "" {
		path = filepath.Join(Root(t), "build/release/muster")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("muster is missing: %v (build it, or set MUSTER_BIN)", err)
	}
	return path
}
