package testbed

import (
	_ "embed"
)

// RunFor is an annotation: a pod with it becomes Succeeded this long after it started. Pods without
// it run until they are deleted.
const RunFor = "e2e.muster.dev/run-for"

//go:embed kwok.yaml
var kwokStages []byte

// startKWOK acts as the kubelet of every node: bound pods run and finish, and deleted pods
// disappear.
func (c *Cluster) startKWOK(t TB) {
	t.Helper()
	c.run(t, "kwok", tool(t, "kwok", kwokVersion),
		"--kubeconfig", c.Kubeconfig(),
		"--config", file(t, c.Dir, "kwok.yaml", kwokStages),
		"--manage-all-nodes",
		// The nodes are Ready, and no controller checks their heartbeat.
		"--node-lease-duration-seconds", "0")
}
