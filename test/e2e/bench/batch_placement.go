package bench

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"muster.dev/e2e/testbed"
)

// placing is the experiment of most figures. PodGroups and pods are created while the scheduler is
// down, so that their creation is not measured. The time runs from the start of the scheduler to
// the last binding. The stock scheduler gets the same objects and ignores the links.
type placing struct {
	name, what            string
	nodes, gangs, members int
	comparisons           []comparison
}

// comparison computes one figure from the runs of two set-ups in the same turn.
type comparison struct {
	key        string
	ours, base setup
	rate       func(ours, base run, p placing) rated
}

// rated is a figure and the values on both sides of it.
type rated struct {
	ratio      float64
	ours, base string
}

// run is the result of one set-up in its turn.
type run struct {
	makespan    time.Duration // from the scheduler's start to the last binding
	firstToLast time.Duration
	worstSpread time.Duration            // from the first to the last binding of a gang
	moments     []time.Duration          // times of the bindings, from the scheduler's start
	usage       map[string]testbed.Usage // of each program, from the scheduler's start
	whole       map[string]testbed.Usage // the same, from the program's own start
	writes      []testbed.Write          // to the API, by verb and resource
	reply       rated                    // of bind, see bindReply
	events      map[string]int           // number of events, by the kind of their object
}

var placing5000 = placing{
	name: "placing-5000", what: "5,000 nodes, 250 gangs of 8 one-GPU pods",
	nodes: 5000, gangs: 250, members: 8,
	comparisons: []comparison{
		{"P01", withMuster, stock, faster},
		{"P01 all-nodes", withMuster, stockAllNodes, faster},
		{"P04 cpu", withMuster, withMuster, ownCPU},
		{"P04 together", withMuster, stock, togetherCPU},
		{"P04 together express", withExpress, stock, togetherCPU},
		{"P05 bind", withMuster, withMuster, func(ours, _ run, _ placing) rated { return ours.reply }},
		{"P03 5,000", withExpress, stock, faster},
		{"P13", withMuster, withMuster, spread},
	},
}

var placing1000 = placing{
	name: "placing-1000", what: "1,000 nodes, 250 gangs of 8 one-GPU pods",
	nodes: 1000, gangs: 250, members: 8,
	comparisons: []comparison{
		{"P02", withMuster, stock, faster},
		{"P03 1,000", withExpress, stock, faster},
		{"P11 unsteered", unsteered, unsteered, writesPerPod},
		{"P11 steered", steered, steered, writesPerPod},
		{"P11 gang", steered, steered, writesPerGang},
	},
}

const placingHow = "PodGroups and pods are created while kube-scheduler is down and muster runs. The makespan is the time from " +
	"the start of kube-scheduler until a watch shows the last Binding. All set-ups have the same objects. The " +
	"stock scheduler does not read PodGroups: it places the same pods one by one."

func (p placing) experiment() experiment {
	var keys []string
	for _, c := range p.comparisons {
		keys = append(keys, c.key)
	}
	return experiment{p.name, p.what, placingHow, keys, p.measure}
}

func (p placing) pods() int { return p.gangs * p.members }

func (p placing) measure(t testbed.TB, options Options) Outcome {
	p.nodes, p.gangs = p.nodes/options.Scale, p.gangs/options.Scale
	var setups []setup
	known := map[string]bool{}
	for _, c := range p.comparisons {
		for _, s := range []setup{c.base, c.ours} {
			if options.wants(c.key) && !known[s.name] {
				known[s.name] = true
				setups = append(setups, s)
			}
		}
	}
	b := newBed(t, options, p.nodes, nil)
	runs := map[string][]run{}
	for turn := range options.Turns {
		// No set-up is always first.
		for i := range setups {
			s := setups[(i+turn)%len(setups)]
			r := b.place(s, p)
			runs[s.name] = append(runs[s.name], r)
			fmt.Printf("  turn %d  %-18s makespan %6.2f s, %5.0f pods/s\n", turn+1, s.name,
				r.makespan.Seconds(), float64(p.pods())/r.makespan.Seconds())
		}
	}
	return p.outcome(options, setups, runs)
}

