package bench

import "strings"

// Promise is a bound for a figure.
type Promise struct {
	// Key is the ID of the figure, and another word if the figure has several bounds.
	Key  string
	What string
	// Least says that the figure must be at least the bound; otherwise at most.
	Least bool
	Bound float64
	Unit  string
	// Anywhere says that the bound depends neither on the size nor on the speed of the machine.
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

// Promises are all promises, in the order of the report.
var Promises = []Promise{
	{"P01", "makespan with 5,000 nodes: stock ÷ muster", true, 1.1, times, false},
	{"P01 all-nodes", "the same, stock with percentageOfNodesToScore: 100", true, 4, times, false},
	{"P02", "makespan with 1,000 nodes: stock ÷ muster", true, 1, times, false},
	{"P03 1,000", "makespan with 1,000 nodes: stock ÷ muster with the express lane", true, 2.5, times, false},
	{"P03 5,000", "makespan with 5,000 nodes: stock ÷ muster with the express lane", true, 3, times, false},
	{"P04 cpu", "CPU time in P01, each from its own start: muster ÷ kube-scheduler", false, 0.25, times, false},
	{"P04 together", "CPU time in P01: kube-scheduler and muster ÷ the stock scheduler", false, 0.4, times, false},
	{"P04 together express", "the same with the express lane", false, 0.25, times, false},
	{"P04 memory", "muster's peak memory with 5,000 nodes and 50,000 pods", false, 100, mib, false},
	{"P04 memory-ratio", "peak memory with 5,000 nodes and 50,000 pods: muster ÷ kube-scheduler", false, 0.5, times, true},
	{"P05 filter-names", "filter with 5,000 node names: p99 of muster ÷ jansson parsing the same bytes", false, 1.5, times, true},
	{"P05 filter-one-name", "filter with one node name: p99 of muster ÷ jansson parsing 5,000 names", false, 0.1, times, true},
	{"P05 filter-whole-nodes", "filter with 5,000 complete nodes (nodeCacheCapable: false): p99 of muster ÷ jansson", false, 1.5, times, true},
	{"P05 bind", "bind: the API server's answer until muster's reply ÷ the API server's own time", false, 0.1, times, false},
	{"P06 plan-1000", "plan of 1,000 members on 5,000 nodes of 20 classes ÷ one plain pass", false, 5, times, true},
	{"P06 ten-times-nodes", "plan of 1,000 members: 50,000 nodes ÷ 5,000 nodes", false, 3, times, true},
	{"P06 waiting-list", "check of 1,250 waiting gangs ÷ one plain pass", false, 5, times, true},
	{"Q09 one-gpu", "decision to evict for a gang of 1,000 with 1 GPU each ÷ plan of this gang with free room", false, 30, times, false},
	{"Q09 eight-gpus", "the same with 8 GPUs each", false, 30, times, false},
	{"Q09 mixed", "the same with 1, 2, 4 and 8 GPUs", false, 30, times, false},
	{"Q09 node-short", "the same with 8 GPUs each, when one node too few can be freed", false, 30, times, false},
	{"Q09 nothing", "the same with 8 GPUs each, when no node can be freed", false, 30, times, false},
	{"Q09 passes", "the longest of these decisions ÷ one plain pass", false, 30, times, true},
	{"Q09a waiting-list", "check of 1,250 waiting gangs: with 1,000 queues ÷ without", false, 1.2, times, true},
	{"Q09a shares-due", "the same in a step that computes fair shares, once a second", false, 1.2, times, true},
	{"Q09a first-plans", "plans of 1,250 gangs: with 1,000 queues ÷ without", false, 1.2, times, true},
	{"P07 gated", "pods/s with 1,250 gated waiting gangs ÷ pods/s without them", true, 0.9, times, false},
	{"P07 gated profiles", "the same, with all profiles that muster scheduler-config prints", true, 0.9, times, false},
	{"P07 open", "pods/s with 1,250 waiting gangs without gates ÷ pods/s without them", true, 0.5, times, false},
	{"P07 patient", "the same, with longer backoffs in kube-scheduler (docs/gates.md)", true, 0.5, times, false},
	{"P08", "a gang of 8, last pod created until all are bound: p95 of muster ÷ stock", false, 1.5, times, false},
	{"P09", "24 gangs of 8 pods of 4 GPUs on 128 GPUs: makespan ÷ ideal", false, 1.10, times, false},
	{"P09 gated", "the same with gates", false, 1.10, times, false},
	{"P09 express", "the same with the express lane", false, 1.10, times, false},
	{"P10", "start with 5,000 nodes and 50,000 pods: muster ready ÷ the stock scheduler's first Binding", false, 1, times, false},
	{"P11 unsteered", "API writes for each placed pod, with steering: never", false, 2.1, writes, true},
	{"P11 steered", "API writes for each placed pod, with steering: always", false, 3.1, writes, true},
	{"P11 gang", "additional API writes for each gang", false, 4, writes, true},
	{"P12 together", "a gang of 1,000, first to last Binding: muster ÷ the API server alone", false, 1.5, times, false},
	{"P12 all", "1,000 pods, last pod created until all are bound: a gang with muster ÷ single pods with stock", false, 1, times, false},
	{"P13", "largest spread inside a gang ÷ makespan, in P01", false, 0.05, times, false},
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
