#!/usr/bin/env python3
"""Runs the services of docker/compose.yaml (tools/stack.py) under load, kills, freezes and cuts off their processes one after
the other, and checks the history of what clients were told (history.py).

    chaos.py [--seconds=180] [--seed=N] [--programs=build/bin] [--folder=DIR] [--only=NAME,...] [--kinds=KIND,...]

As root each service has a network namespace, so that it can be cut off: in both directions, or so that it hears and is not
heard, or by a link of 400 kbit/s. Otherwise these faults are left out, which is said. A full disk is a limit on the size of
the files of a process. A clock is set forward or back by minutes to hours, and back after a while (shifted_clock.cc).

Ends with a report: faults, operations, how long writes and decisions stood still for each kind of fault, and violations.
The exit code is 0 if there are none.
"""
import argparse
import base64
import contextlib
import http.client
import json
import os
import random
import resource
import signal
import ssl
import struct
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools")]

import history  # noqa: E402
import stack  # noqa: E402
import yaml  # noqa: E402
from history import OK, REFUSED, UNKNOWN, FleetSeen, MemberVersion, Operation, Usage, Watched  # noqa: E402

CONFIGMAPS = "/api/v1/namespaces/chaos/configmaps"
DEPLOYMENT = "/apis/apps/v1/namespaces/chaos/deployments/web"
BINDING = "/apis/work.karmada.io/v1alpha2/namespaces/chaos/resourcebindings/web-deployment"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
QUOTA_DEPLOYMENTS = "/apis/apps/v1/namespaces/quota/deployments"
QUOTA_BINDINGS = "/apis/work.karmada.io/v1alpha2/namespaces/quota/resourcebindings"
QUOTA = 10  # processors that the Deployments of namespace quota may take, one for each replica
MEMBERS = ["member1", "member2", "member3"]
# What every API server must return alike at one revision.
CONTENT = [CONFIGMAPS, CLUSTERS, "/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/work.karmada.io/v1alpha1/works",
           "/apis/work.karmada.io/v1alpha2/resourcebindings", "/apis/policy.karmada.io/v1alpha1/federatedresourcequotas"]
REGISTERS = [f"register-{number}" for number in range(4)]
# Faults: what is killed or frozen. Of three brokers one at a time.
VICTIMS = ["api-1", "api-2", "roles-1", "roles-2", "kafka-1", "kafka-2", "kafka-3", "member1", "member2", "member3", "haproxy"]
SETTLE = 3.0  # between the end of a fault's effects and the next one
BETWEEN_BROKERS = 15.0  # a broker is in sync again before the next one fails: two of three are needed
CLOCK_JUMPS = [3, 20, 90, 400]  # minutes, forward or back: longer than every timeout, and than what taints are tolerated
TOLERATED = 3600  # seconds, longer than the run, that the taint of member3 is tolerated


class Credentials:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as text:
            config = yaml.safe_load(text)
        user, cluster = config["users"][0]["user"], config["clusters"][0]["cluster"]
        self.context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pem:
            for part in ("client-key-data", "client-certificate-data"):
                pem.write(base64.b64decode(user[part]).decode())
            pem.flush()
            self.context.load_cert_chain(pem.name)


