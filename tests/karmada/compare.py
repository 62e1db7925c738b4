#!/usr/bin/python3
"""compare.py REPORT EXPECTED [--focused]: compares a JSON report of ginkgo with the list of specs that are expected to fail.

The exit code is 0 if every spec that is not on the list has passed, and each that is on it has failed or was skipped. With
--focused, specs that were not selected do not count.
"""
import argparse
import collections
import json
import os
import re
import sys


def read_expected(file):
    """(file of the spec, pattern of its name, reason, line) for each line: FILE  PATTERN  # REASON"""
    expected = []
    with open(file, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = re.fullmatch(r"(\S+)\s+(.*?)\s+# (.+)", line.strip())
            if match is None:
                sys.exit(f"{file}:{number}: not of the form FILE  PATTERN  # REASON")
            expected.append((match[1], re.compile(match[2]), match[3], f"{os.path.basename(file)}:{number}"))
    return expected


def file_of(location):
    return os.path.basename(location.get("FileName", ""))


def message_of(spec):
    """What failed, and where."""
    failure = spec.get("Failure") or {}
    where = failure.get("Location") or {}
    lines = [line.strip() for line in failure.get("Message", "").splitlines() if line.strip()]
    return f"{file_of(where)}:{where.get('LineNumber', 0)}: {' '.join(lines)[:400]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("expected")
    parser.add_argument("--focused", action="store_true")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as text:
        nodes = [node for suite in json.load(text) for node in suite["SpecReports"] or []]
    expected = read_expected(options.expected)
    used = [False] * len(expected)
    counts = collections.Counter()
    problems = []
    for spec in nodes:
        state = spec["State"]
        if spec["LeafNodeType"] != "It":
            if state not in ("passed", "skipped"):
                problems.append(f"{spec['LeafNodeType']} {state}: {message_of(spec)}")
            continue
        file = file_of(spec["LeafNodeLocation"])
        name = " / ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
        row = next((n for n, (at, pattern, _, _) in enumerate(expected) if at == file and pattern.search(name)), None)
        if row is not None:
            used[row] = True
        # One that was not selected is skipped, without a message.
        if options.focused and state == "skipped" and not (spec.get("Failure") or {}).get("Message"):
            counts["not selected"] += 1
        elif state == "passed" and row is not None:
            counts["passed, although on the list"] += 1
            problems.append(f"passes now, take it off the list ({expected[row][3]}): {file}: {name}")
        elif state == "passed":
            counts["passed"] += 1
        elif row is not None:
            counts["skipped, as expected" if state == "skipped" else "failed, as expected"] += 1
        else:
            counts[state] += 1
            problems.append(f"{state}: {file}: {name}\n    {message_of(spec)}")
    for (file, pattern, _, line), is_used in zip(expected, used):
        if not is_used:
            problems.append(f"no spec is meant by {line}: {file} {pattern.pattern}")
    for problem in problems:
        print(problem)
    print(f"{sum(counts.values())} specs: " + ", ".join(f"{number} {what}" for what, number in sorted(counts.items())))
    sys.exit(1 if problems or not counts["passed"] + counts["failed, as expected"] + counts["skipped, as expected"] else 0)


if __name__ == "__main__":
    main()
