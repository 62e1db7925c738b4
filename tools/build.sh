#!/usr/bin/env bash
# tools/build.sh [--preset=release|dev|asan|tsan|fuzz] [target...]
. "$(dirname "$0")/environment.sh"

preset=release targets=()
for word in "$@"; do case $word in --preset=*) preset=${word#*=} ;; *) targets+=("$word") ;; esac; done

tools/install.sh build
folder=$(build_dir "$preset")
if [ ! -f "$folder/build.ninja" ]; then
  log=$(mktemp)
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; die "cmake could not configure the $preset preset: see above"; }
  rm -f "$log"
fi
say "building ($preset)"
cmake --build "$folder" --target "${targets[@]:-all}" >&2 || die "the build failed: the first error above is the one to look at"
