#!/usr/bin/env bash
# A Kafka broker (KRaft, no ZooKeeper) for tests and `./dev up --journal=kafka`.
#
#   broker.sh fetch                                        get Kafka's jars by Maven, once; print their folder
#   broker.sh run DIR ID PORT ID@HOST:PORT,... [KEY=VALUE...]
#       become broker and controller ID of the cluster whose controllers are listed (this one among them), with the data
#       in DIR, which is formatted when it is new. Further words are broker settings.
#   broker.sh tool CLASS [ARGUMENT...]                     become one of Kafka's own programs
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sed -n 's|.*<kafka.version>\(.*\)</kafka.version>.*|\1|p' "$here/pom.xml")
jars=${SHIPLOG_KAFKA_JARS:-$root/.cache/kafka/$version}

die() { printf 'kafka: %s\n' "$*" >&2; exit 1; }

fetch() {
  command -v java >/dev/null || die "java is missing: install default-jre-headless (./dev does)"
  if [ ! -d "$jars" ]; then
    command -v mvn >/dev/null || die "mvn is missing: install maven (./dev does), or put Kafka's jars into $jars"
    mkdir -p "$(dirname "$jars")"
    # Tests fetch at the same time: one does, the others wait. The folder appears whole or not at all.
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
      mv "$part" "$jars"
    fi
    flock -u 9
  fi
  echo "$jars"
}

# Small and quick to start, not fast for long: the first compiler only, one garbage collector thread.
become_java() {
  exec java -Xms64m "-Xmx${SHIPLOG_KAFKA_HEAP:-384m}" -XX:+UseSerialGC ${SHIPLOG_KAFKA_JVM:--XX:TieredStopAtLevel=1} -Xshare:auto \
    -Dlog4j.configuration="file:$here/log4j.properties" -Dshiplog.level="${SHIPLOG_KAFKA_LOG:-WARN}" \
    -Djava.awt.headless=true -cp "$(fetch)/*" "$@"
}

run() {
  [ $# -ge 4 ] || die "run wants DIR ID PORT CONTROLLERS"
  local folder=$1 id=$2 port=$3 voters=$4; shift 4
  local controller brokers
  controller=$(printf '%s' "$voters" | tr ',' '\n' | sed -n "s/^$id@//p")
  brokers=$(printf '%s' "$voters" | tr ',' '\n' | grep -c .)
  [ -n "$controller" ] || die "controller $id is not among $voters"
  mkdir -p "$folder"
  {
    echo "process.roles=broker,controller"
    echo "node.id=$id"
    echo "controller.quorum.voters=$voters"
    echo "listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://$controller"
    echo "advertised.listeners=PLAINTEXT://127.0.0.1:$port"
    echo "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
    echo "controller.listener.names=CONTROLLER"
    echo "log.dirs=$folder/data"
    echo "auto.create.topics.enable=false"
    echo "offsets.topic.replication.factor=$brokers"
    echo "offsets.topic.num.partitions=1"
    echo "group.initial.rebalance.delay.ms=0"
    # Few cores, few clients.
    echo "num.network.threads=2"
    echo "num.io.threads=2"
    echo "background.threads=2"
    echo "log.cleaner.dedupe.buffer.size=4194304"
    for setting in "$@"; do echo "$setting"; done
  } >"$folder/server.properties"
  [ -f "$folder/data/meta.properties" ] ||
    (become_java kafka.tools.StorageTool format --cluster-id 4L6g3nShT-eMCtK--X86sw --config "$folder/server.properties" >/dev/null)
  become_java kafka.Kafka "$folder/server.properties"
}

verb=${1:-}
shift || true
case $verb in
  fetch) fetch ;;
  run) run "$@" ;;
  tool) become_java "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
