#include "services/api/table/table.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

const UtcMillis kNow = parse_rfc3339("2026-01-02T00:00:00Z").value();

const Kind& kind(const char* type) { return *Kinds::compiled().find_type(type); }

/// An object that is an hour old.
Value object(std::string_view members) {
  Value value = json("{" + std::string{members} + "}");
  value.edit("metadata").set("name", "x");
  value.edit("metadata").set("creationTimestamp", "2026-01-01T23:00:00Z");
  return value;
}

Value table(const char* type, const Value& one, IncludeObject include = IncludeObject::kNone) {
  return table_of(kind(type), std::span{&one, 1}, include, kNow, "meta.k8s.io/v1");
}

std::string cells(const char* type, std::string_view members) {
  return to_json(table(type, object(members))["rows"][0]["cells"]);
}

/// "Name,Ready,Age,Containers*"; * is priority 1.
std::string columns(const char* type) {
  std::string names;
  const Value whole = table(type, object(""));
  for (const Value& column : whole["columnDefinitions"].items()) {
    names += (names.empty() ? "" : ",") + column["name"].str() + (column["priority"].as_int() > 0 ? "*" : "");
  }
  return names;
}

TEST(Table, HasTheShapeThatKubectlReads) {  // TBL-1, TBL-2, TBL-3
  const Value one = object(R"("data":{"a":"1"},"metadata":{"labels":{"l":"v"}})");
  const Value whole = table("configmaps", one, IncludeObject::kMetadata);
  EXPECT_EQ(whole["kind"].as_string(), "Table");
  EXPECT_EQ(whole["apiVersion"].as_string(), "meta.k8s.io/v1");
  EXPECT_EQ(whole["columnDefinitions"][0]["format"].as_string(), "name");
  EXPECT_EQ(whole["rows"][0]["object"]["kind"].as_string(), "PartialObjectMetadata");
  EXPECT_EQ(whole["rows"][0]["object"]["metadata"], one["metadata"]);
  EXPECT_EQ(table("configmaps", one, IncludeObject::kObject)["rows"][0]["object"], one);
  EXPECT_TRUE(table("configmaps", one)["rows"][0]["object"].is_null());
  EXPECT_TRUE(table_of(kind("configmaps"), {}, IncludeObject::kNone, kNow, "meta.k8s.io/v1", false)["columnDefinitions"]
                  .is_null());
}

TEST(Table, AScaleHasItsReplicas) {  // TBL-6
  const auto shown = [](std::string_view members) {
    const Value scale = object(members);
    return table_of(scale_kind(), std::span{&scale, 1}, IncludeObject::kNone, kNow, "meta.k8s.io/v1");
  };
  const Value whole = shown(R"("spec":{"replicas":3},"status":{"replicas":2})");
  EXPECT_EQ(to_json(whole["rows"][0]["cells"]), R"(["x",3,2,"60m"])");
  EXPECT_EQ(whole["columnDefinitions"][1]["name"].as_string(), "Desired");
  EXPECT_EQ(whole["columnDefinitions"][2]["name"].as_string(), "Available");
  EXPECT_EQ(to_json(shown(R"("spec":{},"status":{})")["rows"][0]["cells"]), R"(["x",0,0,"60m"])");
}

TEST(Table, ColumnsAreUpstreams) {  // TBL-6
  EXPECT_EQ(columns("pods"), "Name,Ready,Status,Restarts,Age,IP*,Node*,Nominated Node*,Readiness Gates*");
  EXPECT_EQ(columns("deployments.apps"), "Name,Ready,Up-to-date,Available,Age,Containers*,Images*,Selector*");
  EXPECT_EQ(columns("namespaces"), "Name,Status,Age");
  EXPECT_EQ(columns("leases.coordination.k8s.io"), "Name,Holder,Age");
  EXPECT_EQ(columns("customresourcedefinitions.apiextensions.k8s.io"), "Name,Created At");
  EXPECT_EQ(columns("clusters.cluster.karmada.io"),
            "Name,Version,Mode,Ready,Age,Zones*,Region*,Provider*,API-Endpoint*,Proxy-URL*");
  EXPECT_EQ(columns("propagationpolicies.policy.karmada.io"), "Name,CONFLICT-RESOLUTION,PRIORITY,AGE");
  EXPECT_EQ(columns("works.work.karmada.io"), "Name,WORKLOAD-KIND,APPLIED,AGE");
  EXPECT_EQ(columns("overridepolicies.policy.karmada.io"), "Name,Age");
}

