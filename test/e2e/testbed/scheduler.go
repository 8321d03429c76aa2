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
	// Muster is the extender; nil: the stock scheduler.
	Muster *Muster
	// Profiles are the names of the scheduler's profiles. With muster, the default is what
	// `muster scheduler-config` prints, so that manifests for other schedulers run unchanged.
	Profiles []string
	// Through is a proxy between the scheduler and muster.
	Through *VerbProxy
	// WholeNodes registers muster with nodeCacheCapable: false.
	WholeNodes bool
	// Percentage is percentageOfNodesToScore; 0: the scheduler's default.
	Percentage int
	// InitialBackoff and MaxBackoff are podInitialBackoffSeconds and podMaxBackoffSeconds; 0: the
	// scheduler's defaults.
	InitialBackoff, MaxBackoff int
	// NoWait returns at once, before the scheduler is ready.
	NoWait bool
	// Log names the log file: "kube-scheduler" by default.
	Log string
}

// stockConfiguration is the configuration of a scheduler without muster.
const stockConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`

// StartScheduler starts a kube-scheduler of the cluster's version. With muster, it uses the
// configuration that `muster scheduler-config` prints, so that the tests use what users are told to
// use.
func (c *Cluster) StartScheduler(t TB, options SchedulerOptions) *Process {
	t.Helper()
	if options.Log == "" {
		options.Log = "kube-scheduler"
	}
	configuration := c.schedulerConfiguration(t, options)
	p, ready := c.runScheduler(t, options.Log, profilesOf(t, configuration), append(slices.Clone(c.features),
		"--config", file(t, c.Dir, options.Log+".yaml", configuration),
		"--cert-dir", c.Dir)) // for its self-signed certificate
	if !options.NoWait {
		ready()
	}
	return p
}

// RunScheduler starts a kube-scheduler with these arguments on a port of its own, and waits until
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

// runScheduler also returns a function that waits until it is ready; names are the names of its
// profiles.
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
		// Its certificate is self-signed, and no client here verifies it.
		p.waitReady(t, unverified, url+"/readyz", 30*time.Second)
	}
}

// SchedulerKubeconfig is a kubeconfig of the cluster's kube-scheduler, with its usual rights.
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
		t.Fatalf("the scheduler configuration is not YAML: %v\n%s", err, text)
	}
	// What the owner of a cluster may add.
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
			t.Fatalf("want one extender in\n%s", text)
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

// SchedulerConfiguration is the output of `muster scheduler-config`.
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

// ExtenderTimeout is how long the scheduler waits for an answer: the httpTimeout that
// `muster scheduler-config` prints.
const ExtenderTimeout = 30 * time.Second

// unverified accepts any certificate.
var unverified = &http.Client{Transport: &http.Transport{TLSClientConfig: insecureTLS()}}

// profilesOf are the names of the profiles in a configuration.
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