class Api:
    """One connection to one server, made again after an error."""

    def __init__(self, address, credentials, timeout=10.0):
        self.address, self.credentials, self.timeout, self.connection = address, credentials, timeout, None

    def request(self, method, path, body=None, content="application/json"):
        """(status, object). Raises OSError or HTTPException: the outcome is not known."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(self.address, context=self.credentials.context,
                                                              timeout=self.timeout)
            self.connection.request(method, path, body and json.dumps(body), {"Content-Type": content})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
            self.close()
            raise OSError(str(error)) from error

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def watched_config_map(event):
    found = event["object"]["metadata"]
    return Watched(found["name"], int(found["resourceVersion"]), event["object"]["data"]["value"])


def watched_usage(event):
    """What a binding takes from the quota."""
    binding = event["object"]
    request = binding["spec"].get("replicaRequirements", {}).get("resourceRequest", {}).get("cpu", "0")
    replicas = sum(one.get("replicas", 0) for one in binding["spec"].get("clusters", []))
    refused = any(one.get("reason") == "QuotaExceeded" for one in binding.get("status", {}).get("conditions", []))
    return Usage(binding["metadata"]["name"], int(binding["metadata"]["resourceVersion"]),
                 0 if event["type"] == "DELETED" else int(request) * replicas, refused)


def watched_member_version(event):
    found = event["object"]["metadata"]
    marks = found.get("annotations", {})
    return MemberVersion(found["name"], int(found["resourceVersion"]), found["uid"], found["generation"],
                         int(marks["shiplog.io/revision"]), marks["shiplog.io/manifest-hash"], event["type"])


def config_map(name, value):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}}


class Load:
    """Clients, each on a thread of its own, and what they were told."""

    def __init__(self, servers, members, credentials, seed):
        self.servers, self.members, self.credentials, self.seed = servers, members, credentials, seed
        self.operations, self.watched, self.written, self.decided = [], {}, [], []
        self.answered, self.unanswered = [], []  # ids of produced requests
        self.usage, self.in_members, self.fleet = [], {}, []
        self.lock, self.stopping, self.threads = threading.Lock(), threading.Event(), []
        self.failures = []

    def start(self):
        for number in range(3):
            self.spawn(self.compare_and_set, number, self.servers[number % len(self.servers)])
        for number, server in enumerate(self.servers):
            self.spawn(self.read, number, server)
            self.spawn(self.watch, server, CONFIGMAPS, watched_config_map, self.watched.setdefault(f"{number}", []))
        self.spawn(self.create, 0, self.servers[0])
        self.spawn(self.create, 1, self.servers[-1])
        self.spawn(self.decide, self.servers[0])
        for number in range(2):
            self.spawn(self.produce, number)
            self.spawn(self.scale, number, self.servers[0])
        self.spawn(self.watch, self.servers[0], QUOTA_BINDINGS, watched_usage, self.usage)
        for name, (server, credentials) in self.members.items():
            self.spawn(self.watch_member, server, credentials, self.in_members.setdefault(name, []))
        self.spawn(self.look_at_fleet, self.servers[0])

    def spawn(self, run, *arguments):
        def guarded():
            try:
                run(*arguments)
            except Exception as error:  # a defect of this program is a failure, not a quiet thread
                self.failures.append(f"{run.__name__}: {error!r}")
                raise
        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        self.threads.append(thread)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=30)

    def record(self, operation):
        with self.lock:
            self.operations.append(operation)
            if operation.kind != "read" and operation.outcome == OK:
                self.written.append(operation.end)

    def write(self, api, kind, name, value, method, path, body, expected=0):
        """Records the write; the revision it got, or 0."""
        start = time.monotonic()
        try:
            status, answer = api.request(method, path, body)
        except OSError:
            self.record(Operation(kind, name, start, time.monotonic(), UNKNOWN, value, 0, expected))
            return 0
        end = time.monotonic()
        if status in (200, 201):
            revision = int(answer["metadata"]["resourceVersion"])
            self.record(Operation(kind, name, start, end, OK, value, revision, expected))
            return revision
        # 504: it may have been stored. A proxy's answer says nothing either.
        outcome = UNKNOWN if status == 504 or not isinstance(answer, dict) else REFUSED
        self.record(Operation(kind, name, start, end, outcome, value, 0, expected))
        return 0

    def compare_and_set(self, number, server):
        api, chance, count = Api(server, self.credentials), random.Random(f"{self.seed} cas {number}"), 0
        while not self.stopping.wait(chance.uniform(0.05, 0.15)):
            name = chance.choice(REGISTERS)
            found = self.get(api, name)
            if found is None:
                continue
            value, revision = found
            count += 1
            value = f"cas-{number}-{count}"
            body = config_map(name, value)
            body["metadata"]["resourceVersion"] = str(revision)
            self.write(api, "cas", name, value, "PUT", f"{CONFIGMAPS}/{name}", body, revision)

    def get(self, api, name):
        start = time.monotonic()
        try:
            status, answer = api.request("GET", f"{CONFIGMAPS}/{name}")
        except OSError:
            return None
        if status != 200:
            return None
        value, revision = answer["data"]["value"], int(answer["metadata"]["resourceVersion"])
        self.record(Operation("read", name, start, time.monotonic(), OK, value, revision))
        return value, revision

    def read(self, number, server):
        api, chance = Api(server, self.credentials), random.Random(f"{self.seed} read {number}")
        while not self.stopping.wait(chance.uniform(0.05, 0.15)):
            self.get(api, chance.choice(REGISTERS))

    def create(self, number, server):
        """Through HAProxy: what a client of the fleet sees."""
        api, count = Api(server, self.credentials, timeout=5.0), 0
        while not self.stopping.wait(0.15):
            count += 1
            name = f"created-{number}-{count}"
            self.write(api, "create", name, name, "POST", CONFIGMAPS, config_map(name, name))

    def produce(self, number):
        """Sends each request again, to any server, until it is answered: it must be carried out once all the same. Under a
        generated name a second time would leave a second object."""
        chance, count = random.Random(f"{self.seed} produce {number}"), 0
        apis = [Api(server, self.credentials, timeout=3.0) for server in self.servers]
        while not self.stopping.wait(0.2):
            count += 1
            one = f"request-{number}-{count}"
            manifest = config_map("", one)
            manifest["metadata"] = {"generateName": f"produced-{number}-", "namespace": "chaos"}
            answer = {}
            while not self.stopping.is_set() and answer.get("outcome") != "applied":
                try:
                    _, answer = chance.choice(apis).request("POST", "/shiplog/v1/requests?wait=true",
                                                            {"id": one, "verb": "create", "manifest": manifest})
                    answer = answer or {}
                    if answer.get("outcome") in ("refused", "invalid") and answer.get("code") not in (429, 503):
                        raise stack.Failure(f"a produced request was not carried out: {answer}")
                except OSError:
                    answer = {}
                if answer.get("outcome") != "applied":
                    self.stopping.wait(0.1)
            (self.answered if answer.get("outcome") == "applied" else self.unanswered).append(one)

    def decide(self, server):
        """Scales a Deployment and waits until its binding is scheduled anew: that decisions are made."""
        api, replicas, patched = Api(server, self.credentials, timeout=2.0), 6, 0.0
        while not self.stopping.wait(0.25):
            try:
                # A patch that was given up may be carried out after a later one, and take it back: once more, then.
                if time.monotonic() - patched > 3.0:
                    status, _ = api.request("PATCH", DEPLOYMENT, {"spec": {"replicas": replicas}},
                                            "application/merge-patch+json")
                    patched = time.monotonic() if status == 200 else patched
                    continue
                status, binding = api.request("GET", BINDING)
            except OSError:
                continue
            if status == 200 and sum(one.get("replicas", 0) for one in binding["spec"].get("clusters", [])) == replicas:
                self.decided.append(time.monotonic())
                replicas, patched = 18 - replicas, 0.0

    def scale(self, number, server):
        """Scales Deployments to what the quota permits for some of them only."""
        api, chance = Api(server, self.credentials, timeout=5.0), random.Random(f"{self.seed} scale {number}")
        while not self.stopping.wait(chance.uniform(0.8, 2.0)):
            try:
                api.request("PATCH", f"{QUOTA_DEPLOYMENTS}/limited-{chance.randrange(3)}",
                            {"spec": {"replicas": chance.randrange(1, 8)}}, "application/merge-patch+json")
            except OSError:
                pass

    def look_at_fleet(self, server):
        """Which members count as ready, and from which the Deployment was evicted."""
        api = Api(server, self.credentials, timeout=5.0)
        while not self.stopping.wait(0.5):
            try:
                status, clusters = api.request("GET", CLUSTERS)
                other, binding = api.request("GET", BINDING)
            except OSError:
                continue
            if status != 200 or other != 200:
                continue
            unready = [item["metadata"]["name"] for item in clusters["items"]
                       if not any(one["type"] == "Ready" and one["status"] == "True"
                                  for one in item.get("status", {}).get("conditions", []))]
            placed = [one["name"] for one in binding["spec"].get("clusters", [])]
            self.fleet.append(FleetSeen(time.monotonic(), tuple(unready),
                                        tuple(name for name in self.members if placed and name not in placed)))

    def watch(self, server, path, taken, events):
        """Goes on from the last revision after each disconnection."""
        revision = None
        while not self.stopping.is_set():
            try:
                if revision is None:
                    revision, _ = self.list(server, self.credentials, path)
                revision = self.follow(server, self.credentials, path, revision, taken, events)
            except (OSError, http.client.HTTPException):
                revision = events[-1].revision if events else revision
                self.stopping.wait(0.1)

    def watch_member(self, server, credentials, events):
        """A trial member forgets its objects when it is killed, so each connection begins with a list."""
        path = DEPLOYMENT.rsplit("/", 1)[0]
        while not self.stopping.is_set():
            try:
                revision, items = self.list(server, credentials, path)
                events.append(MemberVersion("", revision, "", 0, 0, "", "CONNECTED"))
                events.extend(watched_member_version({"type": "LISTED", "object": item}) for item in items)
                while not self.stopping.is_set():
                    revision = self.follow(server, credentials, path, revision, watched_member_version, events)
            except (OSError, http.client.HTTPException):
                self.stopping.wait(0.1)

    @staticmethod
    def list(server, credentials, path):
        api = Api(server, credentials)
        status, found = api.request("GET", path)
        api.close()
        if status != 200:
            raise OSError(f"list: {status}")
        return int(found["metadata"]["resourceVersion"]), found["items"]

    @staticmethod
    def follow(server, credentials, path, revision, taken, events):
        connection = http.client.HTTPSConnection(server, context=credentials.context, timeout=12.0)
        try:
            connection.request("GET", f"{path}?watch=true&resourceVersion={revision}&timeoutSeconds=8")
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(f"watch: {answer.status}")
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise OSError(str(event["object"]))
                revision = int(event["object"]["metadata"]["resourceVersion"])
                if event["type"] != "BOOKMARK":
                    events.append(taken(event))
        except json.JSONDecodeError as error:  # cut off in the middle
            raise OSError("the stream ended within an event") from error
        finally:
            connection.close()
        return revision


class Faults:
    """Kills and freezes processes of the stack, one at a time."""

    def __init__(self, running, load, chance, options):
        self.running, self.load, self.chance, self.done = running, load, chance, []
        self.broker_until = 0.0
        self.disturbed = []  # process, start, end
        self.victims = [name for name in VICTIMS if not options.only or name in options.only]
        self.chosen = options.kinds
        self.left = []

    def kinds(self, name):
        yield from ("kill", "freeze")
        if self.running.namespaces and name != "haproxy":
            yield from ("partition", "mute", "slow")
        if name.startswith(("api", "roles", "kafka")):
            yield "fill"
        if name != "haproxy":
            yield "clock"

    def next(self):
        if not self.left:  # everyone once, in random order, before anyone twice
            self.left = [(name, kind) for name in self.victims for kind in self.kinds(name)
                         if not self.chosen or kind in self.chosen]
            self.chance.shuffle(self.left)
        return self.left.pop()

    def begin(self, name, kind, pid):
        """Makes a fault, and returns what ends it and how long it lasts."""
        pause = self.chance.uniform(1, 10)
        if kind == "kill":
            os.kill(pid, signal.SIGKILL)
            return lambda: None, 2.0
        if kind == "freeze":
            os.kill(pid, signal.SIGSTOP)
            return lambda: os.kill(pid, signal.SIGCONT), pause
        if kind == "fill":
            # No file of this process grows any more; what ends because of it is started again without the limit.
            usual = resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            return lambda: self.lift(pid, usual), pause
        if kind == "clock":
            minutes = self.chance.choice([-1, 1]) * self.chance.choice(CLOCK_JUMPS)
            self.running.set_clock(name, minutes)
            stack.say(f"the clock of {name} is off by {minutes} minutes")
            return lambda: self.running.set_clock(name, 0), 3 * pause
        spaces = self.running.namespaces
        link, inside, network = spaces.link(name), spaces.name(name), spaces.network
        if kind == "partition":
            spaces.ip("link", "set", link, "down")
            return lambda: spaces.ip("link", "set", link, "up"), pause
        if kind == "slow":
            self.shape("add", "dev", link, "root", "tbf", "rate", "400kbit", "burst", "8k", "latency", "500ms")
            return lambda: self.shape("del", "dev", link, "root"), pause
        halves = [f"{network}.0/25", f"{network}.128/25"]  # more specific than the route of the link
        for half in halves:
            spaces.ip("-n", inside, "route", "add", "blackhole", half)
        return lambda: [spaces.ip("-n", inside, "route", "del", "blackhole", half) for half in halves], pause

    @staticmethod
    def lift(pid, usual):
        try:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)
        except ProcessLookupError:
            pass

    @staticmethod
    def shape(*words):
        ran = stack.subprocess.run(["tc", "qdisc", *words], capture_output=True, text=True, check=False,
                                   env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"})
        if ran.returncode != 0:
            raise stack.Failure(f"tc qdisc {' '.join(words)}: {ran.stderr}")

    def inject(self):
        name, kind = self.next()
        child = self.running.running.get(name)
        if child is None or time.monotonic() - self.running.began[name] < 5.5:
            return
        if name.startswith("kafka"):
            time.sleep(max(0.0, self.broker_until - time.monotonic()))
        start = time.monotonic()
        end, pause = self.begin(name, kind, child.pid)
        time.sleep(pause)
        end()
        self.disturbed.append((name, start, start + pause))
        self.done.append((f"{kind} {name.rstrip('0123456789').rstrip('-')}", start, start + pause))
        stack.say(f"{kind} {name} for {pause:.1f} s" if kind != "kill" else f"kill -9 {name}")
        if name.startswith("kafka"):
            self.broker_until = time.monotonic() + BETWEEN_BROKERS
        self.wait_for_recovery(time.monotonic(), name)
        time.sleep(SETTLE)

    def wait_for_recovery(self, since, name):
        """Writes and decisions go on without anybody's help."""
        while not (self.load.written[-1] > since and self.load.decided and self.load.decided[-1] > since):
            if time.monotonic() - since > 60:
                raise stack.Failure(f"a minute after the fault of {name} there are still no writes or no decisions")
            time.sleep(0.05)


