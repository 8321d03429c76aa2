//go:build tools

// Package tools names the program that build-tools compiles from KWOK.
package tools

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
