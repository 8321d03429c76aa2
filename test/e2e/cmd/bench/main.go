// Command bench compares the stock kube-scheduler with the same scheduler and
// muster, on a real control plane. Groups and pods are created while the
// scheduler is down, so that their creation is not measured; the time runs from
// the scheduler's start to the last binding.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// size is what is scheduled, and onto what.
type size struct{ nodes, gangs, members int }

func (s size) pods() int { return s.gangs * s.members }

// result is what one run measured.
type result struct {
	makespan    time.Duration // scheduler's start to last binding
	firstToLast time.Duration
	worstSpread time.Duration // first to last binding inside a gang
	usage       map[string]testbed.Usage
	writes      []testbed.Write
}

func (r result) podsPerSecond(pods int) float64 { return float64(pods) / r.makespan.Seconds() }

func main() {
	var s size
	flag.IntVar(&s.nodes, "nodes", 1000, "fake nodes")
	flag.IntVar(&s.gangs, "gangs", 125, "gangs")
	flag.IntVar(&s.members, "members", 8, "members of each gang, one GPU each")
	repetitions := flag.Int("repetitions", 3, "runs of each; the median is reported")
	quick := flag.Bool("quick", false, "one small run of each, to see that it works")
	flag.Parse()
	if *quick {
		s, *repetitions = size{100, 12, 8}, 1
	}
	os.Exit(testbed.RunScript("bench", func(script *testbed.Script) {
		fmt.Printf("%d nodes, %d gangs of %d, %d repetitions\n\n", s.nodes, s.gangs, s.members, *repetitions)
		var stock, gangs []result
		// Alternating, so that a machine that slows down slows both.
		for range *repetitions {
			stock = append(stock, measure(script, s, false))
			gangs = append(gangs, measure(script, s, true))
		}
		report(s, median(stock), median(gangs))
		fmt.Printf("\nratio of pods/s, muster to stock: %.2f (each run: %s)\n",
			median(gangs).podsPerSecond(s.pods())/median(stock).podsPerSecond(s.pods()),
			ratios(stock, gangs))
	}))
}

// measure starts a fresh cluster for one run.
func measure(script *testbed.Script, s size, withMuster bool) (r result) {
	name := "stock"
	if withMuster {
		name = "muster"
	}
	status := testbed.RunScript("bench "+name, func(run *testbed.Script) {
		r = schedule(run, s, withMuster)
	})
	if status != 0 {
		script.Fatalf("the run with %s failed", name)
	}
	fmt.Printf("%-7s makespan %6.2f s, %6.0f pods/s\n", name, r.makespan.Seconds(), r.podsPerSecond(s.pods()))
	return r
}

func schedule(run *testbed.Script, s size, withMuster bool) result {
	c := testbed.StartCluster(run, testbed.Options{
		Dialects: []testbed.Dialect{testbed.Sigs}, WithoutKWOK: true, WithoutControllers: true})
	c.Namespace(run, "bench")
	var nodes []*corev1.Node
	for i := range s.nodes {
		nodes = append(nodes, testbed.Node(fmt.Sprintf("n%05d", i), testbed.GPUs(8)))
	}
	c.AddNodes(run, nodes...)
	options := testbed.SchedulerOptions{}
	watched := map[string]*testbed.Process{"kube-apiserver": c.APIServer}
	if withMuster {
		options.Muster = c.StartMuster(run, testbed.MusterOptions{})
		watched["muster"] = options.Muster.Process
	}
	for i := range s.gangs {
		name := fmt.Sprintf("g%04d", i)
		// The stock run has the same objects: links that nobody reads.
		c.Add(run, testbed.Sigs.PodGroup("bench", name, s.members, nil))
		if !withMuster {
			c.Recorder.Excuse(testbed.Sigs.Key("bench", name))
		}
		c.AddPods(run, testbed.Members(testbed.Sigs, "bench", name, s.members, testbed.GPUs(1))...)
	}
	all := testbed.InNamespace("bench")
	c.Recorder.WaitExist(run, all, s.pods(), time.Minute)

	before := map[string]testbed.Usage{}
	for name, process := range watched {
		before[name] = process.Usage()
	}
	writesBefore := c.Metrics(run)
	begin := time.Now()
	watched["kube-scheduler"] = c.StartScheduler(run, options)
	pods := c.Recorder.WaitBound(run, all, s.pods(), 10*time.Minute)
	r := rate(pods, begin)
	r.usage = map[string]testbed.Usage{}
	for name, process := range watched {
		usage := process.Usage()
		usage.CPU -= before[name].CPU
		r.usage[name] = usage
	}
	// Events and statuses follow the bindings: give them the time to.
	time.Sleep(time.Second)
	r.writes = c.Metrics(run).Writes(writesBefore)
	return r
}