def policy(namespace):
    return (f"/apis/policy.karmada.io/v1alpha1/namespaces/{namespace}/propagationpolicies", {
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "all"},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                 "placement": {"clusterTolerations": [{"key": "chaos", "operator": "Exists", "effect": "NoExecute",
                                                       "tolerationSeconds": TOLERATED}],
                               "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                     "replicaDivisionPreference": "Weighted"}}}})


def deployment(name, replicas, **container):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "web", "image": "nginx"} | container]}}}}


def set_up(api):
    """A Deployment on members of which one then gets a taint that is tolerated for an hour; and Deployments that have to share
    a quota."""
    for path, body in [
            ("/api/v1/namespaces", {"metadata": {"name": "chaos"}}),
            policy("chaos"),
            (DEPLOYMENT.rsplit("/", 1)[0], deployment("web", 6)),
            ("/api/v1/namespaces", {"metadata": {"name": "quota"}}),
            ("/apis/policy.karmada.io/v1alpha1/namespaces/quota/federatedresourcequotas", {
                "apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota",
                "metadata": {"name": "processors"}, "spec": {"overall": {"cpu": str(QUOTA)}}}),
            policy("quota")] + [
            (QUOTA_DEPLOYMENTS, deployment(f"limited-{number}", 1, resources={"requests": {"cpu": "1"}}))
            for number in range(3)]:
        expect(api.request("POST", path, body), 201, path)
    deadline = time.monotonic() + 60
    while True:
        status, binding = api.request("GET", BINDING)
        if status == 200 and len(binding["spec"].get("clusters", [])) == len(MEMBERS):
            break
        if time.monotonic() > deadline:
            raise stack.Failure(f"the Deployment is not placed on every member: {binding}")
        time.sleep(0.2)
    # A placement stays under a toleration for a limited time, and is not made under one.
    expect(api.request("PATCH", f"{CLUSTERS}/member3", {"spec": {"taints": [{"key": "chaos", "effect": "NoExecute"}]}},
                       "application/merge-patch+json"), 200, "member3")