TEST(Table, ColumnsOfCustomResourcesAreDescribedByTheirPath) {  // TBL-3, TBL-9
  Kind custom;
  custom.group = "example.com";
  custom.plural = "things";
  for (const char* path : {".size", ".ratio", ".far"}) {
    PrintColumn column;
    column.name = path + 1;
    column.type = "integer";
    column.json_path = path;
    custom.columns.push_back(std::move(column));
  }
  custom.columns[0].description = "how large";
  const Value one = object(R"("size":3,"ratio":2.7,"far":1e300)");
  const Value whole = table_of(custom, std::span{&one, 1}, IncludeObject::kNone, kNow, "meta.k8s.io/v1");
  EXPECT_EQ(whole["columnDefinitions"][1]["description"].as_string(), "how large");
  EXPECT_EQ(whole["columnDefinitions"][2]["description"].as_string(),
            "Custom resource definition column (in JSONPath format): .ratio");
  EXPECT_EQ(to_json(whole["rows"][0]["cells"]), R"(["x",3,2,null])");
}

TEST(Table, EveryRowHasACellForEachColumn) {  // TBL-3
  for (const auto& each : Kinds::compiled().all()) {
    const Value one = object("");
    const Value whole = table_of(*each, std::span{&one, 1}, IncludeObject::kNone, kNow, "meta.k8s.io/v1");
    EXPECT_EQ(whole["columnDefinitions"].size(), whole["rows"][0]["cells"].size()) << each->type();
  }
}

TEST(Table, Workloads) {  // TBL-7
  EXPECT_EQ(cells("deployments.apps",
                  R"("spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"},"matchExpressions":[
      {"key":"k","operator":"In","values":["x","y"]}]},"template":{"spec":{"containers":[{"name":"c","image":"i"},
      {"name":"d","image":"j"}]}}},"status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":1})"),
            R"~(["x","2/3",3,1,"60m","c,d","i,j","a=b,k in (x,y)"])~");
  EXPECT_EQ(cells("statefulsets.apps", R"("spec":{"replicas":2})"), R"(["x","0/2","60m","",""])");
  EXPECT_EQ(
      cells("jobs.batch", R"("spec":{"completions":3},"status":{"succeeded":1,"startTime":"2026-01-01T23:59:00Z"})"),
      R"(["x","Running","1/3","60s","60m","","","<none>"])");
  EXPECT_EQ(cells("jobs.batch", R"("spec":{"parallelism":4},"status":{"succeeded":1,"conditions":[
      {"type":"Complete","status":"True"}]})"),
            R"(["x","Complete","1/1 of 4","","60m","","","<none>"])");
  EXPECT_EQ(cells("cronjobs.batch", R"("spec":{"schedule":"* * * * *","suspend":true},"status":{"active":[{}],
      "lastScheduleTime":"2026-01-01T23:58:00Z"})"),
            R"(["x","* * * * *","<none>","True",1,"2m","60m","","","<none>"])");
}

TEST(Table, PodStatus) {  // TBL-8
  const auto shown = [](std::string_view members) {
    const Value whole = table("pods", object(members));
    const Value& row = whole["rows"][0]["cells"];
    return row[1].str() + " " + row[2].str() + " " + row[3].str();
  };
  EXPECT_EQ(shown(R"("status":{"phase":"Pending"},"spec":{"containers":[{}]})"), "0/1 Pending 0");
  EXPECT_EQ(shown(R"("spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[{"ready":true,
      "restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"finishedAt":"2026-01-01T23:00:00Z"}}}]})"),
            "1/1 Running 2 (60m ago)");
  EXPECT_EQ(shown(R"("spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[{"restartCount":0,
      "state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})"),
            "0/1 CrashLoopBackOff 0");
  EXPECT_EQ(shown(R"("spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[
      {"state":{"terminated":{"signal":9}}}]})"),
            "0/1 Signal:9 0");
  EXPECT_EQ(shown(R"("spec":{"containers":[{}],"initContainers":[{},{}]},"status":{"phase":"Pending",
      "initContainerStatuses":[{"state":{"terminated":{"exitCode":0}}},{"state":{"running":{}}}]})"),
            "0/1 Init:1/2 0");
  EXPECT_EQ(shown(R"("metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"})"),
            "0/0 Terminating 0");
  EXPECT_EQ(to_json(table("pods", object(R"("status":{"phase":"Succeeded"})"))["rows"][0]["conditions"][0]["reason"]),
            R"("Succeeded")");
}

TEST(Table, Services) {  // TBL-7
  EXPECT_EQ(cells("services", R"("spec":{"type":"ClusterIP","ports":[{"port":80,"protocol":"TCP"},
      {"port":53,"nodePort":30053,"protocol":"UDP"}],"selector":{"a":"b"}})"),
            R"(["x","ClusterIP","<none>","<none>","80/TCP,53:30053/UDP","60m","a=b"])");
  EXPECT_EQ(cells("services", R"("spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"})"),
            R"(["x","LoadBalancer","10.0.0.1","<pending>","<none>","60m","<none>"])");
  EXPECT_EQ(cells("services", R"("spec":{"type":"ExternalName","externalName":"a.b"})"),
            R"(["x","ExternalName","<none>","a.b","<none>","60m","<none>"])");
}

