#include "events/state/state_preservation.h"

#include <algorithm>
#include <array>

#include "events/base/json_path.h"
#include "events/base/utf8.h"
#include "events/state/state.h"

namespace shiplog {
namespace {

/// More rules than this are no state, but work for the control plane.
constexpr size_t kMostRules = 32;
constexpr size_t kLongestLabelValue = 63;
constexpr size_t kLongestQuote = 100;

const Value& reported_status(const Value& binding, std::string_view cluster) {
  static const Value kNone;
  for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
    if (item["clusterName"].as_string() == cluster) return item["status"];
  }
  return kNone;
}

Error failed_rule(const Value& rule, size_t index, const Error& why) {
  return {ErrorCode::kInvalid, "statePreservation.rules[" + std::to_string(index) + "] (label " +
                                   printable(rule["aliasLabelName"].str(), kLongestQuote) + "): " + why.message};
}

Result<std::string> value_of_rule(const Value& rule, const Value& status) {
  if (is_control_plane_label(rule["aliasLabelName"].as_string())) {
    return Error{ErrorCode::kInvalid, "this label belongs to the control plane"};
  }
  SHIPLOG_TRY(const auto path, JsonPathTemplate::parse(rule["jsonPath"].as_string()));
  SHIPLOG_TRY(std::string value, path.evaluate(status));
  if (const auto problem = wrong_label_value(value)) {
    return Error{ErrorCode::kInvalid,
                 "\"" + printable(value, kLongestQuote) + "\", from the status, is no label value: " + *problem};
  }
  return value;
}

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// The clusters that the binding's object is meant for, those that other bindings require included.
bool only_target(const Value& spec, std::string_view cluster) {
  bool there = false;
  const auto alone = [&](const Value& clusters) {
    return std::ranges::all_of(clusters.items(), [&](const Value& target) {
      there = there || target["name"].as_string() == cluster;
      return target["name"].as_string() == cluster;
    });
  };
  if (!alone(spec["clusters"])) return false;
  const auto required = spec["requiredBy"].items();
  return std::ranges::all_of(required, [&](const Value& by) { return alone(by["clusters"]); }) && there;
}

}  // namespace

Result<Value> preserved_labels(bool gate, const Value& binding, const std::string& cluster, const Value& behavior) {
  const auto rules = behavior["statePreservation"]["rules"].items();
  if (rules.empty() || !gate) return Value{};
  if (Value kept = labels_to_inject(gate, binding["spec"], cluster); !kept.is_null()) return kept;
  if (rules.size() > kMostRules) {
    return Error{ErrorCode::kInvalid, "statePreservation has " + std::to_string(rules.size()) +
                                          " rules, the limit is " + std::to_string(kMostRules)};
  }
  const Value& status = reported_status(binding, cluster);
  if (status.is_empty()) {
    return Error{ErrorCode::kUnavailable,
                 "the application status has not yet been collected from Cluster(" + cluster + ")"};
  }
  Value labels = Value::object();
  for (size_t i = 0; i < rules.size(); ++i) {
    auto value = value_of_rule(rules[i], status);
    if (!value) return failed_rule(rules[i], i, value.error());
    labels.set(rules[i]["aliasLabelName"].as_string(), std::move(value).value());
  }
  return labels;
}

bool preserve_state(const State& state, const Value& binding, std::string_view kind_of_failover, EvictionStarted& event,
                    std::optional<Error>& failed) {
  auto labels = preserved_labels(state.gates().stateful_failover, binding, event.cluster,
                                 binding["spec"]["failover"][kind_of_failover]);
  if (labels) {
    event.preserved_labels = std::move(labels).value();
    return true;
  }
  if (!failed) {
    failed = Error{labels.error().code, "Evict from cluster " + event.cluster + " failed: spec.failover." +
                                            std::string{kind_of_failover} + ": " + labels.error().message};
  }
  return false;
}

Value labels_to_inject(bool gate, const Value& binding_spec, std::string_view cluster) {
  const auto tasks = binding_spec["gracefulEvictionTasks"].items();
  if (tasks.empty() || !gate) return {};
  const Value& last = tasks.back();
  const auto before = last["clustersBeforeFailover"].items();
  const bool moved_to = std::ranges::none_of(before, [&](const Value& name) { return name.as_string() == cluster; });
  const bool injects = last["purgeMode"].as_string() == "Directly" && last["preservedLabelState"].size() > 0 &&
                       moved_to && only_target(binding_spec, cluster);
  return injects ? last["preservedLabelState"] : Value{};
}

bool is_control_plane_label(std::string_view name) {
  constexpr std::array<std::string_view, 10> kDomains = {"shiplog.io",
                                                         "work.karmada.io",
                                                         "propagationpolicy.karmada.io",
                                                         "policy.karmada.io",
                                                         "namespace.karmada.io",
                                                         "clusterpropagationpolicy.karmada.io",
                                                         "cluster.karmada.io",
                                                         "apps.karmada.io",
                                                         "clusterresourcebinding.karmada.io",
                                                         "resourcetemplate.karmada.io"};
  constexpr std::array<std::string_view, 4> kNames = {"karmada.io/managed", "karmada.io/system",
                                                      "resourcebinding.karmada.io/permanent-id",
                                                      "endpointslice.karmada.io/managed-by"};
  const std::string_view domain = name.substr(0, name.find('/'));
  return domain.ends_with(".shiplog.io") || std::ranges::find(kDomains, domain) != kDomains.end() ||
         std::ranges::find(kNames, name) != kNames.end();
}

std::optional<std::string> wrong_label_value(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value.size() > kLongestLabelValue) return "must be no more than 63 characters";
  const bool ends = alphanumeric(value.front()) && alphanumeric(value.back());
  const bool inside =
      std::ranges::all_of(value, [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  if (ends && inside) return std::nullopt;
  return "it must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
         "character";
}

}  // namespace shiplog
