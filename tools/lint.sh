#!/usr/bin/env bash
# tools/lint.sh [file...]: formatting of all sources; clang-tidy of the given ones or of all. tidy.py skips
# what has not changed since it was clean.
. "$(dirname "$0")/environment.sh"

tools/install.sh build lint
say "clang-format"
sources | xargs clang-format --dry-run -Werror || die "run ./dev fmt"
# Without precompiled headers: what a file does not include itself is missing here.
cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build build/lint --target shiplog_generated >&2
say "clang-tidy" # warnings as such are the compiler's, and errors there
files=("$@")
if [ ${#files[@]} -eq 0 ]; then mapfile -t files < <(sources | grep '\.cc$'); fi
tools/tidy.py build/lint "${files[@]}" || die "clang-tidy has found something: see above"
say "lint is clean"
