package bench

import (
	"fmt"
	"slices"
	"time"

	"muster.dev/e2e/testbed"
)

// thousand: one gang of 1,000 on 1,000 nodes, compared with the time that the API server alone
// needs for 1,000 bindings (without other load), and with the stock scheduler and 1,000 single
// pods.
var thousand = experiment{
	name: "thousand", what: "1,000 nodes, one gang of 1,000",
	how: "The row for the API server alone is the best of three measurements, with 16, 32 and 64 parallel client-go " +
		"calls. Each measurement sends 1,000 Bindings while nothing else runs. Then muster places a gang of 1,000, and the stock scheduler places 1,000 " +
		"single pods. Both have already placed pods, so their caches are filled.",
	keys: []string{"P12 together", "P12 all"}, run: measureThousand,
}

const thousandMembers = 1000

func measureThousand(t testbed.TB, options Options) Outcome {
	members := thousandMembers / options.Scale
	b := newBed(t, options, members, nil)
	together, whole := Value{Key: "P12 together"}, Value{Key: "P12 all"}
	var ofTogether, ofWhole []rated
	table := Table{Title: fmt.Sprintf("%d bindings, s", members), Columns: []string{"", "first to last", "last created to last"}}
	for turn := range options.Turns {
		var gang, singles, alone turnOfMany
		for i := range 3 {
			switch (i + turn) % 3 {
			case 0:
				alone = b.bindAlone(members)
			case 1:
				gang = b.placeMany(withMuster, members)
			case 2:
				singles = b.placeMany(stock, members)
			}
		}
		for _, each := range []turnOfMany{alone, gang, singles} {
			row := []string{fmt.Sprintf("%s, turn %d", each.name, turn+1), seconds(each.together), "–"}
			if each.whole > 0 {
				row[2] = seconds(each.whole)
			}
			table.Rows = append(table.Rows, row)
			fmt.Printf("  turn %d  %-34s first to last %s s, last created to last %s s\n", turn+1, each.name, row[1], row[2])
		}
		ofTogether = append(ofTogether, rated{gang.together.Seconds() / alone.together.Seconds(),
			seconds(gang.together) + " s", seconds(alone.together) + " s (" + alone.name + ")"})
		ofWhole = append(ofWhole, rated{gang.whole.Seconds() / singles.whole.Seconds(),
			seconds(gang.whole) + " s", seconds(singles.whole) + " s"})
	}
	together.take(ofTogether)
	whole.take(ofWhole)
	return Outcome{Values: []Value{together, whole}, Tables: []Table{table}}
}

// turnOfMany is how long the bindings took.
type turnOfMany struct {
	name            string
	together, whole time.Duration // first to last binding; creation of the last pod to last binding
}

// bindAlone is the best of several numbers of parallel calls.
func (b *bed) bindAlone(n int) turnOfMany {
	var all []turnOfMany
	for _, parallel := range []int{16, 32, 64} {
		ns := b.space()
		pods := b.AddUnscheduled(b.t, ns, n)
		seen := b.watch(ns)
		b.BindAll(b.t, ns, pods, parallel, nodeName)
		bound := seen.wait(n, time.Minute)
		seen.stop()
		all = append(all, turnOfMany{name: fmt.Sprintf("API server alone, %d at a time", parallel),
			together: bound[len(bound)-1].at.Sub(bound[0].at)})
		b.clear(ns)
	}
	return slices.MinFunc(all, func(x, y turnOfMany) int { return int(x.together - y.together) })
}

// placeMany is one gang of n for muster, or n single pods for the stock scheduler.
func (b *bed) placeMany(s setup, n int) turnOfMany {
	m := b.startMuster(s)
	scheduler := b.startScheduler(s, m)
	// Open the connections and warm up the programs before the measurement.
	b.placeGang(s, 8)
	bound, created := b.placeGang(s, n)
	scheduler.Kill()
	if m != nil {
		m.Stop(b.t)
	}
	last := bound[len(bound)-1].at
	return turnOfMany{name: s.name, together: last.Sub(bound[0].at), whole: last.Sub(created)}
}

func (b *bed) placeGang(s setup, n int) (bound []binding, created time.Time) {
	ns := b.space()
	seen := b.watch(ns)
	pods := testbed.Members(testbed.Sigs, ns, "g0", n, testbed.GPUs(1))
	if s.muster != nil {
		b.AddPodGroups(b.t, testbed.Sigs, ns, 1, n)
	} else {
		for _, pod := range pods {
			pod.Labels = nil
		}
	}
	b.AddPods(b.t, pods...)
	created = time.Now()
	bound = seen.wait(n, time.Minute)
	seen.stop()
	b.clear(ns)
	return bound, created
}
