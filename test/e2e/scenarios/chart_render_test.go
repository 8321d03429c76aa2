package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"muster.dev/e2e/testbed"
)

func TestChart_PassesHelmLint(t *testing.T) {
	beside(t)
	for name, values := range chartValues(t) {
		out, stderr, err := testbed.Helm(t, "", "lint", "--strict", testbed.Chart(t),
			"--kube-version", testbed.Default.Version, "--values", testbed.ValuesFile(t, values))
		if err != nil {
			t.Errorf("values %s: %v\n%s%s", name, err, out, stderr)
		}
	}
}

// Invalid values are refused before anything is installed, with a message that names them.
func TestChart_RefusesInvalidValues(t *testing.T) {
	beside(t)
	for set, says := range map[string]string{
		"replicas=2":                               "'replicas' not allowed",
		"scheduler.profile=a":                      "'profile' not allowed",
		"scheduler.profiles=null":                  "", // for Helm, null means the value in values.yaml
		"scheduler.profiles={}":                    "/scheduler/profiles",
		"scheduler.profiles={Bad}":                 "/scheduler/profiles/0",
		"scheduler.profiles={a,a}":                 "/scheduler/profiles",
		"scheduler.profiles={a,default-scheduler}": "the cluster's own scheduler",
		"scheduler.config.extenders=x":             "scheduler.config.extenders is written by the chart",
		"scheduler.config.leaderElection=x":        "scheduler.config.leaderElection is written by the chart",
		"scheduler.extraArgs={v=2}":                "/scheduler/extraArgs/0",
		"config.kubeconfig=/x":                     "config.kubeconfig",
		"config.listen=0.0.0.0:9910":               "/config/listen",
		"config.listen=127.0.0.1:65536":            "/config/listen",
		"config.opsListen=0.0.0.0:65536":           "/config/opsListen",
		"config.opsListen=0.0.0.0:65535":           "",
		"config.httpTimeoutSeconds=30s":            "/config/httpTimeoutSeconds",
		"config.strictOrdr=true":                   "'strictOrdr' not allowed",
		"config.strictOrder=yes":                   "/config/strictOrder",
		"config.holdSeconds=soon":                  "/config/holdSeconds",
		"config.holdSeconds=1m30":                  "/config/holdSeconds",
		"config.holdSeconds=3601":                  "/config/holdSeconds",
		"config.assembleSeconds=0.5":               "", // --set makes it a string
		"config.maxHolds=0":                        "/config/maxHolds",
		"config.podGroupDialect=sig":               "/config/podGroupDialect",
		"config.podGroupNamespaces={a,a}":          "/config/podGroupNamespaces",
		"config.workloads={TrainSet}":              "/config/workloads/0",
		"config.workloads={x.y/v1/A:spec..n}":      "/config/workloads/0",
		"config.workloads={x.y/v1/A:spec.n[0]}":    "/config/workloads/0",
		"config.workloads={v1/A:a[*].n:b.*.m-_}":   "",
		"image.pullPolicy=always":                  "/image/pullPolicy",
		"image.digest=0123":                        "/image/digest",
		"resources.request.cpu=1":                  "'request' not allowed",
		"metrics.annotations=yes":                  "/metrics/annotations",
		"tolerations[0].effect=No":                 "/tolerations/0/effect",
		"networkPolicy.enabled=no":                 "/networkPolicy/enabled",
		"networkPolicy.namespace=a":                "'namespace' not allowed",
		"networkPolicy.namespaces={A}":             "/networkPolicy/namespaces/0",
		"networkPolicy.from[0].ip=1.2.3.4":         "'ip' not allowed",
		"extraRules[0].verb=get":                   "'verb' not allowed",
		"terminationGracePeriodSeconds=0":          "/terminationGracePeriodSeconds",
	} {
		_, stderr, err := testbed.Helm(t, "", "template", "muster", testbed.Chart(t), "--set", set)
		if (err != nil) != (says != "") || !strings.Contains(stderr, says) {
			t.Errorf("--set %s: %v, %s", set, err, stderr)
		}
	}
}

