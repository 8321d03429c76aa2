// Package scenarios checks muster's promises on a real control plane. If a test checks an
// acceptance promise, its name contains the ID of the promise.
package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"muster.dev/e2e/testbed"
)

// TestMain lets some scenarios run at the same time. They spend most of their time checking that
// nothing happens, which costs nothing. Scenarios that keep the machine busy run alone (see alone).
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	release := testbed.KeepPlanes()
	status := m.Run()
	release()
	os.Exit(status)
}

// seats is how many scenarios run at the same time.
const seats = 4

var freeSeats = func() chan struct{} {
	seat := make(chan struct{}, seats)
	for range seats {
		seat <- struct{}{}
	}
	return seat
}()

var sitting = make(chan struct{}, 1)

// beside lets a scenario run at the same time as others.
func beside(t *testing.T) { take(t, 1) }

// alone lets a scenario run without others, because it keeps both cores busy or depends on time. In
// the gate, where no time decides, one other scenario may run beside it.
func alone(t *testing.T) {
	if testbed.InGate() {
		take(t, seats-1)
	} else {
		take(t, seats)
	}
}

// inTurn lets a scenario run beside others, but not beside those with the same turn.
func inTurn(t *testing.T, turn *sync.Mutex) {
	t.Parallel()
	turn.Lock()
	t.Cleanup(turn.Unlock)
	sit(t, 1)
}

func take(t *testing.T, n int) {
	t.Helper()
	t.Parallel()
	sit(t, n)
}

func sit(t *testing.T, n int) {
	t.Helper()
	// Only one scenario at a time takes seats. Otherwise two that want all seats could each hold
	// half.
	sitting <- struct{}{}
	for range n {
		<-freeSeats
	}
	<-sitting
	t.Cleanup(func() {
		for range n {
			freeSeats <- struct{}{}
		}
	})
}

// onEveryVersion runs a scenario on each version.
func onEveryVersion(t *testing.T, scenario func(*testing.T, testbed.Kubernetes)) {
	t.Helper()
	onVersions(t, testbed.Versions, scenario)
}

// onNativeVersions runs a scenario on each version that has gangs of its own.
func onNativeVersions(t *testing.T, scenario func(*testing.T, testbed.Kubernetes)) {
	t.Helper()
	onVersions(t, []testbed.Kubernetes{testbed.Default, testbed.Next}, scenario)
}

func onVersions(t *testing.T, versions []testbed.Kubernetes, scenario func(*testing.T, testbed.Kubernetes)) {
	t.Helper()
	t.Parallel()
	for _, version := range versions {
		t.Run(version.Minor, func(t *testing.T) {
			if version != testbed.Default {
				testbed.Long(t, "minors")
			}
			beside(t)
			scenario(t, version)
		})
	}
}

// Every test is in some part of the long run, so that all parts together run everything in full.
func TestEveryTestIsInTheLongRun(t *testing.T) {
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests, parts := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`), testbed.Parts(t)
	n := 0
	for _, path := range paths {
		for _, test := range tests.FindAllStringSubmatch(read(t, path), -1) {
			n++
			if !slices.ContainsFunc(parts, func(p testbed.Part) bool { return p.Plays(test[1]) }) {
				t.Errorf("test/long-parts.txt: no part runs %s", test[1])
			}
		}
	}
	if n < 100 {
		t.Errorf("found only %d tests", n)
	}
}
