#!/usr/bin/env bash
# healthy.sh HOST:PORT [PATH]: whether a process answers 200 at PATH (/livez) of its --health-probe-bind-address. For health
# checks of containers, whose image has no HTTP client.
set -euo pipefail
host=${1%:*} port=${1##*:}
exec 3<>"/dev/tcp/$host/$port"
printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "${2:-/livez}" "$host" >&3
read -r _ status _ <&3
[ "$status" = 200 ]
