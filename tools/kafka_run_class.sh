#!/usr/bin/env bash
# Runs a class of Kafka, as kafka-run-class.sh of a Kafka installation does: docker/stack/kafka.sh starts a broker with it.
exec "$(dirname "$0")/../tests/kafka/broker.sh" tool "$@"
