#!/usr/bin/env bash
# tools/bench.sh [--full]: figures beside the machine's own, as a table and in build/bench.json.
. "$(dirname "$0")/environment.sh"

workload=500
for word in "$@"; do
  case $word in
    --full) workload=5000 ;; # as many as in the report that Karmada publishes
    *) die "bench: unknown option $word (there is --full)" ;;
  esac
done
tools/install.sh wrk nginx-light
tools/build.sh journal_bench projection_bench core_bench edit_bench start_bench evacuation_bench rehearsal_bench replay_bench \
  history_bench proof_bench sql_bench debugger_bench http_bench \
  fleet_bench broker_bench proxy_bench pull_bench scale_bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say "journal (embedded), beside fsync and plain SQLite"
build/bin/journal_bench "$scratch"
say "projection, beside plain SQLite"
build/bin/projection_bench 50000 "$scratch"
say "predefined SQL queries over 100,000 entries of 30 days"
build/bin/sql_bench 100000 "$scratch"
say "the core, without a network"
build/bin/core_bench --directory="$scratch" --json="$scratch/figures"
say "one edit among 50,000 bindings"
build/bin/edit_bench --json="$scratch/figures"
say "5,000 bindings leave a dead cluster"
build/bin/evacuation_bench --json="$scratch/figures"
say "the rehearsal of a region's failure, beside the fold alone"
build/bin/rehearsal_bench --json="$scratch/figures"
say "a journal replayed and verified, beside SHA-256 of the same bytes"
build/bin/replay_bench --directory="$scratch" --json="$scratch/figures"
say "what history stores, and reads of a past moment"
build/bin/history_bench --directory="$scratch" --json="$scratch/figures"
say "proofs of records, beside plain SHA-256"
build/bin/proof_bench --json="$scratch/figures"
say "the debugger on 100,000 entries, beside the fold alone"
build/bin/debugger_bench
say "changes after a start with 100,000 bindings"
build/bin/start_bench --json="$scratch/figures"
say "the HTTP server, beside Beast's streams"
build/bin/http_bench --json="$scratch/figures"
say "the cluster proxy, beside nginx as a TLS reverse proxy"
build/bin/proxy_bench --json="$scratch/figures"
say "500 pull members at rest"
build/bin/pull_bench --json="$scratch/figures"
say "100 members: at rest, under load, while ten of them hang, a start, another process"
build/bin/scale_bench --nodes=100 --pods=400 --seconds=20 --settle=20 --templates=300 --json="$scratch/figures"
say "the product, as processes"
build/bin/fleet_bench --workload="$workload" --directory="$scratch" --json="$scratch/figures"
say "the journal and the product on Kafka, beside Kafka's own producer"
tools/install.sh kafka || true # the table states what is missing
on_kafka=yes
tests/bench/kafka.sh build/bin "$scratch" 5 "$scratch/figures" || on_kafka=no
{ echo '['; sed '$!s/$/,/' "$scratch/figures"; echo ']'; } >build/bench.json
say "the figures of these are in build/bench.json"
[ $on_kafka = yes ] || die "the rows on Kafka are missing: see above"
