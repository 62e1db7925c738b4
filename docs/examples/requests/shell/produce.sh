#!/bin/sh
# Creates a ConfigMap through the topics of a fleet, and waits for the result (kcat, jq):
#   produce.sh BROKERS FLEET NAME <token
set -eu
brokers=$1 fleet=$2 name=$3
token=$(cat)
id="example-$name" # the same name again is the same request

results=$(mktemp)
# From the present ends on, so that the result is not missed.
kcat -b "$brokers" -C -t "$fleet.results" -o end -u -q -X isolation.level=read_committed >"$results" &
reader=$!
trap 'kill $reader; rm -f "$results"' EXIT
sleep 2

jq -nc --arg id "$id" --arg name "$name" --arg token "$token" '{id: $id, verb: "create", token: $token, manifest:
  {apiVersion: "v1", kind: "ConfigMap", metadata: {name: $name, namespace: "default"}, data: {made: "by a producer"}}}' |
  kcat -b "$brokers" -P -t "$fleet.requests" -k "default/$name" -H content-type=application/json

for _ in $(seq 60); do
  result=$(jq -c --arg id "$id" 'select(.id == $id)' "$results")
  if [ -n "$result" ]; then
    echo "$result"
    exit 0
  fi
  sleep 1
done
echo "error: no result came within a minute" >&2
exit 1
