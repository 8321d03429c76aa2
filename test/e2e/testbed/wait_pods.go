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

// WaitRunning waits until n of the selected pods run or have run.
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
		t.Fatalf("after %v only %d of %d pods are %s; the others are:\n%s", limit, count(pods, has), n, state, describe(missing))
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

// describe lists pods in a few lines, for failure messages.
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

// Why is the message of the pod's condition PodScheduled, which `kubectl describe` shows for a
// waiting pod.
func Why(pod PodRecord) string {
	for _, condition := range pod.Latest.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status != "True" {
			return condition.Message
		}
	}
	return ""
}

// AllSay waits until each of n selected pods has a reason that contains the text.
func (r *Recorder) AllSay(t TB, which Which, n int, text string) {
	t.Helper()
	says := func(p PodRecord) bool { return strings.Contains(Why(p), text) }
	// muster changes the text on a pod at most every half minute, because each change costs a try
	// of the scheduler.
	pods, ok := r.await(which, time.Minute, func(pods []PodRecord) bool {
		return len(pods) == n && count(pods, says) == n
	})
	if !ok {
		t.Fatalf("only %d of %d pods have the reason %q:\n%s", count(pods, says), n, text, describe(pods))
	}
}

// Together checks that the selected pods were bound together, see allowedSpread(). It returns how
// long that took.
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
		t.Errorf("%d pods were bound over %v, which is too long:\n%s", len(pods), spread, describe(pods))
	}
	return spread
}
