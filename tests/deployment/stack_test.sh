#!/usr/bin/env bash
# stack_test.sh ROOT BUILD: the services of docker/compose.yaml, run as plain processes, reach the demo's table of ready
# replicas; so they do a second time, with the data of the first.
set -euo pipefail
root=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
network=127.$((RANDOM % 200 + 20)).$((RANDOM % 250 + 1))
for run in first second; do
  if ! /usr/bin/python3 "$root/tools/stack.py" --once --timeout=200 --folder="$scratch/stack" --programs="$build/bin" --network="$network" \
    >"$scratch/out" 2>"$scratch/err"; then
    cat "$scratch/err" >&2
    tail -n 15 "$scratch"/stack/log/*.log >&2
    exit 1
  fi
  if ! diff - "$scratch/out" >&2 <<'END'
CLUSTER      REPLICAS
member1      1
member2      2
member3      3
END
  then
    printf 'the %s run printed something else\n' "$run" >&2
    exit 1
  fi
done
# What the brokers and the API authenticate with belongs to the user alone, or to the brokers' group.
readable=$(find "$scratch/stack/volumes/secrets" "$scratch/stack/volumes/keys" -type f -perm /007)
[ -z "$readable" ] || { printf 'others can read %s\n' "$readable" >&2; exit 1; }