// place is one turn of one set-up.
func (b *bed) place(s setup, p placing) run {
	ns := b.space()
	metricsBefore := b.Metrics(b.t)
	m := b.startMuster(s)
	watched := map[string]*testbed.Process{"kube-apiserver": b.APIServer, "etcd": b.Etcd}
	if m != nil {
		watched["muster"] = m.Process
	}
	b.addGangs(ns, p.gangs, p.members, testbed.GPUs(1))
	if m != nil && testbed.InGate() {
		// What muster writes about a gang while its members are created depends on how long that
		// takes, and so on the machine. The count starts after that.
		b.told(m)
		metricsBefore = b.Metrics(b.t)
	}
	seen := b.watch(ns)
	before := map[string]testbed.Usage{}
	for name, process := range watched {
		before[name] = process.Usage()
	}
	detach := func() {}
	if b.attach != nil {
		detach = b.attach(m)
	}
	watched["kube-scheduler"] = b.startScheduler(s, m)
	begin := watched["kube-scheduler"].Started
	bound := seen.wait(p.pods(), 2*time.Minute)
	seen.stop()
	detach()
	// Events and statuses follow the bindings, muster's after the last binding of a burst. They are
	// part of the cost.
	time.Sleep(time.Second)
	if m != nil {
		b.told(m)
	}
	r := timesOf(bound, begin)
	r.usage, r.whole = map[string]testbed.Usage{}, map[string]testbed.Usage{}
	for name, process := range watched {
		usage := process.Usage()
		r.whole[name] = usage
		usage.CPU -= before[name].CPU
		r.usage[name] = usage
	}
	after := b.Metrics(b.t)
	r.writes = slices.DeleteFunc(after.Writes(metricsBefore), ownWrite)
	r.events = b.countEvents(ns)
	b.checkPlaced(ns, p)
	watched["kube-scheduler"].Kill() // after SIGTERM it would report a lost lease and fail
	if m != nil {
		r.reply = bindReply(m.Metrics(b.t), metricsBefore, after)
		m.Stop(b.t)
	}
	b.clear(ns)
	return r
}

// told waits until muster has sent all its writes.
func (b *bed) told(m *testbed.Muster) {
	b.t.Helper()
	testbed.Within(b.t, time.Minute, "muster has written all", func() error {
		if left := m.Metrics(b.t).Sum("muster_api_queue_length"); left > 0 {
			return fmt.Errorf("%v writes are waiting", left)
		}
		return nil
	})
}

// ownWrite says whether the bench itself makes such writes: objects, and tokens of accounts.
func ownWrite(w testbed.Write) bool {
	return w.Verb == "POST" && slices.Contains([]string{"pods", "podgroups", "serviceaccounts/token", "namespaces",
		"serviceaccounts", "clusterroles", "clusterrolebindings"}, w.Resource)
}

func timesOf(bound []binding, begin time.Time) run {
	first, last := bound[0].at, bound[len(bound)-1].at
	r := run{makespan: last.Sub(begin), firstToLast: last.Sub(first)}
	begun := map[string]time.Time{}
	for _, each := range bound {
		r.moments = append(r.moments, each.at.Sub(begin))
		if _, known := begun[each.gang]; !known {
			begun[each.gang] = each.at
		}
		r.worstSpread = max(r.worstSpread, each.at.Sub(begun[each.gang]))
	}
	return r
}

// countEvents counts the events of a namespace by the kind of their object.
func (b *bed) countEvents(ns string) map[string]int {
	ctx, cancel := soon()
	defer cancel()
	list, err := b.Kube.CoreV1().Events(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		b.t.Fatalf("%v", err)
	}
	counts := map[string]int{}
	for _, event := range list.Items {
		counts[event.InvolvedObject.Kind]++
	}
	return counts
}

// checkPlaced fails unless every pod is bound and no node has more than its GPUs, because a figure
// of a wrong placement is worthless.
func (b *bed) checkPlaced(ns string, p placing) {
	b.t.Helper()
	onNode := map[string]int64{}
	pods := b.pods(ns)
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			b.t.Errorf("%s/%s is not bound", ns, pod.Name)
		}
		gpus := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(testbed.GPU)]
		if onNode[pod.Spec.NodeName] += gpus.Value(); onNode[pod.Spec.NodeName] > 8 {
			b.t.Errorf("node %s has %d GPUs assigned of 8", pod.Spec.NodeName, onNode[pod.Spec.NodeName])
		}
	}
	if len(pods) != p.pods() {
		b.t.Errorf("there are %d pods in %s, but %d were created", len(pods), ns, p.pods())
	}
}

