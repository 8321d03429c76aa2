package testbed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// plane is an etcd with its kube-apiserver. Starting them is the largest cost of a small scenario,
// so tests reuse them, one test at a time: between two tests, everything that the first one created
// is deleted from etcd. All other programs belong to one test.
type plane struct {
	Clients
	kind      string // planes of one kind are interchangeable
	folder    string
	authority *authority
	APIServer *Process
	Etcd      *Process
	etcdURL   string
	dialects  []Dialect
	life      *Script           // stops the two programs
	broken    bool              // a test failed on it: its logs stay
	first     map[string]string // the keys in etcd before the first test, and their revisions
}

// spare are the planes that no test uses; the last one was used last.
var spare struct {
	sync.Mutex
	kept   bool
	planes []*plane
}

// mostSpare limits them, because each idle plane takes about 400 MB and 3 % of a core.
const mostSpare = 8

// KeepPlanes lets later clusters use the control planes of earlier ones, until release is called.
func KeepPlanes() (release func()) {
	spare.Lock()
	defer spare.Unlock()
	spare.kept = true
	return func() {
		spare.Lock()
		defer spare.Unlock()
		spare.kept = false
		for _, p := range spare.planes {
			p.life.cleanUp()
		}
		spare.planes = nil
	}
}

// takePlane returns a plane that is as good as new, until the test ends.
func takePlane(t TB, options Options) *plane {
	t.Helper()
	p := spareOf(options.kind())
	if options.Own || p == nil {
		p = startPlane(t, options)
	}
	t.Cleanup(func() {
		if p.life.Failed() {
			t.Errorf("etcd or kube-apiserver has ended")
		}
		if t.Failed() {
			for _, each := range []*Process{p.Etcd, p.APIServer} {
				t.Logf("---- end of %s\n%s", each.LogFile, each.LogTail(25))
			}
			p.broken = true
			p.life.cleanUp()
		} else {
			p.giveBack(t, options.Own)
		}
	})
	return p
}

func spareOf(kind string) *plane {
	spare.Lock()
	defer spare.Unlock()
	for i, p := range slices.Backward(spare.planes) {
		if p.kind == kind {
			spare.planes = slices.Delete(spare.planes, i, i+1)
			return p
		}
	}
	return nil
}

// giveBack keeps the plane for another test if possible, and stops it otherwise.
func (p *plane) giveBack(t TB, own bool) {
	t.Helper()
	spare.Lock()
	kept := spare.kept && !own
	spare.Unlock()
	if kept {
		if err := p.renew(); err != nil {
			t.Logf("%s cannot be used again: %v", p.folder, err)
			kept = false
		}
	}
	var end []*plane
	if !kept {
		end = append(end, p)
	} else {
		spare.Lock()
		spare.planes = append(spare.planes, p)
		if len(spare.planes) > mostSpare {
			end = append(end, spare.planes[0])
			spare.planes = slices.Delete(spare.planes, 0, 1)
		}
		spare.Unlock()
	}
	for _, each := range end {
		each.life.cleanUp()
	}
}

// kind is a text of all options that make a plane different from others.
func (o Options) kind() string {
	var crds []string
	for _, d := range o.Dialects {
		crds = append(crds, d.CRDs...)
	}
	slices.Sort(crds)
	return fmt.Sprint(o.Kubernetes.Version, o.Features, o.APIs, crds)
}

func startPlane(t TB, options Options) *plane {
	t.Helper()
	p := &plane{kind: options.kind(), folder: options.Dir, authority: newAuthority(t), dialects: options.Dialects,
		life: &Script{name: "plane"}}
	if p.folder == "" {
		folder, err := os.MkdirTemp("", "muster-plane-")
		if err != nil {
			t.Fatalf("%v", err)
		}
		p.folder = folder
		p.life.Cleanup(func() {
			if !p.broken {
				_ = os.RemoveAll(folder)
			}
		})
	}
	t = started{t, p.life}
	p.startEtcd(t)
	p.startAPIServer(t, options)
	for _, dialect := range options.Dialects {
		(&Cluster{plane: p}).InstallCRDs(t, dialect)
	}
	if !options.Own {
		p.remember(t)
	}
	return p
}

func (p *plane) startEtcd(t TB) {
	t.Helper()
	p.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	peer := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	p.Etcd = startProcess(t, p.folder, "etcd", exec.Command(tool(t, "etcd", etcdVersion),
		"--data-dir", filepath.Join(p.folder, "etcd"),
		"--unsafe-no-fsync",
		"--log-level", "error",
		"--listen-client-urls", p.etcdURL, "--advertise-client-urls", p.etcdURL,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default="+peer,
		"--quota-backend-bytes", "4294967296"))
	p.Etcd.waitReady(t, http.DefaultClient, p.etcdURL+"/health", 20*time.Second)
}

func (p *plane) startAPIServer(t TB, options Options) {
	t.Helper()
	port := freePort(t)
	certificate, key := p.authority.serve(t)
	_, accountKey := newKey(t)
	accounts := file(t, p.folder, "accounts.key", accountKey)
	p.Clients = newClients(t, fmt.Sprintf("https://127.0.0.1:%d", port), administrator.token, p.authority.PEM)
	arguments := gates(options.Features)
	if len(options.APIs) > 0 {
		arguments = append(slices.Clone(arguments), "--runtime-config", strings.Join(options.APIs, "=true,")+"=true")
	}
	command := exec.Command(tool(t, "kube-apiserver", options.Kubernetes.Version), append(arguments,
		"--etcd-servers", p.etcdURL,
		"--bind-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(port),
		"--tls-cert-file", file(t, p.folder, "apiserver.crt", certificate),
		"--tls-private-key-file", file(t, p.folder, "apiserver.key", key),
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", accounts,
		"--service-account-signing-key-file", accounts,
		"--service-cluster-ip-range", "10.96.0.0/16",
		"--token-auth-file", tokenFile(t, p.folder),
		"--authorization-mode", "RBAC",
		// Pods here mount no account tokens, and the nodes have no kubelet.
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition",
		"--endpoint-reconciler-type", "none",
		"--max-requests-inflight", "3000",
		"--max-mutating-requests-inflight", "1000")...)
	// With two cores for everything, memory is cheaper than the time for garbage collection.
	command.Env = append(os.Environ(), "GOGC=400")
	p.APIServer = startProcess(t, p.folder, "kube-apiserver", command)
	p.APIServer.waitReady(t, p.Plain, p.URL+"/readyz", 60*time.Second)
}

