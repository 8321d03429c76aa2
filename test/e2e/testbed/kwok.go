package testbed

import (
	_ "embed"
)

// RunFor is the annotation that ends a pod: it becomes Succeeded that long after
// it began to run. Pods without it run until they are deleted.
const RunFor = "e2e.muster.dev/run-for"

//go:embed kwok.yaml
var kwokStages []byte

// startKWOK plays kubelet for every node: pods that are bound run, finish and
// go away when deleted.
func (c *Cluster) startKWOK(t TB) {
	t.Helper()
	c.run(t, "kwok", tool(t, "kwok", kwokVersion),
		"--kubeconfig", c.Kubeconfig(),
		"--config", file(t, c.Dir, "kwok.yaml", kwokStages),
		"--manage-all-nodes",
		// The nodes are made Ready and nobody watches their heartbeat.
		"--node-lease-duration-seconds", "0")
}