// ---- figures ----

func faster(ours, base run, _ placing) rated {
	return rated{base.makespan.Seconds() / ours.makespan.Seconds(), seconds(ours.makespan) + " s", seconds(base.makespan) + " s"}
}

func ownCPU(ours, _ run, _ placing) rated {
	own, scheduler := ours.whole["muster"].CPU, ours.whole["kube-scheduler"].CPU
	return rated{own.Seconds() / scheduler.Seconds(), seconds(own) + " s", seconds(scheduler) + " s"}
}

// togetherCPU counts from the start of kube-scheduler, like the makespan. The CPU time that muster
// needs before that, while the pods are created, is part of ownCPU.
func togetherCPU(ours, base run, _ placing) rated {
	scheduler, own := ours.usage["kube-scheduler"].CPU, ours.usage["muster"].CPU
	alone := base.usage["kube-scheduler"].CPU
	return rated{(scheduler + own).Seconds() / alone.Seconds(), seconds(scheduler) + " + " + seconds(own) + " s",
		seconds(alone) + " s"}
}

func spread(ours, _ run, _ placing) rated {
	return rated{ours.worstSpread.Seconds() / ours.makespan.Seconds(), seconds(ours.worstSpread) + " s", seconds(ours.makespan) + " s"}
}

// bindReply is the mean time from the API server's answer to a Binding until muster sends the reply
// to the scheduler (muster's metrics), compared with the mean time of a Binding in the API server
// (its own metrics, since the start of the turn).
func bindReply(m, before, after testbed.Metrics) rated {
	own := m.Sum("muster_bind_reply_seconds_sum") / m.Sum("muster_bind_reply_seconds_count")
	took := func(what string) float64 {
		name := "apiserver_request_duration_seconds_" + what
		labels := []string{`verb="POST"`, `resource="pods"`, `subresource="binding"`}
		return after.Sum(name, labels...) - before.Sum(name, labels...)
	}
	server := took("sum") / took("count")
	return rated{own / server, number(own*1000) + " ms", number(server*1000) + " ms"}
}

// ofGangs are the writes about PodGroups; all others are about pods.
func (r run) ofGangs() (pods, gangs int) {
	for _, w := range r.writes {
		if w.Resource == "podgroups" || w.Resource == "podgroups/status" {
			gangs += w.Count
		} else {
			pods += w.Count
		}
	}
	return pods - r.events["PodGroup"], gangs + r.events["PodGroup"]
}

func writesPerPod(ours, _ run, p placing) rated {
	n, _ := ours.ofGangs()
	return rated{float64(n) / float64(p.pods()), fmt.Sprint(n), fmt.Sprintf("%d pods", p.pods())}
}

func writesPerGang(ours, _ run, p placing) rated {
	_, n := ours.ofGangs()
	return rated{float64(n) / float64(p.gangs), fmt.Sprint(n), fmt.Sprintf("%d gangs", p.gangs)}
}

// ---- the stored outcome ----

func (p placing) outcome(options Options, setups []setup, runs map[string][]run) Outcome {
	var o Outcome
	for _, c := range p.comparisons {
		if !options.wants(c.key) {
			continue
		}
		v := Value{Key: c.key}
		var all []rated
		for turn := range options.Turns {
			all = append(all, c.rate(runs[c.ours.name][turn], runs[c.base.name][turn], p))
		}
		v.take(all)
		o.Values = append(o.Values, v)
	}
	o.Tables = []Table{p.programs(setups, runs), p.writes(setups, runs)}
	o.Charts = p.charts(setups, runs)
	return o
}

// middle is the pair of values in the turn with the median.
func middle(all []rated) (ours, base string) {
	var ratios []float64
	for _, each := range all {
		ratios = append(ratios, each.ratio)
	}
	want := Median(ratios)
	for _, each := range all {
		if each.ratio == want {
			return each.ours, each.base
		}
	}
	return "", ""
}

// of is the median of a value over the runs of a set-up.
func of[T int | int64 | float64 | time.Duration](runs []run, what func(run) T) T {
	var values []T
	for _, r := range runs {
		values = append(values, what(r))
	}
	return Median(values)
}