// started is a test that has started a plane. The plane's programs continue when the test has
// ended.
type started struct {
	TB
	life *Script
}

func (s started) Cleanup(f func())                  { s.life.Cleanup(f) }
func (s started) Errorf(format string, args ...any) { s.life.Errorf(format, args...) }

// ---- the content of etcd ----

// own are keys that the API server may write by itself at any time.
var own = []string{"/registry/leases/", "/registry/masterleases/", "/registry/peerserverleases/",
	"/registry/apiregistration.k8s.io/", "/registry/storageversion", "/registry/internal.apiserver.k8s.io/"}

// remembered are kinds that the API server still applies for some time after they are deleted. A
// plane that had them is not used again.
var remembered = []string{"/registry/apiextensions.k8s.io/", "/registry/validatingadmissionpolic",
	"/registry/mutatingadmissionpolic", "/registry/validatingwebhook", "/registry/mutatingwebhook",
	"/registry/resourcequotas/", "/registry/flowschemas/", "/registry/prioritylevelconfigurations/"}

func startsWithAny(key string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(each string) bool { return strings.HasPrefix(key, each) })
}

// remember stores the content of etcd once the API server has created all its own objects.
func (p *plane) remember(t TB) {
	t.Helper()
	eventually(t, "the API server has made its first objects", func() error {
		before, err := p.revisions()
		if err != nil {
			return err
		}
		for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
			if _, there := before["/registry/namespaces/"+name]; !there {
				return fmt.Errorf("namespace %s does not exist", name)
			}
		}
		time.Sleep(250 * time.Millisecond)
		p.first, err = p.revisions()
		if err == nil && !maps.Equal(before, p.first) {
			err = fmt.Errorf("the API server still creates objects")
		}
		maps.DeleteFunc(p.first, func(key, _ string) bool { return startsWithAny(key, own) })
		return err
	})
}

// renew restores the first content of etcd.
func (p *plane) renew() error {
	for range 100 {
		same, err := p.renewOnce()
		if err != nil {
			return err
		}
		if same && p.shown() {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("etcd keeps changing")
}

func (p *plane) renewOnce() (same bool, err error) {
	now, err := p.revisions()
	if err != nil {
		return false, err
	}
	kept := maps.Clone(p.first)
	for key, found := range now {
		if startsWithAny(key, own) {
			kept[key] = found
		}
	}
	known := slices.Sorted(maps.Keys(kept))
	gaps := map[int]bool{} // gaps before the known key with this number
	same = true
	for key, found := range now {
		first, there := kept[key]
		switch {
		case there && first == found:
			continue
		case startsWithAny(key, remembered):
			return false, fmt.Errorf("%s was written", key)
		case there:
			return false, fmt.Errorf("%s was changed", key)
		}
		at, _ := slices.BinarySearch(known, key)
		gaps[at], same = true, false
	}
	for key := range p.first {
		if _, there := now[key]; !there {
			return false, fmt.Errorf("%s was deleted", key)
		}
	}
	for at := range gaps {
		from, to := []byte("/registry/"), []byte("/registry0")
		if at > 0 {
			from = append([]byte(known[at-1]), 0)
		}
		if at < len(known) {
			to = []byte(known[at])
		}
		if err := p.askEtcd("deleterange", map[string]any{"key": from, "range_end": to}, nil); err != nil {
			return false, err
		}
	}
	return same, nil
}

// revisions are the revisions of all keys.
func (p *plane) revisions() (map[string]string, error) {
	var reply struct {
		Kvs []struct {
			Key         []byte
			ModRevision string `json:"mod_revision"`
		}
	}
	err := p.askEtcd("range", map[string]any{"key": []byte("/registry/"), "range_end": []byte("/registry0"),
		"keys_only": true}, &reply)
	all := map[string]string{}
	for _, each := range reply.Kvs {
		all[string(each.Key)] = each.ModRevision
	}
	return all, err
}

// askEtcd calls a method of etcd's KV service through its gateway.
func (p *plane) askEtcd(method string, question map[string]any, reply any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	answer, err := http.Post(p.etcdURL+"/v3/kv/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", method, answer.Status)
	}
	if reply == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(reply)
}

// shown says whether the API server's cache is empty too. Programs read from this cache when they
// start.
func (p *plane) shown() bool {
	paths := []string{"/api/v1/pods", "/api/v1/nodes", "/api/v1/events", "/apis/apps/v1/replicasets", "/apis/batch/v1/jobs"}
	for _, d := range p.dialects {
		for _, r := range d.resources() {
			paths = append(paths, filepath.Join("/apis", r.Group, r.Version, r.Resource))
		}
	}
	return !slices.ContainsFunc(paths, func(path string) bool {
		status, body, err := get(p.Plain, p.URL+path+"?resourceVersion=0&limit=1")
		var list struct{ Items []json.RawMessage }
		return err != nil || status != http.StatusOK || json.Unmarshal([]byte(body), &list) != nil || len(list.Items) > 0
	})
}
