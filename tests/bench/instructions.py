#!/usr/bin/env python3
"""Counts the instructions of fixed workloads and compares them with those of the last release.

    instructions.py --program=build/bin/workloads [--update]

Unlike times, instructions do not depend on what else the machine does. Each workload runs with two counts under valgrind;
the difference is the cost without the start. It fails when a workload needs more than TOLERANCE above what
docs/performance/instructions.json says. --update writes the present figures there: for a release, or for a change that is
worth its cost.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = os.path.join(ROOT, "docs/performance/instructions.json")
TOLERANCE = 0.05
# What is done between the two counts, and its name in the table.
WORKLOADS = {
    "application": (10, 40, "a Deployment from its creation to the status of two members"),
    "encode": (100, 1100, "an entry encoded"),
    "decode": (100, 1100, "an entry decoded"),
    "fold": (1, 5, "a recording of 40 applications folded"),
    "json": (100, 1100, "a Deployment read and written as JSON"),
}


def instructions(program, name, count):
    ran = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                          program, name, str(count)], capture_output=True, text=True, check=False)
    found = re.search(r"I +refs: +([\d,]+)", ran.stderr)
    if ran.returncode != 0 or not found:
        sys.exit(f"{program} {name} {count} failed under valgrind:\n{ran.stdout}{ran.stderr}")
    return int(found[1].replace(",", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build/bin/workloads"))
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing: ./dev test installs it (tools/install.sh test)")
    with open(RECORDED, encoding="utf-8") as file:
        recorded = json.load(file)
    with ThreadPoolExecutor(max_workers=2) as runs:
        pending = {(name, count): runs.submit(instructions, options.program, name, count)
                   for name, (few, many, _) in WORKLOADS.items() for count in (few, many)}
        measured = {name: (pending[name, many].result() - pending[name, few].result()) // (many - few)
                    for name, (few, many, _) in WORKLOADS.items()}
    failed = []
    for name, count in measured.items():
        before = recorded.get(name, count)
        change = count / before - 1
        print(f"{count:>13,} instructions  {change:+7.1%}  {WORKLOADS[name][2]}")
        if change > TOLERANCE:
            failed.append(name)
    if options.update:
        with open(RECORDED, "w", encoding="utf-8") as file:
            json.dump(measured, file, indent=2)
            file.write("\n")
        return
    if failed:
        sys.exit(f"{', '.join(failed)}: more than {TOLERANCE:.0%} above {os.path.relpath(RECORDED, ROOT)}. Find the cause "
                 "(valgrind --tool=callgrind), or record the figures with tests/bench/instructions.py --update")


if __name__ == "__main__":
    main()