def expect(answered, wanted, what):
    if answered[0] != wanted:
        raise stack.Failure(f"{what}: {answered}")


def settled(load, apis, members):
    """Whether every member runs what the binding says, within two minutes; else what differs."""
    deadline, differs = time.monotonic() + 120, ""
    while time.monotonic() < deadline:
        try:
            _, template = apis[0].request("GET", DEPLOYMENT)
            _, binding = apis[0].request("GET", BINDING)
            placed = {one["name"]: one["replicas"] for one in binding["spec"]["clusters"]}
            found = {}
            for name, (address, credentials) in members.items():
                _, listed = Api(address, credentials).request("GET", DEPLOYMENT.rsplit("/", 1)[0])
                found[name] = [item["spec"]["replicas"] for item in listed["items"]]
            wanted = {name: [placed[name]] if name in placed else [] for name in members}
            if found == wanted and sum(placed.values()) == template["spec"]["replicas"]:
                return ""
            differs = f"of {template['spec']['replicas']} replicas the binding places {placed}, members run {found}"
        except (OSError, KeyError, TypeError) as error:
            differs = repr(error)
        time.sleep(0.5)
    return f"after two minutes of rest: {differs}"


def final_values(api):
    deadline = time.monotonic() + 60
    while True:
        try:
            status, found = api.request("GET", CONFIGMAPS)
            if status == 200:
                return {item["metadata"]["name"]: item["data"]["value"] for item in found["items"] if "data" in item}
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise stack.Failure("the ConfigMaps cannot be listed a minute after the last fault")
        time.sleep(0.2)


