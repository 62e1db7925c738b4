// Tables (TBL-1 to TBL-10).
#include "tests/conformance/conformance.h"

namespace shiplog::e2e {
namespace {

Answer table_of(const std::string& target) {
  Answer table = api().get(target, kTable);
  EXPECT_EQ(table.status, 200) << table;
  EXPECT_EQ(table.json["kind"].str(), "Table") << table;
  return table;
}

/// The cell of the first row in this column.
Value cell(const Answer& table, const std::string& column) {
  const auto columns = table.json["columnDefinitions"].items();
  for (size_t index = 0; index < columns.size(); ++index) {
    if (columns[index]["name"].as_string() == column) return table.json["rows"][0]["cells"][index];
  }
  ADD_FAILURE() << "no column " << column << " in " << table;
  return {};
}

TEST(Tables, TBL_01_the_form_of_a_table) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(api().post(maps, config_map(name)).status, 201);
  const Answer list = table_of(maps + "?limit=2");
  EXPECT_EQ(list.json["apiVersion"].str(), "meta.k8s.io/v1");
  EXPECT_EQ(list.json["rows"].size(), 2u);
  EXPECT_FALSE(list.json["metadata"]["continue"].str().empty());
  EXPECT_EQ(list.json["metadata"]["remainingItemCount"].as_int(), 1);
  EXPECT_FALSE(version_of(list).empty());
  const Answer next = table_of(maps + "?limit=2&continue=" + list.json["metadata"]["continue"].str());
  EXPECT_EQ(next.json["rows"][0]["cells"][0].str(), "c");
  const Answer table = table_of(maps + "/a");
  EXPECT_EQ(version_of(table), version_of(api().get(maps + "/a")));
  const Answer none = table_of(in(own_namespace(), "configmaps"));
  EXPECT_EQ(none.json["rows"].size(), 0u);
  EXPECT_NE(none.body.find("\"rows\":[]"), std::string::npos) << none;
  EXPECT_FALSE(version_of(none).empty());
  HttpHeaders headers{{"Accept", kTable}};
  const Answer made = api().call("POST", maps, R"({"metadata":{"name":"d"}})", headers);
  EXPECT_EQ(made.json["kind"].str(), "Table") << made;
  EXPECT_EQ(made.json["rows"][0]["cells"][0].str(), "d");
}

TEST(Tables, TBL_02_the_object_of_a_row) {
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a", R"({"k":"v"})", R"({"l":"1"})")).status, 201);
  const Value metadata = table_of(maps).json["rows"][0]["object"];
  EXPECT_EQ(metadata["kind"].str(), "PartialObjectMetadata");
  EXPECT_EQ(metadata["apiVersion"].str(), "meta.k8s.io/v1");
  EXPECT_EQ(metadata["metadata"], api().get(maps + "/a").json["metadata"]);
  EXPECT_EQ(table_of(maps + "?includeObject=Metadata").json["rows"][0]["object"], metadata);
  const Value object = table_of(maps + "?includeObject=Object").json["rows"][0]["object"];
  EXPECT_EQ(object["kind"].str(), "ConfigMap");
  EXPECT_EQ(object["data"]["k"].str(), "v");
  EXPECT_TRUE(table_of(maps + "?includeObject=None").json["rows"][0]["object"].is_null());
  expect_failure(api().get(maps + "?includeObject=Some", kTable), 400, "BadRequest", "includeObject");
}

TEST(Tables, TBL_03_columns) {
  const std::string pods = in(own_namespace(), "pods");
  ASSERT_EQ(api().post(pods, yaml("{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")).status, 201);
  const Answer table = table_of(pods);
  const Value first = table.json["columnDefinitions"][0];
  EXPECT_EQ(first["name"].str(), "Name");
  EXPECT_EQ(first["format"].str(), "name");
  EXPECT_EQ(first["type"].str(), "string");
  for (const Value& column : table.json["columnDefinitions"].items()) {
    EXPECT_TRUE(column["priority"].is_int());
    EXPECT_TRUE(column["description"].is_string());
    const Names types{"string", "integer", "number", "boolean", "date"};
    EXPECT_TRUE(std::ranges::find(types, column["type"].str()) != types.end());
  }
  EXPECT_EQ(table.json["rows"][0]["cells"].size(), table.json["columnDefinitions"].size());
}

TEST(Tables, TBL_05_ages_are_humanised) {
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w", R"({"since":"2001-01-01T00:00:00Z"})")).status, 201);
  ASSERT_EQ(api().post(widgets, widget("x", R"({"since":"2099-01-01T00:00:00Z"})")).status, 201);
  ASSERT_EQ(api().post(widgets, widget("y", R"({"since":"yesterday"})")).status, 201);
  const Answer table = table_of(widgets);
  const std::string since = table.json["rows"][0]["cells"][3].str();
  EXPECT_TRUE(since.ends_with("y") && since.size() == 3) << since;
  EXPECT_EQ(table.json["rows"][1]["cells"][3].str(), "<invalid>");
  EXPECT_EQ(table.json["rows"][2]["cells"][3].str(), "<invalid>");
  const std::string maps = in(own_namespace(), "configmaps");
  ASSERT_EQ(api().post(maps, config_map("a")).status, 201);
  EXPECT_TRUE(cell(table_of(maps), "Age").str().ends_with("s"));
}

TEST(Tables, TBL_06_columns_of_each_kind) {
  const std::string ns = own_namespace();
  const auto columns = [](const std::string& path) { return columns_of(table_of(path + "?limit=1")); };
  EXPECT_EQ(columns(in(ns, "pods")), (Names{"Name", "Ready", "Status", "Restarts", "Age", "IP*", "Node*",
                                            "Nominated Node*", "Readiness Gates*"}));
  const auto apps = [&](const char* resource) { return columns(in(ns, resource, "apps/v1")); };
  EXPECT_EQ(apps("deployments"),
            (Names{"Name", "Ready", "Up-to-date", "Available", "Age", "Containers*", "Images*", "Selector*"}));
  const Names sets{"Name", "Desired", "Current", "Ready", "Age", "Containers*", "Images*", "Selector*"};
  EXPECT_EQ(apps("replicasets"), sets);
  EXPECT_EQ(columns(in(ns, "replicationcontrollers")), sets);
  EXPECT_EQ(apps("statefulsets"), (Names{"Name", "Ready", "Age", "Containers*", "Images*"}));
  EXPECT_EQ(apps("daemonsets"), (Names{"Name", "Desired", "Current", "Ready", "Up-to-date", "Available",
                                       "Node Selector", "Age", "Containers*", "Images*", "Selector*"}));
  EXPECT_EQ(columns(in(ns, "jobs", "batch/v1")),
            (Names{"Name", "Status", "Completions", "Duration", "Age", "Containers*", "Images*", "Selector*"}));
  EXPECT_EQ(columns(in(ns, "cronjobs", "batch/v1")),
            (Names{"Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age", "Containers*",
                   "Images*", "Selector*"}));
  EXPECT_EQ(columns(in(ns, "services")),
            (Names{"Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"}));
  EXPECT_EQ(columns(in(ns, "endpoints")), (Names{"Name", "Endpoints", "Age"}));
  EXPECT_EQ(columns(in(ns, "endpointslices", "discovery.k8s.io/v1")),
            (Names{"Name", "AddressType", "Ports", "Endpoints", "Age"}));
  EXPECT_EQ(columns(in(ns, "ingresses", "networking.k8s.io/v1")),
            (Names{"Name", "Class", "Hosts", "Address", "Ports", "Age"}));
  EXPECT_EQ(columns(in(ns, "networkpolicies", "networking.k8s.io/v1")), (Names{"Name", "Pod-Selector", "Age"}));
  EXPECT_EQ(columns("/apis/networking.k8s.io/v1/ingressclasses"), (Names{"Name", "Controller", "Parameters", "Age"}));
  EXPECT_EQ(columns(in(ns, "configmaps")), (Names{"Name", "Data", "Age"}));
  EXPECT_EQ(columns(in(ns, "secrets")), (Names{"Name", "Type", "Data", "Age"}));
  EXPECT_EQ(columns(in(ns, "serviceaccounts")), (Names{"Name", "Secrets", "Age"}));
  EXPECT_EQ(columns("/api/v1/namespaces"), (Names{"Name", "Status", "Age"}));
  EXPECT_EQ(columns("/api/v1/nodes"), (Names{"Name", "Status", "Roles", "Age", "Version", "Internal-IP*",
                                             "External-IP*", "OS-Image*", "Kernel-Version*", "Container-Runtime*"}));
  EXPECT_EQ(columns(in(ns, "events")), (Names{"Last Seen", "Type", "Reason", "Object", "Subobject*", "Source*",
                                              "Message", "First Seen*", "Count*", "Name*"}));
  EXPECT_EQ(columns(in(ns, "leases", "coordination.k8s.io/v1")), (Names{"Name", "Holder", "Age"}));
  EXPECT_EQ(columns(in(ns, "resourcequotas")), (Names{"Name", "Request", "Limit", "Age"}));
  const Names created{"Name", "Created At"};
  EXPECT_EQ(columns(in(ns, "limitranges")), created);
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  EXPECT_EQ(columns(in(ns, "roles", rbac)), created);
  EXPECT_EQ(columns("/apis/" + rbac + "/clusterroles"), created);
  EXPECT_EQ(columns("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"), created);
  const Names bindings{"Name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"};
  EXPECT_EQ(columns(in(ns, "rolebindings", rbac)), bindings);
  EXPECT_EQ(columns("/apis/" + rbac + "/clusterrolebindings"), bindings);
  EXPECT_EQ(columns("/apis/certificates.k8s.io/v1/certificatesigningrequests"),
            (Names{"Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"}));
  EXPECT_EQ(columns(in(ns, "horizontalpodautoscalers", "autoscaling/v2")),
            (Names{"Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"}));
  EXPECT_EQ(columns(in(ns, "poddisruptionbudgets", "policy/v1")),
            (Names{"Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"}));
  EXPECT_EQ(columns("/api/v1/persistentvolumes"),
            (Names{"Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass",
                   "VolumeAttributesClass", "Reason", "Age", "VolumeMode*"}));
  EXPECT_EQ(columns(in(ns, "persistentvolumeclaims")),
            (Names{"Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass",
                   "Age", "VolumeMode*"}));
  EXPECT_EQ(columns("/apis/storage.k8s.io/v1/storageclasses"),
            (Names{"Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"}));
  EXPECT_EQ(columns("/apis/scheduling.k8s.io/v1/priorityclasses"),
            (Names{"Name", "Value", "Global-Default", "Age", "PreemptionPolicy"}));
  EXPECT_EQ(columns(in(ns, "podtemplates")), (Names{"Name", "Containers", "Images", "Pod Labels"}));
  EXPECT_EQ(columns("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"),
            (Names{"Name", "Webhooks", "Age"}));
  EXPECT_EQ(columns("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"),
            (Names{"Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"}));
  EXPECT_EQ(columns("/apis/cluster.karmada.io/v1alpha1/clusters"),
            (Names{"Name", "Version", "Mode", "Ready", "Age", "Zones*", "Region*", "Provider*", "API-Endpoint*",
                   "Proxy-URL*"}));
  EXPECT_EQ(columns(widgets_in(ns)), (Names{"Name", "Size", "Applied", "Since", "Colour*"}));
}

TEST(Tables, TBL_07_cells) {
  const std::string ns = own_namespace();
  const std::string deployments = in(ns, "deployments", "apps/v1");
  ASSERT_EQ(api().post(deployments, deployment("web", 3)).status, 201);
  ASSERT_EQ(api()
                .patch(deployments + "/web/status", "merge",
                       json(R"({"status":{"replicas":3,"readyReplicas":2,"updatedReplicas":3,"availableReplicas":1}})"))
                .status,
            200);
  const Answer web = table_of(deployments);
  EXPECT_EQ(cell(web, "Ready").str(), "2/3");
  EXPECT_EQ(cell(web, "Up-to-date").as_int(), 3);
  EXPECT_EQ(cell(web, "Available").as_int(), 1);
  EXPECT_EQ(cell(web, "Containers").str(), "main");
  EXPECT_EQ(cell(web, "Images").str(), "nginx:1.27");
  EXPECT_EQ(cell(web, "Selector").str(), "app=web");
  const std::string services = in(ns, "services");
  const auto service = [&](const std::string& name, const std::string& spec) {
    EXPECT_EQ(api().post(services, yaml("{metadata: {name: " + name + "}, spec: {" + spec + "}}")).status, 201) << name;
    return table_of(services + "?fieldSelector=metadata.name%3D" + name);
  };
  const Answer ports = service("ports", "ports: [{port: 80, name: a}, {port: 53, name: b, protocol: UDP}]");
  EXPECT_EQ(cell(ports, "Port(s)").str(), "80/TCP,53/UDP");
  EXPECT_EQ(cell(ports, "External-IP").str(), "<none>");
  EXPECT_EQ(cell(ports, "Selector").str(), "<none>");
  EXPECT_EQ(cell(service("balanced", "type: LoadBalancer, ports: [{port: 80}]"), "External-IP").str(), "<pending>");
  EXPECT_EQ(cell(service("outside", "type: ExternalName, externalName: a.example.com"), "External-IP").str(),
            "a.example.com");
  ASSERT_EQ(
      api()
          .post(in(ns, "configmaps"), json(R"({"metadata":{"name":"a"},"data":{"x":"1"},"binaryData":{"y":"AA=="}})"))
          .status,
      201);
  EXPECT_EQ(cell(table_of(in(ns, "configmaps")), "Data").as_int(), 2);
  ASSERT_EQ(api().post(in(ns, "secrets"), json(R"({"metadata":{"name":"a"},"data":{"x":"AA==","y":"AA=="}})")).status,
            201);
  EXPECT_EQ(cell(table_of(in(ns, "secrets")), "Data").as_int(), 2);
  ASSERT_EQ(api()
                .post("/api/v1/nodes", yaml("{metadata: {name: tbl-7, labels: {node-role.kubernetes.io/worker: ''}}, "
                                            "spec: {unschedulable: true}}"))
                .status,
            201);
  const Answer node = table_of("/api/v1/nodes?fieldSelector=metadata.name%3Dtbl-7");
  EXPECT_EQ(cell(node, "Status").str(), "Unknown,SchedulingDisabled");
  EXPECT_EQ(cell(node, "Roles").str(), "worker");
  EXPECT_EQ(api().remove("/api/v1/nodes/tbl-7").status, 200);
  ASSERT_EQ(api()
                .post(in(ns, "events"), yaml("{metadata: {name: e, namespace: " + ns +
                                             "}, involvedObject: {kind: Pod, name: p, namespace: " + ns +
                                             "}, reason: R, message: m, type: Normal}"))
                .status,
            201);
  const Answer events = table_of(in(ns, "events"));
  EXPECT_EQ(cell(events, "Object").str(), "pod/p");
  EXPECT_EQ(cell(events, "Count").as_int(), 1);
  ASSERT_EQ(api()
                .post(in(ns, "jobs", "batch/v1"),
                      yaml("{metadata: {name: j}, spec: {completions: 3, template: {spec: {restartPolicy: Never, "
                           "containers: [{name: c, image: i}]}}}}"))
                .status,
            201);
  EXPECT_EQ(cell(table_of(in(ns, "jobs", "batch/v1")), "Completions").str(), "0/3");
  EXPECT_EQ(cell(table_of(in(ns, "jobs", "batch/v1")), "Status").str(), "Running");
  ASSERT_EQ(api()
                .post(in(ns, "rolebindings", "rbac.authorization.k8s.io/v1"),
                      yaml("{metadata: {name: r}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "
                           "name: view}}"))
                .status,
            201);
  EXPECT_EQ(cell(table_of(in(ns, "rolebindings", "rbac.authorization.k8s.io/v1")), "Role").str(), "ClusterRole/view");
}

TEST(Tables, TBL_07_cells_of_other_kinds) {
  const std::string ns = own_namespace();
  const auto created = [&](const std::string& path, const std::string& object) {
    const Answer made = api().post(path, yaml(object));
    EXPECT_EQ(made.status, 201) << made;
    return made;
  };
  const std::string services = in(ns, "services");
  created(services,
          "{metadata: {name: open}, spec: {type: NodePort, externalIPs: [192.0.2.1, 192.0.2.2], selector: {b: c, a: "
          "b}, ports: [{port: 80}]}}");
  const Answer open = table_of(services);
  const int64_t port = api().get(services + "/open").json["spec"]["ports"][0]["nodePort"].as_int();
  EXPECT_EQ(cell(open, "Port(s)").str(), "80:" + std::to_string(port) + "/TCP");
  EXPECT_EQ(cell(open, "External-IP").str(), "192.0.2.1,192.0.2.2");
  EXPECT_EQ(cell(open, "Selector").str(), "a=b,b=c");
  const std::string sets = in(ns, "statefulsets", "apps/v1");
  created(
      sets,
      "{metadata: {name: s}, spec: {replicas: 3, serviceName: s, selector: {matchLabels: {a: s}}, template: {metadata: "
      "{labels: {a: s}}, spec: {containers: [{name: c, image: i}]}}}}");
  EXPECT_EQ(cell(table_of(sets), "Ready").str(), "0/3");
  created("/api/v1/nodes",
          "{metadata: {name: tbl-7-ready, labels: {kubernetes.io/role: x, node-role.kubernetes.io/a: ''}}}");
  const auto node_status = [&](const char* ready) {
    EXPECT_EQ(
        api()
            .patch("/api/v1/nodes/tbl-7-ready/status", "merge",
                   json(R"({"status":{"conditions":[{"type":"Ready","status":")" + std::string{ready} + R"("}]}})"))
            .status,
        200);
    return cell(table_of("/api/v1/nodes?fieldSelector=metadata.name%3Dtbl-7-ready"), "Status").str();
  };
  EXPECT_EQ(node_status("True"), "Ready");
  EXPECT_EQ(node_status("False"), "NotReady");
  EXPECT_EQ(cell(table_of("/api/v1/nodes?fieldSelector=metadata.name%3Dtbl-7-ready"), "Roles").str(), "a,x");
  EXPECT_EQ(api().remove("/api/v1/nodes/tbl-7-ready").status, 200);
  const std::string jobs = in(ns, "jobs", "batch/v1");
  const auto job = [&](const std::string& name, const std::string& spec, const std::string& status) {
    created(jobs, "{metadata: {name: " + name + "}, spec: {" + spec +
                      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}");
    if (!status.empty()) {
      const Answer set = api().patch(jobs + "/" + name + "/status", "merge", json(R"({"status":)" + status + "}"));
      EXPECT_EQ(set.status, 200) << set;
    }
    const Answer table = table_of(jobs + "?fieldSelector=metadata.name%3D" + name);
    return cell(table, "Completions").str() + " " + cell(table, "Status").str();
  };
  EXPECT_EQ(job("one", "", ""), "0/1 Running");
  EXPECT_EQ(job("several", "parallelism: 4, ", ""), "0/1 of 4 Running");
  EXPECT_EQ(job("suspended", "suspend: true, ", R"({"conditions":[{"type":"Suspended","status":"True"}]})"),
            "0/1 Suspended");
  EXPECT_EQ(job("failing", "", R"({"conditions":[{"type":"FailureTarget","status":"True"}]})"), "0/1 FailureTarget");
}

TEST(Tables, TBL_08_the_status_of_a_pod) {
  const std::string pods = in(own_namespace(), "pods");
  Value pod = yaml("{metadata: {name: p, finalizers: [example.com/keep]}, spec: {containers: [{name: c, image: i}]}}");
  ASSERT_EQ(api().post(pods, pod).status, 201);
  const auto shown = [&](const std::string& status) {
    const Answer patched = api().patch(pods + "/p/status", "merge", json(R"({"status":)" + status + "}"));
    EXPECT_EQ(patched.status, 200) << patched;
    return table_of(pods);
  };
  EXPECT_EQ(cell(table_of(pods), "Status").str(), "Pending") << "no status has been reported yet";
  EXPECT_EQ(api().get(pods + "/p").json["status"]["qosClass"].str(), "BestEffort");
  EXPECT_EQ(cell(shown(R"({"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"","restartCount":0,
      "ready":false,"state":{"waiting":{"reason":"ImagePullBackOff"}}}]})"),
                 "Status")
                .str(),
            "ImagePullBackOff");
  const Answer running = shown(R"({"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"",
      "restartCount":2,"ready":true,"state":{"running":{}}}]})");
  EXPECT_EQ(cell(running, "Status").str(), "Running");
  EXPECT_EQ(cell(running, "Ready").str(), "1/1");
  EXPECT_EQ(cell(running, "Restarts").str(), "2");
  ASSERT_EQ(api().remove(pods + "/p").status, 200);
  EXPECT_EQ(cell(table_of(pods), "Status").str(), "Terminating");
  const Answer done = shown(R"({"phase":"Succeeded","containerStatuses":[{"name":"c","image":"i","imageID":"",
      "restartCount":0,"ready":false,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})");
  EXPECT_EQ(cell(done, "Status").str(), "Completed");
  EXPECT_EQ(done.json["rows"][0]["conditions"][0]["type"].str(), "Completed") << done;
  EXPECT_EQ(api().patch(pods + "/p", "merge", json(R"({"metadata":{"finalizers":null}})")).status, 200);
}

