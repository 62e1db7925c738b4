#!/usr/bin/env bash
# tools/stack.sh [--once] [--fresh]: docker/compose.yaml as plain processes, in .fleet/stack.
. "$(dirname "$0")/environment.sh"
tools/build.sh shiplogd shiplogctl
tools/install.sh kubectl stack kafka
exec /usr/bin/python3 tools/stack.py "$@"
