#!/usr/bin/env bash
# The journal and the product on a separate Kafka broker, compared with Kafka's own producer on the same topic with the same
# records, and what moves and reads a whole fleet of OBJECTS there, compared with Kafka's own consumer:
# kafka.sh PROGRAMS SCRATCH SECONDS FIGURES [OBJECTS]
# If Kafka cannot be installed, it reports it in the table and in FIGURES, and ends with code 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$here/../kafka/broker.sh
programs=$1 scratch=$2 seconds=$3 figures=$4 objects=${5:-100000}
# Optimized for throughput, not for a fast start.
export SHIPLOG_KAFKA_JVM=-XX:+TieredCompilation SHIPLOG_KAFKA_HEAP=1g

figure() { printf '{"of":"kafka","what":"%s"%s}\n' "$1" "$2" >>"$figures"; }
not_measured() {
  printf '\n*** On Kafka NOTHING WAS MEASURED: %s ***\n' "$1"
  figure "not measured: $1" ',"measured":false'
  exit 1
}
free_port() {
  local port
  for port in $(shuf -i 20000-32000 -n 50); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  not_measured "no free port"
}

command -v java >/dev/null || not_measured "java is missing (default-jre-headless)"
"$script" fetch >/dev/null || not_measured "Apache Kafka could not be fetched by Maven"
port=$(free_port)
controller=$(free_port)
"$script" run "$scratch/kafka" 1 "$port" "1@127.0.0.1:$controller" >"$scratch/kafka.log" 2>&1 &
broker=$!
trap 'kill -9 $broker 2>/dev/null || true; wait $broker 2>/dev/null || true' EXIT
waited=0
until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
  kill -0 "$broker" 2>/dev/null || not_measured "the broker did not start: $(tail -n 1 "$scratch/kafka.log" | tr -d '"\\')"
  sleep 0.2
  waited=$((waited + 1))
  [ $waited -lt 600 ] || not_measured "the broker does not listen after two minutes"
done

"$programs/journal_bench" "kafka:127.0.0.1:$port" "$seconds" | tee "$scratch/kafka-journal"
sed -n 's|^\(journal: [0-9]* clients\{0,1\}\), 1500 bytes *\([0-9]*\) /s *p50 \([0-9.]*\) ms, p99 \([0-9.]*\) ms.*|\1 \2 \3 \4|p' \
  "$scratch/kafka-journal" | while read -r journal clients word rate p50 p99; do
  figure "$journal $clients $word" ",\"per_second\":$rate,\"p50_ms\":$p50,\"p99_ms\":$p99"
done

# The same topic, hence the same settings, and the same bytes in each record.
topic=$(sed -n '1s|.*/||p' "$scratch/kafka-journal")
head -c 1500 /dev/zero | tr '\0' x >"$scratch/record"
echo >>"$scratch/record"
perf() { # WHAT RECORDS THROUGHPUT [PRODUCER-SETTING...]
  local result what=$1 records=$2 throughput=$3
  shift 3
  result=$("$script" tool org.apache.kafka.tools.ProducerPerformance --topic "$topic" --num-records "$records" --throughput "$throughput" \
    --payload-file "$scratch/record" --producer-props "bootstrap.servers=127.0.0.1:$port" acks=all \
    enable.idempotence=true compression.type=zstd "$@" 2>"$scratch/perf.log" | tail -n 1) || true
  local rate p50 p99
  rate=$(sed -n 's/.*sent, \([0-9.]*\) records\/sec.*/\1/p' <<<"$result")
  p50=$(sed -n 's/.* \([0-9]*\) ms 50th.*/\1/p' <<<"$result")
  p99=$(sed -n 's/.* \([0-9]*\) ms 99th.*/\1/p' <<<"$result")
  [ -n "$rate" ] && [ -n "$p50" ] && [ -n "$p99" ] ||
    not_measured "kafka-producer-perf-test printed: $(tail -n 1 "$scratch/perf.log" | tr -d '"\\')"
  printf '%-46s %10.0f /s   p50 %s ms, p99 %s ms\n' "$what" "$rate" "$p50" "$p99"
  figure "$what" ",\"per_second\":$rate,\"p50_ms\":$p50,\"p99_ms\":$p99"
}
perf "machine: Kafka's own producer, its defaults" 10000 -1
perf "machine: Kafka's own producer, 1 MB batches" 50000 -1 batch.size=1000000
perf "machine: Kafka's own producer, 1000 a second" $((seconds * 1000)) 1000

"$programs/fleet_bench" --only=mutations --journal="kafka:127.0.0.1:$port/bench" --seconds="$seconds" \
  --directory="$scratch" --json="$figures"

# The records of the topic, as a consumer gets them that does nothing with them.
consumed=$("$script" tool org.apache.kafka.tools.ConsumerPerformance --bootstrap-server "127.0.0.1:$port" --topic "$topic" \
  --messages 60000 --timeout 30000 2>"$scratch/consumer.log" | tail -n 1) || true
IFS=', ' read -r megabytes records < <(cut -d, -f9,10 <<<"$consumed") || true
[[ "$records" =~ ^[0-9.]+$ ]] || not_measured "kafka-consumer-perf-test printed: $(tail -n 1 "$scratch/consumer.log" | tr -d '"\\')"
printf '%-46s %10.0f /s   %.0f MB/s\n' "machine: Kafka's own consumer" "$records" "$megabytes"
figure "machine: Kafka's own consumer" ",\"per_second\":$records,\"mb_per_second\":$megabytes"

"$programs/broker_bench" --broker="127.0.0.1:$port" --objects="$objects" --directory="$scratch" --json="$figures"
/usr/bin/python3 "$here/kafka_ratios.py" "$figures"