func (p placing) programs(setups []setup, runs map[string][]run) Table {
	table := Table{Title: p.what + ": medians", Columns: []string{""}}
	rows := []struct {
		name string
		cell func([]run) string
	}{
		{"makespan, s", func(r []run) string { return seconds(of(r, func(r run) time.Duration { return r.makespan })) }},
		{"pods/s", func(r []run) string {
			return fmt.Sprintf("%.0f", float64(p.pods())/of(r, func(r run) float64 { return r.makespan.Seconds() }))
		}},
		{"first to last binding, s", func(r []run) string { return seconds(of(r, func(r run) time.Duration { return r.firstToLast })) }},
		{"worst spread inside a gang, s", func(r []run) string { return seconds(of(r, func(r run) time.Duration { return r.worstSpread })) }},
	}
	for _, program := range []string{"kube-scheduler", "kube-apiserver", "etcd", "muster"} {
		rows = append(rows, struct {
			name string
			cell func([]run) string
		}{program + " CPU, s", func(r []run) string {
			return seconds(of(r, func(r run) time.Duration { return r.usage[program].CPU }))
		}})
	}
	rows = append(rows, struct {
		name string
		cell func([]run) string
	}{"muster CPU from its own start, s", func(r []run) string {
		return seconds(of(r, func(r run) time.Duration { return r.whole["muster"].CPU }))
	}})
	for _, program := range []string{"kube-scheduler", "muster"} {
		rows = append(rows, struct {
			name string
			cell func([]run) string
		}{program + " peak memory, MiB", func(r []run) string {
			return fmt.Sprintf("%d", of(r, func(r run) int64 { return r.usage[program].PeakRSS })>>20)
		}})
	}
	for _, s := range setups {
		table.Columns = append(table.Columns, s.name)
	}
	for _, row := range rows {
		line := []string{row.name}
		for _, s := range setups {
			line = append(line, row.cell(runs[s.name]))
		}
		table.Rows = append(table.Rows, line)
	}
	return table
}

// writes lists the API writes by verb and resource.
func (p placing) writes(setups []setup, runs map[string][]run) Table {
	table := Table{Title: p.what + ": API writes, medians", Columns: []string{""}}
	var order []string
	counts := map[string]map[string][]int{} // by write, by set-up
	note := func(write, setup string, n int) {
		if counts[write] == nil {
			counts[write] = map[string][]int{}
			order = append(order, write)
		}
		counts[write][setup] = append(counts[write][setup], n)
	}
	for _, s := range setups {
		table.Columns = append(table.Columns, s.name)
		for _, r := range runs[s.name] {
			for _, w := range r.writes {
				if w.Verb != "POST" || w.Resource != "events" {
					note(w.Verb+" "+w.Resource, s.name, w.Count)
					continue
				}
				note("POST events about PodGroups", s.name, r.events["PodGroup"])
				note("POST events about pods", s.name, w.Count-r.events["PodGroup"])
			}
		}
	}
	for _, write := range order {
		line := []string{write}
		for _, s := range setups {
			each := counts[write][s.name]
			for len(each) < len(runs[s.name]) {
				each = append(each, 0)
			}
			line = append(line, fmt.Sprint(Median(each)))
		}
		table.Rows = append(table.Rows, line)
	}
	return table
}

// charts draw the bindings over time.
func (p placing) charts(setups []setup, runs map[string][]run) []Chart {
	chart := Chart{Name: p.name, Title: p.what + ": bindings over time", X: "seconds since the scheduler's start", Y: "pods bound"}
	for _, s := range setups {
		r := middleRun(runs[s.name])
		line := Line{Label: s.name}
		step := max(1, len(r.moments)/100)
		for i := 0; i < len(r.moments); i += step {
			line.Points = append(line.Points, [2]float64{r.moments[i].Seconds(), float64(i + 1)})
		}
		chart.Lines = append(chart.Lines, line)
	}
	return []Chart{chart}
}

// middleRun is the run with the median makespan.
func middleRun(runs []run) run {
	want := of(runs, func(r run) time.Duration { return r.makespan })
	for _, r := range runs {
		if r.makespan == want {
			return r
		}
	}
	return run{}
}
