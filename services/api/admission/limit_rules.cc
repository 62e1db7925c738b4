#include <algorithm>
#include <set>
#include <string>

#include "events/base/names.h"
#include "events/base/quantity.h"
#include "services/api/admission/resource_names.h"
#include "services/api/admission/rules.h"

// What the objects of a namespace may use: ResourceQuota and LimitRange. Source: CRU-9, CRU-10.

namespace shiplog::api {
namespace {

// --- ResourceQuota

bool is_quota_scope(std::string_view scope) {
  static constexpr std::string_view kScopes[] = {
      "Terminating",           "NotTerminating",           "BestEffort", "NotBestEffort", "PriorityClass",
      "VolumeAttributesClass", "CrossNamespacePodAffinity"};
  return std::ranges::find(kScopes, scope) != std::end(kScopes);
}

/// Whether a quota of only what is in `scope`, a known one, can limit the resource.
bool scope_has(std::string_view scope, std::string_view resource) {
  static constexpr std::string_view kCompute[] = {"cpu",           "memory",       "limits.cpu",
                                                  "limits.memory", "requests.cpu", "requests.memory"};
  if (scope == "VolumeAttributesClass") return resource == "persistentvolumeclaims" || resource == "requests.storage";
  if (resource == "pods") return true;
  return scope != "BestEffort" && std::ranges::find(kCompute, resource) != std::end(kCompute);
}

/// Reports at `field` with `shown` what is wrong with one of the scopes of a quota of `hard`.
void check_scope(std::string_view scope, const Value& hard, const std::string& field, const Value& shown,
                 Causes& causes) {
  for (const auto& limit : hard.members()) {
    if (!is_standard_quota_name(limit.key()) || scope_has(scope, limit.key())) continue;
    return causes.invalid(field, shown, "unsupported scope applied to resource");
  }
}

void check_opposites(const std::set<std::string_view>& scopes, const std::string& field, const Value& shown,
                     Causes& causes) {
  for (const auto& [one, other] : {std::pair{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}}) {
    if (scopes.contains(one) && scopes.contains(other)) causes.invalid(field, shown, "conflicting scopes");
  }
}

void check_scope_requirement(const Value& requirement, const std::string& field, Causes& causes) {
  const std::string_view scope = requirement["scopeName"].as_string();
  const std::string_view op = requirement["operator"].as_string();
  const Value& values = requirement["values"];
  if (!is_quota_scope(scope)) causes.invalid(field + ".scopeName", Value{scope}, "unsupported scope");
  if (is_quota_scope(scope) && scope != "PriorityClass" && scope != "VolumeAttributesClass" && op != "Exists") {
    causes.invalid(field + ".operator", Value{op},
                   "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                   "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                   "ResourceQuotaScopeCrossNamespacePodAffinity");
  }
  if (op == "In" || op == "NotIn") {
    if (values.size() > 0) return;
    causes.required(field + ".values",
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values.size() == 0) return;
    causes.invalid(field + ".values", values,
                   "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
  } else {
    causes.invalid(field + ".operator", Value{op}, "not a valid selector operator");
  }
}

void check_quota_spec(const Value& spec, Causes& causes) {
  check_quota_list(spec["hard"], "spec.hard", causes);
  std::set<std::string_view> scopes;
  for (const Value& scope : spec["scopes"].items()) {
    if (!scopes.insert(scope.as_string()).second) continue;
    if (is_quota_scope(scope.as_string())) {
      check_scope(scope.as_string(), spec["hard"], "spec.scopes", spec["scopes"], causes);
    } else {
      causes.invalid("spec.scopes", spec["scopes"], "unsupported scope");
    }
  }
  check_opposites(scopes, "spec.scopes", spec["scopes"], causes);
  const Value& selector = spec["scopeSelector"];
  const std::string field = "spec.scopeSelector.matchExpressions";
  scopes.clear();
  for (const Value& requirement : selector["matchExpressions"].items()) {
    check_scope_requirement(requirement, field, causes);
    const std::string_view scope = requirement["scopeName"].as_string();
    if (scopes.insert(scope).second && is_quota_scope(scope)) {
      check_scope(scope, spec["hard"], field, selector, causes);
    }
  }
  check_opposites(scopes, field, spec["scopes"], causes);
}

void check_resource_quota(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_new(spec, old_of(write)["spec"], check_quota_spec, causes);
  if (write.old == nullptr) return;
  const auto scopes_of = [](const Value& each) {
    std::set<std::string_view> scopes;
    for (const Value& scope : each["scopes"].items()) scopes.insert(scope.as_string());
    return scopes;
  };
  if (scopes_of(spec) != scopes_of(old_of(write)["spec"])) {
    causes.invalid("spec.scopes", spec["scopes"], "field is immutable");
  }
}

void check_quota_status(const Value& object, const Write& write, Causes& causes) {
  const auto check = [](const Value& status, Causes& found) {
    check_quota_list(status["hard"], "status.hard", found);
    check_quota_list(status["used"], "status.used", found);
  };
  check_new(object["status"], old_of(write)["status"], check, causes);
}

// --- LimitRange

/// What an item for containers leaves out: a limit is at most `max`, a request is the limit, or at least `min`.
void fill_limit_range(Value& object, const Write&) {
  if (object["spec"]["limits"].size() == 0) return;
  for (Value& item : object.edit("spec").edit("limits").edit_items()) {
    if (item["type"].as_string() != "Container") continue;
    for (const auto& [to, from] :
         {std::pair{"default", "max"}, {"defaultRequest", "default"}, {"defaultRequest", "min"}}) {
      const Value source = item[from];
      for (const auto& amount : source.members()) {
        if (!item[to].contains(amount.key())) item.edit(to).set(amount.key(), amount.value);
      }
    }
  }
}

/// Two amounts of one resource in an item of a LimitRange, the first of which must not exceed the second. `about`: the
/// one that is reported; `shown`: whose value.
struct LimitOrder {
  const char* lower;
  const char* upper;
  const char* about;
  const char* shown;
  const char* lower_words;
  const char* upper_words;
};

constexpr LimitOrder kLimitOrders[] = {
    {"min", "max", "min", "min", "min value ", "max value "},
    {"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value ", "default request value "},
    {"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value ", "max value "},
    {"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value ", "default limit value "},
    {"min", "default", "default", "min", "min value ", "default value "},
    {"default", "max", "default", "max", "default value ", "max value "},
};

void check_limits(const Value& item, const std::string& field, Causes& causes) {
  for (const LimitOrder& order : kLimitOrders) {
    for (const auto& lower : item[order.lower].members()) {
      const Value& upper = item[order.upper][lower.key()];
      const auto least = parse_quantity(lower.value.as_string());
      const auto most = parse_quantity(upper.as_string());
      if (!least || !most || least.value() <= most.value()) continue;
      const std::string key{lower.key()};
      causes.invalid(field + "." + order.about + "[" + key + "]", item[order.shown][key],
                     order.lower_words + lower.value.str() + " is greater than " + order.upper_words + upper.str());
    }
  }
}

/// maxLimitRequestRatio: by how much a limit may exceed the request.
void check_ratios(const Value& item, const std::string& field, Causes& causes) {
  for (const auto& entry : item["maxLimitRequestRatio"].members()) {
    const std::string here = field + ".maxLimitRequestRatio[" + std::string{entry.key()} + "]";
    const auto ratio = parse_quantity(entry.value.as_string());
    if (!ratio) continue;
    const std::string words = "ratio " + entry.value.str() + " is ";
    if (ratio.value() < Quantity::from_units(1)) causes.invalid(here, entry.value, words + "less than 1");
    const auto least = parse_quantity(item["min"][entry.key()].as_string());
    const auto most = parse_quantity(item["max"][entry.key()].as_string());
    if (!least || !most) continue;
    const double limit =
        static_cast<double>(most.value().whole_milli()) / static_cast<double>(least.value().whole_milli());
    // Of 0 and 0 there is no quotient, which nothing is greater than.
    if (!(static_cast<double>(ratio.value().whole_milli()) / 1000 > limit)) continue;
    causes.invalid(here, entry.value, words + "greater than max/min = " + std::to_string(limit));
  }
}

/// Whichever way they are written; what is no quantity is reported elsewhere.
bool same_amount(const Value& one, const Value& other) {
  const auto first = parse_quantity(one.as_string());
  const auto second = parse_quantity(other.as_string());
  return !first || !second || first.value() == second.value();
}

/// Of resources that cannot be overcommitted, the request is the limit.
void check_equal_defaults(const Value& item, const std::string& field, Causes& causes) {
  for (const auto& request : item["defaultRequest"].members()) {
    const std::string key{request.key()};
    const Value& limit = item["default"][key];
    if (limit.is_null() || can_be_overcommitted(key) || same_amount(limit, request.value)) continue;
    causes.invalid(
        field + ".defaultRequest[" + key + "]", request.value,
        "default value " + limit.str() + " must equal to defaultRequest value " + request.value.str() + " in " + key);
  }
}

void check_limit_type(const Value& type, const std::string& field, Causes& causes) {
  const std::string_view text = type.as_string();
  if (const auto problem = qualified_name_problem(text)) {
    causes.invalid(field, Value{text}, *problem);
  } else if (text.find('/') == std::string_view::npos && text != "Pod" && text != "Container" &&
             text != "PersistentVolumeClaim") {
    causes.invalid(field, Value{text}, "must be a standard limit type or fully qualified");
  }
}

void check_limit_item(const Value& item, const std::string& field, Causes& causes) {
  const std::string_view type = item["type"].as_string();
  const bool of_pods = type == "Pod" || type == "Container";
  for (const char* name : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
    if (type == "Pod" && std::string_view{name}.starts_with("default")) {
      if (item[name].size() > 0) causes.forbidden(field + "." + name, "may not be specified when `type` is 'Pod'");
      continue;
    }
    for (const auto& amount : item[name].members()) {
      const std::string here = field + "." + name + "[" + std::string{amount.key()} + "]";
      (of_pods ? check_container_resource_name : check_resource_name)(amount.key(), here, causes);
    }
  }
  if (type == "PersistentVolumeClaim" && item["min"]["storage"].is_null() && item["max"]["storage"].is_null()) {
    causes.required(field + ".limits", "either minimum or maximum storage value is required, but neither was provided");
  }
  check_limits(item, field, causes);
  check_ratios(item, field, causes);
  check_equal_defaults(item, field, causes);
}

void check_limit_items(const Value& spec, Causes& causes) {
  std::set<std::string_view> types;
  for (size_t i = 0; i < spec["limits"].size(); ++i) {
    const Value& item = spec["limits"][i];
    const std::string field = at("spec.limits", i);
    check_limit_type(item["type"], field + ".type", causes);
    if (!types.insert(item["type"].as_string()).second) causes.duplicate(field + ".type", item["type"]);
    check_limit_item(item, field, causes);
  }
}

void check_limit_range(const Value& object, const Write& write, Causes& causes) {
  Value before = old_of(write);
  if (write.old != nullptr) fill_limit_range(before, write);  // an older build stored it without
  check_new(object["spec"], before["spec"], check_limit_items, causes);
}

}  // namespace

const std::vector<Rules>& limit_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "limitranges", .fill = fill_limit_range, .check = check_limit_range},
      {.type = "resourcequotas", .check = check_resource_quota, .check_status = check_quota_status},
  };
  return kRules;
}

}  // namespace shiplog::api
