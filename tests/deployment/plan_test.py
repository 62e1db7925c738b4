#!/usr/bin/env python3
"""plan_test.py COMPOSE_FILE...: the compose tool accepts the files, and what tools/stack.py runs is what the first one says:
with addresses and folders put back into names and paths, every command, environment, health check and condition is that of
the service."""
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = sys.argv[1:]


def configured(file):
    """The file as the compose tool reads it."""
    ran = subprocess.run(["docker-compose", "-f", file, "config"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise AssertionError(f"docker-compose does not accept {file}: {ran.stderr}")
    return yaml.safe_load(ran.stdout)


class Plan(unittest.TestCase):
    def setUp(self):
        self.services = configured(FILES[0])["services"]
        ran = subprocess.run(["/usr/bin/python3", f"{ROOT}/tools/stack.py", "--plan", f"--file={FILES[0]}", "--folder=/F",
                              "--programs=/P", "--network=127.99.7"], capture_output=True, text=True, check=True)
        self.processes = json.loads(ran.stdout)

    def original(self, name, word):
        """The word with names in place of addresses and paths of the container in place of folders."""
        service = self.services[name]
        addresses = {process["address"]: other for other, process in self.processes.items()}
        word = re.sub(r"127\.99\.7\.\d+", lambda found: addresses[found[0]], word)
        word = word.replace(f"/F/tmp/{name}", "/tmp").replace(f"{ROOT}/docs/examples/nginx",
                                                              "/usr/share/doc/shiplog/examples/nginx")
        for volume in service.get("volumes", []):
            source, target = volume.split(":")[:2]
            here = f"/F/volumes/{source}" if not source.startswith("/") else source
            copied = f"/F/etc/{name}/{os.path.basename(source)}"
            word = word.replace(copied, target).replace(here, target)
        return word

    def test_every_service_with_a_program_is_run(self):
        self.assertEqual(sorted(set(self.services) - set(self.processes)), ["grafana"])

    def test_commands_are_those_of_the_services(self):
        for name, process in self.processes.items():
            with self.subTest(name):
                command = [self.original(name, word) for word in process["command"]]
                if command[0] in ("/P/shiplogd", "prometheus"):  # what the image starts with
                    command = command[1:]
                self.assertEqual(command, self.services[name]["command"])

    def test_environments_are_those_of_the_services(self):
        for name, process in self.processes.items():
            with self.subTest(name):
                environment = {key: self.original(name, value) for key, value in process["environment"].items()
                               if key != "KAFKA_RUN_CLASS"}
                self.assertEqual(environment, self.services[name].get("environment", {}))

    def test_health_checks_and_conditions_are_those_of_the_services(self):
        for name, process in self.processes.items():
            with self.subTest(name):
                service = self.services[name]
                self.assertEqual(process["after"], {other: wanted["condition"]
                                                    for other, wanted in service.get("depends_on", {}).items()})
                self.assertEqual(process["once"], service.get("restart") == "no")
                self.assertEqual(process["health"] is None, "healthcheck" not in service)
                if process["health"]:
                    test = [self.original(name, word) for word in process["health"]["command"]]
                    self.assertEqual(["CMD"] + test, service["healthcheck"]["test"])
                    self.assertEqual(process["health"]["retries"], service["healthcheck"]["retries"])

    def test_no_secret_is_in_the_file(self):
        with open(FILES[0], encoding="utf-8") as text:
            self.assertIsNone(re.search(r"(?i)(password|token|secret)\s*[:=]\s*\S", text.read()))

    def test_shiplog_runs_with_few_rights(self):
        for file in FILES:
            for name, service in configured(file)["services"].items():
                if not service["image"].startswith("shiplog"):
                    continue
                with self.subTest(f"{file} {name}"):
                    self.assertEqual((service["user"], service["read_only"], service["cap_drop"]),
                                     ("10001:10001", True, ["ALL"]))
                    self.assertIn("no-new-privileges:true", service["security_opt"])


class Running(unittest.TestCase):
    def test_what_the_stack_runs_ends_with_it_even_if_it_is_killed(self):
        program = """
import os, sys, time, types
sys.path.insert(0, sys.argv[1])
import stack
service = {"command": ["sleep", "600"], "environment": {}, "folders": [], "files": [], "once": False}
one = stack.Stack(types.SimpleNamespace(folder=sys.argv[2], programs="", services={"one": service}))
one.prepare()
one.start("one")
pid = one.running["one"].pid
while open(f"/proc/{pid}/comm").read() != "sleep\\n":
    time.sleep(0.01)
print(pid, flush=True)
sys.stdin.read()
"""
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen(["/usr/bin/python3", "-c", program, f"{ROOT}/tools", folder], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as running:
                said = running.stdout.readline()
                while said and not said.strip().isdigit():
                    said = running.stdout.readline()
                child = os.pidfd_open(int(said))
                running.kill()
            ended = select.select([child], [], [], 60)[0]
            if not ended:
                signal.pidfd_send_signal(child, signal.SIGKILL)
            os.close(child)
            self.assertTrue(ended, "the process still runs")


class Monitoring(unittest.TestCase):
    def test_prometheus_accepts_the_configuration_and_the_alert_rules(self):
        ran = subprocess.run(["promtool", "check", "config", f"{ROOT}/docker/monitoring/prometheus.yaml"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"[1-9]\d* rules found")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
