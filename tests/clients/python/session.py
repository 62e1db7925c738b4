#!/usr/bin/python3
"""A session with Debian's python3-kubernetes against the API server of $KUBECONFIG.

Prints its checks, and ends with a message at the first one that fails. $MEMBER names a ready member.
"""
import base64
import os
import sys

import yaml
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError

NAMESPACE = "python-day"
MEMBER = os.environ["MEMBER"]
PATIENCE = 60  # seconds, for asynchronous changes


def step(text):
    print("python: " + text, flush=True)


def expect(holds, message):
    if not holds:
        sys.exit("python: NOT AS EXPECTED: " + message)


def equal(found, wanted, what):
    expect(found == wanted, "%s is %r instead of %r" % (what, found, wanted))


def refused(status, reason, call, *arguments, **named):
    """The call must be refused with this code and reason; returns its Status."""
    try:
        call(*arguments, **named)
    except ApiException as error:
        body = client.ApiClient().deserialize(_Body(error.body), "V1Status")
        equal((error.status, body.reason), (status, reason), "the refusal (%s)" % body.message)
        return body
    sys.exit("python: NOT AS EXPECTED: %s was not refused with %s" % (call.__name__, reason))


class _Body:
    def __init__(self, data):
        self.data = data.decode() if isinstance(data, bytes) else data


def watch_until(holds, what, call, *arguments, **named):
    """Returns the first event for which `holds` is true."""
    watcher = watch.Watch()
    for event in watcher.stream(call, *arguments, timeout_seconds=PATIENCE, **named):
        if holds(event):
            watcher.stop()
            return event
    sys.exit("python: NOT AS EXPECTED: no event within %d s: %s" % (PATIENCE, what))


def gone(read, call, name, *where):
    """Waits until the object does not exist any more."""
    version = call(*where).metadata.resource_version
    try:
        read()
    except ApiException as error:
        equal(error.status, 404, "the status of what is gone")
        return
    watch_until(lambda event: event["type"] == "DELETED" and event["object"].metadata.name == name, "%s is gone" % name,
                call, *where, resource_version=version)


def config_map(name, data=None, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data=data or {"colour": "red"})


def discovery():
    step("version, groups, resources")
    expect(client.VersionApi().get_code().major == "1", "the server has no version 1.x")
    groups = {group.name for group in client.ApisApi().get_api_versions().groups}
    expect({"apps", "batch", "policy.karmada.io"} <= groups, "groups are missing in %s" % sorted(groups))
    resources = {resource.name: resource for resource in client.CoreV1Api().get_api_resources().resources}
    expect(resources["configmaps"].namespaced and "cm" in resources["configmaps"].short_names, "configmaps is not cm")


def namespace():
    step("a namespace, with its default service account's permissions asked for")
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    equal(core.read_namespace(NAMESPACE).status.phase, "Active", "the namespace's phase")
    core.create_namespaced_service_account(NAMESPACE, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot")))
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(verb="create", resource="configmaps", namespace=NAMESPACE)))
    expect(client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed, "the admin may not write")


