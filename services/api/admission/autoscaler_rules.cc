#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "events/kinds/canonical_quantity.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// HorizontalPodAutoscaler and Karmada's FederatedHPA, which has the same spec (KIND-11). Source:
// pkg/apis/autoscaling/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

/// More of a FederatedHPA are not measured: each is computed for each pod.
constexpr size_t kMostMetrics = 16;

/// A number becomes text, as upstream, where a webhook writes the typed object anew.
void write_quantities(Value& owner, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (auto canonical = canonical_quantity(owner[field])) owner.set(field, *std::move(canonical));
  }
}

/// The values of `metrics` that a metric should have.
void write_target_quantities(Value& metrics) {
  for (Value& metric : metrics.edit_items()) {
    for (const char* source : {"resource", "containerResource", "pods", "object", "external"}) {
      if (!metric[source]["target"].is_object()) continue;
      write_quantities(metric.edit(source).edit("target"), {"value", "averageValue"});
    }
  }
}

void fill_autoscaler(Value& object, const Write&) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  if (spec["minReplicas"].is_null()) spec.set("minReplicas", 1);
  if (spec["metrics"].size() == 0) {
    const Value target = Value::object({{"type", "Utilization"}, {"averageUtilization", 80}});
    const Value resource = Value::object({{"name", "cpu"}, {"target", target}});
    spec.set("metrics", Value::array({Value::object({{"type", "Resource"}, {"resource", resource}})}));
  }
  write_target_quantities(spec.edit("metrics"));
  if (!spec["behavior"].is_object()) return;
  const auto policy = [](const char* type, int value) {
    return Value::object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
  };
  Value& behavior = spec.edit("behavior");
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    const bool up = std::string_view{direction} == "scaleUp";
    Value& rules = behavior.edit(direction);
    if (!rules.is_object()) rules = Value::object();
    write_quantities(rules, {"tolerance"});
    if (rules["selectPolicy"].is_null()) rules.set("selectPolicy", "Max");
    if (up && rules["stabilizationWindowSeconds"].is_null()) rules.set("stabilizationWindowSeconds", 0);
    if (!rules["policies"].is_null()) continue;
    rules.set("policies",
              up ? Value::array({policy("Pods", 4), policy("Percent", 100)}) : Value::array({policy("Percent", 100)}));
  }
}

void check_behavior(const Value& rules, const std::string& field, Causes& causes) {
  if (rules.is_null()) return;
  const Value& window = rules["stabilizationWindowSeconds"];
  if (window.as_int() < 0 || window.as_int() > 3600) {
    causes.invalid(field + ".stabilizationWindowSeconds", window, "must be between 0 and 3600");
  }
  const std::string_view select = rules["selectPolicy"].as_string();
  if (select != "Max" && select != "Min" && select != "Disabled") {
    causes.not_supported(field + ".selectPolicy", rules["selectPolicy"], {"Disabled", "Max", "Min"});
  }
  if (rules["policies"].size() == 0) causes.required(field + ".policies", "must specify at least one Policy");
  for (size_t i = 0; i < rules["policies"].size(); ++i) {
    const Value& policy = rules["policies"][i];
    const std::string here = at(field + ".policies", i);
    if (policy["type"].as_string() != "Pods" && policy["type"].as_string() != "Percent") {
      causes.not_supported(here + ".type", policy["type"], {"Percent", "Pods"});
    }
    if (policy["value"].as_int() <= 0) causes.invalid(here + ".value", policy["value"], "must be greater than zero");
    const int64_t period = policy["periodSeconds"].as_int();
    if (period <= 0 || period > 1800) {
      causes.invalid(here + ".periodSeconds", policy["periodSeconds"], "must be greater than zero and at most 1800");
    }
  }
}

void check_tolerances(const Value& behavior, Causes& causes) {
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    const Value& tolerance = behavior[direction]["tolerance"];
    const auto quantity = quantity_in(tolerance);
    if (tolerance.is_null() || !quantity || !quantity.value().negative()) continue;
    causes.invalid(std::string{"spec.behavior."} + direction + ".tolerance", tolerance,
                   "must be greater than or equal to 0");
  }
}

/// The group of what is scaled or measured; `core`: it may be that of the core kinds.
void check_api_version(const Value& reference, bool core, const std::string& field, Causes& causes) {
  const Value& version = reference["apiVersion"];
  const std::string_view text = version.as_string();
  const auto slashes = std::ranges::count(text, '/');
  if (slashes > 1) {
    causes.invalid(field + ".apiVersion", version, "unexpected GroupVersion string: " + std::string{text});
  } else if (!core && (slashes == 0 || text.front() == '/')) {
    causes.invalid(field + ".apiVersion", Value{text}, "apiVersion must specify API group");
  }
}

