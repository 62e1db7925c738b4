#!/usr/bin/env python3
"""The checker finds each kind of violation, and none in a history that is linearizable."""
import unittest

import history
from history import OK, REFUSED, UNKNOWN, FleetSeen, MemberVersion, Operation, Usage, Watched


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


class Quota(unittest.TestCase):
    def expect(self, events, *words):
        violations = history.check_quota(events, 10)
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def test_the_sum_never_exceeds_the_limit(self):
        within = [Usage("a", 1, 4), Usage("b", 2, 6), Usage("c", 3, 0, True), Usage("a", 4, 1), Usage("c", 5, 3, True)]
        self.expect(within)
        # Each of them alone would be within the limit, and so would both together once a has less.
        self.expect(within[:2] + [Usage("c", 3, 1, True)] + within[3:4], "at revision 3 {'a': 4, 'b': 6, 'c': 1} take 11 of 10")

    def test_a_quota_that_refuses_nothing_shows_nothing(self):
        self.expect([Usage("a", 1, 4)], "refused nothing")
        self.expect([], "refused nothing")


class Members(unittest.TestCase):
    first = MemberVersion("web", 5, "u1", 1, 100, "m1", "ADDED")
    connected = MemberVersion("", 0, "", 0, 0, "", "CONNECTED")

    def expect(self, versions, *words):
        violations = history.check_member("member1", versions)
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def version(self, revision, generation, acted_upon, manifest, change="MODIFIED", uid="u1"):
        return MemberVersion("web", revision, uid, generation, acted_upon, manifest, change)

    def test_each_work_is_written_once(self):
        self.expect([self.first, self.version(6, 1, 100, "m1"), self.version(7, 2, 120, "m2"), self.version(8, 3, 130, "m1"),
                     self.connected, self.version(8, 3, 130, "m1", "LISTED"),
                     self.connected, self.version(1, 1, 130, "m1", "LISTED", "u2"),
                     self.version(2, 2, 140, "m2", uid="u2"), self.version(3, 2, 140, "m2", "DELETED", "u2"),
                     self.version(4, 1, 150, "m2", "ADDED", "u3"), self.connected, self.version(2, 1, 150, "m2", "ADDED", "u4")])

    def test_a_write_that_is_repeated(self):
        self.expect([self.first, self.version(6, 2, 100, "m1")], "changed a second time from revision 100")
        self.expect([self.first, self.version(6, 1, 120, "m1", "ADDED", "u2")], "created although it existed")
        self.expect([self.first, self.connected, self.version(5, 1, 100, "m1", "LISTED"),
                     self.version(6, 1, 100, "m1", "ADDED", "u2")], "created although it existed")
        self.expect([self.first, self.connected, self.version(7, 2, 100, "m1", "LISTED")], "changed a second time")

    def test_an_older_work_over_a_newer_one(self):
        self.expect([self.first, self.version(6, 2, 90, "m0")], "from revision 90 after 100")

    def test_a_write_between_two_that_were_seen(self):
        self.expect([self.first, self.version(7, 3, 130, "m1")], "a write was not watched")
        self.expect([self.first, self.version(7, 3, 130, "m1", "LISTED")])

    def test_a_member_without_objects(self):
        self.expect([], "nothing was seen")
        self.expect([self.connected], "nothing was seen")


class Fleet(unittest.TestCase):
    disturbed = [("roles-1", 0, 10), ("member2", 20, 30)]

    def expect(self, seen, *words):
        violations = history.check_fleet(seen, self.disturbed)
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def test_a_member_is_lost_only_after_a_fault_of_its_own(self):
        self.expect([FleetSeen(5, (), ()), FleetSeen(25, ("member2",), ()), FleetSeen(89, ("member2",), ())])
        self.expect([FleetSeen(5, ("member1",), ()), FleetSeen(6, ("member1",), ())], "member1: it was declared not ready")
        self.expect([FleetSeen(19, ("member2",), ())], "member2: it was declared not ready")
        self.expect([FleetSeen(91, ("member2",), ())], "member2: it was declared not ready")

    def test_nothing_is_evicted(self):
        self.expect([FleetSeen(25, ("member2",), ("member2",))], "member2: what was placed there was evicted")

    def test_a_fleet_that_nobody_looked_at(self):
        self.expect([], "never looked at")


class Equal(unittest.TestCase):
    def test_every_server_has_the_same_objects(self):
        self.assertEqual(history.check_equal({"one": {"a": "1", "b": "2"}, "two": {"b": "2", "a": "1"}}), [])
        for other in ({"a": "1"}, {"a": "1", "b": "3"}, {"a": "1", "b": "2", "c": "4"}):
            violations = history.check_equal({"one": {"a": "1", "b": "2"}, "two": other})
            self.assertEqual(len(violations), 1, violations)
        self.assertIn("no objects", history.check_equal({"one": {}, "two": {}})[0])


class Gap(unittest.TestCase):
    def test_the_longest_time_without_success(self):
        self.assertEqual(history.longest_gap([1, 2, 6, 7], 0, 8), 4)
        self.assertEqual(history.longest_gap([], 0, 8), 8)
        self.assertEqual(history.longest_gap([-1, 1, 9], 0, 8), 7)


if __name__ == "__main__":
    unittest.main()