def objects():
    step("create, get, list, replace, delete of ConfigMaps and Secrets")
    made = core.create_namespaced_config_map(NAMESPACE, config_map("one", labels={"tier": "front"}))
    expect(made.metadata.uid and made.metadata.resource_version, "a created object has no uid and version")
    expect(made.metadata.creation_timestamp.tzinfo is not None, "the creation time is no time")
    core.create_namespaced_config_map(NAMESPACE, config_map("two", labels={"tier": "back"}))
    core.create_namespaced_config_map(NAMESPACE, config_map("three", labels={"tier": "back"}))
    names = lambda found: sorted(item.metadata.name for item in found.items)
    equal(names(core.list_namespaced_config_map(NAMESPACE, label_selector="tier in (back),tier!=front")),
          ["three", "two"], "what the label selector finds")
    equal(names(core.list_namespaced_config_map(NAMESPACE, field_selector="metadata.name=one")), ["one"],
          "what the field selector finds")
    seen, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="tier", limit=2, _continue=token)
        seen += names(page)
        token = page.metadata._continue
        if not token:
            break
    equal(sorted(seen), ["one", "three", "two"], "what the pages have")

    made.data["colour"] = "blue"
    newer = core.replace_namespaced_config_map("one", NAMESPACE, made)
    expect(newer.metadata.resource_version != made.metadata.resource_version, "a replaced object has its old version")
    step("a stale version is a conflict, a twin exists already, nothing is not found")
    made.data["colour"] = "green"
    refused(409, "Conflict", core.replace_namespaced_config_map, "one", NAMESPACE, made)
    refused(409, "AlreadyExists", core.create_namespaced_config_map, NAMESPACE, config_map("one"))
    refused(404, "NotFound", core.read_namespaced_config_map, "none", NAMESPACE)
    equal(core.read_namespaced_config_map("one", NAMESPACE).data, {"colour": "blue"}, "the data after the conflict")
    status = refused(422, "Invalid", core.create_namespaced_config_map, NAMESPACE, config_map("Not A Name"))
    equal(status.details.causes[0].field, "metadata.name", "the field of the refusal")

    step("a dry run leaves nothing; a Secret's strings become bytes")
    core.create_namespaced_config_map(NAMESPACE, config_map("dry"), dry_run="All")
    refused(404, "NotFound", core.read_namespaced_config_map, "dry", NAMESPACE)
    secret = client.V1Secret(metadata=client.V1ObjectMeta(generate_name="key-"), string_data={"password": "hunter2"})
    secret = core.create_namespaced_secret(NAMESPACE, secret)
    expect(secret.metadata.name.startswith("key-") and len(secret.metadata.name) > 4, "no name was generated")
    equal(base64.b64decode(core.read_namespaced_secret(secret.metadata.name, NAMESPACE).data["password"]), b"hunter2",
          "the password")
    equal(core.delete_namespaced_secret(secret.metadata.name, NAMESPACE).status, "Success", "the answer to a delete")
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="tier=back")
    equal(names(core.list_namespaced_config_map(NAMESPACE, label_selector="tier")), ["one"], "what is left")


def patches():
    step("JSON patch, strategic merge patch, merge patch")
    change = core.patch_namespaced_config_map
    equal(change("one", NAMESPACE, {"data": {"size": "3"}}).data, {"colour": "blue", "size": "3"}, "the merged data")
    equal(change("one", NAMESPACE, [{"op": "remove", "path": "/data/size"}]).data, {"colour": "blue"}, "the data")
    refused(422, "Invalid", change, "one", NAMESPACE, [{"op": "test", "path": "/data/colour", "value": "red"}])
    maps = dynamic_client.resources.get(api_version="v1", kind="ConfigMap")
    merged = maps.patch({"data": {"colour": None, "shape": "round"}}, name="one", namespace=NAMESPACE,
                        content_type="application/merge-patch+json")
    equal(merged.to_dict()["data"], {"shape": "round"}, "the data after a merge patch")


def watches():
    step("a watch continues where the list ended, and follows an object into and out of a selector")
    start = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("seen", labels={"watched": "yes"}))
    core.patch_namespaced_config_map("seen", NAMESPACE, {"metadata": {"labels": {"watched": "no"}}})
    core.patch_namespaced_config_map("seen", NAMESPACE, {"metadata": {"labels": {"watched": "yes"}}})
    core.delete_namespaced_config_map("seen", NAMESPACE)
    for selector, wanted in (("watched=yes", ["ADDED", "DELETED", "ADDED", "DELETED"]),
                             ("watched", ["ADDED", "MODIFIED", "MODIFIED", "DELETED"])):
        events = []
        watcher = watch.Watch()
        for event in watcher.stream(core.list_namespaced_config_map, NAMESPACE, label_selector=selector,
                                    resource_version=start, timeout_seconds=PATIENCE):
            equal(event["object"].metadata.name, "seen", "the object of an event")
            events.append(event["type"])
            if len(events) == len(wanted):
                watcher.stop()
        equal(events, wanted, "what the watch of %s saw" % selector)
    started = watch.Watch()
    equal(list(started.stream(core.list_namespaced_config_map, NAMESPACE, label_selector="none", timeout_seconds=1)), [],
          "a watch of nothing, which ends by itself")