/// How much of the metric there should be, in the one form that its type names.
void check_metric_target(const Value& target, const std::string& field, Causes& causes) {
  const std::string_view type = target["type"].as_string();
  if (type.empty()) return causes.required(field + ".type", "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    return causes.invalid(field + ".type", target["type"], "must be either Utilization, Value, or AverageValue");
  }
  const Value& utilization = target["averageUtilization"];
  if (!utilization.is_null() && utilization.as_int() < 1) {
    causes.invalid(field + ".averageUtilization", utilization, "must be greater than 0");
  }
  for (const char* amount : {"value", "averageValue"}) {
    if (target[amount].is_null()) continue;
    const auto quantity = quantity_in(target[amount]);
    if (quantity && (quantity.value().negative() || quantity.value().is_zero())) {
      causes.invalid(field + "." + amount, target[amount], "must be positive");
    }
  }
}

void check_source(std::string_view type, const Value& source, const std::string& field, Causes& causes) {
  check_metric_target(source["target"], field + ".target", causes);
  if (type == "Resource" || type == "ContainerResource") {
    if (source["name"].is_empty()) causes.required(field + ".name", "must specify a resource name");
    const Value& target = source["target"];
    if (target["averageUtilization"].is_null() && target["averageValue"].is_null()) {
      causes.required(field + ".target.averageUtilization",
                      "must set either a target raw value or a target utilization");
    } else if (!target["averageUtilization"].is_null() && !target["averageValue"].is_null()) {
      causes.forbidden(field + ".target.averageValue", "may not set both a target raw value and a target utilization");
    }
  } else if (const Value& name = source["metric"]["name"]; name.is_empty()) {
    causes.required(field + ".metric.name", "must specify a metric name");
  } else if (const auto problem = path_segment_problem(name.as_string())) {
    causes.invalid(field + ".metric.name", name, *problem);
  }
  if (type == "ContainerResource" && source["container"].is_empty()) {
    causes.required(field + ".container", "must specify a container");
  }
  if (type == "Object") check_kind_and_name(source["describedObject"], field + ".describedObject", causes);
}

void check_metric_type(const Value& type, const std::string& field, bool external, Causes& causes) {
  if (type.is_empty()) causes.required(field, "must specify a metric source type");
  if (external) {
    causes.not_supported(field, Value{type.as_string()},
                         {"ContainerResource", "External", "Object", "Pods", "Resource"});
  } else {
    causes.not_supported(field, Value{type.as_string()}, {"ContainerResource", "Object", "Pods", "Resource"});
  }
}

void check_metrics(const Value& metrics, bool external, Causes& causes) {
  static constexpr std::pair<std::string_view, const char*> kSources[] = {{"Object", "object"},
                                                                          {"Pods", "pods"},
                                                                          {"Resource", "resource"},
                                                                          {"ContainerResource", "containerResource"},
                                                                          {"External", "external"}};
  if (!external && metrics.size() > kMostMetrics) {
    return causes.too_many("spec.metrics", metrics.size(), kMostMetrics);
  }
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string field = at("spec.metrics", i);
    const std::string_view type = metrics[i]["type"].as_string();
    const auto* source =
        std::find_if(std::begin(kSources), std::end(kSources), [&](const auto& each) { return each.first == type; });
    if (source == std::end(kSources) || (type == "External" && !external)) {
      check_metric_type(metrics[i]["type"], field + ".type", external, causes);
    } else if (metrics[i][source->second].is_null()) {
      causes.required(field + "." + source->second, "must populate information for the given metric source");
    } else if (metrics[i].size() > 2) {
      causes.forbidden(field, "must populate the given metric source only");
    } else {
      check_source(type, metrics[i][source->second], field + "." + source->second, causes);
    }
  }
}

