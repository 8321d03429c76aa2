package scenarios

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster.dev/e2e/testbed"
)

// blocks are the code blocks of docs/install.md in one language, without indentation.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	pattern := regexp.MustCompile("(?ms)^( *)```" + language + "\n(.*?)^ *```$")
	for _, match := range pattern.FindAllStringSubmatch(read(t, "../../../docs/install.md"), -1) {
		var lines []string
		for _, line := range strings.Split(match[2], "\n") {
			lines = append(lines, strings.TrimPrefix(line, match[1]))
		}
		found = append(found, strings.Join(lines, "\n"))
	}
	return found
}

// blockWith is the only block that contains the text.
func blockWith(t *testing.T, language, words string) string {
	t.Helper()
	var found []string
	for _, block := range blocks(t, language) {
		if strings.Contains(block, words) {
			found = append(found, block)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks of install.md contain %q, want one", len(found), words)
	}
	return found[0]
}

// Installation by hand: the files that install.md creates, and kube-scheduler with --config and the
// flags that kubeadm 1.36 writes into its manifest, including those that name a kubeconfig.
func TestInstall_ByHandBesideKubeadmsScheduler(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
	m := c.StartMuster(t, testbed.MusterOptions{})
	folder, programs := t.TempDir(), t.TempDir()
	if err := os.Symlink(m.Binary, filepath.Join(programs, "muster")); err != nil {
		t.Fatal(err)
	}
	kubeconfig := c.SchedulerKubeconfig(t)
	shell := exec.Command("sh", "-eu", "-c", strings.NewReplacer("/etc/kubernetes/muster", folder,
		"/etc/kubernetes/scheduler.conf", kubeconfig).Replace(blockWith(t, "sh", "muster scheduler-config")))
	shell.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH")}
	out, err := shell.CombinedOutput()
	if err != nil || string(out) != "ok\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	// Another program may use the usual port here.
	path := filepath.Join(folder, "scheduler.yaml")
	text := strings.Replace(read(t, path), "127.0.0.1:9910", m.Verbs, 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c.RunScheduler(t, "kube-scheduler", "--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig, "--kubeconfig="+kubeconfig, "--leader-elect=true", "--config="+path)

	c.Namespace(t, "ml")
	c.AddNodes(t, testbed.Node("a", testbed.GPUs(2)))
	gang := testbed.InGang(testbed.Sigs, "ml", "ddp")
	c.Add(t, testbed.Sigs.PodGroup("ml", "ddp", 3, nil))
	c.AddPods(t, testbed.Members(testbed.Sigs, "ml", "ddp", 3, testbed.GPUs(1))...)
	c.Recorder.AllSay(t, gang, 3, "3 members needed, room for 2")
	c.AddNodes(t, testbed.Node("b", testbed.GPUs(1)))
	c.Recorder.WaitRunning(t, gang, 3, 30*time.Second)
	c.Recorder.Together(t, gang)
}

// The API server accepts the static pod of install.md.
func TestInstall_StaticPod(t *testing.T) {
	beside(t)
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	c.Kubectl(t, c.Dir, blockWith(t, "yaml", "kind: Pod"), "create --dry-run=server --validate=strict -f -")
}

// The command of README.md and install.md: both show the same one, Helm accepts it, and the pod has the
// images that it names.
func TestInstall_HelmCommand(t *testing.T) {
	beside(t)
	command := blockWith(t, "sh", "docker build")
	command = command[strings.Index(command, "helm install"):strings.Index(command, "kubectl")]
	if !strings.Contains(read(t, readme), command) {
		t.Errorf("README.md does not show the command of install.md:\n%s", command)
	}
	c := testbed.StartCluster(t, testbed.Options{WithoutKWOK: true, WithoutControllers: true})
	programs := t.TempDir()
	if err := os.Symlink(testbed.HelmPath(t), filepath.Join(programs, "helm")); err != nil {
		t.Fatal(err)
	}
	shell := testbed.NewShell(testbed.Root(t), "PATH="+programs+":"+os.Getenv("PATH"), "HOME="+programs,
		"KUBECONFIG="+c.Kubeconfig())
	if out, err := shell.Type(command); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	images := c.Kubectl(t, c.Dir, "", "-n muster-system get deployment muster -o jsonpath={.spec.template.spec.containers[*].image}")
	for _, image := range []string{"REGISTRY/muster:0.1.0", "REGISTRY-OF-KUBE-SCHEDULER/kube-scheduler:" + testbed.Default.Version} {
		if !strings.Contains(images, image) {
			t.Errorf("the images are %s, without %s", images, image)
		}
	}
}