TEST(Tables, TBL_09_cells_of_custom_resources) {
  const std::string widgets = widgets_in(own_namespace());
  ASSERT_EQ(api().post(widgets, widget("w", R"({"size":3})")).status, 201);
  const Answer bare = table_of(widgets);
  EXPECT_EQ(cell(bare, "Size").as_int(), 3);
  EXPECT_TRUE(cell(bare, "Size").is_int());
  EXPECT_TRUE(cell(bare, "Applied").is_null()) << bare;
  EXPECT_TRUE(cell(bare, "Since").is_null());
  EXPECT_EQ(cell(bare, "Colour").str(), "red");
  ASSERT_EQ(
      api()
          .patch(
              widgets + "/w/status", "merge",
              json(R"({"status":{"conditions":[{"type":"Other","status":"x"},{"type":"Applied","status":"True"}]}})"))
          .status,
      200);
  EXPECT_EQ(cell(table_of(widgets), "Applied").str(), "True");
}

TEST(Tables, TBL_10_pages_of_a_table_add_up) {
  const std::string maps = in(own_namespace(), "configmaps");
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(api().post(maps, config_map(name)).status, 201);
  Names names;
  std::string token;
  do {
    const Answer page = table_of(maps + "?limit=2" + (token.empty() ? "" : "&continue=" + token));
    for (const Value& row : page.json["rows"].items()) names.push_back(row["cells"][0].str());
    EXPECT_EQ(page.json["columnDefinitions"].size(), 3u);
    token = page.json["metadata"]["continue"].str();
  } while (!token.empty());
  EXPECT_EQ(names, (Names{"a", "b", "c"}));
}

}  // namespace
}  // namespace shiplog::e2e
