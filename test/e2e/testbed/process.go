package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a program of the test bed. It has its own process group, and its output goes to a
// file.
type Process struct {
	Name    string
	LogFile string
	Started time.Time
	command *exec.Cmd
	exited  chan struct{}
	ending  atomic.Bool // stopped by the test bed
}

// launcher starts programs from one thread that never ends, because Linux sends the parent-death
// signal when the starting *thread* ends, not the process.
var launcher = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		runtime.LockOSThread()
		for request := range requests {
			request()
		}
	}()
	return requests
})

// startProcess runs a program until the test ends. If the test fails, the end of its log is
// printed.
func startProcess(t TB, folder, name string, command *exec.Cmd) *Process {
	t.Helper()
	logFile := filepath.Join(folder, name+".log")
	// A program that is started again continues the same log.
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer log.Close()
	command.Stdout, command.Stderr, command.Dir = log, log, folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	launcher() <- func() { started <- command.Start() }
	if err := <-started; err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	p := &Process{Name: name, LogFile: logFile, Started: time.Now(), command: command, exited: make(chan struct{})}
	go func() {
		_ = command.Wait()
		if !p.ending.Load() {
			t.Errorf("%s ended by itself: %v\n%s", name, command.ProcessState, p.LogTail(30))
		}
		close(p.exited)
	}()
	t.Cleanup(p.Kill)
	return p
}

// PID is the program's process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Exited is closed when the program has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Running says whether the program still runs.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Kill is kill -9 of the whole process group. It returns when the program has ended.
func (p *Process) Kill() {
	p.ending.Store(true)
	if p.Running() {
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	}
	<-p.exited
}

// Pause stops the program until Resume. Everything that happens meanwhile reaches it at once.
func (p *Process) Pause() { _ = syscall.Kill(-p.PID(), syscall.SIGSTOP) }

// Resume continues a paused program.
func (p *Process) Resume() { _ = syscall.Kill(-p.PID(), syscall.SIGCONT) }

// Terminate sends SIGTERM and returns an error unless the program ends in time, with status 0.
func (p *Process) Terminate(limit time.Duration) error {
	p.ending.Store(true)
	_ = syscall.Kill(p.PID(), syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(limit):
		return fmt.Errorf("%s still runs %v after SIGTERM", p.Name, limit)
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with %v after SIGTERM", p.Name, p.command.ProcessState)
	}
	return nil
}

// LogTail is the end of the program's output.
func (p *Process) LogTail(lines int) string { return tail(p.LogFile, lines) }

func tail(file string, lines int) string {
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	const most = 256 << 10
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	text, _ := io.ReadAll(f)
	all := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return string(bytes.Join(all, []byte("\n")))
}

// waitReady polls an address until it answers 200, the program ends, or the time is over.
func (p *Process) waitReady(t TB, client *http.Client, url string, limit time.Duration) {
	t.Helper()
	deadline := time.Now().Add(limit)
	last := "no answer"
	for time.Now().Before(deadline) {
		if !p.Running() {
			t.Fatalf("%s ended before it was ready: %v\n%s", p.Name, p.command.ProcessState, p.LogTail(30))
		}
		status, body, err := get(client, url)
		if err == nil && status == http.StatusOK {
			return
		}
		if err != nil {
			last = err.Error()
		} else {
			last = fmt.Sprintf("%d %s", status, strings.TrimSpace(body))
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s is not ready after %v: %s\n%s", p.Name, limit, last, p.LogTail(30))
}

func get(client *http.Client, url string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	reply, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

var ports struct {
	sync.Mutex
	given map[int]bool
}

// freePort finds a port of 127.0.0.1 that no program listens on. It never returns the same port
// twice, because clusters start at the same time.
func freePort(t TB) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for range 100 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("%v", err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		listener.Close()
		if !ports.given[port] {
			ports.given[port] = true
			return port
		}
	}
	t.Fatalf("%v", errors.New("no free port"))
	return 0
}

// WaitLog waits until the program's output contains the text.
func (p *Process) WaitLog(t TB, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s says %q", p.Name, text), func() error {
		log, err := os.ReadFile(p.LogFile)
		if err == nil && !bytes.Contains(log, []byte(text)) {
			err = fmt.Errorf("its log ends with\n%s", p.LogTail(3))
		}
		return err
	})
}
