package bench

import (
	"fmt"
	"slices"

	"muster.dev/e2e/testbed"
)

// contention is the scenario of C01. Each round has its own control plane with KWOK, because its
// pods run and end.
var contention = experiment{
	name: "contention", what: "24 gangs of 8 pods of 4 GPUs on 128 GPUs, 2 s of work each",
	how: "This is the scenario of the test `TestC01_GangsInWaves`. The members are created in an order that interleaves " +
		"the gangs, and KWOK runs and ends the pods. " +
		"The ideal runs first, on the same control plane and with equal pods, but without a scheduler: when there is " +
		"room for the next gang, the test bed binds all its members at once. For comparison, the last set-up has " +
		"kube-scheduler's own gangs (GangScheduling, alpha) and no muster.",
	keys: contentionKeys, run: measureContention,
}

var contentionKeys = []string{"P09", "P09 gated", "P09 express"}

// contenders take turns. Those without a promise are measured last.
var contenders = []struct {
	key, name string
	mode      testbed.WaveMode
}{
	{"P09", "muster", testbed.WavesPlain},
	{"P09 gated", "muster, gates", testbed.WavesGated},
	{"P09 express", "muster, express lane", testbed.WavesExpress},
	{"", "kube-scheduler's own gangs", testbed.WavesNative},
}

func measureContention(t testbed.TB, options Options) Outcome {
	whole := !slices.ContainsFunc(contentionKeys, func(key string) bool { return !options.wants(key) })
	all := map[string][]rated{}
	table := Table{Title: "24 gangs in six waves", Columns: []string{"", "makespan, s", "ideal, s", "ratio"}}
	for turn := range options.Turns {
		for _, each := range contenders {
			if !options.wants(each.key) && !(whole && each.key == "") {
				continue
			}
			played, ok := playWaves(each.mode)
			if !ok && each.key != "" {
				t.Fatalf("%s, turn %d failed", each.name, turn+1)
			}
			row := []string{fmt.Sprintf("%s, turn %d", each.name, turn+1), "failed", "–", "–"}
			if ok {
				row = append(row[:1], seconds(played.Makespan), seconds(played.Ideal), number(played.Ratio()))
				all[each.key] = append(all[each.key], rated{played.Ratio(), row[1] + " s", row[2] + " s"})
			}
			table.Rows = append(table.Rows, row)
			fmt.Printf("  %-36s makespan %s s, ideal %s s: %s ×\n", row[0], row[1], row[2], row[3])
		}
	}
	outcome := Outcome{Tables: []Table{table}}
	for _, key := range contentionKeys {
		if len(all[key]) > 0 {
			v := Value{Key: key}
			v.take(all[key])
			outcome.Values = append(outcome.Values, v)
		}
	}
	return outcome
}

func playWaves(mode testbed.WaveMode) (played testbed.PlayedWaves, ok bool) {
	status := testbed.RunScript("contention", func(s *testbed.Script) { played = testbed.RunWaves(s, testbed.Waves24, mode) })
	return played, status == 0
}
