#!/usr/bin/env python3
"""Draws the stacks that `perf script` prints as a flame graph: one rectangle for each function and path to it, as wide as its
share of the samples. What called it is below. The pointer over a rectangle shows the name and the share.

    perf script --no-inline -F tid,ip,sym | flame_graph.py --title=TEXT [--least=0.2] > out.svg
"""
import argparse
import html
import re
import sys
import zlib

WIDTH, ROW, MARGIN, LETTER = 1200, 16, 30, 6.6


class Frame:
    def __init__(self):
        self.samples, self.callees = 0, {}

    def add(self, stack):
        frame = self
        frame.samples += 1
        for name in stack:
            frame = frame.callees.setdefault(name, Frame())
            frame.samples += 1

    def depth(self, least):
        return 1 + max((one.depth(least) for one in self.callees.values() if one.samples >= least), default=0)


def readable(symbol):
    """Without template arguments, namespaces of the project, and the machinery of std::function."""
    if symbol.startswith("std::_Function_handler"):
        return "std::function"
    symbol = symbol.replace("shiplog::", "").replace("(anonymous namespace)::", "").replace("operator->", "operator arrow")
    shorter = None
    while shorter != symbol:
        shorter, symbol = symbol, re.sub(r"<[^<>]*>", "", symbol)
    return re.sub(r"\(.*", "", symbol).replace("operator arrow", "operator->") or "?"


def stacks(lines):
    stack = None
    for line in lines:
        if not line.strip():
            if stack:
                yield stack[::-1]
            stack = None
        elif re.fullmatch(r"\s*\d+\s*", line):
            stack = []
        elif stack is not None:
            name = readable(line.split(None, 1)[1].strip() if len(line.split(None, 1)) > 1 else "?")
            # Of frames that the C library and lambdas repeat, one is enough.
            if name not in ("[unknown]", "std::function") and (not stack or stack[-1] != name):
                stack.append(name)
    if stack:
        yield stack[::-1]


def colour(name):
    number = zlib.crc32(name.encode())
    return f"rgb({205 + number % 50},{90 + number // 50 % 120},{40 + number // 6000 % 40})"


def draw(frame, name, left, level, rows, whole, least, out):
    width = WIDTH * frame.samples / whole
    top = MARGIN + (rows - 1 - level) * ROW
    label = f"{html.escape(name)} ({100 * frame.samples / whole:.1f} %)"
    letters = int(width / LETTER) - 1
    shown = html.escape(name[:letters]) if letters >= 3 else ""
    text = f'<text x="{left + 2:.1f}" y="{top + 12}">{shown}</text>' if shown else ""
    out.append(f'<g><title>{label}</title><rect x="{left:.1f}" y="{top}" width="{max(width - 0.4, 0.3):.1f}" '
               f'height="{ROW - 1}" fill="{colour(name)}"/>{text}</g>')
    for callee, one in sorted(frame.callees.items()):
        if one.samples >= least:
            draw(one, callee, left, level + 1, rows, whole, least, out)
            left += WIDTH * one.samples / whole


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--title", required=True)
    options.add_argument("--least", type=float, default=0.2, help="percent; narrower rectangles are left out")
    options = options.parse_args()
    root = Frame()
    for stack in stacks(sys.stdin):
        root.add(stack)
    if root.samples == 0:
        sys.exit("flame_graph.py: standard input has no stacks; is it what `perf script -F tid,ip,sym` prints?")
    least = root.samples * options.least / 100
    rows = root.depth(least)
    out = []
    draw(root, "all", 0.0, 0, rows, root.samples, least, out)
    height = MARGIN + rows * ROW + 10
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="monospace" font-size="11">')
    print(f'<text x="4" y="18" font-size="14">{html.escape(options.title)}: {root.samples} samples</text>')
    print("\n".join(out))
    print("</svg>")


if __name__ == "__main__":
    main()