def applies():
    step("apply, twice, by two managers: a conflict, then by force")
    maps = dynamic_client.resources.get(api_version="v1", kind="ConfigMap")

    def apply(data, manager, force=None):
        # As text: this version of the client cannot send apply patches from dictionaries.
        body = yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}, "data": data})
        return maps.server_side_apply(body, name="shared", namespace=NAMESPACE, field_manager=manager, force_conflicts=force)

    first = apply({"colour": "red", "size": "3"}, "painter")
    again = apply({"colour": "red", "size": "3"}, "painter")
    equal(again.metadata.resourceVersion, first.metadata.resourceVersion, "the version after the same apply again")
    apply({"shape": "round"}, "sculptor")
    try:
        apply({"shape": "round", "colour": "blue"}, "sculptor")
        sys.exit("python: NOT AS EXPECTED: the other manager's field was taken without force")
    except ConflictError as error:
        expect("painter" in str(error.body) and ".data.colour" in str(error.body),
               "the conflict does not name its manager and field: %s" % error.body)
    taken = apply({"shape": "round", "colour": "blue"}, "sculptor", True)
    equal(taken.to_dict()["data"], {"colour": "blue", "shape": "round", "size": "3"}, "the data after force")
    left = apply({}, "painter")
    equal(left.to_dict()["data"], {"colour": "blue", "shape": "round"}, "the data once the painter gave up its fields")
    equal(sorted(entry.manager for entry in left.metadata.managedFields if entry.operation == "Apply")[-1], "sculptor",
          "who still manages")


def rollout():
    step("a Deployment that runs on a member is scaled and rolled out again")
    labels = {"app": "web"}
    utils.create_from_dict(client.ApiClient(), {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": labels},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}]}]}}}},
        namespace=NAMESPACE)
    made = apps.read_namespaced_deployment("web", NAMESPACE)
    equal(made.spec.strategy.type, "RollingUpdate", "the default of strategy.type")
    equal(made.spec.template.spec.containers[0].ports[0].protocol, "TCP", "the default of protocol")
    custom.create_namespaced_custom_object("policy.karmada.io", "v1alpha1", NAMESPACE, "propagationpolicies", {
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "web"},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
                 "placement": {"clusterAffinity": {"clusterNames": [MEMBER]}}}})

    def runs(replicas, generation):
        status = lambda event: event["object"].status
        watch_until(lambda event: (status(event).ready_replicas, status(event).updated_replicas) == (replicas, replicas)
                    and (status(event).observed_generation or 0) >= generation,
                    "%d replicas of web are ready" % replicas, apps.list_namespaced_deployment, NAMESPACE,
                    field_selector="metadata.name=web")

    runs(2, made.metadata.generation)
    apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 3}})
    scale = apps.read_namespaced_deployment_scale("web", NAMESPACE)
    equal((scale.spec.replicas, scale.status.selector), (3, "app=web"), "the scale")
    runs(3, made.metadata.generation + 1)
    change = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.28"}]}}}}
    changed = apps.patch_namespaced_deployment("web", NAMESPACE, change)
    container = changed.spec.template.spec.containers[0]
    equal((len(changed.spec.template.spec.containers), container.image, len(container.ports)), (1, "nginx:1.28", 1),
          "the container that a strategic merge patch met by its name")
    runs(3, changed.metadata.generation)
    refused(422, "Invalid", apps.patch_namespaced_deployment, "web", NAMESPACE,
            {"spec": {"selector": {"matchLabels": {"app": "other"}}}})
    apps.delete_namespaced_deployment("web", NAMESPACE, propagation_policy="Foreground")
    gone(lambda: apps.read_namespaced_deployment("web", NAMESPACE), apps.list_namespaced_deployment, "web", NAMESPACE)


