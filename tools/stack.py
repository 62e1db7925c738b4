#!/usr/bin/env python3
"""Runs the services of a compose file as plain processes on one machine: what `./dev stack` calls.

    stack.py [--file=docker/compose.yaml] [--folder=.fleet/stack] [--programs=build/bin]
             [--network=127.88.0] [--once [--timeout=SECONDS]] [--fresh]
    stack.py --plan           print the processes, as JSON, and start nothing

Each service gets a loopback address of its own, so that it listens on the same ports as its container. In commands,
environments and mounted files the name of a service becomes its address, and a path in a volume the path of the folder that
stands for it. Nothing else differs from what the compose tool would run: restarts, health checks and the conditions of
depends_on are those of the file. A service that has no program here (grafana) is left out, and that is said.
--once: ends when every one-shot service has ended, with the exit code of the last one. After SECONDS [300] it fails, and tells
what it was waiting for.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_PROGRAM = {"grafana": "Debian has no package of it; its dashboard is docker/monitoring/dashboard.json"}
# Before a command: it is killed when this process is, even if that has no time to stop it.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
# What an image has at a path, and what stands for it here.
IMAGE_FILES = {"/usr/share/doc/shiplog/examples/nginx": "docs/examples/nginx"}


class Failure(Exception):
    pass


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def seconds(text):
    found = re.fullmatch(r"(\d+)(ms|s|m)", str(text))
    if not found:
        raise Failure(f"'{text}' is no duration")
    return int(found[1]) * {"ms": 0.001, "s": 1, "m": 60}[found[2]]


class Plan:
    """The services of the file as processes: command, environment, what each waits for."""

    def __init__(self, file, folder, programs, network):
        with open(file, encoding="utf-8") as text:
            self.compose = yaml.safe_load(text)
        self.base, self.folder, self.programs, self.network = os.path.dirname(file), folder, programs, network
        names = list(self.compose["services"])
        self.address = {name: f"{network}.{number}" for number, name in enumerate(names, 1)}
        # A name is that of a service only as a whole word: neither a part of a path nor of a longer name, and not the
        # value of an option that names something else.
        words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        self.host = re.compile(rf"(?<![\w./-])(?P<scheme>https?://)?(?P<name>{words})(?=:\d)")
        self.listed = re.compile(rf"(?<=[=,])({words})(?=,|$)")
        self.services = {name: self.process(name) for name in names if name not in NO_PROGRAM}

    def text(self, text, folders):
        if folders:  # all at once: a folder here may lie in one that a container has, too
            paths = "|".join(sorted(map(re.escape, folders), key=len, reverse=True))
            text = re.sub(rf"(?<![\w/])({paths})(?=$|[/\s\"',])", lambda found: folders[found[1]], text)
        text = self.host.sub(lambda found: (found["scheme"] or "") + self.address[found["name"]], text)
        return text

    def word(self, word, folders):
        if word.startswith("--tls-san="):
            return self.listed.sub(lambda found: self.address[found[1]], word)
        return self.address.get(word) if word in self.address and self.is_host(word) else self.text(word, folders)

    @staticmethod
    def is_host(word):
        # demo.sh is given members by name; they are joined under it.
        return not word.startswith("member")

    def folders(self, name, service):
        """Path in the container -> path here. Files that name services are copied, with addresses in place of names."""
        folders = {inside: os.path.join(ROOT, outside) for inside, outside in IMAGE_FILES.items()}
        folders["/tmp"] = os.path.join(self.folder, "tmp", name)
        files = []
        for volume in service.get("volumes", []):
            source, target = volume.split(":")[:2]
            if not source.startswith("."):
                folders[target] = os.path.join(self.folder, "volumes", source)
                continue
            path = os.path.normpath(os.path.join(self.base, source))
            folders[target] = path
            if os.path.isfile(path):
                folders[target] = os.path.join(self.folder, "etc", name, os.path.basename(path))
                files.append((path, folders[target]))
        return folders, files

    def process(self, name):
        service = self.compose["services"][name]
        folders, files = self.folders(name, service)
        # The first word is the program or, with an entrypoint, an option.
        command = [self.text(str(word), folders) if index == 0 else self.word(str(word), folders)
                   for index, word in enumerate(service.get("command", []))]
        image = service["image"].split(":")[0]
        if image == "shiplog":
            command.insert(0, os.path.join(self.programs, "shiplogd"))
        elif image == "prom/prometheus":
            command.insert(0, "prometheus")
        health = service.get("healthcheck")
        environment = {key: self.text(str(value), folders) for key, value in service.get("environment", {}).items()}
        if image == "apache/kafka":
            environment["KAFKA_RUN_CLASS"] = os.path.join(ROOT, "tools/kafka_run_class.sh")
        return {
            "address": self.address[name],
            "command": command,
            "environment": environment,
            "folders": sorted(set(folders.values()) - {target for _, target in files}),
            "files": files,
            "after": {other: wanted["condition"] for other, wanted in service.get("depends_on", {}).items()
                      if other not in NO_PROGRAM},
            "once": service.get("restart") == "no",
            "health": health and {
                "command": [self.word(word, folders) for word in health["test"][1:]],
                "interval": seconds(health["interval"]),
                "retries": health["retries"],
            },
        }


class Namespaces:
    """A network namespace for each service, with its address, on one bridge that this process has the last address of: so
    a service can be cut off. Needs root and iproute2."""

    def __init__(self, plan):
        self.plan, self.prefix = plan, f"sl{os.getpid() % 100000}"
        self.bridge = self.prefix + "b"
        self.network = plan.network

    @staticmethod
    def available():
        """Whether a namespace can be made here."""
        if os.geteuid() != 0 or shutil.which("ip", path=os.environ["PATH"] + ":/usr/sbin") is None:
            return False
        name = f"sl{os.getpid() % 100000}t"
        made = Namespaces.ip("netns", "add", name, check=False)
        return made and Namespaces.ip("netns", "del", name, check=False)

    @staticmethod
    def ip(*words, check=True):
        ran = subprocess.run(["ip", *words], capture_output=True, text=True, check=False,
                             env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"})
        if check and ran.returncode != 0:
            raise Failure(f"ip {' '.join(words)}: {ran.stderr.strip()}")
        return ran.returncode == 0

    def name(self, service):
        return f"{self.prefix}n{self.plan.address[service].rsplit('.', 1)[1]}"

    def link(self, service):
        """This end of the service's only connection."""
        return f"{self.prefix}v{self.plan.address[service].rsplit('.', 1)[1]}"

    def __enter__(self):
        self.ip("link", "add", self.bridge, "type", "bridge")
        self.ip("addr", "add", f"{self.network}.254/24", "dev", self.bridge)
        self.ip("link", "set", self.bridge, "up")
        for service in self.plan.services:
            name, link = self.name(service), self.link(service)
            self.ip("netns", "add", name)
            self.ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            self.ip("link", "set", link, "master", self.bridge, "up")
            self.ip("-n", name, "addr", "add", f"{self.plan.address[service]}/24", "dev", "eth0")
            self.ip("-n", name, "link", "set", "eth0", "up")
            self.ip("-n", name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        for service in self.plan.services:
            self.ip("netns", "del", self.name(service), check=False)
            self.ip("link", "del", self.link(service), check=False)
        self.ip("link", "del", self.bridge, check=False)

    def command(self, service):
        return ["ip", "netns", "exec", self.name(service)]


class Stack:
    def __init__(self, plan, namespaces=None):
        self.plan, self.namespaces = plan, namespaces
        self.running, self.ended, self.healthy, self.began = {}, {}, set(), {}
        self.stopping = False

    def log(self, name):
        return os.path.join(self.plan.folder, "log", name + ".log")

    def environment(self, extra):
        path = os.path.join(self.plan.folder, "bin") + os.pathsep + self.plan.programs
        return os.environ | extra | {"PATH": path + os.pathsep + os.environ["PATH"] + os.pathsep + "/usr/sbin"}

    def prepare(self):
        for folder in ("log", "bin", "run"):
            os.makedirs(os.path.join(self.plan.folder, folder), mode=0o700, exist_ok=True)
        health = os.path.join(self.plan.folder, "bin", "shiplog-healthy")
        if not os.path.lexists(health):
            os.symlink(os.path.join(ROOT, "docker/healthy.sh"), health)
        for process in self.plan.services.values():
            for folder in process["folders"]:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            for source, target in process["files"]:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(source, encoding="utf-8") as text, open(target, "w", encoding="utf-8") as copy:
                    copy.write(self.plan.text(text.read(), self.folders_of(target)))

    def folders_of(self, target):
        """What a mounted file may name: the other files of its service."""
        return {"/etc/prometheus": os.path.dirname(target)} if "prometheus" in target else {}

    def start(self, name):
        process = self.plan.services[name]
        say(f"starting {name}")
        with open(self.log(name), "ab") as log:
            self.running[name] = subprocess.Popen(
                ENDS_WITH_US + (self.namespaces.command(name) if self.namespaces else []) + process["command"],
                env=self.environment(process["environment"]), stdin=subprocess.DEVNULL,
                stdout=log if not process["once"] else subprocess.PIPE, stderr=log, start_new_session=True)
        self.began[name] = time.monotonic()
        with open(os.path.join(self.plan.folder, "run", name + ".pid"), "w", encoding="ascii") as pid:
            print(self.running[name].pid, file=pid)

    def unmet(self, name):
        """The services that this one still has to wait for."""
        return [other for other, condition in self.plan.services[name]["after"].items()
                if not (self.ended.get(other) == 0 if condition == "service_completed_successfully" else
                        self.is_healthy(other) if condition == "service_healthy" else other in self.running)]

    def succeeds(self, command):
        try:
            return subprocess.run(command, env=self.environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=10, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def is_healthy(self, name):
        if name in self.healthy:
            return True
        if name not in self.running:
            return False
        health = self.plan.services[name]["health"]
        if self.succeeds(health["command"]):
            self.healthy.add(name)
            return True
        if time.monotonic() - self.began[name] > health["interval"] * health["retries"]:
            raise Failure(f"{name} is not healthy after {health['interval'] * health['retries']:.0f} s: see {self.log(name)}")
        return False

    def reap(self):
        for name, child in list(self.running.items()):
            code = child.poll()
            if code is None:
                continue
            del self.running[name]
            self.healthy.discard(name)
            if self.plan.services[name]["once"]:
                self.ended[name] = code
                sys.stdout.write(child.stdout.read().decode())
                sys.stdout.flush()
                if code != 0:
                    raise Failure(f"{name} ended with exit code {code}: see {self.log(name)}")
                continue
            if time.monotonic() - self.began[name] < 5:
                raise Failure(f"{name} ended with exit code {code} right after its start: see {self.log(name)}")
            say(f"{name} (pid {child.pid}) ended with exit code {code}; restarting it. Its log: {self.log(name)}")
            self.start(name)

    def unfinished(self, waiting):
        """What keeps the one-shot services from having ended, for a person to read."""
        texts = [f"{name} waits for {', '.join(self.unmet(name))}" for name in waiting]
        texts += [f"{name} is running: see {self.log(name)}" for name in self.running if self.plan.services[name]["once"]]
        return "; ".join(texts)

    def run(self, once, timeout=0):
        self.prepare()
        end = time.monotonic() + timeout
        waiting = list(self.plan.services)
        jobs = [name for name, process in self.plan.services.items() if process["once"]]
        told = False
        while not self.stopping:
            self.reap()
            for name in list(waiting):
                if not self.unmet(name):
                    waiting.remove(name)
                    self.start(name)
            if not waiting and not told and all(name in self.ended for name in jobs):
                told = True
                if once:
                    return
                say(f"running; the API is at https://{self.plan.address['haproxy']}:6443, its kubeconfig "
                    f"{self.plan.folder}/volumes/credentials/fleet.kubeconfig, Prometheus at "
                    f"http://{self.plan.address['prometheus']}:9090; Ctrl-C stops the stack")
            if once and time.monotonic() > end:
                raise Failure(f"not finished after {timeout} s: {self.unfinished(waiting)}")
            time.sleep(0.2)

    def stop(self):
        """In the order in which a process needs others: the brokers last."""
        say("stopping the stack")
        for kafka in (False, True):
            children = [child for name, child in self.running.items() if name.startswith("kafka") == kafka]
            for child in children:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)
            deadline = time.monotonic() + 20
            for child in children:
                try:
                    child.wait(max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default=os.path.join(ROOT, "docker/compose.yaml"))
    parser.add_argument("--folder", default=os.path.join(ROOT, ".fleet/stack"))
    parser.add_argument("--programs", default=os.path.join(ROOT, "build/bin"))
    parser.add_argument("--network", default="127.88.0", help="the first three numbers of the addresses [127.88.0]")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that --once may take [300]")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--plan", action="store_true")
    options = parser.parse_args()
    plan = Plan(os.path.abspath(options.file), os.path.abspath(options.folder), os.path.abspath(options.programs),
                options.network)
    if options.plan:
        json.dump(plan.services, sys.stdout, indent=1)
        print()
        return 0
    for name, why in NO_PROGRAM.items():
        say(f"without {name}: {why}")
    if options.fresh:
        shutil.rmtree(plan.folder, ignore_errors=True)
    stack = Stack(plan)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: setattr(stack, "stopping", True))
    try:
        stack.run(options.once, options.timeout)
        return 0
    except Failure as failure:
        print(f"stack: {failure}", file=sys.stderr)
        return 1
    finally:
        stack.stop()


if __name__ == "__main__":
    sys.exit(main())
