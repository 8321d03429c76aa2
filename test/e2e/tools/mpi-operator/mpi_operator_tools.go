//go:build tools

// Package tools names the program that build-tools compiles from Kubeflow's MPI operator.
package tools

import (
	_ "github.com/kubeflow/mpi-operator/cmd/mpi-operator"
)
