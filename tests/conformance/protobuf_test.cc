// Bodies in protobuf, as typed Go clients send them (PB-1 to PB-13).
#include "events/kinds/protobuf.h"

#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7U) out += static_cast<char>((value & 127U) | 128U);
  return out + static_cast<char>(value);
}

/// A field with wire type 2.
std::string bytes(unsigned number, const std::string& content) {
  return varint(number << 3U | 2U) + varint(content.size()) + content;
}
std::string integer(unsigned number, uint64_t value) { return varint(number << 3U) + varint(value); }

std::string envelope(const std::string& api_version, const std::string& kind, const std::string& raw) {
  return std::string{"k8s\0", 4} + bytes(1, bytes(1, api_version) + bytes(2, kind)) + bytes(2, raw) + bytes(3, "") +
         bytes(4, "");
}

Answer send(const std::string& method, const std::string& target, const std::string& body) {
  return api().call(method, target, body,
                    {{"Content-Type", kProtobuf}, {"Accept", "application/vnd.kubernetes.protobuf,application/json"}});
}

TEST(Protobuf, PB_01_typed_clients_create_in_it) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made = send(
      "POST", maps, envelope("v1", "ConfigMap", bytes(1, bytes(1, "typed")) + bytes(2, bytes(1, "k") + bytes(2, "v"))));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["data"], json(R"({"k":"v"})"));
  EXPECT_EQ(made.json["kind"].str(), "ConfigMap");
}

/// What typed clients send of each group, as commands of kubectl do. The same in JSON gives the same object.
TEST(Protobuf, PB_01_commands_of_typed_clients) {
  const std::string ns = own_namespace();
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  const std::vector<std::pair<std::string, std::string>> objects = {
      {"/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: " + ns + "-NAME}}"},
      {in(ns, "serviceaccounts"), "{apiVersion: v1, kind: ServiceAccount, metadata: {name: NAME}}"},
      {in(ns, "secrets"), "{apiVersion: v1, kind: Secret, metadata: {name: NAME}, data: {k: dg==}, type: Opaque}"},
      {in(ns, "services"),
       "{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {type: ExternalName, externalName: "
       "a.example.com}}"},
      {in(ns, "resourcequotas"),
       "{apiVersion: v1, kind: ResourceQuota, metadata: {name: NAME}, spec: {hard: {cpu: '1'}}}"},
      {in(ns, "deployments", "apps/v1"),
       "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {selector: {matchLabels: {a: b}}, "
       "template: "
       "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}"},
      {in(ns, "jobs", "batch/v1"),
       "{apiVersion: batch/v1, kind: Job, metadata: {name: NAME}, spec: {template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}"},
      {in(ns, "roles", rbac), "{apiVersion: " + rbac +
                                  ", kind: Role, metadata: {name: NAME}, rules: [{verbs: [get], apiGroups: "
                                  "[''], resources: [pods]}]}"},
      {in(ns, "poddisruptionbudgets", "policy/v1"),
       "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: NAME}, spec: {minAvailable: 50%, selector: "
       "{matchLabels: {a: b}}}}"}};
  for (const auto& [path, text] : objects) {
    const auto object = [&](const std::string& name) {
      std::string with_name = text;
      with_name.replace(with_name.find("NAME"), 4, name);
      return yaml(with_name);
    };
    const Answer typed = send_protobuf("POST", path, object("typed"));
    ASSERT_EQ(typed.status, 201) << path << typed;
    const Answer plain = api().post(path, object("plain"));
    ASSERT_EQ(plain.status, 201) << path << plain;
    const Answer stored = api().get(path + "/" + typed.json["metadata"]["name"].str());
    ASSERT_EQ(stored.status, 200) << path;
    for (const char* part : {"kind", "apiVersion", "type", "data", "rules"}) {
      EXPECT_EQ(stored.json[part], plain.json[part]) << path << " " << part;
    }
    if (!path.ends_with("/jobs")) {  // its selector is made of its uid
      EXPECT_EQ(to_json(stored.json["spec"]), to_json(plain.json["spec"])) << path;
    }
  }
}