/// What the sources of metrics must state, which older builds did not demand.
void check_target_amounts(const Value& metrics, Causes& causes) {
  struct AmountDemand {
    const char* source;
    bool value;  // is one of the two that will do
    const char* detail;
  };
  static constexpr AmountDemand kDemands[] = {
      {"pods", false, "must specify a positive target averageValue"},
      {"object", true, "must set either a target value or averageValue"},
      {"external", true, "must set either a target value for metric or a per-pod target"},
  };
  for (size_t i = 0; i < metrics.size(); ++i) {
    for (const AmountDemand& demand : kDemands) {
      if (metrics[i][demand.source].is_null()) continue;
      const Value& target = metrics[i][demand.source]["target"];
      const std::string field = at("spec.metrics", i) + "." + demand.source + ".target";
      const bool stated = !target["averageValue"].is_null() || (demand.value && !target["value"].is_null());
      if (!stated) causes.required(field + ".averageValue", demand.detail);
    }
    const Value& external = metrics[i]["external"]["target"];
    if (external["value"].is_null() || external["averageValue"].is_null()) continue;
    causes.forbidden(at("spec.metrics", i) + ".external.target.value",
                     "may not set both a target value for metric and a per-pod target");
  }
}

/// What newer versions refuse besides: groups that no scale and no metric is found in.
void check_groups(const Value& spec, const Value& before, Causes& causes) {
  const Value& target = spec["scaleTargetRef"];
  const Value& old_target = before["scaleTargetRef"];
  const auto same = [&](const char* name) { return target[name].as_string() == old_target[name].as_string(); };
  if (before.is_null() || !same("apiVersion") || !same("kind")) {
    const bool core = target["kind"].as_string() == "ReplicationController";
    check_api_version(target, core, "spec.scaleTargetRef", causes);
  }
  const auto check_measured = [](const Value& metrics, Causes& found) {
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (metrics[i]["type"].as_string() != "Object" || metrics[i]["object"].is_null()) continue;
      const std::string field = at("spec.metrics", i) + ".object.describedObject";
      check_api_version(metrics[i]["object"]["describedObject"], true, field, found);
    }
  };
  check_new(spec["metrics"], before["metrics"], check_measured, causes);
}

/// A built-in one may scale to nothing where a feature gate allows it; a metric tells then when to begin again.
void check_bounds(const Value& spec, bool builtin, Causes& causes) {
  const Value& least = spec["minReplicas"];
  const Value& most = spec["maxReplicas"];
  if (least.as_int() < (builtin ? 0 : 1)) {
    causes.invalid("spec.minReplicas", least, "must be greater than or equal to 1");
  } else if (least.as_int() == 0) {
    const bool measured = std::ranges::any_of(spec["metrics"].items(), [](const Value& metric) {
      return metric["type"].as_string() == "Object" || metric["type"].as_string() == "External";
    });
    if (!measured) {
      causes.forbidden("spec.metrics",
                       "must specify at least one Object or External metric to support scaling to zero replicas");
    }
  }
  if (!builtin && most.as_int() < 1) {
    causes.invalid("spec.maxReplicas", most, "must be greater than 0");
  } else if (most.as_int() == 0) {
    causes.required("spec.maxReplicas", "must be set and greater than 0");
  } else if (most.as_int() < 0) {
    causes.invalid("spec.maxReplicas", most, "must be greater than or equal to 1");
  }
  if (most.as_int() < least.as_int()) {
    causes.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
  }
}

void check_autoscaler(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_kind_and_name(spec["scaleTargetRef"], "spec.scaleTargetRef", causes);
  check_bounds(spec, write.kind.builtin, causes);
  if (write.kind.builtin) check_groups(spec, old_of(write)["spec"], causes);
  check_metrics(spec["metrics"], write.kind.builtin, causes);
  check_new(spec["metrics"], old_of(write)["spec"]["metrics"], check_target_amounts, causes);
  check_behavior(spec["behavior"]["scaleUp"], "spec.behavior.scaleUp", causes);
  check_behavior(spec["behavior"]["scaleDown"], "spec.behavior.scaleDown", causes);
  check_new(spec["behavior"], old_of(write)["spec"]["behavior"], check_tolerances, causes);
}

void check_autoscaler_status(const Value& object, const Write& write, Causes& causes) {
  const auto check_counts = [](const Value& status, Causes& found) {
    check_not_negative(status, "status", {"currentReplicas", "desiredReplicas"}, found);
  };
  check_new(object["status"], old_of(write)["status"], check_counts, causes);
}

}  // namespace

const std::vector<Rules>& autoscaler_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "horizontalpodautoscalers.autoscaling",
       .fill = fill_autoscaler,
       .check = check_autoscaler,
       .check_status = check_autoscaler_status},
      {.type = "federatedhpas.autoscaling.karmada.io",
       .webhook = "federatedhpa.karmada.io",
       .fill = fill_autoscaler,
       .check = check_autoscaler},
  };
  return kRules;
}

}  // namespace shiplog::api
