#include "events/base/json_patch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"

// RFC 6902 over RFC 6901 pointers.

namespace shiplog {
namespace {

constexpr size_t kMostOperations = 10'000;
/// What the copy operations of one patch may add; as much as a whole request may weigh. Without a bound, copying an
/// object into itself thirty times makes a gigabyte of it.
constexpr size_t kMostCopied = 3U << 20U;
/// What may be looked through in bounding the depth: only a patch that is made to be slow gets there.
constexpr size_t kMostMeasured = 256U << 20U;
/// Elements that may be moved by inserting and removing others before them. 10,000 insertions at the front of a list
/// of 700,000 elements, which fit into an object, would otherwise take minutes.
constexpr size_t kMostMoved = 32'000'000;

struct Measure {
  int depth = 0;
  size_t weight = 0;  // about its bytes
};

Measure measure(const Value& value) {
  Measure whole{0, 8 + value.as_string().size()};
  const auto add = [&](const Value& inner) {
    const Measure below = measure(inner);
    whole.depth = std::max(whole.depth, below.depth + 1);
    whole.weight += below.weight;
  };
  for (const Value& item : value.items()) add(item);
  for (const auto& member : value.members()) {
    add(member.value);
    whole.weight += member.key().size();
  }
  return whole;
}

/// 1 and 1.0 are the same number here, as RFC 6902 section 4.6 requires.
bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number() && a.kind() != b.kind()) return a.as_double() == b.as_double();
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.items().begin(), a.items().end(), b.items().begin(), same);
  if (!a.is_object()) return a == b;
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(),
                    [](const auto& x, const auto& y) { return x.key() == y.key() && same(x.value, y.value); });
}

using Pointer = JsonPointer;

std::optional<size_t> array_index(const std::string& step) {
  if (step.empty() || step.size() > 9 || (step.size() > 1 && step.front() == '0')) return std::nullopt;
  size_t index = 0;
  for (const char c : step) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index;
}

/// An index as Go's strconv.Atoi reads it, counted from the end when it is negative.
std::optional<size_t> kubernetes_index(std::string_view step, size_t size) {
  const bool negative = step.starts_with('-');
  if (negative || step.starts_with('+')) step.remove_prefix(1);
  if (step.empty() || step.size() > 9) return std::nullopt;
  size_t index = 0;
  for (const char c : step) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  if (!negative) return index;
  return index <= size ? std::optional{size - index} : std::nullopt;
}

/// Everything behind the first slash counts, and a tilde that introduces no escape is a tilde. nullopt: no slash.
std::optional<Pointer> kubernetes_pointer(std::string_view text) {
  if (text.empty()) return Pointer{};
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Pointer steps;
  for (size_t i = slash; i < text.size(); ++i) {
    const bool escape = text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1');
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (escape) {
      steps.back() += text[++i] == '0' ? '~' : '/';
    } else {
      steps.back() += text[i];
    }
  }
  return steps;
}

/// The container a pointer ends in, for writing; the pointer is known to lead to one.
Value& container_for(Value& document, const Pointer& pointer) {
  Value* here = &document;
  for (size_t i = 0; i + 1 < pointer.size(); ++i) {
    here = here->is_array() ? &here->edit_items()[array_index(pointer[i]).value_or(0)] : &here->edit(pointer[i]);
  }
  return *here;
}

class Patcher {
 public:
  Patcher(const Value& object, JsonPatchRules rules)
      : document_{object}, depth_{measure(object).depth}, kubernetes_{rules == JsonPatchRules::kKubernetes} {}

  Result<void> apply(const Value& operation, size_t index) {
    at_ = "operation " + std::to_string(index);
    if (!operation.is_object()) return Error{ErrorCode::kBadRequest, cannot_be_read() + "must be an object"};
    op_ = operation["op"].str();
    SHIPLOG_TRY(const Pointer path, pointer_of(operation, "path"));
    if (op_ == "remove") return remove(resolved(path, path.size()));
    if (op_ == "move" || op_ == "copy") {
      SHIPLOG_TRY(const Pointer from, pointer_of(operation, "from"));
      const Pointer source = resolved(from, from.size());
      return op_ == "move" ? move(source, path) : copy(source, path);
    }
    if (op_ != "add" && op_ != "replace" && op_ != "test") {
      return malformed("op " + quoted(op_) + " is none of add, remove, replace, move, copy and test");
    }
    const Value* value = operation.find("value");
    static const Value kNull;
    if (value == nullptr && kubernetes_) value = &kNull;
    if (value == nullptr) return malformed("has no value");
    if (op_ == "test") return test(resolved(path, path.size()), *value);
    if (op_ == "replace") return replace(resolved(path, path.size()), *value);
    return add(path, *value, measure(*value).depth);
  }

