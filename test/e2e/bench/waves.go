package bench

import (
	"fmt"

	"muster.dev/e2e/testbed"
)

// contention is the scenario of C01; each turn has a control plane of its own, with KWOK, since its
// pods run and end.
var contention = experiment{
	name: "contention", what: "24 gangs of 8 pods of 4 GPUs on 128 GPUs, 2 s of work each",
	how: "The scenario of C01: members are created interleaved, one after the other, KWOK runs and ends the pods. The ideal " +
		"is six full waves, one directly after the other, each as long as a pod took from its binding to its end.",
	keys: []string{"P09"}, run: measureContention,
}

func measureContention(t testbed.TB, options Options) Outcome {
	var all []rated
	for turn := range options.Turns {
		var ratio float64
		status := testbed.RunScript("contention", func(s *testbed.Script) { ratio, _ = testbed.RunWaves(s, testbed.Waves24) })
		if status != 0 {
			t.Fatalf("turn %d failed", turn+1)
		}
		all = append(all, rated{ratio, fmt.Sprintf("%.2f waves", ratio*float64(testbed.Waves24.Waves)),
			fmt.Sprintf("%d full waves one directly after the other", testbed.Waves24.Waves)})
	}
	v := Value{Key: "P09"}
	v.take(all)
	return Outcome{Values: []Value{v}}
}
