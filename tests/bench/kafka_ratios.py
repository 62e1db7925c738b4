#!/usr/bin/env python3
"""kafka_ratios.py FIGURES: prints what kafka.sh has measured as shares of Kafka's own programs on the same broker, and adds them
to the figures. Latencies are compared with those of Kafka's producer at 1000 records a second."""
import json
import sys

PRODUCER, BATCHES = "machine: Kafka's own producer, its defaults", "machine: Kafka's own producer, 1 MB batches"
STEADY, CONSUMER = "machine: Kafka's own producer, 1000 a second", "machine: Kafka's own consumer"
RECORD = 1500 / 1e6  # MB
# What, its figure and unit; what it is divided by, its unit, and a factor that makes both units one.
RATIOS = [("mutations on Kafka", "64 clients", "per_second", PRODUCER, "per_second", 1),
          ("mutations on Kafka", "64 clients, p50", "ms", STEADY, "p50_ms", 1),
          ("mutations on Kafka", "64 clients, p99", "ms", STEADY, "p99_ms", 1),
          ("produced on Kafka", "produced requests, 64 clients", "per_second", PRODUCER, "per_second", 1),
          ("produced on Kafka", "produced requests, 64 clients, p50", "ms", STEADY, "p50_ms", 1),
          ("produced on Kafka", "produced requests, 64 clients, p99", "ms", STEADY, "p99_ms", 1),
          ("journal copy", "from a file to the broker, bytes", "MB/s", BATCHES, "per_second", RECORD),
          ("journal copy", "from the broker to a file, bytes", "MB/s", CONSUMER, "mb_per_second", 1),
          ("scrub", "records and rows read again, bytes", "MB/s", CONSUMER, "mb_per_second", 1)]


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        figures = {(figure["of"], figure["what"]): figure for figure in map(json.loads, text)}
    print("\nshares of Kafka's own programs on this broker")
    with open(sys.argv[1], "a", encoding="utf-8") as out:
        for of, what, unit, base, base_unit, factor in RATIOS:
            share = figures[of, what][unit] / (figures["kafka", base][base_unit] * factor)
            print(f"{of + ': ' + what:<64} {share:8.3f} of {base.removeprefix('machine: ')}")
            json.dump({"of": of, "what": f"{what}, share of {base.removeprefix('machine: ')}", "ratio": share}, out)
            out.write("\n")


if __name__ == "__main__":
    main()
