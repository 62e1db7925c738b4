#include <algorithm>
#include <set>

#include "events/state/condition.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// Kinds that configure an API server: webhooks, APIServices, flow control. Source: KIND-1.

namespace shiplog::api {

namespace {

/// A resource that another one of the list includes. As upstream, whose check depends on the order.
void check_rule_resources(const Value& resources, const std::string& field, Causes& causes) {
  std::set<std::string> with_all_subresources;
  std::set<std::string> of_all_resources;
  bool everything = false;
  bool all = false;
  bool single = false;
  for (size_t i = 0; i < resources.size(); ++i) {
    const std::string each = resources[i].str();
    const size_t slash = each.find('/');
    everything = everything || each == "*/*";
    all = all || each == "*";
    if (slash == std::string::npos) {
      if (!each.empty()) single = each != "*";
      continue;
    }
    const std::string resource = each.substr(0, slash);
    const std::string subresource = each.substr(slash + 1);
    if (with_all_subresources.contains(resource)) {
      causes.invalid(at(field, i), resources[i], "if '" + resource + "/*' is present, must not specify " + each);
    }
    if (of_all_resources.contains(subresource)) {
      causes.invalid(at(field, i), resources[i], "if '*/" + subresource + "' is present, must not specify " + each);
    }
    if (subresource == "*") with_all_subresources.insert(resource);
    if (resource == "*") of_all_resources.insert(subresource);
  }
  if (everything && resources.size() > 1) {
    causes.invalid(field, resources, "if '*/*' is present, must not specify other resources");
  }
  if (all && single) {
    causes.invalid(field, resources, "if '*' is present, must not specify other resources without subresources");
  }
}

}  // namespace

void check_hook_rule(const Value& rule, const std::string& field, Causes& causes) {
  static constexpr std::pair<const char*, const char*> kLists[] = {
      {"operations", "operations"}, {"apiGroups", "API groups"}, {"apiVersions", "API versions"}, {"resources", ""}};
  for (const auto& [list, in_words] : kLists) {
    const Value& items = rule[list];
    const bool everything = std::any_of(items.items().begin(), items.items().end(),
                                        [](const Value& item) { return item.as_string() == "*"; });
    if (items.size() == 0) {
      causes.required(field + "." + list);
    } else if (everything && items.size() > 1 && std::string_view{list} != "resources") {
      causes.invalid(field + "." + list, items, std::string{"if '*' is present, must not specify other "} + in_words);
    }
    for (size_t i = 0; i < items.size(); ++i) {
      if (std::string_view{list} != "apiGroups") check_filled(items[i], at(field + "." + list, i), causes);
    }
  }
  check_rule_resources(rule["resources"], field + ".resources", causes);
  for (size_t i = 0; i < rule["operations"].size(); ++i) {
    check_one_of(rule["operations"][i], at(field + ".operations", i), {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"},
                 causes);
  }
  check_one_of(rule["scope"], field + ".scope", {"*", "Cluster", "Namespaced"}, causes);
}

namespace {

// --- ValidatingWebhookConfiguration, MutatingWebhookConfiguration

/// Whether a webhook of the stored object has the same there: earlier builds accepted more.
bool had_before(const Write& write, const Value& hook, const char* field) {
  if (write.old == nullptr) return false;
  const auto before = (*write.old)["webhooks"].items();
  return std::any_of(before.begin(), before.end(), [&](const Value& each) { return each[field] == hook[field]; });
}

void check_webhooks(const Value& object, const Write& write, Causes& causes) {
  constexpr std::ptrdiff_t kLeastDots = 2;
  std::set<std::string> names;
  for (size_t i = 0; i < object["webhooks"].size(); ++i) {
    const Value& hook = object["webhooks"][i];
    const std::string field = at("webhooks", i);
    const std::string name = hook["name"].str();
    if (name.empty()) {
      causes.required(field + ".name");
    } else if (const auto problem = subdomain_problem(name)) {
      causes.invalid(field + ".name", hook["name"], *problem);
    } else if (std::count(name.begin(), name.end(), '.') < kLeastDots) {
      causes.invalid(field + ".name", hook["name"],
                     "should be a domain with at least three segments separated by dots");
    } else if (!names.insert(name).second) {
      causes.duplicate(field + ".name", hook["name"]);
    }
    check_webhook_client(hook["clientConfig"], field + ".clientConfig", causes);
    const bool new_rules = !had_before(write, hook, "rules");
    for (size_t j = 0; j < hook["rules"].size() && new_rules; ++j) {
      check_hook_rule(hook["rules"][j], at(field + ".rules", j), causes);
    }
    check_one_of(hook["failurePolicy"], field + ".failurePolicy", {"Fail", "Ignore"}, causes);
    check_one_of(hook["matchPolicy"], field + ".matchPolicy", {"Equivalent", "Exact"}, causes);
    check_one_of(hook["sideEffects"], field + ".sideEffects", {"None", "NoneOnDryRun"}, causes);
    if (write.kind.kind == "MutatingWebhookConfiguration") {
      check_one_of(hook["reinvocationPolicy"], field + ".reinvocationPolicy", {"IfNeeded", "Never"}, causes);
    }
    check_range(hook["timeoutSeconds"], field + ".timeoutSeconds", 1, 30,
                "the timeout value must be between 1 and 30 seconds", causes);
    check_selector(hook["namespaceSelector"], field + ".namespaceSelector", causes);
    check_selector(hook["objectSelector"], field + ".objectSelector", causes);
    const Value& before = write.old == nullptr ? Value{} : (*write.old)["webhooks"][i]["matchConditions"];
    check_match_conditions(hook["matchConditions"], before, field + ".matchConditions", false, causes);
    const Value& versions = hook["admissionReviewVersions"];
    if (versions.size() == 0) {
      causes.required(field + ".admissionReviewVersions", "must specify one of v1, v1beta1");
    } else if (!had_before(write, hook, "admissionReviewVersions")) {
      check_review_versions(versions, field + ".admissionReviewVersions", causes);
    }
  }
}

// --- APIService

/// Who reads the status learns whether requests for the group get anywhere. Of another server it has to be observed.
void fill_api_service(Value& object, const Write& write) {
  if (!object["spec"]["service"].is_null()) {
    const bool was_remote = write.old != nullptr && !(*write.old)["spec"]["service"].is_null();
    object.set("status", Value::object());
    if (!was_remote) return;
    if (const Value* observed = write.old->find("status")) {
      object.set("status", *observed);
    } else {
      object.erase("status");
    }
    return;
  }
  Value available = Value::object({{"type", "Available"},
                                   {"status", "True"},
                                   {"lastTransitionTime", rfc3339(write.now)},
                                   {"reason", "Local"},
                                   {"message", "Local APIServices are always available"}});
  if (write.old != nullptr) {
    const Value& before = condition_of(*write.old, "Available");
    if (before["status"] == available["status"]) available.set("lastTransitionTime", before["lastTransitionTime"]);
  }
  object.set("status", Value::object({{"conditions", Value::array({std::move(available)})}}));
}

void check_api_service(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& name = object["metadata"]["name"];
  const std::string wanted = spec["version"].str() + "." + spec["group"].str();
  // The core group has no name: its APIService is "v1.".
  if (name.as_string() != wanted) {
    causes.invalid("metadata.name", name, "must be `spec.version+\".\"+spec.group`: \"" + wanted + "\"");
  }
  if (const auto problem = label_problem(spec["version"].as_string())) {
    causes.invalid("spec.version", spec["version"], *problem);
  }
  if (!spec["group"].is_empty()) {
    if (const auto problem = subdomain_problem(spec["group"].as_string())) {
      causes.invalid("spec.group", spec["group"], *problem);
    }
  }
  const auto positive = [&](const char* field, int64_t most) {
    const Value number{spec[field].as_int()};
    check_range(number, std::string{"spec."} + field, 1, most, "must be positive and less than " + std::to_string(most),
                causes);
  };
  positive("groupPriorityMinimum", 20000);
  positive("versionPriority", 1000);
  const bool trusted = !spec["caBundle"].is_empty();
  const bool insecure = spec["insecureSkipTLSVerify"].as_bool();
  if (spec["service"].is_null()) {
    if (trusted) causes.invalid("spec.caBundle", spec["caBundle"], "local APIServices may not have a caBundle");
    if (insecure) {
      causes.invalid("spec.insecureSkipTLSVerify", Value{true}, "local APIServices may not have insecureSkipTLSVerify");
    }
    return;
  }
  check_filled(spec["service"]["namespace"], "spec.service.namespace", causes);
  check_filled(spec["service"]["name"], "spec.service.name", causes);
  check_port(spec["service"]["port"], "spec.service.port", causes);
  if (trusted && insecure) {
    causes.invalid("spec.insecureSkipTLSVerify", Value{true}, "may not be true if caBundle is present");
  }
}

// --- FlowSchema

void check_flow_subject(const Value& subject, const std::string& field, Causes& causes) {
  static constexpr std::pair<std::string_view, const char*> kMembers[] = {
      {"User", "user"}, {"Group", "group"}, {"ServiceAccount", "serviceAccount"}};
  check_one_of(subject["kind"], field + ".kind", {"Group", "ServiceAccount", "User"}, causes);
  for (const auto& [kind, member] : kMembers) {
    const Value& named = subject[member];
    const std::string here = field + "." + member;
    if (subject["kind"].as_string() != kind) {
      if (!named.is_null()) causes.forbidden(here, "subject's kind is another one");
    } else if (named.is_null()) {
      causes.required(here, "is required when subject kind is '" + std::string{kind} + "'");
    } else {
      check_filled(named["name"], here + ".name", causes);
      if (kind == "ServiceAccount") check_filled(named["namespace"], here + ".namespace", causes);
    }
  }
}

void check_flow_rule(const Value& rule, const std::string& field, Causes& causes) {
  const Value& subjects = rule["subjects"];
  if (subjects.size() == 0) causes.required(field + ".subjects", "subjects must contain at least one value");
  for (size_t i = 0; i < subjects.size(); ++i) check_flow_subject(subjects[i], at(field + ".subjects", i), causes);
  if (rule["resourceRules"].size() + rule["nonResourceRules"].size() == 0) {
    causes.required(field, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  const auto check_lists = [&](const char* rules, std::initializer_list<const char*> lists) {
    for (size_t i = 0; i < rule[rules].size(); ++i) {
      for (const char* list : lists) {
        if (rule[rules][i][list].size() == 0) causes.required(at(field + "." + rules, i) + "." + list);
      }
    }
  };
  check_lists("resourceRules", {"verbs", "apiGroups", "resources"});
  check_lists("nonResourceRules", {"verbs", "nonResourceURLs"});
  for (size_t i = 0; i < rule["resourceRules"].size(); ++i) {
    const Value& resources = rule["resourceRules"][i];
    if (resources["namespaces"].size() == 0 && !resources["clusterScope"].as_bool()) {
      causes.required(at(field + ".resourceRules", i) + ".namespaces",
                      "resource rules that are not cluster scoped must supply at least one namespace");
    }
  }
}

void check_flow_schema(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& level = spec["priorityLevelConfiguration"]["name"];
  check_filled(level, "spec.priorityLevelConfiguration.name", causes, "must reference a priority level");
  check_range(spec["matchingPrecedence"], "spec.matchingPrecedence", 1, 10000,
              "must be a value between 1 and 10000, inclusive", causes);
  if (const Value& method = spec["distinguisherMethod"]; !method.is_null()) {
    check_one_of(method["type"], "spec.distinguisherMethod.type", {"ByNamespace", "ByUser"}, causes);
  }
  for (size_t i = 0; i < spec["rules"].size(); ++i) check_flow_rule(spec["rules"][i], at("spec.rules", i), causes);
}

// --- PriorityLevelConfiguration

void check_queuing(const Value& queuing, Causes& causes) {
  const std::string field = "spec.limited.limitResponse.queuing";
  for (const char* name : {"queues", "handSize", "queueLengthLimit"}) {
    check_range(queuing[name], field + "." + name, 1, INT32_MAX, "must be positive", causes);
  }
  if (queuing["handSize"].as_int() > queuing["queues"].as_int()) {
    causes.invalid(field + ".handSize", queuing["handSize"],
                   "should not be greater than queues (" + std::to_string(queuing["queues"].as_int()) + ")");
  }
}

void check_priority_level(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const std::string_view type = spec["type"].as_string();
  const bool exempt = object["metadata"]["name"].as_string() == "exempt";
  if (write.old == nullptr && exempt != (type == "Exempt")) {
    causes.invalid("spec.type", Value{type}, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  check_one_of(spec["type"], "spec.type", {"Exempt", "Limited"}, causes);
  for (const char* kind : {"limited", "exempt"}) {
    const std::string field = std::string{"spec."} + kind;
    check_range(spec[kind]["nominalConcurrencyShares"], field + ".nominalConcurrencyShares", 0, INT32_MAX,
                "must be a non-negative integer", causes);
    check_range(spec[kind]["lendablePercent"], field + ".lendablePercent", 0, 100,
                "must be between 0 and 100, inclusive", causes);
  }
  const Value& limited = spec["limited"];
  if (type == "Exempt" && !limited.is_null())
    causes.forbidden("spec.limited", "must be nil if the type is not Limited");
  if (type == "Limited" && !spec["exempt"].is_null()) {
    causes.forbidden("spec.exempt", "must be nil if the type is Limited");
  }
  if (type != "Limited") return;
  if (limited.is_null()) return causes.required("spec.limited", "must not be empty when type is Limited");
  const Value& response = limited["limitResponse"];
  check_one_of(response["type"], "spec.limited.limitResponse.type", {"Queue", "Reject"}, causes);
  const Value& queuing = response["queuing"];
  if (response["type"].as_string() == "Reject" && !queuing.is_null()) {
    causes.forbidden("spec.limited.limitResponse.queuing", "must be nil if limited.limitResponse.type is not Limited");
  } else if (response["type"].as_string() == "Queue") {
    if (queuing.is_null()) {
      causes.required("spec.limited.limitResponse.queuing",
                      "must not be empty if limited.limitResponse.type is Limited");
    } else {
      check_queuing(queuing, causes);
    }
  }
}

}  // namespace

const std::vector<Rules>& server_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "validatingwebhookconfigurations.admissionregistration.k8s.io", .check = check_webhooks},
      {.type = "mutatingwebhookconfigurations.admissionregistration.k8s.io", .check = check_webhooks},
      {.type = "apiservices.apiregistration.k8s.io",
       .owns_status = true,
       .fill = fill_api_service,
       .check = check_api_service},
      {.type = "flowschemas.flowcontrol.apiserver.k8s.io", .check = check_flow_schema},
      {.type = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", .check = check_priority_level},
  };
  return kRules;
}

}  // namespace shiplog::api
