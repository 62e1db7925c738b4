"""What a history of operations on a fleet must satisfy. Pure: it reads values and reports violations as sentences.

The fleet orders all changes by revision (resourceVersion). So a history is linearizable if the revisions of operations agree
with their order in real time, every revision has one value, and a compare-and-set follows the revision it names directly.
"""
import dataclasses
import heapq
from collections import defaultdict

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"


@dataclasses.dataclass(frozen=True)
class Operation:
    """One request. A refused write has changed nothing; of an unknown one that is not known."""
    kind: str  # read, create, set (unconditional), cas
    object: str
    start: float
    end: float
    outcome: str
    value: str = ""  # written, or read
    revision: int = 0  # of the object afterwards; of what was read; 0: not known
    expected: int = 0  # the revision that a cas names


def values_of(operations):
    """revision -> value of one object, and what contradicts itself."""
    violations, values, unknown, refused = [], {}, set(), set()
    for one in operations:
        if one.kind == "read":
            continue
        if one.outcome == OK:
            if one.revision in values:
                violations.append(f"{one.object}: two writes got revision {one.revision}: {values[one.revision]} and {one.value}")
            values[one.revision] = one.value
        elif one.outcome == UNKNOWN:
            unknown.add(one.value)
        else:
            refused.add(one.value)
    for one in operations:
        if one.kind != "read" or one.outcome != OK:
            continue
        written = values.get(one.revision)
        if written is None:
            if one.value in refused:
                violations.append(f"{one.object}: {one.value} was read at revision {one.revision}, but its write was refused")
            elif one.value not in unknown:
                violations.append(f"{one.object}: {one.value} was read at revision {one.revision}, but nobody wrote it there")
            values[one.revision] = one.value
        elif written != one.value:
            violations.append(f"{one.object}: revision {one.revision} has the value {written}, and {one.value} was read there")
    return values, violations


def real_time(operations):
    """An operation that began after another one had ended has no older revision, and a write a newer one."""
    violations, ended, newest = [], [], None
    for one in sorted((one for one in operations if one.outcome == OK), key=lambda one: one.start):
        while ended and ended[0][0] < one.start:
            _, _, before = heapq.heappop(ended)
            if newest is None or before.revision > newest.revision:
                newest = before
        if newest is not None:
            if one.revision < newest.revision:
                violations.append(f"{one.object}: a {one.kind} saw revision {one.revision} after a {newest.kind} that had ended "
                                  f"{one.start - newest.end:.3f} s earlier had seen {newest.revision}")
            elif one.kind != "read" and one.revision == newest.revision:
                violations.append(f"{one.object}: a {one.kind} got revision {one.revision}, which existed before it began")
        heapq.heappush(ended, (one.end, id(one), one))
    return violations


def compare_and_set(operations, values):
    violations = []
    for one in operations:
        if one.kind != "cas" or one.outcome != OK:
            continue
        between = [revision for revision in values if one.expected < revision < one.revision]
        if one.expected >= one.revision or between:
            violations.append(f"{one.object}: a compare-and-set on revision {one.expected} succeeded with {one.revision}, although "
                              f"there was {sorted(between)[:3]} between them")
    return violations


def check_objects(operations):
    by_object = defaultdict(list)
    for one in operations:
        by_object[one.object].append(one)
    violations = []
    for one_object in by_object.values():
        values, wrong = values_of(one_object)
        violations += wrong + real_time(one_object) + compare_and_set(one_object, values)
    return violations


def check_final(operations, final):
    """`final`: object -> value, at the end. Nothing acknowledged is lost, nothing refused is there."""
    violations = []
    newest = {}
    for one in operations:
        if one.outcome == OK and one.kind != "read" and one.revision >= newest.get(one.object, (0, ""))[0]:
            newest[one.object] = (one.revision, one.value)
    maybe = defaultdict(set)
    created = defaultdict(set)
    for one in operations:
        if one.outcome == UNKNOWN and one.kind != "read":
            maybe[one.object].add(one.value)
        created[one.object].add(one.outcome)
    for name, (_, value) in newest.items():
        if name not in final:
            violations.append(f"{name}: its write was acknowledged, and it does not exist")
        elif final[name] != value and final[name] not in maybe[name]:
            violations.append(f"{name}: the newest acknowledged value is {value}, and it has {final[name]}")
    for name in final:
        if name in created and created[name] == {REFUSED}:
            violations.append(f"{name}: its creation was refused, and it exists")
    return violations


@dataclasses.dataclass(frozen=True)
class Watched:
    object: str
    revision: int
    value: str


