package testbed

import (
	"os/exec"
	"strings"
)

// kubectlVersion is the kubectl that build-tools makes.
const kubectlVersion = "v1.36.3"

// Kubectl runs a command line as a document prints it, without the leading
// "kubectl", in the given folder (for -f FILE) and with the given input; it
// returns the output.
func (c *Cluster) Kubectl(t TB, folder, input, line string) string {
	t.Helper()
	command := exec.Command(tool(t, "kubectl", kubectlVersion), strings.Fields(line)...)
	command.Dir = folder
	command.Stdin = strings.NewReader(input)
	command.Env = []string{"KUBECONFIG=" + c.Kubeconfig(), "HOME=" + c.Dir}
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", line, err, out, stderrOf(err))
	}
	return string(out)
}
