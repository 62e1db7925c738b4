#!/usr/bin/env python3
"""What perf prints becomes rectangles of the right width, with names that can be read."""
import os
import re
import subprocess
import sys
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flame_graph.py")


def sample(*frames):
    """As `perf script -F tid,ip,sym` prints it: the innermost frame first."""
    return "  123 \n" + "".join(f"\t          1f00 {frame}\n" for frame in frames) + "\n"


def draw(text, *options):
    return subprocess.run([sys.executable, PROGRAM, "--title=a <title>", *options], input=text, capture_output=True, text=True,
                          check=False)


def rectangles(svg):
    """[(name, left, top, width)]"""
    found = re.findall(r'<title>(.*?) \(([\d.]+) %\)</title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"', svg)
    return {name: (float(left), int(top), float(width)) for name, _, left, top, width in found}


class FlameGraph(unittest.TestCase):
    def test_widths_are_shares_and_callers_are_below(self):
        text = sample("leaf", "middle", "main") * 3 + sample("other", "main")
        drawn = rectangles(draw(text).stdout)
        self.assertEqual(set(drawn), {"all", "main", "middle", "leaf", "other"})
        self.assertAlmostEqual(drawn["main"][2], 1200, delta=1)
        self.assertAlmostEqual(drawn["leaf"][2], 900, delta=1)
        self.assertAlmostEqual(drawn["other"][2], 300, delta=1)
        self.assertGreater(drawn["main"][1], drawn["middle"][1])
        self.assertAlmostEqual(drawn["middle"][0], 0, delta=1)
        self.assertAlmostEqual(drawn["other"][0], 900, delta=1)

    def test_narrow_rectangles_are_left_out(self):
        text = sample("wide", "main") * 999 + sample("narrow", "main")
        self.assertNotIn("narrow", rectangles(draw(text).stdout))
        self.assertIn("narrow", rectangles(draw(text, "--least=0.01").stdout))

    def test_names_are_short_and_escaped(self):
        text = sample("shiplog::Value::find(std::basic_string_view<char, std::char_traits<char> >) const",
                      "std::_Function_handler<void (), shiplog::x>::_M_invoke", "shiplog::Roles::pump", "operator<")
        svg = draw(text).stdout
        self.assertIn("<title>Value::find (", svg)
        self.assertNotIn("_Function_handler", svg)
        self.assertIn("a &lt;title&gt;", svg)
        self.assertIn("operator&lt;", svg)

    def test_without_stacks_it_says_so(self):
        ended = draw("no stacks here\n")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("perf script", ended.stderr)


if __name__ == "__main__":
    unittest.main()
