#!/usr/bin/env bash
# tools/test.sh [--preset=release|dev|asan|tsan] [ctest arguments]
. "$(dirname "$0")/environment.sh"

preset=release arguments=()
for word in "$@"; do case $word in --preset=*) preset=${word#*=} ;; *) arguments+=("$word") ;; esac; done

tools/build.sh --preset="$preset"
case $preset in
  asan | tsan)
    # Sanitized programs are slow, and the end-to-end scenarios run the release ones. Sanitizers use memory that tests of
    # memory bounds would count, and exclude a preloaded library.
    arguments=(-LE 'e2e|kafka' -E '^(HostileMember|StorageFaults)[.]' "${arguments[@]}") ;;
  *)
    tools/install.sh kubectl test stack docker-compose
    tools/install.sh kafka || say "without Kafka its tests fail; the rest runs"
    tools/install.sh clients || say "the tests of clients that are missing are skipped; the rest runs"
    tests/parquet/install.sh || say "without pyarrow the tests of Parquet files fail; the rest runs" ;;
esac
say "testing ($preset)"
# Two more than processors: many tests wait for timers of the programs they start.
ctest --test-dir "$(build_dir "$preset")" --output-on-failure -j "$(($(nproc) + 2))" "${arguments[@]}"
