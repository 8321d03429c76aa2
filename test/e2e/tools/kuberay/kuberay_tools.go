//go:build tools

// Package tools names the program that build-tools compiles from KubeRay.
package tools

import (
	_ "github.com/ray-project/kuberay/ray-operator"
)
