//go:build tools

// Package tools names the program that build-tools compiles from Helm.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
