package testbed

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// WaitBound waits until n of the selected pods have a node.
func (r *Recorder) WaitBound(t TB, which Which, n int, limit time.Duration) []PodRecord {
	t.Helper()
	return r.waitCount(t, which, n, limit, "bound", func(p PodRecord) bool { return !p.Bound.IsZero() })
}

// WaitRunning waits until n of the selected pods run or ran.
func (r *Recorder) WaitRunning(t TB, which Which, n int, limit time.Duration) []PodRecord {
	t.Helper()
	return r.waitCount(t, which, n, limit, "running", func(p PodRecord) bool { return !p.Ran.IsZero() })
}

// WaitFinished waits until n of the selected pods have finished.
func (r *Recorder) WaitFinished(t TB, which Which, n int, limit time.Duration) []PodRecord {
	t.Helper()
	return r.waitCount(t, which, n, limit, "finished", func(p PodRecord) bool { return !p.Finished.IsZero() })
}

// WaitExist waits until n of the selected pods exist.
func (r *Recorder) WaitExist(t TB, which Which, n int, limit time.Duration) []PodRecord {
	t.Helper()
	return r.waitCount(t, which, n, limit, "created", func(PodRecord) bool { return true })
}

func (r *Recorder) waitCount(t TB, which Which, n int, limit time.Duration, state string, has func(PodRecord) bool) []PodRecord {
	t.Helper()
	pods, ok := r.await(which, limit, func(pods []PodRecord) bool { return count(pods, has) >= n })
	if !ok {
		missing := slices.DeleteFunc(slices.Clone(pods), has)
		t.Fatalf("after %v only %d of %d pods are %s; not so are:\n%s", limit, count(pods, has), n, state, describe(missing))
	}
	return pods
}

func count(pods []PodRecord, has func(PodRecord) bool) int {
	n := 0
	for _, pod := range pods {
		if has(pod) {
			n++
		}
	}
	return n
}

// describe is a few lines about pods for a failure message.
func describe(pods []PodRecord) string {
	var text strings.Builder
	for i, pod := range pods {
		if i == 12 {
			fmt.Fprintf(&text, "  … and %d more\n", len(pods)-i)
			break
		}
		fmt.Fprintf(&text, "  %s/%s %s node=%q %s\n", pod.Namespace, pod.Name,
			pod.Latest.Status.Phase, pod.Node, Why(pod))
	}
	return text.String()
}

// Why is the message of the pod's PodScheduled condition: what `kubectl
// describe` shows for a pod that waits.
func Why(pod PodRecord) string {
	for _, condition := range pod.Latest.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status != "True" {
			return condition.Message
		}
	}
	return ""
}

// AllSay waits until every one of n selected pods gives a reason that contains
// the text.
func (r *Recorder) AllSay(t TB, which Which, n int, text string) {
	t.Helper()
	says := func(p PodRecord) bool { return strings.Contains(Why(p), text) }
	// A text on pods is renewed at most every half minute: each costs the
	// scheduler a try.
	pods, ok := r.await(which, time.Minute, func(pods []PodRecord) bool {
		return len(pods) == n && count(pods, says) == n
	})
	if !ok {
		t.Fatalf("%d of %d pods say %q:\n%s", count(pods, says), n, text, describe(pods))
	}
}

// Together checks that the selected pods were bound within a second of each
// other for every hundred of them, and returns how long it took.
func (r *Recorder) Together(t TB, which Which) time.Duration {
	t.Helper()
	pods := r.Pods(which)
	first, last := time.Time{}, time.Time{}
	for _, pod := range pods {
		if pod.Bound.IsZero() {
			t.Fatalf("%s/%s is not bound", pod.Namespace, pod.Name)
		}
		if first.IsZero() || pod.Bound.Before(first) {
			first = pod.Bound
		}
		if pod.Bound.After(last) {
			last = pod.Bound
		}
	}
	spread := last.Sub(first)
	if spread > allowedSpread(len(pods)) {
		t.Errorf("%d pods were bound over %v, that is not together:\n%s", len(pods), spread, describe(pods))
	}
	return spread
}
