package testbed

import (
	"fmt"
	"net/http"
	"path/filepath"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Clients talk to the API server as the cluster's administrator.
type Clients struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Plain is an HTTP client with the same credentials, for health and metrics.
	Plain *http.Client
	URL   string
}

// newClients makes clients without a rate limit, so that a measurement never waits for the test
// bed.
func newClients(t TB, url, token string, authorityPEM []byte) Clients {
	t.Helper()
	config := &rest.Config{
		Host:            url,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: authorityPEM},
		QPS:             -1,
	}
	typed := rest.CopyConfig(config)
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	kube, err := kubernetes.NewForConfig(typed)
	if err != nil {
		t.Fatalf("%v", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	plain, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Clients{Kube: kube, Dynamic: dynamicClient, Plain: plain, URL: url}
}

// writeKubeconfig writes a kubeconfig with a bearer token and returns its path.
func writeKubeconfig(t TB, folder, name, url, token string, authorityPEM []byte) string {
	t.Helper()
	named := func(kind string, content any) []any {
		return []any{map[string]any{"name": "testbed", kind: content}}
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": named("cluster", map[string]any{
			"server": url, "certificate-authority-data": authorityPEM,
		}),
		"users":           named("user", map[string]any{"token": token}),
		"contexts":        named("context", map[string]any{"cluster": "testbed", "user": "testbed"}),
		"current-context": "testbed",
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return file(t, folder, name+".kubeconfig", text)
}

// identity is one line of the API server's token file.
type identity struct{ token, user, group string }

var (
	administrator = identity{"administrator-token", "administrator", "system:masters"}
	// The scheduler has the same rights as in any cluster.
	schedulerUser = identity{"scheduler-token", "system:kube-scheduler", "system:authenticated"}
)

func tokenFile(t TB, folder string) string {
	t.Helper()
	var lines string
	for _, each := range []identity{administrator, schedulerUser} {
		lines += fmt.Sprintf("%s,%s,%s,%q\n", each.token, each.user, each.user, each.group)
	}
	return file(t, folder, "tokens.csv", []byte(lines))
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "admin.kubeconfig") }
