package scenarios

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"muster.dev/e2e/testbed"
)

// C01: many gangs that each want a good part of the machine, their members
// created in the worst order. Hope-and-wait schedulers deadlock here.
func TestC01_GangsInWaves(t *testing.T) {
	sizes := []struct {
		name                 string
		gangs, members, gpus int
		nodes, gpusPerNode   int
		waves                int
	}{
		{"24x8x4on128", 24, 8, 4, 16, 8, 6},
		{"20x5x8on128", 20, 5, 8, 16, 8, 7},
		{"20x6x1on24", 20, 6, 1, 3, 8, 5},
	}
	const work = 2 * time.Second
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			alone(t)
			c := testbed.StartCluster(t, testbed.Options{Dialects: []testbed.Dialect{testbed.Sigs}})
			m := c.StartMuster(t, testbed.MusterOptions{})
			c.StartScheduler(t, testbed.SchedulerOptions{Muster: m})
			c.Namespace(t, "ml")
			for i := range size.nodes {
				c.AddNodes(t, testbed.Node(fmt.Sprintf("gpu-%02d", i), testbed.GPUs(size.gpusPerNode)))
			}
			var interleaved []*corev1.Pod
			gangs := make([][]*corev1.Pod, size.gangs)
			for i := range gangs {
				name := fmt.Sprintf("g%02d", i)
				c.Add(t, testbed.Sigs.PodGroup("ml", name, size.members, nil))
				gangs[i] = testbed.Members(testbed.Sigs, "ml", name, size.members,
					testbed.GPUs(size.gpus), testbed.RunningFor(work))
			}
			for member := range size.members {
				for _, gang := range gangs {
					interleaved = append(interleaved, gang[member])
				}
			}
			c.AddPodsInOrder(t, interleaved...)

			total := size.gangs * size.members
			pods := c.Recorder.WaitFinished(t, testbed.InNamespace("ml"), total, 2*time.Minute)
			rateWaves(t, pods, size.gpus, size.nodes*size.gpusPerNode, work*time.Duration(size.waves))
			m.WaitNoLeaks(t)
		})
	}
}

// rateWaves compares the makespan with two ideals: the work as it was asked for
// in full waves, and the work as it took place. They differ by what the test bed
// needs to start and end a pod, which is not muster's.
func rateWaves(t *testing.T, pods []testbed.PodRecord, gpusPerPod, gpus int, asked time.Duration) {
	t.Helper()
	var begin, end time.Time
	var busy time.Duration // GPU time
	for _, pod := range pods {
		if pod.Created.After(begin) {
			begin = pod.Created // the last member's creation
		}
		if pod.Finished.After(end) {
			end = pod.Finished
		}
		busy += pod.Finished.Sub(pod.Bound) * time.Duration(gpusPerPod)
	}
	for _, pod := range pods {
		if pod.Bound.Before(begin) {
			begin = pod.Bound
		}
	}
	makespan := end.Sub(begin)
	done := busy / time.Duration(gpus)
	t.Logf("makespan %.2f s; ideal in full waves %.2f s: ratio %.3f; GPUs were in use %.2f s on average: ratio %.3f",
		makespan.Seconds(), asked.Seconds(), makespan.Seconds()/asked.Seconds(),
		done.Seconds(), makespan.Seconds()/done.Seconds())
	if ratio := makespan.Seconds() / asked.Seconds(); ratio > 1.10 {
		t.Errorf("makespan is %.3f × ideal, 1.10 promised", ratio)
	}
}
