//go:build tools

// Package tools names the program that build-tools compiles from Kubeflow's training operator.
package tools

import (
	_ "github.com/kubeflow/training-operator/cmd/training-operator.v1"
)
