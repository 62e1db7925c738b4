#!/usr/bin/env bash
# tools/simulate.sh --seeds N [--first S] [--minutes M] [--seed S --trace] | --planted [--seeds N]
. "$(dirname "$0")/environment.sh"
if [ "${1:-}" = --planted ]; then
  shift
  tools/install.sh build patch
  exec tests/simulation/planted/run.sh "$@"
fi
tools/build.sh simulate
exec build/bin/simulate "$@"
