#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "events/base/time.h"
#include "services/debugger/condition.h"

// The inside of a condition: what the parser makes and the evaluation reads.
namespace shiplog::debugger {

enum class CompareBy { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

/// A field, and what it is compared with; no comparison: it is there.
struct FieldTest {
  std::optional<ValuePath> path;
  std::optional<CompareBy> comparison;
  Value value;
};

// Terms about the state.
struct ObjectIs {
  ObjectPattern object;
  FieldTest field;  ///< without a path: the object exists
};
struct PlacedOn {
  ObjectPattern binding;
  std::string cluster;  ///< a pattern
};
struct NumberIs {
  enum class Of { kRevision, kOffset, kTime };
  Of of = Of::kRevision;
  CompareBy comparison = CompareBy::kEqual;
  int64_t number = 0;
};

// Terms about an entry.
struct ChangesObject {
  enum class How { kAny, kCreates, kRemoves };
  ObjectPattern object;
  FieldTest field;  ///< with a path: its value differs; with a comparison: and the new one fits
  How how = How::kAny;
};
struct Moves {
  ObjectPattern binding;
  std::string cluster;  ///< a pattern
  bool gains = true;
};
struct AboutObject {
  ObjectPattern object;
};
struct EntryIs {
  enum class Of { kFamily, kEvent, kUser, kService, kVerb };
  Of of = Of::kFamily;
  std::string pattern;
};
struct EntryFlag {
  enum class Of { kRefused, kDenied, kDecision };
  Of of = Of::kRefused;
};

using ConditionTerm = std::variant<ObjectIs, PlacedOn, NumberIs, ChangesObject, Moves, AboutObject, EntryIs, EntryFlag>;

struct ConditionNode {
  enum class Kind { kAnd, kOr, kNot, kTerm };
  Kind kind = Kind::kTerm;
  std::vector<std::shared_ptr<const ConditionNode>> children;
  ConditionTerm term;
  size_t number = 0;  ///< of a term: counted from 0
};

}  // namespace shiplog::debugger
