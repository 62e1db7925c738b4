#!/usr/bin/env bash
# tools/chaos.sh [--seconds=N] [--seed=N]: faults in the services of docker/compose.yaml, 30 minutes by default.
. "$(dirname "$0")/environment.sh"
tools/build.sh shiplogd shiplogctl shiplog_shifted_clock
tools/install.sh kubectl stack kafka
exec /usr/bin/python3 tests/chaos/chaos.py --seconds=1800 "$@"
