package testbed

import "time"

// patience bounds every wait for something that should happen soon. It is
// generous, because the machine may be busy; what happens is not measured by it.
const patience = 30 * time.Second

// eventually calls f until it returns nil.
func eventually(t TB, what string, f func() error) {
	t.Helper()
	Within(t, patience, what, f)
}

// Within calls f until it returns nil, at most that long. It is for things that
// cannot be watched; pods are waited for with the Recorder.
func Within(t TB, limit time.Duration, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v not yet: %s: %v", limit, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
