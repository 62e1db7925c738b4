#!/usr/bin/env python3
"""The checker finds each kind of violation, and none in a history that is linearizable."""
import unittest

import history
from history import OK, REFUSED, UNKNOWN, Operation, Watched


def write(value, start, end, revision, kind="set", expected=0, outcome=OK, name="a"):
    return Operation(kind, name, start, end, outcome, value, revision, expected)


def read(value, start, end, revision, name="a"):
    return Operation("read", name, start, end, OK, value, revision)


class Objects(unittest.TestCase):
    def expect(self, operations, *words):
        violations = history.check_objects(operations)
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def test_a_linearizable_history_has_no_violation(self):
        self.expect([write("x", 0, 1, 1), read("x", 2, 3, 1), write("y", 2, 5, 2, "cas", 1), read("x", 2.5, 4, 1),
                     read("y", 3, 4, 2), write("z", 6, 7, 0, outcome=UNKNOWN), read("z", 8, 9, 3),
                     write("refused", 9, 10, 0, "cas", 1, REFUSED), read("z", 11, 12, 3),
                     write("other", 0, 1, 9, name="b")])

    def test_a_stale_read(self):
        self.expect([write("x", 0, 1, 1), write("y", 2, 3, 2), read("x", 4, 5, 1)], "a read saw revision 1 after a set")

    def test_a_read_that_goes_back(self):
        self.expect([write("x", 0, 1, 1), write("y", 2, 9, 2), read("y", 3, 4, 2), read("x", 5, 6, 1)],
                    "a read saw revision 1 after a read")

    def test_a_lost_update(self):
        self.expect([write("x", 0, 1, 1), write("y", 2, 3, 2, "cas", 1), write("z", 2, 3, 3, "cas", 1)],
                    "on revision 1 succeeded with 3")

    def test_two_values_of_one_revision(self):
        self.expect([write("x", 0, 1, 1), read("y", 2, 3, 1)], "revision 1 has the value x, and y was read there")
        self.expect([write("x", 0, 1, 1), write("y", 0, 1, 1)], "two writes got revision 1")

    def test_a_value_that_nobody_wrote(self):
        self.expect([read("x", 2, 3, 1)], "nobody wrote it")

    def test_a_refused_value(self):
        self.expect([write("x", 0, 1, 0, outcome=REFUSED), read("x", 2, 3, 1)], "its write was refused")


class Final(unittest.TestCase):
    def test_what_was_acknowledged_is_there_and_what_was_refused_is_not(self):
        operations = [write("x", 0, 1, 1), write("y", 2, 3, 2), write("m", 0, 1, 0, "create", outcome=UNKNOWN, name="b"),
                      write("n", 0, 1, 0, "create", outcome=REFUSED, name="c"), write("o", 0, 1, 5, "create", name="d")]
        self.assertEqual(history.check_final(operations, {"a": "y", "d": "o"}), [])
        self.assertEqual(history.check_final(operations, {"a": "y", "b": "m", "d": "o"}), [])
        for final, word in [({"d": "o"}, "a: its write was acknowledged"), ({"a": "x", "d": "o"}, "it has x"),
                            ({"a": "y", "d": "o", "c": "n"}, "c: its creation was refused")]:
            violations = history.check_final(operations, final)
            self.assertEqual(len(violations), 1, violations)
            self.assertIn(word, violations[0])


class Watch(unittest.TestCase):
    operations = [write("x", 0, 1, 1), write("y", 2, 3, 2), write("z", 4, 5, 3)]
    whole = [Watched("a", 1, "x"), Watched("a", 2, "y"), Watched("a", 3, "z")]

    def expect(self, events, *words):
        violations = history.check_watch("w", events, self.operations, self.whole)
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def test_every_change_once_and_in_order(self):
        self.expect(self.whole)
        self.expect(self.whole[1:])
        self.expect([], "it has delivered nothing")
        self.expect([self.whole[0], self.whole[2]], "a at revision 2 is missing")
        self.expect([self.whole[0], self.whole[1], self.whole[1], self.whole[2]], "revision 2 of a came after 2")
        self.expect([self.whole[0], self.whole[2], self.whole[1]], "came after 3")
        self.expect([self.whole[0], Watched("a", 2, "no"), self.whole[2]], "elsewhere")


class Produced(unittest.TestCase):
    def test_each_request_is_carried_out_once(self):
        self.assertEqual(history.check_produced(["a", "b"], ["c", "d"], ["a", "b", "c", "other", "other"]), [])
        for values, word in [(["a", "b", "b"], "request b: it was answered as applied, and there are 2"),
                             (["a"], "request b: it was answered as applied, and there are 0"),
                             (["a", "b", "c", "c"], "request c: it was carried out 2 times")]:
            violations = history.check_produced(["a", "b"], ["c", "d"], values)
            self.assertEqual(len(violations), 1, violations)
            self.assertIn(word, violations[0])


class Gap(unittest.TestCase):
    def test_the_longest_time_without_success(self):
        self.assertEqual(history.longest_gap([1, 2, 6, 7], 0, 8), 4)
        self.assertEqual(history.longest_gap([], 0, 8), 8)
        self.assertEqual(history.longest_gap([-1, 1, 9], 0, 8), 7)


if __name__ == "__main__":
    unittest.main()
