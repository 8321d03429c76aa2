package testbed

import (
	"fmt"
	"sort"
	"strings"
)

// Leaks are all amounts in muster's ledger that are used or reserved. After the last pod has
// finished, there must be none.
func (m *Muster) Leaks(t TB) []string {
	t.Helper()
	var leaks []string
	for _, node := range m.Nodes(t) {
		findLeaks(fmt.Sprint(node["name"]), node, false, &leaks)
	}
	sort.Strings(leaks)
	return leaks
}

// findLeaks visits JSON of any form: every number at or below a key "used" or "reserved" must be
// zero.
func findLeaks(path string, value any, counts bool, leaks *[]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			findLeaks(path+"."+key, inner, counts || key == "used" || key == "reserved", leaks)
		}
	case []any:
		for i, inner := range value {
			findLeaks(fmt.Sprintf("%s[%d]", path, i), inner, counts, leaks)
		}
	case float64:
		if counts && value != 0 {
			*leaks = append(*leaks, fmt.Sprintf("%s=%v", path, value))
		}
	case string:
		if counts && strings.ContainsAny(value, "123456789") {
			*leaks = append(*leaks, fmt.Sprintf("%s=%v", path, value))
		}
	}
}

// WaitNoLeaks waits until nothing is used or reserved.
func (m *Muster) WaitNoLeaks(t TB) {
	t.Helper()
	eventually(t, "nothing is used or reserved", func() error {
		if leaks := m.Leaks(t); len(leaks) > 0 {
			return fmt.Errorf("the ledger still has %v", leaks)
		}
		return nil
	})
}
