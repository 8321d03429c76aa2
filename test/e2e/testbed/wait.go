package testbed

import "time"

// patience limits every wait for something that should happen soon. It is generous, because the
// machine may be busy. It is not a measurement.
const patience = 30 * time.Second

// eventually calls f until it returns nil.
func eventually(t TB, what string, f func() error) {
	t.Helper()
	Within(t, patience, what, f)
}

// Within calls f until it returns nil, for at most this long. It is for things that cannot be
// watched; use the Recorder for pods.
func Within(t TB, limit time.Duration, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %v: %s: %v", limit, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
