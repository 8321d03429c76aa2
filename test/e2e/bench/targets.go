package bench

import "strings"

// Promise is one bound that a figure is held against.
type Promise struct {
	// Key is the ID of the figure and, where it has several bounds, a word.
	Key  string
	What string
	// Least says that the figure must be at least the bound; else at most.
	Least bool
	Bound float64
	Unit  string
	// Anywhere says that the bound depends neither on size nor on the machine's speed.
	Anywhere bool
}

// ID is the figure's ID: P01 of "P01 all-nodes".
func (p Promise) ID() string {
	id, _, _ := strings.Cut(p.Key, " ")
	return id
}

// Reached says whether a value keeps the promise.
func (p Promise) Reached(value float64) bool {
	if p.Least {
		return value >= p.Bound
	}
	return value <= p.Bound
}

// The units of figures.
const (
	times  = "×"
	mib    = "MiB"
	writes = "writes"
)

// Promises are all of them, in the order of the report.
var Promises = []Promise{
	{"P01", "5,000 nodes: makespan, stock to muster", true, 1.1, times, false},
	{"P01 all-nodes", "5,000 nodes: makespan, stock with percentageOfNodesToScore 100 to muster", true, 4, times, false},
	{"P02", "1,000 nodes: makespan, stock to muster", true, 1, times, false},
	{"P03 1,000", "express lane, 1,000 nodes: makespan, stock to muster", true, 2.5, times, false},
	{"P03 5,000", "express lane, 5,000 nodes: makespan, stock to muster", true, 3, times, false},
	{"P04 cpu", "CPU in P01, muster to kube-scheduler, each from its own start", false, 0.25, times, false},
	{"P04 together", "CPU in P01: kube-scheduler and muster together, to the stock scheduler", false, 0.4, times, false},
	{"P04 together express", "the same with the express lane", false, 0.25, times, false},
	{"P04 memory", "peak memory with 5,000 nodes and 50,000 pods", false, 100, mib, false},
	{"P04 memory-ratio", "peak memory with 5,000 nodes and 50,000 pods, muster to kube-scheduler", false, 0.5, times, true},
	{"P05 filter-names", "filter with 5,000 names: p99 in muster to jansson parsing the same bytes", false, 1.5, times, true},
	{"P05 filter-one-name", "filter with one name: p99 in muster to jansson parsing 5,000", false, 0.1, times, true},
	{"P05 filter-whole-nodes", "filter with 5,000 whole nodes (nodeCacheCapable: false): p99 to jansson", false, 1.5, times, true},
	{"P05 bind", "bind: API server's answer to muster's reply, to the API server's own time", false, 0.1, times, false},
	{"P06 plan-1000", "plan of 1,000 members, 5,000 nodes of 20 classes, to one plain pass", false, 5, times, true},
	{"P06 ten-times-nodes", "plan of 1,000 members, 50,000 nodes to 5,000", false, 3, times, true},
	{"P06 waiting-list", "1,250 waiting gangs looked at again, to one plain pass", false, 5, times, true},
	{"P07 gated", "pods/s beside 1,250 waiting gangs, gated, to pods/s without them", true, 0.9, times, false},
	{"P07 gated profiles", "the same with all profiles that muster scheduler-config prints", true, 0.9, times, false},
	{"P07 open", "pods/s beside 1,250 waiting gangs, not gated, to pods/s without them", true, 0.5, times, false},
	{"P07 patient", "the same with longer backoffs of kube-scheduler (docs/gates.md)", true, 0.5, times, false},
	{"P08", "a gang of 8, last pod created to all bound: p95, muster to stock", false, 1.5, times, false},
	{"P09", "24 gangs of 8 pods of 4 GPUs on 128 GPUs: makespan to ideal", false, 1.10, times, false},
	{"P09 gated", "the same, gated", false, 1.10, times, false},
	{"P09 express", "the same with the express lane", false, 1.10, times, false},
	{"P10", "5,000 nodes, 50,000 pods: muster ready to the stock scheduler's first binding", false, 1, times, false},
	{"P11 unsteered", "API writes for each placed pod, steering: never", false, 2.1, writes, true},
	{"P11 steered", "API writes for each placed pod, steering: always", false, 3.1, writes, true},
	{"P11 gang", "API writes for each gang beside them", false, 4, writes, true},
	{"P12 together", "a gang of 1,000: first to last binding, to the API server alone", false, 1.5, times, false},
	{"P12 all", "a gang of 1,000: last pod created to all bound, to stock with 1,000 single pods", false, 1, times, false},
	{"P13", "worst spread inside any gang to the makespan, in P01", false, 0.05, times, false},
}

// PromiseOf finds a promise by its key.
func PromiseOf(key string) (Promise, bool) {
	for _, p := range Promises {
		if p.Key == key {
			return p, true
		}
	}
	return Promise{}, false
}
