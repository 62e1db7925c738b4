#include <algorithm>

#include "events/base/ascii.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/api/table/cells.h"

// Kinds that configure servers: storage, certificates, webhooks, APIServices, flow control. TBL-6.

namespace shiplog::api {
namespace {

void print_storage_class(const Value& object, UtcMillis now, TableRow& row) {
  const bool preferred = annotation_of(object, "storageclass.kubernetes.io/is-default-class") == "true" ||
                         annotation_of(object, "storageclass.beta.kubernetes.io/is-default-class") == "true";
  row.cells =
      Value::array({object["metadata"]["name"].str() + (preferred ? " (default)" : ""), object["provisioner"].str(),
                    object["reclaimPolicy"].as_string("Delete"), object["volumeBindingMode"].as_string("Immediate"),
                    object["allowVolumeExpansion"].as_bool(), age_of(object, now)});
}

void print_driver(const Value& driver, UtcMillis now, TableRow& row) {
  const Value& spec = driver["spec"];
  std::vector<std::string> modes, audiences;
  for (const Value& mode : spec["volumeLifecycleModes"].items()) modes.push_back(mode.str());
  for (const Value& request : spec["tokenRequests"].items()) audiences.push_back(request["audience"].str());
  row.cells = Value::array({driver["metadata"]["name"], spec["attachRequired"].as_bool(true),
                            spec["podInfoOnMount"].as_bool(), spec["storageCapacity"].as_bool(),
                            spec["tokenRequests"].size() == 0 ? "<unset>" : joined(audiences),
                            spec["requiresRepublish"].as_bool(), or_none(joined(modes)), age_of(driver, now)});
}

void print_driver_node(const Value& node, UtcMillis now, TableRow& row) {
  row.cells = Value::array({node["metadata"]["name"], node["spec"]["drivers"].size(), age_of(node, now)});
}

void print_capacity(const Value& capacity, UtcMillis, TableRow& row) {
  row.cells = Value::array(
      {capacity["metadata"]["name"], capacity["storageClassName"].str(), capacity["capacity"].as_string("<unset>")});
}

void print_attachment(const Value& attachment, UtcMillis now, TableRow& row) {
  const Value& spec = attachment["spec"];
  row.cells = Value::array({attachment["metadata"]["name"], spec["attacher"].str(),
                            spec["source"]["persistentVolumeName"].str(), spec["nodeName"].str(),
                            attachment["status"]["attached"].as_bool(), age_of(attachment, now)});
}

void print_signing_request(const Value& request, UtcMillis now, TableRow& row) {
  const Value& spec = request["spec"];
  std::string condition = "Pending";
  if (!condition_of(request, "Approved").is_null()) condition = "Approved";
  if (!condition_of(request, "Denied").is_null()) condition = "Denied";
  if (!condition_of(request, "Failed").is_null()) condition += ",Failed";
  if (!request["status"]["certificate"].is_empty()) condition += ",Issued";
  const Value& seconds = spec["expirationSeconds"];
  row.cells =
      Value::array({request["metadata"]["name"], age_of(request, now), spec["signerName"].str(), spec["username"].str(),
                    seconds.is_null() ? "<none>" : human_duration(Millis{seconds.as_int() * 1000}), condition});
}

void print_component(const Value& component, UtcMillis, TableRow& row) {
  const Value none = Value::object();
  const auto conditions = component["conditions"].items();
  const auto healthy =
      std::ranges::find_if(conditions, [](const Value& each) { return each["type"].as_string() == "Healthy"; });
  const Value& condition = healthy == conditions.end() ? none : *healthy;
  const std::string_view status = condition["status"].as_string();
  row.cells = Value::array({component["metadata"]["name"],
                            status.empty()     ? "Unknown"
                            : status == "True" ? "Healthy"
                                               : "Unhealthy",
                            condition["message"].str(), condition["error"].str()});
}

void print_webhooks(const Value& object, UtcMillis now, TableRow& row) {
  row.cells = Value::array({object["metadata"]["name"], object["webhooks"].size(), age_of(object, now)});
}

void print_admission_policy(const Value& object, UtcMillis now, TableRow& row) {
  const Value& kind = object["spec"]["paramKind"];
  const std::string param = kind.is_null() ? "<unset>" : kind["apiVersion"].str() + "/" + kind["kind"].str();
  row.cells =
      Value::array({object["metadata"]["name"], object["spec"]["validations"].size(), param, age_of(object, now)});
}

void print_mutating_policy(const Value& object, UtcMillis now, TableRow& row) {
  print_admission_policy(object, now, row);
  row.cells.edit_items()[1] = object["spec"]["mutations"].size();
}

void print_policy_binding(const Value& object, UtcMillis now, TableRow& row) {
  const Value& reference = object["spec"]["paramRef"];
  std::string param = "<unset>";
  if (!reference["selector"].is_null()) param = "selector";
  if (!reference["name"].is_empty()) {
    const std::string ns = reference["namespace"].str();
    param = ns.empty() ? reference["name"].str() : ns + "/" + reference["name"].str();
  }
  row.cells =
      Value::array({object["metadata"]["name"], object["spec"]["policyName"].str(), param, age_of(object, now)});
}

void print_resource_claim(const Value& object, UtcMillis now, TableRow& row) {
  const Value& status = object["status"];
  std::string state;
  const auto add = [&](const char* word) { state += (state.empty() ? "" : ",") + std::string{word}; };
  const bool deleted = !object["metadata"]["deletionTimestamp"].is_null();
  if (deleted) add("deleted");
  if (!status["allocation"].is_null()) {
    add("allocated");
    if (status["reservedFor"].size() > 0) add("reserved");
  } else if (!deleted) {
    add("pending");
  }
  row.cells = Value::array({object["metadata"]["name"], state, age_of(object, now)});
}

void print_resource_slice(const Value& object, UtcMillis now, TableRow& row) {
  const Value& spec = object["spec"];
  row.cells = Value::array({object["metadata"]["name"], spec["nodeName"].str(), spec["driver"].str(),
                            spec["pool"]["name"].str(), age_of(object, now)});
}

void print_service_cidr(const Value& object, UtcMillis now, TableRow& row) {
  std::string ranges;
  for (const Value& range : object["spec"]["cidrs"].items()) ranges += (ranges.empty() ? "" : ",") + range.str();
  row.cells = Value::array({object["metadata"]["name"], ranges, age_of(object, now)});
}

/// "services/default/kubernetes"; with a group "ingresses.networking.k8s.io/default/web".
void print_ip_address(const Value& object, UtcMillis, TableRow& row) {
  const Value& parent = object["spec"]["parentRef"];
  std::string text = "<none>";
  if (!parent.is_null()) {
    const std::string group = parent["group"].str();
    const std::string ns = parent["namespace"].str();
    text = lower_case(parent["resource"].str() + (group.empty() ? "" : "." + group));
    text += (ns.empty() ? "" : "/" + ns) + "/" + parent["name"].str();
  }
  row.cells = Value::array({object["metadata"]["name"], text});
}

void print_api_service(const Value& object, UtcMillis now, TableRow& row) {
  const Value& service = object["spec"]["service"];
  std::string available = "Unknown";
  if (const Value& condition = condition_of(object, "Available"); !condition.is_null()) {
    available = condition["status"].str();
    if (available != "True") available += " (" + condition["reason"].str() + ")";
  }
  row.cells = Value::array({object["metadata"]["name"],
                            service.is_null() ? "Local" : service["namespace"].str() + "/" + service["name"].str(),
                            available, age_of(object, now)});
}

void print_flow_schema(const Value& object, UtcMillis now, TableRow& row) {
  const Value& spec = object["spec"];
  const Value& dangling = condition_of(object, "Dangling");
  row.cells =
      Value::array({object["metadata"]["name"], spec["priorityLevelConfiguration"]["name"].str(),
                    spec["matchingPrecedence"].as_int(), or_none(spec["distinguisherMethod"]["type"].as_string()),
                    age_of(object, now), dangling.is_null() ? "?" : dangling["status"].str()});
}

void print_priority_level(const Value& object, UtcMillis now, TableRow& row) {
  const Value& spec = object["spec"];
  const Value& shares = spec[spec["limited"].is_null() ? "exempt" : "limited"]["nominalConcurrencyShares"];
  const Value& queuing = spec["limited"]["limitResponse"]["queuing"];
  const auto number = [](const Value& value) { return value.is_null() ? "<none>" : std::to_string(value.as_int()); };
  row.cells = Value::array({object["metadata"]["name"], spec["type"].str(), number(shares), number(queuing["queues"]),
                            number(queuing["handSize"]), number(queuing["queueLengthLimit"]), age_of(object, now)});
}

}  // namespace

const std::vector<Printer>& server_printers() {
  static const std::vector<Printer> kPrinters = {
      {"storageclasses.storage.k8s.io",
       {kName, {"Provisioner"}, {"ReclaimPolicy"}, {"VolumeBindingMode"}, {"AllowVolumeExpansion"}, kAge},
       print_storage_class},
      {"csidrivers.storage.k8s.io",
       {kName,
        {"AttachRequired", "boolean"},
        {"PodInfoOnMount", "boolean"},
        {"StorageCapacity", "boolean"},
        {"TokenRequests"},
        {"RequiresRepublish", "boolean"},
        {"Modes"},
        kAge},
       print_driver},
      {"componentstatuses", {kName, {"Status"}, {"Message"}, {"Error"}}, print_component},
      {"csinodes.storage.k8s.io", {kName, {"Drivers", "integer"}, kAge}, print_driver_node},
      {"csistoragecapacities.storage.k8s.io", {kName, {"StorageClassName"}, {"Capacity"}}, print_capacity},
      {"volumeattachments.storage.k8s.io",
       {kName, {"Attacher"}, {"PV"}, {"Node"}, {"Attached", "boolean"}, kAge},
       print_attachment},
      {"certificatesigningrequests.certificates.k8s.io",
       {kName, kAge, {"SignerName"}, {"Requestor"}, {"RequestedDuration"}, {"Condition"}},
       print_signing_request},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io",
       {kName, {"Webhooks", "integer"}, kAge},
       print_webhooks},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io",
       {kName, {"Webhooks", "integer"}, kAge},
       print_webhooks},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io",
       {kName, {"Mutations", "integer"}, {"ParamKind"}, kAge},
       print_mutating_policy},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
       {kName, {"PolicyName"}, {"ParamRef"}, kAge},
       print_policy_binding},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       {kName, {"Validations", "integer"}, {"ParamKind"}, kAge},
       print_admission_policy},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       {kName, {"PolicyName"}, {"ParamRef"}, kAge},
       print_policy_binding},
      {"resourceclaims.resource.k8s.io", {kName, {"State"}, kAge}, print_resource_claim},
      {"resourceslices.resource.k8s.io", {kName, {"Node"}, {"Driver"}, {"Pool"}, kAge}, print_resource_slice},
      {"servicecidrs.networking.k8s.io", {kName, {"CIDRs"}, kAge}, print_service_cidr},
      {"ipaddresses.networking.k8s.io", {kName, {"ParentRef"}}, print_ip_address},
      {"apiservices.apiregistration.k8s.io", {kName, {"Service"}, {"Available"}, kAge}, print_api_service},
      {"flowschemas.flowcontrol.apiserver.k8s.io",
       {kName, {"PriorityLevel"}, {"MatchingPrecedence", "integer"}, {"DistinguisherMethod"}, kAge, {"MissingPL"}},
       print_flow_schema},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       {kName, {"Type"}, {"NominalConcurrencyShares"}, {"Queues"}, {"HandSize"}, {"QueueLengthLimit"}, kAge},
       print_priority_level},
  };
  return kPrinters;
}

}  // namespace shiplog::api
