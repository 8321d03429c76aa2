package testbed

import (
	"errors"
	"os/exec"
	"strings"
)

// kubectlVersion is the version that build-tools builds.
const kubectlVersion = "v1.36.3"

// Kubectl runs a command line from a document, without the leading "kubectl", in this folder (for
// -f FILE) and with this input. It returns the output.
func (c *Cluster) Kubectl(t TB, folder, input, line string) string {
	t.Helper()
	out, err := c.kubectl(t, folder, input, line)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", line, err, out, stderrOf(err))
	}
	return out
}

func (c *Cluster) kubectl(t TB, folder, input, line string) (string, error) {
	t.Helper()
	command := exec.Command(tool(t, "kubectl", kubectlVersion), strings.Fields(line)...)
	command.Dir = folder
	command.Stdin = strings.NewReader(input)
	command.Env = []string{"KUBECONFIG=" + c.Kubeconfig(), "HOME=" + c.Dir}
	out, err := command.Output()
	return string(out), err
}

// KubectlAnswers is Kubectl for commands that also answer with their exit status.
func (c *Cluster) KubectlAnswers(t TB, line string) string {
	t.Helper()
	out, err := c.kubectl(t, c.Dir, "", line)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("kubectl %s: %v", line, err)
	}
	return out
}

// KubectlRefuses fails the test unless kubectl fails on this input, with a message that contains
// the text.
func (c *Cluster) KubectlRefuses(t TB, input, line, words string) {
	t.Helper()
	out, err := c.kubectl(t, c.Dir, input, line)
	if err == nil {
		t.Errorf("kubectl %s succeeds with the input\n%s\nits output is %s", line, input, out)
	} else if says := stderrOf(err); !strings.Contains(says, words) {
		t.Errorf("the error of kubectl %s does not contain %q: %s", line, words, says)
	}
}
