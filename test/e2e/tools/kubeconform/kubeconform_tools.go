//go:build tools

// Package tools names the program that build-tools compiles from kubeconform.
package tools

import (
	_ "github.com/yannh/kubeconform/cmd/kubeconform"
)