func rate(pods []testbed.PodRecord, begin time.Time) result {
	first, last := pods[0].Bound, pods[0].Bound
	gangFirst, gangLast := map[string]time.Time{}, map[string]time.Time{}
	for _, pod := range pods {
		if pod.Bound.Before(first) {
			first = pod.Bound
		}
		if pod.Bound.After(last) {
			last = pod.Bound
		}
		if at, known := gangFirst[pod.Gang]; !known || pod.Bound.Before(at) {
			gangFirst[pod.Gang] = pod.Bound
		}
		if pod.Bound.After(gangLast[pod.Gang]) {
			gangLast[pod.Gang] = pod.Bound
		}
	}
	r := result{makespan: last.Sub(begin), firstToLast: last.Sub(first)}
	for gang, at := range gangFirst {
		r.worstSpread = max(r.worstSpread, gangLast[gang].Sub(at))
	}
	return r
}

// median is the run with the median makespan, whole.
func median(runs []result) result {
	sorted := slices.Clone(runs)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].makespan < sorted[j].makespan })
	return sorted[len(sorted)/2]
}

func ratios(stock, gangs []result) string {
	var each []string
	for i := range stock {
		each = append(each, fmt.Sprintf("%.2f", stock[i].makespan.Seconds()/gangs[i].makespan.Seconds()))
	}
	return strings.Join(each, ", ")
}

func report(s size, stock, gangs result) {
	fmt.Printf("\n%-34s %12s %12s %8s\n", "median run", "stock", "with muster", "ratio")
	row := func(name, format string, a, b float64) {
		ratio := "-"
		if a != 0 {
			ratio = fmt.Sprintf("%.2f", b/a)
		}
		fmt.Printf("%-34s %12s %12s %8s\n", name, fmt.Sprintf(format, a), fmt.Sprintf(format, b), ratio)
	}
	row("pods/s, start to last binding", "%.0f", stock.podsPerSecond(s.pods()), gangs.podsPerSecond(s.pods()))
	row("makespan, s", "%.2f", stock.makespan.Seconds(), gangs.makespan.Seconds())
	row("first to last binding, s", "%.2f", stock.firstToLast.Seconds(), gangs.firstToLast.Seconds())
	row("worst spread inside a gang, s", "%.3f", stock.worstSpread.Seconds(), gangs.worstSpread.Seconds())
	for _, name := range []string{"kube-scheduler", "kube-apiserver", "muster"} {
		row(name+" CPU, s", "%.2f", stock.usage[name].CPU.Seconds(), gangs.usage[name].CPU.Seconds())
		const mebibyte = 1 << 20
		row(name+" peak memory, MiB", "%.0f", float64(stock.usage[name].PeakRSS)/mebibyte,
			float64(gangs.usage[name].PeakRSS)/mebibyte)
	}
	fmt.Printf("\nAPI writes\n")
	counts := map[string][2]int{}
	for i, writes := range [][]testbed.Write{stock.writes, gangs.writes} {
		for _, write := range writes {
			key := write.Verb + " " + write.Resource
			pair := counts[key]
			pair[i] = write.Count
			counts[key] = pair
		}
	}
	var keys []string
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		row(key, "%.0f", float64(counts[key][0]), float64(counts[key][1]))
	}
}
