package testbed

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Request describes an API request.
type Request struct {
	Verb                                          string // HTTP method, WATCH for watches
	Group, Resource, Namespace, Name, Subresource string
}

// Is compares with a text such as "POST pods/binding".
func (r Request) Is(verbAndResource string) bool { return r.String() == verbAndResource }

func (r Request) String() string {
	text := r.Verb + " " + r.Resource
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}

// Verdict is what the proxy does with a request.
type Verdict struct {
	kind    verdictKind
	code    int
	message string
}

type verdictKind int

const (
	forwards verdictKind = iota
	severs
	losesReply
	answers
)

var (
	// Forward passes the request on.
	Forward = Verdict{kind: forwards}
	// Sever closes the connection without passing the request on.
	Sever = Verdict{kind: severs}
	// LoseReply passes the request on and then closes the connection.
	LoseReply = Verdict{kind: losesReply}
)

// Answer refuses the request in place of the API server.
func Answer(code int, message string) Verdict {
	return Verdict{kind: answers, code: code, message: message}
}

// status writes an error in the form that the API server uses.
func (v Verdict) status(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(v.code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure",
		"code": v.code, "message": v.message,
	})
}

// FaultProxy is a proxy between muster and the API server that disturbs requests as the test says.
type FaultProxy struct {
	URL string

	mu     sync.Mutex
	hook   func(context.Context, Request) Verdict
	counts map[string]int
	late   atomic.Int64 // the delay of watch events in nanoseconds
}

// DelayWatches delays every part of every watch from now on, so that results of calls arrive before
// the watches show them.
func (p *FaultProxy) DelayWatches(by time.Duration) { p.late.Store(int64(by)) }

// lateWriter delays the output of a watch.
type lateWriter struct {
	http.ResponseWriter
	late *atomic.Int64
}

func (w lateWriter) Write(piece []byte) (int, error) {
	time.Sleep(time.Duration(w.late.Load()))
	return w.ResponseWriter.Write(piece)
}

func (w lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// StartFaultProxy starts a proxy that forwards everything until Set is called.
func (c *Cluster) StartFaultProxy(t TB) *FaultProxy {
	t.Helper()
	p := &FaultProxy{counts: map[string]int{}}
	target, err := url.Parse(c.URL)
	if err != nil {
		t.Fatalf("%v", err)
	}
	transport, err := rest.TransportFor(&rest.Config{
		Host: c.URL, TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.PEM},
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	certificatePEM, keyPEM := c.authority.serve(t)
	certificate, err := tls.X509KeyPair(certificatePEM, keyPEM)
	if err != nil {
		t.Fatalf("%v", err)
	}
	server := &http.Server{
		Addr:      fmt.Sprintf("127.0.0.1:%d", freePort(t)),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch verdict := p.decide(r); verdict.kind {
			case forwards:
				if r.URL.Query().Get("watch") != "" {
					w = lateWriter{w, &p.late}
				}
				forward.ServeHTTP(w, r)
			case losesReply:
				forward.ServeHTTP(discard{http.Header{}}, r)
				panic(http.ErrAbortHandler)
			case severs:
				panic(http.ErrAbortHandler)
			case answers:
				verdict.status(w)
			}
		}),
	}
	p.URL = "https://" + server.Addr
	serveUntilCleanup(t, server)
	return p
}

// Set installs the function that decides about every request from now on; nil forwards all. The
// function may block. The request then hangs until it returns or the client disconnects, which ends
// the context.
func (p *FaultProxy) Set(hook func(context.Context, Request) Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// Count is the number of requests so far that match a text such as "POST pods/binding".
func (p *FaultProxy) Count(verbAndResource string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[verbAndResource]
}

func (p *FaultProxy) decide(r *http.Request) Verdict {
	request := parseRequest(r)
	p.mu.Lock()
	p.counts[request.String()]++
	hook := p.hook
	p.mu.Unlock()
	if hook == nil {
		return Forward
	}
	return hook(r.Context(), request)
}

// parseRequest reads /api/v1/… and /apis/GROUP/VERSION/….
func parseRequest(r *http.Request) Request {
	request := Request{Verb: r.Method}
	if r.URL.Query().Get("watch") != "" {
		request.Verb = "WATCH"
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 3 && parts[0] == "apis":
		request.Group = parts[1]
		parts = parts[3:]
	default:
		return request
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		request.Namespace = parts[1]
		parts = parts[2:]
	}
	for i, field := range []*string{&request.Resource, &request.Name, &request.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	return request
}

// discard is a reply that is thrown away.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
