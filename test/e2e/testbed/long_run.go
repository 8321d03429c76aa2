package testbed

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// `./dev test` is the gate: it tests every promise in a form that is quick and needs one control
// plane. `./dev test --long PART` runs the rest; test/long-parts.txt lists the parts.

// playing is the current part of the long run; "" is the gate.
var playing = os.Getenv("MUSTER_LONG")

// InGate says whether this run is the gate.
func InGate() bool { return playing == "" }

// gateFactor multiplies a time limit in the gate, where other scenarios and a benchmark keep both
// cores busy. Bounds of CPU time have the same factor there (test/lib/cpu_cost.h).
const gateFactor = 4

// inFull is the start of a message that `./dev test` looks for in the output of a test with a long
// form.
const inFull = "in full: ./dev test --long "

// Small says whether t must run its small form. That is so everywhere but in this part of the long
// run.
func Small(t TB, part string) bool {
	t.Helper()
	checkPart(t, part)
	if playing != part {
		t.Logf("%s%s", inFull, part)
	}
	return playing != part
}

// Long skips t everywhere but in this part of the long run.
func Long(t interface {
	TB
	Skipf(format string, args ...any)
}, part string) {
	t.Helper()
	checkPart(t, part)
	if playing != part {
		t.Skipf("%s%s", inFull, part)
	}
}

// Figure checks a measured figure. In the long run it must hold. The gate only logs it, because
// there it depends on the machine as much as on muster.
func Figure(t TB, holds bool, format string, args ...any) {
	t.Helper()
	if holds || InGate() {
		t.Logf(format, args...)
	} else {
		t.Errorf(format, args...)
	}
}

// Part is a part of the long run with tests of these packages.
type Part struct {
	Name  string
	tests []*regexp.Regexp // one for each level of a test's name, as in `go test -run`
}

// Parts reads test/long-parts.txt.
func Parts(t TB) (parts []Part) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "test/long-parts.txt"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for line := range strings.Lines(string(text)) {
		columns := columnsOf.Split(strings.TrimSpace(line), -1)
		if strings.HasPrefix(line, "#") || len(columns) < 4 {
			continue
		}
		pattern, ours := strings.CutPrefix(columns[3], "go ")
		if !ours {
			continue
		}
		part := Part{Name: columns[0]}
		for each := range strings.SplitSeq(pattern, "/") {
			part.tests = append(part.tests, regexp.MustCompile(each))
		}
		parts = append(parts, part)
	}
	return parts
}

var columnsOf = regexp.MustCompile(` +\| +`)

// Plays says whether the part runs a test.
func (p Part) Plays(test string) bool {
	for i, name := range strings.Split(test, "/") {
		if i < len(p.tests) && !p.tests[i].MatchString(name) {
			return false
		}
	}
	return true
}

// checkPart fails a test that names a part which does not run it.
func checkPart(t TB, name string) {
	t.Helper()
	if !slices.ContainsFunc(Parts(t), func(p Part) bool { return p.Name == name && p.Plays(t.Name()) }) {
		t.Fatalf("test/long-parts.txt: part %q does not run %s", name, t.Name())
	}
}

// silence is the minimum time for which NoneBound watches.
func silence() time.Duration {
	if InGate() {
		return 2 * time.Second
	}
	return 10 * time.Second
}
