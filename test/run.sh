# shellcheck shell=sh disable=SC2154 # root, logs, jobs and packages_check are those of ./dev
# test/run.sh - the tests of ./dev, which sources this file: the gate, the long run and their reports.
#
# Files in $logs:
#   results-SUITE   "pass|fail|skip SUITE TEST", a line for each test
#   in-full         "TEST PART": TEST runs in a small form, and PART of the long run runs all of it
#   failures        the end of the output of each failed test
#   times           "SECONDS WHAT", a line for each stage and each test
#   long/PART       "RESULT COMMIT DATE MINUTES" of the last run of this part

parts=$root/test/long-parts.txt
# Many tests wait for a peer or a timer, so more tests than processors run at once.
at_once=$((jobs * 3))

export ASAN_OPTIONS="abort_on_error=1:halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1"
export LSAN_OPTIONS="exitcode=23"
export UBSAN_OPTIONS="halt_on_error=1:abort_on_error=1:print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1:exitcode=66:second_deadlock_stack=1"

# NAME COMMAND...: runs the command and records how long it took.
timed() {
	timed_name=$1
	timed_from=$(date +%s)
	shift
	timed_code=0
	"$@" || timed_code=$?
	printf '%s stage: %s\n' "$(($(date +%s) - timed_from))" "$timed_name" >>"$logs/times"
	return "$timed_code"
}

# ---- ctest ----

# The TSan of older compilers fails on kernels with strong address space randomisation.
tsan_prefix() {
	if "$root/build/tsan/muster" version >/dev/null 2>&1; then
		return 0
	fi
	if setarch "$(uname -m)" -R "$root/build/tsan/muster" version >/dev/null 2>&1; then
		echo "setarch $(uname -m) -R"
		return 0
	fi
	die "programs built with TSan do not start on this machine, even without address space randomisation"
}

# SUITE LOG: reads a ctest log and prints a result line for each test. A cmocka program has several tests,
# any other program is one test. Appends to the files times, in-full and failures.
read_ctest() {
	awk -v suite="$1" -v times="$logs/times" -v small="$logs/in-full" -v failures="$logs/failures" '
	function show_output(   i) {
		printf "\n---- %s (%s), the end of its output\n", name, suite >>failures
		for (i = n_lines > 30 ? n_lines - 30 : 0; i < n_lines; i++)
			print lines[i % 30] >>failures
	}
	function finish() {
		if (name == "")
			return
		if (!result)
			result = "fail"
		shown = 0
		for (t in status) {
			print status[t], suite, t
			shown++
			bad += status[t] == "fail"
		}
		if (!shown || (result == "fail" && !bad))
			print result, suite, name
		if (result == "fail")
			show_output()
		name = ""; result = ""; bad = 0; n_lines = 0
		split("", status)
	}
	/^[0-9]+\/[0-9]+ Testing: / { finish(); name = $3 }
	/^<end of output>$/ { reading = 0 }
	reading { lines[n_lines++ % 30] = $0 }
	/^Output:$/ { reading = 1 }
	/^Test time = / { print $4, suite ": " name >>times }
	/in full: \.\/dev test --long / { print name, $NF >>small }
	/^\[       OK \] / { status[$4] = "pass" }
	/^\[  FAILED  \] [A-Za-z0-9_]+$/ { status[$4] = "fail" }
	/^\[  SKIPPED \] [A-Za-z0-9_]+$/ { status[$4] = "skip" }
	/^Test Passed\.$/ { result = "pass" }
	/^Test Failed\.$/ { result = "fail" }
	/^Test Skipped\.$/ { result = "skip" }
	END { finish() }' "$2"
}

run_ctest() {
	preset=$1
	prefix=
	if [ "$preset" = tsan ]; then
		prefix=$(tsan_prefix)
	fi
	step "unit and simulation tests: $preset"
	log=build/$preset/Testing/Temporary/LastTest.log
	rm -f "$log"
	# shellcheck disable=SC2086 # a command or nothing
	$prefix ctest --preset "$preset" -j "$at_once" || true
	[ -f "$log" ] || return 0
	cp "$log" "$logs/ctest-$preset.log"
	read_ctest "$preset" "$log" >"$logs/results-$preset"
}

test_preset() {
	# A failed build counts as a failed test, and the other tests still run.
	if (timed "build $1" build "$1"); then
		timed "tests $1" run_ctest "$1"
	fi
	[ -s "$logs/results-$1" ] || echo "fail $1 build-or-run" >"$logs/results-$1"
}

# ---- end-to-end tests ----

