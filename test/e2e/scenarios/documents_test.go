package scenarios

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// A command and the output that a terminal shows for it.
type typed struct {
	command, shown string
	line           int // line number in the file
}

// console reads the commands of a text: "$ " starts a command, "> " continues it, and the following
// lines are its output. In Markdown, it reads only blocks marked console.
func console(t *testing.T, path string) []typed {
	t.Helper()
	var all []typed
	markdown, within := strings.HasSuffix(path, ".md"), false
	for i, line := range strings.Split(read(t, path), "\n") {
		line = strings.TrimPrefix(line, "\ufeff")
		if markdown && strings.HasPrefix(line, "```") {
			within = line == "```console"
			continue
		}
		if markdown && !within || !markdown && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "= ") || line == "") {
			continue
		}
		if command, found := strings.CutPrefix(line, "$ "); found {
			all = append(all, typed{command: command, line: i + 1})
			continue
		}
		if len(all) == 0 {
			t.Fatalf("%s:%d: output without a command", path, i+1)
		}
		last := &all[len(all)-1]
		if more, found := strings.CutPrefix(line, "> "); found && last.shown == "" {
			last.command += "\n" + more
		} else {
			last.shown += line + "\n"
		}
	}
	return all
}

// document is one of the source documents: its commands as printed, and a page in docs/documents
// that runs them and shows their output.
type document struct {
	name     string
	dialect  testbed.Dialect
	commands int               // number of commands in the document
	operator *testbed.Operator // that it needs; nil: none
}

func (d document) printed() string { return "../testdata/documents/" + d.name + ".txt" }
func (d document) walk() string    { return "../../../docs/documents/" + d.name + ".md" }

var documents = []document{
	{"kai-recipe", testbed.Recipe, 14, &testbed.KubeRay},
	{"volcano-article", testbed.Volcano, 1, nil},
	{"acs-page", testbed.Sigs, 10, nil},
}

// S10: every command of the three source documents works as printed, in the order of the document,
// and docs/documents shows the output.
func TestS10_DocumentsFromTopToBottom(t *testing.T) {
	t.Parallel()
	for _, d := range documents {
		t.Run(d.name, func(t *testing.T) {
			beside(t)
			d.checkManifests(t)
			steps := console(t, d.walk())
			d.checkComplete(t, steps)
			c := d.start(t)
			m := c.StartMuster(t, testbed.MusterOptions{})
			c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
			walk(t, c.Shell(t, m, copyExamples(t)), d.walk(), steps)
		})
	}
}

// start starts the cluster that the document needs. In the gate, the test itself creates what the
// operator would create.
func (d document) start(t *testing.T) *testbed.Cluster {
	t.Helper()
	dialects := []testbed.Dialect{d.dialect}
	switch {
	case d.operator == nil:
		return testbed.StartCluster(t, testbed.Options{Dialects: dialects})
	case testbed.Small(t, "operators"):
		c := serving(t, dialects, rayClusters)
		playRayClusters(t, c)
		return c
	}
	c := testbed.StartCluster(t, testbed.Options{Dialects: dialects})
	c.StartOperator(t, *d.operator, testbed.OperatorOptions{})
	return c
}

var reader = regexp.MustCompile(`<[a-z]+>`)

// checkComplete checks that a page runs all commands of its document in that order.
func (d document) checkComplete(t *testing.T, steps []typed) {
	t.Helper()
	printed := console(t, d.printed())
	if len(printed) != d.commands {
		t.Errorf("%s has %d commands, but the document has %d", d.printed(), len(printed), d.commands)
	}
	at := 0
	for _, each := range printed {
		// The reader replaces text in <>.
		pattern := regexp.MustCompile("^" + reader.ReplaceAllString(regexp.QuoteMeta(each.command), `[a-z0-9-]+`) + "$")
		found := slices.IndexFunc(steps[at:], func(step typed) bool { return pattern.MatchString(step.command) })
		if found < 0 {
			t.Fatalf("%s does not run this command in its place: %s", d.walk(), each.command)
		}
		at += found + 1
	}
}

// checkManifests checks that the examples are equal to the document's manifests.
func (d document) checkManifests(t *testing.T) {
	t.Helper()
	n := 0
	for line := range strings.Lines(read(t, d.printed())) {
		var sum, name string
		if _, err := fmt.Sscanf(line, "= %s %s", &sum, &name); err != nil {
			continue
		}
		n++
		if now := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, example(t, name))))); now != sum {
			t.Errorf("examples/%s differs from the document: its checksum is %s, want %s", name, now, sum)
		}
	}
	if n == 0 {
		t.Errorf("%s names no manifest", d.printed())
	}
}

