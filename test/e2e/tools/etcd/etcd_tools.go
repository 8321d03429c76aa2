//go:build tools

// Package tools names the program that build-tools compiles from etcd.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
)
