#pragma once

#include <array>
#include <set>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/named_map.h"
#include "events/state/object.h"

namespace shiplog {

/// Objects by the labels that tie policies, templates, bindings and Works together.
class LabelIndex {
 public:
  static bool wants(std::string_view) { return true; }
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const LabelIndex&) const = default;

  /// Objects whose label `label_key`, which must be one of kLabels, has this value. Sorted by key.
  const std::set<ObjectKey>& labelled(std::string_view label_key, std::string_view value) const;

  static constexpr std::array kLabels = {label::kPolicyId, label::kClusterPolicyId, label::kBindingId,
                                         label::kClusterBindingId};

 private:
  using ByValue = NamedMap<std::set<ObjectKey>>;  // the value is the name; there is no namespace
  std::array<ByValue, kLabels.size()> objects_;   // in the order of kLabels
};

}  // namespace shiplog
