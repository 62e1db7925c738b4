#!/usr/bin/env python3
"""Creates a ConfigMap through the topics of a fleet, and waits for the result (pip install confluent-kafka):

    produce.py BROKERS FLEET NAME <token
"""
import json
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition


def main():
    brokers, fleet, name = sys.argv[1:4]
    token = sys.stdin.readline().strip()
    request = {
        "id": "example-" + name,  # the same name again is the same request
        "verb": "create",
        "manifest": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default"},
            "data": {"made": "by a producer"},
        },
        "token": token,
    }

    # From the present ends on, so that the result is not missed.
    results = Consumer({"bootstrap.servers": brokers, "group.id": "example", "enable.auto.commit": False,
                        "isolation.level": "read_committed"})
    topic = fleet + ".results"
    partitions = results.list_topics(topic, timeout=30).topics[topic].partitions
    results.assign([TopicPartition(topic, number, results.get_watermark_offsets(TopicPartition(topic, number))[1])
                    for number in partitions])

    producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True})
    producer.produce(fleet + ".requests", key="default/" + name, value=json.dumps(request),
                     headers={"content-type": "application/json"})
    if producer.flush(30) > 0:
        sys.exit("error: the request may not be stored; send it again with the same id")

    end = time.monotonic() + 60
    while time.monotonic() < end:
        message = results.poll(1)
        if message is None or message.error():
            continue
        result = json.loads(message.value())
        if result["id"] == request["id"]:
            print(json.dumps(result))
            sys.exit(0 if result["outcome"] == "applied" else 1)
    sys.exit("error: no result came within a minute")


main()
