package testbed

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a program has used so far.
type Usage struct {
	CPU     time.Duration
	PeakRSS int64 // bytes
}

// clockTick is USER_HZ: 100 on every Linux that is relevant here.
const clockTick = 10 * time.Millisecond

// Usage reads the program's CPU time and peak memory from /proc.
func (p *Process) Usage() Usage {
	var usage Usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return usage
	}
	// The name in parentheses may contain spaces, so count from its end. There, fields 11 and 12
	// are utime and stime.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) > 12 {
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		usage.CPU = time.Duration(user+system) * clockTick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return usage
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			usage.PeakRSS = kilobytes << 10
		}
	}
	return usage
}

// WaitCalm waits until the API server has finished the work of its own start: for some seconds
// after it is ready, it writes documents about all APIs. With two cores for everything, that would
// disturb a measurement.
func (c *Cluster) WaitCalm(t TB) {
	t.Helper()
	const pause, busy = time.Second, 0.1
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		before := c.APIServer.Usage().CPU
		time.Sleep(pause)
		if (c.APIServer.Usage().CPU - before).Seconds() < busy*pause.Seconds() {
			return
		}
	}
	t.Logf("the API server has been busy for 30 s without requests")
}