TEST(Table, OtherCoreKinds) {  // TBL-7
  EXPECT_EQ(cells("configmaps", R"("data":{"a":"1"},"binaryData":{"b":""})"), R"(["x",2,"60m"])");
  EXPECT_EQ(cells("secrets", R"("data":{"a":"1"},"type":"Opaque")"), R"(["x","Opaque",1,"60m"])");
  EXPECT_EQ(cells("namespaces", R"("status":{"phase":"Active"})"), R"(["x","Active","60m"])");
  EXPECT_EQ(
      cells("nodes", R"("metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}},"spec":
      {"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"kubeletVersion":"v1"}})"),
      R"(["x","Ready,SchedulingDisabled","control-plane","60m","v1","<none>","<none>","<unknown>","<unknown>","<unknown>"])");
  EXPECT_EQ(cells("events", R"("involvedObject":{"kind":"Pod","name":"p"},"type":"Normal","reason":"R","message":"m\n",
      "lastTimestamp":"2026-01-01T23:59:00Z","source":{"component":"c","host":"h"})"),
            R"(["60s","Normal","R","pod/p","","c, h","m","<unknown>",1,"x"])");
  EXPECT_EQ(cells("rolebindings.rbac.authorization.k8s.io", R"("roleRef":{"kind":"Role","name":"r"},"subjects":[
      {"kind":"User","name":"u"},{"kind":"ServiceAccount","namespace":"n","name":"s"}])"),
            R"(["x","Role/r","60m","u","","n/s"])");
  EXPECT_EQ(cells("resourcequotas", R"("status":{"hard":{"pods":"4","limits.cpu":"2"},"used":{"pods":"1"}})"),
            R"(["x","pods: 1/4","limits.cpu: 0/2","60m"])");
}

TEST(Table, KarmadaKinds) {  // KIND-15, 0.3.1
  EXPECT_EQ(cells("clusters.cluster.karmada.io", R"("spec":{"syncMode":"Push","zones":["a","b"]},"status":{
      "kubernetesVersion":"v1.30","conditions":[{"type":"Ready","status":"True"}]})"),
            R"(["x","v1.30","Push","True","60m","a,b","<none>","<none>","","<none>"])");
  EXPECT_EQ(cells("clusters.cluster.karmada.io", R"("spec":{"syncMode":"Pull"})"),
            R"(["x","","Pull","Unknown","60m","<none>","<none>","<none>","","<none>"])");
  EXPECT_EQ(cells("works.work.karmada.io", R"("spec":{"workload":{"manifests":[{"kind":"Deployment"},{"kind":"Y"}]}},
      "status":{"conditions":[{"type":"Applied","status":"True"}]})"),
            R"(["x","Deployment","True","60m"])");
  EXPECT_EQ(
      cells("resourcebindings.work.karmada.io", R"("status":{"conditions":[{"type":"Scheduled","status":"True"}]})"),
      R"(["x","True",null,"60m"])");
  EXPECT_EQ(cells("federatedresourcequotas.policy.karmada.io", R"("status":{"overall":{"cpu":"1"}})"),
            R"(["x","{\"cpu\":\"1\"}",null])");
}

}  // namespace
}  // namespace shiplog::api
