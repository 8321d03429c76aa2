// Package testbed runs a real Kubernetes control plane, KWOK and muster as plain processes on this
// machine, and watches what they do to pods.
//
// Everything is started for one test (or one command) and ends with it. Clusters share only the
// programs in build/tools and, one after the other, etcd and kube-apiserver.
package testbed

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// TB is the part of testing.TB that the test bed needs. Programs that are not
// tests pass a Script.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
	Cleanup(func())
}

// Script lets a program use the test bed: an error ends the program, after its cleanups.
type Script struct {
	name     string
	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

// RunScript runs main and then its cleanups. It returns the exit status.
func RunScript(name string, main func(*Script)) int {
	s := &Script{name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.cleanUp()
		main(s)
	}()
	<-done
	if s.Failed() {
		return 1
	}
	return 0
}

func (s *Script) cleanUp() {
	for {
		s.mu.Lock()
		n := len(s.cleanups)
		if n == 0 {
			s.mu.Unlock()
			return
		}
		last := s.cleanups[n-1]
		s.cleanups = s.cleanups[:n-1]
		s.mu.Unlock()
		last()
	}
}

func (s *Script) Helper()      {}
func (s *Script) Name() string { return s.name }

func (s *Script) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (s *Script) Errorf(format string, args ...any) {
	s.Logf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
}

func (s *Script) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	runtime.Goexit()
}

func (s *Script) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *Script) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}