def contents(apis):
    """What each server returns of every kind, all of one revision: server -> object -> JSON."""
    status, found = apis[0].request("GET", CONFIGMAPS)
    if status != 200:
        raise stack.Failure(f"list: {status}")
    revision, read = found["metadata"]["resourceVersion"], {}
    for api in apis:
        read[api.address] = {}
        for path in CONTENT:
            status, found = api.request("GET", f"{path}?resourceVersion={revision}&resourceVersionMatch=Exact")
            if status != 200:
                raise stack.Failure(f"{path} at revision {revision} from {api.address}: {status}")
            for item in found["items"]:
                meta = item["metadata"]
                read[api.address][f"{path} {meta.get('namespace', '')}/{meta['name']}"] = json.dumps(item, sort_keys=True)
    return read


def violations_of(load, faults, final, read):
    everything = [event for events in load.watched.values() for event in events]
    found = history.check_objects(load.operations) + history.check_final(load.operations, final)
    for name, events in load.watched.items():
        found += history.check_watch(name, events, load.operations, everything)
    for name, versions in load.in_members.items():
        found += history.check_member(name, versions)
    found += history.check_quota(load.usage, QUOTA) + history.check_fleet(load.fleet, faults.disturbed)
    found += history.check_equal(read)
    return found + history.check_produced(load.answered, load.unanswered, final.values()) + load.failures


