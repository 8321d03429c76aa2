package testbed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// served is a kube-scheduler as seen by functions that wait until it has nothing to do.
type served struct {
	*Process
	url   string
	names []string // the schedulerName of the pods that it places
}

// serves registers a scheduler with the recorder, which can then tell when it has nothing left to
// do.
func (r *Recorder) serves(s served) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schedulers = append(r.schedulers, s)
}

// asks registers a muster with the recorder, which then asks it about members with held bind calls.
func (r *Recorder) asks(m *Muster) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.musters = append(r.musters, m)
}

// NoneBound checks that none of the selected pods is bound, until every kube-scheduler has tried
// each of them and has nothing left to do, and for at least two seconds (ten in the long run).
func (r *Recorder) NoneBound(t TB, which Which) {
	t.Helper()
	r.NoMoreBound(t, which, 0)
}

// NoMoreBound checks in the same way that at most n of the selected pods are bound.
func (r *Recorder) NoMoreBound(t TB, which Which, n int) {
	t.Helper()
	const look, patience = 250 * time.Millisecond, time.Minute
	bound := func(p PodRecord) bool { return !p.Bound.IsZero() }
	begin, tried := time.Now(), -1.0
	for {
		pods, more := r.await(which, look, func(pods []PodRecord) bool { return count(pods, bound) > n })
		if more {
			t.Fatalf("%d pods are bound, want at most %d:\n%s", count(pods, bound), n, describe(pods))
		}
		attempts, busy := r.work(pods)
		if busy == "" && attempts != tried {
			busy = "it tries pods"
		}
		tried = attempts
		if waited := time.Since(begin); busy == "" && waited > silence() {
			return
		} else if waited > patience {
			t.Fatalf("after %v kube-scheduler still has work to do: %s", patience, busy)
		}
	}
}

// StillNone checks for ten seconds that none of the selected pods is bound, for schedulers that
// always have something to do.
func (r *Recorder) StillNone(t TB, which Which) {
	t.Helper()
	bound := func(p PodRecord) bool { return !p.Bound.IsZero() }
	if pods, more := r.await(which, 10*time.Second, func(pods []PodRecord) bool { return count(pods, bound) > 0 }); more {
		t.Fatalf("%d pods are bound:\n%s", count(pods, bound), describe(pods))
	}
}

// Rest waits until no kube-scheduler has anything left to do, and for the time of silence().
func (r *Recorder) Rest(t TB) {
	t.Helper()
	r.NoMoreBound(t, func(*PodRecord) bool { return false }, 0)
}

// work is how often the schedulers have tried a pod so far, and what they still have to do ("":
// nothing).
func (r *Recorder) work(pods []PodRecord) (attempts float64, busy string) {
	r.mu.Lock()
	schedulers, musters := slices.Clone(r.schedulers), slices.Clone(r.musters)
	r.mu.Unlock()
	schedulers = slices.DeleteFunc(schedulers, func(s served) bool { return !s.Running() })
	for _, s := range schedulers {
		status, text, err := get(unverified, s.url+"/metrics")
		if err != nil || status != http.StatusOK {
			return 0, fmt.Sprintf("metrics of %s: %d %v", s.Name, status, err)
		}
		metrics := parseMetrics(text)
		attempts += metrics.Sum("scheduler_schedule_attempts_total")
		for _, queue := range []string{"active", "backoff"} {
			if waiting := metrics.Sum("scheduler_pending_pods", fmt.Sprintf("queue=%q", queue)); waiting > 0 {
				busy = fmt.Sprintf("%s has %.0f pods in its queue %q", s.Name, waiting, queue)
			}
		}
	}
	if busy != "" {
		return attempts, busy
	}
	for _, pod := range pods {
		if !pod.waits() || !slices.ContainsFunc(schedulers, func(s served) bool { return s.places(pod) }) {
			continue
		}
		if Why(pod) == "" && !slices.ContainsFunc(musters, func(m *Muster) bool { return m.holds(pod) }) {
			return attempts, fmt.Sprintf("it has not tried %s/%s", pod.Namespace, pod.Name)
		}
	}
	return attempts, ""
}

func (p PodRecord) waits() bool {
	return p.Bound.IsZero() && p.Finished.IsZero() && p.Erased.IsZero() && p.Latest.DeletionTimestamp == nil
}

func (s served) places(pod PodRecord) bool {
	return slices.Contains(s.names, pod.Latest.Spec.SchedulerName)
}

// holds says whether muster holds the bind call of a pod. kube-scheduler has then tried the pod,
// but has written nothing to it.
func (m *Muster) holds(pod PodRecord) bool {
	if !m.Running() {
		return false
	}
	name := pod.Gang[strings.LastIndexByte(pod.Gang, '/')+1:]
	status, text, err := get(http.DefaultClient, "http://"+m.Ops+"/api/v1/gangs/"+pod.Namespace+"/"+name)
	var gang Gang
	if err != nil || status != http.StatusOK || json.Unmarshal([]byte(text), &gang) != nil {
		return false
	}
	return slices.ContainsFunc(gang.Pods, func(each Member) bool {
		return each.Name == pod.Name && each.State == "Held"
	})
}
