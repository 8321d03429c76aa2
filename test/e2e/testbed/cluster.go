package testbed

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options choose what a cluster consists of.
type Options struct {
	// Kubernetes is the version of every component; the newest one by default.
	Kubernetes Kubernetes
	// Dialects whose CRDs are installed from the start.
	Dialects []Dialect
	// WithoutKWOK leaves pods Pending after they are bound.
	WithoutKWOK bool
	// WithoutControllers leaves out kube-controller-manager: no jobs, no quotas.
	WithoutControllers bool
	// WithoutRecorder leaves out the Recorder and its checks: a measurement watches
	// what it measures, and nothing else takes part.
	WithoutRecorder bool
	// Features are alpha and beta features to turn on, in every component.
	Features []string
	// APIs are API groups that are not served by default, such as
	// "scheduling.k8s.io/v1alpha2".
	APIs []string
	// Dir is where data and logs go; a temporary folder by default.
	Dir string
}

// NativeGangs are the Features of Kubernetes' own gangs; they need the API scheduling.k8s.io/v1alpha2.
var NativeGangs = []string{
	"GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption",
}

// Cluster is a control plane of its own. It ends with the test.
type Cluster struct {
	Clients
	Dir        string
	Kubernetes Kubernetes
	Recorder   *Recorder // nil without one
	APIServer  *Process
	Etcd       *Process

	authority *authority
	features  []string
	processes []*Process
	operators map[string]int // processes of each, by name
	entitled  bool           // muster's account and role are there
}

// StartCluster starts etcd, kube-apiserver, kube-controller-manager and KWOK.
// The scheduler and muster are started by the test: when they come and go is
// what many tests are about.
func StartCluster(t TB, options Options) *Cluster {
	t.Helper()
	if options.Kubernetes == (Kubernetes{}) {
		options.Kubernetes = Newest
	}
	c := &Cluster{Kubernetes: options.Kubernetes, authority: newAuthority(t), features: gates(options.Features),
		operators: map[string]int{}}
	c.openFolder(t, options.Dir)
	begin := time.Now()
	etcdURL := c.startEtcd(t)
	c.startAPIServer(t, etcdURL, options.APIs)
	writeKubeconfig(t, c.Dir, "admin", c.URL, administrator.token, c.authority.PEM)
	if !options.WithoutControllers {
		c.startControllers(t)
	}
	if !options.WithoutKWOK {
		c.startKWOK(t)
	}
	for _, dialect := range options.Dialects {
		c.InstallCRDs(t, dialect)
	}
	if !options.WithoutRecorder {
		c.Recorder = startRecorder(t, c.Kube)
	}
	t.Logf("%s Kubernetes %s is up after %.1f s (%s)", c.Dir, c.Kubernetes.Version,
		time.Since(begin).Seconds(), c.URL)
	return c
}

// openFolder makes the cluster's folder; after a failed test its logs stay and
// their ends are shown.
func (c *Cluster) openFolder(t TB, folder string) {
	t.Helper()
	temporary := folder == ""
	if temporary {
		var err error
		folder, err = os.MkdirTemp("", "muster-e2e-")
		if err != nil {
			t.Fatalf("%v", err)
		}
	} else if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	c.Dir = folder
	t.Cleanup(func() {
		if t.Failed() {
			for _, p := range c.processes {
				t.Logf("---- end of %s\n%s", p.LogFile, p.LogTail(25))
			}
		} else if temporary {
			_ = os.RemoveAll(folder)
		}
	})
}

// run starts a program of this cluster.
func (c *Cluster) run(t TB, name, path string, args ...string) *Process {
	t.Helper()
	return c.runCommand(t, name, exec.Command(path, args...))
}

func (c *Cluster) runCommand(t TB, name string, command *exec.Cmd) *Process {
	t.Helper()
	p := startProcess(t, c.Dir, name, command)
	c.processes = append(c.processes, p)
	return p
}

func (c *Cluster) startEtcd(t TB) (url string) {
	t.Helper()
	url = fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	peer := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	c.Etcd = c.run(t, "etcd", tool(t, "etcd", etcdVersion),
		"--data-dir", filepath.Join(c.Dir, "etcd"),
		"--unsafe-no-fsync",
		"--log-level", "error",
		"--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer,
		"--quota-backend-bytes", "4294967296")
	c.Etcd.waitReady(t, http.DefaultClient, url+"/health", 20*time.Second)
	return url
}

// gates turns features on.
func gates(features []string) []string {
	if len(features) == 0 {
		return nil
	}
	return []string{"--feature-gates", strings.Join(features, "=true,") + "=true"}
}

func (c *Cluster) startAPIServer(t TB, etcdURL string, apis []string) {
	t.Helper()
	port := freePort(t)
	certificate, key := c.authority.serve(t)
	_, accountKey := newKey(t)
	accounts := file(t, c.Dir, "accounts.key", accountKey)
	c.Clients = newClients(t, fmt.Sprintf("https://127.0.0.1:%d", port), administrator.token, c.authority.PEM)
	arguments := c.features
	if len(apis) > 0 {
		arguments = append(slices.Clone(arguments), "--runtime-config", strings.Join(apis, "=true,")+"=true")
	}
	command := exec.Command(tool(t, "kube-apiserver", c.Kubernetes.Version), append(arguments,
		"--etcd-servers", etcdURL,
		"--bind-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(port),
		"--tls-cert-file", file(t, c.Dir, "apiserver.crt", certificate),
		"--tls-private-key-file", file(t, c.Dir, "apiserver.key", key),
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", accounts,
		"--service-account-signing-key-file", accounts,
		"--service-cluster-ip-range", "10.96.0.0/16",
		"--token-auth-file", tokenFile(t, c.Dir),
		"--authorization-mode", "RBAC",
		// Pods here mount no account tokens, and the nodes have no kubelet.
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition",
		"--endpoint-reconciler-type", "none",
		"--max-requests-inflight", "3000",
		"--max-mutating-requests-inflight", "1000")...)
	// Two cores carry everything: memory is cheaper here than time for collecting garbage.
	command.Env = append(os.Environ(), "GOGC=400")
	c.APIServer = c.runCommand(t, "kube-apiserver", command)
	c.APIServer.waitReady(t, c.Plain, c.URL+"/readyz", 60*time.Second)
}

// controllers are those that the scenarios' objects need.
var controllers = []string{
	"job-controller",
	"cronjob-controller",
	"deployment-controller",
	"replicaset-controller",
	"statefulset-controller",
	"resourcequota-controller",
	"namespace-controller",
	"garbage-collector-controller",
	"ttl-after-finished-controller",
}

func (c *Cluster) startControllers(t TB) {
	t.Helper()
	c.run(t, "kube-controller-manager", tool(t, "kube-controller-manager", c.Kubernetes.Version),
		"--kubeconfig", c.Kubeconfig(),
		"--controllers", strings.Join(controllers, ","),
		"--secure-port", "0",
		"--leader-elect=false",
		"--service-account-private-key-file", filepath.Join(c.Dir, "accounts.key"),
		"--concurrent-job-syncs", "20",
		"--kube-api-qps", "2000", "--kube-api-burst", "2000")
}

// Metrics reads the API server's metrics.
func (c *Cluster) Metrics(t TB) Metrics {
	t.Helper()
	status, body, err := get(c.Plain, c.URL+"/metrics")
	if err != nil || status != http.StatusOK {
		t.Fatalf("metrics of kube-apiserver: %d %v", status, err)
	}
	return parseMetrics(body)
}

// soon is the deadline of a single call to the API server.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}