def cascades():
    for policy in ("Background", "Foreground", "Orphan"):
        step("a delete with propagation %s and its effect on a dependent" % policy)
        owner = core.create_namespaced_config_map(NAMESPACE, config_map("owner-" + policy.lower()))
        reference = client.V1OwnerReference(api_version="v1", kind="ConfigMap", name=owner.metadata.name,
                                            uid=owner.metadata.uid, block_owner_deletion=True)
        child = "child-" + policy.lower()
        core.create_namespaced_config_map(NAMESPACE, config_map(child, owner_references=[reference]))
        core.delete_namespaced_config_map(owner.metadata.name, NAMESPACE, propagation_policy=policy)
        gone(lambda: core.read_namespaced_config_map(owner.metadata.name, NAMESPACE), core.list_namespaced_config_map,
             owner.metadata.name, NAMESPACE)
        if policy == "Orphan":
            orphan = core.read_namespaced_config_map(child, NAMESPACE)
            expect(not orphan.metadata.owner_references, "the orphan still has an owner")
        elif policy == "Foreground":
            refused(404, "NotFound", core.read_namespaced_config_map, child, NAMESPACE)
        else:
            gone(lambda: core.read_namespaced_config_map(child, NAMESPACE), core.list_namespaced_config_map, child, NAMESPACE)

    step("an object with a finalizer stays until it is taken off")
    core.create_namespaced_config_map(NAMESPACE, config_map("kept", finalizers=["example.com/keep"]))
    core.delete_namespaced_config_map("kept", NAMESPACE)
    expect(core.read_namespaced_config_map("kept", NAMESPACE).metadata.deletion_timestamp, "it is not being deleted")
    core.patch_namespaced_config_map("kept", NAMESPACE, [{"op": "remove", "path": "/metadata/finalizers"}])
    refused(404, "NotFound", core.read_namespaced_config_map, "kept", NAMESPACE)


def definitions():
    step("a CustomResourceDefinition, used immediately: defaults, pruning, validation, status, scale, columns")
    spec = {"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 1}, "colour": {"type": "string", "default": "red"},
        "replicas": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": {
        "type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}}}
    definitions_api = client.ApiextensionsV1Api()
    definitions_api.create_custom_resource_definition({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.python.example.com"},
        "spec": {"group": "python.example.com", "scope": "Namespaced",
                 "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "shortNames": ["kt"]},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                               "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                                                        "statusReplicasPath": ".status.replicas"}}}]}})
    where = ("python.example.com", "v1", NAMESPACE, "kites")
    kite = {"apiVersion": "python.example.com/v1", "kind": "Kite", "metadata": {"name": "k"},
            "spec": {"size": 3, "tail": "long", "replicas": 2}}
    made = custom.create_namespaced_custom_object(*where, kite)
    equal(made["spec"], {"size": 3, "colour": "red", "replicas": 2}, "the spec, with defaults and without what is unknown")
    conditions = definitions_api.read_custom_resource_definition("kites.python.example.com").status.conditions
    expect(any(one.type == "Established" and one.status == "True" for one in conditions), "it is not established")
    kite["metadata"]["name"], kite["spec"]["size"] = "flat", 0
    status = refused(422, "Invalid", custom.create_namespaced_custom_object, *where, kite)
    equal(status.details.causes[0].field, "spec.size", "the field of the refusal")
    patched = custom.patch_namespaced_custom_object_status(*where, "k", {"status": {"phase": "up"}, "spec": {"size": 9}})
    equal((patched["status"], patched["spec"]["size"]), ({"phase": "up"}, 3), "status and spec after a status patch")
    custom.patch_namespaced_custom_object_scale(*where, "k", {"spec": {"replicas": 5}})
    equal(custom.get_namespaced_custom_object(*where, "k")["spec"]["replicas"], 5, "the replicas after a scale")
    kites = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="python.example.com/v1", kind="Kite")
    equal([item.metadata.name for item in kites.get(namespace=NAMESPACE).items], ["k"], "the kites of the dynamic client")
    event = watch_until(lambda event: True, "a kite", custom.list_namespaced_custom_object, *where)
    equal((event["type"], event["object"]["kind"]), ("ADDED", "Kite"), "the event")
    definitions_api.delete_custom_resource_definition("kites.python.example.com")
    name = "kites.python.example.com"
    gone(lambda: definitions_api.read_custom_resource_definition(name), definitions_api.list_custom_resource_definition, name)
    try:
        kites.get(namespace=NAMESPACE, name="k")
        sys.exit("python: NOT AS EXPECTED: the kite exists without its definition")
    except NotFoundError:
        pass


