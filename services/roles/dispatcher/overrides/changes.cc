#include <algorithm>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/roles/dispatcher/overrides/overrides.h"

namespace shiplog::dispatcher {
namespace {

constexpr size_t kMostLines = 16;
constexpr size_t kLongestValue = 120;

class Comparison {
 public:
  explicit Comparison(bool secret) : secret_{secret} {}

  void compare(const Value& before, const Value& after, const std::string& path) {
    if (before == after) return;  // at once where both share their content, as all that was not changed does
    if (before.is_object() && after.is_object()) return compare_members(before, after, path);
    if (before.is_array() && after.is_array() && before.size() == after.size()) {
      for (size_t i = 0; i < before.size(); ++i) compare(before[i], after[i], path + "/" + std::to_string(i));
      return;
    }
    add(path, before.is_null() ? "nothing" : text(before), after.is_null() ? "nothing" : text(after));
  }

  std::vector<std::string> take() {
    if (count_ > kMostLines) lines_.push_back("and " + std::to_string(count_ - kMostLines) + " more changes");
    return std::move(lines_);
  }

 private:
  void compare_members(const Value& before, const Value& after, const std::string& path) {
    // Both are sorted by key.
    auto a = before.members().begin();
    auto b = after.members().begin();
    const Value nothing;
    while (a != before.members().end() || b != after.members().end()) {
      const bool only_b = a == before.members().end() || (b != after.members().end() && b->key() < a->key());
      const bool only_a = !only_b && (b == after.members().end() || a->key() < b->key());
      const std::string below = path + "/" + std::string{only_b ? b->key() : a->key()};
      compare(only_b ? nothing : a->value, only_a ? nothing : b->value, below);
      if (!only_b) ++a;
      if (!only_a) ++b;
    }
  }

  std::string text(const Value& value) const {
    if (secret_) return "a secret value";
    return printable(to_json(value), kLongestValue);
  }

  void add(const std::string& path, const std::string& before, const std::string& after) {
    if (++count_ <= kMostLines) lines_.push_back(path + ": " + before + " -> " + after);
  }

  const bool secret_;
  size_t count_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> changes_between(const Value& before, const Value& after, bool secret) {
  Comparison comparison{secret};
  comparison.compare(before, after, "");
  return comparison.take();
}

}  // namespace shiplog::dispatcher
