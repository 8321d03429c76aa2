package testbed

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Operator is a controller that creates pods for a kind of its own. It is the real program, and
// runs as a plain process here.
type Operator struct {
	name, version string
	// serves are the resources of its CRDs that the scenarios use.
	serves []schema.GroupVersionResource
	// guarded is the label of the pods that its webhook for pods handles; empty: it runs without
	// webhooks.
	guarded string
	// silent: it has no address for health checks.
	silent bool
	// arguments are its flags. The other functions do what its Deployment would do: prepare before
	// it starts, attend while it starts (both may be nil).
	arguments       func(s *site) []string
	prepare, attend func(t TB, c *Cluster, s *site)
}

// site is where one process of an operator runs.
type site struct {
	number         int // 1 is the first of this operator in the cluster
	folder         string
	namespace      string // the namespace of its objects; empty: all
	health, secure int    // ports
	config         map[string]any
	configFile     string
	urls           []string // the URLs of its webhooks
}

// The operators, in the versions that build-tools builds.
var (
	// The webhook of KubeRay only validates, and is off by default.
	KubeRay = Operator{name: "kuberay", version: "v1.4.2",
		serves: []schema.GroupVersionResource{
			{Group: "ray.io", Version: "v1", Resource: "rayclusters"},
			{Group: "ray.io", Version: "v1", Resource: "rayjobs"},
			{Group: "ray.io", Version: "v1", Resource: "rayservices"},
		},
		arguments: func(s *site) []string {
			return []string{"--metrics-addr", "0", "--enable-leader-election=false",
				"--health-probe-bind-address", address(s.health), "--watch-namespace", s.namespace}
		},
	}
	// JobSet and LeaderWorkerSet need their webhooks, which fill in defaults.
	JobSet = Operator{name: "jobset", version: "v0.10.1", guarded: "jobset.sigs.k8s.io/jobset-name",
		serves:    []schema.GroupVersionResource{{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}},
		prepare:   configured("config.jobset.x-k8s.io/v1alpha1"),
		arguments: func(s *site) []string { return []string{"--config", s.configFile} },
	}
	LeaderWorkerSet = Operator{name: "lws", version: "v0.7.0", guarded: "leaderworkerset.sigs.k8s.io/name",
		serves: []schema.GroupVersionResource{
			{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}},
		prepare:   configured("config.lws.x-k8s.io/v1alpha1"),
		arguments: func(s *site) []string { return []string{"--config", s.configFile} },
	}
	// MPIOperator has no webhooks and always uses leader election.
	MPIOperator = Operator{name: "mpi-operator", version: "v0.6.0", silent: true,
		serves: []schema.GroupVersionResource{{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}},
		arguments: func(s *site) []string {
			lock := s.namespace
			if lock == "" {
				lock = metav1.NamespaceDefault
			}
			return []string{"--namespace", s.namespace, "--lock-namespace", lock,
				"--kube-api-qps", "100", "--kube-api-burst", "200"}
		},
	}
	// TrainingOperator does not start before its webhooks have certificates. The webhooks only
	// validate, so it gets the certificates, but the webhooks are not registered.
	TrainingOperator = Operator{name: "training-operator", version: "v1.8.1",
		serves: []schema.GroupVersionResource{
			{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"},
			{Group: "kubeflow.org", Version: "v1", Resource: "tfjobs"},
			{Group: "kubeflow.org", Version: "v1", Resource: "xgboostjobs"},
		},
		prepare: addCertificateObjects,
		attend:  mountCertificates,
		arguments: func(s *site) []string {
			return []string{"--metrics-bind-address", "0", "--health-probe-bind-address", address(s.health),
				"--webhook-server-port", fmt.Sprint(s.secure), "--namespace", s.namespace,
				// Both operators serve MPIJob; the kind v1 is out of use.
				"--enable-scheme=pytorchjob", "--enable-scheme=tfjob", "--enable-scheme=xgboostjob"}
		},
	}
)

// OperatorNamed finds an operator by the name of its program.
func OperatorNamed(t TB, name string) Operator {
	t.Helper()
	var names []string
	for _, o := range []Operator{KubeRay, JobSet, LeaderWorkerSet, MPIOperator, TrainingOperator} {
		if o.name == name {
			return o
		}
		names = append(names, o.name)
	}
	t.Fatalf("operator %q does not exist; the operators are %s", name, strings.Join(names, ", "))
	return Operator{}
}

// OperatorOptions choose how an operator is started.
type OperatorOptions struct {
	// Namespace is the only namespace that it manages; all by default.
	Namespace string
	// Arguments are added to its command line, Config to its configuration file.
	Arguments []string
	Config    map[string]any
}

// StartOperator installs an operator's CRDs and starts it. Several processes of one operator may
// run at the same time, each with its own namespace.
func (c *Cluster) StartOperator(t TB, o Operator, options OperatorOptions) *Process {
	t.Helper()
	path := tool(t, o.name, o.version)
	c.operators[o.name]++
	s := &site{number: c.operators[o.name], folder: filepath.Join(c.Dir, o.name),
		namespace: options.Namespace, health: freePort(t), secure: freePort(t), config: options.Config}
	name := fmt.Sprintf("%s-%d", o.name, s.number)
	s.configFile = filepath.Join(c.Dir, name+".yaml")
	if s.number == 1 {
		c.installOperator(t, o, path+".manifests")
	}
	if o.prepare != nil {
		o.prepare(t, c, s)
	}
	if o.guarded != "" {
		c.installWebhooks(t, o, s, path+".manifests")
	}
	command := exec.Command(path, append(o.arguments(s), options.Arguments...)...)
	command.Env = []string{"KUBECONFIG=" + c.Kubeconfig(), "HOME=" + c.Dir, "TMPDIR=" + s.folder,
		"MY_POD_NAMESPACE=" + metav1.NamespaceDefault}
	p := c.runCommand(t, name, command)
	o.waitReady(t, c, p, s)
	return p
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// waitReady waits for the health check and the webhooks. It does not wait for an operator without
// an address, which works whenever it is up.
func (o Operator) waitReady(t TB, c *Cluster, p *Process, s *site) {
	t.Helper()
	if o.attend != nil {
		o.attend(t, c, s)
	}
	if !o.silent {
		p.waitReady(t, http.DefaultClient, "http://"+address(s.health)+"/readyz", time.Minute)
	}
	for _, url := range s.urls { // after that, they come up one by one
		eventually(t, fmt.Sprintf("%s answers at %s", o.name, url), func() error {
			status, _, err := get(c.Plain, url)
			if err == nil && status == http.StatusNotFound {
				return fmt.Errorf("the webhook is not up")
			}
			return err
		})
	}
}

// installOperator installs the CRDs and waits until the API server serves them.
func (c *Cluster) installOperator(t TB, o Operator, manifests string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: run test/e2e/build-tools (%v)", manifests, err)
	}
	for _, path := range files {
		if filepath.Base(path) != webhookManifest {
			c.ApplyFile(t, path)
		}
	}
	for _, resource := range o.serves {
		eventually(t, fmt.Sprintf("%s is served", resource), func() error {
			ctx, cancel := soon()
			defer cancel()
			_, err := c.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
			return err
		})
	}
}

// configured writes the configuration file for JobSet and LeaderWorkerSet, with certificates of the
// cluster's own authority.
func configured(apiVersion string) func(t TB, c *Cluster, s *site) {
	return func(t TB, c *Cluster, s *site) {
		t.Helper()
		c.writeCertificates(t, s.folder)
		config := map[string]any{
			"apiVersion": apiVersion, "kind": "Configuration",
			"leaderElection":         map[string]any{"leaderElect": false},
			"internalCertManagement": map[string]any{"enable": false},
			"metrics":                map[string]any{"bindAddress": "0"},
			"health":                 map[string]any{"healthProbeBindAddress": address(s.health)},
			"webhook":                map[string]any{"host": "127.0.0.1", "port": s.secure, "certDir": s.folder},
			"clientConnection":       map[string]any{"qps": 500, "burst": 500},
		}
		maps.Copy(config, s.config)
		text, err := yaml.Marshal(config)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(s.configFile, text, 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func (c *Cluster) writeCertificates(t TB, folder string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	certificate, key := c.authority.serve(t)
	file(t, folder, "tls.crt", certificate)
	file(t, folder, "tls.key", key)
}

// webhookManifest is the name that controller-gen gives to the file with all webhooks.
const webhookManifest = "manifests.yaml"

// installWebhooks registers the webhooks of an operator with this machine's address. A webhook for
// pods gets only the operator's own pods, as in the operator's own installation.
func (c *Cluster) installWebhooks(t TB, o Operator, s *site, manifests string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, webhookManifest))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, object := range Objects(t, text) {
		object.SetName(o.name + "-" + object.GetName())
		for _, webhook := range webhooksOf(t, object) {
			path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path")
			webhook["clientConfig"] = map[string]any{
				"url":      fmt.Sprintf("https://%s%s", address(s.secure), path),
				"caBundle": base64.StdEncoding.EncodeToString(c.authority.PEM),
			}
			if aboutPods(webhook) {
				webhook["objectSelector"] = map[string]any{"matchExpressions": []any{
					map[string]any{"key": o.guarded, "operator": "Exists"}}}
			}
			s.urls = append(s.urls, fmt.Sprintf("https://%s%s", address(s.secure), path))
		}
		c.Add(t, object)
	}
}

func webhooksOf(t TB, object *unstructured.Unstructured) []map[string]any {
	t.Helper()
	list, _ := object.Object["webhooks"].([]any)
	if len(list) == 0 {
		t.Fatalf("%s %s has no webhooks", object.GetKind(), object.GetName())
	}
	var webhooks []map[string]any
	for _, each := range list {
		webhooks = append(webhooks, each.(map[string]any))
	}
	return webhooks
}

func aboutPods(webhook map[string]any) bool {
	rules, _ := webhook["rules"].([]any)
	for _, rule := range rules {
		resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
		for _, resource := range resources {
			if resource == "pods" {
				return true
			}
		}
	}
	return false
}

// What the Deployment of training-operator mounts, and where: relative to the cluster's folder, see
// build-tools.
const (
	certificateSecret = "training-operator-webhook-cert"
	certificateFolder = "k8s-webhook-server/serving-certs"
)

// addCertificateObjects creates the objects in which training-operator keeps its certificates.
func addCertificateObjects(t TB, c *Cluster, s *site) {
	t.Helper()
	if s.number > 1 {
		return // the second process shares them, as replicas do
	}
	if err := os.MkdirAll(filepath.Join(s.folder, certificateFolder), 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	ctx, cancel := soon()
	defer cancel()
	_, err := c.Kube.CoreV1().Secrets(metav1.NamespaceDefault).Create(ctx,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: certificateSecret}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.Add(t, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "validator.training-operator.kubeflow.org"},
	}})
}

// mountCertificates acts as kubelet: it writes the Secret that training-operator fills into the
// folder from which training-operator reads it.
func mountCertificates(t TB, c *Cluster, s *site) {
	t.Helper()
	eventually(t, "training-operator has made its certificates", func() error {
		ctx, cancel := soon()
		defer cancel()
		secret, err := c.Kube.CoreV1().Secrets(metav1.NamespaceDefault).Get(ctx, certificateSecret, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(secret.Data["tls.crt"]) == 0 {
			return fmt.Errorf("its Secret is empty")
		}
		for _, name := range []string{"tls.key", "tls.crt"} {
			file(t, filepath.Join(s.folder, certificateFolder), name, secret.Data[name])
		}
		return nil
	})
}