// `helm upgrade --reuse-values` uses the values of the installed chart in place of values.yaml. Older
// charts do not have all values.
func TestChart_AcceptsValuesOfOlderCharts(t *testing.T) {
	beside(t)
	chart := t.TempDir()
	if err := os.CopyFS(chart, os.DirFS(testbed.Chart(t))); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"gates", "suspend", "networkPolicy", "extraRules"} {
		if _, ok := values[key]; !ok {
			t.Fatalf("values.yaml has no %s", key)
		}
		delete(values, key)
	}
	if text, err = yaml.Marshal(values); err == nil {
		err = os.WriteFile(filepath.Join(chart, "values.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"config.strictOrder=true", "gates.enabled=true", "suspend.enabled=true", "networkPolicy.enabled=false"} {
		out, stderr, err := testbed.Helm(t, "", "template", "muster", chart, "--kube-version", testbed.Default.Version, "--set", set)
		if err != nil {
			t.Errorf("--set %s: %v, %s", set, err, stderr)
			continue
		}
		gated := set == "gates.enabled=true"
		for words, wanted := range map[string]bool{
			"kind: MutatingAdmissionPolicy\n":    gated,
			"verbs: [get, list, watch, patch]\n": set == "suspend.enabled=true",
			"kind: NetworkPolicy\n":              set != "networkPolicy.enabled=false",
		} {
			if strings.Contains(out, words) != wanted {
				t.Errorf("--set %s: the output contains %q: %t, want %t\n%s", set, words, !wanted, wanted, out)
			}
		}
		if gated && !strings.Contains(out, `values: ["kube-system","default"]`) {
			t.Errorf("--set %s: the policy does not cover all namespaces except kube-system and the chart's own:\n%s", set, out)
		}
	}
}

// Only the release's own namespace, and the configured namespaces, reach muster's ports.
func TestT10_ChartHasANetworkPolicy(t *testing.T) {
	beside(t)
	policy := func(sets ...string) *networking.NetworkPolicy {
		args := []string{"template", "muster", testbed.Chart(t), "--namespace", "gangs"}
		for _, set := range sets {
			args = append(args, "--set", set)
		}
		out, stderr, err := testbed.Helm(t, "", args...)
		if err != nil {
			t.Fatalf("%v: %s", sets, stderr)
		}
		for _, object := range testbed.Objects(t, []byte(out)) {
			if object.GetKind() == "NetworkPolicy" {
				p := &networking.NetworkPolicy{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, p); err != nil {
					t.Fatal(err)
				}
				return p
			}
		}
		return nil
	}
	peers := func(p *networking.NetworkPolicy) (names []string) {
		for _, peer := range p.Spec.Ingress[0].From {
			if peer.NamespaceSelector != nil {
				names = append(names, peer.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
			} else if peer.IPBlock != nil {
				names = append(names, peer.IPBlock.CIDR)
			} else {
				names = append(names, "own")
			}
		}
		return names
	}
	if p := policy("networkPolicy.enabled=false"); p != nil {
		t.Errorf("the policy cannot be turned off: %v", p)
	}
	for _, each := range []struct {
		sets []string
		from []string
	}{
		{nil, []string{"own"}},
		{[]string{"networkPolicy=null"}, []string{"own"}},
		{[]string{"networkPolicy.namespaces={monitoring,ml}"}, []string{"own", "monitoring", "ml"}},
		{[]string{"networkPolicy.from[0].ipBlock.cidr=10.0.0.0/8"}, []string{"own", "10.0.0.0/8"}},
	} {
		p := policy(each.sets...)
		if p == nil || len(p.Spec.Ingress) != 1 || !slices.Equal(peers(p), each.from) {
			t.Fatalf("%v: %v", each.sets, p)
		}
		var ports []string
		for _, port := range p.Spec.Ingress[0].Ports {
			ports = append(ports, port.Port.String())
		}
		if !slices.Equal(ports, []string{"metrics", "scheduler"}) || len(p.Spec.PodSelector.MatchLabels) == 0 || p.Namespace != "gangs" {
			t.Errorf("%v: ports %v of %v in %s", each.sets, ports, p.Spec.PodSelector, p.Namespace)
		}
	}
}

// muster itself accepts both files of the ConfigMap, and the scheduler's file is the output of
// `muster scheduler-config`.
func TestChart_FilesMatchMustersOutput(t *testing.T) {
	beside(t)
	several := chartValues(t)
	several["durations"] = map[string]any{"config": map[string]any{"holdSeconds": "25s", "httpTimeoutSeconds": 45}}
	several["one profile"] = map[string]any{"scheduler": map[string]any{"profiles": []any{"gangs"}}}
	for name, values := range several {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			files := configMap(t, testbed.Render(t, values))
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			muster, scheduler := filepath.Join(folder, "muster.yaml"), filepath.Join(folder, "scheduler.yaml")
			said := musterSays(t, "check", "--config", muster, "--scheduler-config", scheduler)
			if strings.Contains(said, "warning") || !strings.HasSuffix(said, "ok\n") {
				t.Errorf("muster check prints\n%s", said)
			}
			args := []string{"scheduler-config", "--config", muster}
			for _, profile := range profilesOf(t, files["scheduler.yaml"]) {
				args = append(args, "--profile", profile)
			}
			printed := musterSays(t, args...)
			rest, found := strings.CutPrefix(files["scheduler.yaml"], printed)
			if !found {
				t.Errorf("the chart writes\n%s\nmuster scheduler-config prints\n%s", files["scheduler.yaml"], printed)
			}
			if values["scheduler"] == nil && strings.TrimSpace(rest) != "" {
				t.Errorf("unexpected rest of the file:\n%s", rest)
			}
		})
	}
}

