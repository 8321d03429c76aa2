package testbed

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// MusterOptions choose how muster is started.
type MusterOptions struct {
	// Config is added to the configuration file.
	Config map[string]any
	// Through is a proxy between muster and the API server.
	Through *FaultProxy
	// Express opens the express lane. muster then reads the scheduler configuration that it prints.
	Express bool
	// Measured selects the release build, see musterBinary.
	Measured bool
	// NoWait returns at once, before muster is ready.
	NoWait bool
	// Installed uses the account and the configuration of an installed chart unchanged.
	Installed *Installation
}

// Muster is the program under test. It runs as the chart's service account, with only the rights of
// the chart's role.
type Muster struct {
	*Process
	Verbs, Ops string // addresses
	ConfigFile string
	Binary     string
	Recordings []string // one for each start; none if it is measured

	cluster    *Cluster
	kubeconfig string
	measured   bool
}

// StartMuster starts muster and waits until it is ready.
func (c *Cluster) StartMuster(t TB, options MusterOptions) *Muster {
	t.Helper()
	m := &Muster{
		cluster: c,
		Binary:  musterBinary(t, options.Measured),
		Verbs:   fmt.Sprintf("127.0.0.1:%d", freePort(t)),
		Ops:     fmt.Sprintf("127.0.0.1:%d", freePort(t)),
	}
	url, authorityPEM := c.URL, c.authority.PEM
	if options.Through != nil {
		url = options.Through.URL
	}
	if options.Installed != nil {
		m.Verbs, m.Ops = options.Installed.Verbs, options.Installed.Ops
		m.kubeconfig = writeKubeconfig(t, c.Dir, "muster", url, options.Installed.Token(t), authorityPEM)
		m.ConfigFile = file(t, c.Dir, "muster.yaml", []byte(options.Installed.MusterConfig))
	} else {
		m.kubeconfig = writeKubeconfig(t, c.Dir, "muster", url, c.musterToken(t), authorityPEM)
		m.ConfigFile = m.writeConfig(t, options.Config)
		if options.Express {
			m.openExpress(t, options.Config)
		}
	}
	m.measured = options.Measured
	if c.Recorder != nil {
		c.Recorder.asks(m)
	}
	t.Cleanup(func() { m.Replay(t) }) // after it has stopped
	m.run(t)
	if !options.NoWait {
		m.WaitReady(t)
	}
	return m
}

func (m *Muster) writeConfig(t TB, more map[string]any) string {
	t.Helper()
	config := map[string]any{"listen": m.Verbs, "opsListen": m.Ops}
	for key, value := range more {
		config[key] = value
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return file(t, m.cluster.Dir, "muster.yaml", text)
}

// openExpress writes the configuration again, with the express lane and with the scheduler
// configuration file that muster prints for the first one.
func (m *Muster) openExpress(t TB, more map[string]any) {
	t.Helper()
	config := map[string]any{
		"expressLane":         true,
		"kubeSchedulerConfig": file(t, m.cluster.Dir, "scheduler-of-muster.yaml", m.SchedulerConfiguration(t)),
	}
	maps.Copy(config, more)
	m.ConfigFile = m.writeConfig(t, config)
}

// musterToken applies the chart's role, once in a cluster, and requests a token of its account.
func (c *Cluster) musterToken(t TB) string {
	t.Helper()
	if !c.entitled {
		c.Apply(t, musterRights(t))
		c.entitled = true
	}
	return c.AccountToken(t, MusterNamespace, "muster")
}

// AccountToken requests a token of a service account.
func (c *Cluster) AccountToken(t TB, namespace, account string) string {
	t.Helper()
	ctx, cancel := soon()
	defer cancel()
	day := int64(24 * 60 * 60)
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day},
	}
	reply, err := c.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("token for %s/%s: %v", namespace, account, err)
	}
	return reply.Status.Token
}

// Start runs muster (again) and waits until it is ready.
func (m *Muster) Start(t TB) {
	t.Helper()
	m.run(t)
	m.WaitReady(t)
}

// WaitReady waits until muster reports that it is ready.
func (m *Muster) WaitReady(t TB) {
	t.Helper()
	m.waitReady(t, http.DefaultClient, "http://"+m.Ops+"/readyz", 30*time.Second)
}

func (m *Muster) run(t TB) {
	t.Helper()
	args := []string{"serve", "--config", m.ConfigFile, "--kubeconfig", m.kubeconfig}
	if !m.measured {
		name := fmt.Sprintf("recording-%s-%d.jsonl", strings.ReplaceAll(m.Verbs, ":", "-"), len(m.Recordings))
		recording := filepath.Join(m.cluster.Dir, name)
		m.Recordings = append(m.Recordings, recording)
		args = append(args, "--record", recording)
	}
	m.Process = m.cluster.run(t, "muster", m.Binary, args...)
	t.Cleanup(func() { // before the process is killed; also after a restart
		if m.Running() {
			m.Stop(t)
		}
	})
}

