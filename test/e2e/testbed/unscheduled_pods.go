package testbed

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// AddUnscheduled creates n members of a gang with one GPU each, which no scheduler places. For the
// API server they are like the members of a placed gang. It returns their names.
func (c *Cluster) AddUnscheduled(t TB, namespace string, n int) []string {
	t.Helper()
	pods := Members(Sigs, namespace, "plain", n, GPUs(1), WithScheduler("nobody"))
	c.AddPods(t, pods...)
	return namesOf(pods)
}

func namesOf(pods []*corev1.Pod) (names []string) {
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

// BindAll binds pods, with this many calls at a time. Its time is what the API server alone needs
// for this number of bindings.
func (c *Cluster) BindAll(t TB, namespace string, names []string, parallel int, node func(int) string) {
	t.Helper()
	work := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range work {
				if err := c.Bind(namespace, names[i], node(i), false); err != nil {
					t.Errorf("bind %s: %v", names[i], err)
				}
			}
		})
	}
	for i := range names {
		work <- i
	}
	close(work)
	workers.Wait()
}
