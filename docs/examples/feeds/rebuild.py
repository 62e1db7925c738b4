#!/usr/bin/env python3
"""Rebuilds the objects of a fleet from its feeds, and compares the state hash with the one that the fleet reports.

Over HTTP, with the server and the credentials of a kubeconfig:

    rebuild.py --kubeconfig FILE [--store FILE] [--follow]

From Kafka, or from any file of events, one in a line and in any order:

    kcat -b BROKER -G some-group -X isolation.level=read_committed FLEET.feed.api FLEET.feed.control ... | rebuild.py

Only Python's standard library is used (and kubectl, to read the kubeconfig). docs/guide/feeds.md explains the rules.
"""
import argparse
import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import urllib.parse

MASK64 = (1 << 64) - 1
MASK128 = (1 << 128) - 1


def siphash128(data):
    """SipHash-2-4 with 128 bits of output under the key 00 01 ... 0f, as a number."""
    k0, k1 = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(v0, v1, v2, v3, count):
        for _ in range(count):
            v0 = (v0 + v1) & MASK64
            v1 = ((v1 << 13 | v1 >> 51) & MASK64) ^ v0
            v0 = (v0 << 32 | v0 >> 32) & MASK64
            v2 = (v2 + v3) & MASK64
            v3 = ((v3 << 16 | v3 >> 48) & MASK64) ^ v2
            v0 = (v0 + v3) & MASK64
            v3 = ((v3 << 21 | v3 >> 43) & MASK64) ^ v0
            v2 = (v2 + v1) & MASK64
            v1 = ((v1 << 17 | v1 >> 47) & MASK64) ^ v2
            v2 = (v2 << 32 | v2 >> 32) & MASK64
        return v0, v1, v2, v3

    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, whole, 8)]
    words.append((len(data) & 0xFF) << 56 | int.from_bytes(data[whole:], "little"))
    for word in words:
        v3 ^= word
        v0, v1, v2, v3 = rounds(v0, v1, v2, v3, 2)
        v0 ^= word
    v0, v1, v2, v3 = rounds(v0, v1, v2 ^ 0xEE, v3, 4)
    low = v0 ^ v1 ^ v2 ^ v3
    v0, v1, v2, v3 = rounds(v0, v1 ^ 0xDD, v2, v3, 4)
    return (v0 ^ v1 ^ v2 ^ v3) << 64 | low


class Number(str):
    """A number as it was written: reading and writing a float may change its digits."""


def read_json(text):
    return json.loads(text, parse_float=Number)


