#include "events/state/policy.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "events/state/object.h"
#include "events/state/policy_identity.h"

namespace shiplog {
namespace {

bool holds(const LabelSelector::Requirement& requirement, std::optional<std::string_view> value) {
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
  };
  const std::string_view op = requirement.op;
  if (op == "In") return value && listed();
  if (op == "NotIn") return !value || !listed();
  if (op == "Exists") return value.has_value();
  return !value;  // DoesNotExist: label_selector_from lets nothing else through
}

bool well_formed(const LabelSelector::Requirement& requirement) {
  if (requirement.key.empty()) return false;
  if (requirement.op == "In" || requirement.op == "NotIn") return !requirement.values.empty();
  return (requirement.op == "Exists" || requirement.op == "DoesNotExist") && requirement.values.empty();
}

SelectorMatch match(const ResourceSelector& selector, const Value& object) {
  const Value& meta = object["metadata"];
  if (selector.api_version != object["apiVersion"].as_string() || selector.kind != object["kind"].as_string()) {
    return SelectorMatch::kNone;
  }
  if (!selector.ns.empty() && selector.ns != meta["namespace"].as_string()) return SelectorMatch::kNone;
  // A name makes the label selector void, even one that would not match.
  if (!selector.name.empty()) {
    return selector.name == meta["name"].as_string() ? SelectorMatch::kName : SelectorMatch::kNone;
  }
  if (!selector.labels) return SelectorMatch::kAll;
  return selector.labels->matches(meta["labels"]) ? SelectorMatch::kLabels : SelectorMatch::kNone;
}

}  // namespace

bool LabelSelector::matches(const Value& labels) const {
  return valid && std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& requirement) {
           const Value* value = labels.find(requirement.key);
           return holds(requirement, value == nullptr ? std::nullopt : std::optional{value->as_string()});
         });
}

bool LabelSelector::matches(const std::map<std::string, std::string>& labels) const {
  return valid && std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& requirement) {
           const auto value = labels.find(requirement.key);
           return holds(requirement,
                        value == labels.end() ? std::nullopt : std::optional<std::string_view>{value->second});
         });
}

LabelSelector label_selector_from(const Value& selector) {
  LabelSelector result;
  for (const auto& label : selector["matchLabels"].members()) {
    result.requirements.push_back({std::string{label.key()}, "In", {label.value.str()}});
  }
  for (const Value& expression : selector["matchExpressions"].items()) {
    LabelSelector::Requirement requirement{expression["key"].str(), expression["operator"].str(), {}};
    for (const Value& value : expression["values"].items()) requirement.values.push_back(value.str());
    result.valid = result.valid && well_formed(requirement);
    result.requirements.push_back(std::move(requirement));
  }
  return result;
}

std::vector<ResourceSelector> resource_selectors_from(const Value& list, const SharedText& policy_ns) {
  std::vector<ResourceSelector> selectors;
  for (const Value& item : list.items()) {
    ResourceSelector selector{SharedText::of(item["apiVersion"]), SharedText::of(item["kind"]),
                              SharedText::of(item["namespace"]), SharedText::of(item["name"]), std::nullopt};
    // The API fills this in, an older object may lack it.
    if (!policy_ns.empty() && selector.ns.empty()) selector.ns = policy_ns;
    if (item["labelSelector"].is_object()) selector.labels = label_selector_from(item["labelSelector"]);
    selectors.push_back(std::move(selector));
  }
  return selectors;
}

Policy policy_from(const Value& object) {
  const Value& meta = object["metadata"];
  const Value& spec = object["spec"];
  Policy policy;
  policy.ns = SharedText::of(meta["namespace"]);
  policy.name = SharedText::of(meta["name"]);
  policy.uid = SharedText::of(meta["uid"]);
  policy.permanent_id = SharedText::of(meta["labels"][policy_id_label(policy.cluster_scoped())]);
  policy.generation = meta["generation"].as_int();
  policy.priority = static_cast<int32_t>(spec["priority"].as_int());
  policy.spec = spec;
  policy.deleting = deleting(object);
  policy.selectors = resource_selectors_from(spec["resourceSelectors"], policy.ns);
  return policy;
}

SelectorMatch match(const Policy& policy, const Value& object) {
  if (!policy.cluster_scoped() && object["metadata"]["namespace"].as_string() != policy.ns) return SelectorMatch::kNone;
  return strongest_match(policy.selectors, object);
}

SelectorMatch strongest_match(const std::vector<ResourceSelector>& selectors, const Value& object) {
  SelectorMatch best = SelectorMatch::kNone;
  for (const ResourceSelector& selector : selectors) best = std::max(best, match(selector, object));
  return best;
}

}  // namespace shiplog
