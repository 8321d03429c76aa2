package scenarios

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/e2e/testbed"
)

const readme = "../../../README.md"

// The path of a new user: the commands of README.md, from `./dev cluster up` to the placed gang.
func TestReadme_FirstGang(t *testing.T) {
	beside(t)
	advice := walkDevCluster(t, readme)
	for _, text := range []string{"kubectl apply -f examples/train.yaml", "muster explain default/train"} {
		if !strings.Contains(advice, text) {
			t.Errorf("`./dev cluster up` does not print %q:\n%s", text, advice)
		}
	}
}

// walkDevCluster types the commands of a page that begin with `./dev cluster up` and end with
// `./dev cluster down`, and returns the output of the first. The cluster finds only the programs that
// `./dev cluster up` builds.
func walkDevCluster(t *testing.T, page string) (advice string) {
	t.Helper()
	steps := console(t, page)
	last := len(steps) - 1
	const up, down = "./dev cluster up", "./dev cluster down"
	if last < 3 || !strings.HasPrefix(steps[0].command, up) || steps[1].command != ". build/cluster/env" ||
		steps[last].command != down {
		t.Fatalf("%s: the first commands are not `%s` and `. build/cluster/env`, or the last one is not `%s`: %v",
			page, up, down, steps)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "cluster")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/cluster").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	binary, err := filepath.Abs(testbed.MusterPath(t))
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(folder, "tools")
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command(program, append(args, "--dir", folder, "--muster", binary)...)
		command.Env = append(os.Environ(), "MUSTER_TOOLS="+tools)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("cluster %s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(run("tools")) {
		if err := os.Symlink(testbed.ToolPath(t, name), filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}

	t.Cleanup(func() { _ = exec.Command(program, "down", "--dir", folder).Run() })
	advice = run(append([]string{"up"}, strings.Fields(strings.TrimPrefix(steps[0].command, up))...)...)
	environment := filepath.Join(folder, "env")
	if !strings.Contains(advice, ". "+environment) {
		t.Errorf("`%s` does not print %q:\n%s", steps[0].command, environment, advice)
	}
	// bash reads this file before each command.
	shell := testbed.NewShell(testbed.Root(t), "BASH_ENV="+environment, "HOME="+folder)
	walk(t, shell, page, steps[2:last])
	if err := looksLike(run("down"), steps[last].shown); err != nil {
		t.Error(err)
	}
	return advice
}

// The gang that README.md shows is the file that it has the reader apply.
func TestReadme_ShowsTheExample(t *testing.T) {
	beside(t)
	_, shown, _ := strings.Cut(read(t, readme), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	if shown != read(t, example(t, "train.yaml")) {
		t.Errorf("README.md does not show examples/train.yaml, but\n%s", shown)
	}
}
