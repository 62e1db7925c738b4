#!/usr/bin/env bash
# tools/soak.sh [--hours N] [--only PHASE,...] [--publish]: what is too long for every change. Phases: planted, seeds, asan,
# tsan, fuzz, crash. Logs and the table of results are in build/soak; --publish puts the table into docs/soak.md.
. "$(dirname "$0")/environment.sh"

phases=(planted seeds asan tsan fuzz crash)
hours=8 only="" publish=no
while [ $# -gt 0 ]; do
  case $1 in
    --hours) [ $# -gt 1 ] || die "soak: --hours wants a number"; hours=$2; shift ;;
    --hours=*) hours=${1#*=} ;;
    --only) [ $# -gt 1 ] || die "soak: --only wants phases"; only=$2; shift ;;
    --only=*) only=${1#*=} ;;
    --publish) publish=yes ;;
    *) die "soak: unknown option $1 (there are --hours N, --only PHASE,... and --publish)" ;;
  esac
  shift
done
[[ $hours =~ ^[0-9]+(\.[0-9]+)?$ ]] || die "soak: --hours wants a number"
total=$(awk -v hours="$hours" 'BEGIN { printf "%d", hours * 3600 }')
[ "$total" -ge 60 ] || die "soak: less than a minute is too short: --hours 0.1 are six minutes"
if [ -n "$only" ]; then
  IFS=, read -r -a wanted <<<"$only"
  for phase in "${wanted[@]}"; do
    [[ " ${phases[*]} " == *" $phase "* ]] || die "soak: there is no phase $phase; there are: ${phases[*]}"
  done
  phases=("${wanted[@]}")
fi

out=build/soak
mkdir -p "$out"
rows="" failed=no

# Seconds of testing for a phase, of the whole time by the weights of the phases that run. Building is not counted.
weight() { case $1 in planted) echo 2 ;; seeds) echo 6 ;; asan) echo 3 ;; tsan) echo 3 ;; fuzz) echo 4 ;; crash) echo 2 ;; esac; }
weights=0
for phase in "${phases[@]}"; do weights=$((weights + $(weight "$phase"))); done
seconds_of() { echo $((total * $(weight "$1") / weights)); }

# row PHASE SECONDS WHAT STATUS LOG
row() {
  local result=passed
  if [ "$4" -ne 0 ]; then result="**failed**, see \`$5\`"; failed=yes; fi
  rows+="| $1 | $2 s | $3 | $result |"$'\n'
  say "soak: $1: $3: $result"
}

# A run of ctest again and again until the time is over; a failure ends it. Prints how many runs there were.
ctest_for() {
  local seconds=$1 log=$2 runs=0 status=0 end
  shift 2
  end=$((SECONDS + seconds))
  : >"$log"
  while [ "$runs" -eq 0 ] || [ "$SECONDS" -lt "$end" ]; do
    ctest "$@" --output-on-failure -j "$(nproc)" >>"$log" 2>&1 || { status=1; break; }
    runs=$((runs + 1))
  done
  echo "$runs"
  return $status
}
tests_of() { sed -n 's/^.*tests passed, .* out of \([0-9]*\)$/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }

soak_planted() {
  local log=$out/planted.log status=0 begin=$SECONDS
  tools/simulate.sh --planted >"$log" 2>&1 || status=$?
  row "planted bugs" $((SECONDS - begin)) "$(tail -n 1 "$log")" "$status" "$log"
}

# simulate_for PHASE SECONDS PROGRAM LOG: seeds that no other run has tried.
simulate_for() {
  local first status=0 begin=$SECONDS
  first=$(od -An -N5 -tu8 /dev/urandom | tr -d ' ')
  "$3" --first "$first" --seeds 1000000000 --minutes "$(awk -v s="$2" 'BEGIN { print s / 60 }')" --keep-going >"$4" 2>&1 ||
    status=$?
  row "$1" $((SECONDS - begin)) "from seed $first: $(grep -E '^[0-9]+ seeds' "$4" | tail -n 1)" "$status" "$4"
}

soak_seeds() {
  tools/build.sh simulate
  simulate_for "new seeds" "$(seconds_of seeds)" build/bin/simulate "$out/seeds.log"
}

soak_asan() {
  local seconds log=$out/asan.log status=0 begin runs
  seconds=$(seconds_of asan)
  tools/build.sh --preset=asan
  simulate_for "asan, new seeds" $((seconds / 3)) build/asan/bin/simulate "$out/asan-seeds.log"
  begin=$SECONDS
  runs=$(ctest_for $((seconds * 2 / 3)) "$log" --test-dir build/asan -L 'unit|contract' -LE 'e2e|kafka' -E '^(HostileMember|StorageFaults)[.]') || status=1
  row "asan, unit and contract tests" $((SECONDS - begin)) "$(tests_of "$log") tests, $runs rounds" "$status" "$log"
}

# With the mock of librdkafka; the contract tests on a real broker are left out.
soak_tsan() {
  local seconds log=$out/tsan.log status=0 begin runs
  seconds=$(seconds_of tsan)
  tools/build.sh --preset=tsan
  begin=$SECONDS
  runs=$(ctest_for "$seconds" "$log" --test-dir build/tsan -L 'unit|contract' -LE e2e \
    -E '^(HostileMember|StorageFaults)[.]|^kafka_broker_test$') || status=1
  row "tsan, unit and contract tests with the Kafka mock" $((SECONDS - begin)) "$(tests_of "$log") tests, $runs rounds" "$status" "$log"
}

soak_fuzz() {
  local log=$out/fuzz.log status=0 begin=$SECONDS count each
  count=$(find tests/fuzz/corpus -mindepth 1 -maxdepth 1 -type d | wc -l)
  each=$(($(seconds_of fuzz) / count))
  [ "$each" -gt 0 ] || each=1
  tools/fuzz.sh --seconds "$each" >"$log" 2>&1 || status=$?
  row "fuzzers" $((SECONDS - begin)) "$count targets for $each s each: $(awk '/^TARGET/ { on = 1; next } on { sum += $2 } END { print sum + 0 }' "$log") inputs" "$status" "$log"
}

soak_crash() {
  local log=$out/crash.log status=0 begin runs
  tools/build.sh
  begin=$SECONDS
  runs=$(ctest_for "$(seconds_of crash)" "$log" --test-dir build -L crash) || status=1
  row "crash tests" $((SECONDS - begin)) "$(tests_of "$log") tests, $runs rounds" "$status" "$log"
}

for phase in "${phases[@]}"; do
  say "soak: $phase, $(seconds_of "$phase") s"
  "soak_$phase"
done

commit=$(git rev-parse --short HEAD)
git diff --quiet HEAD || commit="$commit with changes"
{
  printf '%s, commit %s, %s processors, --hours %s.\n\n' "$(date -u +%F)" "$commit" "$(nproc)" "$hours"
  printf '| phase | time | what | result |\n| --- | --- | --- | --- |\n%s' "$rows"
} >"$out/soak.md"
cat "$out/soak.md"
if [ $publish = yes ]; then
  awk -v results="$out/soak.md" '
    /^<!-- results -->$/ { print; print ""; while ((getline line < results) > 0) print line; print ""; skip = 1; next }
    /^<!-- end -->$/ { skip = 0 }
    !skip { print }' docs/soak.md >"$out/page.md"
  cp "$out/page.md" docs/soak.md
fi
[ $failed = no ] || die "soak: there are failures"