TEST(Protobuf, PB_02_leases_and_events_are_accepted) {
  const std::string ns = own_namespace();
  const std::string leases = in(ns, "leases", "coordination.k8s.io/v1");
  const Value lease = yaml(
      "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l}, spec: "
      "{holderIdentity: me, leaseDurationSeconds: 15, renewTime: '2026-11-21T00:28:56.123456Z'}}");
  const Answer made = send_protobuf("POST", leases, lease);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"]["renewTime"].str(), "2026-11-21T00:28:56.123456Z");
  Value renewed = made.json;
  renewed.edit("spec").set("renewTime", "2026-11-21T00:29:00.000001Z");
  EXPECT_EQ(send_protobuf("PUT", leases + "/l", renewed).status, 200);
  expect_failure(send_protobuf("PUT", leases + "/l", renewed), 409, "Conflict");
  const Value event = yaml("{apiVersion: v1, kind: Event, metadata: {name: e, namespace: " + ns +
                           "}, involvedObject: {kind: Pod, name: p, namespace: " + ns +
                           "}, reason: R, message: m, type: Normal, count: 1}");
  const Answer response = send_protobuf("POST", in(ns, "events"), event);
  EXPECT_EQ(response.status, 201) << response;
}

TEST(Protobuf, PB_03_put_post_and_delete_options) {
  const std::string deployments = in(own_namespace(), "deployments", "apps/v1");
  Value web = deployment("web", 2);
  const Answer made = send_protobuf("POST", deployments, web);
  ASSERT_EQ(made.status, 201) << made;
  Value more = made.json;
  more.edit("spec").set("replicas", 3);
  const Answer put = send_protobuf("PUT", deployments + "/web", more);
  ASSERT_EQ(put.status, 200) << put;
  EXPECT_EQ(put.json["spec"]["replicas"].as_int(), 3);
  const std::string wrong_uid = bytes(2, bytes(1, "11111111-1111-4111-8111-111111111111"));
  expect_failure(send("DELETE", deployments + "/web", envelope("apps/v1", "DeleteOptions", wrong_uid)), 409,
                 "Conflict");
  EXPECT_EQ(send("DELETE", deployments + "/web", envelope("apps/v1", "DeleteOptions", bytes(4, "Background"))).status,
            200);
}

TEST(Protobuf, PB_04_custom_resources_are_never_protobuf) {
  const std::string widgets = widgets_in(own_namespace());
  const Answer refused =
      send("POST", widgets, envelope("conformance.example.com/v1", "Widget", bytes(1, bytes(1, "w"))));
  expect_failure(refused, 415, "UnsupportedMediaType", "application/json");
}

TEST(Protobuf, PB_05_the_envelope_begins_with_four_bytes) {
  const std::string maps = in(own_namespace(), "configmaps");
  const std::string whole = envelope("v1", "ConfigMap", bytes(1, bytes(1, "enveloped")));
  expect_failure(send("POST", maps, whole.substr(4)), 400, "BadRequest");
  expect_failure(send("POST", maps, whole.substr(0, whole.size() - 6)), 400, "BadRequest");
  EXPECT_EQ(send("POST", maps, whole).status, 201);
}

TEST(Protobuf, PB_06_options_come_under_any_group_version) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* version : {"v1", "apps/v1", "meta.k8s.io/v1", "coordination.k8s.io/v1"}) {
    ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
    const Answer removed = send("DELETE", maps + "/a", envelope(version, "DeleteOptions", bytes(4, "Background")));
    EXPECT_EQ(removed.status, 200) << version << removed;
  }
}

TEST(Protobuf, PB_07_the_result_is_the_json_of_the_same_kind) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  const Answer from_json = api().post(deployments, deployment("json", 3));
  Value twin = deployment("json", 3);
  twin.edit("metadata").set("name", "proto");
  const Answer from_proto = send_protobuf("POST", deployments, twin);
  ASSERT_EQ(from_proto.status, 201) << from_proto;
  EXPECT_EQ(from_proto.json["spec"], from_json.json["spec"]);
}

TEST(Protobuf, PB_08_scalars_with_a_message_of_their_own) {
  const std::string ns = own_namespace();
  const Value pod = yaml(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: c
    image: i:1
    resources: {limits: {cpu: 500m, memory: 1Gi}}
    ports: [{containerPort: 80, name: http}]
    livenessProbe: {httpGet: {port: http, path: /}}
    readinessProbe: {tcpSocket: {port: 81}}
)");
  const Answer made = send_protobuf("POST", in(ns, "pods"), pod);
  ASSERT_EQ(made.status, 201) << made;
  const Value& container = made.json["spec"]["containers"][0];
  EXPECT_EQ(container["resources"]["limits"], json(R"({"cpu":"500m","memory":"1Gi"})"));
  EXPECT_EQ(container["livenessProbe"]["httpGet"]["port"].str(), "http");
  EXPECT_EQ(container["readinessProbe"]["tcpSocket"]["port"].as_int(), 81);
}