# FILE: reads the output of `go test -json`. Prints the progress, and writes the results to FILE.
read_go() {
	awk -v results="$1" -v times="$logs/times" -v small="$logs/in-full" '
	function field(key,   s) {
		if (!match($0, "\"" key "\":\"[^\"]*\""))
			return ""
		s = substr($0, RSTART, RLENGTH)
		return substr(s, length(key) + 5, length(s) - length(key) - 5)
	}
	{ action = "" }
	/^\{("Time":"[^"]*",)?"(ImportPath|Action)":/ { action = field("Action") }
	action == "build-output" || ($0 !~ /^\{/) { print; next }
	action == "output" && match($0, /in full: \.\/dev test --long [a-z-]+/) {
		part = substr($0, RSTART, RLENGTH)
		sub(/.* /, "", part)
		print field("Test"), part >>small
	}
	action == "pass" || action == "fail" || action == "skip" {
		test = field("Test"); package = field("Package")
		sub(/.*\//, "", package)
		if (test == "") {
			if (action == "fail" && !failed[package])
				print "fail e2e package-" package >results
			next
		}
		seconds = match($0, /"Elapsed":[0-9.]+/) ? substr($0, RSTART + 10, RLENGTH - 10) : 0
		if (test !~ /\//)
			print seconds, "e2e: " test >>times
		# A test with subtests counts only if it failed itself. Otherwise its subtests count.
		parent = test
		if (sub(/\/[^\/]*$/, "", parent)) {
			parts[parent] = 1
			broken[parent] += action == "fail"
		}
		if (parts[test] && (action != "fail" || broken[test]))
			next
		failed[package] += action == "fail"
		print action, "e2e", test >results
		printf "  %-5s %s (%.1f s)\n", action, test, seconds
		fflush()
	}'
}

# FILE: prints the output of the failed tests from the same lines, and appends what they printed to the file
# failures.
show_failed_go() {
	awk -v failures="$logs/failures" '
	function field(key,   s) {
		if (!match($0, "\"" key "\":\"([^\"\\\\]|\\\\.)*\""))
			return ""
		s = substr($0, RSTART, RLENGTH)
		return substr(s, length(key) + 5, length(s) - length(key) - 5)
	}
	{ test = field("Test"); action = field("Action") }
	action == "output" && test != "" { text[test] = text[test] field("Output") }
	action == "fail" && test != "" {
		out = text[test]
		gsub(/\\n/, "\n", out); gsub(/\\t/, "    ", out); gsub(/\\"/, "\"", out)
		gsub(/\\\\/, "\\", out)
		gsub(/\\u003c/, "<", out); gsub(/\\u003e/, ">", out); gsub(/\\u0026/, "\\&", out)
		printf "\n---- %s\n%s", test, out
		n = split(out, lines, "\n")
		for (i = 1; i <= n; i++)
			if (lines[i] ~ /^ *[a-z0-9_]+\.go:[0-9]+: / && lines[i] !~ /---- end of| is up after /)
				said = said "\n" test ": " lines[i]
	}
	END { # without the logs of the programs
		if (said != "")
			printf "\n---- what the failed end-to-end tests printed\n%s\n", substr(said, 2) >>failures
	}' "$1"
}

build_tools() {
	step "building the control plane (the first time takes some minutes)"
	test/e2e/build-tools "$@"
}

# PRESET REGEX MINUTES: runs go test with the muster of this build.
run_go() {
	{
		cd test/e2e &&
			MUSTER_BIN=$root/build/$1/muster MUSTER_RELEASE_BIN=$root/build/release/muster \
				"$GO" test ./... -json -count=1 -timeout "$3m" -run "$2" 2>&1 || true
	} | tee "$logs/e2e.json" | read_go "$logs/results-e2e"
	show_failed_go "$logs/e2e.json"
	[ -s "$logs/results-e2e" ] || echo "fail e2e nothing-ran" >"$logs/results-e2e"
}

# PRESET REGEX MINUTES [TOOL...]: builds everything and runs go test. A failed build counts as a failed test.
test_e2e() {
	: >"$logs/results-e2e"
	preset=$1 regex=$2 minutes=$3
	shift 3
	need_go
	if ! (timed "build $preset" build "$preset" && timed "build release" build release); then
		echo "fail e2e build" >"$logs/results-e2e"
	elif ! (timed "build the control plane" build_tools gate "$@"); then
		echo "fail e2e build-tools" >"$logs/results-e2e"
	else
		step "end-to-end tests with build/$preset/muster (measurements use build/release/muster)"
		timed "tests e2e" run_go "$preset" "$regex" "$minutes"
	fi
}

# ---- reports ----

# Prints each ID of test/acceptance.txt with the results of its tests.
acceptance() {
	step "acceptance"
	: >>"$logs/in-full"
	awk -v small="$logs/in-full" '
	# The IDs with which the name of a test begins.
	function ids_of(test, ids,   n) {
		sub(/^Test/, "", test)
		for (n = 0; match(test, /^[A-Z][0-9][0-9][a-z]?(_|$)/); test = substr(test, RLENGTH + 1)) {
			ids[++n] = substr(test, 1, RLENGTH)
			sub(/_$/, "", ids[n])
		}
		return n
	}
	FILENAME == small {
		for (i = ids_of($1, ids); i > 0; i--) {
			id = ids[i]
			if (!((id, $2) in played))
				whole[id] = whole[id] " " $2
			played[id, $2] = 1
		}
		next
	}
	FILENAME != "test/acceptance.txt" {
		for (i = ids_of($3, ids); i > 0; i--) {
			id = ids[i]
			ran[id] += $1 != "skip"
			bad[id] += $1 == "fail"
			name = $3
			sub(/\/.*/, "", name)
			if (!((id, name) in seen) && $1 != "skip") {
				seen[id, name] = 1
				names[id] = names[id] "\n       " name
			}
		}
		next
	}
	/^#/ || !NF { next }
	{
		id = $1; issue = $2
		promise = $0
		sub(/^[^ ]+ +[^ ]+ +/, "", promise)
		result = bad[id] ? "FAILED" : ran[id] ? "passed" : "missing"
		total[result]++
		more = whole[id] == "" ? "" : "\n       in full: ./dev test --long" whole[id]
		parted += result == "passed" && more != ""
		printf "%s %-8s issue %-2s %s%s%s\n", id, result, issue, promise, names[id], more
	}
	END {
		printf "\nacceptance: %d passed (%d of them partly in a small form), %d failed, %d missing\n",
			total["passed"], parted, total["FAILED"], total["missing"]
	}' "$logs/in-full" "$logs"/results-* test/acceptance.txt
}

# Prints how long the stages and the slowest tests took.
show_times() {
	step "duration of the stages, then of the slowest tests (seconds)"
	grep ' stage: ' "$logs/times" | sed 's/stage: //' | sort -rn | awk '{ printf "%8.0f  %s\n", $1, substr($0, index($0, $2)) }'
	printf '\n'
	grep -v ' stage: ' "$logs/times" | sort -rn | head -n 15 | awk '{ printf "%8.1f  %s\n", $1, substr($0, index($0, $2)) }'
	printf '\n%s min in total\n' "$((($(date +%s) - started + 30) / 60))"
}

# Prints the failed tests and the totals; fails if a test failed.
verdict() {
	cat "$logs"/results-* >"$logs/results"
	passed=$(grep -c '^pass ' "$logs/results" || true)
	failed=$(grep -c '^fail ' "$logs/results" || true)
	if [ "$failed" -gt 0 ]; then
		[ ! -f "$logs/failures" ] || cat "$logs/failures"
		printf '\n'
		sed -n 's/^fail \([^ ]*\) \(.*\)/failed: \2 (\1)/p' "$logs/results"
	fi
	printf '\n%s passed, %s failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# ---- the gate ----

begin_tests() {
	started=$(date +%s)
	need_build
	# shellcheck disable=SC2086 # a list
	need $packages_check
	mkdir -p "$logs"
	rm -f "$logs"/results* "$logs/times" "$logs/in-full" "$logs/failures"
}

cmd_test() {
	if [ "${1:-}" = --long ]; then
		shift
		cmd_long "$@"
		return
	fi
	[ $# -gt 0 ] || set -- unit e2e
	begin_tests
	for part; do
		case $part in
		--quick | quick) test_preset release ;;
		unit | sim)
			test_preset release
			test_preset asan-ubsan
			test_preset tsan
			;;
		release | asan-ubsan | tsan) test_preset "$part" ;;
		e2e) test_e2e asan-ubsan . 40 ;;
		e2e:*) test_e2e asan-ubsan "${part#e2e:}" 40 ;;
		chart) test_e2e asan-ubsan '^Test(Chart|Install)' 40 ;;
		*) die "test: unknown part \"$part\": ./dev help lists the parts" ;;
		esac
	done
	acceptance
	show_times
	verdict
}