// `muster check` finds mistakes that Helm accepts, in the files of the ConfigMap (docs/operate.md).
func TestChart_FilesShowMistakesThatHelmAccepts(t *testing.T) {
	beside(t)
	for set, says := range map[string]string{
		"config.holdSeconds=90m":         "holdSeconds: 90m is out of range",
		"config.holdSeconds=26":          "holdSeconds: 26 is too long for httpTimeoutSeconds 30",
		"scheduler.config.percentage=50": "warning: kube-scheduler does not know the key \"percentage\"",
		"config.expressLane=true":        "", // the chart sets kubeSchedulerConfig
	} {
		folder := t.TempDir()
		out, stderr, err := testbed.Helm(t, "", "template", "muster", testbed.Chart(t), "--set", set,
			"--show-only", "templates/configmap.yaml")
		if err != nil {
			t.Errorf("--set %s: %v, %s", set, err, stderr)
			continue
		}
		for file, text := range configMap(t, out) {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command(testbed.MusterPath(t), "check", "--config", "muster.yaml", "--scheduler-config", "scheduler.yaml")
		command.Dir = folder
		said, err := command.CombinedOutput()
		if says == "" && (err != nil || strings.Contains(string(said), "warning")) || !strings.Contains(string(said), says) {
			t.Errorf("--set %s: %v, %s", set, err, said)
		}
	}
}

// The chart has the version of the program in this repository, and its image has that tag.
func TestChart_VersionMatchesMusters(t *testing.T) {
	beside(t)
	var chart struct{ Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(testbed.Chart(t), "Chart.yaml"))), &chart); err != nil {
		t.Fatal(err)
	}
	if says := musterSays(t, "version"); says != "muster "+chart.AppVersion+"\n" {
		t.Errorf("the chart's appVersion is %s, want %s", chart.AppVersion, says)
	}
	for _, words := range []string{"image: \"muster:" + chart.AppVersion + "\"", "helm.sh/chart: muster-" + chart.Version} {
		if rendered := testbed.Render(t, nil); !strings.Contains(rendered, words) {
			t.Errorf("no %s in\n%s", words, rendered)
		}
	}
}