  Value take() { return std::move(document_); }
  bool failed_test() const { return failed_test_; }

 private:
  std::string cannot_be_read() const { return "the JSON patch cannot be read: " + at_ + " "; }
  Error malformed(const std::string& why) const {
    return {kubernetes_ ? ErrorCode::kInvalid : ErrorCode::kBadRequest, cannot_be_read() + why};
  }
  Error fails(const Pointer& path, const std::string& why) const {
    std::string text;
    for (const std::string& step : path) text += "/" + step;
    return {ErrorCode::kInvalid,
            "the JSON patch cannot be applied: " + at_ + " (" + op_ + " \"" + printable(text, 253) + "\"): " + why};
  }
  static Error too_much_work() { return {ErrorCode::kTooLarge, "the JSON patch takes too much work"}; }

  Result<Pointer> pointer_of(const Value& operation, const char* field) const {
    const Value& text = operation[field];
    if (!text.is_string()) return malformed(std::string{"has no "} + field);
    auto pointer = kubernetes_ ? kubernetes_pointer(text.as_string()) : parse_json_pointer(text.as_string());
    if (!pointer) return malformed(std::string{"has a "} + field + " that is no JSON pointer: " + quoted(text.str()));
    if (pointer->size() > static_cast<size_t>(kMaxJsonDepth)) return fails(*pointer, "the path is too deep");
    return *std::move(pointer);
  }

  /// The pointer with the indices of its first `steps` steps as RFC 6901 writes them. What leads nowhere stays as it
  /// is.
  Pointer resolved(Pointer pointer, size_t steps) const {
    if (!kubernetes_) return pointer;
    const Value* here = &document_;
    for (size_t i = 0; i < steps && here != nullptr; ++i) {
      std::string& step = pointer[i];
      if (here->is_array()) {
        const auto index = kubernetes_index(step, here->size());
        if (!index || *index >= here->size()) break;
        step = std::to_string(*index);
        here = &(*here)[*index];
      } else {
        here = here->find(step);
      }
    }
    return pointer;
  }

  /// The container that the pointer ends in; nullptr when there is none.
  const Value* parent_of(const Pointer& path) const {
    if (path.empty()) return nullptr;
    const Value* parent = find_at(document_, Pointer{path.begin(), path.end() - 1});
    return parent != nullptr && (parent->is_array() || parent->is_object()) ? parent : nullptr;
  }
  /// Kubernetes' library finds null where an object lacks a member.
  bool counts_as_null(const Pointer& path) const {
    const Value* parent = kubernetes_ ? parent_of(path) : nullptr;
    return parent != nullptr && parent->is_object();
  }

  Result<void> moved(size_t elements) {
    moved_ += elements;
    if (moved_ > kMostMoved) return too_much_work();
    return ok();
  }

