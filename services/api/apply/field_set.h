#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::api {

/// A set of fields of an object, as a tree. Each step of a path is written as FieldsV1 writes it
/// (SSA-5): `f:replicas` a field, `k:{"name":"c"}` an element of a list with keys, `v:"x"` an element of a set.
class FieldSet {
 public:
  struct Child;

  /// Whether the node itself belongs to the set, and not only something below it.
  bool owned = false;
  /// Sorted by key.
  std::vector<Child> children;

  bool empty() const;
  const FieldSet* find(std::string_view key) const;
  /// Made when missing.
  FieldSet& edit(std::string_view key);
  /// The child is removed when it is empty.
  void put(std::string_view key, FieldSet child);
  bool operator==(const FieldSet& other) const;
};

struct FieldSet::Child {
  std::string key;
  FieldSet set;
  bool operator==(const Child& other) const { return key == other.key && set == other.set; }
};

FieldSet unite(const FieldSet& a, const FieldSet& b);
FieldSet unite(std::vector<FieldSet> sets);
FieldSet intersect(const FieldSet& a, const FieldSet& b);
FieldSet subtract(const FieldSet& a, const FieldSet& b);

Value to_fields_v1(const FieldSet& set);
/// Error: kBadRequest, naming the step that is none.
Result<FieldSet> from_fields_v1(const Value& fields);

/// One step as errors name it: `.replicas`, `[name="c"]`, `[="x"]`.
std::string step_text(std::string_view step);
/// Each field that is owned, as errors name it: `.spec.template.spec.containers[name="c"].image`.
std::vector<std::string> paths_of(const FieldSet& set);

}  // namespace shiplog::api
