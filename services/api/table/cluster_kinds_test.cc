// What kubectl shows of the kinds around workloads (TBL-6).
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/table/table.h"

namespace shiplog::api {
namespace {

struct TableSample {
  const char* type;
  const char* columns;  ///< of every priority
  const char* members;
  const char* cells;
};

TEST(ClusterKindsTable, ShowsWhatKubectlShows) {
  const std::vector<TableSample> samples = {
      {"endpoints", "Name,Endpoints,Age",
       R"("subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"ports":[{"port":80},{"port":443}]}])",
       R"(["x","10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...","60m"])"},
      {"endpoints", "Name,Endpoints,Age", "", R"(["x","<none>","60m"])"},
      {"endpointslices.discovery.k8s.io", "Name,AddressType,Ports,Endpoints,Age",
       R"("addressType":"IPv4","ports":[{"port":80},{"name":"any"}],"endpoints":[{"addresses":["10.0.0.1"]}])",
       R"(["x","IPv4","80,any","10.0.0.1","60m"])"},
      {"endpointslices.discovery.k8s.io", "Name,AddressType,Ports,Endpoints,Age", R"("addressType":"IPv6")",
       R"(["x","IPv6","<unset>","<unset>","60m"])"},
      {"replicationcontrollers", "Name,Desired,Current,Ready,Age,Containers,Images,Selector",
       R"("spec":{"replicas":3,"selector":{"a":"b"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
          "status":{"replicas":2,"readyReplicas":1})",
       R"(["x",3,2,1,"60m","c","i","a=b"])"},
      {"podtemplates", "Name,Containers,Images,Pod Labels",
       R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}})",
       R"(["x","c","i","a=b"])"},
      {"horizontalpodautoscalers.autoscaling", "Name,Reference,Targets,MinPods,MaxPods,Replicas,Age",
       R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"},"minReplicas":1,"maxReplicas":5,"metrics":[
          {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},
          {"type":"External","external":{"target":{"averageValue":"30"}}},{"type":"Pods"}]},
          "status":{"currentReplicas":2,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{
          "averageUtilization":12}}}]})",
       R"(["x","Deployment/web","cpu: 12%/80%, <unknown>/30 (avg) + 1 more...","1","5","2","60m"])"},
      {"poddisruptionbudgets.policy", "Name,Min Available,Max Unavailable,Allowed Disruptions,Age",
       R"("spec":{"maxUnavailable":2},"status":{"disruptionsAllowed":1})", R"(["x","N/A","2",1,"60m"])"},
      {"ingressclasses.networking.k8s.io", "Name,Controller,Parameters,Age",
       R"("spec":{"controller":"a.io/c","parameters":{"apiGroup":"a.io","kind":"P","name":"p"}})",
       R"(["x","a.io/c","P.a.io/p","60m"])"},
      {"networkpolicies.networking.k8s.io", "Name,Pod-Selector,Age",
       R"("spec":{"podSelector":{"matchLabels":{"a":"b"}}})", R"(["x","a=b","60m"])"},
      {"storageclasses.storage.k8s.io", "Name,Provisioner,ReclaimPolicy,VolumeBindingMode,AllowVolumeExpansion,Age",
       R"("metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p",
          "reclaimPolicy":"Retain","volumeBindingMode":"Immediate","allowVolumeExpansion":true)",
       R"~(["x (default)","p","Retain","Immediate",true,"60m"])~"},
      {"csidrivers.storage.k8s.io",
       "Name,AttachRequired,PodInfoOnMount,StorageCapacity,TokenRequests,RequiresRepublish,Modes,Age",
       R"("spec":{"attachRequired":false,"volumeLifecycleModes":["Ephemeral"]})",
       R"(["x",false,false,false,"<unset>",false,"Ephemeral","60m"])"},
      {"componentstatuses", "Name,Status,Message,Error",
       R"("conditions":[{"type":"Healthy","status":"False","error":"gone"}])", R"(["x","Unhealthy","","gone"])"},
      {"componentstatuses", "Name,Status,Message,Error",
       R"("conditions":[{"type":"Healthy","status":"True","message":"ok"}])", R"(["x","Healthy","ok",""])"},
      {"componentstatuses", "Name,Status,Message,Error", "", R"(["x","Unknown","",""])"},
      {"csinodes.storage.k8s.io", "Name,Drivers,Age", R"("spec":{"drivers":[{"name":"a"},{"name":"b"}]})",
       R"(["x",2,"60m"])"},
      {"csistoragecapacities.storage.k8s.io", "Name,StorageClassName,Capacity",
       R"("storageClassName":"s","capacity":"1Gi")", R"(["x","s","1Gi"])"},
      {"csistoragecapacities.storage.k8s.io", "Name,StorageClassName,Capacity", R"("storageClassName":"s")",
       R"(["x","s","<unset>"])"},
      {"runtimeclasses.node.k8s.io", "Name,Handler,Age", R"("handler":"runc")", R"(["x","runc","60m"])"},
      {"volumeattachments.storage.k8s.io", "Name,Attacher,PV,Node,Attached,Age",
       R"("spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"p"}})",
       R"(["x","d","p","n",false,"60m"])"},
      {"volumeattributesclasses.storage.k8s.io", "Name,DriverName,Age", R"("driverName":"d.io")",
       R"(["x","d.io","60m"])"},
      {"servicecidrs.networking.k8s.io", "Name,CIDRs,Age", R"("spec":{"cidrs":["10.0.0.0/8","fd00::/64"]})",
       R"(["x","10.0.0.0/8,fd00::/64","60m"])"},
      {"ipaddresses.networking.k8s.io", "Name,ParentRef",
       R"("spec":{"parentRef":{"resource":"services","namespace":"default","name":"s"}})",
       R"(["x","services/default/s"])"},
      {"ipaddresses.networking.k8s.io", "Name,ParentRef",
       R"("spec":{"parentRef":{"group":"g.io","resource":"Gateways","name":"s"}})", R"(["x","gateways.g.io/s"])"},
      {"deviceclasses.resource.k8s.io", "Name,Age", "", R"(["x","60m"])"},
      {"resourceclaimtemplates.resource.k8s.io", "Name,Age", "", R"(["x","60m"])"},
      {"resourceclaims.resource.k8s.io", "Name,State,Age", "", R"(["x","pending","60m"])"},
      {"resourceclaims.resource.k8s.io", "Name,State,Age", R"("status":{"allocation":{},"reservedFor":[{"uid":"u"}]})",
       R"(["x","allocated,reserved","60m"])"},
      {"resourceslices.resource.k8s.io", "Name,Node,Driver,Pool,Age",
       R"("spec":{"nodeName":"n","driver":"d.io","pool":{"name":"p"}})", R"(["x","n","d.io","p","60m"])"},
      {"certificatesigningrequests.certificates.k8s.io", "Name,Age,SignerName,Requestor,RequestedDuration,Condition",
       R"("spec":{"signerName":"a.io/s","username":"u","expirationSeconds":86400},"status":{"conditions":[
          {"type":"Approved"}],"certificate":"Zg=="})",
       R"(["x","60m","a.io/s","u","24h","Approved,Issued"])"},
      {"certificatesigningrequests.certificates.k8s.io", "Name,Age,SignerName,Requestor,RequestedDuration,Condition",
       R"("status":{"conditions":[{"type":"Denied"}]})", R"(["x","60m","","","<none>","Denied"])"},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", "Name,Webhooks,Age", R"("webhooks":[{},{}])",
       R"(["x",2,"60m"])"},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", "Name,Mutations,ParamKind,Age",
       R"("spec":{"mutations":[{},{},{}]})", R"(["x",3,"<unset>","60m"])"},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", "Name,PolicyName,ParamRef,Age",
       R"("spec":{"policyName":"p","paramRef":{"selector":{}}})", R"(["x","p","selector","60m"])"},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", "Name,Validations,ParamKind,Age",
       R"("spec":{"validations":[{},{}],"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}})",
       R"(["x",2,"v1/ConfigMap","60m"])"},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io", "Name,PolicyName,ParamRef,Age",
       R"("spec":{"policyName":"p","paramRef":{"name":"n","namespace":"ns"}})", R"(["x","p","ns/n","60m"])"},
      {"apiservices.apiregistration.k8s.io", "Name,Service,Available,Age",
       R"("spec":{"service":{"namespace":"n","name":"s"}},"status":{"conditions":[{"type":"Available","status":"False",
          "reason":"Gone"}]})",
       R"~(["x","n/s","False (Gone)","60m"])~"},
      {"apiservices.apiregistration.k8s.io", "Name,Service,Available,Age", "", R"(["x","Local","Unknown","60m"])"},
      {"flowschemas.flowcontrol.apiserver.k8s.io",
       "Name,PriorityLevel,MatchingPrecedence,DistinguisherMethod,Age,MissingPL",
       R"("spec":{"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":9})",
       R"(["x","p",9,"<none>","60m","?"])"},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       "Name,Type,NominalConcurrencyShares,Queues,HandSize,QueueLengthLimit,Age",
       R"("spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"limitResponse":{"type":"Reject"}}})",
       R"(["x","Limited","30","<none>","<none>","<none>","60m"])"},
  };
  const UtcMillis now = parse_rfc3339("2026-01-02T00:00:00Z").value();
  for (const TableSample& sample : samples) {
    auto object = parse_json("{" + std::string{sample.members} + "}");
    ASSERT_TRUE(object.has_value()) << sample.type;
    object.value().edit("metadata").set("name", "x");
    object.value().edit("metadata").set("creationTimestamp", "2026-01-01T23:00:00Z");
    const Kind* kind = Kinds::compiled().find_type(sample.type);
    ASSERT_NE(kind, nullptr) << sample.type;
    const Value table = table_of(*kind, std::span{&object.value(), 1}, IncludeObject::kNone, now, "meta.k8s.io/v1");
    std::string columns;
    for (const Value& column : table["columnDefinitions"].items()) {
      columns += (columns.empty() ? "" : ",") + column["name"].str();
    }
    EXPECT_EQ(columns, sample.columns) << sample.type;
    EXPECT_EQ(to_json(table["rows"][0]["cells"]), sample.cells) << sample.type;
  }
}

}  // namespace
}  // namespace shiplog::api
