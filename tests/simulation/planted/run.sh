#!/usr/bin/env bash
# Plants each bug of this folder in a copy of the sources, one after the other, and asks the simulation to find it.
#   run.sh [--seeds N] [PATCH...]      N seeds for each bug at most (default 400); all patches of this folder
#   run.sh --check                     only sees that every patch still applies; a ctest does this
# The copy and its build stay in build/planted: a second run compiles only what the patches touch.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$root/build/planted
source=$work/source
seeds=400
jobs=${SHIPLOG_JOBS:-$(nproc)}

if [ "${1:-}" = --seeds ]; then
  seeds=$2
  shift 2
fi
patches=("$@")
[ ${#patches[@]} -gt 0 ] || patches=("$here"/*.patch)

fail() { echo "planted: $*" >&2; exit 1; }

if [ "${1:-}" = --check ]; then
  for patch in "$here"/*.patch; do
    git -C "$root" apply --check "$patch" || fail "$(basename "$patch") no longer applies: plant that bug anew"
  done
  exit
fi

# Only what differs is copied, so that ninja sees what is new.
copy_sources() {
  local file
  mkdir -p "$source"
  while IFS= read -r -d '' file; do
    [ -f "$root/$file" ] || continue
    cmp -s "$root/$file" "$source/$file" && continue
    mkdir -p "$source/$(dirname "$file")"
    cp "$root/$file" "$source/$file"
  done < <(cd "$root" && git ls-files -z --cached --others --exclude-standard -- \
    CMakeLists.txt CMakePresets.json cmake schemas events projections services tests)
}

build() {
  ninja -C "$work/build" -j "$jobs" simulate >"$work/build.log" 2>&1 && return
  grep -a -m 20 'error' "$work/build.log" >&2 || tail -n 20 "$work/build.log" >&2
  fail "$1 does not build; all of it is in $work/build.log"
}

copy_sources
export CCACHE_BASEDIR=$source
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  >"$work/configure.log" 2>&1 || fail "configuring failed, see $work/configure.log"

for patch in "${patches[@]}"; do
  patch --dry-run -p1 -s -d "$source" <"$patch" || fail "$(basename "$patch") no longer applies: plant that bug anew"
done

build "the tree as it is"
missed=()
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  patch --no-backup-if-mismatch -p1 -s -d "$source" <"$patch"
  build "$name"
  began=$SECONDS
  if timeout 900 "$work/build/bin/simulate" --seeds "$seeds" --no-shrink >"$work/$name.log" 2>&1; then
    echo "MISSED $name: nothing in $seeds seeds"
    missed+=("$name")
  elif found=$(grep -a -A1 '^FAILED seed' "$work/$name.log" | head -n 2 | tr '\n' ' ') && [ -n "$found" ]; then
    printf 'found  %-26s %3s s  %.150s\n' "$name" $((SECONDS - began)) "${found#FAILED }"
  else
    tail -n 5 "$work/$name.log" >&2
    fail "simulate ended without saying which seed, see $work/$name.log"
  fi
  patch --no-backup-if-mismatch -R -p1 -s -d "$source" <"$patch"
done
echo "$((${#patches[@]} - ${#missed[@]})) of ${#patches[@]} planted bugs found"
[ ${#missed[@]} -eq 0 ]
