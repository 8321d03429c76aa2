package testbed

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// story builds histories by hand, to show that each check can fail.
type story struct {
	history History
	now     time.Time
}

func newStory() *story { return &story{now: time.Unix(1000, 0)} }

func (s *story) add(c Change) {
	c.At, c.Version = s.now, uint64(len(s.history)+1)
	s.history = append(s.history, c)
}

func (s *story) wait(d time.Duration) { s.now = s.now.Add(d) }

func (s *story) node(name string, gpus int64) {
	s.add(Change{Node: &NodeState{Name: name, Allocatable: Resources{GPU: gpus}}})
}

func member(name, node string, gpus int64) *PodState {
	return &PodState{Namespace: "ml", Name: name, UID: name, Gang: "g", Node: node,
		Phase: corev1.PodPending, Requests: Resources{GPU: gpus}}
}

func (s *story) pod(p *PodState)    { s.add(Change{Pod: p}) }
func (s *story) delete(p *PodState) { s.add(Change{Pod: p, Deleted: true}) }

func TestOvercommits(t *testing.T) {
	finished := member("a", "n", 2)
	finished.Phase = corev1.PodSucceeded
	tests := []struct {
		name string
		tell func(*story)
		want int
	}{
		{"full but not over", func(s *story) {
			s.node("n", 4)
			s.pod(member("a", "n", 2))
			s.pod(member("b", "n", 2))
		}, 0},
		{"one too many", func(s *story) {
			s.node("n", 3)
			s.pod(member("a", "n", 2))
			s.pod(member("b", "n", 2))
		}, 1},
		{"a finished pod makes room", func(s *story) {
			s.node("n", 3)
			s.pod(member("a", "n", 2))
			s.pod(finished)
			s.pod(member("b", "n", 2))
		}, 0},
		{"a deleted pod makes room", func(s *story) {
			s.node("n", 3)
			s.pod(member("a", "n", 2))
			s.delete(member("a", "n", 2))
			s.pod(member("b", "n", 2))
		}, 0},
		{"a pod seen twice counts once", func(s *story) {
			s.node("n", 3)
			s.pod(member("a", "n", 2))
			s.pod(member("a", "n", 2))
		}, 0},
		{"a node that shrinks", func(s *story) {
			s.node("n", 3)
			s.pod(member("a", "n", 3))
			s.node("n", 2)
		}, 1},
		{"watches that are not in step", func(s *story) {
			s.pod(member("a", "n", 1))
			s.node("n", 1)
			s.history[0].Version, s.history[1].Version = 2, 1
		}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStory()
			test.tell(s)
			if found := s.history.Overcommits(nil); len(found) != test.want {
				t.Errorf("got %v, want %d", found, test.want)
			}
		})
	}
}

func TestPartials(t *testing.T) {
	tests := []struct {
		name string
		tell func(*story)
		want []time.Duration // the length of each partial time
	}{
		{"never bound", func(s *story) {
			s.pod(member("a", "", 1))
			s.pod(member("b", "", 1))
		}, nil},
		{"all at once", func(s *story) {
			s.pod(member("a", "n", 1))
			s.pod(member("b", "n", 1))
		}, []time.Duration{0}},
		{"the second one late", func(s *story) {
			s.pod(member("a", "n", 1))
			s.wait(3 * time.Second)
			s.pod(member("b", "n", 1))
		}, []time.Duration{3 * time.Second}},
		{"the second one never", func(s *story) {
			s.pod(member("a", "n", 1))
			s.wait(5 * time.Second)
		}, []time.Duration{5 * time.Second}},
		{"undone", func(s *story) {
			s.pod(member("a", "n", 1))
			s.wait(2 * time.Second)
			s.delete(member("a", "n", 1))
			s.wait(time.Minute)
		}, []time.Duration{2 * time.Second}},
		{"a loss after it was complete", func(s *story) {
			s.pod(member("a", "n", 1))
			s.pod(member("b", "n", 1))
			s.delete(member("b", "n", 1))
			s.wait(time.Minute)
		}, []time.Duration{0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStory()
			test.tell(s)
			found := s.history.Partials(map[string]int{"g": 2}, s.now)
			if len(found) != len(test.want) {
				t.Fatalf("got %v, want %v", found, test.want)
			}
			for i, partial := range found {
				if got := partial.Until.Sub(partial.From); got != test.want[i] {
					t.Errorf("%v lasted %v, want %v", partial, got, test.want[i])
				}
			}
		})
	}
}

func TestRebound(t *testing.T) {
	s := newStory()
	s.pod(member("a", "", 1))
	s.pod(member("a", "n", 1))
	s.pod(member("a", "n", 1))
	if found := s.history.Rebound(); len(found) != 0 {
		t.Errorf("got %v for a history without a rebound", found)
	}
	s.pod(member("a", "m", 1))
	if found := s.history.Rebound(); len(found) != 1 {
		t.Errorf("got %v, want one", found)
	}
}

func TestPromisedSpread(t *testing.T) {
	for members, want := range map[int]time.Duration{
		1: time.Second, 100: time.Second, 101: 2 * time.Second, 1000: 10 * time.Second,
	} {
		if got := promisedSpread(members); got != want {
			t.Errorf("%d members: got %v, want %v", members, got, want)
		}
	}
}
