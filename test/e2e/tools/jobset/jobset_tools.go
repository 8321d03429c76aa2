//go:build tools

// Package tools names the program that build-tools compiles from JobSet.
package tools

import (
	_ "sigs.k8s.io/jobset"
)
