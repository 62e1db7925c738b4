#!/usr/bin/env bash
# A Kafka broker (KRaft, no ZooKeeper) for tests and `./dev up --journal=kafka`.
#
#   broker.sh fetch                                        fetch Kafka's jars with Maven, once, and create a class data
#                                                          archive for fast starts; print the jars' folder
#   broker.sh run DIR ID PORT ID@HOST:PORT,... [KEY=VALUE...]
#       run broker and controller ID of the cluster whose controllers are listed (including this one), with the data in
#       DIR, which is formatted if it is new. Further arguments are broker settings.
#   broker.sh tool CLASS [ARGUMENT...]                     run one of Kafka's own programs
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sed -n 's|.*<kafka.version>\(.*\)</kafka.version>.*|\1|p' "$here/pom.xml")
jars=${SHIPLOG_KAFKA_JARS:-$root/.cache/kafka/$version}
jars=${jars%/}
cluster=4L6g3nShT-eMCtK--X86sw

die() { printf 'kafka: %s\n' "$*" >&2; exit 1; }

fetch() {
  command -v java >/dev/null || die "java is missing: install default-jre-headless (./dev does)"
  if [ ! -d "$jars" ]; then
    command -v mvn >/dev/null || die "mvn is missing: install maven (./dev does), or put Kafka's jars into $jars"
    mkdir -p "$(dirname "$jars")"
    # If tests fetch at the same time, one of them does and the others wait. The folder is created atomically.
    exec 9>"$jars.lock"
    flock 9
    if [ ! -d "$jars" ]; then
      local part
      part=$(mktemp -d "$jars.XXXXXX")
      if ! timeout 300 mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$part" >&2; then
        rm -rf "$part"
        die "Maven could not fetch Apache Kafka $version (see above): without a way to a Maven repository nothing runs on a real broker; elsewhere fetched jars may be put into $jars"
      fi
      # Exactly the jars of the lock file: `(cd DIR && sha256sum *.jar) >tests/kafka/jars.sha256` after a change of pom.xml.
      if ! (cd "$part" && sha256sum --check --strict --quiet "$here/jars.sha256") >&2 ||
        [ "$(find "$part" -type f | wc -l)" != "$(wc -l <"$here/jars.sha256")" ]; then
        rm -rf "$part"
        die "the jars that Maven fetched are not those of tests/kafka/jars.sha256 (see above)"
      fi
      mv "$part" "$jars"
    fi
    flock -u 9
  fi
  echo "$jars"
}

# A class data archive of a broker, created once by a broker that is started for this and stopped again: it halves the work
# of a start. The file belongs to this java, which ignores it if it does not match; it is empty if it could not be created.
prepare() {
  fetch
  local archive
  archive=$(archive)
  [ ! -f "$archive" ] || return 0
  exec 9>"$jars.lock"
  flock 9
  [ -f "$archive" ] || (make_archive "$archive") >/dev/null 2>&1 || true
  [ -f "$archive" ] || : >"$archive"
  flock -u 9
}
archive() { echo "$jars-$(stat -Lc %Y "$(command -v java)").jsa"; }
make_archive() {
  local archive=$1 scratch address broker
  scratch=$(mktemp -d)
  # A separate loopback address, so that it needs no free port.
  address=127.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))
  settings "$scratch" 1 "$address:9092" "1@$address:9093" >"$scratch/server.properties"
  java_flags "$scratch"
  timeout 60 java "${flags[@]}" kafka.tools.StorageTool format --cluster-id "$cluster" --config "$scratch/server.properties"
  timeout 120 java "${flags[@]}" -XX:ArchiveClassesAtExit="$scratch/classes.jsa" kafka.Kafka "$scratch/server.properties" &
  broker=$!
  for _ in $(seq 600); do
    (exec 8<>"/dev/tcp/$address/9092") 2>/dev/null && break
    kill -0 $broker || break
    sleep 0.1
  done
  kill -TERM $broker
  wait $broker
  [ ! -s "$scratch/classes.jsa" ] || mv "$scratch/classes.jsa" "$archive"
  rm -rf "$scratch"
}

# Optimized for a small, fast start rather than throughput: only the C1 compiler, one garbage collector thread.
java_flags() {
  local scratch=$1
  flags=(-Xms64m "-Xmx${SHIPLOG_KAFKA_HEAP:-384m}" -XX:+UseSerialGC -XX:-UsePerfData -Xshare:auto)
  read -ra more <<<"${SHIPLOG_KAFKA_JVM:--XX:TieredStopAtLevel=1}"
  flags+=("${more[@]}" "-Dlog4j.configuration=file:$here/log4j.properties" "-Dshiplog.level=${SHIPLOG_KAFKA_LOG:-WARN}"
    -Djava.awt.headless=true "-Djava.io.tmpdir=$scratch" -cp "$(fetch)/*")
}

become_java() {
  java_flags "$1"
  shift
  local archive
  archive=$(archive)
  [ ! -s "$archive" ] || flags+=("-XX:SharedArchiveFile=$archive")
  exec java "${flags[@]}" "$@"
}

# Writes server.properties of a broker and controller.
settings() {
  local folder=$1 id=$2 address=$3 voters=$4; shift 4
  local controller brokers
  controller=$(printf '%s' "$voters" | tr ',' '\n' | sed -n "s/^$id@//p")
  brokers=$(printf '%s' "$voters" | tr ',' '\n' | grep -c .)
  [ -n "$controller" ] || die "controller $id is not among $voters"
  echo "process.roles=broker,controller"
  echo "node.id=$id"
  echo "controller.quorum.voters=$voters"
  echo "listeners=PLAINTEXT://$address,CONTROLLER://$controller"
  echo "advertised.listeners=PLAINTEXT://$address"
  echo "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
  echo "controller.listener.names=CONTROLLER"
  echo "log.dirs=$folder/data"
  echo "auto.create.topics.enable=false"
  echo "offsets.topic.replication.factor=$brokers"
  echo "offsets.topic.num.partitions=1"
  # Results of produced requests, and feeds, are committed in transactions.
  echo "transaction.state.log.replication.factor=$brokers"
  echo "transaction.state.log.min.isr=$((brokers > 2 ? 2 : 1))"
  echo "transaction.state.log.num.partitions=1"
  echo "group.initial.rebalance.delay.ms=0"
  # Few cores, few clients.
  echo "num.network.threads=2"
  echo "num.io.threads=2"
  echo "background.threads=2"
  echo "log.cleaner.dedupe.buffer.size=4194304"
  for setting in "$@"; do echo "$setting"; done
}

run() {
  [ $# -ge 4 ] || die "run wants DIR ID PORT CONTROLLERS"
  local folder=$1 id=$2 port=$3 voters=$4; shift 4
  mkdir -p "$folder/scratch"
  settings "$folder" "$id" "127.0.0.1:$port" "$voters" "$@" >"$folder/server.properties"
  [ -f "$folder/data/meta.properties" ] ||
    (become_java "$folder/scratch" kafka.tools.StorageTool format --cluster-id "$cluster" \
      --config "$folder/server.properties" >/dev/null)
  become_java "$folder/scratch" kafka.Kafka "$folder/server.properties"
}

verb=${1:-}
shift || true
case $verb in
  fetch) prepare ;;
  run) run "$@" ;;
  tool) become_java "${TMPDIR:-/tmp}" "$@" ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