func musterSays(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(testbed.MusterPath(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("muster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func configMap(t *testing.T, rendered string) map[string]string {
	t.Helper()
	for _, object := range testbed.Objects(t, []byte(rendered)) {
		if object.GetKind() == "ConfigMap" {
			data, _, _ := unstructured.NestedStringMap(object.Object, "data")
			return data
		}
	}
	t.Fatalf("no ConfigMap in\n%s", rendered)
	return nil
}

func profilesOf(t *testing.T, config string) []string {
	t.Helper()
	var parsed struct {
		Profiles []struct{ SchedulerName string }
	}
	if err := yaml.Unmarshal([]byte(config), &parsed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, profile := range parsed.Profiles {
		names = append(names, profile.SchedulerName)
	}
	return names
}

// kubeconform -strict, against schemas of the real API server.
func TestChart_ConformsToTheAPISchemas(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	schemas := schemasOf(t, c)
	for name, values := range chartValues(t) {
		rendered := testbed.Render(t, values, "--include-crds")
		if out, err := kubeconform(t, schemas, rendered); err != nil {
			t.Errorf("values %s: %v\n%s", name, err, out)
		}
	}
	// The check can fail.
	rendered := testbed.Render(t, nil)
	for old, wrong := range map[string]string{
		"replicas: 1": "replicas: one", "automountServiceAccountToken: true": "automountToken: true"} {
		if out, err := kubeconform(t, schemas, strings.Replace(rendered, old, wrong, 1)); err == nil {
			t.Errorf("kubeconform accepts %q:\n%s", wrong, out)
		}
	}
}

func kubeconform(t *testing.T, schemas, text string) (string, error) {
	t.Helper()
	command := exec.Command(testbed.KubeconformPath(t), "-strict", "-summary", "-schema-location",
		filepath.Join(schemas, "{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json"))
	command.Stdin = strings.NewReader(text)
	out, err := command.CombinedOutput()
	return string(out), err
}

// schemasOf writes a JSON schema for each kind that the API server serves.
func schemasOf(t *testing.T, c *testbed.Cluster) (folder string) {
	t.Helper()
	reply, err := c.Plain.Get(c.URL + "/openapi/v2")
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("/openapi/v2: %v", err)
	}
	defer reply.Body.Close()
	var document struct {
		Definitions map[string]map[string]any
	}
	if err := json.NewDecoder(reply.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	for name, definition := range document.Definitions {
		makeStrict(definition)
		// The schema has strings there, but numbers are accepted, too.
		if strings.HasSuffix(name, ".api.resource.Quantity") || strings.HasSuffix(name, ".util.intstr.IntOrString") {
			definition["type"] = []string{"string", "number"}
		}
	}
	folder = t.TempDir()
	for name, definition := range document.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // a kind of many groups is not in manifests
		}
		kind := kinds[0].(map[string]any)
		group := kind["group"].(string)
		if group == "" {
			group = kind["version"].(string)
		}
		used := map[string]any{}
		collect(document.Definitions, name, used)
		text, err := json.Marshal(map[string]any{"$ref": "#/definitions/" + name, "definitions": used})
		if err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf("%s-%s-%s.json", strings.ToLower(kind["kind"].(string)), group, kind["version"])
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// makeStrict makes a schema refuse unknown fields.
func makeStrict(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) > 0 && schema["additionalProperties"] == nil {
		schema["additionalProperties"] = false
	}
	for _, property := range properties {
		makeStrict(property.(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			makeStrict(inner)
		}
	}
}

// collect finds the definitions that a definition needs.
func collect(all map[string]map[string]any, name string, used map[string]any) {
	if used[name] != nil {
		return
	}
	used[name] = all[name]
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if ref, ok := value["$ref"].(string); ok {
				collect(all, strings.TrimPrefix(ref, "#/definitions/"), used)
			}
			for _, inner := range value {
				walk(inner)
			}
		case []any:
			for _, inner := range value {
				walk(inner)
			}
		}
	}
	walk(map[string]any(all[name]))
}

// docs/reference/chart-values.md has a line for each value, with its default, and no other lines.
func TestChart_ReferenceNamesEveryValue(t *testing.T) {
	beside(t)
	var values map[string]any
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(testbed.Chart(t), "values.yaml"))), &values); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 && !slices.Contains(wholeValues, prefix) {
			for key, value := range inner {
				walk(strings.TrimPrefix(prefix+"."+key, "."), value)
			}
			return
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		want[prefix] = strings.Trim(string(text), `"`)
	}
	walk("", values)
	for _, line := range strings.Split(read(t, "../../../docs/reference/chart-values.md"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.HasPrefix(line, "| `") {
			continue
		}
		key, shown := strings.Trim(cells[1], " `"), strings.Trim(cells[3], " `")
		value, known := want[key]
		if !known {
			t.Errorf("chart-values.md describes %s, which is no value", key)
		} else if shown != value {
			t.Errorf("chart-values.md: %s is %s, not %s", key, value, shown)
		}
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("chart-values.md says nothing of %s", key)
		}
		delete(want, key)
	}
	for key := range want {
		t.Errorf("chart-values.md does not describe %s", key)
	}
}

