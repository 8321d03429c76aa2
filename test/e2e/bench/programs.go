package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"muster.dev/e2e/testbed"
)

// The figures about one part of muster come from C programs next to muster in its build folder,
// built with the same flags. After a table they print these lines:
//
//	figure ID KEY RATIO TARGET "TEXT"     the ratio should be at most the target
//	point ID LINE X Y                     for a chart, if they are called with "growth"
var (
	figureLine = regexp.MustCompile(`(?m)^figure (\S+) (\S+) (\S+) (\S+) "(.*)"$`)
	pointLine  = regexp.MustCompile(`(?m)^point (\S+) (\S+) (\S+) (\S+)$`)
)

// programNodes is the number of nodes in the programs' cluster.
const programNodes = 5000

// program is an experiment that runs one of them. The binary may be followed by an argument.
func program(name, what, how, binary string, axes Chart, keys ...string) experiment {
	return experiment{name: name, what: what, how: how, keys: keys,
		run: func(t testbed.TB, options Options) Outcome { return runProgram(t, options, binary, axes) }}
}

func runProgram(t testbed.TB, options Options, binary string, axes Chart) Outcome {
	words := strings.Fields(binary)
	path := filepath.Join(filepath.Dir(testbed.MeasuredPath(t)), words[0])
	args := append(words[1:], strconv.Itoa(programNodes/options.Scale))
	all := map[string][]rated{}
	for range options.Turns {
		out, err := exec.Command(path, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, out)
		}
		text := string(out)
		fmt.Println(text)
		for _, m := range figureLine.FindAllStringSubmatch(text, -1) {
			key := m[1] + " " + m[2]
			ratio, err := strconv.ParseFloat(m[3], 64)
			target, err2 := strconv.ParseFloat(m[4], 64)
			p, known := PromiseOf(key)
			if err != nil || err2 != nil || !known || p.Bound != target {
				t.Fatalf("%s prints %q, want %q, at most %v", binary, m[0], p.Key, p.Bound)
			}
			all[key] = append(all[key], rated{ratio: ratio, ours: m[5]})
		}
	}
	var o Outcome
	for _, key := range options.Keys {
		if len(all[key]) != options.Turns {
			t.Fatalf("%s prints no figure %q", binary, key)
		}
		v := Value{Key: key}
		v.take(all[key])
		o.Values = append(o.Values, v)
	}
	if axes.Name != "" && options.Scale == 1 {
		out, err := exec.Command(path, "growth").CombinedOutput()
		if err != nil {
			t.Fatalf("%s growth: %v\n%s", path, err, out)
		}
		o.Charts = []Chart{axes.with(string(out))}
	}
	return o
}

// with adds the points that a program has printed.
func (c Chart) with(text string) Chart {
	index := map[string]int{}
	for _, m := range pointLine.FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(m[2], "-", " ")
		at, known := index[name]
		if !known {
			at = len(c.Lines)
			index[name] = at
			c.Lines = append(c.Lines, Line{Label: name})
		}
		x, _ := strconv.ParseFloat(m[3], 64)
		y, _ := strconv.ParseFloat(m[4], 64)
		c.Lines[at].Points = append(c.Lines[at].Points, [2]float64{x, y})
	}
	return c
}
