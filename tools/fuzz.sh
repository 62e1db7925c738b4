#!/usr/bin/env bash
# tools/fuzz.sh [--seconds N] [TARGET...]. Inputs that libFuzzer has found to be interesting are kept in build/fuzz/corpus,
# findings in build/fuzz/findings.
. "$(dirname "$0")/environment.sh"

fuzz_targets() { for target in tests/fuzz/corpus/*; do basename "$target"; done; }

seconds=60 targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) [ $# -gt 1 ] || die "fuzz: --seconds wants a number"; seconds=$2; shift ;;
    --seconds=*) seconds=${1#*=} ;;
    -*) die "fuzz: unknown option $1 (there is --seconds N)" ;;
    *) [ -d "tests/fuzz/corpus/$1" ] || die "fuzz: there is no target $1; there are: $(fuzz_targets | xargs)"
      targets+=("$1") ;;
  esac
  shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz: --seconds wants a number above 0"
if [ ${#targets[@]} -eq 0 ]; then mapfile -t targets < <(fuzz_targets); fi
tools/install.sh build fuzz
tools/build.sh --preset=fuzz "${targets[@]/#/fuzz_}"

results="" failed=no
for target in "${targets[@]}"; do
  found=build/fuzz/corpus/$target findings=build/fuzz/findings/$target log=build/fuzz/$target.log
  mkdir -p "$found" "$findings"
  say "fuzzing $target for $seconds s"
  outcome=none status=0
  # What one input may cost is bounded too. The newest line is shown; all of them are in the log.
  ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-16 || command -v llvm-symbolizer || true) \
    build/fuzz/bin/"fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -dict=tests/fuzz/words.dict -artifact_prefix="$findings/" -print_final_stats=1 \
    "$found" "tests/fuzz/corpus/$target" >"$log" 2>&1 &
  pid=$! shown="" line=""
  while kill -0 "$pid" 2>/dev/null; do
    sleep 3
    line=$(grep -aE '^#[0-9]+' "$log" | tail -n 1 || true)
    [ "$line" = "$shown" ] || printf '    %s\n' "$line" >&2
    shown=$line
  done
  wait "$pid" || status=$?
  if [ $status -ne 0 ]; then
    failed=yes
    outcome=$(sed -n 's/^.*Test unit written to //p' "$log" | tail -n 1)
    outcome=${outcome:-"exit code $status, see $log"}
    grep -aE 'shiplog: invariant broken|ERROR: |runtime error' "$log" | head -n 3 >&2 || true
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -aoE 'cov: [0-9]+' "$log" | tail -n 1 | cut -d' ' -f2)
  results+=$(printf '%-22s %10s %9s %8s  %s' "$target" "${runs:-?}" "${coverage:-?}" "$(find "$found" -type f | wc -l)" "$outcome")$'\n'
done
printf '\n%-22s %10s %9s %8s  %s\n%s' TARGET RUNS COVERAGE INPUTS FINDING "$results"
[ $failed = no ] || die "there are findings: run build/fuzz/bin/fuzz_TARGET FILE to see one again"