// wholeValues are Kubernetes objects that README.md describes in one line.
var wholeValues = []string{"resources", "scheduler.resources", "nodeSelector"}

// charts/rbac.yaml, for users without Helm, is generated from the chart.
func TestChart_PlainRBACFileMatchesTheChart(t *testing.T) {
	beside(t)
	charts := filepath.Dir(testbed.Chart(t))
	command := exec.Command(filepath.Join(charts, "render-rbac"))
	command.Env = append(os.Environ(), "HELM="+testbed.HelmPath(t))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != read(t, filepath.Join(charts, "rbac.yaml")) {
		t.Errorf("charts/rbac.yaml is not what charts/render-rbac prints: run charts/render-rbac >charts/rbac.yaml")
	}
}

// The version of kube-scheduler follows the cluster's, whatever suffix the provider adds. The
// probes follow what that version supports.
func TestChart_SchedulerVersionFollowsTheCluster(t *testing.T) {
	beside(t)
	for version, want := range map[string][2]string{
		"v1.36.3":              {"kube-scheduler:v1.36.3", "/readyz"},
		"v1.33.4-gke.1036000":  {"kube-scheduler:v1.33.4", "/readyz"},
		"v1.31.13-eks-113cf36": {"kube-scheduler:v1.31.13", "/healthz"},
		"v1.32.9+k3s1":         {"kube-scheduler:v1.32.9", "/readyz"},
	} {
		out, stderr, err := testbed.Helm(t, "", "template", "muster", testbed.Chart(t), "--kube-version", version)
		if err != nil {
			t.Errorf("%s: %v %s", version, err, stderr)
			continue
		}
		if !strings.Contains(out, `image: "`+want[0]+`"`) || !strings.Contains(out, "path: "+want[1]+", port: scheduler") {
			t.Errorf("%s: no %v in\n%s", version, want, linesWith(out, "scheduler"))
		}
	}
	// A tag for the image takes precedence over the cluster's version.
	for tag, path := range map[string]string{
		"v1.30.4-eks-1-30-12": "/healthz",
		"v1.31":               "/healthz",
		"v1.36.0-team1":       "/readyz",
		"latest":              "/readyz",
	} {
		out, stderr, err := testbed.Helm(t, "", "template", "muster", testbed.Chart(t), "--kube-version", "v1.36.3",
			"--set-string", "scheduler.image.tag="+tag)
		if err != nil {
			t.Errorf("tag %s: %v %s", tag, err, stderr)
			continue
		}
		if !strings.Contains(out, "kube-scheduler:"+tag+`"`) || !strings.Contains(out, "path: "+path+", port: scheduler") {
			t.Errorf("tag %s: no probe of %s in\n%s", tag, path, linesWith(out, "scheduler"))
		}
	}
}

// What Helm prints after an installation.
func TestChart_NotesNameTheNextSteps(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	out, stderr, err := testbed.Helm(t, c.Kubeconfig(), "install", "muster", testbed.Chart(t), "--dry-run=server",
		"--namespace", testbed.MusterNamespace)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	_, notes, _ := strings.Cut(out, "NOTES:")
	for _, words := range []string{"kai-scheduler", "volcano", "names no registry", "image.registry", "scheduler.image.registry"} {
		if !strings.Contains(notes, words) {
			t.Errorf("the notes do not contain %q:\n%s", words, notes)
		}
	}
}
