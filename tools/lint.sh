#!/usr/bin/env bash
# tools/lint.sh [--within=SECONDS] [--all | file...]: formatting of all sources; clang-tidy of the given ones, or of all but
# the tests that the newest 10 commits did not touch; --all includes them. What was changed last is checked first, and with
# --within no check begins later than that: CI on a new machine has no time for all sources.
# tidy.py skips what has not changed since it was clean.
. "$(dirname "$0")/environment.sh"

tools/install.sh build lint clang_tidy
say "clang-format"
sources | xargs clang-format --dry-run -Werror || die "run ./dev fmt"
# Each file by itself and without precompiled headers: what it does not include itself is missing here.
cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSHIPLOG_BATCH=1 >/dev/null
cmake --build build/lint --target shiplog_generated >&2
say "clang-tidy" # warnings as such are the compiler's, and errors there
tests='_test\.cc$|^tests/'
within=()
case ${1:-} in --within=*) within=("$1") && shift ;; esac
# The given files, those that were changed last first.
by_last_change() { # of names on standard input
  awk 'NR == FNR { wanted[$0]; next } ($0 in wanted) && !seen[$0]++ { print } END { for (name in wanted) if (!seen[name]) print name }' \
    - <({ git diff --name-only HEAD; git log --pretty= --name-only; })
}
files=("$@")
case ${1:-} in
  --all) mapfile -t files < <(sources | grep '\.cc$') ;;
  '')
    mapfile -t files < <({
      sources | grep '\.cc$' | grep -vE "$tests"
      { git log -10 --pretty= --name-only; git diff --name-only HEAD; } | grep -E "$tests" | grep -xFf <(sources | grep '\.cc$') || true
    } | sort -u | by_last_change) ;;
esac
tools/tidy.py "${within[@]}" "$clang_tidy" build/lint "${files[@]}" || die "clang-tidy has found something: see above"
say "lint is clean"