def canonical(value):
    """JSON as the fleet hashes it. Members are sorted in the feed already, and stay in that order."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(canonical(k) + ":" + canonical(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


class Rebuilt:
    """The objects of a fleet, from the events of all its families, in any order and each any number of times."""

    def __init__(self):
        self.objects = {}  # "TYPE/NAMESPACE/NAME": [revision, contribution in hex or None, object or None]
        self.revision = 0  # the newest
        self.missing = set()  # revisions below it that no event has made yet
        self.sum = 0  # of the contributions of all objects
        self.sequence = ""  # of the newest event
        self.events = 0
        self.recorded = {}  # revision: hash, of StateHashed events
        self.compared = 0

    def take(self, event):
        self.events += 1
        self.sequence = max(self.sequence, event["sequence"])
        if event["type"] == "io.shiplog.control.StateHashed.v1":
            fact = event["data"]["event"]
            self.recorded[fact["revision"]] = fact["hash"]
        change = event["data"]["change"]
        if change is not None:
            self.apply(change)
        if not self.missing and self.revision in self.recorded:
            expected = self.recorded.pop(self.revision)
            if self.hash() != expected:
                raise SystemExit(f"at revision {self.revision} the fleet recorded the state hash {expected}, "
                                 f"but these objects have {self.hash()}")
            self.compared += 1

    def apply(self, change):
        revision = change["revision"]
        if revision > self.revision:
            self.missing.update(range(self.revision + 1, revision))
            self.revision = revision
        elif revision in self.missing:
            self.missing.remove(revision)
        else:
            return  # delivered again
        parts = [change["type"], change["namespace"], change["name"]]
        key = "/".join(part for index, part in enumerate(parts) if part or index != 1)
        if not change["redacted"] and change["object"] is not None:
            found = siphash128((key + "\n" + canonical(change["object"])).encode())
            if f"{found:032x}" != change["hash"]:
                raise SystemExit(f"{key} at revision {revision} is not what the fleet has: hash {found:032x}, "
                                 f"not {change['hash']}")
        before = self.objects.get(key, [0, None, None])
        if revision < before[0]:
            return  # a newer version came first, through the feed of another family
        for sign, contribution in ((-1, before[1]), (1, change["hash"])):
            if contribution is not None:
                self.sum = (self.sum + sign * int(contribution, 16)) & MASK128
        # A removed object is remembered without content: an older version of it may still come.
        self.objects[key] = [revision, change["hash"], change["object"]]

    def hash(self):
        return f"{(self.sum + siphash128(b'revision=%d' % self.revision)) & MASK128:032x}"

    def count(self):
        return sum(1 for kept in self.objects.values() if kept[1] is not None)

    def report(self):
        return (f"{self.count()} objects at revision {self.revision}, state hash {self.hash()}, "
                f"{self.events} events, {self.compared} recorded hashes compared")

    def save(self, file):
        with open(file + ".new", "w", encoding="utf-8") as out:
            objects = {key: [kept[0], kept[1], canonical(kept[2])] for key, kept in self.objects.items()}
            json.dump({"sequence": self.sequence, "revision": self.revision, "objects": objects}, out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(file + ".new", file)

    def load(self, file):
        with open(file, encoding="utf-8") as text:
            saved = json.load(text)
        self.sequence, self.revision = saved["sequence"], saved["revision"]
        self.objects = {key: [kept[0], kept[1], read_json(kept[2])] for key, kept in saved["objects"].items()}
        self.sum = sum(int(kept[1], 16) for kept in self.objects.values() if kept[1] is not None) & MASK128


class Server:
    """The API server of a kubeconfig."""

    def __init__(self, kubeconfig):
        shown = subprocess.run(["kubectl", "--kubeconfig", kubeconfig, "config", "view", "--raw", "--minify", "-o", "json"],
                               check=True, stdout=subprocess.PIPE)
        config = json.loads(shown.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(cluster["server"])
        self.token = user.get("token")
        self.tls = ssl.create_default_context()
        if "certificate-authority-data" in cluster:
            self.tls.load_verify_locations(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        elif "certificate-authority" in cluster:
            self.tls.load_verify_locations(cluster["certificate-authority"])
        if "client-certificate-data" in user:
            with tempfile.TemporaryDirectory() as folder:
                for name in ("certificate", "key"):
                    with open(os.path.join(folder, name), "wb") as out:
                        out.write(base64.b64decode(user[f"client-{name}-data"]))
                self.tls.load_cert_chain(os.path.join(folder, "certificate"), os.path.join(folder, "key"))
        elif "client-certificate" in user:
            self.tls.load_cert_chain(user["client-certificate"], user["client-key"])

    def get(self, target, timeout):
        connection = http.client.HTTPSConnection(self.address.hostname, self.address.port, context=self.tls, timeout=timeout)
        connection.request("GET", target, headers={"Authorization": f"Bearer {self.token}"} if self.token else {})
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"GET {target}: {response.status} {response.read().decode(errors='replace')}")
        return response


def events_in(lines):
    for line in lines:
        event = read_json(line)
        if event.get("kind") == "Status":  # why the feed ends
            raise SystemExit(f"the feed ended: {event['message']}")
        yield event


def over_http(rebuilt, options):
    server = Server(options.kubeconfig)
    state = read_json(server.get("/shiplog/v1/state", 60).read())
    parameters = {"follow": "true" if options.follow else "false"}
    if rebuilt.sequence:
        parameters["after"] = rebuilt.sequence
    # No timeout while following: a fleet in which nothing happens sends nothing.
    feed = server.get("/feeds/all?" + urllib.parse.urlencode(parameters), None if options.follow else 60)
    same = None
    entry = ""
    for event in events_in(feed):
        # The state is that between two entries: the last revision of an entry is known once the next one begins.
        if event["entryid"] != entry and rebuilt.revision == state["revision"]:
            same = rebuilt.hash() == state["stateHash"]
        entry = event["entryid"]
        rebuilt.take(event)
        if options.store and rebuilt.events % 1000 == 0:
            rebuilt.save(options.store)
    if rebuilt.revision == state["revision"]:
        same = rebuilt.hash() == state["stateHash"]
    if options.store:
        rebuilt.save(options.store)
    if not same:
        raise SystemExit(f"the fleet has the state hash {state['stateHash']} at revision {state['revision']}, which these "
                         f"objects do not have: {rebuilt.report()}")
    print(f"equal to the fleet at revision {state['revision']}: {rebuilt.report()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", help="read the feed `all` over HTTP; without it, events from standard input")
    parser.add_argument("--store", help="file with what was rebuilt so far; the feed is resumed after it")
    parser.add_argument("--follow", action="store_true", help="do not end with what there is now")
    options = parser.parse_args()
    rebuilt = Rebuilt()
    if options.store and os.path.exists(options.store):
        rebuilt.load(options.store)
    if options.kubeconfig:
        over_http(rebuilt, options)
        return
    for event in events_in(sys.stdin):
        rebuilt.take(event)
    if rebuilt.missing:
        raise SystemExit(f"events of {len(rebuilt.missing)} revisions are missing, the first is {min(rebuilt.missing)}")
    print(f"complete: {rebuilt.report()}")


if __name__ == "__main__":
    main()
