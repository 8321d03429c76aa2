package testbed

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Metrics are samples in the Prometheus text format, by name and labels as they are printed.
type Metrics map[string]float64

func parseMetrics(text string) Metrics {
	metrics := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		// The value comes after the last space. Label values may contain spaces; neither muster nor
		// the API server prints timestamps.
		split := strings.LastIndexByte(line, ' ')
		if split < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(line[split+1:], 64); err == nil {
			metrics[line[:split]] = value
		}
	}
	return metrics
}

// Sum adds up the samples of one metric whose labels contain each of the texts, such as
// `verb="POST"`.
func (m Metrics) Sum(name string, labels ...string) float64 {
	total := 0.0
	for sample, value := range m {
		if matches(sample, name, labels) {
			total += value
		}
	}
	return total
}

func matches(sample, name string, labels []string) bool {
	if sample != name && !strings.HasPrefix(sample, name+"{") {
		return false
	}
	for _, label := range labels {
		if !strings.Contains(sample, label) {
			return false
		}
	}
	return true
}

// Write is the number of API requests of one kind that changed something.
type Write struct {
	Verb, Resource string
	Count          int
}

func (w Write) String() string { return fmt.Sprintf("%s %s %d", w.Verb, w.Resource, w.Count) }

// Writes are the API server's counts of writing requests by verb and resource since `before`, the
// most frequent first.
func (m Metrics) Writes(before Metrics) []Write {
	counts := map[[2]string]int{}
	for sample, value := range m {
		if !matches(sample, "apiserver_request_total", nil) {
			continue
		}
		verb := label(sample, "verb")
		switch verb {
		case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
		default:
			continue
		}
		resource := label(sample, "resource")
		if sub := label(sample, "subresource"); sub != "" {
			resource += "/" + sub
		}
		counts[[2]string{verb, resource}] += int(value - before[sample])
	}
	var writes []Write
	for key, n := range counts {
		if n > 0 {
			writes = append(writes, Write{key[0], key[1], n})
		}
	}
	sort.Slice(writes, func(i, j int) bool {
		a, b := writes[i], writes[j]
		if a.Count != b.Count {
			return a.Count > b.Count
		}
		return a.Verb+a.Resource < b.Verb+b.Resource
	})
	return writes
}

// label reads the value of one label from a printed sample.
func label(sample, name string) string {
	_, rest, found := strings.Cut(sample, name+`="`)
	// "resource" is also the end of "subresource".
	for found && !strings.HasSuffix(sample[:len(sample)-len(rest)-len(name)-2], "{") &&
		!strings.HasSuffix(sample[:len(sample)-len(rest)-len(name)-2], ",") {
		_, rest, found = strings.Cut(rest, name+`="`)
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