// Stop ends muster as an operator would: it must answer its held calls and exit.
func (m *Muster) Stop(t TB) {
	t.Helper()
	if err := m.Terminate(10 * time.Second); err != nil {
		t.Errorf("%v\n%s", err, m.LogTail(20))
	}
}

// Replay replays every recording of this muster: the decisions must be the same. A recording that a
// kill truncated is replayed up to its end. Replay skips a recording without a single line.
func (m *Muster) Replay(t TB) {
	t.Helper()
	for i, recording := range m.Recordings {
		if info, err := os.Stat(recording); err == nil && info.Size() == 0 && i < len(m.Recordings)-1 {
			continue
		}
		out, err := exec.Command(m.Binary, "replay", recording).CombinedOutput()
		if err != nil {
			t.Errorf("muster replay %s: %v\n%s", recording, err, out)
		}
	}
}

// Gang is a gang in the reply of GET /api/v1/gangs.
type Gang struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Group     string `json:"apiGroup"`
	State     string `json:"state"`
	Reason    struct {
		Code string `json:"code"`
		Text string `json:"text"`
	} `json:"reason"`
	Needed  int `json:"needed"`
	Members int `json:"members"`
	Bound   int `json:"bound"`
	Running int `json:"running"`
	Held    int `json:"held"`
	Planned int `json:"planned"`
	// Pods are only in the reply for a single gang.
	Pods []Member `json:"pods"`
}

// Member is a pod of a gang: the node that it is bound to, and the node of its slot.
type Member struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Node  string `json:"node"`
	Slot  string `json:"slot"`
}

// Gangs reads muster's gangs.
func (m *Muster) Gangs(t TB) []Gang {
	t.Helper()
	return everyPage[Gang](t, m, "gangs")
}

// everyPage reads all pages of a list.
func everyPage[T any](t TB, m *Muster, what string) (items []T) {
	t.Helper()
	for path := "/api/v1/" + what; ; {
		var page map[string]json.RawMessage
		var some []T
		var metadata struct {
			Continue string `json:"continue"`
		}
		if !m.ask(t, path, &page) {
			t.Fatalf("GET %s: not found", path)
		}
		if err := errors.Join(json.Unmarshal(page[what], &some), json.Unmarshal(page["metadata"], &metadata)); err != nil {
			t.Fatalf("GET %s: %v", path, err)
		}
		items = append(items, some...)
		if metadata.Continue == "" {
			return items
		}
		path = "/api/v1/" + what + "?continue=" + url.QueryEscape(metadata.Continue)
	}
}

// Gang finds one gang; it is zero if muster does not know the gang.
func (m *Muster) Gang(t TB, namespace, name string) Gang {
	t.Helper()
	for _, gang := range m.Gangs(t) {
		if gang.Namespace == namespace && gang.Name == name {
			return gang
		}
	}
	return Gang{}
}

// GangPods reads one gang with its members; it is zero if muster does not know the gang.
func (m *Muster) GangPods(t TB, namespace, name string) Gang {
	t.Helper()
	var gang Gang
	m.ask(t, "/api/v1/gangs/"+namespace+"/"+name, &gang)
	return gang
}

// WaitState waits until a gang is in a state.
func (m *Muster) WaitState(t TB, namespace, name, state string) Gang {
	t.Helper()
	var gang Gang
	eventually(t, fmt.Sprintf("gang %s/%s is %s", namespace, name, state), func() error {
		if gang = m.Gang(t, namespace, name); gang.State != state {
			return fmt.Errorf("it is %+v", gang)
		}
		return nil
	})
	return gang
}

// Nodes reads muster's ledger of every node, as generic JSON.
func (m *Muster) Nodes(t TB) []map[string]any {
	t.Helper()
	return everyPage[map[string]any](t, m, "nodes")
}

// Metrics reads muster's metrics.
func (m *Muster) Metrics(t TB) Metrics {
	t.Helper()
	status, body, err := get(http.DefaultClient, "http://"+m.Ops+"/metrics")
	if err != nil || status != http.StatusOK {
		t.Fatalf("muster's metrics: %d %v", status, err)
	}
	return parseMetrics(body)
}

// ask reads a path of the API; false: the object does not exist.
func (m *Muster) ask(t TB, path string, reply any) (found bool) {
	t.Helper()
	status, body, err := get(http.DefaultClient, "http://"+m.Ops+path)
	if err == nil && status == http.StatusNotFound {
		return false
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d %v %s", path, status, err, body)
	}
	if err := json.Unmarshal([]byte(body), reply); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, body)
	}
	return true
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

func insecureTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }
