#!/usr/bin/env bash
# setup.sh SECRETS HOST...: makes what the processes of docker/compose.yaml authenticate each other with, once, in the folder
# SECRETS: an authority of the Kafka cluster, a certificate for each broker (HOST...), passwords, and the options of shiplogd
# that contain one. A second run keeps what is there.
set -euo pipefail
umask 027  # brokers read it as members of the group
secrets=$1; shift
mkdir -p "$secrets"
cd "$secrets"
[ ! -f complete ] || exit 0

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=shiplog-kafka" \
  -keyout kafka-ca.key -out kafka-ca.crt 2>openssl.log
for host in "$@"; do
  case $host in
    *[!0-9.]*) name=DNS:$host ;;
    *) name=IP:$host ;;
  esac
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$host" -keyout broker.key -out broker.csr \
    2>>openssl.log
  # Brokers present it to each other as clients, too.
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$name" >broker.ext
  openssl x509 -req -in broker.csr -CA kafka-ca.crt -CAkey kafka-ca.key -CAcreateserial -days 3650 -extfile broker.ext \
    -out broker.crt 2>>openssl.log
  # As Kafka reads a key with its certificate from one file.
  cat broker.key broker.crt >"broker-$host.pem"
  rm broker.key broker.crt broker.csr broker.ext
done
for user in broker shiplog; do
  openssl rand -hex 24 >"$user.password"
done
cat >shiplogd.yaml <<END
kafka-option:
  security.protocol: sasl_ssl
  ssl.ca.location: $secrets/kafka-ca.crt
  sasl.mechanism: SCRAM-SHA-512
  sasl.username: shiplog
  sasl.password: "$(cat shiplog.password)"
END
touch complete