def check_watch(name, events, operations, others):
    """`events`: all that one watch has delivered, over all its connections. `others`: what all watches have delivered. Between
    its first and its last event it has every change, once and in order."""
    violations = []
    for before, after in zip(events, events[1:]):
        if after.revision <= before.revision:
            violations.append(f"watch {name}: revision {after.revision} of {after.object} came after {before.revision}")
    if not events:
        return violations + [f"watch {name}: it has delivered nothing"]
    first, last = events[0].revision, events[-1].revision
    seen = {event.revision: event for event in events}
    wanted = {event.revision: (event.object, event.value) for event in others}
    wanted |= {one.revision: (one.object, one.value) for one in operations if one.kind != "read" and one.outcome == OK}
    for revision, (wanted_object, value) in sorted(wanted.items()):
        if not first <= revision <= last:
            continue
        if revision not in seen:
            violations.append(f"watch {name}: the change of {wanted_object} at revision {revision} is missing")
        elif (seen[revision].object, seen[revision].value) != (wanted_object, value):
            violations.append(f"watch {name}: revision {revision} is {seen[revision]}, and {wanted_object}={value} elsewhere")
    return violations


def check_produced(answered, unanswered, values):
    """`answered`, `unanswered`: ids of produced requests, each of which creates an object with the id as its value, under a new
    name each time. `values`: of all objects at the end."""
    count = defaultdict(int)
    for value in values:
        count[value] += 1
    violations = [f"request {one}: it was answered as applied, and there are {count[one]} objects of it"
                  for one in answered if count[one] != 1]
    return violations + [f"request {one}: it was carried out {count[one]} times" for one in unanswered if count[one] > 1]


@dataclasses.dataclass(frozen=True)
class Usage:
    """A version of a binding: what it takes from the quota, and whether it was refused more."""
    binding: str
    revision: int
    amount: int
    refused: bool = False


def check_quota(events, limit):
    """`events`: all that one watch of the bindings has delivered, in order. At no revision they take more than `limit`
    together. A quota that never refused anything shows nothing."""
    violations, used = [], {}
    for event in events:
        used[event.binding] = event.amount
        if sum(used.values()) > limit:
            violations.append(f"quota: at revision {event.revision} {used} take {sum(used.values())} of {limit}")
    return violations if any(event.refused for event in events) else violations + ["quota: it has refused nothing"]


@dataclasses.dataclass(frozen=True)
class MemberVersion:
    """A version of an object in a member, as a watch there delivered it, or a list (change LISTED). A new connection begins
    with change CONNECTED, of no object, and a list."""
    object: str
    revision: int
    uid: str
    generation: int
    acted_upon: int  # revision of the Work that it was written from
    manifest: str
    change: str


def check_member(name, versions):
    """What is written to a member is written once: its spec changes only with the Work, an older Work never replaces a newer
    one, and nothing is created again that was there."""
    violations, newest, there = [], {}, set()
    for one in versions:
        if one.change == "CONNECTED":
            there = set()  # the member may have been started again, and then has forgotten everything
            continue
        before, existed = newest.get(one.object), one.object in there
        newest[one.object] = one
        (there.discard if one.change == "DELETED" else there.add)(one.object)
        what = f"{name}: {one.object} at revision {one.revision}"
        if before is None or one.uid != before.uid:
            if existed:
                violations.append(f"{what} was created although it existed")
            continue
        if one.acted_upon < before.acted_upon:
            violations.append(f"{what} was written from revision {one.acted_upon} after {before.acted_upon}")
        if one.generation > before.generation and (one.acted_upon, one.manifest) == (before.acted_upon, before.manifest):
            violations.append(f"{what} was changed a second time from revision {one.acted_upon}")
        if one.generation > before.generation + 1 and one.change == "MODIFIED":
            violations.append(f"{what} has generation {one.generation} after {before.generation}: a write was not watched")
    return violations if newest else [f"{name}: nothing was seen there"]


@dataclasses.dataclass(frozen=True)
class FleetSeen:
    time: float
    unready: tuple  # members
    evicted: tuple


def check_fleet(seen, disturbed, patience=60.0):
    """`disturbed`: (process, start, end) of each fault. A member counts as lost only after a fault of its own, and nothing is
    evicted, whatever happens to the processes that observe it."""
    violations, told = [], set()
    for one in seen:
        for member in one.unready:
            own = any(name == member and start <= one.time <= end + patience for name, start, end in disturbed)
            if not own and (member, "unready") not in told:
                violations.append(f"{member}: it was declared not ready, and nothing had happened to it")
                told.add((member, "unready"))
        for member in one.evicted:
            if (member, "evicted") not in told:
                violations.append(f"{member}: what was placed there was evicted")
                told.add((member, "evicted"))
    return violations if seen else ["the fleet was never looked at"]


def check_equal(contents):
    """`contents`: server -> object -> JSON, all of one revision."""
    (first, expected), *others = contents.items()
    violations = [] if expected else [f"{first}: it has no objects"]
    for server, found in others:
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                violations.append(f"{name}: {first} has {expected.get(name)}, and {server} {found.get(name)}")
    return violations


def longest_gap(times, start, end):
    """The longest time in [start, end] without one of the times."""
    inside = [start] + sorted(time for time in times if start < time < end) + [end]
    return max(after - before for before, after in zip(inside, inside[1:]))
