#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog {

struct JsonPathFilter;

/// One step from a value to others.
struct JsonPathStep {
  enum class Kind : uint8_t { kField, kAllChildren, kDescendants, kSlice, kUnion, kFilter };
  Kind kind = Kind::kField;
  std::string name = {};  ///< of kField
  // Of kSlice: [from:to:by]. A single index is from = to, `single`.
  std::optional<int64_t> from = {};
  std::optional<int64_t> to = {};
  int64_t by = 1;
  bool single = false;
  std::vector<JsonPathStep> choices = {};                  ///< of kUnion: fields or slices
  std::shared_ptr<const JsonPathFilter> filter = nullptr;  ///< of kFilter
};

/// One side of a filter: a path below the item (or below the root), or a literal.
struct JsonPathOperand {
  bool literal = false;
  bool from_root = false;
  Value value = {};
  std::vector<JsonPathStep> path = {};
};

/// [?(left op right)]; `op` empty: left exists.
struct JsonPathFilter {
  JsonPathOperand left = {};
  std::string op = {};
  JsonPathOperand right = {};
};

/// One part of a template: text, the values at a path, or a {range}: parts repeated for each value at a path.
struct JsonPathPart {
  bool range = false;
  bool path = false;  ///< else `text`
  bool from_root = false;
  std::string text = {};
  std::vector<JsonPathStep> steps = {};
  std::vector<JsonPathPart> repeated = {};
};

/// A JSONPath template as `kubectl get -o jsonpath` takes it: text, and expressions in braces:
/// {.a.b}, {$.a}, {@.a}, ['a.b'], ['a','b'], [2], [-1], [0,2], [1:3], [0:9:2], [*], .*, ..name, [?(@.a=="x")] with ==,
/// !=,
/// <, <=, >, >=, {range .a[*]}...{end}, {"text"}.
///
/// Differences to kubectl: whole numbers print without an exponent; other numbers cannot be compared; members are
/// visited in the order of their names; null counts as missing.
/// Both functions are bounded in time, memory and depth for any input.
class JsonPathTemplate {
 public:
  static constexpr size_t kLongestTemplate = 2048;  ///< bytes
  static constexpr size_t kMostVisits = 20'000;     ///< values looked at in one evaluation
  static constexpr size_t kLongestText = 4096;      ///< bytes of the result
  static constexpr int kMostNesting = 8;            ///< of filters and ranges

  struct Evaluation {
    size_t visits = kMostVisits;
    size_t text = kLongestText;
    bool allow_missing = false;  ///< a path that leads nowhere prints nothing
  };

  /// Error: kInvalid with the place and what was expected.
  static Result<JsonPathTemplate> parse(std::string_view text);
  /// The text for `root`. A path that leads nowhere is an error, as without kubectl's --allow-missing-template-keys:
  /// kNotFound; kInvalid: it cannot be followed; kTooLarge: a limit is reached.
  Result<std::string> evaluate(const Value& root) const { return evaluate(root, {kMostVisits, kLongestText, false}); }
  Result<std::string> evaluate(const Value& root, const Evaluation& how) const;

 private:
  std::vector<JsonPathPart> parts_;
};

}  // namespace shiplog
