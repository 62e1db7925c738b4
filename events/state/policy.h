#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "events/base/shared_text.h"
#include "events/base/value.h"

namespace shiplog {

/// A metav1.LabelSelector, ready to match. Source: apimachinery labels: requirements are all to hold.
struct LabelSelector {
  struct Requirement {
    std::string key;
    std::string op;  ///< In, NotIn, Exists, DoesNotExist
    std::vector<std::string> values;
    bool operator==(const Requirement&) const = default;
  };
  std::vector<Requirement> requirements;  ///< matchLabels become In with one value
  bool valid = true;                      ///< false: an operator or its values are not allowed; matches nothing

  /// `labels` is a JSON object of strings, or null.
  bool matches(const Value& labels) const;
  bool matches(const std::map<std::string, std::string>& labels) const;
  bool operator==(const LabelSelector&) const = default;
};

/// Reads {matchLabels, matchExpressions}. Empty selects everything.
LabelSelector label_selector_from(const Value& selector);

/// One of spec.resourceSelectors.
struct ResourceSelector {
  SharedText api_version, kind, ns, name;
  std::optional<LabelSelector> labels;
  bool operator==(const ResourceSelector&) const = default;
};

/// PropagationPolicy (ns not empty) or ClusterPropagationPolicy.
struct Policy {
  SharedText ns, name, uid, permanent_id;
  int64_t generation = 0;
  int32_t priority = 0;
  std::vector<ResourceSelector> selectors;
  Value spec;  ///< the whole spec: what the binding copies
  bool deleting = false;

  bool cluster_scoped() const { return ns.empty(); }
  bool operator==(const Policy&) const = default;
};

Policy policy_from(const Value& object);
/// A list of them. Those of a policy with a namespace reach that namespace only.
std::vector<ResourceSelector> resource_selectors_from(const Value& list, const SharedText& policy_ns);

/// The strongest way in which a policy selects an object (D-8 to D-10).
enum class SelectorMatch { kNone = 0, kAll = 1, kLabels = 2, kName = 3 };
SelectorMatch match(const Policy& policy, const Value& object);
SelectorMatch strongest_match(const std::vector<ResourceSelector>& selectors, const Value& object);

}  // namespace shiplog
