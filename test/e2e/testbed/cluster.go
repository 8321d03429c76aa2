package testbed

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options choose the parts of a cluster.
type Options struct {
	// Kubernetes is the version of every component; if empty, Default.
	Kubernetes Kubernetes
	// Dialects are installed from the start.
	Dialects []Dialect
	// WithoutKWOK leaves pods Pending after they are bound.
	WithoutKWOK bool
	// WithoutControllers leaves out kube-controller-manager: no jobs, no quotas.
	WithoutControllers bool
	// WithoutRecorder leaves out the Recorder and its checks, for measurements that watch the
	// cluster themselves.
	WithoutRecorder bool
	// Features are alpha and beta features to turn on, in every component.
	Features []string
	// APIs are API groups that are not served by default, such as
	// "scheduling.k8s.io/v1alpha2".
	APIs []string
	// Own requests a control plane that no test has used, for measurements.
	Own bool
	// Dir is the folder for data and logs; a temporary folder by default.
	Dir string
}

// Cluster is an empty control plane. It ends with the test.
type Cluster struct {
	*plane
	Dir        string
	Kubernetes Kubernetes
	Recorder   *Recorder // nil without one

	features  []string
	processes []*Process
	operators map[string]int // number of processes, by name
	entitled  bool           // muster's account and role exist
}

// StartCluster starts kube-controller-manager and KWOK on an empty etcd and kube-apiserver. The
// test itself starts the scheduler and muster, because many tests are about when these start and
// stop.
func StartCluster(t TB, options Options) *Cluster {
	t.Helper()
	if options.Kubernetes == (Kubernetes{}) {
		options.Kubernetes = Default
	}
	c := &Cluster{Kubernetes: options.Kubernetes, features: gates(options.Features), operators: map[string]int{}}
	c.openFolder(t, options.Dir)
	begin := time.Now()
	c.plane = takePlane(t, options)
	writeKubeconfig(t, c.Dir, "admin", c.URL, administrator.token, c.authority.PEM)
	if !options.WithoutControllers {
		c.StartControllers(t)
	}
	if !options.WithoutKWOK {
		c.startKWOK(t)
	}
	if !options.WithoutRecorder {
		c.Recorder = startRecorder(t, c.Kube)
	}
	t.Logf("%s Kubernetes %s is up after %.1f s (%s)", c.Dir, c.Kubernetes.Version,
		time.Since(begin).Seconds(), c.URL)
	return c
}

// openFolder makes the cluster's folder. After a failed test, it keeps the logs and prints the end
// of each.
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

// gates are the arguments that turn features on.
func gates(features []string) []string {
	if len(features) == 0 {
		return nil
	}
	return []string{"--feature-gates", strings.Join(features, "=true,") + "=true"}
}

// usualControllers are the controllers that most scenarios need.
var usualControllers = []string{
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

// StartControllers starts kube-controller-manager with the usual controllers.
func (c *Cluster) StartControllers(t TB) {
	t.Helper()
	c.StartControllersNamed(t, usualControllers...)
}

// StartControllersNamed starts another kube-controller-manager, which runs only these controllers.
func (c *Cluster) StartControllersNamed(t TB, controllers ...string) {
	t.Helper()
	c.run(t, "kube-controller-manager", tool(t, "kube-controller-manager", c.Kubernetes.Version),
		"--kubeconfig", c.Kubeconfig(),
		"--controllers", strings.Join(controllers, ","),
		"--secure-port", "0",
		"--leader-elect=false",
		"--service-account-private-key-file", filepath.Join(c.folder, "accounts.key"),
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

// soon is the time limit of a single call to the API server.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}