# ---- the long run ----

# PART N: column N of a part: 2 minutes, 3 tools, 4 command, 5 description.
column() {
	awk -F ' +[|] +' -v part="$1" -v n="$2" '$1 == part { print $n }' "$parts"
}

part_names() {
	awk -F ' +[|] +' '!/^#/ && NF { print $1 }' "$parts"
}

# The commit of the working tree. A "+" marks uncommitted changes outside docs/.
commit() {
	if [ -z "$(git status --porcelain 2>/dev/null -- ':!docs')" ]; then
		git rev-parse --short HEAD 2>/dev/null || echo unknown
	else
		echo "$(git rev-parse --short HEAD)+"
	fi
}

# PART: prints the commit at which the part passed, if only docs/ has changed since then.
passed_before() {
	read -r result at rest 2>/dev/null <"$logs/long/$1" && [ "$result" = passed ] || return 1
	[ "${at%+}" = "$at" ] && [ -z "$(git status --porcelain -- ':!docs')" ] &&
		git diff --quiet "$at" HEAD -- ':!docs' 2>/dev/null && echo "$at"
}

long_report() {
	page=docs/long-run.md
	{
		sed '/^<!-- parts -->$/q' "$page"
		printf '\n| part | what it tests | date | commit | minutes | result |\n|---|---|---|---|---|---|\n'
		part_names | while read -r part; do
			row=$(sed -n "s/^| $part | .* | \([^|]* | [^|]* | [^|]* | [^|]*\) |\$/\1/p" "$page")
			if [ -s "$logs/long/$part" ]; then
				read -r result at date minutes <"$logs/long/$part"
				row="$date | $at | $minutes | $result"
			fi
			echo "| $part | $(column "$part" 5) | ${row:- | | | never run} |"
		done
	} >"$logs/long-run.md"
	cp "$logs/long-run.md" "$page"
}

