package testbed

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// SchedulerOptions choose how a kube-scheduler is started.
type SchedulerOptions struct {
	// Muster is the extender; without it the scheduler is the stock one.
	Muster *Muster
	// Profiles are the scheduler names to serve. With muster, the default are those that
	// `muster scheduler-config` prints: manifests for other schedulers run unchanged.
	Profiles []string
	// Through is a proxy to reach muster through.
	Through *VerbProxy
	// WholeNodes registers muster with nodeCacheCapable: false.
	WholeNodes bool
	// Percentage is percentageOfNodesToScore; 0 leaves it to the scheduler.
	Percentage int
	// InitialBackoff and MaxBackoff are podInitialBackoffSeconds and
	// podMaxBackoffSeconds; 0 leaves them to the scheduler.
	InitialBackoff, MaxBackoff int
	// NoWait returns at once, not when it is ready.
	NoWait bool
	// Log names the log file: "kube-scheduler" by default.
	Log string
}

// stockConfiguration is what a scheduler without muster gets.
const stockConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`

// StartScheduler starts a kube-scheduler of the cluster's version. With muster,
// its configuration is the one that `muster scheduler-config` prints, so that
// what users are told to use is what is tested.
func (c *Cluster) StartScheduler(t TB, options SchedulerOptions) *Process {
	t.Helper()
	if options.Log == "" {
		options.Log = "kube-scheduler"
	}
	configuration := c.schedulerConfiguration(t, options)
	p, ready := c.runScheduler(t, options.Log, profilesOf(t, configuration), append(slices.Clone(c.features),
		"--config", file(t, c.Dir, options.Log+".yaml", configuration),
		"--cert-dir", c.Dir)) // for the certificate that it signs itself
	if !options.NoWait {
		ready()
	}
	return p
}

// RunScheduler starts a kube-scheduler with these arguments, on a port of its own, and waits until
// it is ready.
func (c *Cluster) RunScheduler(t TB, log string, args ...string) *Process {
	t.Helper()
	var names []string
	for _, arg := range args {
		if path, found := strings.CutPrefix(arg, "--config="); found {
			configuration, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v", err)
			}
			names = profilesOf(t, configuration)
		}
	}
	p, ready := c.runScheduler(t, log, names, args)
	ready()
	return p
}

// runScheduler also returns what waits until it is ready; names are those of its profiles.
func (c *Cluster) runScheduler(t TB, log string, names, args []string) (p *Process, ready func()) {
	t.Helper()
	port := freePort(t)
	p = c.run(t, log, tool(t, "kube-scheduler", c.Kubernetes.Version), append(slices.Clone(args),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "-v=2",
		// The test bed reads its metrics.
		"--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics")...)
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	if c.Recorder != nil {
		c.Recorder.serves(served{Process: p, url: url, names: names})
	}
	return p, func() {
		t.Helper()
		// It signs its own certificate, which nobody needs to trust here.
		p.waitReady(t, unverified, url+"/readyz", 30*time.Second)
	}
}

// SchedulerKubeconfig is a kubeconfig of the cluster's kube-scheduler, with the rights that it has
// everywhere.
func (c *Cluster) SchedulerKubeconfig(t TB) string {
	t.Helper()
	return writeKubeconfig(t, c.Dir, "scheduler", c.URL, schedulerUser.token, c.authority.PEM)
}

func (c *Cluster) schedulerConfiguration(t TB, options SchedulerOptions) []byte {
	t.Helper()
	text := []byte(stockConfiguration)
	if options.Muster != nil {
		text = options.Muster.SchedulerConfiguration(t, options.Profiles...)
	}
	var configuration map[string]any
	if err := yaml.Unmarshal(text, &configuration); err != nil {
		t.Fatalf("the scheduler configuration is no YAML: %v\n%s", err, text)
	}
	// What a cluster's owner adds.
	configuration["clientConnection"] = map[string]any{
		"kubeconfig": writeKubeconfig(t, c.Dir, options.Log, c.URL, schedulerUser.token, c.authority.PEM),
		"qps":        5000,
		"burst":      5000,
	}
	configuration["leaderElection"] = map[string]any{"leaderElect": false}
	for name, seconds := range map[string]int{
		"podInitialBackoffSeconds": options.InitialBackoff, "podMaxBackoffSeconds": options.MaxBackoff} {
		if seconds > 0 {
			configuration[name] = seconds
		}
	}
	if options.Percentage > 0 {
		configuration["percentageOfNodesToScore"] = options.Percentage
	}
	if options.Muster == nil && len(options.Profiles) > 0 {
		var profiles []any
		for _, name := range options.Profiles {
			profiles = append(profiles, map[string]any{"schedulerName": name})
		}
		configuration["profiles"] = profiles
	}
	if options.Through != nil || options.WholeNodes {
		extenders, _ := configuration["extenders"].([]any)
		if len(extenders) != 1 {
			t.Fatalf("one extender expected in\n%s", text)
		}
		extender := extenders[0].(map[string]any)
		if options.Through != nil {
			extender["urlPrefix"] = options.Through.URL + "/scheduler"
		}
		if options.WholeNodes {
			extender["nodeCacheCapable"] = false
		}
	}
	result, err := yaml.Marshal(configuration)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return result
}

// SchedulerConfiguration is what `muster scheduler-config` prints.
func (m *Muster) SchedulerConfiguration(t TB, profiles ...string) []byte {
	t.Helper()
	args := []string{"scheduler-config", "--config", m.ConfigFile}
	for _, profile := range profiles {
		args = append(args, "--profile", profile)
	}
	out, err := exec.Command(m.Binary, args...).Output()
	if err != nil {
		t.Fatalf("muster scheduler-config: %v\n%s", err, stderrOf(err))
	}
	return out
}

// ExtenderTimeout is how long the scheduler waits for an answer: the httpTimeout
// that muster scheduler-config prints.
const ExtenderTimeout = 30 * time.Second

// unverified takes any certificate.
var unverified = &http.Client{Transport: &http.Transport{TLSClientConfig: insecureTLS()}}

// profilesOf are the scheduler names that a configuration serves.
func profilesOf(t TB, configuration []byte) []string {
	t.Helper()
	var read struct {
		Profiles []struct {
			SchedulerName string `json:"schedulerName"`
		} `json:"profiles"`
	}
	if err := yaml.Unmarshal(configuration, &read); err != nil {
		t.Fatalf("%v", err)
	}
	names := []string{}
	for _, profile := range read.Profiles {
		names = append(names, profile.SchedulerName)
	}
	if len(names) == 0 {
		names = append(names, corev1.DefaultSchedulerName)
	}
	return names
}
