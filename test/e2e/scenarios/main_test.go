// Package scenarios keeps muster's promises on a real control plane. Every test
// carries the ID of the acceptance scenario it keeps.
package scenarios

import (
	"flag"
	"os"
	"testing"

	"muster.dev/e2e/testbed"
)

// TestMain lets some scenarios run beside each other. Most of their time goes by
// watching that nothing happens, which costs nothing; those that keep the
// machine busy take it for themselves (see alone).
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	os.Exit(m.Run())
}

// seats is how many scenarios run at a time.
const seats = 3

var freeSeats = func() chan struct{} {
	seat := make(chan struct{}, seats)
	for range seats {
		seat <- struct{}{}
	}
	return seat
}()

var sitting = make(chan struct{}, 1)

// beside lets a scenario run beside others.
func beside(t *testing.T) { take(t, 1) }

// alone lets a scenario run without others: it keeps both cores busy, or its
// timing would suffer from others.
func alone(t *testing.T) { take(t, seats) }

func take(t *testing.T, n int) {
	t.Helper()
	t.Parallel()
	// One at a time takes seats, or two that want them all could each hold half.
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

// versions are the control planes that the worked examples are tried on.
var versions = []testbed.Kubernetes{testbed.Newest, testbed.Earlier}

// onEveryVersion runs a scenario on each of them.
func onEveryVersion(t *testing.T, scenario func(*testing.T, testbed.Kubernetes)) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version.Minor, func(t *testing.T) {
			beside(t)
			scenario(t, version)
		})
	}
}
