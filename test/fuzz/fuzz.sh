# shellcheck shell=sh disable=SC2154 # root and logs are those of ./dev
# test/fuzz/fuzz.sh - `./dev fuzz`; ./dev sources this file.
#
# Files in build/fuzz:
#   corpus/TARGET    inputs that reach new code; the next run continues with them
#   crashes/TARGET/  inputs that made the target fail
#   history          "DATE COMMIT TARGET SECONDS EXECUTIONS EDGES CORPUS RESULT", one line for each run

fuzz=$root/build/fuzz

# Installs the compiler, and libFuzzer of the same version.
need_clang() {
	need clang
	runtime=$(clang -print-runtime-dir)
	[ -n "$(find "$runtime" "${runtime%/*}/linux" -name 'libclang_rt.fuzzer*' 2>/dev/null)" ] ||
		need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

fuzz_targets() {
	sed -n 's/^fuzz_target(\([a-z0-9_]*\).*/\1/p' test/fuzz/CMakeLists.txt
}

fuzz_dictionary() {
	case $1 in
	object | extender | workload | watch | api_replies | selector) echo test/fuzz/dict/kubernetes.dict ;;
	config | scheduler_config | kubeconfig | scenario) echo test/fuzz/dict/settings.dict ;;
	esac
}

# TARGET SECONDS: fuzzes the target and adds a line to the history; false if an input made it fail.
fuzz_one() {
	log=$logs/fuzz-$1.log
	mkdir -p "$fuzz/corpus/$1" "$fuzz/crashes/$1"
	dictionary=$(fuzz_dictionary "$1")
	result=passed
	ASAN_OPTIONS=strict_string_checks=1 "$fuzz/fuzz_$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2560 \
		-print_final_stats=1 -artifact_prefix="$fuzz/crashes/$1/" ${dictionary:+-dict="$dictionary"} \
		"$fuzz/corpus/$1" "test/fuzz/corpus/$1" >"$log" 2>&1 || result=FOUND
	awk -v date="$(date +%Y-%m-%d)" -v commit="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" \
		-v target="$1" -v seconds="$2" -v result="$result" '
	match($0, /cov: [0-9]+/) { edges = substr($0, RSTART + 5, RLENGTH - 5) }
	match($0, /corp: [0-9]+/) { corpus = substr($0, RSTART + 6, RLENGTH - 6) }
	/^stat::number_of_executed_units:/ { executions = $2 }
	END { print date, commit, target, seconds, executions + 0, edges + 0, corpus + 0, result }' \
		"$log" >>"$fuzz/history"
	[ "$result" = passed ] && return 0
	say "" "$1 failed on the input in $fuzz/crashes/$1; the end of $log:"
	grep -aE '^(\.\./|/).*(: runtime error|test/fuzz/[a-z0-9_]*\.c:[0-9]+: )|SUMMARY|Test unit written' "$log" || tail -n 20 "$log"
	return 1
}

# FILE: prints the lines of a history as a table.
fuzz_table() {
	awk 'BEGIN { printf "%-18s %8s %12s %8s %8s  %s\n", "target", "seconds", "executions", "corpus", "edges", "result" }
	{ printf "%-18s %8d %12d %8d %8d  %s\n", $3, $4, $5, $7, $6, $8 }' "$1"
}

# Writes the sums of all runs of this checkout into docs/fuzzing.md.
fuzz_report() {
	page=docs/fuzzing.md
	{
		sed '/^<!-- runs -->$/q' "$page"
		printf '\n| target | seconds | executions | edges | last run | commit | last result |\n|---|---|---|---|---|---|---|\n'
		awk '{
			if (!($3 in seconds))
				order[++n] = $3
			seconds[$3] += $4; executions[$3] += $5; all += $4
			edges[$3] = $6; date[$3] = $1; commit[$3] = $2; result[$3] = $8
		}
		END {
			for (i = 1; i <= n; i++) {
				t = order[i]
				printf "| %s | %d | %d | %d | %s | %s | %s |\n", t, seconds[t], executions[t], edges[t], date[t], commit[t], result[t]
			}
			printf "\n%d seconds in all.\n", all
		}' "$fuzz/history"
	} >"$logs/fuzzing.md"
	cp "$logs/fuzzing.md" "$page"
}

cmd_fuzz() {
	seconds=300
	wanted=
	while [ $# -gt 0 ]; do
		case $1 in
		--seconds)
			[ $# -gt 1 ] || die "fuzz: --seconds needs a number"
			seconds=$2
			shift
			;;
		*)
			fuzz_targets | grep -qx -- "$1" || die "fuzz: no target \"$1\"; there are: $(fuzz_targets | tr '\n' ' ')"
			wanted="$wanted $1"
			;;
		esac
		shift
	done
	case $seconds in
	'' | *[!0-9]*) die "fuzz: --seconds needs a number" ;;
	esac
	need_build
	need_clang
	mkdir -p "$logs"
	build fuzz
	# shellcheck disable=SC2046,SC2086 # lists
	set -- ${wanted:-$(fuzz_targets)}
	each=$((seconds / $# > 0 ? seconds / $# : 1))
	step "fuzzing: $# targets, $each s each"
	lost=0
	touch "$fuzz/history"
	before=$(wc -l <"$fuzz/history")
	for target; do
		fuzz_one "$target" "$each" || lost=$((lost + 1))
	done
	tail -n "+$((before + 1))" "$fuzz/history" >"$logs/fuzz-run"
	printf '\n'
	fuzz_table "$logs/fuzz-run"
	fuzz_report
	[ "$lost" -eq 0 ] || die "fuzz: $lost targets found something"
}
