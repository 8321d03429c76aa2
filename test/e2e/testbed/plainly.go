package testbed

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// AddUnscheduled creates n pods, named p0, p1 and so on, that no scheduler takes.
func (c *Cluster) AddUnscheduled(t TB, namespace string, n int) {
	t.Helper()
	var pods []*corev1.Pod
	for i := range n {
		pods = append(pods, Pod(namespace, fmt.Sprint("p", i), Amounts{"cpu": "1"}, WithScheduler("nobody")))
	}
	c.AddPods(t, pods...)
}

// BindAll binds the pods of AddUnscheduled, with so many calls at a time: what the API server alone
// needs for that many bindings.
func (c *Cluster) BindAll(t TB, namespace string, n, parallel int, node func(int) string) {
	t.Helper()
	work := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range work {
				if err := c.Bind(namespace, fmt.Sprint("p", i), node(i), false); err != nil {
					t.Errorf("bind p%d: %v", i, err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	workers.Wait()
}
