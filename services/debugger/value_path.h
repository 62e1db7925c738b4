#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::debugger {

/// The path of a field of an object: `.spec.replicas`, `.spec.clusters[0].name`, `.spec.clusters[*].name`,
/// `.spec.clusters[name=member1].replicas`, `.metadata.labels["app.kubernetes.io/name"]`.
class ValuePath {
 public:
  static constexpr size_t kLongest = 1024;     ///< bytes of a path
  static constexpr size_t kMostValues = 4096;  ///< that one path leads to

  /// Error: kBadRequest with the column (from 1) within `text` and what was expected.
  static Result<ValuePath> parse(std::string_view text);

  /// What the path leads to; null values count as missing. [*] leads to each item.
  std::vector<const Value*> values(const Value& root) const;
  /// Sets the field, and makes the objects above it. Error: kBadRequest, an index that is not there, or [*].
  Result<void> set(Value& root, Value value) const;
  /// Removes the field. Error: kNotFound, it is not there; kBadRequest, [*].
  Result<void> erase(Value& root) const;
  const std::string& text() const { return text_; }

 private:
  struct Step {
    enum class Kind { kMember, kIndex, kAll, kMatching };
    Kind kind = Kind::kMember;
    std::string name;   ///< of kMember; the key of kMatching
    std::string value;  ///< of kMatching
    size_t index = 0;   ///< of kIndex
  };
  Result<void> parse_brackets(std::string_view text, size_t& at);
  Result<Value*> parent_for_writing(Value& root) const;
  Result<Value*> item(Value& of, const Step& step) const;
  static void follow(const Value& from, const Step& step, std::vector<const Value*>& into);

  std::string text_;
  std::vector<Step> steps_;
};

}  // namespace shiplog::debugger