TEST(Protobuf, PB_09_messages_that_json_flattens) {
  const std::string ns = own_namespace();
  const Value pod = yaml(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  volumes: [{name: v, configMap: {name: settings, optional: true}}]
  containers:
  - name: c
    image: i:1
    env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]
    envFrom: [{configMapRef: {name: m}}]
    livenessProbe: {exec: {command: ['true']}, periodSeconds: 7}
)");
  const Answer made = send_protobuf("POST", in(ns, "pods"), pod);
  ASSERT_EQ(made.status, 201) << made;
  const Value& spec = made.json["spec"];
  EXPECT_EQ(spec["volumes"][0]["configMap"]["name"].str(), "settings") << made;
  const Value& container = spec["containers"][0];
  EXPECT_EQ(container["env"][0]["valueFrom"]["secretKeyRef"]["name"].str(), "s");
  EXPECT_EQ(container["envFrom"][0]["configMapRef"]["name"].str(), "m");
  EXPECT_EQ(container["livenessProbe"]["exec"]["command"][0].str(), "true");
  EXPECT_EQ(container["livenessProbe"]["periodSeconds"].as_int(), 7);
}

TEST(Protobuf, PB_10_zeros_count_only_where_a_pointer_was_set) {
  const std::string ns = own_namespace();
  // ObjectMeta as Go writes it: empty strings and a zero generation, and an empty creationTimestamp.
  const std::string meta = bytes(1, "zeros") + bytes(2, "") + bytes(3, "") + bytes(4, "") + bytes(5, "") +
                           bytes(6, "") + integer(7, 0) + bytes(8, "");
  const std::string pod_template =
      bytes(1, bytes(11, bytes(1, "app") + bytes(2, "z"))) + bytes(2, bytes(2, bytes(1, "c") + bytes(2, "i:1")));
  const std::string spec = integer(1, 0) + bytes(2, bytes(1, bytes(1, "app") + bytes(2, "z"))) +
                           bytes(3, pod_template) + integer(5, 0) + integer(7, 0);
  const Answer made = send("POST", in(ns, "deployments", "apps/v1"),
                           envelope("apps/v1", "Deployment", bytes(1, meta) + bytes(2, spec)));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_TRUE(made.json["spec"]["replicas"].is_int()) << made;
  EXPECT_EQ(made.json["spec"]["replicas"].as_int(1), 0);
  EXPECT_FALSE(made.json["spec"].contains("minReadySeconds"));
  EXPECT_FALSE(made.json["spec"].contains("paused"));
  EXPECT_FALSE(made.json["metadata"].contains("generateName"));
  EXPECT_EQ(made.json["metadata"]["generation"].as_int(), 1);
}

TEST(Protobuf, PB_11_numbers_of_metadata) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer owner = api().post(maps, config_map("owner"));
  const std::string reference = bytes(1, "ConfigMap") + bytes(3, "owner") + bytes(4, uid_of(owner)) + bytes(5, "v1") +
                                integer(6, 1) + integer(7, 0);
  const std::string meta = bytes(1, "owned") + bytes(11, bytes(1, "l") + bytes(2, "1")) +
                           bytes(12, bytes(1, "a") + bytes(2, "2")) + bytes(13, reference) +
                           bytes(14, "example.com/keep");
  const Answer made = send("POST", maps, envelope("v1", "ConfigMap", bytes(1, meta)));
  ASSERT_EQ(made.status, 201) << made;
  const Value& metadata = made.json["metadata"];
  EXPECT_EQ(metadata["labels"]["l"].str(), "1");
  EXPECT_EQ(metadata["annotations"]["a"].str(), "2");
  EXPECT_EQ(metadata["finalizers"], json(R"(["example.com/keep"])"));
  EXPECT_EQ(metadata["ownerReferences"][0], Value::object({{"apiVersion", "v1"},
                                                           {"kind", "ConfigMap"},
                                                           {"name", "owner"},
                                                           {"uid", uid_of(owner)},
                                                           {"controller", true},
                                                           {"blockOwnerDeletion", false}}))
      << made;
  EXPECT_EQ(api().patch(maps + "/owned", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Protobuf, PB_12_unknown_fields_are_skipped) {
  const std::string maps = in(own_namespace(), "configmaps");
  const Answer made =
      send("POST", maps, envelope("v1", "ConfigMap", bytes(1, bytes(1, "newer")) + bytes(99, "?") + integer(98, 7)));
  EXPECT_EQ(made.status, 201) << made;
}

TEST(Protobuf, PB_13_cbor_is_off) {
  const std::string maps = in(own_namespace(), "configmaps");
  expect_failure(api().call("POST", maps, "\xd9\xd9\xf7\xa0", {{"Content-Type", "application/cbor"}}), 415,
                 "UnsupportedMediaType");
  expect_failure(api().get(maps, "application/cbor"), 406, "NotAcceptable");
}

}  // namespace
}  // namespace shiplog::e2e
