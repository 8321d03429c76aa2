package testbed

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Shell runs commands as a person would: in bash, with the real kubectl and muster on the PATH. It
// has its own kubeconfig, because commands may change the current namespace.
type Shell struct {
	Folder      string // where the next command runs
	environment []string
}

// Shell opens a shell.
func (c *Cluster) Shell(t TB, muster *Muster, folder string) *Shell {
	t.Helper()
	home, err := os.MkdirTemp(c.Dir, "home-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	programs := map[string]string{"kubectl": tool(t, "kubectl", kubectlVersion)}
	if muster != nil {
		programs["muster"] = muster.Binary
	}
	for name, path := range programs {
		absolute, err := filepath.Abs(path)
		if err == nil {
			err = os.Symlink(absolute, filepath.Join(home, name))
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	kubeconfig, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &Shell{Folder: folder, environment: []string{
		"PATH=" + home + ":" + os.Getenv("PATH"), "HOME=" + home,
		"KUBECONFIG=" + file(t, home, "kubeconfig", kubeconfig)}}
}

// NewShell opens one for programs that the test did not start itself.
func NewShell(folder string, environment ...string) *Shell {
	return &Shell{Folder: folder, environment: append(os.Environ(), environment...)}
}

func (s *Shell) command(ctx context.Context, line string) *exec.Cmd {
	command := exec.CommandContext(ctx, "bash", "-c", line)
	command.Dir, command.Env = s.Folder, s.environment
	// The commands of a pipe end together.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return command
}

// Type runs a command line. It returns what a terminal would show, and the error.
func (s *Shell) Type(line string) (string, error) {
	ctx, cancel := soon()
	defer cancel()
	out, err := s.command(ctx, line).CombinedOutput()
	return string(out), err
}

// Watching is a command that does not end by itself.
type Watching struct {
	Line   string
	mu     sync.Mutex
	output bytes.Buffer
}

// Watch starts a command that runs until the test ends.
func (s *Shell) Watch(t TB, line string) *Watching {
	t.Helper()
	w := &Watching{Line: line}
	ctx, cancel := context.WithCancel(context.Background())
	command := s.command(ctx, line)
	command.Stdout, command.Stderr = w, w
	command.WaitDelay = 5 * time.Second
	if err := command.Start(); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	return w
}

func (w *Watching) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output.Write(text)
}

// Seen is the output so far.
func (w *Watching) Seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output.String()
}
