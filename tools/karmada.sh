#!/usr/bin/env bash
# tools/karmada.sh --source=DIR --suite=DIR [--focus=REGEX] [--procs=N] [--stay]: Karmada's end-to-end suite on trial members.
. "$(dirname "$0")/environment.sh"
exec tests/karmada/run.sh "$@"