long_list() {
	part_names | while read -r part; do
		known=$(cat "$logs/long/$part" 2>/dev/null || echo "never run here")
		printf '%-14s %3s min  %-40s  %s\n' "$part" "$(column "$part" 2)" "$known" "$(column "$part" 5)"
	done
}

# Builds muster and its benchmarks from the commit that recorded the figures of test/e2e/bench. A figure that
# is worse now is measured again with both.
base_muster() {
	base_at=$(git log -1 --format=%H -- test/e2e/bench/small.json)
	base=$root/build/base
	if [ "$(cat "$base/commit" 2>/dev/null)" != "$base_at" ]; then
		step "building muster of $base_at, whose figures are recorded"
		rm -rf "$base"
		mkdir -p "$base/tree"
		git archive "$base_at" | tar -x -C "$base/tree"
		(cd "$base/tree" && cmake --preset release &&
			cmake --build --preset release --target muster bench_plan bench_server) \
			>"$logs/base.log" 2>&1 || die "muster of $base_at cannot be built: see $logs/base.log"
		echo "$base_at" >"$base/commit"
	fi
	export MUSTER_BASE_BIN="$base/tree/build/release/muster"
}

# PART: runs the command of the part. The results go to $logs/results-e2e or $logs/results-long.
run_part() {
	run=$(column "$1" 4)
	tools=$(column "$1" 3 | sed 's/^-$//')
	export MUSTER_LONG="$1"
	[ "$1" != figures ] || base_muster
	case $run in
	"go "*)
		# shellcheck disable=SC2086 # a list
		test_e2e asan-ubsan "${run#go }" 60 $tools
		;;
	*)
		(build release) && (eval "$run") && echo "pass long $1" >"$logs/results-long" ||
			echo "fail long $1" >"$logs/results-long"
		;;
	esac
	unset MUSTER_LONG
}

cmd_long() {
	mkdir -p "$logs/long"
	if [ "${1:-}" = --list ]; then
		long_list
		return
	fi
	for part; do
		[ -n "$(column "$part" 2)" ] || die "test --long: unknown part \"$part\": ./dev test --long --list lists the parts"
	done
	# shellcheck disable=SC2046 # a list
	[ $# -gt 0 ] || set -- $(part_names)
	lost=
	for part; do
		at=$(commit)
		if known=$(passed_before "$part"); then
			say "$part: has passed at $known"
			continue
		fi
		begin_tests
		step "long run: $part, about $(column "$part" 2) min"
		run_part "$part"
		result=passed
		verdict || { result=failed; lost="$lost $part"; }
		echo "$result $at $(date +%Y-%m-%d) $((($(date +%s) - started + 30) / 60))" >"$logs/long/$part"
		long_report
	done
	long_list
	[ -z "$lost" ] || die "test --long: these parts failed:$lost"
}