def report(load, faults, seconds, stopped):
    kinds = {}
    for index, (kind, start, _) in enumerate(faults):
        end = faults[index + 1][1] if index + 1 < len(faults) else stopped
        kinds.setdefault(kind, []).append((history.longest_gap(load.written, start, end),
                                           history.longest_gap(load.decided, start, end)))
    count = {outcome: sum(1 for one in load.operations if one.outcome == outcome) for outcome in (OK, REFUSED, UNKNOWN)}
    events = sum(len(events) for events in load.watched.values())
    print(f"{len(faults)} faults in {seconds:.0f} s; operations: {count[OK]} succeeded, {count[REFUSED]} refused, "
          f"{count[UNKNOWN]} unknown; {len(load.answered)} produced requests; {events} watch events; "
          f"{len(load.decided)} decisions; {len(load.usage)} changes of what a quota limits; "
          f"{sum(len(versions) for versions in load.in_members.values())} versions in members")
    print(f"{'FAULT':<16} {'COUNT':>5}  {'NO WRITE, MEDIAN':>16} {'MAX':>7}  {'NO DECISION, MEDIAN':>19} {'MAX':>7}")
    for kind, gaps in sorted(kinds.items()):
        writes, decisions = sorted(gap[0] for gap in gaps), sorted(gap[1] for gap in gaps)
        print(f"{kind:<16} {len(gaps):>5}  {writes[len(gaps) // 2]:>15.2f}s {writes[-1]:>6.2f}s  "
              f"{decisions[len(gaps) // 2]:>18.2f}s {decisions[-1]:>6.2f}s")


