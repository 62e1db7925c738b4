#!/usr/bin/python3
"""contexts.py FILE CONTEXT=KUBECONFIG...: writes a kubeconfig with a context for each of the given ones, the first is current."""
import sys

import yaml

merged = {"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []}
for argument in sys.argv[2:]:
    name, file = argument.split("=", 1)
    with open(file, encoding="utf-8") as text:
        config = yaml.safe_load(text)
    merged["clusters"].append({"name": name, "cluster": config["clusters"][0]["cluster"]})
    merged["users"].append({"name": name, "user": config["users"][0]["user"]})
    merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    merged.setdefault("current-context", name)
with open(sys.argv[1], "w", encoding="utf-8") as text:
    yaml.safe_dump(merged, text)
