package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// VerbCall is one call of the scheduler to muster.
type VerbCall struct {
	Verb     string // filter, prioritize, preempt, bind
	Pod      string // namespace/name
	Offered  []string
	Returned []string // filter: nodes that passed
	Node     string   // bind
	Refusals []string // filter: the different reasons, sorted
	Error    string
	Bytes    int // length of muster's reply
	// preempt: the UIDs of the victims that kube-scheduler proposes on each node, and of those that
	// muster allows.
	Proposed, Allowed map[string][]string
	Begin, End        time.Time
}

// VerbProxy is a proxy between the scheduler and muster that records every call.
type VerbProxy struct {
	URL string

	mu    sync.Mutex
	calls []VerbCall
	hook  func(context.Context, VerbCall)
}

// Set installs a function that is called before a call is passed on to muster; nil passes calls on
// at once. The function may block: the call then waits until the scheduler gives up, which ends the
// context.
func (p *VerbProxy) Set(hook func(context.Context, VerbCall)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

func (p *VerbProxy) pause(ctx context.Context, call VerbCall) {
	p.mu.Lock()
	hook := p.hook
	p.mu.Unlock()
	if hook != nil {
		hook(ctx, call)
	}
}

// StartVerbProxy starts a proxy in front of muster.
func StartVerbProxy(t TB, m *Muster) *VerbProxy {
	t.Helper()
	p := &VerbProxy{}
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	server := &http.Server{
		Addr:     fmt.Sprintf("127.0.0.1:%d", freePort(t)),
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call := VerbCall{Begin: time.Now(), Verb: r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]}
			question, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			call.ask(question)
			p.pause(r.Context(), call)
			onward, err := http.NewRequestWithContext(r.Context(), r.Method,
				"http://"+m.Verbs+r.URL.Path, bytes.NewReader(question))
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			onward.Header = r.Header.Clone()
			reply, err := transport.RoundTrip(onward)
			if err != nil {
				// muster is down, which is what the scheduler should see.
				panic(http.ErrAbortHandler)
			}
			defer reply.Body.Close()
			answer, err := io.ReadAll(reply.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			call.End, call.Bytes = time.Now(), len(answer)
			call.hear(answer)
			p.mu.Lock()
			p.calls = append(p.calls, call)
			p.mu.Unlock()
			w.Header().Set("Content-Type", reply.Header.Get("Content-Type"))
			w.WriteHeader(reply.StatusCode)
			_, _ = w.Write(answer)
		}),
	}
	p.URL = "http://" + server.Addr
	serveUntilCleanup(t, server)
	return p
}

// Calls are the calls of a verb so far.
func (p *VerbProxy) Calls(verb string) []VerbCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	var calls []VerbCall
	for _, call := range p.calls {
		if call.Verb == verb {
			calls = append(calls, call)
		}
	}
	return calls
}

// named is the part of a Kubernetes object that the proxy reads.
type named struct {
	Metadata struct{ Name, Namespace string }
}

// nodeList is a list of nodes in either form of the wire format.
type nodeList struct {
	NodeNames *[]string
	Nodes     *struct{ Items []named }
}

func (l nodeList) names() []string {
	if l.NodeNames != nil {
		return *l.NodeNames
	}
	var list []string
	if l.Nodes != nil {
		for _, node := range l.Nodes.Items {
			list = append(list, node.Metadata.Name)
		}
	}
	return list
}

// victims are the victims of a preemption, by node.
type victims struct {
	NodeNameToMetaVictims map[string]struct{ Pods []struct{ UID string } }
}

func (v victims) uids() map[string][]string {
	uids := map[string][]string{}
	for node, on := range v.NodeNameToMetaVictims {
		for _, pod := range on.Pods {
			uids[node] = append(uids[node], pod.UID)
		}
	}
	return uids
}

func (c *VerbCall) ask(question []byte) {
	var asked struct {
		nodeList
		Pod                   *named
		PodName, PodNamespace string
		Node                  string
		victims
	}
	_ = json.Unmarshal(question, &asked)
	c.Proposed = asked.uids()
	c.Pod, c.Node = asked.PodNamespace+"/"+asked.PodName, asked.Node
	if asked.Pod != nil {
		c.Pod = asked.Pod.Metadata.Namespace + "/" + asked.Pod.Metadata.Name
	}
	c.Offered = asked.names()
}

func (c *VerbCall) hear(answer []byte) {
	var said struct {
		nodeList
		FailedNodes, FailedAndUnresolvableNodes map[string]string
		Error                                   string
		victims
	}
	_ = json.Unmarshal(answer, &said)
	c.Allowed = said.uids()
	c.Error, c.Returned = said.Error, said.names()
	reasons := slices.AppendSeq(slices.Collect(maps.Values(said.FailedNodes)),
		maps.Values(said.FailedAndUnresolvableNodes))
	slices.Sort(reasons)
	c.Refusals = slices.Compact(reasons)
}

// serveUntilCleanup runs an HTTP server that ends with the test.
func serveUntilCleanup(t TB, server *http.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", server.Addr)
	if err != nil {
		t.Fatalf("%v", err)
	}
	go func() {
		if server.TLSConfig != nil {
			_ = server.ServeTLS(listener, "", "")
		} else {
			_ = server.Serve(listener)
		}
	}()
	t.Cleanup(func() { server.Close() })
}