  /// `depth`: at least that of `value`.
  Result<void> add(Pointer path, const Value& value, int depth) {
    if (path.empty()) {
      if (kubernetes_) return fails(path, "the whole object can only be replaced");
      document_ = value;
      return bound_depth(path, depth);
    }
    const size_t leading = path.size() - 1;
    path = resolved(std::move(path), leading);
    const Value* parent = find_at(document_, Pointer{path.begin(), path.end() - 1});
    if (parent == nullptr) return fails(path, "there is no such place");
    const std::string& last = path.back();
    if (parent->is_array()) {
      // The place behind the last element counts too, so that -1 is there.
      const auto index = last == "-"   ? std::optional{parent->size()}
                         : kubernetes_ ? kubernetes_index(last, parent->size() + 1)
                                       : array_index(last);
      if (!index || *index > parent->size()) return fails(path, "there is no such index");
      SHIPLOG_TRY(moved(parent->size() - *index));
      auto& items = container_for(document_, path).edit_items();
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(*index), value);
    } else if (parent->is_object()) {
      SHIPLOG_TRY(moved(parent->contains(last) ? 0 : parent->size()));
      container_for(document_, path).set(last, value);
    } else {
      return fails(path, "what it leads into is neither an object nor a list");
    }
    return bound_depth(path, depth);
  }

  Result<void> remove(const Pointer& path) {
    if (path.empty()) return fails(path, "the whole object cannot be removed");
    if (find_at(document_, path) == nullptr) return fails(path, "there is nothing at the path");
    Value& parent = container_for(document_, path);
    SHIPLOG_TRY(moved(parent.size()));
    if (parent.is_array()) {
      auto& items = parent.edit_items();
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(array_index(path.back()).value_or(0)));
    } else {
      parent.erase(path.back());
    }
    return ok();
  }

  Result<void> replace(const Pointer& path, const Value& value) {
    if (find_at(document_, path) == nullptr) {
      if (!counts_as_null(path)) return fails(path, "there is nothing at the path");
      return add(path, value, measure(value).depth);
    }
    if (path.empty()) {
      document_ = value;
    } else {
      Value& parent = container_for(document_, path);
      if (parent.is_array()) {
        parent.edit_items()[array_index(path.back()).value_or(0)] = value;
      } else {
        parent.set(path.back(), value);
      }
    }
    return bound_depth(path, measure(value).depth);
  }

  Result<void> move(const Pointer& from, const Pointer& path) {
    const bool into_itself = path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin());
    if (into_itself && !kubernetes_) return fails(path, "a value cannot be moved into itself");
    const Value* found = find_at(document_, from);
    if (found == nullptr || (from.empty() && kubernetes_)) return fails(from, "there is nothing to move");
    if (from == path) return ok();
    const Value value = *found;
    SHIPLOG_TRY(remove(from));
    return add(path, value, depth_);
  }

  Result<void> copy(const Pointer& from, const Pointer& path) {
    const Value* found = find_at(document_, from);
    if (from.empty() && kubernetes_) found = nullptr;
    if (found == nullptr && !counts_as_null(from)) return fails(from, "there is nothing to copy");
    const Value value = found == nullptr ? Value{} : *found;
    const Measure size = measure(value);
    copied_ += size.weight;
    if (copied_ > kMostCopied) return Error{ErrorCode::kTooLarge, "the JSON patch copies more than 3 MiB"};
    return add(path, value, size.depth);
  }

  Result<void> test(const Pointer& path, const Value& value) {
    const Value* found = find_at(document_, path);
    if (found == nullptr && !counts_as_null(path)) return fails(path, "there is nothing at the path");
    if (same(found == nullptr ? Value{} : *found, value)) return ok();
    failed_test_ = true;
    return fails(path, "the value differs");
  }

  /// Keeps an upper bound of the document's depth, and walks all of it only when that bound is too large.
  Result<void> bound_depth(const Pointer& path, int depth) {
    depth_ = std::max(depth_, static_cast<int>(path.size()) + depth);
    if (depth_ < kMaxJsonDepth) return ok();
    const Measure whole = measure(document_);
    depth_ = whole.depth;
    measured_ += whole.weight;
    if (depth_ >= kMaxJsonDepth) return fails(path, "the object becomes too deep");
    if (measured_ > kMostMeasured) return too_much_work();
    return ok();
  }

  Value document_;
  int depth_;
  bool kubernetes_;
  size_t copied_ = 0;
  size_t measured_ = 0;
  size_t moved_ = 0;
  bool failed_test_ = false;
  std::string at_, op_;
};

}  // namespace

std::optional<JsonPointer> parse_json_pointer(std::string_view text) {
  JsonPointer steps;
  if (text.empty()) return steps;
  if (text.front() != '/') return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (text[i] == '~') {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      steps.back() += text[i] == '0' ? '~' : '/';
    } else {
      steps.back() += text[i];
    }
  }
  return steps;
}

const Value* find_at(const Value& document, const JsonPointer& pointer) {
  const Value* here = &document;
  for (const std::string& step : pointer) {
    if (here->is_array()) {
      const auto index = array_index(step);
      if (!index || *index >= here->size()) return nullptr;
      here = &(*here)[*index];
    } else {
      here = here->find(step);
      if (here == nullptr) return nullptr;
    }
  }
  return here;
}

Value& edit_at(Value& document, const JsonPointer& pointer) {
  Value* here = &document;
  for (const std::string& step : pointer) {
    here = here->is_array() ? &here->edit_items()[array_index(step).value_or(0)] : &here->edit(step);
  }
  return *here;
}

Result<Value> apply_json_patch(const Value& object, const Value& patch, JsonPatchRules rules, bool* failed_test) {
  if (!patch.is_array()) return Error{ErrorCode::kBadRequest, "a JSON patch must be a list of operations"};
  if (patch.size() > kMostOperations) {
    return Error{ErrorCode::kTooLarge, "The allowed maximum operations in a JSON patch is " +
                                           std::to_string(kMostOperations) + ", got " + std::to_string(patch.size())};
  }
  Patcher patcher{object, rules};
  size_t index = 0;
  for (const Value& operation : patch.items()) {
    if (auto applied = patcher.apply(operation, index++); !applied) {
      if (failed_test != nullptr) *failed_test = patcher.failed_test();
      return std::move(applied).error();
    }
  }
  return patcher.take();
}

}  // namespace shiplog