// copyExamples copies the repository's examples to a folder of the same name, so that no command
// can change them.
func copyExamples(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(example(t, "."))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// walk runs the commands one after the other and checks their output. A command that only reads is
// repeated until its output is right, because a person types more slowly than this test.
func walk(t *testing.T, shell *testbed.Shell, path string, steps []typed) {
	t.Helper()
	var watches []func()
	for _, step := range steps {
		where := fmt.Sprintf("%s:%d: $ %s", filepath.Base(path), step.line, step.command)
		if folder, found := strings.CutPrefix(step.command, "cd "); found {
			shell.Folder = filepath.Join(shell.Folder, folder)
			continue
		}
		if strings.HasSuffix(step.command, " -w") {
			watching := shell.Watch(t, step.command)
			// A reader who watches in a second terminal waits for output before the next command.
			testbed.Within(t, time.Minute, where, func() error {
				if watching.Seen() == "" {
					return errors.New("there is no output")
				}
				return nil
			})
			watches = append(watches, func() {
				testbed.Within(t, 10*time.Second, where, func() error { return contains(watching.Seen(), step.shown) })
			})
			continue
		}
		limit := time.Minute // the pauses of the Job controller grow
		if !onlyReads.MatchString(step.command) {
			limit = 0
		}
		testbed.Within(t, limit, where, func() error {
			out, err := shell.Type(step.command)
			if err != nil && !strings.HasPrefix(step.shown, "Error from server") {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return looksLike(out, step.shown)
		})
	}
	for _, judge := range watches {
		judge()
	}
}

var onlyReads = regexp.MustCompile(`^(sed [^|]* \| )?(kubectl (get|describe)|muster) `)

// What differs in each run: generated names, times, UIDs.
var differs = []struct {
	pattern *regexp.Regexp
	same    string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-RANDOM"},
	{regexp.MustCompile(`\b\d+ (device|pod)-seconds`), "N $1-seconds"},
	{regexp.MustCompile(`<unknown>|<invalid>|\b(\d+[smhd])+( \(x\d+ over (\d+[smhd])+\))?( ago)?`), "AGE"},
	{regexp.MustCompile(`(Resource Version|resourceVersion|Generation|generation):\s+\S+`), "$1: N"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// lines are the lines of an output without what differs in each run.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		for _, each := range differs {
			line = each.pattern.ReplaceAllString(line, each.same)
		}
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// looksLike compares an output with the expected one: the same lines in any order, because names
// are generated and events of the same second have no order. A line "…" stands for any lines; "…"
// at the end of a line stands for its rest.
func looksLike(out, shown string) error {
	want := slices.DeleteFunc(lines(shown), func(line string) bool { return line == "…" })
	if seen := lines(out); len(want) == len(lines(shown)) && len(seen) != len(want) {
		return fmt.Errorf("got %d lines, want %d:\n%s", len(seen), len(want), out)
	}
	return contains(out, shown)
}

func same(seen, want string) bool {
	if begin, found := strings.CutSuffix(want, "…"); found {
		return strings.HasPrefix(seen, begin)
	}
	return seen == want
}

// contains checks that each expected line is in the output, equal lines as often. "…" allows
// further lines.
func contains(out, shown string) error {
	seen := lines(out)
	for _, line := range lines(shown) {
		if line == "…" {
			continue
		}
		found := slices.IndexFunc(seen, func(s string) bool { return same(s, line) })
		if found < 0 {
			return fmt.Errorf("no line %q in\n%s", line, out)
		}
		seen = slices.Delete(seen, found, found+1)
	}
	return nil
}

// The comparison can fail.
func TestS10_ComparisonOfOutputsCanFail(t *testing.T) {
	const out = "NAME STATUS AGE\na-x2b4c Running 5s\na-zzzzz Pending 5s\n"
	for _, refused := range []string{
		"", "NAME STATUS AGE\n", "NAME STATUS AGE\na-bbbbb Running 1s\na-bbbbb Running 1s\n",
		"…\na-bbbbb Failed 1s\n", "…\na-bbbbb Running 1s\na-bbbbb Running 1s\n",
	} {
		if looksLike(out, refused) == nil {
			t.Errorf("%q counts as equal to %q", out, refused)
		}
	}
	for _, taken := range []string{
		"NAME   STATUS  AGE\na-bbbbb Pending 2m3s\na-bbbbb Running 1s\n", "…\na-bbbbb  Running…\n…\n",
	} {
		if err := looksLike(out, taken); err != nil {
			t.Error(err)
		}
	}
	if contains(out, "a-bbbbb Running 1s\na-bbbbb Running 1s\n") == nil {
		t.Error("one line counts for two expected lines")
	}
}
