#!/usr/bin/env bash
# tools/fmt.sh: formats all sources.
. "$(dirname "$0")/environment.sh"
tools/install.sh lint
sources | xargs clang-format -i