def run(options, plan, running):
    address = plan.address
    credentials_folder = os.path.join(plan.folder, "volumes/credentials")
    deadline = time.monotonic() + 300
    while "demo" not in running.ended:
        if time.monotonic() > deadline or running.failed:
            raise stack.Failure(running.failed or "the stack is not ready after five minutes")
        time.sleep(0.2)
    credentials = Credentials(os.path.join(credentials_folder, "fleet.kubeconfig"))
    servers = [f"{address['haproxy']}:6443", f"{address['api-1']}:7443", f"{address['api-2']}:7443"]
    members = {name: (f"{address[name]}:6443", Credentials(os.path.join(credentials_folder, name + ".kubeconfig")))
               for name in MEMBERS}
    apis = [Api(server, credentials) for server in servers]
    set_up(apis[0])
    load = Load(servers, members, credentials, options.seed)
    for name in REGISTERS:
        load.write(apis[0], "create", name, name, "POST", CONFIGMAPS, config_map(name, name))
    load.start()
    time.sleep(3)
    chance = random.Random(options.seed)
    faults = Faults(running, load, chance, options)
    start = time.monotonic()
    while time.monotonic() - start < options.seconds and not running.failed:
        faults.inject()
    stopped = time.monotonic()
    load.stop()
    wrong = [running.failed] if running.failed else []
    unsettled = settled(load, apis, members)
    wrong += [unsettled] if unsettled else []
    wrong += violations_of(load, faults, final_values(apis[0]), contents(apis))
    report(load, faults.done, stopped - start, stopped)
    if len(load.operations) < 100 or not load.decided or not load.answered:
        wrong.append("there was hardly any load: this run shows nothing")
    print(f"violations: {len(wrong)}")
    for violation in wrong[:50]:
        print("  " + violation)
    return 1 if wrong else 0


class Supervised(stack.Stack):
    """The stack on a thread of its own."""

    failed = ""

    def __init__(self, plan, namespaces, shifted_clock):
        super().__init__(plan, namespaces)
        folder = os.path.join(plan.folder, "clock")
        os.makedirs(folder, exist_ok=True)
        for name, process in plan.services.items():
            if name in VICTIMS and name != "haproxy":
                self.set_clock(name, 0)
                process["environment"] |= {"LD_PRELOAD": shifted_clock, "SHIPLOG_CLOCK_SHIFT": os.path.join(folder, name)}

    def set_clock(self, name, minutes):
        """Its processes have it mapped: not a new file, and written at once."""
        file = os.open(os.path.join(self.plan.folder, "clock", name), os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(file, struct.pack("=q", minutes * 60_000), 0)
        os.close(file)

    def supervise(self):
        try:
            self.run(False)
        except (stack.Failure, OSError) as failure:
            self.failed = str(failure)
        while not self.stopping:  # what a thread has started is killed when the thread ends
            time.sleep(0.1)
        self.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/bin"))
    parser.add_argument("--folder", default="", help="keep data and logs here [a temporary folder, removed at the end]")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="faults of these processes only")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=[],
                        help="these faults only: kill, freeze, partition, mute, slow, fill, clock")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    for number in (signal.SIGINT, signal.SIGTERM):  # leave nothing running
        signal.signal(number, lambda *_: sys.exit("chaos: interrupted"))
    with tempfile.TemporaryDirectory(prefix="shiplog-chaos-") as scratch:
        chance = random.SystemRandom()
        spaces = stack.Namespaces.available()
        plan = stack.Plan(os.path.join(ROOT, "docker/compose.yaml"), os.path.abspath(options.folder or scratch),
                          os.path.abspath(options.programs),
                          f"{10 if spaces else 127}.{chance.randrange(20, 220)}.{chance.randrange(1, 250)}")
        if not spaces:
            print("without partitions and slow links: network namespaces need root and iproute2", flush=True)
        with stack.Namespaces(plan) if spaces else contextlib.nullcontext() as namespaces:
            return supervised(options, plan, namespaces)


def supervised(options, plan, namespaces):
    shifted_clock = os.path.join(os.path.abspath(options.programs), "../lib/libshiplog_shifted_clock.so")
    if not os.path.exists(shifted_clock):
        raise stack.Failure(f"{shifted_clock} is missing: build the target shiplog_shifted_clock")
    running = Supervised(plan, namespaces, shifted_clock)
    supervisor = threading.Thread(target=running.supervise)
    supervisor.start()
    try:
        return run(options, plan, running)
    except stack.Failure as failure:
        print(f"chaos: {failure}", file=sys.stderr)
        return 1
    finally:
        running.stopping = True
        supervisor.join()


if __name__ == "__main__":
    sys.exit(main())
