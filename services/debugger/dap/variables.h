#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/state/state.h"

namespace shiplog::debugger {

/// What an editor shows as a tree: values and the objects of a state, by a reference that holds until the cursor moves.
class VariableTable {
 public:
  static constexpr size_t kMostChildren = 1000;  ///< in one answer

  void clear() { nodes_.clear(); }
  /// References; 0: the value has no members or items.
  int64_t add(const Value& value);
  int64_t add_state();

  /// The children from `start` on, at most `count` (0: as many as one answer has): {name, value, variablesReference}.
  /// `state` is where the cursor stands. Error: kNotFound, the reference does not hold any more.
  Result<Value> children(int64_t reference, size_t start, size_t count, const State& state);

 private:
  struct Types {};
  struct OfType {
    std::string type;
  };
  using Node = std::variant<Value, Types, OfType>;
  Value variable(const std::string& name, const Value& value);

  std::vector<Node> nodes_;  // reference - 1
};

}  // namespace shiplog::debugger
