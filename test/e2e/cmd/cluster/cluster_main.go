// Command cluster runs a real control plane, with muster registered in its scheduler, to try things
// on:
//
//	cluster up   --muster BIN --dir DIR    starts it in the background
//	cluster down --dir DIR                 stops it
//	cluster tools                          prints the programs that it needs, for build-tools
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster.dev/e2e/testbed"
)

func main() {
	flags := flag.NewFlagSet("cluster", flag.ExitOnError)
	muster := flags.String("muster", "", "the muster program (default: $MUSTER_BIN, else build/release/muster)")
	dir := flags.String("dir", "", "where the cluster's data, logs and kubeconfig go (required)")
	minor := flags.String("kubernetes", testbed.Default.Minor, "Kubernetes version: 1.33, 1.36 or 1.37")
	crds := flags.String("crds", "kai,volcano,sigs,x-k8s", "whose PodGroups are served")
	operators := flags.String("operators", "", "which run: kuberay, jobset, lws, mpi-operator, training-operator")
	nodes := flags.Int("nodes", 4, "nodes of two GPUs each to begin with")
	if len(os.Args) < 2 {
		fail("usage: cluster up|down --dir DIR [--muster BIN] [--kubernetes 1.33|1.36|1.37] [--crds NAME,...] [--operators NAME,...] [--nodes N]")
	}
	_ = flags.Parse(os.Args[2:])
	if *dir == "" && os.Args[1] != "tools" {
		fail("--dir is missing")
	}
	folder, err := filepath.Abs(*dir)
	if err != nil {
		fail("%v", err)
	}
	if *muster != "" {
		path, err := filepath.Abs(*muster)
		if err != nil {
			fail("%v", err)
		}
		os.Setenv("MUSTER_BIN", path)
	}
	want := setup{folder, *minor, *crds, *operators, *nodes}
	switch os.Args[1] {
	case "tools":
		os.Exit(testbed.RunScript("tools", func(s *testbed.Script) {
			fmt.Println(strings.Join(testbed.Tools(want.version(s), want.operatorsOf(s)...), "\n"))
		}))
	case "up":
		up(folder, os.Args[2:])
	case "down":
		down(folder)
	case "run": // started by up in the background
		os.Exit(testbed.RunScript("cluster", func(s *testbed.Script) { run(s, want) }))
	default:
		fail("cluster: %q is neither up nor down", os.Args[1])
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(2)
}

// The files through which up, run and down find each other.
func pidFile(folder string) string   { return filepath.Join(folder, "cluster.pid") }
func readyFile(folder string) string { return filepath.Join(folder, "ready") }

// running returns the process that runs the cluster of the folder, or 0.
func running(folder string) int {
	text, err := os.ReadFile(pidFile(folder))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || syscall.Kill(pid, 0) != nil {
		return 0
	}
	return pid
}

func up(folder string, args []string) {
	if pid := running(folder); pid != 0 {
		fmt.Printf("The cluster is up already (process %d).\n\n", pid)
		advise(folder)
		return
	}
	// A cluster starts empty, so delete what an earlier one left.
	if err := os.RemoveAll(filepath.Join(folder, "etcd")); err != nil {
		fail("%v", err)
	}
	_ = os.Remove(readyFile(folder))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		fail("%v", err)
	}
	logFile := filepath.Join(folder, "cluster.log")
	log, err := os.Create(logFile)
	if err != nil {
		fail("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		fail("%v", err)
	}
	daemon := exec.Command(self, append([]string{"run"}, args...)...)
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		fail("%v", err)
	}
	if err := os.WriteFile(pidFile(folder), fmt.Appendln(nil, daemon.Process.Pid), 0o644); err != nil {
		fail("%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	for {
		select {
		case err := <-ended:
			text, _ := os.ReadFile(logFile)
			fail("the cluster did not come up: %v\n%s", err, text)
		case <-time.After(50 * time.Millisecond):
		}
		if _, err := os.Stat(readyFile(folder)); err == nil {
			advise(folder)
			return
		}
	}
}

func down(folder string) {
	pid := running(folder)
	if pid == 0 {
		fmt.Println("The cluster is not running.")
		return
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for range 200 {
		if syscall.Kill(pid, 0) != nil {
			_ = os.Remove(pidFile(folder))
			fmt.Println("The cluster is down.")
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	fail("process %d does not end", pid)
}

// setup is what a cluster consists of.
type setup struct {
	folder, minor, crds, operators string
	nodes                          int
}

func run(s *testbed.Script, want setup) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	c := testbed.StartCluster(s, testbed.Options{Kubernetes: want.version(s), Dir: want.folder, Dialects: want.dialects(s)})
	m := c.StartMuster(s, testbed.MusterOptions{})
	c.StartScheduler(s, testbed.SchedulerOptions{Muster: m})
	for _, operator := range want.operatorsOf(s) {
		c.StartOperator(s, operator, testbed.OperatorOptions{})
	}
	for i := range want.nodes {
		c.AddNodes(s, testbed.Node(fmt.Sprintf("gpu-%d", i), testbed.GPUs(2)))
	}
	want.writeEnvironment(s, m)
	if err := writeWhole(readyFile(want.folder), want.advice(m)); err != nil {
		s.Fatalf("%v", err)
	}
	<-stop
}

// writeWhole writes a file that a waiting reader sees complete or not at all.
func writeWhole(path, text string) error {
	part := path + ".part"
	if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func (want setup) version(s *testbed.Script) testbed.Kubernetes {
	for _, version := range testbed.Versions {
		if version.Minor == want.minor {
			return version
		}
	}
	s.Fatalf("--kubernetes: unknown version %q; write 1.33, 1.36 or 1.37", want.minor)
	return testbed.Kubernetes{}
}

func (want setup) operatorsOf(s *testbed.Script) []testbed.Operator {
	var operators []testbed.Operator
	for name := range strings.SplitSeq(want.operators, ",") {
		if name != "" {
			operators = append(operators, testbed.OperatorNamed(s, name))
		}
	}
	return operators
}

// dialects are the dialects to install.
func (want setup) dialects(s *testbed.Script) []testbed.Dialect {
	known := []testbed.Dialect{testbed.KAI, testbed.Volcano, testbed.Sigs, testbed.SchedulerPlugins}
	var dialects []testbed.Dialect
	for name := range strings.SplitSeq(want.crds, ",") {
		i := slices.IndexFunc(known, func(d testbed.Dialect) bool { return d.Name == name })
		if i < 0 {
			s.Fatalf("--crds: unknown dialect %q; write kai, volcano, sigs or x-k8s", name)
		}
		dialects = append(dialects, known[i])
	}
	return dialects
}

// advise prints the commands to try, which run has stored.
func advise(folder string) {
	text, err := os.ReadFile(readyFile(folder))
	if err != nil {
		fail("%v", err)
	}
	fmt.Print(string(text))
}

// writeEnvironment writes the file that a shell sources to use this cluster, and the commands that it puts
// into PATH: kubectl, and muster, which asks the muster of this cluster.
func (want setup) writeEnvironment(s *testbed.Script, m *testbed.Muster) {
	programs := filepath.Join(want.folder, "bin")
	if err := os.RemoveAll(programs); err != nil {
		s.Fatalf("%v", err)
	}
	if err := os.MkdirAll(programs, 0o755); err != nil {
		s.Fatalf("%v", err)
	}
	kubectl, err := filepath.Abs(testbed.KubectlPath(testbed.Root(s)))
	if err != nil {
		s.Fatalf("%v", err)
	}
	if err := os.Symlink(kubectl, filepath.Join(programs, "kubectl")); err != nil {
		s.Fatalf("%v", err)
	}
	for _, file := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{"bin/muster", fmt.Sprintf(musterCommand, m.Ops, m.Binary), 0o755},
		{environmentFile, fmt.Sprintf("export KUBECONFIG='%s'\nexport PATH='%s':\"$PATH\"\n",
			filepath.Join(want.folder, "admin.kubeconfig"), programs), 0o644},
	} {
		if err := os.WriteFile(filepath.Join(want.folder, file.name), []byte(file.text), file.mode); err != nil {
			s.Fatalf("%v", err)
		}
	}
}

const environmentFile = "env"

// The cluster's ports differ each time, so this command adds the address for those that need one.
const musterCommand = `#!/bin/sh
# muster, with the address of this cluster's muster.
case "${1:-} ${2:-}" in
"get "* | "explain "* | "check -f"*)
	command=$1
	shift
	set -- "$command" --server %s "$@"
	;;
esac
exec '%s' "$@"
`

// advice is what to type in this cluster.
func (want setup) advice(m *testbed.Muster) string {
	gang, try := "NAMESPACE/GANG", "  # examples/ and docs/documents/ have more to try\n"
	if strings.Contains(want.crds, testbed.KAI.Name) && want.nodes >= 4 {
		gang, try = "default/train", "  kubectl apply -f examples/train.yaml\n"
	}
	return fmt.Sprintf(`A Kubernetes control plane is running, with muster registered in its kube-scheduler.
It has %d nodes of two GPUs each. KWOK plays the nodes: pods become Running, but no container starts.

  . %s        # kubectl and muster for this cluster
  kubectl get nodes
%s  kubectl get pods -o wide
  muster get gangs
  muster explain %s
  curl http://%s/api/v1/gangs

Logs are in %s. ./dev cluster down ends it.
`, want.nodes, filepath.Join(want.folder, environmentFile), try, gang, m.Ops, want.folder)
}