def at(moment):
    """The core API of the fleet as it was: the address of the server has a path more, and nothing else is different."""
    settings = client.Configuration.get_default_copy()
    settings.host = settings.host.rstrip("/") + "/at/" + moment
    return client.CoreV1Api(client.ApiClient(settings))


def past():
    step("the past: get and list what is gone, a watch that replays, refused writes")
    made = core.create_namespaced_config_map(NAMESPACE, config_map("bygone", {"colour": "red"}))
    core.patch_namespaced_config_map("bygone", NAMESPACE, {"data": {"colour": "blue"}})
    core.delete_namespaced_config_map("bygone", NAMESPACE)
    moment = "r" + made.metadata.resource_version
    then = at(moment)
    equal(then.read_namespaced_config_map("bygone", NAMESPACE).data, {"colour": "red"}, "what it held then")
    names = [item.metadata.name for item in then.list_namespaced_config_map(NAMESPACE).items]
    expect("bygone" in names, "what is gone is not in the list of the past, %s" % names)
    for call, arguments in ((then.create_namespaced_config_map, (NAMESPACE, config_map("late"))),
                            (then.patch_namespaced_config_map, ("bygone", NAMESPACE, {"data": {"colour": "green"}})),
                            (then.delete_namespaced_config_map, ("bygone", NAMESPACE))):
        status = refused(405, "MethodNotAllowed", call, *arguments)
        expect("is the past, which is read-only" in status.message, "the refusal says %r" % status.message)
    history = []
    watcher = watch.Watch()
    for event in watcher.stream(at(moment + ",speed=max").list_namespaced_config_map, NAMESPACE,
                                field_selector="metadata.name=bygone", timeout_seconds=PATIENCE):
        history.append((event["type"], event["object"].data["colour"]))
        if event["type"] == "DELETED":
            watcher.stop()
    equal(history, [("ADDED", "red"), ("MODIFIED", "blue"), ("DELETED", "blue")], "what the watch replays")


def the_end():
    step("the namespace is deleted with its content")
    start = core.list_namespace().metadata.resource_version
    core.delete_namespace(NAMESPACE)
    watch_until(lambda event: event["type"] == "DELETED" and event["object"].metadata.name == NAMESPACE,
                "the namespace is gone", core.list_namespace, resource_version=start)
    equal(core.list_namespaced_config_map(NAMESPACE).items, [], "what is left in the namespace")


config.load_kube_config()
core, apps, custom = client.CoreV1Api(), client.AppsV1Api(), client.CustomObjectsApi()
dynamic_client = dynamic.DynamicClient(client.ApiClient())
for part in (discovery, namespace, objects, patches, watches, applies, rollout, cascades, definitions, past, the_end):
    part()
step("done")
