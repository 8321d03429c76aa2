package scenarios

import (
	"fmt"
	"testing"
)

// rounds of one figure, each on a control plane of its own: those that kept the
// bound and those that did not, as text.
type rounds struct{ good, bad []string }

// medianOfFive plays until three rounds agree. A round says whether it kept the
// bound, and how it went; the figure is held when three did.
func medianOfFive(t *testing.T, round func(*testing.T) (bool, string)) *rounds {
	t.Helper()
	of := &rounds{}
	for n := 1; len(of.good) < 3 && len(of.bad) < 3 && !t.Failed(); n++ {
		t.Run(fmt.Sprintf("round%d", n), func(t *testing.T) {
			kept, text := round(t)
			if kept {
				of.good = append(of.good, text)
			} else {
				of.bad = append(of.bad, text)
			}
		})
	}
	return of
}

func (of *rounds) held() bool { return len(of.good) == 3 }
