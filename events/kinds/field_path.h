#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// The path of a field during a walk through a value; converted to text only when there is something to report. Links
/// to its parent, so it must be on the stack of the walk.
class FieldPath {
 public:
  FieldPath() = default;
  FieldPath(const FieldPath& parent, std::string_view name) : parent_{&parent}, name_{name} {}
  FieldPath(const FieldPath& parent, size_t index) : parent_{&parent}, index_{index} {}

  bool is_root() const { return parent_ == nullptr; }

  /// "spec.taints[0].key"; the root is "".
  std::string text() const {
    if (is_root()) return "";
    std::string path = parent_->text();
    if (name_.data() == nullptr) return path + "[" + std::to_string(index_) + "]";
    if (!path.empty()) path += '.';
    return path.append(name_);
  }

 private:
  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  size_t index_ = 0;
};

}  // namespace shiplog
