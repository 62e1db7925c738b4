#!/usr/bin/env bash
# kafka.sh SECRETS DATA HOST ID RACK ID@HOST:PORT,...: runs one broker and controller of docker/compose.yaml. Clients log in
# with SCRAM over TLS, controllers with certificates. KAFKA_RUN_CLASS is Kafka's own script of that name.
set -euo pipefail
umask 077
secrets=$1 data=$2 host=$3 id=$4 rack=$5 voters=$6
run=${KAFKA_RUN_CLASS:-/opt/kafka/bin/kafka-run-class.sh}
scram="org.apache.kafka.common.security.scram.ScramLoginModule required username"
mkdir -p "$data"
cat >"$data/server.properties" <<END
process.roles=broker,controller
node.id=$id
broker.rack=$rack
log.dirs=$data/log
controller.quorum.voters=$voters
controller.listener.names=CONTROLLER
listeners=CLIENT://$host:9092,CONTROLLER://$host:9093
advertised.listeners=CLIENT://$host:9092
listener.security.protocol.map=CLIENT:SASL_SSL,CONTROLLER:SSL
inter.broker.listener.name=CLIENT
sasl.enabled.mechanisms=SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.client.scram-sha-512.sasl.jaas.config=$scram="broker" password="$(cat "$secrets/broker.password")";
ssl.keystore.type=PEM
ssl.keystore.location=$secrets/broker-$host.pem
ssl.truststore.type=PEM
ssl.truststore.location=$secrets/kafka-ca.crt
listener.name.controller.ssl.client.auth=required
# Only these users have rights: the brokers and shiplog.
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:broker;User:shiplog;User:CN=$host$(printf '%s' "$voters" | tr ',' '\n' | sed -n 's/^[0-9]*@\(.*\):.*/;User:CN=\1/p' | tr -d '\n')
auto.create.topics.enable=false
default.replication.factor=3
offsets.topic.replication.factor=3
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
min.insync.replicas=2
unclean.leader.election.enable=false
# A broker that was killed is replaced after three seconds instead of nine.
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
controller.quorum.fetch.timeout.ms=1500
controller.quorum.election.timeout.ms=500
group.initial.rebalance.delay.ms=0
END
if [ ! -f "$data/log/meta.properties" ]; then
  "$run" kafka.tools.StorageTool format --config "$data/server.properties" --cluster-id 4L6g3nShT-eMCtK--X86sw \
    --add-scram "SCRAM-SHA-512=[name=broker,password=$(cat "$secrets/broker.password")]" \
    --add-scram "SCRAM-SHA-512=[name=shiplog,password=$(cat "$secrets/shiplog.password")]"
fi
exec "$run" kafka.Kafka "$data/server.properties"
